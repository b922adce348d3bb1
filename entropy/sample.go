package entropy

import (
	"fmt"
	"iter"
	"math"
	"slices"
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
	for first := 0; first < len(tallies); {
		// As many at a time as their replicates fit the memory for them.
		last, figures := first, 0
		for last < len(tallies) && (last == first || figures+len(tallies[last].next) <= maxReplicated/o.Replicates) {
			figures += len(tallies[last].next)
			last++
		}
		addIntervals(contexts[first:last], tallies[first:last], len(tasks), o)
		first = last
	}
}

// maxReplicated is how many replicates of figures are held at a time.
const maxReplicated = 8_000_000

func addIntervals(contexts []Context, tallies []taskTally, tasks int, o Options) {
	replicates := make([][]float64, len(tallies)) // by tally: one row of successors a replicate
	for i, t := range tallies {
		replicates[i] = make([]float64, o.Replicates*len(t.next))
	}
	n := resample(tasks, 1, o, func(replicate int, drawn []uint16) {
		for i, t := range tallies {
			t.shares(drawn, replicates[i][replicate*len(t.next):][:len(t.next)])
		}
	})
	for i := range contexts {
		c, t := &contexts[i], &tallies[i]
		c.Tasks = len(t.tasks)
		c.Warnings = taskWarning(c.Tasks)
		for j := range c.Next {
			draws := make([]float64, 0, n)
			for r := range n {
				// NaN: no task that has the context was drawn.
				if x := replicates[i][r*len(t.next)+j]; !math.IsNaN(x) {
					draws = append(draws, x)
				}
			}
			c.Next[j].Interval = interval(draws, c.Tasks, o.Level)
			if c.Next[j].Share == 1 && c.Next[j].Interval != nil {
				c.Next[j].Interval = always(c.Tasks, o.Level)
			}
		}
	}
}

// always is the interval of a share that is 1 in every task, where every draw of
// a bootstrap is 1 too and says nothing: the exact interval of as many successes
// as there are tasks (Clopper and Pearson).
func always(tasks int, level float64) *Interval {
	return &Interval{Lo: math.Pow((1-level)/2, 1/float64(tasks)), Hi: 1, Level: level, Method: methodExact}
}

const methodExact = "exact, a task one trial"

// A taskTally is how often each task has a context, and each listed successor
// after it.
type taskTally struct {
	tasks []int // that have the context
	n     []float64
	next  [][]float64 // by successor, then as tasks
}

// shares writes the share of each successor in a replicate, NaN if none of its
// tasks was drawn.
func (t *taskTally) shares(drawn []uint16, to []float64) {
	total := 0.0
	for i, task := range t.tasks {
		total += float64(drawn[task]) * t.n[i]
	}
	for j, next := range t.next {
		hits := 0.0
		for i, task := range t.tasks {
			hits += float64(drawn[task]) * next[i]
		}
		to[j] = hits / total
	}
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
			t.tasks, t.n = append(t.tasks, task), append(t.n, n)
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
