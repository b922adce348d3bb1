package backtest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/awo-dev/awo/trace"
	"gonum.org/v1/gonum/stat/distuv"
)

// someWays are one way of each kind that may be recommended.
var someWays = []Way{{OnlyPrefetch, 0.3, 0}, {OnlyMetaTools, 0, 5}, {Both, 0.3, 5}}

// rowsOf returns rows in which each way saves what is said, in money and in turns.
func rowsOf(ways ...[]float64) []row {
	rows := newRows(len(ways[0]), len(ways))
	for w, list := range ways {
		for i, x := range list {
			rows[i][w+1][SavedUSD], rows[i][w+1][SavedTurns] = x, x
		}
	}
	return rows
}

func around(mean, spread float64) []float64 {
	out := make([]float64, 25)
	for i := range out {
		out[i] = mean + spread*float64(i%5-2)
	}
	return out
}

// TestEstimate checks mean, standard error and interval of five deals of five folds by hand.
func TestEstimate(t *testing.T) {
	c := weigher{ways: someWays, goal: SavedUSD, tasks: 50, factor: 1.0/25 + 1.0/4, freedom: 24}
	rows := rowsOf(around(2, 1), around(0, 0), around(0, 0))
	out := c.outcome(1, rows, 50)
	// The variance of -2, -1, 0, 1, 2 five times is 50/24.
	err := 50 * math.Sqrt(0.29*50/24)
	if q := 2.0638985616; math.Abs(out.Saved[SavedUSD]-100) > 1e-9 || math.Abs(out.Intervals[SavedUSD].Hi-100-q*err) > 1e-6 {
		t.Errorf("%+v, want 100 and 100 + %v", out, q*err)
	}
}

// TestChooseWay: the simplest kind that surely saves and is not clearly worse than the best.
func TestChooseWay(t *testing.T) {
	none := around(0, 0)
	for name, c := range map[string]struct {
		rows []row
		want int
		same bool
	}{
		"nothing saves":                 {rowsOf(none, none, none), 0, false},
		"what may be a loss is none":    {rowsOf(around(0.1, 1), none, none), 0, false},
		"the one that saves":            {rowsOf(none, around(2, 0.1), none), 2, false},
		"the better one":                {rowsOf(around(1, 0.1), around(2, 0.1), none), 2, false},
		"the simpler of nearly equals":  {rowsOf(around(1, 0.2), around(1, 0.2), around(1.01, 0.3)), 1, false},
		"the more complex if it is one": {rowsOf(around(1, 0.2), around(1, 0.2), around(2, 0.2)), 3, false},
	} {
		w := weigher{ways: someWays, goal: SavedUSD, tasks: 50, factor: 0.29, freedom: 24, bill: Saved{SavedUSD: 100, SavedTurns: 1000}}
		if got, same := w.choose(c.rows); got != c.want || same != c.same {
			t.Errorf("%s: %d, %v", name, got, same)
		}
	}
	// The bill stays, and turns become fewer.
	rows := rowsOf(none, none, none)
	for i := range rows {
		rows[i][1][SavedTurns] = 3
	}
	w := weigher{ways: someWays, goal: SavedUSD, tasks: 50, factor: 0.29, freedom: 24, bill: Saved{SavedUSD: 100, SavedTurns: 1000}}
	if got, same := w.choose(rows); got != 1 || !same {
		t.Errorf("fewer turns for the same bill: %d, %v", got, same)
	}
	for i := range rows { // what takes more calls of the model is none
		rows[i][1][SavedCalls] = -1
	}
	if got, _ := w.choose(rows); got != 0 {
		t.Errorf("more calls of the model: %d", got)
	}
}

// TestProcedureIsHonest: of ways that save nothing on average, the best of several seems to
// save something, and the procedure does not say so.
func TestProcedureIsHonest(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const tasks, worlds = 40, 60
	seems, said := 0.0, 0.0
	for range worlds {
		rows := newRows(tasks, len(someWays))
		for i := range rows {
			for w := range someWays {
				rows[i][w+1][SavedUSD] = random.NormFloat64()
			}
		}
		c := weigher{ways: someWays, goal: SavedUSD, tasks: tasks, factor: 1.0 / tasks, freedom: tasks - 1, perTask: 1, bill: Saved{SavedUSD: 1000, SavedTurns: 1000}}
		best := 0.0
		for w := range someWays {
			mean, _ := c.way(rows, w+1, SavedUSD)
			best = max(best, mean*tasks)
		}
		out := Recommendation{Chosen: map[Kind]float64{}}
		out.resample(&c, rows, 1, 0)
		seems, said = seems+best/worlds, said+out.Recommended.Saved[SavedUSD]/worlds
	}
	if said > seems/4 || seems < 2 {
		t.Errorf("the best seems to save %v, and the procedure says %v", seems, said)
	}
}

// TestIntervalsCover: intervals over deals of folds cover what the ways save of other tasks, in
// worlds in which the tasks of folds are independent and what is learnt adds noise of its own.
func TestIntervalsCover(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	const tasks, worlds = 15, 200
	covered, width, estimates := 0, 0.0, []float64(nil)
	for range worlds {
		saves := make([]float64, tasks)
		for i := range saves {
			saves[i] = 1 + random.NormFloat64()
		}
		var rows []row
		for range deals {
			order := random.Perm(tasks)
			for fold := range 5 {
				r := make(row, 2)
				for _, i := range order[3*fold : 3*fold+3] {
					r[1][SavedUSD] += saves[i] / 3
				}
				r[1][SavedUSD] += 0.1 * random.NormFloat64()
				rows = append(rows, r)
			}
		}
		c := weigher{ways: someWays[:1], goal: SavedUSD, tasks: tasks, factor: 1.0/25 + 1.0/4, freedom: 24}
		out := c.outcome(1, rows, tasks)
		if i := out.Intervals[SavedUSD]; i.Lo <= tasks && tasks <= i.Hi {
			covered++
		}
		width += (out.Intervals[SavedUSD].Hi - out.Intervals[SavedUSD].Lo) / worlds
		estimates = append(estimates, out.Saved[SavedUSD])
	}
	mean, spread := 0.0, 0.0
	for _, x := range estimates {
		mean += x / worlds
	}
	for _, x := range estimates {
		spread += (x - mean) * (x - mean) / (worlds - 1)
	}
	z := distuv.UnitNormal.Quantile(0.975)
	if share := float64(covered) / worlds; share < 0.92 || width > 1.4*2*z*math.Sqrt(spread) {
		t.Errorf("%.1f %% covered, %v wide for a standard deviation of %v", 100*share, width, math.Sqrt(spread))
	}
}

// TestRecommendation: on runs with a habit it is recommended, and the seed changes the figures
// and not the kind; of too few tasks nothing is.
func TestRecommendation(t *testing.T) {
	o := options(none)
	o.Recommend = &RecommendOptions{Objective: ObjectiveTurns}
	kinds, figures := map[Kind]bool{}, map[string]bool{}
	for seed := range uint64(4) {
		o.Seed = seed + 1
		r, err := Run(runsOf(slices.Concat(lookups(40, true), others(20))...), o)
		if err != nil {
			t.Fatal(err)
		}
		v := r.Recommendation
		kinds[v.Way.Kind], figures[fmt.Sprint(v.Recommended.Saved, v.Ways)] = true, true
		if v.Way.Kind == Nothing || !v.Decided || v.Recommended.Intervals[SavedTurns].Lo <= 0 {
			t.Errorf("seed %d: %+v", seed, v)
		}
	}
	if len(kinds) != 1 || len(figures) < 2 {
		t.Errorf("%d kinds, %d figures", len(kinds), len(figures))
	}
	for _, n := range []int{1, 6} {
		r, err := Run(runsOf(lookups(n, true)...), o)
		if err != nil {
			t.Fatal(err)
		}
		if v := r.Recommendation; v.Way.Kind != Nothing || v.TooFew != (n == 6) || (v.Unknown != "") != (n == 1) {
			t.Errorf("%d tasks: %+v", n, v)
		}
	}
}

// TestConfirmed: what rests on names alone saves nothing where names do not count, and there
// is no such row where definitions say the same.
func TestConfirmed(t *testing.T) {
	o := options(none)
	o.Recommend = &RecommendOptions{Objective: ObjectiveTurns}
	list := lookups(40, true)
	r, err := Run(runsOf(list...), o)
	if err != nil {
		t.Fatal(err)
	}
	if v := r.Recommendation; v.Assumed == 0 || v.Confirmed.Way != v.Way || v.Confirmed.Saved[SavedTurns] != 0 || v.Recommended.Saved[SavedTurns] <= 0 {
		t.Errorf("by names: %d assumed, %+v, recommended %+v", v.Assumed, v.Confirmed, v.Recommended)
	}
	for _, run := range list {
		for i := range run.Calls {
			run.Tools = append(run.Tools, trace.ToolDef{Name: run.Calls[i].Tool, Annotations: trace.JSONOf([]byte(`{"readOnlyHint":true}`))})
		}
	}
	if r, err = Run(runsOf(list...), o); err != nil {
		t.Fatal(err)
	}
	if v := r.Recommendation; v.Assumed != 0 || v.Confirmed.Kind != "" || v.Recommended.Saved[SavedTurns] <= 0 {
		t.Errorf("by definitions: %d assumed, %+v, recommended %+v", v.Assumed, v.Confirmed, v.Recommended)
	}
}

// TestKept keeps what was recommended before while it passes and nothing is better by more
// than two standard errors of the difference.
func TestKept(t *testing.T) {
	c := weigher{ways: someWays, goal: SavedUSD, tasks: 50, factor: 0.29, freedom: 24, bill: Saved{SavedUSD: 100, SavedTurns: 1000}}
	shifted := around(2, 0.5)
	for i := range shifted { // a little better on every fold, now more and now less
		shifted[i] += 0.1 + 0.2*float64(i%3-1)
	}
	for name, test := range map[string]struct {
		rows []row
		want bool
	}{
		"a little better":    {rowsOf(around(2, 0.5), shifted, around(0, 0)), true},
		"clearly better":     {rowsOf(around(2, 0.5), around(4, 0.6), around(0, 0)), false},
		"it saves no longer": {rowsOf(around(0.1, 1), around(0.1, 1), around(0, 0)), false},
	} {
		if keeps, _ := c.keeps(test.rows, 1, 2); keeps != test.want {
			t.Errorf("%s: kept %v", name, keeps)
		}
	}
	for kept, want := range map[Way]bool{{OnlyPrefetch, 0.5, 0}: true, {OnlyMetaTools, 0, 5}: false} {
		o := options(none)
		o.Recommend = &RecommendOptions{Kept: map[string]Way{"": kept}}
		r, err := Run(runsOf(lookups(28, true)...), o)
		if err != nil {
			t.Fatal(err)
		}
		if v := r.Recommendation; v.Kept != want || want != (v.Way == kept) {
			t.Errorf("of %v: kept %v, %v", kept, v.Kept, v.Way)
		}
	}
}

// TestNamedKinds tries only the kinds that are named, and those although they need more calls
// of the model.
func TestNamedKinds(t *testing.T) {
	for _, w := range waysTried(true, []Kind{OnlyMetaTools}) {
		if w.Kind != OnlyMetaTools {
			t.Errorf("%v is tried", w)
		}
	}
	if n := len(waysTried(false, nil)); n != 15 {
		t.Errorf("%d ways", n)
	}
	rows := rowsOf(around(2, 0.1))
	for i := range rows {
		rows[i][1][SavedCalls] = -1
	}
	c := weigher{ways: []Way{{Kind: WithRegistration}}, goal: SavedUSD, tasks: 50, factor: 0.29, freedom: 24}
	if got, _ := c.choose(rows); got != 0 {
		t.Errorf("more calls of the model: %d", got)
	}
	c.named = true
	if got, _ := c.choose(rows); got != 1 {
		t.Errorf("more calls of the model, and asked for: %d", got)
	}
}
