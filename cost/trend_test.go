package cost_test

import (
	"fmt"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/cost"
)

func period(trajectories, turns int, tokens int64, usd float64) cost.Line {
	return cost.Line{Amounts: cost.Amounts{Totals: cost.Totals{Turns: turns, Input: tokens, Paid: usd}, Trajectories: trajectories}}
}

// TestCompareKnown: what alone changes explains all of it.
func TestCompareKnown(t *testing.T) {
	before := map[string]cost.Line{"m": period(10, 100, 1000, 2)}
	for name, tc := range map[string]struct {
		after cost.Line
		of    func(cost.Effects) float64
	}{
		"trajectories": {period(20, 200, 2000, 4), func(e cost.Effects) float64 { return e.Trajectories }},
		"turns":        {period(10, 150, 1500, 3), func(e cost.Effects) float64 { return e.Turns }},
		"tokens":       {period(10, 100, 3000, 6), func(e cost.Effects) float64 { return e.Tokens }},
		"price":        {period(10, 100, 1000, 1), func(e cost.Effects) float64 { return e.Price }},
	} {
		e := cost.Compare(before, map[string]cost.Line{"m": tc.after})
		if want := tc.after.Paid - 2; math.Abs(tc.of(e)-want) > 1e-12 || math.Abs(e.Change-want) > 1e-12 {
			t.Errorf("%s: %+v, want %v", name, e, want)
		}
	}
	e := cost.Compare(before, map[string]cost.Line{"m": period(5, 50, 500, 1), "dear": period(5, 50, 500, 10)})
	if math.Abs(e.Trajectories) > 1e-12 || math.Abs(e.Models-9) > 1e-12 {
		t.Errorf("another model: %+v", e)
	}
}

// TestCompareAddsUp: the effects add up to the change, whatever the periods are.
func TestCompareAddsUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(label string) map[string]cost.Line {
			out := map[string]cost.Line{}
			for i := range rapid.IntRange(0, 3).Draw(t, label) {
				n := rapid.IntRange(0, 9).Draw(t, "n")
				out[fmt.Sprint(i)] = period(n, n*rapid.IntRange(0, 9).Draw(t, "turns"), rapid.Int64Range(0, 9).Draw(t, "tokens"), float64(rapid.IntRange(0, 9_000_000).Draw(t, "micro-dollars"))/1e6)
			}
			return out
		}
		e := cost.Compare(draw("before"), draw("after"))
		if sum := e.Trajectories + e.Models + e.Turns + e.Tokens + e.Price; !(math.Abs(sum-e.Change) < 1e-9) {
			t.Fatalf("%+v: %v", e, sum)
		}
	})
}
