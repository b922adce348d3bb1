package summary

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/trace"
)

// Rework is how often some tools were called without getting further, as trace.Rework,
// with the tokens of the turns that record them.
type Rework struct {
	Kind         string   `json:"kind"`
	Tools        []string `json:"tools"`
	Occurrences  int      `json:"occurrences"`
	Trajectories int      `json:"trajectories"`
	Turns        int      `json:"turns"`
	TurnsUsage   int      `json:"turns_usage"` // of the turns that made these calls, with recorded tokens
	Tokens       int64    `json:"tokens"`      // of these, input and output
}

type reworkKey struct{ kind, a, b string }

func (r *Rework) key() reworkKey {
	k := reworkKey{kind: r.Kind, a: r.Tools[0]}
	if len(r.Tools) > 1 {
		k.b = r.Tools[1]
	}
	return k
}

func (s *Summary) reworkAt(k reworkKey) *Rework {
	r := s.rework[k]
	if r == nil {
		r = &Rework{Kind: k.kind, Tools: []string{k.a}}
		if k.kind == trace.ReworkAlternation {
			r.Tools = append(r.Tools, k.b)
		}
		s.rework[k] = r
	}
	return r
}

func (r *Rework) figures() []*int {
	return []*int{&r.Occurrences, &r.Trajectories, &r.Turns, &r.TurnsUsage}
}

func (r *Rework) add(o *Rework) {
	from := o.figures()
	for i, figure := range r.figures() {
		*figure += *from[i]
	}
	r.Tokens += o.Tokens
}

// addRework counts the rework of one trajectory, whose calls are q.
func (s *Summary) addRework(t *trace.Trajectory, q trace.Sequence) {
	if q.Len() == 0 {
		return
	}
	name := func(at int) string { return s.tools.values[s.numbers[q.Tools[at]]] }
	seen := map[*Rework]bool{}
	for span := range q.Rework() {
		k := reworkKey{kind: span.Kind, a: name(span.At)}
		if span.Calls > 1 {
			k.b = name(span.At + 1)
		}
		r, turns := s.reworkAt(k), q.Turns[span.At:span.At+span.Calls]
		r.Occurrences++
		if !seen[r] {
			seen[r] = true
			r.Trajectories++
		}
		if n, known := (trace.Sequence{Turns: turns}).CallingTurns(); known {
			r.Turns += n
		}
		last := -1
		for _, turn := range turns {
			if n := int(turn); n < len(t.Turns) && n != last && t.Turns[n].Usage.Known {
				r.TurnsUsage++
				r.Tokens += t.Turns[n].Usage.Input + t.Turns[n].Usage.Output
				last = n
			}
		}
	}
}

// Rework returns the habits of rework, those that cost the most turns first.
func (s *Summary) Rework() []Rework {
	out := s.reworkByName()
	slices.SortStableFunc(out, func(a, b Rework) int {
		return cmp.Or(cmp.Compare(b.Turns, a.Turns), cmp.Compare(b.Occurrences, a.Occurrences))
	})
	return out
}

// reworkByName returns the habits of rework by kind and tools.
func (s *Summary) reworkByName() []Rework {
	out := make([]Rework, 0, len(s.rework))
	for _, r := range s.rework {
		out = append(out, *r)
	}
	slices.SortFunc(out, func(a, b Rework) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), slices.Compare(a.Tools, b.Tools))
	})
	return out
}
