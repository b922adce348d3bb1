package backtest

import (
	"slices"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/replay"
)

// Replayed is what a replay of meta-tools showed.
type Replayed struct {
	Agreements   []Agreement // by meta-tool
	Trajectories int
}

// Replay replays meta-tools at all places of runs where they would save a
// turn.
func Replay(runs []*corpus.Run, definitions []*bind.Definition, workers int) *Replayed {
	tools := make([]*metatool.Tool, len(definitions))
	for i, d := range definitions {
		tools[i] = &d.Tool
	}
	finder := replay.NewFinder(tools)
	out := &Replayed{Agreements: make([]Agreement, len(tools)), Trajectories: len(runs)}
	for places := range par.Map(max(workers, 1), slices.Values(runs), func(r *corpus.Run) []replay.Place {
		return finder.Use(r.Trajectory, r.Marks, r.Flow).Places
	}) {
		for i := range places {
			out.Agreements[places[i].Tool].add(&places[i])
		}
	}
	return out
}

func (a *Agreement) add(p *replay.Place) {
	if p.Across { // only those that agree are places
		return
	}
	if p.Replay.NotComparable {
		a.NotComparable++
		return
	}
	a.Places++
	if p.Replay.Exact {
		a.Exact++
	}
	if p.Replay.Saves {
		a.Saves++
	}
}

// Withdraw leaves out what disagrees in a replay on other traces, and chooses anew
// among the rest: what a withdrawn meta-tool would have saved others may save, also
// such as were left out beside it. What agreements say nothing of is taken to agree.
func (c *Choice) Withdraw(agreements map[*bind.Definition]Agreement) {
	if c.parts != nil {
		for _, part := range c.parts {
			part.Withdraw(agreements)
		}
		c.combine()
		return
	}
	x := c.chooser
	for _, it := range x.items {
		a, ok := agreements[it.definition]
		if ok && !it.cannot && !a.Agrees(c.Options.MinAgreement) {
			it.cannot, it.reason = true, ReasonDisagrees
		}
		it.chosen, it.by = false, ""
		if !it.cannot {
			it.reason = ""
		}
	}
	clear(x.value)
	c.Chosen, c.Left, c.Money = nil, nil, nil
	x.run()
	x.count()
}

// Words returns the reason as it is printed.
func (l *Left) Words() string {
	if l.By != "" {
		return l.Reason + " " + l.By
	}
	return l.Reason
}
