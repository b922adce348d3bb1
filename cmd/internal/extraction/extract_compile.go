package extraction

import (
	"cmp"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/recommend"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/agents"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/prefetch/stored"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace/holdout"
)

// addCompile adds the flags that say how meta-tools are compiled.
func addCompile(f *pflag.FlagSet) {
	f.Var(cli.NewChoice("patterns", "awo"), "algorithm", "how chains are found: patterns are chains wherever they start, with lists that are walked; awo is Algorithm 1 of the paper, bound to states")
	addExpand(f)
	f.Bool("assume-reads", true, "assume that a tool only reads if its definition or name says so and no rule is about it")
}

// AddUse adds the flags that say what is offered although it adds little or may be used in
// vain.
func AddUse(f *pflag.FlagSet) {
	f.Int("min-turns", 0, "with --select turns: how many calling turns each meta-tool must add to those before it; 0 is as many as --threshold")
	f.Bool("batches", false, "offer also what makes calls that do not need each other, as parallel calls would")
	f.Float64("write-precision", backtest.DefaultWritePrecision, "offer what writes beyond its first call only if the rest always followed, and the lower 95 % bound of that is this `SHARE`; 0 offers all")
}

// ByAuto tells apart agents of which there are tasks enough to say something of each.
const ByAuto = "auto"

// AddBy adds the flag that says whether agents are told apart.
func AddBy(f *pflag.FlagSet) {
	f.Var(cli.NewChoice(ByAuto, "agent", "none"), "by", fmt.Sprintf("compile agents that see other tools apart, and charge each only for what it is offered: auto those with at least %s, and the others together; agent each; none takes all for one", cli.CountOf(backtest.DefaultAgentTasks, "task")))
}

// AgentTasks returns from how many tasks on agents are told apart, negative for not.
func AgentTasks(by string) int {
	switch by {
	case "agent":
		return 1
	case "none":
		return -1
	}
	return backtest.DefaultAgentTasks
}

// check refuses options that mean nothing.
func (o *Options) check() error {
	switch {
	case o.Threshold < 1:
		return cli.Usagef("--threshold: %d is less than 1", o.Threshold)
	case o.MaxTools < 0:
		return cli.Usagef("--max-tools: %d is negative", o.MaxTools)
	case o.MinTurns < 0:
		return cli.Usagef("--min-turns: %d is negative", o.MinTurns)
	case !(o.WritePrecision >= 0 && o.WritePrecision <= 1):
		return cli.Usagef("--write-precision: %v is not a share from 0 to 1", o.WritePrecision)
	case !(o.Holdout >= 0 && o.Holdout < 1):
		return cli.Usagef("--holdout: %v is not a share from 0 to less than 1", o.Holdout)
	case !(o.Prefetch >= 0 && o.Prefetch < 1):
		return cli.Usagef("--prefetch: %v is not a share from 0 to less than 1", o.Prefetch)
	}
	return nil
}

// algorithm returns how chains are found: the preset decides.
func (o *Options) algorithm() string {
	if o.Preset == "awo" {
		return string(compile.AWO)
	}
	return o.Algorithm
}

// Compiler are the options of the compiler.
func (o *Options) Compiler(threshold, workers int) compile.Options {
	return compile.Options{
		Algorithm: compile.Algorithm(o.algorithm()), Workers: workers, DeclaredReads: !o.AssumeReads,
		Extract: candidate.Options{Threshold: threshold, AsPublished: o.Preset == "awo"},
		Bind:    bind.Options{Threshold: threshold},
	}
}

// Choose are the options of the choice.
func (o *Options) Choose(threshold int, meter *cost.Meter, workers int) backtest.ChooseOptions {
	out := backtest.ChooseOptions{
		Select: backtest.Selection(o.Select), MinTurns: cmp.Or(o.MinTurns, threshold), KeepMinTurns: o.MinTurns > 0, MaxTools: o.MaxTools,
		Batches: o.Batches, WritePrecision: o.WritePrecision, Meter: meter, Workers: workers,
	}
	if o.WritePrecision == 0 {
		out.WritePrecision = -1
	}
	if o.Preset == "awo" {
		out.Select, out.MinAgreement = backtest.SelectAll, -1
	}
	return out
}

// extractCompilation is what was compiled and chosen.
type extractCompilation struct {
	*compile.Compilation
	train     []*corpus.Run // compiled from
	test      []*corpus.Run // held out; nil for none
	choice    *backtest.Choice
	threshold int
	holdout   map[*bind.Definition]backtest.Agreement
	heldOut   int // trajectories
	served    served

	recommended *recommend.Result // nil if none was asked for
	none        bool              // no meta-tool is recommended

	both  bool           // it is recommended to prefetch beside meta-tools, for some agent
	reads []*stored.File // what to read ahead, for each agent, once it was learnt; nil for nothing

	agents *agents.List // nil where all are taken for one
	plans  []plan       // for each of several agents

	apart []recommend.Agent // each of several agents
}

// offered returns what is offered, in the order in which it was found.
func (c *extractCompilation) offered() []*bind.Definition {
	chosen := map[*bind.Definition]bool{}
	for _, g := range c.choice.Chosen {
		chosen[g.Definition] = true
	}
	var out []*bind.Definition
	for _, d := range c.Definitions {
		if chosen[d] {
			out = append(out, d)
		}
	}
	return out
}

// compileAndChoose compiles runs, chooses, and replays on what was held out.
func compileAndChoose(j *cli.Job, runs []*corpus.Run, set *rules.Set, meter *cost.Meter, o *Options) (*extractCompilation, error) {
	out := &extractCompilation{train: runs}
	if o.Holdout > 0 {
		split := holdout.ByTask(o.Holdout, j.Seed)
		out.train, out.test = backtest.Side(runs, split, holdout.Train), backtest.Side(runs, split, holdout.Test)
	}
	out.served = servedIn(out.train)
	if err := out.follow(j, set, meter, o); err != nil {
		return nil, err
	}
	out.threshold = o.Threshold
	for i := range out.plans {
		out.plans[i].threshold = cmp.Or(out.plans[i].threshold, out.threshold)
	}
	out.compile(j, set, o)
	if out.both {
		out.learnReads(j, set, meter, o)
	}
	out.choose(j, meter, o)
	defer out.choice.Settle()
	if o.Holdout > 0 {
		out.check(*o, j.Parallel())
	}
	return out, nil
}

// check replays on what was held out, and takes back what disagrees there.
func (c *extractCompilation) check(o Options, workers int) {
	// All that could be offered is replayed: what is withdrawn makes room for others.
	var could []*bind.Definition
	for _, d := range c.Definitions {
		if len(d.Refusals) == 0 {
			could = append(could, d)
		}
	}
	found := backtest.Replay(c.test, could, workers)
	c.holdout = map[*bind.Definition]backtest.Agreement{}
	for i, d := range could {
		c.holdout[d] = found.Agreements[i]
	}
	c.heldOut = found.Trajectories
	if o.Preset != "awo" {
		c.choice.Withdraw(c.holdout)
	}
}
