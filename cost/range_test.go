package cost_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/trace"
)

// covered fits on half of the tasks, hides what was recorded of the others, and returns how
// often the ranges of all of these together, and of single trajectories, hold what was
// recorded.
func covered(t *testing.T, runs []*trace.Trajectory, times int, money bool) (whole, single float64) {
	t.Helper()
	m := cost.NewMeter(cost.Options{})
	value := func(a *cost.Account) float64 {
		if total := a.Total(); money {
			return total.USD
		} else {
			return float64(total.Tokens())
		}
	}
	held, each, n := 0, 0, 0
	r := rand.New(rand.NewPCG(7, 11))
	for range times {
		side, f := map[string]bool{}, cost.NewFit(m)
		var hidden []*cost.Account
		var truths []float64
		for _, run := range runs {
			if _, known := side[run.TaskKey()]; !known {
				side[run.TaskKey()] = r.IntN(2) == 0
			}
			if side[run.TaskKey()] {
				f.Add(run)
				continue
			}
			bare := *run
			bare.Turns = append([]trace.Turn{}, run.Turns...)
			for i := range bare.Turns {
				bare.Turns[i].Usage = trace.Usage{}
			}
			hidden, truths = append(hidden, m.Trajectory(&bare)), append(truths, value(m.Trajectory(run)))
		}
		truth := 0.0
		for i, a := range hidden {
			f.Apply(a)
			truth += truths[i]
			if in := f.Range([]*cost.Account{a}, money); in.Lo <= truths[i] && truths[i] <= in.Hi {
				each++
			}
			n++
		}
		in := f.Range(hidden, money)
		if !in.Known() || in.Lo >= in.Hi {
			t.Fatalf("the range is %+v", in)
		}
		if in.Lo <= truth && truth <= in.Hi {
			held++
		}
	}
	return float64(held) / float64(times), float64(each) / float64(n)
}

// TestRangeCovers simulates agents whose recorded tokens differ by task and by trajectory
// from those that are counted: the range of the rest holds what was recorded.
func TestRangeCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var runs []*trace.Trajectory
	for task := range 40 {
		byTask := math.Exp(0.1 * r.NormFloat64())
		for trial := range 2 {
			factor := 1.4 * byTask * math.Exp(0.05*r.NormFloat64())
			said := 40 + r.IntN(200)
			run := &trace.Trajectory{ID: fmt.Sprint(task, trial), Task: fmt.Sprint(task), Model: "plain", Messages: []trace.Message{{Text: words(said)}}}
			for range 3 + r.IntN(8) {
				answer := 10 + r.IntN(60)
				run.Turns = append(run.Turns, trace.Turn{Text: words(answer), Usage: trace.Usage{
					Known: true, Input: int64(500 + factor*float64(said)), Output: int64(factor * float64(answer)),
				}})
				said += answer
			}
			runs = append(runs, run)
		}
	}
	if whole, single := covered(t, runs, 200, false); whole < 0.93 || single < 0.93 {
		t.Errorf("the range of all holds in %.3f of the cases, that of one trajectory in %.3f", whole, single)
	}
}

// TestRangeCoversRecorded does the same with recorded sets.
func TestRangeCoversRecorded(t *testing.T) {
	for _, file := range []string{"tau2/retail_gpt-4.1.json", "tau2/airline_azure-gpt-4o.json"} {
		t.Run(file, func(t *testing.T) {
			whole, single := covered(t, recordings.Read(t, recordings.Recorded(t, file)), 60, true)
			t.Logf("%.3f and %.3f", whole, single)
			if whole < 0.9 || single < 0.9 {
				t.Errorf("the range of all holds in %.3f of the cases, that of one trajectory in %.3f", whole, single)
			}
		})
	}
}

// TestRangeUnscaled: recorded sets have at least so many tokens as LeastUnscaled says where
// nothing scales what was counted, and there is no most.
func TestRangeUnscaled(t *testing.T) {
	m := cost.NewMeter(cost.Options{})
	for _, file := range []string{"tau2/retail_gpt-4.1.json", "tau2/airline_azure-gpt-4o.json", "claude-code/tool_heavy.jsonl"} {
		t.Run(file, func(t *testing.T) {
			var hidden []*cost.Account
			truth := 0.0
			for _, run := range recordings.Read(t, recordings.Recorded(t, file)) {
				truth += float64(m.Trajectory(run).Total().Tokens())
				for i := range run.Turns {
					run.Turns[i].Usage = trace.Usage{}
				}
				hidden = append(hidden, m.Trajectory(run))
			}
			f := cost.NewFit(m)
			for _, a := range hidden {
				f.Apply(a)
			}
			if in := f.Range(hidden, false); !math.IsInf(in.Hi, 1) || in.Lo <= 0 || in.Lo > truth {
				t.Errorf("the range is %.0f to %.0f, and %.0f were recorded", in.Lo, in.Hi, truth)
			}
		})
	}
	if in := cost.NewFit(m).Range(nil, true); in.Known() {
		t.Errorf("what is not estimated has the range %+v", in)
	}
}
