package replay

import (
	"slices"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/trace"
)

// Reach is calls in a row that one call could have made, if somebody knew that they follow.
type Reach struct {
	Begin, End int      // elements of the sequence of the trajectory; see NewSequence
	Tools      []string // calls of one tool in a row are one
	Removed    []int    // turns that there would be without

	// Known: all arguments of its calls were known before the first of them, or stand in
	// what one of them returned. Linked: some do the latter.
	Known, Linked bool
}

const (
	maxReach      = 24 // calls
	maxReachTools = 8
)

// Reaches returns the pieces of t that hold more than one call and remove a turn, in order
// of Begin: as calls are made in a row, without user messages, barriers, failed calls and
// repeats. They are a bound for what meta-tools of such steps can do. flow is that of t.
func Reaches(t *trace.Trajectory, marks []merge.Mark, flow *dataflow.Flow, c *dataflow.Collector) []Reach {
	record := newRecord(t)
	record.flow = flow
	s, p := newSequence(record, marks, false), newPlayer(record, c)
	if len(s.calls) < 2 {
		return nil
	}
	var out []Reach
	for i := range s.calls {
		if s.stop[i] {
			continue
		}
		o := Occurrence{Calls: [][]int{s.calls[i : i+1]}}
		one := Reach{Begin: i, Tools: []string{t.Calls[s.calls[i]].Tool.Value()}, Known: true}
		for end := i + 1; end < len(s.calls) && end-i < maxReach && !s.stop[end] && !s.cut[end]; end++ {
			call := s.calls[end]
			if tool := t.Calls[call].Tool.Value(); tool != one.Tools[len(one.Tools)-1] {
				if len(one.Tools) == maxReachTools {
					break
				}
				one.Tools = append(one.Tools, tool)
			}
			if one.Known && !p.callKnown(call, s.calls[i]) {
				one.Known = derived(flow, p, call, s.calls[i], s.calls[i:end])
				one.Linked = true
			}
			o.Calls = append(o.Calls, s.calls[end:end+1])
			one.End = end + 1
			if removed := o.Removed(t); len(removed) > 0 {
				found := one
				found.Tools, found.Removed, found.Linked = slices.Clone(one.Tools), removed, one.Known && one.Linked
				out = append(out, found)
			}
		}
	}
	return out
}

// derived reports whether each argument of a call was known before an earlier call, or is
// what a rule makes of the result of one of some calls.
func derived(flow *dataflow.Flow, p *Player, call, before int, inside []int) bool {
	if p.t.Calls[call].ArgsMissing() {
		return false
	}
	first, _ := slices.BinarySearchFunc(flow.Uses, call, func(u dataflow.Use, call int) int { return u.Call - call })
	for i := first; i < len(flow.Uses) && flow.Uses[i].Call == call; i++ {
		u := &flow.Uses[i]
		if u.Whole || flow.KnownBefore(u, before, p.collector.EnumsOf(p.t)) {
			continue
		}
		if !slices.ContainsFunc(u.Sources, func(from dataflow.Source) bool {
			return flow.Slots[from.Slot].Side == dataflow.Output && from.Relation <= dataflow.Template && !from.Echo && slices.Contains(inside, from.Call)
		}) {
			return false
		}
	}
	return true
}
