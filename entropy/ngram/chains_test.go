package ngram_test

import (
	"cmp"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/entropy/ngram"
)

// naiveChains looks at every n-gram of every sequence.
func naiveChains(sequences [][]uint32, tasks []uint32) (out []ngram.Chain) {
	symbol := func(s []uint32, at int) int {
		if at < 0 || at >= len(s) {
			return -1
		}
		return int(s[at])
	}
	seen := map[string]bool{}
	for _, source := range sequences {
		for from := range source {
			for to := from + 2; to <= min(len(source), from+ngram.MaxChain); to++ {
				c := ngram.Chain{Symbols: source[from:to], With: make([]int, slices.Max(tasks)+1)}
				key := ""
				for _, s := range c.Symbols {
					key += string(rune(s)) + " "
				}
				if seen[key] {
					continue
				}
				seen[key] = true
				before, after := map[int]bool{}, map[int]bool{}
				for i, s := range sequences {
					end, has := 0, false
					for at := 0; at+len(c.Symbols) <= len(s); at++ {
						if !slices.Equal(s[at:at+len(c.Symbols)], c.Symbols) {
							continue
						}
						before[symbol(s, at-1)], after[symbol(s, at+len(c.Symbols))] = true, true
						if at >= end {
							c.Occurrences++
							end = at + len(c.Symbols)
						}
						has = true
					}
					if has {
						c.Sequences++
						c.With[tasks[i]]++
					}
				}
				for _, n := range c.With {
					c.Tasks += min(n, 1)
				}
				open := func(around map[int]bool) bool { return len(around) == 1 && !around[-1] }
				if c.Tasks > 1 && !open(before) && (len(c.Symbols) == ngram.MaxChain || !open(after)) {
					out = append(out, c)
				}
			}
		}
	}
	slices.SortFunc(out, func(a, b ngram.Chain) int {
		return cmp.Or(cmp.Compare(b.Gain(), a.Gain()), cmp.Compare(len(a.Symbols), len(b.Symbols)), slices.Compare(a.Symbols, b.Symbols))
	})
	return out
}

// TestChains wants the best of all n-grams that recur and are closed, whatever the order
// of the sequences and however symbols and tasks are numbered.
func TestChains(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		kinds := rapid.IntRange(1, 4).Draw(t, "kinds")
		sequences := rapid.SliceOfN(rapid.SliceOfN(rapid.Uint32Range(0, uint32(kinds)), 0, 16), 1, 12).Draw(t, "sequences")
		tasks := make([]uint32, len(sequences))
		for i := range tasks {
			tasks[i] = rapid.Uint32Range(0, 4).Draw(t, "task")
		}
		most := rapid.IntRange(0, 40).Draw(t, "most")
		want := naiveChains(sequences, tasks)
		want = want[:min(most, len(want))]
		got := ngram.Chains(sequences, tasks, most, cmp.Compare[uint32])
		if len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}

		// The same, the other way round.
		turned := make([][]uint32, len(sequences))
		turnedTasks := make([]uint32, len(tasks))
		for i := range sequences {
			j := len(sequences) - 1 - i
			for _, s := range sequences[i] {
				turned[j] = append(turned[j], 9-s)
			}
			turnedTasks[j] = 4 - tasks[i]
		}
		again := ngram.Chains(turned, turnedTasks, most, func(a, b uint32) int { return cmp.Compare(b, a) })
		for i, c := range again {
			w := got[i]
			for k, s := range c.Symbols {
				if w.Symbols[k] != 9-s {
					t.Fatalf("chain %d is %v, want %v turned", i, c.Symbols, w.Symbols)
				}
			}
			if c.Occurrences != w.Occurrences || c.Sequences != w.Sequences || c.Tasks != w.Tasks {
				t.Fatalf("chain %d counts %+v, want %+v", i, c, w)
			}
		}
	})
}

// A chain that always goes on in the same way is said once, as long as it is, and
// occurrences that overlap count once.
func TestChainsKnown(t *testing.T) {
	sequences := [][]uint32{{1, 2, 3, 9}, {1, 2, 3}, {5, 1, 2, 3}, {7, 7, 7}, {7, 7, 7}}
	got := ngram.Chains(sequences, []uint32{0, 1, 1, 0, 1}, 10, cmp.Compare[uint32])
	want := []ngram.Chain{
		{Symbols: []uint32{1, 2, 3}, Occurrences: 3, With: []int{1, 2}, Sequences: 3, Tasks: 2},
		{Symbols: []uint32{7, 7, 7}, Occurrences: 2, With: []int{1, 1}, Sequences: 2, Tasks: 2},
		{Symbols: []uint32{7, 7}, Occurrences: 2, With: []int{1, 1}, Sequences: 2, Tasks: 2},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
