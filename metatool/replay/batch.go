package replay

import (
	"github.com/awo-dev/awo/internal/dataflow"
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
// flow is that of t, nil where it was not collected.
//
// It says nothing of order: a model that writes and reads in one turn must not care
// which comes first.
func Batches(t *trace.Trajectory, marks []merge.Mark, flow *dataflow.Flow, c *dataflow.Collector) []Occurrence {
	record := newRecord(t)
	record.flow = flow
	return batches(record, marks, c, func(int) bool { return true })
}

// BatchesOf is Batches for those who ask only for batches that begin with two calls for
// which is holds: others may be missing, and end too early. It reads no more of t than
// these need. repeats are what merge.Repeats says of t.
func BatchesOf(t *trace.Trajectory, marks []merge.Mark, repeats []int, c *dataflow.Collector, is func(call int) bool) []Occurrence {
	record := newRecord(t)
	record.repeats = repeats
	return batches(record, marks, c, is)
}

func batches(record *record, marks []merge.Mark, c *dataflow.Collector, is func(call int) bool) []Occurrence {
	s, p := newSequence(record, marks, false), newPlayer(record, c)
	stretches := s.stretches(is)
	if len(stretches) == 0 {
		return nil
	}
	last := s.calls[stretches[len(stretches)-1][1]-1]
	p.reading = c.Read(record.t, record.flow, last+1, values{record})
	defer p.reading.Close(c)
	var out []Occurrence
	for _, stretch := range stretches {
		for i := stretch[0]; i < stretch[1]; {
			end := i + 1
			for end < stretch[1] && p.callKnown(s.calls[end], s.calls[i]) {
				end++
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
	}
	return out
}

// stretches returns where there are elements between which nothing cuts the sequence, as
// first and end, each up to the last two in a row for which is holds; none without two.
func (s *Sequence) stretches(is func(call int) bool) [][2]int {
	var out [][2]int
	for i := 0; i < len(s.calls); {
		begin, until := i, 0
		for i++; i < len(s.calls) && !s.stop[i] && !s.cut[i]; i++ {
			if !s.stop[begin] && is(s.calls[i-1]) && is(s.calls[i]) {
				until = i + 1
			}
		}
		if until > 0 {
			out = append(out, [2]int{begin, until})
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
