package replay

import (
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/trace"
)

// Programs are the calls of a trajectory, for who asks which of them one program could make.
type Programs struct {
	*Player
	sequence *Sequence
}

// NewPrograms reads the calls of t. marks are those of its calls under rules, nil without
// rules; flow is that of t.
func NewPrograms(t *trace.Trajectory, marks []merge.Mark, flow *dataflow.Flow, c *dataflow.Collector) *Programs {
	record := newRecord(t)
	record.flow = flow
	return &Programs{newPlayer(record, c), newSequence(record, marks, false)}
}

// All divides the calls: each piece begins with a call that nothing joins, and is as long as
// joins says of the calls that follow. User messages, barriers and failed calls end one, and
// repeats are in none (see NewSequence).
func (p *Programs) All(joins func(program []int, call int) bool) [][]int {
	var out [][]int
	s := p.sequence
	for i := 0; i < len(s.calls); {
		end := i + 1
		for !s.stop[i] && end < len(s.calls) && !s.cut[end] && !s.stop[end] && joins(s.calls[i:end], s.calls[end]) {
			end++
		}
		if !s.stop[i] {
			out = append(out, s.calls[i:end])
		}
		i = end
	}
	return out
}

// IsUsed reports whether a value of the result of a call of a program is used behind the
// program, in arguments or in what the model says. Where the traces lack what the model says,
// nobody knows, and it is.
func (p *Programs) IsUsed(program []int, call int) bool {
	if !p.said().HasTexts() {
		return true
	}
	last := p.said().Last(call, &p.result(call).Value, program[0], nil)
	return last > program[len(program)-1]
}
