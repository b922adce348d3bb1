package replay

import (
	"slices"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

// Place is where a tool of a set could have stood in for calls of a trajectory,
// and would have saved a calling turn. Where turns are not recorded it is a place all
// the same, which saves nothing.
type Place struct {
	Tool       int     // index into the set
	Begin, End int     // its calls, as elements of the Sequence from Begin to before End
	Removed    []int   // the turns that there would be without, in order
	Replay     *Replay // what the tool does there

	// Across says that other reads of the agent stand between its steps. Such a place is
	// exact: where it would not be, the agent made no use of the calls as the tool makes
	// them, so that it tells nothing of how often the tool is right.
	Across bool
}

// Finder finds the places of a set of tools. Several trajectories may be looked
// at at a time.
type Finder struct {
	plans     []*plan
	byFirst   map[trace.Name][]int
	needs     []need
	collector dataflow.Collector
}

// NewFinder returns a finder of the places of tools.
func NewFinder(tools []*metatool.Tool) *Finder {
	f := &Finder{byFirst: map[trace.Name][]int{}}
	numbers := map[need]int{}
	for i, t := range tools {
		p := newPlan(t)
		f.plans = append(f.plans, p)
		if len(p.steps) == 0 {
			continue
		}
		f.byFirst[p.steps[0].called] = append(f.byFirst[p.steps[0].called], i)
		for _, n := range p.beyondFirst() {
			number, is := numbers[n]
			if !is {
				number = len(f.needs)
				numbers[n], f.needs = number, append(f.needs, n)
			}
			p.needs = append(p.needs, number)
		}
	}
	return f
}

// maxShorter is how often a walk over a list that disagrees is tried with fewer
// of its last calls.
const maxShorter = 16

// Find returns the places in t where a tool of the set would save a turn, from
// every call on, exact or not; places may overlap. marks are those of its calls
// under rules, nil without rules.
func (f *Finder) Find(t *trace.Trajectory, marks []merge.Mark) []Place {
	var places []Place
	record := newRecord(t)
	sequence, player := newSequence(record, marks, false), newPlayer(record, &f.collector)
	defer player.close()
	for i := range sequence.calls {
		for _, n := range f.byFirst[t.Calls[sequence.calls[i]].Tool] {
			o, across, ok := sequence.at(f.plans[n], i)
			if !ok {
				continue
			}
			removed := o.Removed(t)
			if len(removed) == 0 && t.Calls[o.First()].Turn >= 0 {
				continue
			}
			if p, ok := f.place(sequence, player, n, o, removed, across); ok {
				places = append(places, p)
			}
		}
	}
	return places
}

// Occurrences tells of the occurrences of the tools in t: of each from left to right,
// without overlaps. marks are as in Find.
func (f *Finder) Occurrences(t *trace.Trajectory, marks []merge.Mark, found func(tool int, o Occurrence)) {
	s := NewSequence(t, marks)
	behind := make([]int, len(f.plans)) // the last occurrence of each tool
	for i, call := range s.calls {
		for _, n := range f.byFirst[t.Calls[call].Tool] {
			if i < behind[n] {
				continue
			}
			if o, _, ok := s.occurrence(f.plans[n], i, false); ok {
				found(n, o)
				behind[n] = i + o.Len()
			}
		}
	}
}

// place replays a tool at an occurrence and what that removes, which across other reads is
// a place only if the replay is exact.
func (f *Finder) place(s *Sequence, player *Player, n int, o Occurrence, removed []int, across bool) (Place, bool) {
	replay := player.playWalk(f.plans[n], o)
	if across && !replay.Exact {
		return Place{}, false
	}
	if replay.Occurrence.Len() != o.Len() { // of a walk, a part
		o = replay.Occurrence
		removed = o.Removed(player.t)
	}
	begin, _ := slices.BinarySearch(s.calls, o.First())
	last, _ := slices.BinarySearch(s.calls, o.Last())
	return Place{Tool: n, Begin: begin, End: last + 1, Removed: removed, Replay: replay, Across: across}, true
}

// playWalk plays a meta-tool at an occurrence. An agent that walks a list may go on
// with other calls of the same tool: where the whole run of calls disagrees, it is
// the longest part from its beginning that does not, and would save a turn.
func (p *Player) playWalk(plan *plan, o Occurrence) *Replay {
	whole := p.play(plan, o)
	last := len(o.Calls) - 1
	if whole.Saves || plan.steps[last].Each == nil {
		return whole
	}
	for range min(maxShorter, len(o.Calls[last])-1) {
		o.Calls = slices.Clone(o.Calls)
		o.Calls[last] = o.Calls[last][:len(o.Calls[last])-1]
		if len(o.Removed(p.t)) == 0 {
			break
		}
		if r := p.play(plan, o); r.Saves {
			return r
		}
	}
	return whole
}

// Removed returns the turns, as indices into Trajectory.Turns in order, that
// there would be without if the occurrence were one call in the turn of its first
// one: those whose calls all belong to it. Because the calls of an occurrence, with the
// reads between them, follow one another, no two occurrences without overlap remove the
// same turn, nor one that only both together hold: what a set of them saves is the sum.
func (o Occurrence) Removed(t *trace.Trajectory) []int {
	var removed []int
	turn, n := -1, 0
	for _, calls := range o.Calls {
		for _, c := range calls {
			if at := t.Calls[c].Turn; at != turn {
				turn, n = at, 0
			}
			n++
			if turn >= 0 && turn != t.Calls[o.First()].Turn && n == t.Turns[turn].NumCalls {
				removed = append(removed, turn)
			}
		}
	}
	return removed
}

// Span is a piece of a sequence that is worth something, from element Begin to
// before End.
type Span struct {
	Begin, End int
	Worth      float64
}

// Best returns which spans, as indices in order of place, do not overlap and are
// worth most together, and what. Spans must be in order of Begin. Among equals the
// earlier ones in the list are taken. The time is O(n log n).
func Best(spans []Span) (chosen []int, worth float64) {
	// best[i] is the most that spans from i on are worth, next the first that does
	// not overlap i.
	best, next := make([]float64, len(spans)+1), make([]int, len(spans))
	for i := len(spans) - 1; i >= 0; i-- {
		next[i] = i + after(spans[i:], spans[i].End)
		best[i] = max(best[i+1], spans[i].Worth+best[next[i]])
	}
	for i := 0; i < len(spans); {
		if spans[i].Worth <= 0 || spans[i].Worth+best[next[i]] < best[i+1] {
			i++
			continue
		}
		chosen = append(chosen, i)
		i = next[i]
	}
	return chosen, best[0]
}

// after returns the first span that begins at end or behind it.
func after(spans []Span, end int) int {
	n, _ := slices.BinarySearchFunc(spans, end, func(s Span, end int) int { return s.Begin - end })
	return n
}
