package cost_test

import (
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/trace"
)

// lazyAccount is two turns that offer two tools, whose definitions are 80 tokens.
func lazyAccount(model string, turns ...use) *cost.Account {
	a := meter(cost.CachingRecorded).Trajectory(run(model, turns...))
	a.Definitions, a.Offered = 80, 2
	return a
}

// tools are a tool of 30 tokens, 2 of them its name, and one of 50 with 3; the
// definition of tool_register is 10, a registration says 4 and the name, and is
// answered with 2.
var tools = cost.Toolset{
	Tools: []cost.Definition{{Name: 2, Description: 8, Parameters: 20}, {Name: 3, Description: 17, Parameters: 30}},
	Count: 2, Definitions: 80, Names: 5, Descriptions: 25, Register: 10, Separator: 1, Call: 4, Acknowledged: 2,
}

// TestLazy is arithmetic done by hand. In front stand 10 + 5 + 1 = 16 tokens; the
// contexts without definitions are 20 and 60 tokens.
func TestLazy(t *testing.T) {
	plain := []use{{input: 100, output: 10}, {input: 140, output: 5}}
	cached := []use{{input: 100, output: 10}, {input: 140, cached: 100, output: 5}}
	first := cost.LazyUse{Uses: [][]int32{{0}, nil}}
	both := cost.LazyUse{Uses: [][]int32{{0}, {1, 0}}}
	for _, test := range []struct {
		name    string
		account *cost.Account
		use     cost.LazyUse
		options cost.LazyOptions
		want    cost.LazyTotals
	}{
		{
			// Registering reads 16 + 20 and says 4 + 2; after it 30 stand in front and 8 in the
			// context: 46 + 20 + 8 and 46 + 60 + 8.
			"into the list", lazyAccount("plain", plain...), first,
			cost.LazyOptions{},
			cost.LazyTotals{Totals: cost.Totals{Turns: 3, Input: 36 + 74 + 114, Output: 21}, Registrations: 1, Registered: 1},
		},
		{
			// The same tokens elsewhere.
			"as a result", lazyAccount("plain", plain...), first,
			cost.LazyOptions{Placement: cost.PlacementResult},
			cost.LazyTotals{Totals: cost.Totals{Turns: 3, Input: 36 + 74 + 114, Output: 21}, Registrations: 1, Registered: 1},
		},
		{
			// The turn after the registration finds no cache; the last one finds all of it.
			"into the list, cached", lazyAccount("caches", cached...), first,
			cost.LazyOptions{},
			cost.LazyTotals{Totals: cost.Totals{Turns: 3, Input: 224, Cached: 74, Output: 21}, Registrations: 1, Registered: 1},
		},
		{
			// The turn after the registration finds what that one read.
			"as a result, cached", lazyAccount("caches", cached...), first,
			cost.LazyOptions{Placement: cost.PlacementResult},
			cost.LazyTotals{Totals: cost.Totals{Turns: 3, Input: 224, Cached: 36 + 74, Output: 21}, Registrations: 1, Registered: 1},
		},
		{
			// A second registration before the last turn: 46 + 60 + 8 = 114, then 50 more in
			// front and 4 + 3 + 2 in the context: 173.
			"two tools", lazyAccount("plain", plain...), both,
			cost.LazyOptions{},
			cost.LazyTotals{Totals: cost.Totals{Turns: 4, Input: 36 + 74 + 114 + 173, Output: 28}, Registrations: 2, Registered: 2},
		},
		{
			// One registration for both: it says 4 + 2 + 3, so 16 + 80 in front and 11 more in
			// the context.
			"two tools at a time", lazyAccount("plain", plain...), both,
			cost.LazyOptions{Batch: 2},
			cost.LazyTotals{Totals: cost.Totals{Turns: 3, Input: 36 + 127 + 167, Output: 24}, Registrations: 1, Registered: 2},
		},
		{
			// No names in front: the search reads 10 + 20 and says 4 + 2; with what it finds 10 +
			// 80 + 8 are before both contexts.
			"a search", lazyAccount("plain", plain...), both,
			cost.LazyOptions{Placement: cost.PlacementResult, Search: 5},
			cost.LazyTotals{Totals: cost.Totals{Turns: 3, Input: 30 + 118 + 158, Output: 21}, Registrations: 1, Registered: 2},
		},
		{
			// 25 more in front of all three turns.
			"with descriptions", lazyAccount("plain", plain...), first,
			cost.LazyOptions{Describe: true},
			cost.LazyTotals{Totals: cost.Totals{Turns: 3, Input: 224 + 75, Output: 21}, Registrations: 1, Registered: 1},
		},
		{
			// The second tool is registered before the first one, for nothing: 16 + 20 = 36,
			// then 66 + 20 + 9 = 95, then 96 + 20 + 17 = 133 and 96 + 60 + 17 = 173.
			"all of them", lazyAccount("plain", plain...), first,
			cost.LazyOptions{Share: 1},
			cost.LazyTotals{Totals: cost.Totals{Turns: 4, Input: 36 + 95 + 133 + 173, Output: 28}, Registrations: 2, Registered: 2, Unused: 1},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := test.account.Lazy(&tools, test.use, test.options)
			want := test.want
			want.USD = float64(want.Fresh()*10 + want.Cached + want.Output*50)
			if math.Abs(got.USD-want.USD) > 1e-6 {
				t.Errorf("%v USD, want %v", got.USD, want.USD)
			}
			got.USD, got.Paid, want.USD = 0, 0, 0
			if got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

// TestLazyBounds: whatever is used when, every called tool is registered once, and a
// registration is a turn.
func TestLazyBounds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "turns")
		uses, called := make([][]int32, n), map[int32]bool{}
		var turns []use
		for i := range n {
			turns = append(turns, use{input: rapid.Int64Range(0, 500).Draw(t, "input"), cached: rapid.Int64Range(0, 500).Draw(t, "cached"), output: 9})
			for _, tool := range rapid.SliceOfNDistinct(rapid.Int32Range(0, 1), 0, 2, rapid.ID[int32]).Draw(t, "uses") {
				uses[i] = append(uses[i], tool)
				called[tool] = true
			}
		}
		o := cost.LazyOptions{
			Placement: cost.Placement(rapid.IntRange(0, 1).Draw(t, "placement")), Batch: rapid.IntRange(0, 3).Draw(t, "batch"),
			Share: rapid.Float64Range(0, 1).Draw(t, "share"), Describe: rapid.Bool().Draw(t, "describe"),
		}
		a := lazyAccount("writes", turns...)
		got := a.Lazy(&tools, cost.LazyUse{Uses: uses}, o)
		if got.Registered-got.Unused != len(called) || got.Turns != n+got.Registrations || got.Registrations > got.Registered {
			t.Fatalf("%+v for %d turns that call %d tools", got, n, len(called))
		}
		if got.Cached < 0 || got.Write < 0 || got.Fresh() < 0 {
			t.Fatalf("negative tokens: %+v", got)
		}
	})
}

// TestLazyStudy checks the figures that need no simulation, and the break-even by
// what it says: with so many tools both ways cost the same.
func TestLazyStudy(t *testing.T) {
	m := meter(cost.CachingRecorded)
	study := cost.NewLazyStudy(m, cost.LazyStudyOptions{Seed: 1})
	tr := &trace.Trajectory{ID: "a", Task: "a", Model: "plain"}
	for _, name := range []string{"alpha", "beta", "gamma", "delta"} {
		tr.Tools = append(tr.Tools, trace.ToolDef{Name: trace.Intern(name), Description: trace.TextOf("does what it does and says so at some length"), Input: trace.JSONOf([]byte(`{"type":"object","properties":{"q":{"type":"string","description":"what is asked for"}}}`))})
	}
	for i, tool := range []string{"alpha", "alpha", "beta", ""} {
		turn := trace.Turn{FirstCall: len(tr.Calls), Usage: trace.Usage{Known: true, Input: int64(1000 + 100*i), Output: 20}}
		if tool != "" {
			turn.NumCalls = 1
			tr.Calls = append(tr.Calls, trace.Call{Tool: trace.Intern(tool), Turn: i})
		}
		tr.Turns = append(tr.Turns, turn)
	}
	study.Add(tr, m.Trajectory(tr))
	study.Add(&trace.Trajectory{ID: "b", Turns: tr.Turns}, m.Trajectory(&trace.Trajectory{ID: "b", Turns: tr.Turns}))
	r := study.Report(cost.NewFit(m))
	if r.Trajectories != 1 || r.NoTools != 1 || r.Parts.Tools != 4 || len(r.Levels) != 2 || r.Levels[0].Name != "0-10" || r.Levels[0].MeanTools != 4 {
		t.Fatalf("%+v", r)
	}
	for i, want := range []float64{.25, .25, .5, .5} {
		if g := r.Growth[i]; g.Turn != i+1 || g.Share != want || g.Trajectories != 1 {
			t.Errorf("growth %+v, want a share of %v", g, want)
		}
	}
	p := r.Parts
	each := float64(p.Names+p.Descriptions+p.Parameters) / 4
	if math.Abs(p.OfferedPerTurn.Float()-4*each) > 1e-9 || math.Abs(p.CalledPerTurn.Float()-3*each/4) > 2 {
		t.Errorf("%v offered and %v called a turn, definitions of %v", p.OfferedPerTurn.Float(), p.CalledPerTurn.Float(), each)
	}
	even := r.BreakEven.Tokens.Float()
	if !(even > 2 && even < 200) || r.BreakEven.TokensInterval.Known() {
		t.Fatalf("break-even at %+v", r.BreakEven.Tokens)
	}
	// The same trajectory with a fraction more and fewer tools than that.
	saved := func(n int) int64 {
		big := *tr
		for i := 4; i < n; i++ {
			d := tr.Tools[i%4]
			d.Name = trace.Intern(string(rune('a'+i%26)) + string(rune('a'+i/26)))
			big.Tools = append(big.Tools[:len(big.Tools):len(big.Tools)], d)
		}
		big.Turns = append([]trace.Turn(nil), tr.Turns...)
		grown := m.Trajectory(&big).Definitions - m.Trajectory(tr).Definitions
		for i := range big.Turns {
			big.Turns[i].Usage.Input += grown
		}
		s := cost.NewLazyStudy(m, cost.LazyStudyOptions{})
		a := m.Trajectory(&big)
		s.Add(&big, a)
		level := s.Report(cost.NewFit(m)).Levels[0]
		return level.Tokens - level.Variants[1].Tokens
	}
	if below, above := saved(int(even*0.8)), saved(int(even*1.2)+1); below >= 0 || above <= 0 {
		t.Errorf("break-even at %v tools, but below it %d tokens are saved and above it %d", even, below, above)
	}
}
