package replay

import (
	"slices"

	"github.com/awo-dev/awo/dataflow"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/trace"
)

// Batches returns the calls of t that could have been made in one turn, as a model
// makes parallel calls: calls in a row (user messages, barriers and failed calls end
// one, repeats are left out; see NewSequence) whose arguments were all known before
// the first of them. Each batch is as long as it can be, from left to right: because
// more is known later, no other division needs fewer turns. marks are those of its
// calls under rules, nil without rules.
//
// It says nothing of order: a model that writes and reads in one turn must not care
// which comes first.
func Batches(t *trace.Trajectory, marks []merge.Mark, c *dataflow.Collector) []Occurrence {
	record := newRecord(t)
	s, p := newSequence(record, marks, false), newPlayer(record, c)
	var out []Occurrence
	for i := 0; i < len(s.calls); {
		end := i + 1
		if !s.stop[i] {
			for end < len(s.calls) && !s.stop[end] && !s.cut[end] && p.callKnown(s.calls[end], s.calls[i]) {
				end++
			}
		}
		if end-i > 1 {
			o := Occurrence{}
			for k := i; k < end; k++ {
				o.Calls = append(o.Calls, s.calls[k:k+1])
			}
			out = append(out, o)
		}
		i = end
	}
	return out
}

// callKnown reports whether all arguments of a call were recorded, and known when the
// model made the turn of an earlier call.
func (p *Player) callKnown(call, before int) bool {
	if p.t.Calls[call].ArgsMissing() {
		return false
	}
	if p.flow == nil {
		p.readFlow()
	}
	first, _ := slices.BinarySearchFunc(p.flow.Uses, call, func(u dataflow.Use, call int) int { return u.Call - call })
	for i := first; i < len(p.flow.Uses) && p.flow.Uses[i].Call == call; i++ {
		u := &p.flow.Uses[i]
		if !u.Whole && !p.flow.KnownBefore(u, before, p.enums).OK {
			return false
		}
	}
	return true
}
