package prediction

import (
	"math"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/predict"
	"github.com/awo-dev/awo/predict/replay"
)

// replayFigures are what replaying came to beside its tables; docs/inertia.md describes these.
type replayFigures struct {
	Input   cli.InputJSON `json:"input"`
	Split   replaySplit   `json:"split"`
	Effects string        `json:"effects"` // what says which tools read: rules, annotations, snapshot, names, any
}

type replaySplit struct {
	Method   string `json:"method"` // kfold, snapshot, prequential
	Folds    int    `json:"folds"`  // 0 for other methods
	Seed     uint64 `json:"seed"`
	Tasks    int    `json:"tasks"`    // replayed
	Replayed int    `json:"replayed"` // trajectories
}

// replayed is everything that replaying came to.
type replayed struct {
	figures     replayFigures
	ranking     []ranking
	firing      []firing
	wrong       []wrongCalls
	filling     []filling
	reliability []replay.Bin // of the default predictor
	sweeps      []sweep
}

// ranking is how well a predictor guesses, over all turns of the model.
type ranking struct {
	Predictor string        `json:"predictor"`
	N         int           `json:"n"`
	Top1      stat.Estimate `json:"top1"`
	Top3      stat.Estimate `json:"top3"`
	LogLoss   stat.Estimate `json:"log_loss_bits"`
	Behind    stat.Estimate `json:"log_loss_behind_bits"` // how many bits a turn the default predictor loses less
	CallsOnly callsOnly     `json:"calls_only"`
}

// callsOnly is the paper's view: every call is a decision, turns that make
// none are left out.
type callsOnly struct {
	N       int         `json:"n"`
	Top1    stat.Figure `json:"top1"`
	Top3    stat.Figure `json:"top3"`
	LogLoss stat.Figure `json:"log_loss_bits"`
}

// firing is what the calls of a predictor come to. Turns avoided are the most at a
// precision of at least 0.8 and 0.9, and null if that is reached at no threshold.
type firing struct {
	Predictor      string        `json:"predictor"`
	Theta          float64       `json:"theta"` // where coverage, precision, fired and right are
	Fired          int           `json:"fired"`
	Right          int           `json:"right"`
	Precision      stat.Estimate `json:"precision"`
	Coverage       stat.Estimate `json:"coverage"`
	TurnsAvoided   stat.Estimate `json:"turns_avoided"`
	TurnsAvoided90 stat.Estimate `json:"turns_avoided_90"`
	Theta80        stat.Figure   `json:"theta_80"`
	Theta90        stat.Figure   `json:"theta_90"`
	Ungated80      stat.Figure   `json:"turns_avoided_ungated"`
}

type filling struct {
	Predictor string `json:"predictor"`
	Source    string `json:"source"`
	Tried     int    `json:"tried"`
	Right     int    `json:"right"`
}

type wrongCalls struct {
	Class string         `json:"class"`
	N     map[string]int `json:"n"` // by predictor
}

type sweep struct {
	Predictor    string      `json:"predictor"`
	Theta        float64     `json:"theta"`
	Alpha        stat.Figure `json:"alpha"` // of CIPS
	Fired        int         `json:"fired"`
	Coverage     stat.Figure `json:"coverage"`
	Precision    stat.Figure `json:"precision"`
	TurnsAvoided int         `json:"turns_avoided"`
}

const (
	notScored     = "its scores are no probabilities"
	neverFires    = "it never fires"
	neverThere    = "no threshold reaches this precision"
	noReplayTurns = "these traces record no turn that makes no call"
	nothingHere   = "there is nothing to predict"
)

// mostOf returns the turns avoided at a precision, and the threshold.
func mostOf(runs []replay.Replayed, precision float64, gate predict.Gate) (turns, theta stat.Figure, at float64) {
	if best, ok := replay.Most(runs, precision, gate); ok {
		return stat.Count(best.Right), stat.Known(best.Theta), best.Theta
	}
	return stat.Unknown(neverThere), stat.Unknown(neverThere), math.NaN()
}

// addPredictor adds the figures of one predictor. answers says whether turns that make
// no call are recorded.
func (out *replayed) addPredictor(name string, all map[string][]replay.Replayed, o replayOptions, seed uint64, answers bool) {
	runs := all[name]
	theta, gate := replay.Theta(name, o.Cost), o.gate(name)
	turns, calls, fired := replay.Rank(runs, false), replay.Rank(runs, true), replay.Fire(runs, theta, gate)
	loss := notScored
	if turns.N == 0 {
		loss = nothingHere
	}
	most80, theta80, at80 := mostOf(runs, 0.8, gate)
	most90, theta90, at90 := mostOf(runs, 0.9, gate)
	ungated, _, _ := mostOf(runs, 0.8, predict.Gate{Open: true})
	in := replay.Bootstrap(runs, theta, at80, at90, gate, seed)
	behind, behindInterval := replay.Advantage(all[replay.PredictorDefault], runs, seed)
	r := ranking{
		Predictor: name, N: turns.N,
		Top1:    stat.Estimate{Figure: stat.Ratio(turns.Top1, turns.N, nothingHere), Interval: in.Top1},
		Top3:    stat.Estimate{Figure: stat.Ratio(turns.Top3, turns.N, nothingHere), Interval: in.Top3},
		LogLoss: stat.Estimate{Figure: stat.Finite(turns.LogLoss, loss), Interval: in.LogLoss},
		Behind:  stat.Estimate{Figure: stat.Finite(behind, loss), Interval: behindInterval},
		CallsOnly: callsOnly{
			N: calls.N, Top1: stat.Ratio(calls.Top1, calls.N, nothingHere), Top3: stat.Ratio(calls.Top3, calls.N, nothingHere),
			LogLoss: stat.Finite(calls.LogLoss, loss),
		},
	}
	f := firing{
		Predictor: name, Theta: theta, Fired: fired.Fired, Right: fired.Right,
		Precision:      stat.Estimate{Figure: stat.Ratio(fired.Right, fired.Fired, neverFires), Interval: in.Precision},
		Coverage:       stat.Estimate{Figure: stat.Ratio(fired.Fired, fired.Turns, nothingHere), Interval: in.Coverage},
		TurnsAvoided:   stat.Estimate{Figure: most80, Interval: in.Avoided80},
		TurnsAvoided90: stat.Estimate{Figure: most90, Interval: in.Avoided90},
		Theta80:        theta80, Theta90: theta90, Ungated80: ungated,
	}
	if !answers { // turns without a call would change these
		none := stat.Unknown(noReplayTurns)
		unknown := stat.Estimate{Figure: none, Interval: stat.NoInterval(noReplayTurns)}
		r.Top1, r.Top3, r.LogLoss, r.Behind = unknown, unknown, unknown, unknown
		f.Precision, f.Coverage, f.TurnsAvoided, f.TurnsAvoided90 = unknown, unknown, unknown, unknown
		f.Theta80, f.Theta90, f.Ungated80 = none, none, none
	}
	out.ranking, out.firing = append(out.ranking, r), append(out.firing, f)
	for _, t := range replay.Tiers(runs) {
		if t.Tried > 0 {
			out.filling = append(out.filling, filling{name, t.Source.String(), t.Tried, t.Right})
		}
	}
	out.addWrong(name, &fired)
}

// addWrong adds how many wrong calls of each class a predictor makes.
func (out *replayed) addWrong(name string, fired *replay.Fired) {
	if out.wrong == nil {
		for _, class := range replay.WrongClasses() {
			out.wrong = append(out.wrong, wrongCalls{string(class), map[string]int{}})
		}
		for _, source := range predict.Sources() {
			out.wrong = append(out.wrong, wrongCalls{"wrong-argument/" + source.String(), map[string]int{}})
		}
	}
	classes := replay.WrongClasses()
	for i, class := range classes {
		out.wrong[i].N[name] = fired.Wrong[class]
	}
	for i, source := range predict.Sources() {
		out.wrong[len(classes)+i].N[name] = fired.By[source]
	}
}
