package build

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
)

// A log of requests repeats in each what was said before. Its records are joined
// here: requests with their responses, and requests alone where the beginning of
// the file shows that they repeat one another. Elsewhere a record is a trajectory
// of its own: two runs of a task begin alike too.

// RequestRecord is a record of a log with what is read of it.
type RequestRecord struct {
	Items     []Item // those of the answer behind the others
	Answer    int    // where the answer begins
	Answered  bool
	Response  Response
	ID        []byte // of the response
	Model     []byte
	Tools     []trace.ToolDef
	Anomalies *Builder // of the record itself
}

// requestReader reads a record of a log.
type requestReader func(data []byte) *RequestRecord

// firstWords returns what the user said first, which all requests of a
// conversation have in common.
func firstWords(t *trace.Trajectory) (text []byte, ok bool) {
	for i := range t.Messages {
		if m := &t.Messages[i]; m.Role == trace.RoleUser {
			return m.Text.AppendText(nil), true
		}
	}
	return nil, false
}

// RequestFragments returns a record of a log as a fragment that is joined with
// those of its conversation, and other records as they are. paired says that the
// record is a request with its response, waiting that it asks for one.
func RequestFragments(r trace.Record, fragments []trace.Fragment, paired, waiting bool) []trace.Fragment {
	if len(fragments) == 1 && r.Log && !paired && !waiting {
		// Two runs of which one is how the other begins look the same.
		fragments[0].Trajectory.Anomalies.AddN(CodeRequestApart, 1)
	}
	if len(fragments) != 1 || !paired && (!waiting || !r.Log) {
		return fragments
	}
	words, ok := firstWords(fragments[0].Trajectory)
	if !ok {
		return fragments
	}
	// A log is a file, or a folder with a file for each request.
	scope := r.File
	if !r.ByLine {
		scope = filepath.Dir(r.File)
	}
	sum := sha256.Sum256(words)
	name := r.Name()
	data := strconv.AppendInt(nil, int64(len(name)), 10)
	data = append(append(append(data, ' '), name...), r.Data...)
	return []trace.Fragment{{Key: scope + "#" + hex.EncodeToString(sum[:8]), Data: data, Pos: r.Pos()}}
}

// requestPart returns the name of a record and the record itself.
func requestPart(data []byte) (name string, record []byte) {
	n := 0
	for i, c := range data {
		if c == ' ' {
			return string(data[i+1 : i+1+n]), data[i+1+n:]
		}
		n = n*10 + int(c-'0')
	}
	return "", nil
}

// Nested reads a request or an answer, which some logs keep as a text, or an answer as the
// stream that it came in: streamed joins that.
func (b *Builder) Nested(c *jsonscan.Cursor, streamed func(text []byte) []byte, read func(*jsonscan.Cursor)) {
	text, ok := c.Text()
	if !ok {
		read(c)
		return
	}
	inner := jsonscan.New(streamed(text))
	read(&inner)
	if inner.End() != nil {
		b.Anomaly(CodeMessageShape, 1)
	}
	b.Anomaly(CodeLoneSurrogate, inner.LoneSurrogates())
}

// chain returns the hashes behind the items of a request that are compared, and
// the hash behind its answer.
func (r *RequestRecord) chain() (hashes []ItemHash, end ItemHash) {
	for i := range r.Items {
		h, compared := r.Items[i].Next(end)
		if !compared {
			continue
		}
		if end = h; i < r.Answer {
			hashes = append(hashes, h)
		}
	}
	return hashes, end
}

// repeatsOthers reports whether some of the requests begin with all of another
// and its answer, and go on.
func repeatsOthers(records []*RequestRecord) bool {
	ends := map[ItemHash]bool{}
	for _, r := range records {
		if _, end := r.chain(); end != (ItemHash{}) {
			ends[end] = true
		}
	}
	for _, r := range records {
		hashes, end := r.chain()
		for _, h := range hashes {
			if h != end && ends[h] {
				return true
			}
		}
	}
	return false
}

// HeadRepeats reports whether the first records of a file are requests that repeat
// one another; sure is false if too few are seen to tell.
func HeadRepeats(h trace.Head, read requestReader) (repeats, sure bool) {
	var records []*RequestRecord
	for _, r := range h.Records {
		if !r.Truncated {
			records = append(records, read(r.Raw))
		}
	}
	return repeatsOthers(records), len(records) >= 3 || len(h.Records) == len(records)
}

// AssembleRequests joins the records of a log that begin alike. whole decodes a
// record that is a trajectory of its own.
func AssembleRequests(parts []trace.Fragment, read requestReader, whole func(trace.Record) ([]trace.Fragment, error)) ([]*trace.Trajectory, error) {
	records := make([]*RequestRecord, len(parts))
	names := make([]string, len(parts))
	for i := range parts {
		name, data := requestPart(parts[i].Data)
		records[i], names[i] = read(data), name
	}
	if !repeatsOthers(records) {
		return wholeRequests(parts, whole)
	}
	// A file for each request need not be named in the order of the requests.
	order := make([]int, len(parts))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return records[i].Answer - records[j].Answer })
	var s Transcripts
	latest := map[*Transcript]int{} // the record that is longest
	for _, i := range order {
		r := records[i]
		t, _ := s.Add(ItemHash{}, r.Items, r.Answer, r.Answered, r.Response)
		tr := t.Builder.Trajectory
		if last, ok := latest[t]; !ok {
			tr.Source, tr.ID = parts[i].Pos, cmp.Or(string(r.ID), names[i])
			latest[t] = i
		} else if len(r.Items) >= len(records[last].Items) {
			latest[t] = i
		}
		if len(r.Tools) > 0 && len(tr.Tools) == 0 {
			tr.Tools = r.Tools
		}
		if tr.Model == "" {
			tr.Model = cmp.Or(r.Response.Model, string(r.Model))
		}
	}
	out := s.Finish()
	for i, t := range s.All {
		// The longest record holds what is odd about those before it.
		for code, n := range records[latest[t]].Anomalies.Trajectory.Anomalies.ByCode {
			out[i].Anomalies.AddN(code, n)
		}
	}
	UniqueIDs(out)
	return out, nil
}

// wholeRequests reads records that begin alike and are no log of one conversation.
func wholeRequests(parts []trace.Fragment, whole func(trace.Record) ([]trace.Fragment, error)) (out []*trace.Trajectory, err error) {
	for i := range parts {
		name, data := requestPart(parts[i].Data)
		pos := parts[i].Pos
		fragments, problem := whole(trace.Record{Data: data, File: pos.File, Line: pos.Line, Col: pos.Col})
		if problem != nil && err == nil {
			err = problem
		}
		for _, f := range fragments {
			f.Trajectory.Source, f.Trajectory.ID = pos, cmp.Or(f.Trajectory.ID, name)
			out = append(out, f.Trajectory)
		}
	}
	return out, err
}
