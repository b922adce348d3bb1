package merge

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// habits are n decoded trajectories of an agent with habits: for each of 100
// tasks over 40 tools it has a way to do it, from which one call in eight
// departs; 12 calls each on average.
func habits(n int) ([]*trace.Trajectory, int) {
	random := rand.New(rand.NewPCG(1, 2))
	calls := 0
	known := map[string][]byte{} // equal arguments share memory: what was just decoded is in the cache
	seeds := make([]uint64, 100)
	for i := range seeds {
		seeds[i] = random.Uint64()
	}
	runs := make([]*trace.Trajectory, n)
	for i := range runs {
		task := random.IntN(len(seeds))
		habit := rand.New(rand.NewPCG(seeds[task], 0))
		t := &trace.Trajectory{ID: fmt.Sprint(i), Task: fmt.Sprint(task)}
		for turn := range 4 + random.IntN(17) {
			tool, word := habit.IntN(40)*habit.IntN(40)/40, habit.IntN(9)
			if random.IntN(8) == 0 {
				tool, word = random.IntN(40), random.IntN(9)
			}
			args := fmt.Sprintf(`{"user_id":"user_%04d","query":"some words to look for","limit":%d}`, task, word)
			if known[args] == nil {
				known[args] = []byte(args)
			}
			t.Turns = append(t.Turns, trace.Turn{FirstCall: turn, NumCalls: 1})
			t.Calls = append(t.Calls, trace.Call{
				Tool: trace.Intern(fmt.Sprintf("tool_%02d", tool)), Args: trace.JSONOf(known[args]), Turn: turn, AfterUser: turn%5 == 0,
			})
		}
		calls += len(t.Calls)
		runs[i] = t
	}
	return runs, calls
}

func habitRules() *rules.Set {
	return ruleSet(effect("tool_0*,tool_2*", rules.Accessor), effect("tool_39", rules.Annotator),
		rewrite("* user_id", `user_\d+`, "{USER}"), domain("tool_1*", "one"), loop("tool_3*"))
}

func BenchmarkMerger(b *testing.B) {
	runs, calls := habits(100_000)
	for _, bench := range []struct {
		name    string
		set     *rules.Set
		options Options
	}{
		{"prefix tree", nil, Options{NoWalks: true}},
		{"merged", habitRules(), Options{NoWalks: true}},
		{"merged with walks", habitRules(), Options{}},
		{"merged with walks and table", habitRules(), Options{Table: true}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			states := 0
			for b.Loop() {
				m := NewMerger(bench.set, bench.options)
				for _, t := range runs {
					m.Add(t)
				}
				states = m.walker.States()
			}
			b.ReportMetric(float64(b.N)*float64(calls)/b.Elapsed().Seconds()/1e6, "Mcalls/s")
			b.ReportMetric(float64(states), "states")
		})
	}
}

// BenchmarkDistinctArguments is the worst case for the cache: every call has
// arguments of its own.
func BenchmarkDistinctArguments(b *testing.B) {
	var runs []*trace.Trajectory
	for i := range 2000 {
		t := &trace.Trajectory{ID: fmt.Sprint(i)}
		for j := range 10 {
			args := fmt.Sprintf(`{"user_id":"user_%08d","query":"some words to look for","limit":%d}`, i*10+j, j)
			t.Calls = append(t.Calls, trace.Call{Tool: trace.Intern("tool"), Args: trace.JSONOf([]byte(args)), Turn: j})
			t.Turns = append(t.Turns, trace.Turn{})
		}
		runs = append(runs, t)
	}
	for _, bench := range []struct {
		name string
		set  *rules.Set
	}{{"no rules", nil}, {"rules", habitRules()}} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				m := NewMerger(bench.set, Options{NoWalks: true})
				for _, t := range runs {
					m.Add(t)
				}
			}
			b.ReportMetric(float64(b.N)*20_000/b.Elapsed().Seconds()/1e6, "Mcalls/s")
		})
	}
}

// TestMemoryOfStates measures what a state of a prefix tree takes while it is
// built, the edge to it included.
func TestMemoryOfStates(t *testing.T) {
	if testing.Short() {
		t.Skip("measures memory")
	}
	runs, _ := habits(60_000)
	heap := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	m := NewMerger(nil, Options{NoWalks: true})
	m.rewriter.plans.limit = 1 << 20
	for _, tr := range runs {
		m.rewriter.Rewrite(tr) // labels and caches do not grow with the states
	}
	before := heap()
	for _, tr := range runs {
		m.Add(tr)
	}
	after := heap()
	states := m.walker.States()
	runtime.KeepAlive(m)
	perState := float64(after-before) / float64(states)
	t.Logf("%d states, %.1f bytes each", states, perState)
	if perState > 40 {
		t.Errorf("%.1f bytes a state", perState)
	}
	runtime.KeepAlive(runs)
}
