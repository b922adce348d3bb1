package candidate

import (
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/trace"
)

// errands yields trajectories of agents that go through twelve kinds of errands in
// their own order, from which one call in ten departs, until they have made n
// calls. What a call returns, some of the next ones are called with.
func errands(n int) iter.Seq[*trace.Trajectory] {
	return func(yield func(*trace.Trajectory) bool) {
		random := rand.New(rand.NewPCG(3, 4))
		for n > 0 {
			t := &trace.Trajectory{}
			id := ""
			call := func(tool int, join bool) {
				if !join {
					t.Turns = append(t.Turns, trace.Turn{FirstCall: len(t.Calls)})
				}
				t.Turns[len(t.Turns)-1].NumCalls++
				args := `{}`
				if id != "" {
					args = fmt.Sprintf(`{"id":"%s"}`, id)
				}
				c := trace.Call{Tool: trace.Intern(fmt.Sprintf("tool_%02d", tool)), Args: trace.JSONOf([]byte(args)), Turn: len(t.Turns) - 1, HasResult: true}
				c.AfterUser = len(t.Calls) > 0 && random.IntN(15) == 0
				next := fmt.Sprintf("id-%d", random.IntN(1_000_000))
				c.Result = trace.JSONOf(fmt.Appendf(nil, `{"id":"%s"}`, next))
				t.Calls = append(t.Calls, c)
				if !join {
					id = next
				}
			}
			for range 2 + random.IntN(5) {
				errand := rand.New(rand.NewPCG(uint64(random.IntN(12)), 1))
				for range 2 + errand.IntN(4) {
					tool := errand.IntN(40)
					if random.IntN(10) == 0 {
						tool = random.IntN(40)
					}
					call(tool, len(t.Calls) > 0 && errand.IntN(6) == 0)
				}
			}
			n -= len(t.Calls)
			if !yield(t) {
				return
			}
		}
	}
}

// BenchmarkPatterns shows that the time of a call does not grow with their
// number.
func BenchmarkPatterns(b *testing.B) {
	for _, n := range []int{50_000, 200_000} {
		m, set, p := errandPatterns(n, 5)
		b.Run(fmt.Sprintf("symbols/calls=%d", n), func(b *testing.B) {
			var collector dataflow.Collector
			var list []*trace.Trajectory
			var flows []*dataflow.Flow
			calls := 0
			for t := range errands(5000) {
				list, flows = append(list, t), append(flows, collector.Collect(t))
				calls += len(t.Calls)
			}
			b.ReportAllocs()
			for b.Loop() {
				q := NewPatterns(m, set, Options{})
				for i := range list {
					q.Add(q.Symbols(i, list[i], flows[i]))
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/float64(calls)*1e9, "ns/call")
		})
		for _, threshold := range []int{2, 5, 50} {
			b.Run(fmt.Sprintf("extraction/calls=%d/T=%d", n, threshold), func(b *testing.B) {
				b.ReportAllocs()
				found := 0
				p.options.Threshold = threshold
				for b.Loop() {
					found = len(p.Extraction().Candidates)
				}
				b.ReportMetric(float64(found), "candidates")
				b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)/float64(n)*1e9, "ns/call")
			})
		}
		runtime.KeepAlive(m)
	}
}

// errandPatterns makes both passes over errands.
func errandPatterns(n, threshold int) (*merge.Merged, *dataflow.Set, *Patterns) {
	merger := merge.NewMerger(nil, merge.Options{})
	var collector dataflow.Collector
	links := dataflow.NewLinks()
	for t := range errands(n) {
		merger.Add(t)
		links.Add(collector.Collect(t))
	}
	m, set := merger.Merged(), links.Set()
	p := NewPatterns(m, set, Options{Threshold: threshold})
	i := 0
	for t := range errands(n) {
		p.Add(p.Symbols(i, t, collector.Collect(t)))
		i++
	}
	return m, set, p
}
