package prediction

import (
	"math"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/inertia"
	"github.com/awo-dev/awo/internal/report"
)

// ReplayJSON is the JSON of `awo replay`; docs/inertia.md describes it.
type ReplayJSON struct {
	Schema        string               `json:"schema"`
	Input         cli.InputJSON        `json:"input"`
	Split         replaySplitJSON      `json:"split"`
	Effects       string               `json:"effects"` // what says which tools read: rules, annotations, snapshot, names, any
	Predictors    []predictorJSON      `json:"predictors"`
	Reliability   []reliabilityJSON    `json:"reliability"` // of the default predictor
	Sweeps        []replaySweepJSON    `json:"sweeps"`
	LearningCurve []curveJSON          `json:"learning_curve"`
	Ablation      []replayAblationJSON `json:"ablation"`
}

type replaySplitJSON struct {
	Method   string `json:"method"` // kfold, files, snapshot, prequential
	Folds    int    `json:"folds"`  // 0 for other methods
	Seed     uint64 `json:"seed"`
	Tasks    int    `json:"tasks"`    // replayed
	Replayed int    `json:"replayed"` // trajectories
}

// predictorJSON is the figures of one predictor over all turns of the model.
// Turns avoided are the most at a precision of at least 0.8 and 0.9, and null if
// that is reached at no threshold.
type predictorJSON struct {
	Predictor      string             `json:"predictor"`
	N              int                `json:"n"`
	Top1           report.Figure      `json:"top1"`
	Top3           report.Figure      `json:"top3"`
	LogLoss        report.Figure      `json:"log_loss_bits"`
	Theta          float64            `json:"theta"` // where coverage, precision, fired and right are
	Coverage       report.Figure      `json:"coverage"`
	Precision      report.Figure      `json:"precision"`
	Fired          int                `json:"fired"`
	Right          int                `json:"right"`
	TurnsAvoided   report.Figure      `json:"turns_avoided"`
	TurnsAvoided90 report.Figure      `json:"turns_avoided_90"`
	Theta80        report.Figure      `json:"theta_80"`
	Theta90        report.Figure      `json:"theta_90"`
	Ungated80      report.Figure      `json:"turns_avoided_ungated"`
	Filling        []fillingJSON      `json:"filling"`
	Wrong          []wrongJSON        `json:"wrong"`
	Intervals      replayIntervalJSON `json:"intervals"`
	CallsOnly      callsOnlyJSON      `json:"calls_only"`

	// Behind is how many bits a turn the default predictor loses less.
	Behind         report.Figure   `json:"log_loss_behind_bits"`
	BehindInterval report.Interval `json:"log_loss_behind_interval"`
}

type fillingJSON struct {
	Source string `json:"source"`
	Tried  int    `json:"tried"`
	Right  int    `json:"right"`
}

type wrongJSON struct {
	Class string `json:"class"`
	N     int    `json:"n"`
}

type replayIntervalJSON struct {
	Top1           report.Interval `json:"top1"`
	Top3           report.Interval `json:"top3"`
	LogLoss        report.Interval `json:"log_loss_bits"`
	Coverage       report.Interval `json:"coverage"`
	Precision      report.Interval `json:"precision"`
	TurnsAvoided   report.Interval `json:"turns_avoided"`
	TurnsAvoided90 report.Interval `json:"turns_avoided_90"`
}

// callsOnlyJSON is the paper's view: every call is a decision, turns that make
// none are left out.
type callsOnlyJSON struct {
	N       int           `json:"n"`
	Top1    report.Figure `json:"top1"`
	Top3    report.Figure `json:"top3"`
	LogLoss report.Figure `json:"log_loss_bits"`
}

type reliabilityJSON struct {
	From  float64 `json:"from"`
	To    float64 `json:"to"`
	N     int     `json:"n"`
	Mean  float64 `json:"mean"`
	Right float64 `json:"right"` // share
}

type replaySweepJSON struct {
	Predictor    string        `json:"predictor"`
	Theta        float64       `json:"theta"`
	Alpha        report.Figure `json:"alpha"` // of CIPS
	Fired        int           `json:"fired"`
	Coverage     report.Figure `json:"coverage"`
	Precision    report.Figure `json:"precision"`
	TurnsAvoided int           `json:"turns_avoided"`
}

type curveJSON struct {
	Tasks        int           `json:"tasks"`
	Trajectories int           `json:"trajectories"`
	Top1         report.Figure `json:"top1"`
	LogLoss      report.Figure `json:"log_loss_bits"`
	TurnsAvoided report.Figure `json:"turns_avoided"`
}

type replayAblationJSON struct {
	Without      string        `json:"without"`
	Top1         report.Figure `json:"top1"`
	LogLoss      report.Figure `json:"log_loss_bits"`
	Precision    report.Figure `json:"precision"`
	Coverage     report.Figure `json:"coverage"`
	TurnsAvoided report.Figure `json:"turns_avoided"`
}

const (
	notScored     = "its scores are no probabilities"
	neverFires    = "it never fires"
	neverThere    = "no threshold reaches this precision"
	noReplayTurns = "these traces record no turn that makes no call"
	nothingHere   = "there is nothing to predict"
)

func figureOf(v float64, reason string) report.Figure {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return report.Unknown(reason)
	}
	return report.Known(v)
}

func figureShare(part, whole int, reason string) report.Figure {
	if whole == 0 {
		return report.Unknown(reason)
	}
	return report.Known(float64(part) / float64(whole))
}

// mostOf returns the turns avoided at a precision, and the threshold.
func mostOf(runs []inertia.Replayed, precision float64, gate inertia.Gate) (turns, theta report.Figure, at float64) {
	if best, ok := inertia.Most(runs, precision, gate); ok {
		return report.Count(best.Right), report.Known(best.Theta), best.Theta
	}
	return report.Unknown(neverThere), report.Unknown(neverThere), math.NaN()
}

// predictorResult computes the figures of one predictor. answers says whether
// turns that make no call are recorded.
func predictorResult(name string, all map[string][]inertia.Replayed, o replayOptions, answers bool) predictorJSON {
	runs := all[name]
	theta, gate := o.theta(name), o.gate(name)
	turns, calls, fired := inertia.Rank(runs, false), inertia.Rank(runs, true), inertia.Fire(runs, theta, gate)
	loss := notScored
	if turns.N == 0 {
		loss = nothingHere
	}
	p := predictorJSON{
		Predictor: name, N: turns.N, Top1: figureShare(turns.Top1, turns.N, nothingHere), Top3: figureShare(turns.Top3, turns.N, nothingHere), LogLoss: figureOf(turns.LogLoss, loss),
		Theta: theta, Fired: fired.Fired, Right: fired.Right, Coverage: figureShare(fired.Fired, fired.Turns, nothingHere), Precision: figureShare(fired.Right, fired.Fired, neverFires),
		Filling: []fillingJSON{}, Wrong: []wrongJSON{},
		CallsOnly: callsOnlyJSON{N: calls.N, Top1: figureShare(calls.Top1, calls.N, nothingHere), Top3: figureShare(calls.Top3, calls.N, nothingHere), LogLoss: figureOf(calls.LogLoss, loss)},
	}
	var at80, at90 float64
	p.TurnsAvoided, p.Theta80, at80 = mostOf(runs, 0.8, gate)
	p.TurnsAvoided90, p.Theta90, at90 = mostOf(runs, 0.9, gate)
	p.Ungated80, _, _ = mostOf(runs, 0.8, inertia.Gate{Open: true})
	b := inertia.Bootstrap(runs, theta, at80, at90, gate, o.Seed)
	p.Intervals = replayIntervalJSON{
		Top1: b.Top1, Top3: b.Top3, LogLoss: b.LogLoss, Coverage: b.Coverage,
		Precision: b.Precision, TurnsAvoided: b.Avoided80, TurnsAvoided90: b.Avoided90,
	}
	for _, t := range inertia.Tiers(runs) {
		p.Filling = append(p.Filling, fillingJSON{t.Source.String(), t.Tried, t.Right})
	}
	for _, class := range inertia.WrongClasses() {
		p.Wrong = append(p.Wrong, wrongJSON{string(class), fired.Wrong[class]})
	}
	for _, source := range inertia.Sources() {
		p.Wrong = append(p.Wrong, wrongJSON{"wrong-argument/" + source.String(), fired.By[source]})
	}
	behind, interval := inertia.Advantage(all[inertia.PredictorDefault], runs, o.Seed)
	p.Behind, p.BehindInterval = figureOf(behind, loss), interval
	if !answers {
		p.hideTurns()
	}
	return p
}

// hideTurns nulls the figures that turns without a call would change.
func (p *predictorJSON) hideTurns() {
	unknown := report.Unknown(noReplayTurns)
	p.Top1, p.Top3, p.LogLoss, p.Coverage, p.Precision = unknown, unknown, unknown, unknown, unknown
	p.TurnsAvoided, p.TurnsAvoided90, p.Theta80, p.Theta90, p.Ungated80 = unknown, unknown, unknown, unknown, unknown
	p.Behind, p.BehindInterval = unknown, report.NoInterval(noReplayTurns)
	none := report.NoInterval(noReplayTurns)
	p.Intervals = replayIntervalJSON{none, none, none, none, none, none, none}
}
