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
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/inertia"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/trace"
)

// replayOptions are the flags of `awo replay`.
type replayOptions struct {
	cli.InputOptions `mapstructure:",squash"`
	inertiaOptions   `mapstructure:",squash"`
	Train            []string `mapstructure:"train"`
	Test             []string `mapstructure:"test"`
	KFold            int      `mapstructure:"kfold"`
	Prequential      bool     `mapstructure:"prequential"`
	Theta            float64  `mapstructure:"theta"`
	Alpha            float64  `mapstructure:"alpha"`
	Gate             string   `mapstructure:"gate"`
	Recovery         string   `mapstructure:"recovery"`
	LearningCurve    bool     `mapstructure:"learning-curve"`
	Ablation         bool     `mapstructure:"ablation"`
	Plots            string   `mapstructure:"plots"`
}

// inertiaOptions say how graphs are built and which calls may be made.
type inertiaOptions struct {
	Rules    string  `mapstructure:"rules"`
	Adapter  string  `mapstructure:"adapter"`
	Order    int     `mapstructure:"order"`
	HalfLife float64 `mapstructure:"half-life"`
	Fire     string  `mapstructure:"fire"`
	Cost     float64 `mapstructure:"cost"`
}

func addInertia(f *pflag.FlagSet) {
	cli.AddRules(f)
	f.String("adapter", "", "`FILE` with the environment's key state and text actions")
	f.Int("order", inertia.DefaultOrder, "the longest context, in calls")
	f.Float64("half-life", 0, "`DAYS` after which a count is worth half, back from the newest trajectory; 0 lets none decay")
	f.Var(cli.NewChoice("read-only", "any"), "fire", "which tools the default predictor may call: those declared to read, or any")
	f.Float64("cost", 1, "what a wrong call costs, in turns of the model; a call is made where the saving outweighs it")
}

func (o *inertiaOptions) check() error {
	switch {
	case o.Order < 1 || o.Order > inertia.MaxOrder:
		return cli.Usagef("--order: %d is not in 1..%d", o.Order, inertia.MaxOrder)
	case !(o.HalfLife >= 0) || math.IsInf(o.HalfLife, 0):
		return cli.Usagef("--half-life: %v is no number of days", o.HalfLife)
	case !(o.Cost >= 0) || math.IsInf(o.Cost, 0):
		return cli.Usagef("--cost: %v is no number of turns", o.Cost)
	}
	return nil
}

// NewReplay returns `awo replay`.
func NewReplay(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "replay [SNAPSHOT] FILES...",
		Short: "Measure how many model turns predicted calls would have saved",
		Long: `Play recorded trajectories back and predict every turn of the model from what
came before: which call it makes, with which arguments, or none. A turn is avoided
if the call that was made without asking the model is its only one, with the same
arguments. A wrong call is charged, and the recorded turn follows it.

What is replayed is never trained on: --kfold N leaves out a part of the tasks in
turn, --train and --test name files, --prequential predicts each trajectory from
those before it. A snapshot (a file .awo, see awo snapshot) as the first file is
replayed as it is. Trials of one task stay together.

Four predictors are compared: the default one, AutoTool as published (arXiv
2511.14650), and a 3-gram model with and without recovery. All saving is an upper
bound of a live agent's: a wrong call changes what comes after it.

The default predictor only calls tools that are declared to read, by --rules or by
the annotations of their definitions. Where nothing is declared, their names are
taken for it, which is good enough to replay and not to act.

` + cli.FilesHelp,
		Example: `  awo replay traces/ --rules rules.yaml
  awo replay traces/ --kfold 5 --seed 1 --format json
  awo replay --train monday/ --test tuesday/ --ablation
  awo replay traces/ --prequential --gate open
  awo replay traces/ --learning-curve --plots plots/
  awo replay inertia.awo today/`,
		GroupID: cli.GroupCompile,
	}
	f := c.Flags()
	cli.AddInput(f)
	addInertia(f)
	f.StringSlice("train", nil, "`FILES` to train on; may be repeated")
	f.StringSlice("test", nil, "`FILES` to replay; may be repeated")
	f.Int("kfold", 5, "parts that the tasks are divided into, each replayed by what the others teach")
	f.Bool("prequential", false, "predict each trajectory from those before it, then learn from it")
	f.Float64("theta", -1, "score from which the default predictor makes a call; below 0 it follows from --cost")
	f.Float64("alpha", inertia.DefaultAlpha, "AutoTool's weight of the context against frequency, 0 to 1")
	f.Var(cli.NewChoice("default", "autotool", "open"), "gate", "when calls may be made without the model; open sets no bound")
	f.String("recovery", "", "`TOOL` that the 3-gram with recovery calls after two failures in a row")
	f.Bool("learning-curve", false, "also replay with a tenth, a quarter, half of the tasks trained on (not with --prequential)")
	f.Bool("ablation", false, "also replay without each part of the default predictor (not with --prequential)")
	f.String("plots", "", "draw reliability, precision by coverage and the learning curve into this `FOLDER`, as SVG and PNG")
	return cli.Work(a, c, replay)
}

func (o *replayOptions) check(files []string) error {
	if err := o.inertiaOptions.check(); err != nil {
		return err
	}
	named := len(o.Train) + len(o.Test)
	switch {
	case named > 0 && len(files) > 0:
		return cli.Usagef("name files either with --train and --test, or as arguments")
	case named > 0 && (len(o.Train) == 0 || len(o.Test) == 0):
		return cli.Usagef("--train and --test go together")
	case named > 0 && o.Prequential:
		return cli.Usagef("--prequential takes all files in order, and neither --train nor --test")
	case o.KFold < 2:
		return cli.Usagef("--kfold: %d is less than 2", o.KFold)
	case !(o.Alpha >= 0 && o.Alpha <= 1):
		return cli.Usagef("--alpha: %v is not in 0..1", o.Alpha)
	case math.IsNaN(o.Theta) || o.Theta > 1:
		return cli.Usagef("--theta: %v is more than 1", o.Theta)
	}
	return nil
}

// theta returns where a predictor fires.
func (o *replayOptions) theta(predictor string) float64 {
	if predictor == inertia.PredictorDefault && o.Theta >= 0 {
		return o.Theta
	}
	return inertia.Theta(predictor, o.Cost)
}

// gate returns what a predictor's calls must pass.
func (o *replayOptions) gate(predictor string) inertia.Gate {
	switch o.Gate {
	case "open":
		return inertia.Gate{Open: true}
	case "autotool":
		return inertia.Gate{Preset: true}
	}
	return inertia.GateOf(predictor)
}

func replay(j *cli.Job, o replayOptions, files []string) error {
	if err := o.check(files); err != nil {
		return err
	}
	s, err := studyReplay(j, &o)
	if err != nil {
		return err
	}
	if len(o.Train) > 0 {
		training, err := s.read(o.Train)
		if err != nil {
			return err
		}
		s.train = training
		files = o.Test
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
	out := s.result()
	if o.Plots != "" {
		figures, err := replayFigures(out)
		if err != nil {
			return err
		}
		if err := cli.WriteFigures(figures, o.Plots); err != nil {
			return err
		}
	}
	return j.Print(s.document(out), out)
}

// replayStudy is what is known of a replay while it goes on.
type replayStudy struct {
	j       *cli.Job
	o       *replayOptions
	effects *Effects
	adapter *inertia.Adapter
	in      *cli.Intake // of what is replayed
	train   []*inertia.Run
	test    []*inertia.Run
	options inertia.ReplayOptions
}

func studyReplay(j *cli.Job, o *replayOptions) (*replayStudy, error) {
	set, err := j.Rules(o.Rules)
	if err != nil {
		return nil, err
	}
	adapter, err := readAdapter(j, o.Adapter)
	if err != nil {
		return nil, err
	}
	s := &replayStudy{j: j, o: o, effects: NewEffects(set, true), adapter: adapter}
	folds := trace.HashFolds(5, o.Seed)
	s.options = inertia.ReplayOptions{
		Order: o.Order, Model: inertia.ModelOptions{HalfLife: o.HalfLife},
		Predictor: inertia.PredictorOptions{Effects: s.effects.Of, Any: o.Fire == "any", Fill: inertia.FillOptions{Adapter: adapter}},
		Alpha:     o.Alpha, Part: folds.Of,
	}
	if o.Alpha == 0 {
		s.options.Alpha = -1
	}
	if o.Recovery != "" {
		s.options.Recovery = trace.Intern(o.Recovery)
	}
	return s, nil
}

// takeSnapshot opens the first file if it is a snapshot, and returns the others.
func (s *replayStudy) takeSnapshot(files []string) ([]string, error) {
	if len(files) == 0 || filepath.Ext(files[0]) != ".awo" {
		return files, nil
	}
	snapshot, err := inertia.Open(files[0])
	if err != nil {
		return nil, err
	}
	if err := snapshot.Verify(); err != nil {
		return nil, err
	}
	if s.options.Ready, err = snapshot.Model(); err != nil {
		return nil, err
	}
	if snapshot.HasCounts() {
		if s.options.Counts, err = snapshot.Graph(); err != nil {
			return nil, err
		}
	}
	if s.o.Rules == "" {
		s.options.Predictor.Effects = s.options.Ready.Effects()
	}
	if len(files) == 1 {
		return nil, cli.Usagef("a snapshot alone: name the traces to replay after it")
	}
	return files[1:], nil
}

// readAdapter reads adapter rules, nil if no file is named.
func readAdapter(j *cli.Job, file string) (*inertia.Adapter, error) {
	if file == "" {
		return nil, nil
	}
	src, err := j.ReadFile(file)
	if err != nil {
		return nil, cli.FileProblem(file, err)
	}
	return inertia.ParseAdapter(file, src)
}

// read reads runs, and keeps them: replaying looks at values again and again.
func (s *replayStudy) read(files []string) ([]*inertia.Run, error) {
	in, err := s.j.Intake(files, s.o.InputOptions, trace.Options{})
	if err != nil {
		return nil, err
	}
	defer in.Close()
	s.in = in
	var observer inertia.Observer
	var failed error
	trajectories := func(yield func(*trace.Trajectory) bool) {
		for t, err := range in.All() {
			if err != nil {
				failed = err
				return
			}
			if s.adapter != nil {
				t = s.adapter.Rewrite(t)
			}
			s.effects.Add(t)
			if !yield(t) {
				return
			}
		}
	}
	var runs []*inertia.Run
	for run := range par.Map(s.j.Parallel(), trajectories, func(t *trace.Trajectory) *inertia.Run {
		return inertia.NewRun(t, observer.Observe(t))
	}) {
		runs = append(runs, run)
	}
	return runs, failed
}

// play replays with options and returns the verdicts by predictor, and how it was
// split.
func (s *replayStudy) play(options inertia.ReplayOptions) map[string][]inertia.Replayed {
	switch {
	case s.train != nil || s.options.Ready != nil:
		return inertia.Replay(s.train, s.test, options)
	case s.o.Prequential:
		return s.prequential(options)
	}
	folds := s.folds()
	parts := make([]map[string][]inertia.Replayed, folds.Len())
	s.j.Each()(folds.Len(), func(k int) {
		train, test := s.fold(folds, k)
		parts[k] = inertia.Replay(train, test, options)
	})
	all := map[string][]inertia.Replayed{}
	for _, part := range parts {
		for name, runs := range part {
			all[name] = append(all[name], runs...)
		}
	}
	return all
}

func (s *replayStudy) folds() trace.Folds {
	var tasks []string
	for _, r := range s.test {
		tasks = append(tasks, r.Task)
	}
	return trace.BalancedFolds(tasks, s.o.KFold, s.o.Seed)
}

func (s *replayStudy) fold(folds trace.Folds, k int) (train, test []*inertia.Run) {
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
func (s *replayStudy) prequential(options inertia.ReplayOptions) map[string][]inertia.Replayed {
	all := map[string][]inertia.Replayed{}
	for i := 0; i < len(s.test); {
		next := min(i+max(1, i/20), len(s.test))
		for name, runs := range inertia.Replay(s.test[:i], s.test[i:next], options) {
			all[name] = append(all[name], runs...)
		}
		i = next
	}
	return all
}

// result computes everything that is printed.
func (s *replayStudy) result() ReplayJSON {
	out := ReplayJSON{
		Schema: "awo.replay/v1", Input: s.in.JSON(), Split: s.split(), Effects: s.saysEffects(),
		Predictors: []predictorJSON{}, Reliability: []reliabilityJSON{}, Sweeps: []replaySweepJSON{}, LearningCurve: []curveJSON{}, Ablation: []replayAblationJSON{},
	}
	all := s.play(s.options)
	answers := s.answers()
	for _, name := range inertia.Predictors() {
		if len(all[name]) == 0 && len(s.test) > 0 {
			continue
		}
		out.Predictors = append(out.Predictors, predictorResult(name, all, *s.o, answers))
	}
	if !answers {
		return out
	}
	for _, b := range inertia.Reliability(all[inertia.PredictorDefault], 10) {
		out.Reliability = append(out.Reliability, reliabilityJSON{b.From, b.To, b.N, b.Mean, float64(b.Right) / float64(b.N)})
	}
	s.sweep(&out, all)
	if s.o.LearningCurve && !s.o.Prequential && s.options.Ready == nil {
		s.learn(&out)
	}
	if s.o.Ablation && !s.o.Prequential && s.options.Ready == nil {
		s.ablate(&out)
	}
	out.Effects = s.saysEffects()
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

func (s *replayStudy) split() replaySplitJSON {
	tasks := map[string]bool{}
	for _, r := range s.test {
		tasks[r.Task] = true
	}
	out := replaySplitJSON{Method: "kfold", Folds: s.o.KFold, Seed: s.o.Seed, Tasks: len(tasks), Replayed: len(s.test)}
	switch {
	case s.options.Ready != nil:
		out.Method, out.Folds = "snapshot", 0
	case s.train != nil:
		out.Method, out.Folds = "files", 0
	case s.o.Prequential:
		out.Method, out.Folds = "prequential", 0
	}
	return out
}

func (s *replayStudy) saysEffects() string {
	switch {
	case s.o.Fire == "any":
		return "any"
	case s.o.Rules != "":
		return "rules"
	case s.options.Ready != nil:
		return "snapshot"
	case len(s.effects.guessed) > 0:
		return "names"
	}
	return "annotations"
}

// sweep adds the figures over thresholds, and over AutoTool's alpha.
func (s *replayStudy) sweep(out *ReplayJSON, all map[string][]inertia.Replayed) {
	add := func(name string, runs []inertia.Replayed, theta float64, alpha report.Figure) {
		f := inertia.Fire(runs, theta, s.o.gate(name))
		out.Sweeps = append(out.Sweeps, replaySweepJSON{
			Predictor: name, Theta: theta, Alpha: alpha, Fired: f.Fired,
			Coverage: figureShare(f.Fired, f.Turns, nothingHere), Precision: figureShare(f.Right, f.Fired, neverFires), TurnsAvoided: f.Right,
		})
	}
	for _, name := range inertia.Predictors() {
		if len(all[name]) == 0 {
			continue
		}
		alpha := report.Unknown("only AutoTool's score has one")
		if name == inertia.PredictorPreset {
			alpha = report.Known(s.o.Alpha)
		}
		for i := range 20 {
			add(name, all[name], float64(i)/20, alpha)
		}
	}
	for _, alpha := range []float64{0, 0.3, 0.5, 0.7, 1} {
		options := s.options
		options.Only = []string{inertia.PredictorPreset}
		if options.Alpha = alpha; alpha == 0 {
			options.Alpha = -1
		}
		runs := s.play(options)[inertia.PredictorPreset]
		for _, theta := range []float64{0.05, 0.1, 0.15, 0.2, 0.3} {
			add(inertia.PredictorPreset, runs, math.Nextafter(theta, 1), report.Known(alpha))
		}
	}
}
