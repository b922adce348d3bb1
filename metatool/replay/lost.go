package replay

import (
	"github.com/awo-dev/awo/internal/dataflow/uses"
)

// lost returns the first step of which the answer lacks a value that is used behind the
// occurrence, -1 if there is none. An answer holds the results that it tells whole, so
// that only a value of one that is left out can be missing; it is not if the agent knew
// it before, or another result tells it.
func (r *record) lost(p *plan, o Occurrence) int {
	if !p.omits {
		return -1
	}
	told := r.told(p, o)
	for i := range p.steps {
		if p.steps[i].returned {
			continue
		}
		for _, c := range o.Calls[i] {
			if last := r.said().Last(c, &r.result(c).Value, o.First(), told); last > o.Last() {
				return i
			}
		}
	}
	return -1
}

// told returns the words of the results that are in the answer.
func (r *record) told(p *plan, o Occurrence) uses.Words {
	told := uses.Words{}
	for i := range p.steps {
		if !p.steps[i].returned {
			continue
		}
		for _, c := range o.Calls[i] {
			told.Add(&r.result(c).Value)
		}
	}
	return told
}

// said returns what is used where in the trajectory.
func (r *record) said() *uses.Uses {
	if r.words == nil {
		r.words = uses.New(r.t, r.arguments)
	}
	return r.words
}
