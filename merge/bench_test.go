package merge

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/awo-dev/awo/merge/internal/mergetest"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// habits are many trajectories of an agent with habits, stored small: for each
// of 100 tasks over 40 tools it has a way to do it, from which one call in eight
// departs; 12 calls each on average.
type habits struct {
	tools [40]trace.Name
	args  [][]byte // by task and word
	runs  [][]habitCall
	calls int
	one   trace.Trajectory
}

type habitCall struct {
	tool uint8
	args uint16
}

const habitTasks, habitWords = 100, 9

var habitTaskNames = [...]string{"one", "two", "three"}

func newHabits(n int) *habits {
	random := rand.New(rand.NewPCG(1, 2))
	h := &habits{runs: make([][]habitCall, n)}
	for i := range h.tools {
		h.tools[i] = trace.Intern(fmt.Sprintf("tool_%02d", i))
	}
	for i := range habitTasks * habitWords {
		h.args = append(h.args, fmt.Appendf(nil, `{"user_id":"user_%04d","query":"some words to look for","limit":%d}`, i/habitWords, i%habitWords))
	}
	for i := range h.runs {
		task := random.IntN(habitTasks)
		habit := rand.New(rand.NewPCG(uint64(task), 0))
		for range 4 + random.IntN(17) {
			tool, word := habit.IntN(40)*habit.IntN(40)/40, habit.IntN(habitWords)
			if random.IntN(8) == 0 {
				tool, word = random.IntN(40), random.IntN(habitWords)
			}
			h.runs[i] = append(h.runs[i], habitCall{uint8(tool), uint16(task*habitWords + word)})
		}
		h.calls += len(h.runs[i])
	}
	return h
}

// run returns a trajectory as a decoder would: in memory that it just wrote, and
// good until the next call.
func (h *habits) run(i int) *trace.Trajectory {
	t := &h.one
	t.Calls = t.Calls[:0]
	for turn, c := range h.runs[i] {
		t.Calls = append(t.Calls, trace.Call{Tool: h.tools[c.tool], Args: trace.JSONOf(h.args[c.args]), Turn: turn, AfterUser: turn%5 == 0})
	}
	t.Task = habitTaskNames[i%len(habitTaskNames)]
	return t
}

func habitRules() *rules.Set {
	return mergetest.Set(mergetest.Effect("tool_0*,tool_2*", rules.Accessor), mergetest.Effect("tool_39", rules.Annotator),
		mergetest.Rewrite("* user_id", `user_\d+`, "{USER}"), mergetest.Domain("tool_1*", "one"), mergetest.Loop("tool_3*"))
}

func BenchmarkMerger(b *testing.B) {
	runs := newHabits(100_000)
	for _, bench := range []struct {
		name    string
		set     *rules.Set
		options Options
		known   bool // do not count what a call costs when it is seen for the first time
	}{
		{"prefix tree", nil, Options{NoWalks: true}, true},
		{"prefix tree of new calls", nil, Options{NoWalks: true}, false},
		{"merged", habitRules(), Options{NoWalks: true}, true},
		{"merged with walks", habitRules(), Options{}, true},
		{"merged with walks and table", habitRules(), Options{Table: true}, true},
	} {
		b.Run(bench.name, func(b *testing.B) {
			b.ReportAllocs()
			states := 0
			for b.Loop() {
				m := NewMerger(bench.set, bench.options)
				if bench.known {
					b.StopTimer()
					for i := range runs.runs {
						m.rewriter.Rewrite(runs.run(i))
					}
					b.StartTimer()
				}
				for i := range runs.runs {
					m.Add(runs.run(i))
				}
				states = m.walker.States()
			}
			b.ReportMetric(float64(b.N)*float64(runs.calls)/b.Elapsed().Seconds()/1e6, "Mcalls/s")
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
	runs := newHabits(60_000)
	heap := func() uint64 {
		var stats runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	m := NewMerger(nil, Options{NoWalks: true})
	m.rewriter.plans.limit = 1 << 20
	for i := range runs.runs {
		m.rewriter.Rewrite(runs.run(i)) // labels and caches do not grow with the states
	}
	before := heap()
	for i := range runs.runs {
		m.Add(runs.run(i))
	}
	after := heap()
	states := m.walker.States()
	runtime.KeepAlive(m)
	perState := float64(after-before) / float64(states)
	t.Logf("%d states, %.1f bytes each", states, perState)
	if perState > 80 {
		t.Errorf("%.1f bytes a state", perState)
	}
	runtime.KeepAlive(runs)
}
