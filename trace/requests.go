package trace

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"slices"
	"strconv"
)

// A log of requests repeats in each what was said before. Its records are joined
// here: requests with their responses, and requests alone where the beginning of
// the file shows that they repeat one another. Elsewhere a record is a trajectory
// of its own: two runs of a task begin alike too.

// requestRecord is a record of a log with what is read of it.
type requestRecord struct {
	items    []item // those of the answer behind the others
	answer   int    // where the answer begins
	answered bool
	response response
	id       []byte // of the response
	model    []byte
	tools    []ToolDef
	odd      *builder // what is odd about the record
}

// requestReader reads a record of a log.
type requestReader func(data []byte) *requestRecord

// firstWords returns what the user said first, which all requests of a
// conversation have in common.
func firstWords(t *Trajectory) (text []byte, ok bool) {
	for i := range t.Messages {
		if m := &t.Messages[i]; m.Role == RoleUser {
			return m.Text.AppendText(nil), true
		}
	}
	return nil, false
}

// requestFragments returns a record of a log as a fragment that is joined with
// those of its conversation, and other records as they are. paired says that the
// record is a request with its response, waiting that it asks for one.
func requestFragments(r Record, fragments []Fragment, paired, waiting bool) []Fragment {
	if len(fragments) == 1 && r.log && !paired && !waiting {
		// Two runs of which one is how the other begins look the same.
		fragments[0].Trajectory.Oddities.AddN(CodeRequestApart, 1)
	}
	if len(fragments) != 1 || !paired && (!waiting || !r.log) {
		return fragments
	}
	words, ok := firstWords(fragments[0].Trajectory)
	if !ok {
		return fragments
	}
	// A log is a file, or a folder with a file for each request.
	scope := r.File
	if !r.byLine {
		scope = filepath.Dir(r.File)
	}
	sum := sha256.Sum256(words)
	name := r.name()
	data := strconv.AppendInt(nil, int64(len(name)), 10)
	data = append(append(append(data, ' '), name...), r.Data...)
	return []Fragment{{Key: scope + "#" + hex.EncodeToString(sum[:8]), Data: data, Pos: r.Pos()}}
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

// chain returns the hashes behind the items of a request that are compared, and
// the hash behind its answer.
func (r *requestRecord) chain() (hashes []itemHash, end itemHash) {
	for i := range r.items {
		h, compared := r.items[i].next(end)
		if !compared {
			continue
		}
		if end = h; i < r.answer {
			hashes = append(hashes, h)
		}
	}
	return hashes, end
}

// repeatsOthers reports whether some of the requests begin with all of another
// and its answer, and go on.
func repeatsOthers(records []*requestRecord) bool {
	ends := map[itemHash]bool{}
	for _, r := range records {
		if _, end := r.chain(); end != (itemHash{}) {
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

// headRepeats reports whether the first records of a file are requests that repeat
// one another; sure is false if too few are seen to tell.
func headRepeats(h Head, read requestReader) (repeats, sure bool) {
	var records []*requestRecord
	for _, r := range h.Records {
		if !r.Truncated {
			records = append(records, read(r.Raw))
		}
	}
	return repeatsOthers(records), len(records) >= 3 || len(h.Records) == len(records)
}

// assembleRequests joins the records of a log that begin alike. whole decodes a
// record that is a trajectory of its own.
func assembleRequests(parts []Fragment, read requestReader, whole func(Record) ([]Fragment, error)) ([]*Trajectory, error) {
	records := make([]*requestRecord, len(parts))
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
	slices.SortStableFunc(order, func(i, j int) int { return records[i].answer - records[j].answer })
	var s transcripts
	latest := map[*transcript]int{} // the record that is longest
	for _, i := range order {
		r := records[i]
		t, _ := s.add(itemHash{}, r.items, r.answer, r.answered, r.response)
		tr := t.b.t
		if last, ok := latest[t]; !ok {
			tr.Source, tr.ID = parts[i].Pos, cmp.Or(string(r.id), names[i])
			latest[t] = i
		} else if len(r.items) >= len(records[last].items) {
			latest[t] = i
		}
		if len(r.tools) > 0 && len(tr.Tools) == 0 {
			tr.Tools = r.tools
		}
		if tr.Model == "" {
			tr.Model = cmp.Or(r.response.model, string(r.model))
		}
	}
	out := s.finish()
	for i, t := range s.all {
		// The longest record holds what is odd about those before it.
		for code, n := range records[latest[t]].odd.t.Oddities.ByCode {
			out[i].Oddities.AddN(code, n)
		}
	}
	uniqueIDs(out)
	return out, nil
}

// wholeRequests reads records that begin alike and are no log of one conversation.
func wholeRequests(parts []Fragment, whole func(Record) ([]Fragment, error)) (out []*Trajectory, err error) {
	for i := range parts {
		name, data := requestPart(parts[i].Data)
		pos := parts[i].Pos
		fragments, problem := whole(Record{Data: data, File: pos.File, Line: pos.Line, Col: pos.Col})
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
