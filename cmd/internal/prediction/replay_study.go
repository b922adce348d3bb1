package prediction

import (
	"math"
	"path/filepath"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/predict"
	"github.com/awo-dev/awo/predict/effects"
	"github.com/awo-dev/awo/predict/replay"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/holdout"
)

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
	set, err := j.Rules(j.RuleFile)
	if err != nil {
		return nil, err
	}
	adapter, err := readAdapter(j, o.Adapter)
	if err != nil {
		return nil, err
	}
	s := &replayStudy{j: j, o: o, effects: effects.New(set, true), adapter: adapter}
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
	defer in.Close()
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
