package bind

import (
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/candidate"
)

// Definitions makes definitions of the candidates, in their order: one for each,
// with the reasons why it cannot be offered, if there are any. After a refused
// one come the parts of it, two steps or more, that can be offered and occur in
// enough trajectories. Candidates that come out as the same tool are one
// definition, the first, with the occurrences of all that do not overlap. Overlapping ones
// are there only if they can be offered and no other comes out as the same tool.
func (b *Binder) Definitions() []*Definition {
	var list []*Definition
	same := map[string]*Definition{}
	isPart := map[*Definition]bool{}
	covered := candidate.NewCover(b.merged.Walks)
	whole := make([]*Definition, len(b.plans))
	for i := range b.plans {
		if whole[i] = b.whole(i); whole[i].Refusals == nil && !whole[i].Overlaps {
			covered.Add(whole[i].Candidate)
		}
	}
	add := func(d *Definition) {
		if d.Refusals != nil {
			list = append(list, d)
			return
		}
		key := toolKey(&d.Tool)
		if first := same[key]; first != nil {
			first.join(d)
			isPart[first] = isPart[first] && isPart[d]
			return
		}
		same[key] = d
		list = append(list, d)
	}
	for i, d := range whole {
		if d.Overlaps && (d.Refusals != nil || same[toolKey(&d.Tool)] != nil) {
			continue // its parts are candidates, too
		}
		add(d)
		if d.Refusals == nil {
			continue
		}
		for _, span := range b.parts(i) {
			d := b.part(i, span[0], span[1], covered)
			isPart[d] = true
			add(d)
			covered.Add(d.Candidate)
		}
	}
	list = slices.DeleteFunc(list, func(d *Definition) bool {
		return isPart[d] && (d.Candidate.Support < candidate.Options{Threshold: b.options.Threshold}.MinSupport() || d.Candidate.TurnsSaved == 0)
	})
	name(list, b.merged)
	for _, d := range list {
		d.describe(b.merged)
	}
	return list
}

// whole returns the definition of a whole candidate.
func (b *Binder) whole(i int) *Definition {
	c := b.chooser(i, 0)
	var refusals []Refusal
	for k := range c.plan.steps {
		refusals = append(refusals, c.step(k)...)
	}
	// The last result is always in the answer.
	if last := len(c.plan.steps) - 1; refusals == nil && c.hasCredential(last) {
		refusals = []Refusal{{Code: "returns-credentials", Step: last}}
	}
	return c.definition(len(c.plan.steps), c.plan.candidate, refusals)
}

// maxTrimmed is the number of steps up to which all parts of a refused candidate
// are compared; of longer ones the parts are taken from the front.
const maxTrimmed = 64

// parts returns the longest parts of a refused candidate that can be bound, none
// overlapping another, in order.
func (b *Binder) parts(i int) [][2]int {
	n := len(b.plans[i].steps)
	reach := make([]int, n) // by first step: behind the last that can be bound
	for a := range reach {
		if n > maxTrimmed && a > 0 && reach[a-1] > a {
			reach[a] = reach[a-1]
			continue
		}
		c := b.chooser(i, a)
		for reach[a] = a; reach[a] < n && len(c.step(reach[a])) == 0; {
			reach[a]++
		}
	}
	var spans [][2]int
	var split func(from, to int)
	split = func(from, to int) {
		best := [2]int{}
		for a := from; a < to; a++ {
			end := min(reach[a], to)
			for end > a && b.chooser(i, a).hasCredential(end-1) {
				end-- // the last result is always in the answer
			}
			if end-a > best[1]-best[0] {
				best = [2]int{a, end}
			}
		}
		if best[1]-best[0] < 2 {
			return
		}
		split(from, best[0])
		spans = append(spans, best)
		split(best[1], to)
	}
	split(0, n)
	return spans
}

// part returns the definition of the steps first to end-1 of a candidate. What
// covered says is saved by others does not count for it.
func (b *Binder) part(i, first, end int, covered *candidate.Cover) *Definition {
	whole := b.plans[i].candidate
	c := &candidate.Candidate{}
	if whole.Pattern == nil {
		c.Labels = whole.Labels[first:end]
	} else {
		c.Pattern = slices.Clone(whole.Pattern[first:end])
		for k := range c.Pattern {
			c.Pattern[k].From = max(-1, c.Pattern[k].From-first)
		}
	}
	for _, o := range whole.Occurrences {
		part := candidate.Occurrence{Trajectory: o.Trajectory, First: o.First}
		for k := range first {
			part.First += merge.Place(o.Count(k))
		}
		if o.Counts != nil {
			part.Counts = o.Counts[first:end]
		}
		c.Occurrences = append(c.Occurrences, part)
	}
	c.Recount(covered)
	return b.chooser(i, first).definition(end, c, nil)
}

// join adds the occurrences of another definition of the same tool.
func (d *Definition) join(other *Definition) {
	d.Candidate = d.Candidate.Join(other.Candidate)
	told := slices.Clone(d.Output.Steps)
	for _, step := range other.Output.Steps {
		if !slices.Contains(d.Output.Steps, step) {
			d.Output.Steps = append(d.Output.Steps, step)
		}
	}
	d.Plumbing = slices.DeleteFunc(d.Plumbing, func(p Plumbing) bool { return slices.Contains(d.Output.Steps, p.Step) })
	if slices.Sort(d.Output.Steps); !slices.Equal(d.Output.Steps, told) {
		d.Output.Schema = answerSchema()
	}
}

// toolKey tells apart tools that make different calls.
func toolKey(t *metatool.Tool) string {
	var b strings.Builder
	for _, in := range t.Inputs {
		fmt.Fprintf(&b, "%q,", in.Name)
	}
	for i := range t.Steps {
		s := &t.Steps[i]
		fmt.Fprintf(&b, "\n%q %q", s.Tool, s.Name)
		if s.Each != nil {
			b.WriteString(" each ")
			appendKey(&b, s.Each)
		}
		for _, a := range s.Args {
			fmt.Fprintf(&b, " %q %t ", a.Name, a.Optional)
			appendKey(&b, &a.Binding)
		}
	}
	return b.String()
}

func appendKey(b *strings.Builder, x *metatool.Binding) {
	fmt.Fprintf(b, "(%d %s %q %d %s %q %d", x.Kind, x.Const.AppendCanonical(nil), x.Input, x.Step, x.Path, x.Template, x.Coerce)
	if x.Key != nil {
		appendKey(b, x.Key)
	}
	for i := range x.Parts {
		appendKey(b, &x.Parts[i])
	}
	b.WriteByte(')')
}
