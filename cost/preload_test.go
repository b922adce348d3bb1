package cost_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/cost"
)

// TestPreloadCosts is arithmetic done by hand, with the tools of TestLazy. In front
// stand 16 tokens, the contexts are 20 and 60, and nothing is called: turns read
// 36 and 76. A registration says 4 and a name of 3, and is answered with 2.
func TestPreloadCosts(t *testing.T) {
	plain := []use{{input: 100, output: 10}, {input: 140, output: 5}}
	cached := []use{{input: 100, output: 10}, {input: 140, cached: 100, output: 5}}
	nothing := cost.LazyUse{Uses: [][]int32{nil, nil}}
	for _, test := range []struct {
		name    string
		account *cost.Account
		use     cost.LazyUse
		want    cost.PreloadCosts
		worth   cost.Amount
	}{
		{
			// Before the first turn: reads 36 and says 7, then both turns read 9 more. Before
			// the second: reads 76, says 7, and that turn reads 9. A token in front is read
			// twice; registered before the second turn, once.
			// 0.5 (61 - 0) + 0.25 (92 - 40) - 0.25 40 2, and
			// 0.5 (890 - 0) + 0.25 (1200 - 400) - 0.25 40 20.
			"nothing cached", lazyAccount("plain", plain...), nothing,
			cost.PreloadCosts{
				Steps: []cost.PreloadStep{
					{Register: cost.Amount{Tokens: 36 + 7 + 9 + 9, USD: 10*(36+9+9) + 50*7}, Trajectories: 1},
					{Register: cost.Amount{Tokens: 76 + 7 + 9, USD: 10*(76+9) + 50*7}, Read: cost.Amount{Tokens: 1, USD: 10}, Trajectories: 1},
				},
				Read: cost.Amount{Tokens: 2, USD: 20}, Trajectories: 1,
			},
			cost.Amount{Tokens: 30.5 + 13 - 20, USD: 445 + 200 - 200},
		},
		{
			// Without it the turns cost 360 and 36 + 400. Before the first: 360 + 350, then
			// 36 + 90 and 45 + 400. Before the second: 36 + 400 + 350, then 76 + 90. A token in
			// front costs 10 and 1, registered before the second turn 10.
			// 0.5 485 + 0.25 (516 - 40) - 0.25 40 11.
			"cached", lazyAccount("caches", cached...), nothing,
			cost.PreloadCosts{
				Steps: []cost.PreloadStep{
					{Register: cost.Amount{Tokens: 61, USD: 710 + 126 + 445 - 360 - 436}, Trajectories: 1},
					{Register: cost.Amount{Tokens: 92, USD: 786 + 166 - 436}, Read: cost.Amount{Tokens: 1, USD: 1}, Trajectories: 1},
				},
				Read: cost.Amount{Tokens: 2, USD: 11}, Trajectories: 1,
			},
			cost.Amount{Tokens: 23.5, USD: 242.5 + 119 - 110},
		},
		{
			// The tool of 30 tokens is registered before the first turn: turns read 36, 74 and
			// 114. The probe comes before it: 36 + 7, then 9 more on three turns. Or it comes
			// before the second turn: 114 + 7, then 9. A token in front is read three times; as
			// late as it is used, three times and once.
			// 0.5 (70 - 0) + 0.25 (130 - 2 40) - 0.25 40 3.
			"beside another registration", lazyAccount("plain", plain...),
			cost.LazyUse{Uses: [][]int32{{0}, nil}},
			cost.PreloadCosts{
				Steps: []cost.PreloadStep{
					{Register: cost.Amount{Tokens: 36 + 7 + 27, USD: 10*63 + 350}, Trajectories: 1},
					{Register: cost.Amount{Tokens: 114 + 7 + 9, USD: 10*123 + 350}, Read: cost.Amount{Tokens: 2, USD: 20}, Trajectories: 1},
				},
				Read: cost.Amount{Tokens: 3, USD: 30}, Trajectories: 1,
			},
			cost.Amount{Tokens: 35 + 12.5 - 30, USD: 490 + 0.25*(1580-800) - 300},
		},
		{
			// That tool stands in front from the start instead: turns read 66 and 106.
			"beside one from the start", lazyAccount("plain", plain...),
			cost.LazyUse{Uses: [][]int32{{0}, nil}, Preloaded: []int32{0}},
			cost.PreloadCosts{
				Steps: []cost.PreloadStep{
					{Register: cost.Amount{Tokens: 66 + 7 + 18, USD: 10*84 + 350}, Trajectories: 1},
					{Register: cost.Amount{Tokens: 106 + 7 + 9, USD: 10*115 + 350}, Read: cost.Amount{Tokens: 1, USD: 10}, Trajectories: 1},
				},
				Read: cost.Amount{Tokens: 2, USD: 20}, Trajectories: 1,
			},
			cost.Amount{Tokens: 45.5 + 0.25*(122-40) - 20, USD: 595 + 0.25*(1500-400) - 200},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := test.account.PreloadCosts(&tools, test.use, []int32{0, 1})
			if len(got.Steps) != 2 || got.Trajectories != 1 {
				t.Fatalf("%+v", got)
			}
			amount(t, "a token read in vain", got.Read, test.want.Read)
			for i, s := range got.Steps {
				amount(t, "a registration", s.Register, test.want.Steps[i].Register)
				amount(t, "a token read too early", s.Read, test.want.Steps[i].Read)
			}
			amount(t, "worth", got.Worth([]float64{0.5, 0.25}, 40), test.worth)

			// Twice the same trajectory changes no mean, and a step that it does not have
			// counts as never.
			sum := &cost.PreloadCosts{}
			sum.Add(got)
			sum.Add(got)
			amount(t, "worth of two", sum.Worth([]float64{0.5, 0.25}, 40), test.worth)
			amount(t, "worth with a step more", sum.Worth([]float64{0.5, 0.25, 0.25}, 40), test.worth)
		})
	}
	amount(t, "worth of nothing", (&cost.PreloadCosts{}).Worth([]float64{1}, 40), cost.Amount{})
}

func amount(t *testing.T, what string, got, want cost.Amount) {
	t.Helper()
	if math.Abs(got.Tokens-want.Tokens) > 1e-3 || math.Abs(got.USD-want.USD) > 1e-2 {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

// TestPreloadCostsAreSimulations: of a single trajectory, what preloading a tool is
// said to be worth is the difference of two simulations, whenever it is used.
func TestPreloadCostsAreSimulations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "turns")
		uses := make([][]int32, n)
		var turns []use
		for i := range n {
			turns = append(turns, use{input: rapid.Int64Range(100, 900).Draw(t, "input"), cached: rapid.Int64Range(0, 900).Draw(t, "cached"), output: 9})
			if rapid.Bool().Draw(t, "uses") {
				uses[i] = []int32{rapid.Int32Range(0, 1).Draw(t, "tool")}
			}
		}
		a := lazyAccount(rapid.SampledFrom([]string{"plain", "caches", "writes"}).Draw(t, "model"), turns...)
		var steps []int32
		first := make([]float64, n)
		for i := range n {
			steps = append(steps, int32(i))
		}
		costs := a.PreloadCosts(&tools, cost.LazyUse{Uses: uses}, steps)

		tokens := rapid.Int64Range(3, 400).Draw(t, "tokens")
		more := tools
		more.Tools = append(more.Tools[:2:2], cost.Definition{Name: 3, Parameters: tokens - 3})
		if at := rapid.IntRange(0, n).Draw(t, "first use"); at < n {
			first[at] = 1
			uses[at] = append([]int32{2}, uses[at]...)
		}
		o := cost.LazyOptions{Placement: cost.PlacementResult}
		lazy, ahead := a.Lazy(&more, cost.LazyUse{Uses: uses}, o), a.Lazy(&more, cost.LazyUse{Uses: uses, Preloaded: []int32{2}}, o)
		got := costs.Worth(first, tokens)
		if want := float64(lazy.Tokens() - ahead.Tokens()); math.Abs(got.Tokens-want) > 0.5 {
			t.Fatalf("worth %v tokens, simulated %v", got.Tokens, want)
		}
		// What is written to a cache is a share, rounded in every turn.
		if want := lazy.USD - ahead.USD; math.Abs(got.USD-want) > 40*float64(n+1) {
			t.Fatalf("worth %v USD, simulated %v", got.USD, want)
		}
	})
}
