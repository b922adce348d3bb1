package inertia

import (
	"bytes"
	"cmp"
	"container/heap"
	"crypto/sha256"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/awo-dev/awo/internal/varint"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/holdout"
)

// The bounds of a sample. A trajectory larger than the last one is left out, so
// that a few giants do not take the room of all others.
const (
	SampleSize    = 2000      // trajectories
	sampleBytes   = 256 << 20 // of all of them
	sampleLargest = 4 << 20   // of one
)

// A Sample keeps trajectories to calibrate a [Model] on: at most [SampleSize],
// and 256 MiB of them. Which ones depends on them and on the seed alone, and not
// on the order in which they come: the first in the order of a hash of task and ID.
//
// What is kept is a copy of what predictions read, that is the arguments and
// results of the model's calls and what the user said, so that no block of a
// trace is held for the sake of one of its records.
type Sample struct {
	seed        uint64
	most, bytes int
	largest     int

	part  func(task string) int
	kept  sampleHeap
	size  int
	first *sampled // of those that had no room; nil while all had
}

type sampled struct {
	rank [16]byte
	task [8]byte // hash of its task; of what had no room it is not kept
	size int
	part int // of its task

	trajectory *trace.Trajectory // nil of one that was read
	digest     []byte            // nil until it is asked for
	content    [16]byte          // of the digest; zero until it is asked for
	left       bool              // it had no room
}

// compare orders by rank; only what is alike to predictions is equal.
func (x *sampled) compare(o *sampled) int {
	if c := cmp.Or(bytes.Compare(x.rank[:], o.rank[:]), cmp.Compare(x.size, o.size)); c != 0 {
		return c
	}
	x.digested()
	o.digested()
	return cmp.Or(bytes.Compare(x.content[:], o.content[:]), cmp.Compare(flag(x.left), flag(o.left)))
}

// digested returns the digest. That of one that was read and has no room is not kept.
func (x *sampled) digested() []byte {
	if x.digest == nil && x.trajectory != nil {
		x.digest = appendDigest(nil, x.trajectory)
		x.noteContent()
	}
	return x.digest
}

func (x *sampled) noteContent() {
	sum := sha256.Sum256(x.digest)
	x.content = [16]byte(sum[:])
}

// NewSample returns an empty sample.
func NewSample(seed uint64) *Sample {
	return &Sample{seed: seed, most: SampleSize, bytes: sampleBytes, largest: sampleLargest, part: holdout.HashFolds(CalibrationParts, seed).Of}
}

// Add offers a trajectory, which is not kept itself.
func (s *Sample) Add(t *trace.Trajectory) {
	name := append([]byte(t.TaskKey()), 0)
	name = utf8.AppendRune(append(name, t.ID...), rune(s.seed))
	sum := sha256.Sum256(name)
	x := &sampled{rank: [16]byte(sum[:]), task: hashOfTask(t.TaskKey()), size: keptBytes(t)}
	if x.size > s.largest || s.first != nil && bytes.Compare(x.rank[:], s.first.rank[:]) > 0 {
		return
	}
	x.part, x.trajectory = s.part(t.TaskKey()), kept(t)
	s.add(x)
}

func hashOfTask(key string) [8]byte {
	sum := sha256.Sum256([]byte(key))
	return [8]byte(sum[:])
}

func (s *Sample) add(x *sampled) {
	if s.first != nil && x.compare(s.first) > 0 {
		return
	}
	heap.Push(&s.kept, x)
	s.size += x.size
	for len(s.kept) > s.most || s.size > s.bytes {
		last := heap.Pop(&s.kept).(*sampled)
		s.size -= last.size
		if last.left = true; s.first == nil || last.compare(s.first) < 0 {
			s.first = last
		}
	}
}

// Merge adds what o was offered; o stays as it is. It has room for the same then as if
// all had been offered to it: what o had no room for, it has no room for either.
func (s *Sample) Merge(o *Sample) {
	for _, x := range slices.Clone(o.kept) { // o may be s
		s.add(new(*x))
	}
	if o.first != nil {
		s.add(new(*o.first))
	}
}

// sorted returns what was kept, in order.
func (s *Sample) sorted() []*sampled {
	out := slices.Clone(s.kept)
	slices.SortFunc(out, (*sampled).compare)
	return out
}

// Histories returns what was kept, in the order of the hashes. It must not have been read.
func (s *Sample) Histories() []*History {
	out := make([]*History, 0, len(s.kept))
	for _, x := range s.sorted() {
		out = append(out, NewHistory(x.trajectory))
	}
	return out
}

// sampleHeap has the last in order at its top.
type sampleHeap []*sampled

func (h sampleHeap) Len() int           { return len(h) }
func (h sampleHeap) Less(i, j int) bool { return h[i].compare(h[j]) > 0 }
func (h sampleHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *sampleHeap) Push(x any)        { *h = append(*h, x.(*sampled)) }
func (h *sampleHeap) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	(*h)[last] = nil
	*h = (*h)[:last]
	return x
}

// keptBytes returns about how many bytes kept takes.
func keptBytes(t *trace.Trajectory) int {
	n := int(unsafe.Sizeof(*t)) + len(t.Turns)*int(unsafe.Sizeof(trace.Turn{})) + len(t.Messages)*int(unsafe.Sizeof(trace.Message{})) + len(t.Calls)*int(unsafe.Sizeof(trace.Call{}))
	return n + keptText(t)
}

// keptText returns how many bytes of the record kept copies, at most.
func keptText(t *trace.Trajectory) int {
	n := 0
	for i := range t.Messages {
		if m := &t.Messages[i]; m.Role == trace.RoleUser {
			n += len(m.Text.Data)
		}
	}
	for i := range t.Calls {
		if c := &t.Calls[i]; predicted(c) {
			n += len(c.Args.Data) + len(c.Result.Data)
		}
	}
	return n
}

// predicted reports whether predictions read what a call was given and returned.
func predicted(c *trace.Call) bool {
	return c.Origin == trace.OriginModel || c.Origin == trace.OriginInertial
}

// kept returns what predictions read of t, in memory of its own.
func kept(t *trace.Trajectory) *trace.Trajectory {
	text := make([]byte, 0, keptText(t))
	raw := func(r trace.Raw) trace.Raw {
		from := len(text)
		text = append(text, r.Data...)
		return trace.Raw{Data: text[from:len(text):len(text)], Form: r.Form}
	}
	said := func(r trace.Raw) trace.Raw {
		if r.Form != trace.FormParts {
			return raw(r)
		}
		from := len(text) // parts may be more than texts, such as images
		text = r.AppendText(text)
		return trace.Raw{Data: text[from:len(text):len(text)], Form: trace.FormText}
	}
	out := &trace.Trajectory{
		ID: strings.Clone(t.ID), Task: strings.Clone(t.TaskKey()), // the key may be of a text that is not kept
		Turns: make([]trace.Turn, len(t.Turns)), Messages: make([]trace.Message, len(t.Messages)), Calls: make([]trace.Call, len(t.Calls)),
	}
	for i := range t.Turns {
		out.Turns[i] = trace.Turn{FirstCall: t.Turns[i].FirstCall, NumCalls: t.Turns[i].NumCalls}
	}
	for i := range t.Messages {
		m := &t.Messages[i]
		out.Messages[i] = trace.Message{Role: m.Role, Turn: m.Turn, Call: m.Call}
		if m.Role == trace.RoleUser {
			out.Messages[i].Text = said(m.Text)
		}
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		out.Calls[i] = trace.Call{Tool: c.Tool, Turn: c.Turn, HasResult: c.HasResult, Status: c.Status, Origin: c.Origin, AfterUser: c.AfterUser}
		if predicted(c) {
			out.Calls[i].Args, out.Calls[i].Result = raw(c.Args), said(c.Result)
		}
	}
	return out
}

// append appends the sampled trajectories in order, and what was the first to have no room.
func (s *Sample) append(dst []byte) []byte {
	kept := s.sorted()
	dst = varint.Append(dst, len(kept))
	for _, x := range kept {
		dst = varint.Append(append(append(dst, x.rank[:]...), x.task[:]...), x.size, x.part)
		dst = varint.AppendText(dst, string(x.digested()))
	}
	if s.first == nil {
		return append(dst, 0)
	}
	s.first.digested()
	dst = varint.Append(append(append(dst, 1), s.first.rank[:]...), s.first.size)
	return append(dst, s.first.content[:]...)
}

// read reads what append wrote.
func (s *Sample) read(r *reader) {
	for range r.Length(27) {
		x := &sampled{rank: [16]byte(r.Take(16)), task: [8]byte(r.Take(8)), size: r.Below(s.largest + 1), part: r.Below(CalibrationParts)}
		x.digest = slices.Clone(r.Take(r.Length(1)))
		x.noteContent()
		if n := len(s.kept); r.Broken != "" || n > 0 && x.compare(s.kept[n-1]) < 0 {
			r.fail()
			return
		}
		s.size += x.size
		s.kept = append(s.kept, x)
	}
	if r.Below(2) == 1 {
		s.first = &sampled{rank: [16]byte(r.Take(16)), size: r.Below(s.largest + 1), left: true}
		s.first.content = [16]byte(r.Take(16))
		if n := len(s.kept); n == 0 || s.first.compare(s.kept[n-1]) <= 0 {
			r.fail()
		}
	}
	if len(s.kept) > s.most || s.size > s.bytes {
		r.fail()
	}
	slices.Reverse(s.kept) // a heap with the last at its top
}
