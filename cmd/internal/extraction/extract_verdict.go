package extraction

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/recommend"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/predict/effects"
	"github.com/awo-dev/awo/prefetch/learn"
	"github.com/awo-dev/awo/rules"
)

// deciding lets a command line that says what is offered ask for no verdict: also where
// it says what is the default.
func deciding(c *cobra.Command) *cobra.Command {
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		says := func(name string) bool { return c.Flags().Changed(name) }
		if !says("verdict") && !says("objective") && slices.ContainsFunc([]string{"threshold", "select", "algorithm", "preset", "max-tools", "min-turns", "batches", "write-precision"}, says) {
			if err := c.Flags().Set("verdict", "never"); err != nil {
				return err
			}
		}
		return run(c, args)
	}
	return c
}

// decided reports whether an option says what is offered.
func (o *Options) decided() bool {
	return o.Threshold != candidate.DefaultThreshold || o.Select != string(backtest.SelectTurns) || o.algorithm() != string(compile.Patterns) ||
		o.MaxTools != 0 || o.MinTurns != 0 || o.Batches || o.WritePrecision != backtest.DefaultWritePrecision
}

// follow back-tests the runs if that is wanted, and sets the options to what is
// recommended.
func (c *extractCompilation) follow(j *cli.Job, set *rules.Set, meter *cost.Meter, o *Options) error {
	wanted := o.Verdict == "always" || o.Verdict != "never" && !o.decided()
	if !wanted && o.Select != string(backtest.SelectNet) {
		return nil // what a definition costs decides nothing
	}
	c.tellApart(o.By)
	if c.agents != nil {
		for i := range c.agents.Agents {
			c.plans = append(c.plans, o.planFor(&c.agents.Agents[i], o.Threshold))
		}
	}
	if !wanted {
		return nil
	}
	r, err := backtest.Run(c.train, backtest.Options{
		Rules: set, Compile: o.Compiler(candidate.DefaultThreshold, j.Parallel()), Choose: o.Choose(candidate.DefaultThreshold, meter, j.Parallel()),
		Techniques: backtest.ForRecommendation()[:1], Recommend: &backtest.RecommendOptions{Objective: backtest.Objective(o.Objective)},
		Declared: func() backtest.Declarations { return effects.New(set, true) },
		Meter:    meter, Seed: j.Seed, Workers: j.Parallel(), AgentTasks: AgentTasks(o.By),
	})
	if err != nil || r.Recommendation == nil {
		return err
	}
	c.recommended, c.apart = recommend.Of(r), cli.Map(r.Agents, recommend.AgentOf)
	if v := r.Recommendation; v.Unknown != "" || v.TooFew {
		return nil // too little to say: what could be offered is shown
	}
	if len(r.Agents) > 0 {
		for i := range c.plans {
			p, v := &c.plans[i], r.Agents[i].Recommendation
			if p.none = v.Way.T == 0; !p.none {
				p.threshold, p.selection = v.Way.T, v.Objective.Selection()
			}
			if o.Prefetch == learn.DefaultThreshold {
				p.prefetch = v.Way.P
			}
			c.both = c.both || v.Way.Kind == backtest.Both
		}
		return nil
	}
	way := r.Recommendation.Way
	if o.Prefetch == learn.DefaultThreshold {
		o.Prefetch = way.P
	}
	if c.none = way.T == 0; !c.none {
		c.both = way.Kind == backtest.Both
		o.Select, o.Threshold = string(r.Recommendation.Objective.Selection()), way.T
	}
	return nil
}
