package entropy

import (
	"cmp"
	"math"
	"slices"

	"github.com/awo-dev/awo/entropy/ngram"
	"github.com/awo-dev/awo/internal/stat"
)

// A Shift is one context in which two groups differ.
type Shift struct {
	Context []uint32         `json:"context"`
	N       [2]uint64        `json:"n"`
	Next    []ShiftSuccessor `json:"next"`  // in order of the symbols
	Share   float64          `json:"share"` // of G2
}

// A ShiftSuccessor is what followed in each group.
type ShiftSuccessor struct {
	Symbol uint32    `json:"symbol"`
	N      [2]uint64 `json:"n"`
}

// A Difference is the test of whether two groups of sequences have the same
// habits: whether what follows a context of K symbols depends on the group.
type Difference struct {
	K         int       `json:"k"`
	Sequences [2]int    `json:"sequences"`
	Tasks     [2]int    `json:"tasks"`
	Both      int       `json:"tasks_in_both"`
	N         [2]uint64 `json:"n"` // windows
	// G2 = 2 sum n(g,c,s) ln(n(g,c,s) n(c) / (n(g,c) n(c,s))) over groups g.
	G2 stat.Figure `json:"g2"`
	DF float64     `json:"df"` // contexts that both have: the sum of (successors - 1)
	// Log10P is the chi-square p. It takes calls to be independent, which calls of
	// one task are not, and is too small: the one to quote is that of Permutation.
	Log10P stat.Figure `json:"log10_p"`
	// Permutation is the p of exchanging groups between whole tasks: within a task
	// that both groups have, among the others otherwise.
	Permutation *MonteCarlo `json:"permutation,omitempty"`
	// Effect is what knowing the group tells about the next symbol, given the
	// context, in bits a symbol: G2/(2 N ln 2). It is 0 for equal habits and biased
	// upwards by DF/(2 N ln 2).
	Effect   stat.Figure `json:"effect_bits"`
	Bias     stat.Figure `json:"effect_bias_bits"`
	Shifts   []Shift     `json:"shifts"` // contexts that contribute most to G2
	Warnings []Warning   `json:"warnings,omitempty"`
}

// mostShifts is how many contexts a Difference lists.
const mostShifts = 10

// CompareHabits tests whether two groups differ in what follows a context of k
// symbols; k = 0 compares how often each symbol is used.
func CompareHabits(k int, a, b Sample, o Options) Difference {
	o = o.withDefaults()
	h := newHabits(k, a, b)
	d := Difference{
		K: k, Sequences: h.sequences, Both: h.both, Tasks: h.tasks,
		G2: none, Log10P: none, Effect: none, Bias: none, Shifts: []Shift{},
	}
	for _, u := range h.units {
		for _, x := range u.cells {
			d.N[u.group] += x.n
		}
	}
	if d.N[0] == 0 || d.N[1] == 0 {
		d.Warnings = append(d.Warnings, warn(WarnOneSided, "one group has no window of %d symbols: there is nothing to compare", k+1))
		return d
	}
	d.Warnings = taskWarning(len(h.units))
	h.compare(&d)
	if d.DF == 0 {
		d.Log10P, d.Effect = none, none
		d.Warnings = append(d.Warnings, warn(WarnOneSided, "no context has successors in both groups that could differ"))
		return d
	}
	n := float64(d.N[0] + d.N[1])
	d.Log10P = ChiSquareTail(d.DF, d.G2.Float())
	d.Effect, d.Bias = figure(d.G2.Float()/(2*n*math.Ln2)), figure(d.DF/(2*n*math.Ln2))
	if o.Permutations > 0 {
		d.Permutation = h.permute(o)
	}
	return d
}

// habits are two groups cut into units, which change groups as wholes: one
// task's sequences in one group.
type habits struct {
	counts    *ngram.Counts // of both groups
	k         int
	sequences [2]int
	tasks     [2]int
	both      int
	units     []unit // in order of task and group
	contexts  []int  // of each cell, by place
}

type unit struct {
	task  uint32
	group int
	cells []cell // in order of place
}

// cell is how often a window occurred; its place is that among all windows.
type cell struct {
	place int
	n     uint64
}

func newHabits(k int, samples ...Sample) *habits {
	counter := ngram.NewCounter(k)
	for _, s := range samples {
		for _, q := range s.Sequences {
			counter.Add(q)
		}
	}
	h := &habits{k: k, counts: counter.Counts()}
	h.contexts = make([]int, h.counts.Distinct(k+1))
	for group, s := range samples {
		tasks, sequences := s.byTask()
		places := make([]map[int]uint64, len(tasks))
		for i := range places {
			places[i] = map[int]uint64{}
		}
		for task, q := range sequences {
			h.sequences[group]++
			for at := k; at < len(q); at++ {
				place, _ := h.counts.Place(q[at-k : at+1])
				h.contexts[place], _ = h.counts.Place(q[at-k : at])
				places[task][place]++
			}
		}
		h.tasks[group] = len(tasks)
		for i, task := range tasks {
			u := unit{task: task, group: group}
			for place, n := range places[i] {
				u.cells = append(u.cells, cell{place, n})
			}
			slices.SortFunc(u.cells, func(a, b cell) int { return cmp.Compare(a.place, b.place) })
			h.units = append(h.units, u)
		}
	}
	slices.SortFunc(h.units, func(a, b unit) int {
		return cmp.Or(cmp.Compare(a.task, b.task), cmp.Compare(a.group, b.group))
	})
	for i := 1; i < len(h.units); i++ {
		if h.units[i].task == h.units[i-1].task {
			h.both++
		}
	}
	return h
}

// compare fills in G2, its degrees of freedom and where it comes from.
func (h *habits) compare(d *Difference) {
	cells := make([][2]uint64, h.counts.Distinct(h.k+1))
	for _, u := range h.units {
		for _, x := range u.cells {
			cells[x.place][u.group] += x.n
		}
	}
	var total sum
	place := 0
	for c := range h.counts.Order(h.k).Contexts() {
		// A context's windows lie next to each other, in order of their successors.
		next := cells[place:][:len(c.Next)]
		place += len(c.Next)
		var n [2]uint64
		for _, x := range next {
			n[0] += x[0]
			n[1] += x[1]
		}
		if n[0] == 0 || n[1] == 0 {
			continue
		}
		d.DF += float64(len(next) - 1)
		var g2 sum
		shift := Shift{Context: slices.Clone(c.Symbols), N: n}
		for i, x := range next {
			shift.Next = append(shift.Next, ShiftSuccessor{c.Next[i].Symbol, x})
			for g, seen := range x {
				if seen > 0 {
					g2.add(2 * float64(seen) * math.Log(float64(seen)/float64(n[g])*(float64(n[0]+n[1])/float64(x[0]+x[1]))))
				}
			}
		}
		shift.Share = max(g2.value(), 0)
		total.add(shift.Share)
		d.Shifts = append(d.Shifts, shift)
		if len(d.Shifts) >= 2*mostShifts {
			d.Shifts = greatest(d.Shifts)
		}
	}
	d.Shifts = greatest(d.Shifts)
	d.G2 = figure(total.value())
	for i := range d.Shifts {
		d.Shifts[i].Share /= max(total.value(), math.SmallestNonzeroFloat64)
	}
}

// greatest keeps the shifts that contribute most.
func greatest(shifts []Shift) []Shift {
	slices.SortStableFunc(shifts, func(a, b Shift) int { return -cmp.Compare(a.Share, b.Share) })
	return shifts[:min(len(shifts), mostShifts)]
}
