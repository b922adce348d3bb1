package worth

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/extraction"
	"github.com/awo-dev/awo/cmd/internal/recommend"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/completeness"
)

// BacktestOptions are the flags of `awo backtest`.
type BacktestOptions struct {
	recommend.Options `mapstructure:",squash"`

	Split          string   `mapstructure:"split"`
	Folds          int      `mapstructure:"folds"`
	TestShare      float64  `mapstructure:"test-share"`
	Threshold      int      `mapstructure:"threshold"`
	AssumeReads    bool     `mapstructure:"assume-reads"`
	Select         string   `mapstructure:"select"`
	MaxTools       int      `mapstructure:"max-tools"`
	MinTurns       int      `mapstructure:"min-turns"`
	Batches        bool     `mapstructure:"batches"`
	WritePrecision float64  `mapstructure:"write-precision"`
	Techniques     []string `mapstructure:"techniques"`
	By             string   `mapstructure:"by"`
	Plots          string   `mapstructure:"plots"`
}

// UsualBacktest returns the options of a back-test of which no flag is given.
func UsualBacktest() BacktestOptions {
	return BacktestOptions{
		Split: string(backtest.SplitAuto), Folds: backtest.DefaultFolds, TestShare: backtest.DefaultShare,
		Threshold: candidate.DefaultThreshold, AssumeReads: true, Select: string(backtest.SelectTurns), WritePrecision: backtest.DefaultWritePrecision, Options: recommend.Options{Objective: string(backtest.ObjectiveMoney)}, By: extraction.ByAuto,
	}
}

// NewBacktest returns `awo backtest`.
func NewBacktest(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "backtest FILES...",
		Short: "Compile one part of the traces, and measure what that saves on the other",
		Long: `Compile one part of the traces, and measure on the other what the result would have saved
there: model calls, calling turns, tokens and money, for every technique.

Tasks are split, not trajectories: --split kfold tests on every task once, task holds out
--test-share of them, time tests on the last part. auto is kfold of up to 2,000 trajectories, and
else task. A meta-tool saves turns only where its replay makes the recorded calls and its
inputs were known before. All figures are upper bounds: an agent has to choose the meta-tool.

Agents that see other tools are compiled and tested apart (--by), and then added up.

` + cli.FilesHelp,
		Example: `  awo backtest traces/
  awo backtest traces/ --rules rules.yaml --split task --test-share 0.3
  awo backtest traces/ --techniques none,awo,patterns --format json
  awo backtest traces/ --plots plots/`,
		GroupID: cli.GroupCompile,
	}
	cli.Uses(c, cli.UseTraces, cli.UseRules, cli.UsePrices, cli.UseExclude)
	f := c.Flags()
	f.Var(cli.NewChoice("auto", "kfold", "task", "time"), "split", "how the traces are split")
	cli.Count(f, "folds", backtest.DefaultFolds, 2, "with --split kfold: how many parts")
	cli.Share(f, "test-share", backtest.DefaultShare, true, "with --split task or time: `SHARE` that is tested on")
	cli.Count(f, "threshold", candidate.DefaultThreshold, 1, "how many trajectories must follow a chain")
	f.Bool("assume-reads", true, "take a tool to only read if its name says so, and neither a rule nor its definition is about it")
	f.Var(cli.NewChoice("turns", "net", "all"), "select", "which meta-tools are offered, as in awo extract")
	cli.Count(f, "max-tools", 0, 0, "offer at most this many meta-tools; 0 means no limit")
	extraction.AddUse(f)
	extraction.AddWeighed(f, "none")
	extraction.AddBy(f)
	f.StringSlice("techniques", nil, "measure only these techniques; none is always there")
	f.String("plots", "", "draw the figures into this `FOLDER`, as SVG and PDF")
	return cli.Work(a, c, backTest)
}

// techniques returns the techniques asked for.
func (o *BacktestOptions) techniques() ([]backtest.Technique, error) {
	if len(o.Techniques) == 0 {
		return backtest.Techniques, nil
	}
	var names []string
	known := slices.Concat(backtest.Techniques, backtest.Bounds)
	for _, t := range known {
		names = append(names, t.Name)
	}
	for _, name := range o.Techniques {
		if !slices.Contains(names, name) {
			if near := diag.Nearest(name, names); near != "" {
				return nil, cli.Usagef("--techniques: there is not a technique %q; did you mean %s?", name, near)
			}
			return nil, cli.Usagef("--techniques: there is not a technique %q", name)
		}
	}
	var out []backtest.Technique
	for _, t := range known {
		if t.Name == "none" || slices.Contains(o.Techniques, t.Name) {
			out = append(out, t)
		}
	}
	return out, nil
}

// BacktestFindings is what `awo backtest` found.
type BacktestFindings struct {
	options BacktestOptions
	result  *backtest.Result
}

func backTest(j *cli.Job, o BacktestOptions, files []string) error {
	if _, err := o.techniques(); err != nil {
		return err
	}
	meter := j.Meter()
	in, err := j.Intake(files, trace.Options{})
	if err != nil {
		return err
	}
	in.Needs = []string{completeness.CapabilitySequences, completeness.CapabilityTurns, completeness.CapabilityDataflow}
	in.Exclude = j.ExcludeTools()
	in.Findings, in.Follows = j.NewFindings(meter), true
	mined, err := in.Load(j.Set)
	if err != nil {
		return err
	}
	f, err := BackTest(j, in, mined.Runs, j.Set, meter, o)
	if err != nil {
		return err
	}
	if o.Plots != "" {
		if err := drawBacktest(j, f, o.Plots); err != nil {
			return err
		}
	}
	out := f.Backtest(in)
	d := f.document(in, out)
	if out.Recommendation != nil && out.Recommendation.Kind == backtest.Nothing {
		d.Next = []string{j.Then(files, "what is wrong, and what to do about it", "findings", "{}")}
	} else {
		d.Next = []string{j.Then(files, "what is recommended, written for an agent", append([]string{"extract", "{}", "--out", "tools"}, o.Arguments()...)...)}
	}
	return j.Result(d)
}

// BackTest back-tests runs of what in has read.
func BackTest(j *cli.Job, in *cli.Intake, runs []*corpus.Run, set *rules.Set, meter *cost.Meter, o BacktestOptions) (*BacktestFindings, error) {
	techniques, err := o.techniques()
	if err != nil {
		return nil, err
	}
	meter, o.IsFixed = j.Weighing(meter, in.Findings.List())
	shared := extraction.Options{AssumeReads: o.AssumeReads, Select: o.Select, MaxTools: o.MaxTools, MinTurns: o.MinTurns, Batches: o.Batches, WritePrecision: o.WritePrecision}
	options := backtest.Options{
		Rules: set, Compile: shared.Compiler(o.Threshold, j.Parallel()), Choose: shared.Choose(o.Threshold, meter, j.Parallel()),
		By: backtest.SplitBy(o.Split), Folds: o.Folds, Share: o.TestShare, Seed: j.Seed,
		Techniques: techniques, Meter: meter, Workers: j.Parallel(), AgentTasks: extraction.AgentTasks(o.By),
		Progress: func(done, of int, next string) {
			j.Log.Debug("back-test", "step", done, "of", of, "next", next)
			if of > 0 {
				next = fmt.Sprintf("%s (%d of %d)", next, min(done+1, of), of)
			}
			j.Progress.Step(next, done, of)
		},
	}
	if o.Objective != "none" {
		if options.Recommend, err = o.Weigh(); err != nil {
			return nil, err
		}
	}
	f := &BacktestFindings{options: o}
	if f.result, err = backtest.Run(runs, options); err != nil {
		return nil, splitProblem(err)
	}
	if err := in.Refuse(set); err != nil {
		return nil, err
	}
	j.Progress.Step("", 0, 0)
	return f, nil
}

// splitProblem says that --split time cannot be done with these traces.
func splitProblem(err error) error {
	if problem, ok := errors.AsType[*diag.Error](err); ok && problem.Pos.File == "" && problem.Code != cli.CodeNoTrajectories {
		named := *problem
		named.Pos.File = "--split time"
		return &named
	}
	return err
}
