package backtest

import (
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/trace"
)

// lazyRegistration offers names of tools, and definitions when they are needed.
var lazyRegistration = Technique{
	Name: "lazy-registration", Doc: "definitions only of the tools that are used, each after a registration (EcoAct)",
	Train: func(p *Part) (Trained, error) { return &lazyTools{meter: p.meter}, nil },
}

// lazyTools simulates lazy registration, with definitions appended as results.
type lazyTools struct {
	meter *cost.Meter
	// preloaded are tools whose definitions are there from the start, for a
	// trajectory; nil for none.
	preloaded func(t *trace.Trajectory) []trace.Name
	notes     []string
}

// Find does nothing: registrations are worked out with their tokens.
func (*lazyTools) Find(*Case) *Finding { return &Finding{} }

// Saving simulates a trajectory. Where its definitions are not recorded, or its
// recorded input is smaller than they are, nothing is saved.
func (l *lazyTools) Saving(c *Case, f *Finding) cost.Totals {
	a, t := c.Account, c.Trajectory
	if a == nil || len(t.Tools) == 0 || len(t.Turns) == 0 || misfits(a) {
		return cost.Totals{}
	}
	set, use, index := lazyUse(l.meter, t)
	if l.preloaded != nil {
		for _, name := range l.preloaded(t) {
			if tool, offered := index[name]; offered {
				use.Preloaded = append(use.Preloaded, tool)
			}
		}
	}
	lazy := a.Lazy(set, use, cost.LazyOptions{Placement: cost.PlacementResult})
	f.Used, f.Added = true, lazy.Registrations
	return a.Total().Less(lazy.Totals)
}

// Summary has nothing to tell of meta-tools.
func (l *lazyTools) Summary() Learnt { return Learnt{Notes: l.notes} }
