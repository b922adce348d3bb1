package backtest

import (
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/trace"
)

// register offers names of tools, and definitions when they are needed.
var register = Technique{
	Name: "register", Doc: "definitions only of the tools that are used, each after a registration (EcoAct)",
	Train: func(p *Part) Trained { return &lazyTools{meter: p.meter} },
}

// lazyTools simulates lazy registration, with definitions appended as results.
type lazyTools struct{ meter *cost.Meter }

// Find does nothing: registrations are worked out with their tokens.
func (*lazyTools) Find(*Case) *Finding { return &Finding{} }

// Saving simulates a trajectory. Where its definitions are not recorded, or its
// recorded input is smaller than they are, nothing is saved.
func (l *lazyTools) Saving(c *Case, f *Finding) cost.Totals {
	a, t := c.Account, c.Trajectory
	if a == nil || len(t.Tools) == 0 || len(t.Turns) == 0 || a.Misfits() {
		return cost.Totals{}
	}
	set, use := lazyUse(l.meter, t)
	lazy := a.Lazy(set, use, cost.LazyOptions{Placement: cost.PlacementResult})
	f.Used, f.Added = true, lazy.Registrations
	return a.Total().Less(lazy.Totals)
}

// Summary has nothing to tell of meta-tools.
func (*lazyTools) Summary() Learnt { return Learnt{} }

// lazyUse returns the tools that a trajectory is offered and which turns use them.
func lazyUse(meter *cost.Meter, t *trace.Trajectory) (*cost.Toolset, cost.LazyUse) {
	set, index := meter.Toolset(t.Tools)
	use := cost.LazyUse{Uses: make([][]int32, len(t.Turns))}
	for i := range t.Calls {
		call := &t.Calls[i]
		if tool, offered := index[call.Tool]; offered && call.Origin == trace.OriginModel && call.Turn >= 0 && call.Turn < len(t.Turns) {
			use.Uses[call.Turn] = append(use.Uses[call.Turn], tool)
		}
	}
	return set, use
}
