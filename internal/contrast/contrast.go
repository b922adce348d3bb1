// Package contrast says what differs between two sets of trajectories, such as before
// and after a change of a prompt, a model or a tool: turns, calls, failures, tokens,
// money, how often tools are used and which steps are taken.
//
// In come the trajectories of two sets, with what they cost; out come figures of both and
// their differences with intervals. The unit is the task: runs of one task are alike, and
// many runs of few tasks say little about other tasks. Where both sets have enough tasks
// in common those are compared task by task, which takes out how hard the tasks are.
//
// Memory is O(tasks), and O(tasks x tools) and O(tasks x steps) for as many tools and
// steps as a task has. The package does not say what caused a difference: whoever changed
// two things at once, or gave one set other tasks, sees the sum of both.
package contrast

import (
	"bytes"
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/deal"
	"github.com/awo-dev/awo/internal/stat"
)

// Pairing says whether tasks that both sets have are compared one by one.
type Pairing uint8

// The pairings. The zero value is PairAuto.
const (
	PairAuto   Pairing = iota // if both have at least LeastPairs tasks in common, and these are half of the runs of each
	PairAlways                // and nothing else is compared
	PairNever
)

// LeastPairs is how many tasks both sets must have for PairAuto.
const LeastPairs = 10

// Estimate is a figure of both sets and its difference.
type Estimate struct {
	Before     stat.Figure   `json:"before"`
	After      stat.Figure   `json:"after"`
	Difference stat.Figure   `json:"difference"` // after less before
	Interval   stat.Interval `json:"difference_interval"`
	Tasks      [2]int        `json:"tasks"` // that have the figure

	P         stat.Figure `json:"p"`          // of a permutation test
	PAdjusted stat.Figure `json:"p_adjusted"` // by Holm, for all that is tested
	Different bool        `json:"different"`  // the adjusted p is under 5 %
}

// Clear reports whether the difference is declared.
func (e *Estimate) Clear() bool { return e.Different }

// Named is an estimate about a tool, or about a step from one to another.
type Named struct {
	Tool string `json:"tool,omitempty"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	Estimate
}

// Contrast is what differs.
type Contrast struct {
	Paired bool
	Both   int    // tasks that both have
	Left   [2]int // runs left out, because their task is in one set only

	Different bool        // some figure, or how often tools are called
	ToolsP    stat.Figure // adjusted, of the joint test of how often tools are called

	Figures [measures]Estimate
	Tools   []Named // calls by run, largest differences first
	Steps   []Named // share of runs with the step
}

// Options are the choices of New. The zero value is the default.
type Options struct {
	Pairing Pairing
	Most    int // tools and steps that get an interval; 0 means 15
	Seed    uint64
	Each    stat.Each

	Permutations int // that each test draws; 0 means 9,999
}

func (o *Options) fill() {
	o.Most, o.Permutations = cmp.Or(o.Most, 15), cmp.Or(o.Permutations, permutations)
}

// New compares two sets.
func New(before, after *Set, o Options) *Contrast {
	o.fill()
	c := &Contrast{}
	var shared [2]float64
	for key, b := range before.tasks {
		if a := after.tasks[key]; a != nil {
			c.Both++
			shared[0] += float64(b.runs)
			shared[1] += float64(a.runs)
		}
	}
	c.Paired = o.Pairing == PairAlways || o.Pairing == PairAuto && c.Both >= LeastPairs &&
		2*shared[0] >= float64(before.Runs) && 2*shared[1] >= float64(after.Runs)
	if c.Paired {
		c.Left = [2]int{before.Runs - int(shared[0]), after.Runs - int(shared[1])}
	}
	p := &pair{o: o, paired: c.Paired}
	p.list(before, after)
	for m := range c.Figures {
		if m == seconds && (before.filledIn() || after.filledIn()) {
			const reason = "all runs of a set take the same to the microsecond, so their times were filled in"
			c.Figures[m] = Estimate{Before: stat.Unknown(reason), After: stat.Unknown(reason), Difference: stat.Unknown(reason), Interval: stat.NoInterval(reason), P: stat.Unknown(reason), PAdjusted: stat.Unknown(reason)}
			continue
		}
		c.Figures[m] = p.estimate(uint64(m), func(t *task) (num, den float64) { return t.of(m) })
	}
	c.Tools = named(p, func(t *task) map[string]int { return t.tools }, 1000, func(n *Named, tool string) { n.Tool = tool })
	c.Steps = named(p, func(t *task) map[[2]string]int { return t.steps }, 2000, func(n *Named, step [2]string) { n.From, n.To = step[0], step[1] })
	p.test(c)
	return c
}

// pair is the tasks of both sets, in order.
type pair struct {
	o      Options
	paired bool
	tasks  [2][]*task // beside each other where they are paired
}

func (p *pair) list(before, after *Set) {
	for side, s := range [2]*Set{before, after} {
		keys := make([]deal.Hash, 0, len(s.tasks))
		for key := range s.tasks {
			if !p.paired || before.tasks[key] != nil && after.tasks[key] != nil {
				keys = append(keys, key)
			}
		}
		slices.SortFunc(keys, func(a, b deal.Hash) int { return bytes.Compare(a[:], b[:]) })
		for _, key := range keys {
			p.tasks[side] = append(p.tasks[side], s.tasks[key])
		}
	}
}

// point returns the figure of both sides, and of how many tasks.
func (p *pair) point(of func(*task) (num, den float64)) (value [2]float64, n [2]int) {
	if p.paired {
		sum := [2]float64{}
		for i := range p.tasks[0] {
			bn, bd := of(p.tasks[0][i])
			an, ad := of(p.tasks[1][i])
			if bd > 0 && ad > 0 {
				sum[0] += bn / bd
				sum[1] += an / ad
				n[0]++
				n[1]++
			}
		}
		return [2]float64{sum[0] / float64(n[0]), sum[1] / float64(n[1])}, n
	}
	for side, tasks := range p.tasks {
		num, den := 0.0, 0.0
		for _, t := range tasks {
			x, y := of(t)
			num, den = num+x, den+y
			if y > 0 {
				n[side]++
			}
		}
		value[side] = num / den
	}
	return value, n
}

const nothing = "no run of this set has the figure"

// estimate compares a figure of tasks: paired it is the mean over tasks of the figure of
// each, else the sum over tasks of num by that of den.
func (p *pair) estimate(purpose uint64, of func(*task) (num, den float64)) Estimate {
	value, n := p.point(of)
	e := Estimate{
		Before: stat.Finite(value[0], nothing), After: stat.Finite(value[1], nothing), Tasks: n,
		Difference: stat.Finite(value[1]-value[0], "one of the sets does not have the figure"),
		Interval:   stat.NoInterval("there is no difference to have one"),
		P:          stat.Unknown("it is not tested"), PAdjusted: stat.Unknown("it is not tested"),
	}
	if math.IsNaN(value[1] - value[0]) {
		return e
	}
	options := stat.Options{Seed: p.o.Seed, Purpose: []uint64{0xc0, purpose}, Each: p.o.Each}
	if p.paired {
		var r stat.ClusterRatio
		for i := range p.tasks[0] {
			bn, bd := of(p.tasks[0][i])
			an, ad := of(p.tasks[1][i])
			if bd > 0 && ad > 0 {
				r.Num, r.Den = append(r.Num, an/ad-bn/bd), append(r.Den, 1)
			}
		}
		e.Interval = r.Interval(options)
		return e
	}
	side := func(tasks []*task) (r stat.ClusterRatio) {
		for _, t := range tasks {
			x, y := of(t)
			r.Num, r.Den = append(r.Num, x), append(r.Den, y)
		}
		return r
	}
	e.Interval = stat.Arms{Treated: side(p.tasks[1]), Control: side(p.tasks[0])}.Intervals(options).Difference
	return e
}

// named compares counts by name, and returns those whose difference is largest.
func named[K comparable](p *pair, counts func(*task) map[K]int, purpose uint64, set func(*Named, K)) []Named {
	all := map[K]bool{}
	for _, tasks := range p.tasks {
		for _, t := range tasks {
			for k := range counts(t) {
				all[k] = true
			}
		}
	}
	type row struct {
		key  K
		name string
		diff float64
	}
	var rows []row
	for k := range all {
		value, _ := p.point(func(t *task) (float64, float64) { return float64(counts(t)[k]), float64(t.runs) })
		if d := math.Abs(value[1] - value[0]); d > 0 {
			var n Named
			set(&n, k)
			rows = append(rows, row{k, n.Tool + "\x00" + n.From + "\x00" + n.To, d})
		}
	}
	slices.SortFunc(rows, func(x, y row) int { return cmp.Or(cmp.Compare(y.diff, x.diff), strings.Compare(x.name, y.name)) })
	var out []Named
	for i, r := range rows[:min(len(rows), p.o.Most)] {
		var n Named
		set(&n, r.key)
		n.Estimate = p.estimate(purpose+uint64(i), func(t *task) (float64, float64) { return float64(counts(t)[r.key]), float64(t.runs) })
		out = append(out, n)
	}
	return out
}
