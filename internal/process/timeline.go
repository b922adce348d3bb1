package process

import (
	"cmp"
	"container/heap"
	"hash/fnv"
	"slices"
	"time"

	"github.com/awo-dev/awo/trace"
)

// MaxTurns is how many turns a Timeline holds; the others are counted.
const MaxTurns = 400

// Timeline is one trajectory turn by turn, without anything that was said.
type Timeline struct {
	ID      string
	Outcome trace.Outcome
	Model   string
	Turns   []TimelineTurn
	Left    int // turns beyond MaxTurns
	Calls   int // of the whole trajectory
	Failed  int
	Tokens  int64         // of the whole trajectory, as far as recorded
	Length  time.Duration // from its first time to its last, 0 if not recorded
}

// TimelineTurn is a turn of the model, or a stretch of calls that have none.
type TimelineTurn struct {
	AfterUser bool
	Tokens    int64         // read and written, 0 if not recorded
	Start     time.Duration // since the trajectory began, -1 if not recorded
	Calls     []TimelineCall
}

// TimelineCall is a call of a turn.
type TimelineCall struct {
	Tool    string
	Status  trace.Status
	Seconds float64 // -1 if not recorded
}

// Timelines returns the sample, in order of ids.
func (b *Builder) Timelines() []Timeline {
	out := make([]Timeline, 0, len(b.sample.kept))
	for _, k := range b.sample.kept {
		out = append(out, k.timeline)
	}
	slices.SortFunc(out, func(x, y Timeline) int {
		return cmp.Or(cmp.Compare(x.ID, y.ID), cmp.Compare(x.Calls, y.Calls), cmp.Compare(x.Tokens, y.Tokens))
	})
	return out
}

// sample keeps the trajectories whose ids have the smallest hashes, so that it does
// not depend on their order.
type sample struct {
	most int
	kept keptHeap
}

type kept struct {
	hash     uint64
	ref      trace.Ref
	timeline Timeline
}

// keptHeap has the one to go next on top.
type keptHeap []kept

func (h keptHeap) Len() int           { return len(h) }
func (h keptHeap) Less(i, k int) bool { return h[k].before(&h[i]) }
func (h keptHeap) Swap(i, k int)      { h[i], h[k] = h[k], h[i] }
func (h *keptHeap) Push(x any)        { *h = append(*h, x.(kept)) }
func (h *keptHeap) Pop() any          { last := len(*h) - 1; x := (*h)[last]; *h = (*h)[:last]; return x }

func (k *kept) before(o *kept) bool {
	return cmp.Or(cmp.Compare(k.hash, o.hash), k.ref.Compare(o.ref)) < 0
}

func (s *sample) see(t *trace.Trajectory) {
	if s.most <= 0 {
		return
	}
	h := fnv.New64a()
	h.Write([]byte(t.ID))
	k := kept{hash: h.Sum64(), ref: t.Ref}
	if len(s.kept) == s.most && !k.before(&s.kept[0]) {
		return
	}
	k.timeline = timelineOf(t)
	heap.Push(&s.kept, k)
	if len(s.kept) > s.most {
		heap.Pop(&s.kept)
	}
}

// timelineOf draws t turn by turn. Calls of one turn share it; without recorded turns
// each call is a turn of its own.
func timelineOf(t *trace.Trajectory) Timeline {
	line := Timeline{ID: t.ID, Outcome: t.Outcome, Model: t.Model}
	first, last := t.Span()
	if !first.IsZero() {
		line.Length = last.Sub(first)
	}
	since := func(at time.Time) time.Duration {
		if at.IsZero() || first.IsZero() {
			return -1
		}
		return at.Sub(first)
	}
	add := func(turn TimelineTurn) {
		if len(line.Turns) < MaxTurns {
			line.Turns = append(line.Turns, turn)
		} else {
			line.Left++
		}
	}
	call := func(c *trace.Call) TimelineCall {
		line.Calls++
		if c.Status == trace.StatusFailed {
			line.Failed++
		}
		out := TimelineCall{Tool: c.Tool.Value(), Status: c.Status, Seconds: -1}
		if !c.Start.IsZero() && !c.End.IsZero() {
			out.Seconds = c.End.Sub(c.Start).Seconds()
		}
		return out
	}
	for i := range t.Turns {
		recorded := &t.Turns[i]
		turn := TimelineTurn{Start: since(recorded.Start), AfterUser: i > 0 && saidBefore(t, i)}
		if recorded.Usage.Known {
			turn.Tokens = recorded.Usage.Input + recorded.Usage.Output
			line.Tokens += turn.Tokens
		}
		for k := recorded.FirstCall; k < recorded.FirstCall+recorded.NumCalls; k++ {
			turn.Calls = append(turn.Calls, call(&t.Calls[k]))
		}
		add(turn)
	}
	for i := range t.Calls {
		if c := &t.Calls[i]; c.Turn < 0 {
			add(TimelineTurn{Start: since(c.Start), AfterUser: c.AfterUser, Calls: []TimelineCall{call(c)}})
		}
	}
	return line
}

// saidBefore reports whether a user spoke between turn i and the one before it.
func saidBefore(t *trace.Trajectory, i int) bool {
	at, _ := slices.BinarySearchFunc(t.Messages, i, func(m trace.Message, turn int) int { return cmp.Compare(m.Turn, turn) })
	for ; at < len(t.Messages) && t.Messages[at].Turn == i; at++ {
		if t.Messages[at].Role == trace.RoleUser {
			return true
		}
	}
	return false
}
