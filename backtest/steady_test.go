package backtest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/holdout"
)

// steadySets are what the recommendation is tried on: the office, and recorded sets.
var steadySets = []string{"", "tau2/airline_azure-gpt-4o.json", "tau2/retail_gpt-4.1.json", "tau2/retail_toolorchestra-gpt-5.json", "tau2/airline_gpt-oss-120b.json", "taubench/gpt-4o-airline.json"}

// steadySet returns a set's trajectories.
func steadySet(t *testing.T, set string) []*trace.Trajectory {
	if set == "" {
		return recordings.Read(t, "../testdata/office/trajectories.jsonl.gz")
	}
	return recordings.Read(t, recordings.Recorded(t, set))
}

func recommendation(t *testing.T, runs []*corpus.Run, seed uint64) *Recommendation {
	t.Helper()
	o := options(none)
	o.Seed, o.Workers, o.Recommend = seed, 2, &RecommendOptions{}
	r, err := Run(runs, o)
	if err != nil {
		t.Fatal(err)
	}
	return r.Recommendation
}

// TestSteady: on sets that are decided the kind is the same for 19 of 20 seeds, with a word
// added to the description of a tool, and for 18 of 20 draws without a twentieth of the tasks.
func TestSteady(t *testing.T) {
	if *repetitions == 0 {
		t.Skip("make coverage runs it: it takes a quarter of an hour")
	}
	decided := 0
	for _, set := range steadySets {
		list := steadySet(t, set)
		runs := corpus.Filled(list, corpus.Options{})
		first := recommendation(t, runs, 1)
		same, left := 0, 0
		figures := map[string]bool{}
		for seed := range uint64(20) {
			v := recommendation(t, runs, seed+1)
			figures[fmt.Sprint(v.Recommended.Saved, v.Ways)] = true
			if v.Way.Kind == first.Way.Kind {
				same++
			}
			some := Side(runs, holdout.ByTask(0.05, seed+1), holdout.Train)
			if recommendation(t, some, 1).Way.Kind == first.Way.Kind {
				left++
			}
		}
		word := recommendation(t, corpus.Filled(described(list), corpus.Options{}), 1).Way.Kind
		t.Logf("%s: %s (%v), decided %v; seeds %d of 20, without a twentieth %d of 20, with a word more %s", set, first.Way.Kind, first.Chosen, first.Decided, same, left, word)
		if len(figures) < 2 {
			t.Errorf("%s: the seed changes no figure", set)
		}
		if !first.Decided {
			continue
		}
		decided++
		if same < 19 || left < 18 || word != first.Way.Kind {
			t.Errorf("%s is decided and not steady", set)
		}
	}
	if decided < 6 {
		t.Errorf("%d of %d sets are decided", decided, len(steadySets))
	}
}

// described adds a word to the description of the first tool of each trajectory.
func described(list []*trace.Trajectory) []*trace.Trajectory {
	out := slices.Clone(list)
	for i, t := range list {
		one := *t
		one.Tools = slices.Clone(t.Tools)
		if len(one.Tools) > 0 {
			one.Tools[0].Description = trace.TextOf(one.Tools[0].Description.Text() + " Slow.")
		}
		out[i] = &one
	}
	return out
}

// TestNested: what is recommended by four fifths of the tasks, compiled from them, saves turns
// on the others, and on no set costs some.
func TestNested(t *testing.T) {
	if *repetitions == 0 {
		t.Skip("make coverage runs it: it takes minutes")
	}
	sum := 0.0
	for _, set := range steadySets[1:] {
		runs := corpus.Filled(steadySet(t, set), corpus.Options{})
		var tasks []string
		for _, r := range runs {
			tasks = append(tasks, r.TaskKey())
		}
		folds := holdout.NewFolds(tasks, 5, 1)
		var total, said Saved
		kinds := map[Kind]int{}
		for i := range folds.Len() {
			train, test := Side(runs, folds.Split(i), holdout.Train), Side(runs, folds.Split(i), holdout.Test)
			v := recommendation(t, train, 1)
			kinds[v.Way.Kind]++
			if v.Way.Kind == Nothing {
				continue
			}
			count := map[string]bool{}
			for _, r := range test {
				count[r.TaskKey()] = true
			}
			for m, x := range realised(t, train, test, []Way{v.Way})[0] {
				total[m] += x * float64(len(count))
				said[m] += v.Recommended.Saved[m] / float64(v.Tasks) * float64(len(count))
			}
		}
		t.Logf("%s: %v; realised %.0f turns, %.0f tokens, %.4f USD; predicted %.0f, %.0f, %.4f", set, kinds, total[SavedTurns], total[SavedTokens], total[SavedUSD], said[SavedTurns], said[SavedTokens], said[SavedUSD])
		if sum += total[SavedTurns]; total[SavedTurns] < 0 || total[SavedTokens] < 0 {
			t.Errorf("%s: what is recommended costs turns or tokens", set)
		}
	}
	if sum < 137 {
		t.Errorf("%.0f turns are realised, 137 are wanted", sum)
	}
}
