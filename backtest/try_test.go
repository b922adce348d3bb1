package backtest

import (
	"fmt"
	"iter"
	"os"
	"testing"

	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

func TestTry(t *testing.T) {
	file := os.Getenv("TRY")
	if file == "" {
		t.Skip()
	}
	src := func() iter.Seq2[*trace.Trajectory, error] {
		r, err := trace.Open([]string{file}, trace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r.All()
	}
	for _, sel := range []Selection{SelectTurns, SelectNet, SelectAll} {
		var o Options
		o.Seed = 1
		o.Choose.Select = sel
		o.Compile.DeclaredReads = os.Getenv("DECL") != ""
		if os.Getenv("MINAG") != "" {
			fmt.Sscan(os.Getenv("MINAG"), &o.Choose.MinAgreement)
		}
		r, err := Run(src, o)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(sel, r.Folds, r.TestTasks, r.Trajectories, r.NoUsage, r.NoTools, r.Unpriced)
		for _, x := range r.Techniques {
			fmt.Printf("  %-18s ct %d/%d %.1f%% [%.3f %.3f] llm %d util %.2f steps %.1f->%.1f places %d exact %d tools %.1f deftok %.0f tokens %d/%d usd %.3f/%.3f\n", x.Name, x.CallingTurnsSaved, x.CallingTurns, 100*float64(x.CallingTurnsSaved)/float64(x.CallingTurns), x.Intervals["calling_turns_saved_share"].Lo, x.Intervals["calling_turns_saved_share"].Hi, x.LLMCallsSaved, x.Utilisation, x.StepsBefore, x.StepsAfter, x.Places, x.Exact, x.MetaTools, x.DefinitionTokens, x.TokensSaved, x.Tokens, x.USDSaved, x.USD)
		}
	}
}

func TestTryChoose(t *testing.T) {
	file := os.Getenv("TRYC")
	if file == "" {
		t.Skip()
	}
	src := func() iter.Seq2[*trace.Trajectory, error] {
		r, err := trace.Open([]string{file}, trace.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r.All()
	}
	c, err := metatool.Compile(src, nil, metatool.CompileOptions{Algorithm: metatool.AlgorithmPatterns})
	if err != nil {
		t.Fatal(err)
	}
	for _, sel := range []Selection{SelectTurns, SelectNet} {
		ch, err := Choose(src, nil, c.Definitions, ChooseOptions{Select: sel})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(sel, ch.Unit, ch.TokenPrice, ch.Turns)
		for _, g := range ch.Chosen {
			fmt.Printf("  + %s tok %d turns %d (+%d) net %.4f (+%.4f) even %.0f %+v\n", g.Definition.Name, g.Tokens, g.Turns, g.TurnsAdded, g.Net, g.NetAdded, g.BreakEven, g.Replay)
		}
		for _, g := range ch.Left {
			fmt.Printf("  - %s %s %s tok %d %+v\n", g.Definition.Name, g.Reason, g.By, g.Tokens, g.Replay)
		}
	}
}
