package extraction

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/recommend"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/agents"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/prefetch/learn"
	"github.com/awo-dev/awo/prefetch/stored"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace/holdout"
)

// addCompile adds the flags that say how meta-tools are compiled.
func addCompile(f *pflag.FlagSet) {
	f.Var(cli.NewChoice("patterns", "awo"), "algorithm", "how chains are found: patterns are chains wherever they start, with lists that are walked; awo is Algorithm 1 of the paper, bound to states")
	addExpand(f)
	f.Bool("assume-reads", true, "take a tool to only read if its name says so, and neither a rule nor its definition is about it")
}

// AddUse adds the flags that say what is offered although it adds little or may be used in
// vain.
func AddUse(f *pflag.FlagSet) {
	cli.Count(f, "min-turns", 0, 0, "with --select turns: how many calling turns each meta-tool must add to those before it; 0 is as many as --threshold")
	f.Bool("batches", false, "offer also what makes calls that do not need each other, as parallel calls would")
	cli.Share(f, "write-precision", backtest.DefaultWritePrecision, false, "offer what writes beyond its first call only if the rest always followed, and the lower 95 % bound of that is this `SHARE`; 0 offers all")
}

// ByAuto tells apart agents of which there are tasks enough to say something of each.
const ByAuto = "auto"

// AddWeighed adds the flags that say what a recommendation weighs, with what else an objective
// may be.
func AddWeighed(f *pflag.FlagSet, objectives ...string) {
	f.Var(cli.NewChoice(append([]string{"money", "turns", "time"}, objectives...)...), "objective", "what the recommendation weighs; money is tokens where most turns have no price")
	f.StringSlice("ways", nil, "recommend one of these `KINDS` (prefetch, meta-tools, both, register), also where it needs more model calls")
}

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
	ways        []emit.Way        // that are recommended, for the manifest
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

// deciding lets a command line that says what is offered ask for no verdict: also where
// it says what is the default.
func deciding(c *cobra.Command) *cobra.Command {
	run := c.RunE
	c.RunE = func(c *cobra.Command, args []string) error {
		says := func(name string) bool { return c.Flags().Changed(name) }
		if !says("verdict") && !says("objective") && !says("ways") && slices.ContainsFunc([]string{"threshold", "select", "algorithm", "preset", "max-tools", "min-turns", "batches", "write-precision"}, says) {
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
	weigh, err := o.Weigh()
	if err != nil {
		return err
	}
	r, err := backtest.Run(c.train, backtest.Options{
		Rules: set, Compile: o.Compiler(candidate.DefaultThreshold, j.Parallel()), Choose: o.Choose(candidate.DefaultThreshold, meter, j.Parallel()),
		Techniques: backtest.ForRecommendation()[:1], Recommend: weigh,
		Meter: meter, Seed: j.Seed, Workers: j.Parallel(), AgentTasks: AgentTasks(o.By),
	})
	if err != nil || r.Recommendation == nil {
		return err
	}
	c.recommended, c.apart = recommend.Of(r, o.IsFixed), recommend.AgentsOf(r, o.IsFixed)
	if v := r.Recommendation; v.Unknown != "" || v.TooFew {
		return nil // too little to say: what could be offered is shown
	}
	c.note("", r.Recommendation)
	if len(r.Agents) > 0 {
		c.ways = nil
		for i := range c.plans {
			p, v := &c.plans[i], r.Agents[i].Recommendation
			c.note(r.Agents[i].Key(), v)
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

// note keeps for the manifest what is recommended for an agent.
func (c *extractCompilation) note(agent string, v *backtest.Recommendation) {
	c.ways = append(c.ways, emit.Way{Agent: agent, Kind: string(v.Way.Kind), P: v.Way.P, T: v.Way.T})
}
