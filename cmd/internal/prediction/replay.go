// Package prediction is the commands that say the next call without a model: `awo
// replay`, which measures how often that would have been right, `awo snapshot`,
// which makes and shows what an agent loads, and `awo predict`, which uses it.
//
// In come traces, rules, adapters and snapshots; out go figures and snapshots.
// Package predict predicts, and what is kept in memory is its graph, and for a
// replay its turns.
package prediction

import (
	"math"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/predict"
	"github.com/awo-dev/awo/predict/effects"
	"github.com/awo-dev/awo/predict/replay"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/holdout"
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
	cli.CountTo(f, "order", predict.DefaultOrder, 1, predict.MaxOrder, "the longest context, in calls")
	cli.Amount(f, "half-life", 0, "half-life of a count in `DAYS`, back from the newest trajectory; 0 means no decay")
	f.Var(cli.NewChoice("read-only", "any"), "fire", "which tools the default predictor may call: those declared to read, or any")
	cli.Amount(f, "cost", 1, "what a wrong call costs, in turns of the model; a call is made where the saving outweighs it")
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
model. The default one only calls tools that are declared to read, by --rules, annotations,
or else a verb of reading in the name.

` + cli.FilesHelp,
		Example: `  awo replay traces/ --rules rules.yaml
  awo replay traces/ --kfold 5 --seed 1 --format json
  awo replay traces/ --exclude-tool think
  awo replay traces/ --prequential --gate open
  awo replay traces/ --recovery look_around --gate open
  awo replay inertia.awo today/`,
		GroupID: cli.GroupCompile,
	}
	cli.Uses(c, cli.UseTraces, cli.UseRules, cli.UseExclude)
	f := c.Flags()
	addInertia(f)
	cli.CountTo(f, "kfold", 5, 2, 1000, "parts that the tasks are divided into, each replayed by what the others teach")
	f.Bool("prequential", false, "predict each trajectory from those before it, then learn from it")
	f.Var(cli.NewChoice("default", "autotool", "open"), "gate", "when calls may be made without the model; open means always")
	f.String("recovery", "", "`TOOL` that AutoTool and the 3-gram call after two failures in a row")
	return cli.Work(a, c, runReplay)
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

// replayStudy is what is known of a replay while it goes on.
type replayStudy struct {
	j       *cli.Job
	o       *replayOptions
	effects *effects.Known
	adapter *predict.Adapter
	in      *cli.Intake // of what is replayed
	test    []*predict.Run
	options replay.Options
}

func studyReplay(j *cli.Job, o *replayOptions) (*replayStudy, error) {
	adapter, err := readAdapter(j, o.Adapter)
	if err != nil {
		return nil, err
	}
	s := &replayStudy{j: j, o: o, effects: effects.New(j.Set, true), adapter: adapter}
	s.options = replay.Options{
		Order: o.Order, Model: predict.ModelOptions{HalfLife: o.HalfLife},
		Predictor: predict.PredictorOptions{Effects: s.effects.Of, Any: o.Fire == "any", Fill: predict.FillOptions{Adapter: adapter}},
		Seed:      j.Seed,
	}
	if o.Recovery != "" {
		s.options.Recovery = trace.Intern(o.Recovery)
	}
	return s, nil
}

// takeSnapshot opens the first file if it is a snapshot, and returns the others.
func (s *replayStudy) takeSnapshot(files []string) ([]string, error) {
	if len(files) == 0 || filepath.Ext(files[0]) != snapshotExt {
		return files, nil
	}
	snapshot, err := predict.Open(files[0])
	if err != nil {
		return nil, err
	}
	s.options.Ready, s.options.Counts = snapshot.Model, snapshot.Graph
	if s.j.RuleFile == "" {
		s.options.Predictor.Effects = s.options.Ready.Effects()
	}
	if len(files) == 1 {
		return nil, cli.Usagef("a snapshot alone: name the traces to replay after it")
	}
	return files[1:], nil
}

// readAdapter reads adapter rules, nil if no file is named.
func readAdapter(j *cli.Job, file string) (*predict.Adapter, error) {
	if file == "" {
		return nil, nil
	}
	src, err := j.ReadFile(file)
	if err != nil {
		return nil, cli.FileProblem(file, err)
	}
	return predict.ParseAdapter(file, src)
}

// read reads runs, and keeps them: replaying looks at values again and again.
func (s *replayStudy) read(files []string) (runs []*predict.Run, err error) {
	in, err := s.j.Intake(files, trace.Options{})
	if err != nil {
		return nil, err
	}
	in.Follows = true
	s.in, in.Exclude = in, s.j.ExcludeTools()
	r := SnapshotReader{effects: s.effects, adapter: s.adapter}
	err = r.Read(s.j, in.All(), func(t *trace.Trajectory, o *predict.Observation) { runs = append(runs, predict.NewRun(t, o)) })
	in.Predicts()
	return runs, err
}

// play replays with options and returns the verdicts by predictor, and how it was
// split.
func (s *replayStudy) play(options replay.Options) map[string][]replay.Replayed {
	switch {
	case s.options.Ready != nil:
		return replay.Replay(nil, s.test, options)
	case s.o.Prequential:
		return s.prequential(options)
	}
	folds := s.folds()
	parts := make([]map[string][]replay.Replayed, folds.Len())
	s.j.Each()(folds.Len(), func(k int) {
		train, test := s.fold(folds, k)
		parts[k] = replay.Replay(train, test, options)
	})
	return joined(parts)
}

// joined puts the verdicts of parts one behind the other.
func joined(parts []map[string][]replay.Replayed) map[string][]replay.Replayed {
	all := map[string][]replay.Replayed{}
	for _, part := range parts {
		for name, runs := range part {
			all[name] = append(all[name], runs...)
		}
	}
	return all
}

func (s *replayStudy) folds() holdout.Folds {
	var tasks []string
	for _, r := range s.test {
		tasks = append(tasks, r.Task)
	}
	return holdout.NewFolds(tasks, s.o.KFold, s.j.Seed)
}

func (s *replayStudy) fold(folds holdout.Folds, k int) (train, test []*predict.Run) {
	for _, r := range s.test {
		if folds.Of(r.Task) == k {
			test = append(test, r.Fresh())
		} else {
			train = append(train, r.Fresh())
		}
	}
	return train, test
}

// prequential predicts trajectories from those before them, in steps of at most a
// twentieth of what was learnt so far.
func (s *replayStudy) prequential(options replay.Options) map[string][]replay.Replayed {
	all := map[string][]replay.Replayed{}
	for i := 0; i < len(s.test); {
		next := min(i+max(1, i/20), len(s.test))
		for name, runs := range replay.Replay(s.test[:i], s.test[i:next], options) {
			all[name] = append(all[name], runs...)
		}
		i = next
	}
	return all
}

// result computes everything that is printed.
func (s *replayStudy) result() *replayed {
	out := &replayed{figures: replayFigures{Input: s.in.JSON(), Split: s.split(), Effects: s.saysEffects()}}
	options, answers := s.options, s.answers()
	if answers {
		options.Alphas = sweptAlphas
	}
	all := s.play(options)
	for _, name := range replay.Predictors() {
		if len(all[name]) == 0 && len(s.test) > 0 {
			continue
		}
		out.addPredictor(name, all, *s.o, s.j.Seed, answers)
	}
	if !answers {
		return out
	}
	out.reliability = replay.Reliability(all[replay.PredictorDefault], 10)
	s.sweep(out, all)
	out.figures.Effects = s.saysEffects()
	return out
}

// answers reports whether turns that make no call are recorded anywhere.
func (s *replayStudy) answers() bool {
	for _, r := range s.test {
		for i := range r.Observation.Decisions {
			if r.Observation.Decisions[i].None() {
				return true
			}
		}
	}
	return false
}

func (s *replayStudy) split() replaySplit {
	tasks := map[string]bool{}
	for _, r := range s.test {
		tasks[r.Task] = true
	}
	out := replaySplit{Method: "kfold", Folds: s.o.KFold, Seed: s.j.Seed, Tasks: len(tasks), Replayed: len(s.test)}
	switch {
	case s.options.Ready != nil:
		out.Method, out.Folds = "snapshot", 0
	case s.o.Prequential:
		out.Method, out.Folds = "prequential", 0
	}
	return out
}

func (s *replayStudy) saysEffects() string {
	switch {
	case s.o.Fire == "any":
		return "any"
	case s.j.RuleFile != "":
		return "rules"
	case s.options.Ready != nil:
		return "snapshot"
	case s.effects.ByName():
		return "names"
	}
	return "annotations"
}

// sweptAlphas are the weights of AutoTool that are replayed beside the published one. Nothing is
// trained for them: a weight says only how candidates are scored.
var sweptAlphas = []float64{0, 0.3, 0.5, 0.7, 1}

// sweep adds the figures over thresholds, and over AutoTool's alpha.
func (s *replayStudy) sweep(out *replayed, all map[string][]replay.Replayed) {
	add := func(name string, runs []replay.Replayed, theta float64, alpha stat.Figure) {
		f := replay.Fire(runs, theta, s.o.gate(name))
		out.sweeps = append(out.sweeps, sweep{
			Predictor: name, Theta: theta, Alpha: alpha, Fired: f.Fired,
			Coverage: stat.Ratio(f.Fired, f.Turns, nothingHere), Precision: stat.Ratio(f.Right, f.Fired, neverFires), TurnsAvoided: f.Right,
		})
	}
	for _, name := range replay.Predictors() {
		if len(all[name]) == 0 {
			continue
		}
		alpha := stat.Unknown("only AutoTool's score has one")
		if name == replay.PredictorPreset {
			alpha = stat.Known(predict.DefaultAlpha)
		}
		for i := range 20 {
			add(name, all[name], float64(i)/20, alpha)
		}
	}
	for _, alpha := range sweptAlphas {
		runs, played := all[replay.PresetAt(alpha)]
		if !played {
			continue
		}
		for _, theta := range []float64{0.05, 0.1, 0.15, 0.2, 0.3} {
			add(replay.PredictorPreset, runs, math.Nextafter(theta, 1), stat.Known(alpha))
		}
	}
}
