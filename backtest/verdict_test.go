package backtest

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/internal/corpus"
	script "github.com/awo-dev/awo/internal/scripted"
)

// judged is a back-test whose columns save what is said, by task; each task is a part of
// its own kind: task i is in part i%5+1.
func judged(objective Objective, saved ...[]float64) *run {
	r := &run{options: Options{Verdict: &VerdictOptions{Objective: objective}}, out: &Result{LLMTurns: 10}, tasks: map[string]int{}, part: 5}
	for task := range saved[0] {
		r.tasks[fmt.Sprint(task)] = task
		r.partOf = append(r.partOf, task%5+1)
		sums := make([]taskSums, len(saved))
		for column := range saved {
			sums[column].usdSaved, sums[column].turnsSaved = saved[column][task], saved[column][task]
		}
		r.sums = append(r.sums, newColumnSums(len(saved)))
		r.sums[task].add(sums)
	}
	for column := range saved {
		r.cells = append(r.cells, Cell{DoPatterns, CellOptions{Threshold: column + 1}})
		r.columns = append(r.columns, Technique{})
	}
	return r
}

// TestVerdictIsHeldOut: what a part saves decides nothing about that part.
func TestVerdictIsHeldOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		amounts := rapid.SliceOfN(rapid.Float64Range(-1, 2), 20, 20)
		columns := [][]float64{amounts.Draw(t, "a"), amounts.Draw(t, "b"), amounts.Draw(t, "c")}
		r := judged(ObjectiveMoney, columns...)
		part := rapid.IntRange(1, 5).Draw(t, "part")
		before := r.pick(ObjectiveMoney, part)
		for task := range r.sums {
			if r.partOf[task] == part {
				others := make([]taskSums, len(columns))
				for column := range others {
					others[column].usdSaved = rapid.Float64Range(-100, 100).Draw(t, "other")
				}
				r.sums[task].add(others)
			}
		}
		if after := r.pick(ObjectiveMoney, part); after != before {
			t.Fatalf("part %d chose %d, with other values in it %d", part, before, after)
		}
	})
}

// TestVerdictArithmetic checks choice and sum by hand.
func TestVerdictArithmetic(t *testing.T) {
	repeat := func(values ...float64) (out []float64) {
		for range 20 / len(values) {
			out = append(out, values...)
		}
		return out
	}
	for name, c := range map[string]struct {
		columns   [][]float64
		action    Action
		threshold int
		saved     float64
	}{
		"the better one":          {[][]float64{repeat(1, 3), repeat(4, 2)}, DoPatterns, 2, 60},
		"a loss is none":          {[][]float64{repeat(-1)}, DoNothing, 0, 0},
		"too unsure":              {[][]float64{append(repeat(-1)[:19], 30)}, DoNothing, 0, 0},
		"the first of equal ones": {[][]float64{repeat(2), repeat(2)}, DoPatterns, 1, 40},
		// Tasks of the first part save most with the first column, which the others do not
		// know: for that part they choose the second.
		"of a part the others choose": {[][]float64{repeat(5, 1, 1, 1, 1), repeat(1, 1.5, 1.5, 1.5, 1.5)}, DoPatterns, 1, 4*1 + 16*1},
	} {
		t.Run(name, func(t *testing.T) {
			r := judged(ObjectiveMoney, c.columns...)
			r.judge()
			v := r.out.Verdict
			if v.Cell.Action != c.action || v.Cell.Options.Threshold != c.threshold || v.Blind.USD != c.saved {
				t.Errorf("%+v saves %v, by part %+v", v.Cell, v.Blind.USD, v.Parts)
			}
			if v.Best.USD < v.Blind.USD {
				t.Errorf("the best in hindsight saves %v", v.Best.USD)
			}
		})
	}
	few := judged(ObjectiveMoney, []float64{1, 1, 1})
	few.judge()
	if v := few.out.Verdict; v.Unknown == "" || v.Cell.Action != DoNothing {
		t.Errorf("of three tasks %+v", v)
	}
}

// TestVerdictOfRuns: where lookups follow, reading ahead pays and needs no definition;
// where definitions cost more than all turns, nothing is offered.
func TestVerdictOfRuns(t *testing.T) {
	o := options(none, batch)
	o.Verdict = &VerdictOptions{}
	r, err := Run(corpus.Filled(lookups(40, true), corpus.Options{}), o)
	if err != nil {
		t.Fatal(err)
	}
	v := r.Verdict
	if v.Cell.Action != DoPrefetch || v.Objective != ObjectiveMoney || v.Blind.USD <= 0 || v.Blind.CallingTurns != 40 || v.Best.USD < v.Blind.USD || len(r.Techniques) != 2 {
		t.Errorf("%+v", v)
	}
	o.Verdict.Objective = ObjectiveTurns
	if r, err = Run(corpus.Filled(lookups(40, true), corpus.Options{}), o); err != nil || r.Verdict.Blind.CallingTurns != 40 {
		t.Errorf("%+v, %v", r.Verdict, err)
	}
	nothing := customers(20, func(i int, s *script.Run) {
		s.Call(fmt.Sprint("write_", i), `{}`, `true`)
	})
	for i, run := range nothing {
		run.Task = fmt.Sprint(i)
	}
	if r, err = Run(corpus.Filled(nothing, corpus.Options{}), o); err != nil || r.Verdict.Cell.Action != DoNothing || r.Verdict.Blind.CallingTurns != 0 {
		t.Errorf("%+v, %v", r.Verdict, err)
	}
}

// TestBestOutcome has one technique that saves turns and costs money, one the other
// way round, and some that are none to recommend.
func TestBestOutcome(t *testing.T) {
	turns := Outcome{Name: "patterns", CallingTurnsSaved: 50, USD: 10, USDSaved: -3, TokensSaved: -900}
	money := Outcome{Name: "register", USD: 10, USDSaved: 1, TokensSaved: 100}
	wrong := Outcome{Name: "inertia", CallingTurnsSaved: 60, Wrong: 20, USD: 10, USDSaved: 0.5, TokensSaved: 300}
	counted := Outcome{Name: "awo-paper", CallingTurnsSaved: 90, USD: 10, USDSaved: 9, TokensSaved: 900}
	together := Outcome{Name: "all", CallingTurnsSaved: 80, USD: 10, USDSaved: 5, TokensSaved: 800}
	unpriced := func(o Outcome) Outcome {
		o.USD, o.USDSaved = 0, 0
		return o
	}
	none := Outcome{Name: "none", USD: 10}
	for name, tc := range map[string]struct {
		by   Selection
		list []Outcome
		want string
	}{
		"turns":                 {"", []Outcome{none, counted, turns, money, wrong, together}, "patterns"},
		"net":                   {SelectNet, []Outcome{none, counted, turns, money, wrong, together}, "register"},
		"net without a price":   {SelectNet, []Outcome{none, unpriced(turns), unpriced(money), unpriced(wrong)}, "inertia"},
		"net, nothing pays":     {SelectNet, []Outcome{none, turns}, "patterns"},
		"no turn, money":        {"", []Outcome{none, money}, "register"},
		"wrong calls taken off": {"", []Outcome{none, wrong, {Name: "awo", CallingTurnsSaved: 41, USD: 10}}, "awo"},
		"nothing":               {"", []Outcome{none, counted, together}, ""},
	} {
		got := ""
		if best := (&Result{Techniques: tc.list}).Best(tc.by); best != nil {
			got = best.Name
		}
		if got != tc.want {
			t.Errorf("%s: %q is best, want %q", name, got, tc.want)
		}
	}
	if turns.Pays() || !money.Pays() || none.Pays() {
		t.Error("what costs more than it saves pays")
	}
}

// TestColumnSums: sums that columns share are those that each would have alone.
func TestColumnSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const columns = 6
		want, shared := make([]taskSums, columns), newColumnSums(columns)
		for range rapid.IntRange(0, 4).Draw(t, "trajectories") {
			more := make([]taskSums, columns)
			for i := range more {
				more[i] = taskSums{trajectories: 1, usdSaved: rapid.SampledFrom([]float64{0, .1, -.3}).Draw(t, "usd"), hasBlind: rapid.Bool().Draw(t, "blind")}
				want[i].add(&more[i])
			}
			shared.add(more)
		}
		for i := range want {
			if got := *shared.at(i); got != want[i] {
				t.Errorf("column %d has %v, want %v", i, got, want[i])
			}
		}
	})
}

// TestColumnsShareSums: sums take room for what differs, and not for each column.
func TestColumnsShareSums(t *testing.T) {
	s := newColumnSums(100)
	for range 3 {
		more := make([]taskSums, 100)
		for i := range more {
			more[i].turnsSaved = float64(i % 2)
		}
		s.add(more)
	}
	if len(s.distinct) != 2 {
		t.Errorf("%d sums are kept of columns of two kinds", len(s.distinct))
	}
}
