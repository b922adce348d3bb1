package replay

import (
	"slices"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/trace"
)

// Independent returns the turns of t that there would be without if the model made
// independent reads in parallel, in order: all turns of a batch but its first.
//
// A batch is reads in a row whose arguments were all known before the first of them. User
// messages, barriers, failed calls and calls that may change something end one (see
// merge.Changes), repeats are left out (see NewSequence). Each batch is as long as it can
// be, from left to right: because more is known later, no other division needs fewer turns.
// marks are those of its calls under rules, nil without rules; flow is that of t, nil where
// it was not collected.
func Independent(t *trace.Trajectory, marks []merge.Mark, flow *dataflow.Flow, c *dataflow.Collector) []int {
	if len(t.Turns) < 2 || len(t.Calls) < 2 {
		return nil
	}
	record := newRecord(t)
	record.flow = flow
	s := newSequence(record, marks, false)
	stretches := s.reads()
	if len(stretches) == 0 {
		return nil
	}
	p := newPlayer(record, c)
	last := s.calls[stretches[len(stretches)-1][1]-1]
	p.reading = c.Read(t, flow, last+1, values{record})
	defer p.reading.Close(c)
	var turns []int
	for _, stretch := range stretches {
		for i := stretch[0]; i < stretch[1]; {
			end, batch := i+1, Occurrence{Calls: [][]int{s.calls[i : i+1]}}
			for ; end < stretch[1] && p.callKnown(s.calls[end], s.calls[i]); end++ {
				batch.Calls = append(batch.Calls, s.calls[end:end+1])
			}
			turns = append(turns, batch.Removed(t)...)
			i = end
		}
	}
	slices.Sort(turns)
	return turns
}

// reads returns where several reads are in a row that nothing cuts, as first and end.
func (s *Sequence) reads() [][2]int {
	var out [][2]int
	for i := 0; i < len(s.calls); {
		begin := i
		for i++; i < len(s.calls) && !s.stop[i] && !s.cut[i] && !s.isChange(i) && !s.stop[begin] && !s.isChange(begin); {
			i++
		}
		if i-begin > 1 {
			out = append(out, [2]int{begin, i})
		}
	}
	return out
}

// callKnown reports whether all arguments of a call were recorded, and known when the
// model made the turn of an earlier call.
func (p *Player) callKnown(call, before int) bool {
	if p.t.Calls[call].ArgsMissing() {
		return false
	}
	return p.read().CallKnown(call, before)
}
