// Package prediction is the commands that say the next call without a model: `awo
// replay`, which measures how often that would have been right, `awo snapshot`,
// which makes and shows what an agent loads, and `awo predict`, which uses it.
//
// In come traces, rules, adapters and snapshots; out go figures and snapshots.
// Package inertia predicts, and what is kept in memory is its graph, and for a
// replay its turns.
package prediction

import (
	"math"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/predict"
	"github.com/awo-dev/awo/predict/replay"
)

// replayOptions are the flags of `awo replay`.
type replayOptions struct {
	inertiaOptions `mapstructure:",squash"`
	KFold          int    `mapstructure:"kfold"`
	Prequential    bool   `mapstructure:"prequential"`
	Gate           string `mapstructure:"gate"`
	Recovery       string `mapstructure:"recovery"`
}

// inertiaOptions say how graphs are built and which calls may be made.
type inertiaOptions struct {
	Adapter  string  `mapstructure:"adapter"`
	Order    int     `mapstructure:"order"`
	HalfLife float64 `mapstructure:"half-life"`
	Fire     string  `mapstructure:"fire"`
	Cost     float64 `mapstructure:"cost"`
}

func addInertia(f *pflag.FlagSet) {
	f.String("adapter", "", "`FILE` with the environment's key state and text actions")
	f.Int("order", predict.DefaultOrder, "the longest context, in calls")
	f.Float64("half-life", 0, "half-life of a count in `DAYS`, back from the newest trajectory; 0 means no decay")
	f.Var(cli.NewChoice("read-only", "any"), "fire", "which tools the default predictor may call: those declared to read, or any")
	f.Float64("cost", 1, "what a wrong call costs, in turns of the model; a call is made where the saving outweighs it")
}

func (o *inertiaOptions) check() error {
	switch {
	case o.Order < 1 || o.Order > predict.MaxOrder:
		return cli.Usagef("--order: %d is not in 1..%d", o.Order, predict.MaxOrder)
	case !(o.HalfLife >= 0) || math.IsInf(o.HalfLife, 0):
		return cli.Usagef("--half-life: %v is not a number of days", o.HalfLife)
	case !(o.Cost >= 0) || math.IsInf(o.Cost, 0):
		return cli.Usagef("--cost: %v is not a number of turns", o.Cost)
	}
	return nil
}

// NewReplay returns `awo replay`.
func NewReplay(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "replay [SNAPSHOT] FILES...",
		Short: "Measure how many model turns predicted calls would have saved",
		Long: `Play recorded trajectories back and predict every turn of the model from what came
before: which call it makes, with which arguments, or none. A turn is avoided if the call made
without the model is its only one, with the same arguments; a wrong call is charged.

What is replayed is never trained on: --kfold N leaves out a part of the tasks in turn,
--prequential predicts each trajectory from those before it. A snapshot (a file .awo) as the
first file is replayed as it is.

Compared are the default predictor, AutoTool as published (arXiv 2511.14650), and a 3-gram
model with and without recovery. The default one only calls tools that are declared to read,
by --rules, annotations, or else a verb of reading in the name.

` + cli.FilesHelp,
		Example: `  awo replay traces/ --rules rules.yaml
  awo replay traces/ --kfold 5 --seed 1 --format json
  awo replay traces/ --exclude-tool think
  awo replay traces/ --prequential --gate open
  awo replay inertia.awo today/`,
		GroupID: cli.GroupCompile,
	}
	cli.Uses(c, cli.UseTraces, cli.UseRules, cli.UseExclude)
	f := c.Flags()
	addInertia(f)
	f.Int("kfold", 5, "parts that the tasks are divided into, each replayed by what the others teach")
	f.Bool("prequential", false, "predict each trajectory from those before it, then learn from it")
	f.Var(cli.NewChoice("default", "autotool", "open"), "gate", "when calls may be made without the model; open means always")
	f.String("recovery", "", "`TOOL` that the 3-gram with recovery calls after two failures in a row")
	return cli.Work(a, c, runReplay)
}

func (o *replayOptions) check() error {
	if err := o.inertiaOptions.check(); err != nil {
		return err
	}
	if o.KFold < 2 {
		return cli.Usagef("--kfold: %d is less than 2", o.KFold)
	}
	return nil
}

// gate returns what a predictor's calls must pass.
func (o *replayOptions) gate(predictor string) predict.Gate {
	switch o.Gate {
	case "open":
		return predict.Gate{Open: true}
	case "autotool":
		return predict.Gate{Preset: true}
	}
	return replay.GateOf(predictor)
}

func runReplay(j *cli.Job, o replayOptions, files []string) error {
	if err := o.check(); err != nil {
		return err
	}
	s, err := studyReplay(j, &o)
	if err != nil {
		return err
	}
	files, err = s.takeSnapshot(files)
	if err != nil {
		return err
	}
	runs, err := s.read(files)
	if err != nil {
		return err
	}
	s.test = runs
	return s.print(files)
}

// print prints what replaying came to.
func (s *replayStudy) print(files []string) error {
	d := s.document(s.result())
	d.Next = []string{s.j.Then(files, "predictions for an agent to load", "snapshot", "build", "{}", "--out", "inertia.awo")}
	return s.j.Result(d)
}
