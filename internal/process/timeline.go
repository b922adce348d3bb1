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
	Tokens  int64         // of the whole trajectory, as Sample.Add was told
	Paid    float64       // as Sample.Add was told
	Length  time.Duration // from its first time to its last, 0 if not recorded
}

// TimelineTurn is a turn of the model, or a stretch of calls that have none.
type TimelineTurn struct {
	AfterUser bool
	Tokens    int64         // read and written, 0 if not recorded
	Start     time.Duration // since the trajectory began, -1 if not recorded; as Waits says
	End       time.Duration
	Calls     []TimelineCall
}

// TimelineCall is a call of a turn.
type TimelineCall struct {
	Tool   string
	Status trace.Status
	Start  time.Duration // since the trajectory began, -1 if not recorded
	End    time.Duration
}

// Sample keeps trajectories as timelines: those whose ids have the smallest hashes, so that
// it does not depend on their order, the one that costs most, and of those that failed the
// one that costs most.
type Sample struct {
	most    int
	kept    keptHeap
	dearest *kept
	failed  *kept
}

// NewSample returns a Sample of at most so many trajectories, and two.
func NewSample(most int) *Sample { return &Sample{most: most} }

// Notable are places in what Timelines returns, -1 for none: of the trajectory that costs
// most, of the one of those that failed, and of one that costs as much as half of the sample.
type Notable struct{ Dearest, Failed, Median int }

// Timelines returns the sample in order of ids, and which are worth a look.
func (s *Sample) Timelines() ([]Timeline, Notable) {
	all := slices.Clone(s.kept)
	place := func(k *kept) int {
		if k == nil {
			return -1
		}
		return slices.IndexFunc(all, func(o kept) bool { return o.hash == k.hash && o.ref == k.ref })
	}
	for _, k := range []*kept{s.dearest, s.failed} {
		if k != nil && place(k) < 0 {
			all = append(all, *k)
		}
	}
	slices.SortFunc(all, func(x, y kept) int {
		return cmp.Or(cmp.Compare(x.timeline.ID, y.timeline.ID), x.ref.Compare(y.ref))
	})
	out, at := make([]Timeline, 0, len(all)), Notable{place(s.dearest), place(s.failed), -1}
	byCost := make([]int, len(all))
	for i := range all {
		out, byCost[i] = append(out, all[i].timeline), i
	}
	slices.SortStableFunc(byCost, func(i, k int) int { return slices.Compare(all[i].costs[:], all[k].costs[:]) })
	if len(byCost) > 0 {
		at.Median = byCost[(len(byCost)-1)/2]
	}
	return out, at
}

type kept struct {
	hash     uint64
	costs    [3]float64 // money, tokens, calls
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

// Add adds a trajectory with what was paid for it and its tokens, if a model decided on a call
// of it. Without prices tokens say what costs most, and without tokens calls.
func (s *Sample) Add(t *trace.Trajectory, paid float64, tokens int64) {
	if s.most <= 0 || !slices.ContainsFunc(t.Calls, func(c trace.Call) bool { return c.Origin == trace.OriginModel }) {
		return
	}
	h := fnv.New64a()
	h.Write([]byte(t.ID))
	k := &kept{hash: h.Sum64(), ref: t.Ref, costs: [3]float64{paid, float64(tokens), float64(len(t.Calls))}}
	sampled := len(s.kept) < s.most || k.before(&s.kept[0])
	dearest := k.dearer(s.dearest)
	failed := t.Outcome == trace.OutcomeFailure && k.dearer(s.failed)
	if !sampled && !dearest && !failed {
		return
	}
	k.timeline = timelineOf(t)
	k.timeline.Paid, k.timeline.Tokens = paid, tokens
	if dearest {
		s.dearest = k
	}
	if failed {
		s.failed = k
	}
	if sampled {
		heap.Push(&s.kept, *k)
	}
	if len(s.kept) > s.most {
		heap.Pop(&s.kept)
	}
}

// dearer reports whether a trajectory comes before another as an example.
func (k *kept) dearer(than *kept) bool {
	return than == nil || cmp.Or(slices.Compare(than.costs[:], k.costs[:]), cmp.Compare(k.hash, than.hash), k.ref.Compare(than.ref)) < 0
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
		return TimelineCall{Tool: c.Tool.Value(), Status: c.Status, Start: since(started(c, t)), End: since(c.End)}
	}
	began := begins(t)
	for i := range t.Turns {
		recorded := &t.Turns[i]
		turn := TimelineTurn{Start: since(began[i]), End: since(recorded.End), AfterUser: i > 0 && saidBefore(t, i)}
		if recorded.Usage.Known {
			turn.Tokens = recorded.Usage.Input + recorded.Usage.Output
		}
		for k := recorded.FirstCall; k < recorded.FirstCall+recorded.NumCalls; k++ {
			turn.Calls = append(turn.Calls, call(&t.Calls[k]))
		}
		add(turn)
	}
	for i := range t.Calls {
		if c := &t.Calls[i]; c.Turn < 0 {
			add(TimelineTurn{Start: since(c.Start), End: since(c.Start), AfterUser: c.AfterUser, Calls: []TimelineCall{call(c)}})
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
