package entropy

import (
	"reflect"
	"slices"
	"testing"

	"github.com/awo-dev/awo/entropy/ngram"
	"pgregory.net/rapid"
)

// TestTally has counts by task be those of each sequence looked at by itself, whatever
// others equal it and wherever the sequences of a task stand.
func TestTally(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Sample{Sequences: rapid.SliceOfN(rapid.SliceOfN(rapid.Uint32Range(0, 3), 0, 5), 1, 30).Draw(t, "sequences")}
		counter := ngram.NewCounter(2)
		for _, q := range s.Sequences {
			s.Tasks = append(s.Tasks, rapid.Uint32Range(0, 9).Draw(t, "task"))
			counter.Add(q)
		}
		contexts := Contexts(counter.Counts(), ContextOptions{MaxLength: 2, Top: 2})
		got := tally(contexts, s)
		for i, c := range contexts {
			want := taskTally{next: make([][]float64, len(c.Next))}
			for task := range uint32(10) {
				n, next := 0.0, make([]float64, len(c.Next))
				for at, q := range s.Sequences {
					for k := len(c.Symbols); s.Tasks[at] == task && k < len(q); k++ {
						if !slices.Equal(q[k-len(c.Symbols):k], c.Symbols) {
							continue
						}
						n++
						if j := slices.IndexFunc(c.Next, func(x Successor) bool { return x.Symbol == q[k] }); j >= 0 {
							next[j]++
						}
					}
				}
				if n == 0 {
					continue
				}
				want.n = append(want.n, n)
				for j := range next {
					want.next[j] = append(want.next[j], next[j])
				}
			}
			if !reflect.DeepEqual(got[i], want) {
				t.Fatalf("%v: %v, want %v", c.Symbols, got[i], want)
			}
		}
	})
}
