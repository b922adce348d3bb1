package candidate

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// habits yields trajectories of agents that do some hundred tasks in their own
// ways, from which one call in eight departs, until they have made n calls.
func habits(n int) iter.Seq[*trace.Trajectory] {
	return func(yield func(*trace.Trajectory) bool) {
		random := rand.New(rand.NewPCG(1, 2))
		var tools [40]trace.Name
		for i := range tools {
			tools[i] = trace.Intern(fmt.Sprintf("tool_%02d", i))
		}
		for n > 0 {
			task := random.IntN(400)
			habit := rand.New(rand.NewPCG(uint64(task), 0))
			t := &trace.Trajectory{Task: strconv.Itoa(task)}
			for turn := range 4 + random.IntN(17) {
				tool, word := habit.IntN(40)*habit.IntN(40)/40, habit.IntN(9)
				if random.IntN(8) == 0 {
					tool, word = random.IntN(40), random.IntN(9)
				}
				args := fmt.Appendf(nil, `{"user_id":"user_%04d","limit":%d}`, task, word)
				t.Turns = append(t.Turns, trace.Turn{FirstCall: turn, NumCalls: 1})
				t.Calls = append(t.Calls, trace.Call{Tool: tools[tool], Args: trace.JSONOf(args), Turn: turn, AfterUser: turn%5 == 0})
			}
			n -= len(t.Calls)
			if !yield(t) {
				return
			}
		}
	}
}

const habitRules = `{"version": 1, "rules": [
	{"id": "reads", "kind": "effect", "match": {"tool": ["tool_0*", "tool_2*"]}, "effect": "accessor"},
	{"id": "users", "kind": "rewrite", "match": {"tool": "*", "arg": "user_id"}, "pattern": "^user_\\d+$", "with": "{USER}"}
]}`

func mergedHabits(tb testing.TB, n int, withRules bool) *merge.Merged {
	tb.Helper()
	var set *rules.Set
	if withRules {
		var err error
		if set, err = rules.Parse("habits.json", []byte(habitRules)); err != nil {
			tb.Fatal(err)
		}
	}
	merger := merge.NewMerger(set, merge.Options{})
	for t := range habits(n) {
		merger.Add(t)
	}
	return merger.Merged()
}

// BenchmarkExtract shows that the time of a call does not grow with their number.
func BenchmarkExtract(b *testing.B) {
	for _, n := range []int{100_000, 400_000} {
		for _, withRules := range []bool{false, true} {
			m := mergedHabits(b, n, withRules)
			for _, threshold := range []int{2, 5, 20} {
				b.Run(fmt.Sprintf("calls=%d/rules=%t/T=%d", n, withRules, threshold), func(b *testing.B) {
					b.ReportAllocs()
					found := 0
					for b.Loop() {
						found = len(Extract(m, Options{Threshold: threshold}).Candidates)
					}
					b.ReportMetric(float64(found), "candidates")
					b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/float64(n)*1e9, "ns/call")
				})
			}
		}
	}
}
