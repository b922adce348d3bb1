package candidate

import "github.com/awo-dev/awo/merge"

// Cover is which steps of the walks are inside occurrences of meta-tools. It
// takes 5 bytes a step.
type Cover struct {
	walks  *merge.Walks
	end    []uint32 // by step: behind the longest occurrence that begins here, 0 if there is none
	inside []bool   // an occurrence began before this step and goes on
}

func NewCover(w *merge.Walks) *Cover {
	return &Cover{walks: w, end: make([]uint32, w.Steps()), inside: make([]bool, w.Steps())}
}

// Add adds the occurrences of a candidate.
func (v *Cover) Add(c *Candidate) {
	for i := range c.Occurrences {
		o := &c.Occurrences[i]
		end := o.First + merge.Place(c.Places(o))
		v.end[o.First] = max(v.end[o.First], uint32(end))
		for p := o.First + 1; p < end; p++ {
			v.inside[p] = true
		}
	}
}

// saved returns by how much calls and calling turns become fewer by the
// occurrences between two places, none inside another.
func (v *Cover) saved(trajectory int, first, end merge.Place) (calls, turns int) {
	for p := first; p < end; {
		if v.end[p] == 0 {
			p++
			continue
		}
		c, t := Saving(v.walks, trajectory, p, merge.Place(v.end[p]))
		calls, turns = calls+c, turns+t
		p = merge.Place(v.end[p])
	}
	return calls, turns
}

// Recount works out support and savings of a candidate, beyond what occurrences
// of others inside its own, or around them, save.
func (c *Candidate) Recount(covered *Cover) {
	c.settle()
	c.TurnsSaved, c.CallsSaved = 0, 0
	for i := range c.Occurrences {
		o := &c.Occurrences[i]
		if covered.inside[o.First] {
			continue
		}
		end := o.First + merge.Place(c.Places(o))
		calls, turns := Saving(covered.walks, o.Trajectory, o.First, end)
		otherCalls, otherTurns := covered.saved(o.Trajectory, o.First, end)
		c.CallsSaved += max(0, calls-otherCalls)
		c.TurnsSaved += max(0, turns-otherTurns)
	}
}

// Saving returns by how much calls and calling turns become fewer when the steps
// from first to end-1 of a trajectory become one call in the turn of the first:
// their turns but that one, less the last if a later call is made in it.
func Saving(w *merge.Walks, trajectory int, first, end merge.Place) (calls, turns int) {
	begin, last := -1, -1
	for p := first; p < end; p++ {
		_, _, n := w.Calls(p)
		if n == 0 {
			continue
		}
		from, to := w.Turns(p)
		if begin < 0 {
			begin, last = from, from
		}
		if from != last {
			turns++
		}
		turns += to - from
		calls, last = calls+n, to
	}
	_, stop := w.Of(trajectory)
	for p := end; p < stop; p++ {
		if _, _, n := w.Calls(p); n > 0 {
			if from, _ := w.Turns(p); from == last && last != begin {
				turns--
			}
			break
		}
	}
	return max(0, calls-1), turns
}
