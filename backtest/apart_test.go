package backtest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/trace"
)

// TestAgentsApart: of two agents each is compiled, tested and charged as if the other were
// not there, and the result is their sum.
func TestAgentsApart(t *testing.T) {
	one, two := lookups(40, true), others(28)
	o := options(none, patterns)
	o.Recommend = &RecommendOptions{Objective: ObjectiveTokens}
	var alone []*Result
	for _, runs := range [][]*trace.Trajectory{one, two} {
		r, err := Run(runsOf(runs...), o)
		if err != nil {
			t.Fatal(err)
		}
		alone = append(alone, r)
	}
	o.AgentTasks = 0
	mixed := slices.Concat(one, two)
	for i := range two { // in turn, as long as there are some of both
		mixed[2*i], mixed[2*i+1] = one[i], two[i]
	}
	copy(mixed[2*len(two):], one[len(two):])
	both, err := Run(runsOf(mixed...), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(both.Agents) != 2 {
		t.Fatalf("%d agents", len(both.Agents))
	}
	for i := range alone {
		if got, want := fmt.Sprintf("%+v", both.Agents[i].Techniques), fmt.Sprintf("%+v", alone[i].Techniques); got != want {
			t.Errorf("agent %d among others\n%s\nalone\n%s", i, got, want)
		}
		if got, want := fmt.Sprintf("%+v", *both.Agents[i].Recommendation), fmt.Sprintf("%+v", *alone[i].Recommendation); got != want {
			t.Errorf("recommendation for agent %d among others\n%s\nalone\n%s", i, got, want)
		}
	}
	p, a, b := onlyPatterns(both, t), onlyPatterns(alone[0], t), onlyPatterns(alone[1], t)
	if p.TokensSaved != a.TokensSaved+b.TokensSaved || p.CallingTurnsSaved != a.CallingTurnsSaved+b.CallingTurnsSaved || p.MetaTools != a.MetaTools+b.MetaTools || p.Blind.Moments != a.Blind.Moments+b.Blind.Moments {
		t.Errorf("together %+v\nwant the sum of %+v\nand %+v", p, a, b)
	}
	if both.TestTasks != 68 || both.Trajectories != 68 {
		t.Errorf("%d tasks, %d trajectories", both.TestTasks, both.Trajectories)
	}
	if of := both.Recommendation; of.Total != alone[0].Recommendation.Total && of.Total != alone[1].Recommendation.Total || dearer(alone[0].Recommendation.Total, of.Total) || dearer(alone[1].Recommendation.Total, of.Total) {
		t.Errorf("it is about an agent of %v, the agents are of %v and %v", of.Total, alone[0].Recommendation.Total, alone[1].Recommendation.Total)
	}
	o.AgentTasks = -1
	mingled, err := Run(runsOf(mixed...), o)
	if err != nil {
		t.Fatal(err)
	}
	if m := onlyPatterns(mingled, t); m.TokensSaved >= p.TokensSaved || mingled.Agents != nil {
		t.Errorf("charged for what others are offered they save %d tokens, apart %d", m.TokensSaved, p.TokensSaved)
	}
}

// TestChooseApart: what is offered to one of several agents is offered once, and is not
// left out because another is offered nothing.
func TestChooseApart(t *testing.T) {
	turns, all := 0, []ForAgent{}
	for _, runs := range [][]*trace.Trajectory{lookups(40, true), others(28)} {
		source := runsOf(runs...)
		c := compile.Run(source, nil, compile.Options{Algorithm: compile.Patterns})
		choice := Choose(source, c.Definitions, ChooseOptions{})
		turns += choice.Chosen[len(choice.Chosen)-1].Turns
		all = append(all, ForAgent{source, c.Definitions, ChooseOptions{}})
	}
	all = append(all, ForAgent{all[0].Runs, all[0].Definitions, ChooseOptions{None: true}})
	together := ChooseApart(all)
	last := together.Chosen[len(together.Chosen)-1]
	if len(together.Chosen) != 2 || last.Turns != turns || together.Trajectories != 108 {
		t.Errorf("%d offered for %d turns in %d trajectories, want 2 for %d in 108", len(together.Chosen), last.Turns, together.Trajectories, turns)
	}
	for _, l := range together.Left {
		for _, g := range together.Chosen {
			if l.Definition == g.Definition {
				t.Errorf("%s is offered and left out", g.Definition.Name)
			}
		}
	}
	together.Withdraw(map[*bind.Definition]Agreement{together.Chosen[0].Definition: {Places: 10, Exact: 1}})
	if len(together.Chosen) != 1 {
		t.Errorf("%d offered after one was withdrawn", len(together.Chosen))
	}
}
