package replay

import (
	"fmt"
	"iter"
	"slices"
	"strconv"
)

// AddTo adds what was counted to sums by name, which add up over parts of the traces:
// meta-tools are told apart by their numbers. Disagreements themselves, which name
// trajectories, are not among them.
func (v *Verifier) AddTo(add func(name string, n int)) {
	for i, t := range v.tally {
		at := func(name string, n int) { add(toolSum(i)+name, n) }
		for name, n := range t.sums() {
			at(name, *n)
		}
		for n, count := range v.extra[i] {
			at("extra."+strconv.Itoa(n), count)
		}
		for code, n := range t.Disagreed.ByCode {
			at("code."+code, n)
		}
	}
}

// Restore adds sums that were counted before by verifiers of the same meta-tools: sum
// gives that of a name, sums those whose names begin with a prefix, without it. It returns
// false if they contradict each other.
func (v *Verifier) Restore(sum func(name string) int, sums func(prefix string) iter.Seq2[string, int]) bool {
	whole := true
	for i, t := range v.tally {
		for name, n := range t.sums() {
			*n += sum(toolSum(i) + name)
		}
		for text, count := range sums(toolSum(i) + "extra.") {
			if n, err := strconv.Atoi(text); err == nil {
				v.extra[i][n] += count
			}
		}
		for code, n := range sums(toolSum(i) + "code.") {
			t.Disagreed.AddN(code, n)
		}
		for _, n := range t.sums() {
			whole = whole && *n >= 0
		}
		parts := []int{t.Exact, t.Known, t.Saves, t.Trajectories - t.NotComparable}
		for i, of := range t.Steps {
			parts = append(parts, of.Total)
			whole = whole && t.Steps[i].Exact <= of.Total
		}
		whole = whole && slices.Max(parts) <= t.Occurrences
	}
	return whole
}

func toolSum(tool int) string { return fmt.Sprintf("tools.%d.", tool) }

// sums yields the counts that add up, by name.
func (v *Verification) sums() iter.Seq2[string, *int] {
	return func(yield func(string, *int) bool) {
		for name, n := range map[string]*int{
			"occurrences": &v.Occurrences, "trajectories": &v.Trajectories, "exact": &v.Exact, "known": &v.Known,
			"saves": &v.Saves, "turns": &v.TurnsSaved, "not_comparable": &v.NotComparable,
		} {
			if !yield(name, n) {
				return
			}
		}
		for i := range v.Steps {
			if !yield(fmt.Sprintf("step.%d.exact", i), &v.Steps[i].Exact) || !yield(fmt.Sprintf("step.%d.total", i), &v.Steps[i].Total) {
				return
			}
		}
	}
}
