package backtest

import (
	"fmt"

	"github.com/awo-dev/awo/catalog"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/toolrank"
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

// subset registers from the start the tools that the task's words ask for, and the
// rest when it is used.
var subset = Technique{
	Name: "subset", Doc: "lazy registration, with the tools that a learned ranker expects of the task registered from the start (NaviAgent)",
	Train: func(p *Part) (Trained, error) { return p.trainSubset() },
}

// subsetRecall is the share of the tools that a task uses that is asked for.
const subsetRecall = .95

// trainSubset learns which tools tasks need from the training part.
func (p *Part) trainSubset() (*lazyTools, error) {
	var tools catalog.Builder
	var tasks []toolrank.Task
	for t, err := range p.Source() {
		if err != nil {
			return nil, err
		}
		tools.Observe(t)
		tasks = append(tasks, toolrank.TaskOf(t))
	}
	out := &lazyTools{meter: p.meter}
	c, _ := tools.Catalog()
	toolrank.Scenarios(tasks)
	corpus := toolrank.NewCorpus(c, tasks, nil)
	if corpus.Groups() < 2 {
		out.notes = []string{"fewer than two groups of tasks use tools: no subset is learned, and every tool is registered when it is used."}
		return out, nil
	}
	learned, _ := corpus.Train(toolrank.Options{Recall: subsetRecall, Seed: p.Options.Seed}, false)
	out.preloaded = func(t *trace.Trajectory) []trace.Name {
		var names []trace.Name
		for _, one := range learned.Ranker.Rank(toolrank.TaskOf(t).Text)[:learned.K] {
			names = append(names, trace.Intern(one.Tool))
		}
		return names
	}
	out.notes = []string{fmt.Sprintf("%d of %d tools are registered from the start, other ones for each task: the fewest that hold %.3g of what training tasks use, with a lower bound on tasks left out", learned.K, len(c.Tools), subsetRecall)}
	return out, nil
}
