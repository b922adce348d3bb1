package corpus

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/awo-dev/awo/trace"
)

// runs makes trajectories: of task i as many as sizes says.
func runs(sizes ...int) []*trace.Trajectory {
	var list []*trace.Trajectory
	for task, n := range sizes {
		for i := range n {
			list = append(list, &trace.Trajectory{
				ID: fmt.Sprintf("%d-%d", task, i), Task: fmt.Sprint("task ", task), Turns: []trace.Turn{{NumCalls: 1}},
				Calls: []trace.Call{{
					Tool: trace.Intern("get"), Args: trace.JSONOf(fmt.Appendf(nil, `{"id":"%d-%d"}`, task, i)), Result: trace.JSONOf([]byte(`{"ok":true}`)), HasResult: true,
				}},
			})
		}
	}
	return list
}

func sampled(list []*trace.Trajectory, o Options) *Corpus {
	s := NewSampler(o)
	for _, t := range list {
		s.Add(t)
	}
	return s.Corpus()
}

func ids(c *Corpus) []string {
	var out []string
	for _, r := range c.Runs {
		out = append(out, r.ID)
	}
	slices.Sort(out)
	return out
}

// TestSampler keeps the same trajectories in any order: whole tasks, as many as there is room
// for, and of one task the same 200.
func TestSampler(t *testing.T) {
	for name, tc := range map[string]struct {
		sizes       []int
		most        int
		kept, tasks int
	}{
		"all":               {[]int{3, 4, 5}, 12, 12, 3},
		"whole tasks":       {[]int{10, 10, 10, 10}, 25, 20, 2},
		"200 of one task":   {[]int{230}, 1000, 200, 1},
		"one task at least": {[]int{50, 50}, 10, 50, 1},
	} {
		t.Run(name, func(t *testing.T) {
			list := runs(tc.sizes...)
			r := rand.New(rand.NewPCG(1, 2))
			var first []string
			for range 20 {
				c := sampled(list, Options{Most: tc.most, Workers: 2})
				if len(c.Runs) != tc.kept || c.Kept != tc.tasks || c.Trajectories != len(list) || c.Tasks != len(tc.sizes) || c.IsWhole() != (tc.kept == len(list)) {
					t.Fatalf("%d runs of %d tasks, of %d and %d", len(c.Runs), c.Kept, c.Trajectories, c.Tasks)
				}
				got := ids(c)
				if first == nil {
					first = got
				}
				if !slices.Equal(got, first) {
					t.Fatalf("%v\nin another order\n%v", got, first)
				}
				r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
			}
		})
	}
	// Tasks of different sizes: those of the lowest ranks, up to the first that does not fit.
	var sizes []int
	for i := range 60 {
		sizes = append(sizes, 1+i%9)
	}
	list := runs(sizes...)
	r := rand.New(rand.NewPCG(3, 4))
	want := ids(sampled(list, Options{Most: 70}))
	for range 50 {
		r.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		if got := ids(sampled(list, Options{Most: 70})); !slices.Equal(got, want) {
			t.Fatalf("%v\nin another order\n%v", got, want)
		}
	}
	if len(want) > 70 || len(want) < 55 {
		t.Errorf("%d of 70 are kept", len(want))
	}
}

// TestRun holds that a run has its values and its flow, and texts of its own.
func TestRun(t *testing.T) {
	text := []byte(`{"id":"order-7"}`)
	one := &trace.Trajectory{ID: "a", Turns: []trace.Turn{{NumCalls: 1}}, Calls: []trace.Call{{Tool: trace.Intern("get"), Args: trace.JSONOf(text), Result: trace.TextOf(`{"a":1}`), HasResult: true}}}
	c := sampled([]*trace.Trajectory{one}, Options{})
	clear(text) // the block is read into again
	r := c.Runs[0]
	if got := string(r.Calls[0].Args.Data); got != `{"id":"order-7"}` {
		t.Errorf("arguments %s", got)
	}
	if p := r.Calls[0].Parsed; p == nil || !p.ArgsOK || !p.ResultOK || p.Result.Kind != trace.Object {
		t.Errorf("parsed %+v", p)
	}
	if r.Flow == nil || len(r.Flow.Uses) == 0 || r.Marks != nil {
		t.Errorf("flow %+v, marks %v", r.Flow, r.Marks)
	}
}
