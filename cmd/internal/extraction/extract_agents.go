package extraction

import (
	"slices"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/agents"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/rules"
)

// plan is what one of several agents is offered.
type plan struct {
	agent     *agents.Agent
	threshold int
	selection backtest.Selection
	maxTools  int
	none      bool    // nothing
	prefetch  float64 // P(use) from which on reads are made ahead; 0 for none
}

// planFor is what an agent is offered if no verdict says anything else.
func (o *Options) planFor(a *agents.Agent, threshold int) plan {
	return plan{agent: a, threshold: threshold, selection: backtest.Selection(o.Select), maxTools: o.MaxTools, prefetch: o.Prefetch}
}

// tellApart finds the agents.
func (c *extractCompilation) tellApart(by string) {
	var found agents.Finder
	for _, r := range c.train {
		found.Add(r.Trajectory)
	}
	if least := AgentTasks(by); least > 0 {
		if c.agents = found.List(least); len(c.agents.Agents) < 2 {
			c.agents = nil
		}
	}
}

// compile compiles at the thresholds of all plans. What tools an agent calls no other one
// does, but for those of lists of definitions: what is compiled of all traces is what
// would be compiled of its own.
func (c *extractCompilation) compile(j *cli.Job, set *rules.Set, o *Options) {
	thresholds := []int{c.threshold}
	for _, p := range c.plans {
		if !p.none && !slices.Contains(thresholds, p.threshold) {
			thresholds = append(thresholds, p.threshold)
		}
	}
	list := compile.At(c.train, set, o.Compiler(c.threshold, j.Parallel()), thresholds)
	c.Compilation = list[0]
	if len(list) == 1 {
		return
	}
	// Of each definition that is there which its agent's threshold gives; names are those
	// of one compilation only.
	taken := map[string]bool{}
	var all []*bind.Definition
	for i, of := range list {
		for _, d := range of.Definitions {
			at := slices.IndexFunc(c.plans, func(p plan) bool { return p.agent.Sees(toolsOf(d)) })
			if wants := at >= 0 && !c.plans[at].none && c.plans[at].threshold != thresholds[i]; wants || taken[d.Name] {
				continue
			}
			taken[d.Name] = true
			all = append(all, d)
		}
	}
	c.Definitions = all
}

func toolsOf(d *bind.Definition) []string {
	tools := make([]string, len(d.Steps))
	for i := range d.Steps {
		tools[i] = d.Steps[i].Tool
	}
	return tools
}

// choose decides what is offered, to each of several agents for itself.
func (c *extractCompilation) choose(j *cli.Job, meter *cost.Meter, o *Options) {
	if c.plans == nil {
		options := o.Choose(c.threshold, meter, j.Parallel())
		options.None, options.Beside = c.none, c.beside(0)
		c.choice = backtest.Choose(c.train, c.Definitions, options)
		return
	}
	list := make([]backtest.ForAgent, len(c.plans))
	for i, p := range c.plans {
		options := o.Choose(p.threshold, meter, j.Parallel())
		options.Select, options.MaxTools, options.None, options.Beside = p.selection, p.maxTools, p.none, c.beside(i)
		list[i] = backtest.ForAgent{Runs: backtest.OfAgent(c.train, c.agents, i), Options: options}
	}
	for _, d := range c.Definitions {
		some := false
		for i, p := range c.plans {
			if p.agent.Sees(toolsOf(d)) {
				list[i].Definitions, some = append(list[i].Definitions, d), true
			}
		}
		if !some {
			list[0].Definitions = append(list[0].Definitions, d)
		}
	}
	c.choice = backtest.ChooseApart(list)
}
