package metatool

import "github.com/awo-dev/awo/merge"

// cover is which steps of the walks are inside occurrences of meta-tools. It
// takes 5 bytes a step.
type cover struct {
	walks  *merge.Walks
	end    []uint32 // by step: behind the longest occurrence that begins here, 0 if there is none
	inside []bool   // an occurrence began before this step and goes on
}

func newCover(w *merge.Walks) *cover {
	return &cover{walks: w, end: make([]uint32, w.Steps()), inside: make([]bool, w.Steps())}
}

// add adds the occurrences of a candidate.
func (v *cover) add(c *Candidate) {
	for i := range c.Occurrences {
		o := &c.Occurrences[i]
		end := o.First + merge.Place(c.places(o))
		v.end[o.First] = max(v.end[o.First], uint32(end))
		for p := o.First + 1; p < end; p++ {
			v.inside[p] = true
		}
	}
}

// places returns how many steps of the walk an occurrence has.
func (c *Candidate) places(o *Occurrence) int {
	n := 0
	for k := range c.Len() {
		n += o.count(k)
	}
	return n
}

// saved returns by how much calls and calling turns become fewer by the
// occurrences between two places, none inside another.
func (v *cover) saved(trajectory int, first, end merge.Place) (calls, turns int) {
	for p := first; p < end; {
		if v.end[p] == 0 {
			p++
			continue
		}
		c, t := saving(v.walks, trajectory, p, merge.Place(v.end[p]))
		calls, turns = calls+c, turns+t
		p = merge.Place(v.end[p])
	}
	return calls, turns
}
