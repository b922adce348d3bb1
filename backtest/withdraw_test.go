package backtest

import (
	"fmt"
	"testing"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/trace"
)

// parcels are 40 runs that look up a customer and its order, 20 of which go on to
// the parcel: the pair saves 40 turns, the three calls 40 in half of the runs, and
// both together 60.
func parcels() []*corpus.Run {
	list := lookups(40, true)
	for i, run := range list[:20] {
		run.Turns = append(run.Turns, trace.Turn{FirstCall: 2, NumCalls: 1, Usage: trace.Usage{Known: true, Input: 1200, Output: 10}})
		run.Calls = append(run.Calls, trace.Call{Tool: trace.Intern("get_parcel"), Turn: 2, Args: trace.JSONOf(fmt.Appendf(nil, `{"order":"order-%d"}`, 7000+i)), Result: trace.JSONOf([]byte(`{}`)), HasResult: true, Status: trace.StatusOK})
	}
	return runsOf(list...)
}

// TestWithdraw takes one meta-tool after the other back, and holds the gain curve to
// what is left without it.
func TestWithdraw(t *testing.T) {
	c := compile.Run(parcels(), nil, compile.Options{Algorithm: compile.Patterns})
	named := map[string]*bind.Definition{}
	for _, d := range c.Definitions {
		named[toolsOf(d)] = d
	}
	pair, three := named["get_customer get_order"], named["get_customer get_order get_parcel"]
	if pair == nil || three == nil || len(c.Definitions) != 3 || !named["get_order get_parcel"].Overlaps {
		t.Fatalf("found %v", named)
	}
	again := *pair // does what pair does, and comes later
	twin := &again
	twin.Name += "_once_more" // which is longer, so that the pair comes first
	definitions := []*bind.Definition{pair, three, twin}
	type adds map[*bind.Definition]int
	for name, tc := range map[string]struct {
		disagree []*bind.Definition
		chosen   adds // turns
		left     map[*bind.Definition]string
	}{
		"none":  {nil, adds{pair: 40, three: 20}, map[*bind.Definition]string{twin: ReasonDominated}},
		"three": {[]*bind.Definition{three}, adds{pair: 40}, map[*bind.Definition]string{three: ReasonDisagrees, twin: ReasonDominated}},
		// What was left out beside the pair takes its place.
		"pair": {[]*bind.Definition{pair}, adds{twin: 40, three: 20}, map[*bind.Definition]string{pair: ReasonDisagrees}},
		// Beside the pair the three calls add 20; without it 40.
		"pair and twin": {[]*bind.Definition{pair, twin}, adds{three: 40}, map[*bind.Definition]string{pair: ReasonDisagrees, twin: ReasonDisagrees}},
		"twin":          {[]*bind.Definition{twin}, adds{pair: 40, three: 20}, map[*bind.Definition]string{twin: ReasonDisagrees}},
		"all":           {definitions, adds{}, map[*bind.Definition]string{pair: ReasonDisagrees, three: ReasonDisagrees, twin: ReasonDisagrees}},
	} {
		t.Run(name, func(t *testing.T) {
			choice := Choose(parcels(), definitions, ChooseOptions{})
			agreements := map[*bind.Definition]Agreement{pair: {Places: 20, Exact: 19, Saves: 19}, three: {Places: 18, Exact: 18, NotComparable: 2}}
			for _, d := range tc.disagree {
				agreements[d] = Agreement{Places: 20, Exact: 18, Saves: 18}
			}
			choice.Withdraw(agreements)
			sum := 0
			if len(choice.Chosen) != len(tc.chosen) || len(choice.Left) != len(tc.left) {
				t.Errorf("%d chosen, want %d; %d left out, want %d", len(choice.Chosen), len(tc.chosen), len(choice.Left), len(tc.left))
			}
			for _, g := range choice.Chosen {
				sum += g.TurnsAdded
				if want, ok := tc.chosen[g.Definition]; !ok || g.TurnsAdded != want || g.Turns != sum || g.Net != float64(sum) {
					t.Errorf("%s adds %d, in all %d (net %v); want %d of its own", g.Definition.Name, g.TurnsAdded, g.Turns, g.Net, want)
				}
			}
			for _, l := range choice.Left {
				if want := tc.left[l.Definition]; l.Reason != want {
					t.Errorf("%s is left out because of %s, want %q", l.Definition.Name, l.Reason, want)
				}
			}
		})
	}
}

// TestReplayHeldOut replays on traces that go another way: the order that is looked
// up is not that of the customer.
func TestReplayHeldOut(t *testing.T) {
	source := runsOf(lookups(40, true)...)
	c := compile.Run(source, nil, compile.Options{Algorithm: compile.Patterns})
	other := lookups(30, true)
	for _, run := range other[:10] {
		run.Calls[1].Args = trace.JSONOf([]byte(`{"order":"order-1"}`))
	}
	found := Replay(runsOf(other...), c.Definitions, 2)
	if a := found.Agreements[0]; found.Trajectories != 30 || a.Places != 30 || a.Exact != 20 || a.NotComparable != 0 {
		t.Errorf("%d trajectories, %+v", found.Trajectories, found.Agreements)
	}
	choice := Choose(source, c.Definitions, ChooseOptions{})
	choice.Withdraw(map[*bind.Definition]Agreement{c.Definitions[0]: found.Agreements[0]})
	if len(choice.Chosen) != 0 || len(choice.Left) != 1 || choice.Left[0].Reason != ReasonDisagrees || choice.Left[0].Replay.Exact != 40 {
		t.Errorf("%+v, %+v", choice.Chosen, choice.Left)
	}
}
