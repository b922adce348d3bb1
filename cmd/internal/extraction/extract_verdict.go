package extraction

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/verdict"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/inertia/effects"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/prefetch/learn"
	"github.com/awo-dev/awo/rules"
)

// verdictCalls is how many calls are back-tested unasked before meta-tools are made.
const verdictCalls = 10_000

// deciding lets a command line that says what is offered ask for no verdict: also where
// it says what is the default.
func deciding(c *cobra.Command) *cobra.Command {
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		says := func(name string) bool { return c.Flags().Changed(name) }
		if !says("verdict") && !says("objective") && slices.ContainsFunc([]string{"threshold", "select", "algorithm", "preset", "max-tools", "token-budget", "min-turns", "batches", "write-precision"}, says) {
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
	return o.Threshold != cli.OrAuto(candidate.DefaultThreshold) || o.Select != string(backtest.SelectTurns) || o.algorithm() != string(compile.Patterns) ||
		o.MaxTools != 0 || o.TokenBudget != 0 || o.MinTurns != 0 || o.Batches || o.WritePrecision != backtest.DefaultWritePrecision
}

// follow back-tests the runs if that is wanted, and sets the options to what the
// verdict is.
func (c *extractCompilation) follow(j *cli.Job, set *rules.Set, meter *cost.Meter, o *Options) error {
	wanted := o.Verdict == "always" || o.Verdict != "never" && !o.decided()
	if !wanted && o.Select != string(backtest.SelectNet) {
		return nil // what a definition costs decides nothing
	}
	calls := c.tellApart(o.By)
	if c.agents != nil {
		for i := range c.agents.Agents {
			c.plans = append(c.plans, o.planFor(&c.agents.Agents[i], int(o.Threshold)))
		}
	}
	if !wanted {
		return nil
	}
	if c.tooMany = o.Verdict != "always" && calls > verdictCalls; c.tooMany {
		return nil
	}
	r, err := backtest.Run(c.train, backtest.Options{
		Rules: set, Compile: o.Compiler(candidate.DefaultThreshold, j.Parallel()), Choose: o.Choose(candidate.DefaultThreshold, meter, j.Parallel()),
		Techniques: backtest.ForVerdict(), Verdict: &backtest.VerdictOptions{Objective: backtest.Objective(o.Objective)},
		Declared: func() backtest.Declarations { return effects.New(set, true) },
		Meter:    meter, Seed: o.Seed, Workers: j.Parallel(), AgentTasks: AgentTasks(o.By),
	})
	if err != nil || r.Verdict == nil {
		return err
	}
	c.verdict, c.verdicts = verdict.Of(r), cli.Map(r.Agents, verdict.AgentOf)
	if r.Verdict.Unknown != "" {
		return nil // too little to say: what could be offered is shown
	}
	if len(r.Agents) > 0 {
		c.followApart(r, o)
		return nil
	}
	cell := r.Verdict.Cell
	if o.Prefetch == learn.DefaultThreshold {
		o.Prefetch = cell.Options.Use
	}
	if cell.Options.Select == "" {
		c.none = true
		return nil
	}
	c.both = cell.Action == backtest.DoBoth
	o.Select, o.Threshold, o.MaxTools = string(cell.Options.Select), cli.OrAuto(cell.Options.Threshold), cell.Options.MaxTools
	return nil
}

// followApart follows the verdict on each of several agents.
func (c *extractCompilation) followApart(r *backtest.Result, o *Options) {
	for i := range c.plans {
		p, v := &c.plans[i], r.Agents[i].Verdict
		if o.Prefetch == learn.DefaultThreshold {
			p.prefetch = v.Cell.Options.Use
		}
		if v.Cell.Options.Select == "" {
			p.none = true
			continue
		}
		c.both = c.both || v.Cell.Action == backtest.DoBoth
		p.threshold, p.selection, p.maxTools = v.Cell.Options.Threshold, v.Cell.Options.Select, v.Cell.Options.MaxTools
	}
}
