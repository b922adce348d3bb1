package merge

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// exactly counts what a Census finds.
type exactly struct {
	sums map[string]int
	sets map[string]map[uint64]bool
}

func (e *exactly) AddN(name string, n int) { e.sums[name] += n }

func (e *exactly) Different(name string) func(uint64) {
	if e.sets[name] == nil {
		e.sets[name] = map[uint64]bool{}
	}
	set := e.sets[name]
	return func(h uint64) { set[h] = true }
}

// TestCensusIsTheTable wants of several censuses of parts, added up, the table that one
// Merger has of all.
func TestCensusIsTheTable(t *testing.T) {
	runs := randomRuns(rand.New(rand.NewPCG(5, 24)), 120)
	for name, n := range map[string]int{"nothing": 0, "one": 1, "all": len(runs)} {
		for _, rules := range []bool{true, false} {
			set := everyKind()
			if !rules {
				set = nil
			}
			m := NewMerger(set, Options{Table: true, NoWalks: true})
			counts := &exactly{map[string]int{}, map[string]map[uint64]bool{}}
			parts := []*Census{NewCensus(set, counts), NewCensus(set, counts), NewCensus(set, counts)}
			for i, one := range runs[:n] {
				m.Add(one)
				parts[len(parts)-1-i%len(parts)].Add(one)
			}
			got := CensusTable(set, func(name string) int { return counts.sums[name] }, func(name string) int { return len(counts.sets[name]) })
			if want := m.Merged().Table; !reflect.DeepEqual(got, want) {
				t.Errorf("%s, rules %t: got\n%+v, want\n%+v", name, rules, got, want)
			}
		}
	}
}
