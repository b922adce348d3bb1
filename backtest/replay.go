package backtest

import (
	"github.com/awo-dev/awo/execute"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/rules"
)

// Replayed is what a replay of meta-tools showed.
type Replayed struct {
	Agreements   []Agreement // by meta-tool
	Trajectories int
}

// Replay replays meta-tools at all places of the source where they would save a
// turn.
func Replay(source metatool.Source, set *rules.Set, definitions []*metatool.Definition, workers int) (*Replayed, error) {
	tools := make([]*metatool.Tool, len(definitions))
	for i, d := range definitions {
		tools[i] = &d.Tool
	}
	finder := execute.NewFinder(tools)
	out := &Replayed{Agreements: make([]Agreement, len(tools))}
	var failed error
	for s := range par.Map(max(workers, 1), casesOf(source, newLabeller(set, false), &failed), func(k *Case) seenCase {
		return seenCase{k, finder.Find(k.Trajectory, k.Marks)}
	}) {
		out.Trajectories++
		for i := range s.places {
			p := &s.places[i]
			out.Agreements[p.Tool].add(p, anyFailed(s.c.Trajectory, &p.Replay.Occurrence))
		}
	}
	return out, failed
}

func (a *Agreement) add(p *execute.Place, failed bool) {
	a.Places++
	if failed {
		a.Failed++
	}
	if p.Replay.Exact {
		a.Exact++
	}
	if p.Replay.Saves {
		a.Saves++
	}
}

// Withdraw takes back chosen meta-tools that disagree in a replay on other traces;
// agreements are those of Chosen, in order. What the others add is not worked out
// anew.
func (c *Choice) Withdraw(agreements []Agreement) {
	var kept []Gain
	turns, calls, net := 0, 0, 0.0
	for i, g := range c.Chosen {
		if a := &agreements[i]; float64(a.Exact) < c.Options.MinAgreement*float64(a.Places) {
			c.Left = append(c.Left, Left{g.Definition, ReasonDisagrees, "", g.Tokens, *a})
			turns, calls, net = turns+g.TurnsAdded, calls+g.CallsAdded, net+g.NetAdded
			continue
		}
		g.Turns, g.Calls, g.Net = g.Turns-turns, g.Calls-calls, g.Net-net
		kept = append(kept, g)
	}
	c.Chosen = kept
}

// Words returns the reason as it is printed.
func (l *Left) Words() string {
	if l.By != "" {
		return l.Reason + " " + l.By
	}
	return l.Reason
}
