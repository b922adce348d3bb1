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

// RequestRecord is a record with messages: a request, one with its response, or messages
// alone. What is read of it becomes a trajectory, or part of one.
type RequestRecord struct {
	Items    []Item     // those of the answer behind the others
	Turns    []Response // what is known of each response of the model among them
	Answer   int        // where the answer begins
	Answered bool
	Asked    bool // the request was read
	Waiting  bool // the last message was not the model's
	Found    bool // there were messages, or a response
	ID       string
	Model    []byte // of the answer if it has one
	Odd      *Builder
}

// NewRequest returns an empty record that counts what is odd in a builder.
func NewRequest(b *Builder) RequestRecord {
	r := RequestRecord{Odd: b}
	if b.Memo != nil {
		room, _ := b.Memo.Room.([]Item)
		r.Items = room[:0]
	}
	return r
}

// release keeps the memory of the items for the next record.
func (r *RequestRecord) release() {
	if memo := r.Odd.Memo; memo != nil {
		clear(r.Items)
		if kept, _ := memo.Room.([]Item); cap(r.Items) > cap(kept) && cap(r.Items) <= maxKeptItems {
			memo.Room = r.Items[:0]
		}
	}
}

// maxKeptItems is for how many items memory is kept.
const maxKeptItems = 1 << 12

// Restart forgets what was read of a member that an object has twice.
func (r *RequestRecord) Restart() { r.Items, r.Turns = r.Items[:0], r.Turns[:0] }

// AddTo adds what the record holds to a trajectory.
func (r *RequestRecord) AddTo(b *Builder) {
	first := len(b.Trajectory.Turns)
	b.Add(r.Items)
	for i := range r.Turns {
		told := &r.Turns[i]
		turn := &b.Trajectory.Turns[first+i]
		turn.Usage, turn.Model, turn.End = told.Usage, told.Model, told.End
	}
}

// RequestReader reads a record, as a format of an interface does.
type RequestReader func(b *Builder, c *jsonscan.Cursor) *RequestRecord

// whole reads a record as a trajectory of its own.
func (read RequestReader) whole(r trace.Record) (*RequestRecord, []trace.Fragment, error) {
	b := NewRecord(r)
	c := jsonscan.New(r.Data)
	q := read(b, &c)
	q.AddTo(b)
	b.Trajectory.ID, b.Trajectory.Model = q.ID, b.Text(q.Model)
	ClearTurnModels(b.Trajectory)
	shape := ""
	if !q.Found {
		shape = `this record has no list of messages "messages"`
	}
	fragments, err := b.FinishRecord(r, &c, shape)
	q.release()
	return q, fragments, err
}

// part reads a record as part of a log.
func (read RequestReader) part(data []byte) *RequestRecord {
	c := jsonscan.New(data)
	q := read(New(0), &c)
	if c.End() == nil {
		q.Odd.Anomaly(CodeLoneSurrogate, c.LoneSurrogates())
	}
	if !q.Answered {
		q.Answer = len(q.Items)
	}
	return q
}

// response returns what is known of the answer.
func (r *RequestRecord) response() (told Response) {
	if n := len(r.Turns); r.Answered && n > 0 {
		told = r.Turns[n-1]
		told.Model = string(r.Model)
	}
	return told
}

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

// Decode returns a record of a log as a fragment that is joined with those of its
// conversation, and other records as they are.
func (read RequestReader) Decode(r trace.Record) ([]trace.Fragment, error) {
	q, fragments, err := read.whole(r)
	if err != nil {
		return fragments, err
	}
	paired := q.Asked && q.Answered
	if len(fragments) == 1 && r.Log && !paired && !q.Waiting {
		// Two runs of which one is how the other begins look the same.
		fragments[0].Trajectory.Anomalies.AddN(CodeRequestApart, 1)
	}
	if len(fragments) != 1 || !paired && (!q.Waiting || !r.Log) {
		return fragments, nil
	}
	words, ok := firstWords(fragments[0].Trajectory)
	if !ok {
		return fragments, nil
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
	return []trace.Fragment{{Key: scope + "#" + hex.EncodeToString(sum[:8]), Data: data, Pos: r.Pos()}}, nil
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

// Repeats reports whether the first records of a file are requests that repeat
// one another; sure is false if too few are seen to tell.
func (read RequestReader) Repeats(h trace.Head) (repeats, sure bool) {
	var records []*RequestRecord
	for _, r := range h.Records {
		if !r.Truncated {
			records = append(records, read.part(r.Raw))
		}
	}
	return repeatsOthers(records), len(records) >= 3 || len(h.Records) == len(records)
}

// Assemble joins the records of a log that begin alike.
func (read RequestReader) Assemble(_ string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
	records := make([]*RequestRecord, len(parts))
	names := make([]string, len(parts))
	for i := range parts {
		name, data := requestPart(parts[i].Data)
		records[i], names[i] = read.part(data), name
	}
	if !repeatsOthers(records) {
		return read.each(parts)
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
		t, _ := s.Add(ItemHash{}, r.Items, r.Answer, r.Answered, r.response())
		tr := t.Builder.Trajectory
		if last, ok := latest[t]; !ok {
			tr.Source, tr.ID = parts[i].Pos, cmp.Or(r.ID, names[i])
			latest[t] = i
		} else if len(r.Items) >= len(records[last].Items) {
			latest[t] = i
		}
		if len(tr.Tools) == 0 {
			tr.Tools = r.Odd.Trajectory.Tools
		}
		if tr.Model == "" {
			tr.Model = string(r.Model)
		}
	}
	out := s.Finish()
	for i, t := range s.All {
		// The longest record holds what is odd about those before it.
		for code, n := range records[latest[t]].Odd.Trajectory.Anomalies.ByCode {
			out[i].Anomalies.AddN(code, n)
		}
	}
	UniqueIDs(out)
	return out, nil
}

// each reads records that begin alike and are no log of one conversation.
func (read RequestReader) each(parts []trace.Fragment) (out []*trace.Trajectory, err error) {
	for i := range parts {
		name, data := requestPart(parts[i].Data)
		pos := parts[i].Pos
		_, fragments, problem := read.whole(trace.Record{Data: data, File: pos.File, Line: pos.Line, Col: pos.Col})
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
