package entropy

import (
	"cmp"
	"fmt"
	"iter"
	"slices"

	"github.com/awo-dev/awo/entropy/ngram"
	"github.com/awo-dev/awo/internal/stat"
)

// A Sample is sequences and the task of each: Tasks[i] is that of Sequences[i].
// Trials of one task have the same number.
type Sample struct {
	Sequences [][]uint32
	Tasks     []uint32
}

// byTask yields the sequences with the place of their task among the tasks that
// have symbols, in order of their numbers.
func (s Sample) byTask() (tasks []uint32, sequences iter.Seq2[int, []uint32]) {
	s.check()
	for i, q := range s.Sequences {
		if len(q) > 0 {
			tasks = append(tasks, s.Tasks[i])
		}
	}
	slices.Sort(tasks)
	tasks = slices.Compact(tasks)
	place := make(map[uint32]int, len(tasks))
	for i, t := range tasks {
		place[t] = i
	}
	return tasks, func(yield func(int, []uint32) bool) {
		for i, q := range s.Sequences {
			if len(q) > 0 && !yield(place[s.Tasks[i]], q) {
				return
			}
		}
	}
}

// check panics where it is not known of which task a sequence is.
func (s Sample) check() {
	if len(s.Sequences) != len(s.Tasks) {
		panic(fmt.Sprintf("entropy: %d sequences with %d tasks", len(s.Sequences), len(s.Tasks)))
	}
}

// AddIntervals gives every listed share an interval by bootstrap over tasks,
// from the sequences that the contexts were counted in. A context that fewer
// than five tasks have gets a warning instead.
//
// It is meant for the contexts that are shown: it holds one number for each task
// and successor.
func AddIntervals(contexts []Context, s Sample, o Options) {
	o = o.withDefaults()
	tallies := tally(contexts, s)
	for i := range contexts {
		c, t := &contexts[i], &tallies[i]
		c.Tasks = len(t.n)
		c.Warnings = taskWarning(c.Tasks)
		shares := make([]stat.ClusterRatio, len(c.Next))
		for j := range c.Next {
			shares[j] = stat.ClusterRatio{Num: t.next[j], Den: t.n}
		}
		for j, interval := range stat.Intervals(shares, o.drawing(1)) {
			if c.Next[j].Share == 1 && c.Tasks >= stat.MinClusters {
				interval = stat.Always(c.Tasks, o.Level)
			}
			c.Next[j].Interval = interval.Within(0, 1)
		}
	}
}

// A taskTally is how often each task has a context, and each listed successor
// after it.
type taskTally struct {
	n    []float64   // by task that has the context
	next [][]float64 // by successor, then as tasks
}

// tally counts contexts and successors by task, the tasks in order of their numbers.
// What a sequence has of them is looked up once for all that equal it.
func tally(contexts []Context, s Sample) []taskTally {
	s.check()
	longest, index := 0, make(map[string]int, len(contexts))
	followers := make([]map[uint32]int, len(contexts)) // by context: the place of each successor
	tallies := make([]taskTally, len(contexts))
	for i, c := range contexts {
		longest = max(longest, len(c.Symbols))
		index[keyOf(c.Symbols)] = i
		followers[i] = map[uint32]int{}
		for j, s := range c.Next {
			followers[i][s.Symbol] = j
		}
		tallies[i].next = make([][]float64, len(c.Next))
	}
	different, of := ngram.Distinct(s.Sequences)
	found := make([][]occurrence, len(different))
	for n, q := range different {
		for at := 1; at < len(q); at++ {
			for k := 1; k <= min(longest, at); k++ {
				i, ok := index[keyOf(q[at-k:at])]
				if !ok {
					continue
				}
				x := occurrence{context: i, successor: -1}
				if j, ok := followers[i][q[at]]; ok {
					x.successor = j
				}
				found[n] = append(found[n], x)
			}
		}
	}
	order := make([]int, len(s.Sequences))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(s.Tasks[a], s.Tasks[b]) })
	last := make([]int, len(contexts)) // by context: one more than a sequence of the task that it has a number of
	for _, n := range order {
		for _, x := range found[of[n]] {
			t := &tallies[x.context]
			if l := last[x.context]; l == 0 || s.Tasks[l-1] != s.Tasks[n] {
				t.n = append(t.n, 0)
				for j := range t.next {
					t.next[j] = append(t.next[j], 0)
				}
			}
			last[x.context] = n + 1
			t.n[len(t.n)-1]++
			if x.successor >= 0 {
				t.next[x.successor][len(t.n)-1]++
			}
		}
	}
	return tallies
}

// occurrence is a listed context in a sequence, with the place of the successor that
// follows, -1 if that is not listed.
type occurrence struct{ context, successor int }

// keyOf returns symbols as the key of a map.
func keyOf(symbols []uint32) string {
	b := make([]byte, 0, 32)
	for _, s := range symbols {
		b = append(b, byte(s), byte(s>>8), byte(s>>16), byte(s>>24))
	}
	return string(b)
}
