package prediction

import (
	"math"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/inertia"
	"github.com/awo-dev/awo/inertia/replay"
	"github.com/awo-dev/awo/internal/stat"
)

// ReplayJSON is the JSON of `awo replay`; docs/inertia.md describes it.
type ReplayJSON struct {
	Schema      string               `json:"schema"`
	Input       cli.InputJSON        `json:"input"`
	Split       replaySplitJSON      `json:"split"`
	Effects     string               `json:"effects"` // what says which tools read: rules, annotations, snapshot, names, any
	Predictors  []predictorJSON      `json:"predictors"`
	Reliability []replay.Bin         `json:"reliability"` // of the default predictor
	Sweeps      []replaySweepJSON    `json:"sweeps"`
	Ablation    []replayAblationJSON `json:"ablation"`
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
	Predictor      string           `json:"predictor"`
	N              int              `json:"n"`
	Top1           stat.Figure      `json:"top1"`
	Top3           stat.Figure      `json:"top3"`
	LogLoss        stat.Figure      `json:"log_loss_bits"`
	Theta          float64          `json:"theta"` // where coverage, precision, fired and right are
	Coverage       stat.Figure      `json:"coverage"`
	Precision      stat.Figure      `json:"precision"`
	Fired          int              `json:"fired"`
	Right          int              `json:"right"`
	TurnsAvoided   stat.Figure      `json:"turns_avoided"`
	TurnsAvoided90 stat.Figure      `json:"turns_avoided_90"`
	Theta80        stat.Figure      `json:"theta_80"`
	Theta90        stat.Figure      `json:"theta_90"`
	Ungated80      stat.Figure      `json:"turns_avoided_ungated"`
	Filling        []fillingJSON    `json:"filling"`
	Wrong          []wrongJSON      `json:"wrong"`
	Intervals      replay.Intervals `json:"intervals"`
	CallsOnly      callsOnlyJSON    `json:"calls_only"`

	// Behind is how many bits a turn the default predictor loses less.
	Behind         stat.Figure   `json:"log_loss_behind_bits"`
	BehindInterval stat.Interval `json:"log_loss_behind_interval"`
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

// callsOnlyJSON is the paper's view: every call is a decision, turns that make
// none are left out.
type callsOnlyJSON struct {
	N       int         `json:"n"`
	Top1    stat.Figure `json:"top1"`
	Top3    stat.Figure `json:"top3"`
	LogLoss stat.Figure `json:"log_loss_bits"`
}

type replaySweepJSON struct {
	Predictor    string      `json:"predictor"`
	Theta        float64     `json:"theta"`
	Alpha        stat.Figure `json:"alpha"` // of CIPS
	Fired        int         `json:"fired"`
	Coverage     stat.Figure `json:"coverage"`
	Precision    stat.Figure `json:"precision"`
	TurnsAvoided int         `json:"turns_avoided"`
}

type replayAblationJSON struct {
	Without      string      `json:"without"`
	Top1         stat.Figure `json:"top1"`
	LogLoss      stat.Figure `json:"log_loss_bits"`
	Precision    stat.Figure `json:"precision"`
	Coverage     stat.Figure `json:"coverage"`
	TurnsAvoided stat.Figure `json:"turns_avoided"`
}

const (
	notScored     = "its scores are no probabilities"
	neverFires    = "it never fires"
	neverThere    = "no threshold reaches this precision"
	noReplayTurns = "these traces record no turn that makes no call"
	nothingHere   = "there is nothing to predict"
)

// mostOf returns the turns avoided at a precision, and the threshold.
func mostOf(runs []replay.Replayed, precision float64, gate inertia.Gate) (turns, theta stat.Figure, at float64) {
	if best, ok := replay.Most(runs, precision, gate); ok {
		return stat.Count(best.Right), stat.Known(best.Theta), best.Theta
	}
	return stat.Unknown(neverThere), stat.Unknown(neverThere), math.NaN()
}

// predictorResult computes the figures of one predictor. answers says whether
// turns that make no call are recorded.
func predictorResult(name string, all map[string][]replay.Replayed, o replayOptions, answers bool) predictorJSON {
	runs := all[name]
	theta, gate := replay.Theta(name, o.Cost), o.gate(name)
	turns, calls, fired := replay.Rank(runs, false), replay.Rank(runs, true), replay.Fire(runs, theta, gate)
	loss := notScored
	if turns.N == 0 {
		loss = nothingHere
	}
	p := predictorJSON{
		Predictor: name, N: turns.N, Top1: stat.Ratio(turns.Top1, turns.N, nothingHere), Top3: stat.Ratio(turns.Top3, turns.N, nothingHere), LogLoss: stat.Finite(turns.LogLoss, loss),
		Theta: theta, Fired: fired.Fired, Right: fired.Right, Coverage: stat.Ratio(fired.Fired, fired.Turns, nothingHere), Precision: stat.Ratio(fired.Right, fired.Fired, neverFires),
		CallsOnly: callsOnlyJSON{N: calls.N, Top1: stat.Ratio(calls.Top1, calls.N, nothingHere), Top3: stat.Ratio(calls.Top3, calls.N, nothingHere), LogLoss: stat.Finite(calls.LogLoss, loss)},
	}
	var at80, at90 float64
	p.TurnsAvoided, p.Theta80, at80 = mostOf(runs, 0.8, gate)
	p.TurnsAvoided90, p.Theta90, at90 = mostOf(runs, 0.9, gate)
	p.Ungated80, _, _ = mostOf(runs, 0.8, inertia.Gate{Open: true})
	p.Intervals = replay.Bootstrap(runs, theta, at80, at90, gate, o.Seed)
	p.Filling = cli.Map(replay.Tiers(runs), func(t *replay.Tier) fillingJSON { return fillingJSON{t.Source.String(), t.Tried, t.Right} })
	for _, class := range replay.WrongClasses() {
		p.Wrong = append(p.Wrong, wrongJSON{string(class), fired.Wrong[class]})
	}
	for _, source := range inertia.Sources() {
		p.Wrong = append(p.Wrong, wrongJSON{"wrong-argument/" + source.String(), fired.By[source]})
	}
	behind, interval := replay.Advantage(all[replay.PredictorDefault], runs, o.Seed)
	p.Behind, p.BehindInterval = stat.Finite(behind, loss), interval
	if !answers {
		p.hideTurns()
	}
	return p
}

// hideTurns nulls the figures that turns without a call would change.
func (p *predictorJSON) hideTurns() {
	unknown := stat.Unknown(noReplayTurns)
	p.Top1, p.Top3, p.LogLoss, p.Coverage, p.Precision = unknown, unknown, unknown, unknown, unknown
	p.TurnsAvoided, p.TurnsAvoided90, p.Theta80, p.Theta90, p.Ungated80 = unknown, unknown, unknown, unknown, unknown
	p.Behind, p.BehindInterval = unknown, stat.NoInterval(noReplayTurns)
	none := stat.NoInterval(noReplayTurns)
	p.Intervals = replay.Intervals{Top1: none, Top3: none, LogLoss: none, Coverage: none, Precision: none, Avoided80: none, Avoided90: none}
}
