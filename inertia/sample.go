package inertia

import (
	"cmp"
	"container/heap"
	"crypto/sha256"
	"slices"
	"strings"
	"unicode/utf8"
	"unsafe"

	"github.com/awo-dev/awo/trace"
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

	kept  sampleHeap
	size  int
	first *sampled // of those that had no room; nil while all had
}

type sampled struct {
	rank       [sha256.Size]byte
	id         string
	size       int
	trajectory *trace.Trajectory
}

func (s *sampled) compare(o *sampled) int {
	return cmp.Or(slices.Compare(s.rank[:], o.rank[:]), cmp.Compare(s.id, o.id))
}

// NewSample returns an empty sample.
func NewSample(seed uint64) *Sample {
	return &Sample{seed: seed, most: SampleSize, bytes: sampleBytes, largest: sampleLargest}
}

// Add offers a trajectory, which is not kept itself.
func (s *Sample) Add(t *trace.Trajectory) {
	name := append([]byte(t.TaskKey()), 0)
	name = utf8.AppendRune(append(name, t.ID...), rune(s.seed))
	x := &sampled{rank: sha256.Sum256(name), id: t.ID}
	if s.first != nil && x.compare(s.first) >= 0 {
		return
	}
	if x.size = keptBytes(t); x.size > s.largest {
		return
	}
	x.trajectory = kept(t)
	x.id = x.trajectory.ID
	heap.Push(&s.kept, x)
	s.size += x.size
	for len(s.kept) > s.most || s.size > s.bytes {
		s.first = heap.Pop(&s.kept).(*sampled)
		s.first.trajectory = nil
		s.size -= s.first.size
	}
}

// Histories returns what was kept, in the order of the hashes.
func (s *Sample) Histories() []*History {
	slices.SortFunc(s.kept, func(a, b *sampled) int { return b.compare(a) }) // a heap as well
	out := make([]*History, 0, len(s.kept))
	for _, x := range slices.Backward(s.kept) {
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
