package entropy

import (
	"fmt"
	"iter"
	"slices"

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
	if len(s.Sequences) != len(s.Tasks) {
		panic(fmt.Sprintf("entropy: %d sequences with %d tasks", len(s.Sequences), len(s.Tasks)))
	}
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

// AddIntervals gives every listed share an interval by bootstrap over tasks,
// from the sequences that the contexts were counted in. A context that fewer
// than five tasks have gets a warning instead.
//
// It is meant for the contexts that are shown: it holds one number for each task
// and successor.
func AddIntervals(contexts []Context, s Sample, o Options) {
	o = o.withDefaults()
	tasks, sequences := s.byTask()
	tallies := tally(contexts, len(tasks), sequences)
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

// tally counts contexts and successors by task.
func tally(contexts []Context, tasks int, sequences iter.Seq2[int, []uint32]) []taskTally {
	longest, index := 0, make(map[string]int, len(contexts))
	followers := make([]map[uint32]int, len(contexts))
	counts := make([][]map[int]float64, len(contexts)) // by context: of itself, then of its successors, by task
	for i, c := range contexts {
		longest = max(longest, len(c.Symbols))
		index[keyOf(c.Symbols)] = i
		followers[i] = map[uint32]int{}
		counts[i] = []map[int]float64{{}}
		for j, s := range c.Next {
			followers[i][s.Symbol] = j + 1
			counts[i] = append(counts[i], map[int]float64{})
		}
	}
	for task, q := range sequences {
		for at := 1; at < len(q); at++ {
			for k := 1; k <= min(longest, at); k++ {
				i, ok := index[keyOf(q[at-k:at])]
				if !ok {
					continue
				}
				counts[i][0][task]++
				if j := followers[i][q[at]]; j > 0 {
					counts[i][j][task]++
				}
			}
		}
	}
	tallies := make([]taskTally, len(contexts))
	for i, c := range contexts {
		t := &tallies[i]
		t.next = make([][]float64, len(c.Next))
		for task := range tasks {
			n, ok := counts[i][0][task]
			if !ok {
				continue
			}
			t.n = append(t.n, n)
			for j := range t.next {
				t.next[j] = append(t.next[j], counts[i][j+1][task])
			}
		}
	}
	return tallies
}

// keyOf returns symbols as the key of a map.
func keyOf(symbols []uint32) string {
	b := make([]byte, 0, 32)
	for _, s := range symbols {
		b = append(b, byte(s), byte(s>>8), byte(s>>16), byte(s>>24))
	}
	return string(b)
}
