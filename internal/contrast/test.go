package contrast

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/awo-dev/awo/internal/stat"
)

// permutations is how many permutations each test draws.
const permutations = 9_999

// level is that of the family of tests: how often two sets of one population may be
// declared different.
const level = 0.05

// test gives every figure its p, and declares a difference if one of the family is small
// enough: the figures, and one joint test of how often tools are called, by Holm (1979).
// Single tools are tested only if the joint test rejects, by Holm among themselves. Steps
// follow from tools and are not tested.
//
// The p of a figure permutes the arms over tasks, or, where both sets have the task, the
// signs of its differences; the statistic is the studentised difference, so that arms may
// vary differently. Figures that one set lacks, or that no task varies, take no part.
func (p *pair) test(c *Contrast) {
	var family []*Estimate
	for m := range c.Figures {
		e := &c.Figures[m]
		if p.permute(e, uint64(m), func(t *task) (float64, float64) { return t.of(m) }) {
			family = append(family, e)
		}
	}
	joint := &Estimate{}
	if len(c.Tools) > 0 {
		p.permuteTools(joint)
		family = append(family, joint)
	}
	holm(family)
	c.ToolsP = joint.PAdjusted
	for _, e := range family {
		c.Different = c.Different || e.Different
	}
	if !joint.Different {
		return
	}
	family = nil
	for i := range c.Tools {
		e, tool := &c.Tools[i].Estimate, c.Tools[i].Tool
		if p.permute(e, 1000+uint64(i), func(t *task) (float64, float64) { return float64(t.tools[tool]), float64(t.runs) }) {
			family = append(family, e)
		}
	}
	holm(family)
}

// holm adjusts the p of a family, and says which are under the level.
func holm(family []*Estimate) {
	slices.SortStableFunc(family, func(a, b *Estimate) int {
		x, _ := a.P.Value()
		y, _ := b.P.Value()
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	adjusted := 0.0
	for i, e := range family {
		p, _ := e.P.Value()
		adjusted = max(adjusted, min(1, p*float64(len(family)-i)))
		e.PAdjusted, e.Different = stat.Known(adjusted), adjusted < level
	}
}

// Arms tests the figures of an experiment, as New tests those of two sets: arms are
// permuted over their units, and all figures are one family.
func Arms(figures []stat.Arms, o Options) []Estimate {
	o.fill()
	tested := make([]Estimate, len(figures))
	var family []*Estimate
	for i, f := range figures {
		r := rows{num: slices.Concat(f.Control.Num, f.Treated.Num), den: slices.Concat(f.Control.Den, f.Treated.Den), first: len(f.Control.Num)}
		if r.permute(&tested[i], uint64(i), o) {
			family = append(family, &tested[i])
		}
	}
	holm(family)
	return tested
}

// permute sets the p of a figure; false if there is none.
func (p *pair) permute(e *Estimate, purpose uint64, of func(*task) (num, den float64)) bool {
	r := p.rows(of)
	return r.permute(e, purpose, p.o)
}

func (r *rows) permute(e *Estimate, purpose uint64, o Options) bool {
	seen := math.Abs(r.statistic(nil))
	if math.IsNaN(seen) || math.IsInf(seen, 0) {
		e.P, e.PAdjusted = stat.Unknown("no task varies, or a set lacks the figure"), stat.Unknown("there is no p to adjust")
		return false
	}
	e.P = stat.Known(r.monteCarlo(o, purpose, func(swap []bool) bool { return math.Abs(r.statistic(swap)) >= seen*(1-1e-12) }))
	return true
}

// permuteTools sets the p of the largest difference of any tool.
func (p *pair) permuteTools(e *Estimate) {
	names := map[string]bool{}
	for _, tasks := range p.tasks {
		for _, t := range tasks {
			for tool := range t.tools {
				names[tool] = true
			}
		}
	}
	var all []rows
	for tool := range names { // the largest of them does not depend on their order
		all = append(all, p.rows(func(t *task) (float64, float64) { return float64(t.tools[tool]), float64(t.runs) }))
	}
	largest := func(swap []bool) (most float64) {
		for i := range all {
			if v := math.Abs(all[i].statistic(swap)); v > most {
				most = v
			}
		}
		return most
	}
	seen := largest(nil)
	e.P = stat.Known(all[0].monteCarlo(p.o, 900, func(swap []bool) bool { return largest(swap) >= seen*(1-1e-12) }))
}

// monteCarlo returns the share of permutations that are as extreme as what was seen. Of
// pairs swap says whose sides change places; else which tasks of all are in the first set.
func (r *rows) monteCarlo(with Options, purpose uint64, extreme func(swap []bool) bool) float64 {
	n := max(len(r.num), len(r.differences))
	o := stat.Options{Seed: with.Seed, Purpose: []uint64{0xc1, purpose}, Each: with.Each}
	return stat.Permute(with.Permutations, o, func() func(*rand.PCG) bool {
		swap := make([]bool, n)
		return func(random *rand.PCG) bool {
			if r.paired {
				for i := range swap {
					swap[i] = stat.Below(random, 2) == 1
				}
				return extreme(swap)
			}
			for i := range swap {
				swap[i] = i < r.first
			}
			for i := n - 1; i > 0; i-- {
				j := stat.Below(random, i+1)
				swap[i], swap[j] = swap[j], swap[i]
			}
			return extreme(swap)
		}
	}).P
}

// rows are the parts of a figure by task: of pairs the difference of each, else numerator
// and denominator of all tasks, those of the first set first.
type rows struct {
	paired      bool
	differences []float64 // NaN where one side lacks the figure
	num, den    []float64
	first       int
}

func (p *pair) rows(of func(*task) (num, den float64)) rows {
	r := rows{paired: p.paired, first: len(p.tasks[0])}
	if p.paired {
		for i := range p.tasks[0] {
			bn, bd := of(p.tasks[0][i])
			an, ad := of(p.tasks[1][i])
			d := math.NaN()
			if bd > 0 && ad > 0 {
				d = an/ad - bn/bd
			}
			r.differences = append(r.differences, d)
		}
		return r
	}
	for _, tasks := range p.tasks {
		for _, t := range tasks {
			num, den := of(t)
			r.num, r.den = append(r.num, num), append(r.den, den)
		}
	}
	return r
}

// statistic returns the difference over its standard error, with sides or sets as swap
// says, nil for as they are. It is not a number where nothing varies.
func (r *rows) statistic(swap []bool) float64 {
	if r.paired {
		n, sum, squares := 0.0, 0.0, 0.0
		for i, d := range r.differences {
			if math.IsNaN(d) {
				continue
			}
			if swap != nil && swap[i] {
				d = -d
			}
			n, sum, squares = n+1, sum+d, squares+float64(d*d)
		}
		variance := (squares - float64(sum*sum)/n) / (n - 1) / n
		return student(sum/n, variance)
	}
	inFirst := func(i int) bool {
		if swap == nil {
			return i < r.first
		}
		return swap[i]
	}
	var num, den, n, squares [2]float64
	for i := range r.num {
		if r.den[i] > 0 {
			side := side(inFirst(i))
			num[side] += r.num[i]
			den[side] += r.den[i]
			n[side]++
		}
	}
	ratio := [2]float64{num[0] / den[0], num[1] / den[1]}
	for i := range r.num {
		if r.den[i] > 0 {
			side := side(inFirst(i))
			e := r.num[i] - float64(ratio[side]*r.den[i])
			squares[side] += float64(e * e)
		}
	}
	variance := 0.0
	for side := range squares {
		variance += squares[side] * n[side] / (n[side] - 1) / float64(den[side]*den[side])
	}
	return student(ratio[1]-ratio[0], variance)
}

func side(first bool) int {
	if first {
		return 0
	}
	return 1
}

// student is a difference over its standard error: what differs without varying is as far
// apart as can be.
func student(difference, variance float64) float64 {
	switch {
	case variance > 1e-300:
		return difference / math.Sqrt(variance)
	case difference != 0 && variance >= 0:
		return math.Copysign(math.MaxFloat64, difference)
	}
	return math.NaN()
}
