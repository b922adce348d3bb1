// Package replay replays predictions on recorded trajectories: what the next call is,
// with which arguments, and how often that would have been right.
//
// What comes in are runs to learn from and runs to test on; what goes out are the
// verdicts on each decision, and figures with intervals over tasks. It keeps O(turns) of
// the runs that it replays. It calls no tool and no model.
package replay

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/awo-dev/awo/predict"
	"github.com/awo-dev/awo/trace"
)

// The predictors that are replayed.
const (
	PredictorDefault = "default"
	PredictorPreset  = "autotool"
	PredictorTrigram = "3-gram"
)

// Predictors returns their names, in the order of reports.
func Predictors() []string {
	return []string{PredictorDefault, PredictorPreset, PredictorTrigram}
}

// Options are the choices of a replay. The zero value is the default.
type Options struct {
	Order     int // of the graph
	Model     predict.ModelOptions
	Predictor predict.PredictorOptions
	Alphas    []float64 // further weights of CIPS, whose verdicts have the names that [PresetAt] gives
	Recovery  trace.Name
	Seed      uint64 // deals tasks into the parts of calibration

	// Ready, if set, is the model of the default predictor, and Counts what the
	// others are made of: nothing is trained. Without Counts the 3-gram is left
	// out.
	Ready  *predict.Model
	Counts *predict.Graph
}

// PresetAt returns the name of the verdicts of the preset with a weight of
// [Options.Alphas].
func PresetAt(alpha float64) string {
	return PredictorPreset + "@" + strconv.FormatFloat(alpha, 'g', -1, 64)
}

// order returns the length of the graph's contexts: AutoTool needs its window.
func (o *Options) order() int {
	if o.Order == 0 {
		return predict.DefaultOrder
	}
	return max(o.Order, predict.Window)
}

// WrongClass is why a firing was wrong (AutoTool, App. D).
type WrongClass string

// The classes, in the order in which they are tested.
const (
	WrongRedundant   WrongClass = "redundant"      // the same call was made before, and nothing was written since
	WrongUnsupported WrongClass = "unsupported"    // the tool has only ever failed
	WrongNone        WrongClass = "no-call"        // the turn makes no call
	WrongTool        WrongClass = "wrong-tool"     // it calls another tool
	WrongArgument    WrongClass = "wrong-argument" // the tool is right, an argument is not
	WrongParallel    WrongClass = "parallel"       // the turn makes several calls
	WrongOther       WrongClass = "other"
)

// WrongClasses returns all classes in the order of reports.
func WrongClasses() []WrongClass {
	return []WrongClass{WrongTool, WrongNone, WrongArgument, WrongRedundant, WrongUnsupported, WrongParallel, WrongOther}
}

// A Verdict is what a predictor made of one decision.
type Verdict struct {
	Inside   bool // a further call of a turn: in no figure but those of calls only
	None     bool
	Status   trace.Status
	Rank     int     // of what was recorded among the outcomes, from 1; 0 if it was not ranked
	Bits     float64 // -log2 of its probability; NaN where scores are no probabilities
	OfCalls  int     // rank among tools
	CallBits float64 // -log2 of its probability among tools

	Fires  bool    // there is a call that could be made
	Score  float64 // of that call
	Right  bool    // it is the turn's only call, with the same arguments
	Wrong  WrongClass
	By     predict.Source // of the first wrong argument, with WrongArgument
	Forced bool           // a recovery call, whatever its score
	Tried  [predict.NumSources]int
	Good   [predict.NumSources]int
}

// A Replayed is the verdicts of one predictor on one trajectory.
type Replayed struct {
	Task     string
	Verdicts []Verdict
}

// Replay trains on some runs and replays others: the verdicts of each predictor
// on each test run, by name. It is a pure function of its arguments.
func Replay(train, test []*predict.Run, o Options) map[string][]Replayed {
	graph, main := o.trained(train)
	return played(newReplayers(graph, main, o), test)
}

func played(rs []*replayer, test []*predict.Run) map[string][]Replayed {
	out := map[string][]Replayed{}
	for _, run := range test {
		for _, r := range rs {
			out[r.name()] = append(out[r.name()], Replayed{run.Task, r.replay(run)})
		}
	}
	return out
}

// trained returns the graph of some runs, nil without counts, and the model to replay.
func (o *Options) trained(train []*predict.Run) (*predict.Graph, *predict.Model) {
	if o.Ready != nil {
		return o.Counts, o.Ready
	}
	learner := predict.NewLearner(o.order(), o.Seed)
	for _, r := range train {
		learner.Add(r.History.Trajectory(), r.Observation)
	}
	graph := learner.Graph()
	main := graph.Model(o.Model)
	return graph, main.Calibrated(learner.Calibration(o.Model, o.Predictor))
}

// newReplayers returns the predictors that a graph and a model make. Of the model that
// baselines use there is a counterpart: no states, contexts of two calls.
func newReplayers(graph *predict.Graph, main *predict.Model, o Options) []*replayer {
	var plain *predict.Model
	if graph != nil {
		plain = graph.Model(predict.ModelOptions{Order: predict.Window, NoState: true})
	}
	any := o.Predictor
	any.Any, any.AfterUser, any.Fill.Ordered = true, true, true
	var out []*replayer
	for _, name := range Predictors() {
		r := &replayer{kind: name, o: o, effects: o.Predictor.Effects}
		switch name {
		case PredictorDefault:
			r.p = predict.NewPredictor(main, o.Predictor)
		case PredictorPreset:
			r.p = predict.NewPredictor(main, any)
			if graph != nil && (main.Info.NoState || main.Info.Order < predict.Window) {
				r.p = predict.NewPredictor(graph.Model(predict.ModelOptions{}), any)
			}
			r.similarity, r.alpha = predict.NewLexical(r.p.Model()), predict.DefaultAlpha
			out = append(out, r)
			for _, alpha := range o.Alphas {
				other := *r
				other.as, other.alpha = PresetAt(alpha), alpha
				out = append(out, &other)
			}
			continue
		case PredictorTrigram:
			if plain == nil {
				continue
			}
			r.p = predict.NewPredictor(plain, any)
		}
		out = append(out, r)
	}
	return out
}

// replayer replays trajectories for one predictor.
type replayer struct {
	kind       string
	o          Options
	p          *predict.Predictor
	similarity *predict.Lexical
	effects    predict.Effects
	as         string  // whose verdicts they are, if that is not the kind
	alpha      float64 // of the preset
	said       predict.Thoughts
	offered    func(trace.Name) bool // nil for all
	likely     []float64             // by symbol, of the last decision
}

func (r *replayer) name() string { return cmp.Or(r.as, r.kind) }

func (r *replayer) replay(run *predict.Run) []Verdict {
	h := run.History
	decisions := run.Observation.Decisions
	out := make([]Verdict, 0, len(decisions))
	r.offered = r.o.Predictor.Available
	if offered := predict.Offered(h.Trajectory()); offered != nil {
		r.offered = offered
	}
	r.p.Offer(r.offered)
	for i := range decisions {
		d := &decisions[i]
		v := Verdict{Inside: d.State == predict.StateInside, None: d.None(), Status: d.Status, Bits: math.NaN(), CallBits: math.NaN()}
		if r.kind == PredictorPreset {
			r.score(h, d, &v)
		} else {
			r.predict(h, d, &v)
		}
		out = append(out, v)
	}
	return out
}

// predict asks a model with probabilities.
func (r *replayer) predict(h *predict.History, d *predict.Decision, v *Verdict) {
	m := r.p.Model()
	if r.likely == nil {
		r.likely = make([]float64, m.Alphabet())
	}
	unknown := m.Distribution(m.ContextOf(d.State, h.Before(d.Before)), r.likely)
	actual, p := m.Symbol(d.Next), unknown
	if d.None() || actual != 0 {
		p = r.likely[actual]
		v.Rank = predict.RankOf(r.likely, actual)
	}
	v.Bits = -math.Log2(p)
	if !d.None() {
		calls := 1 - r.likely[predict.NoneSymbol]
		v.CallBits = -math.Log2(p / calls)
		if v.Rank > 0 {
			v.OfCalls = v.Rank
			if r.likely[predict.NoneSymbol] >= p {
				v.OfCalls--
			}
		}
	}
	if v.Inside {
		return
	}
	if r.kind == PredictorDefault {
		if f, ok := r.p.Fire(h, d); ok {
			r.judge(h, d, v, f)
		}
		return
	}
	if r.recovers(h, d, v) {
		return
	}
	score := slices.Max(r.likely)
	r.fire(h, d, v, uint32(slices.Index(r.likely, score)), score)
}

// score asks AutoTool.
func (r *replayer) score(h *predict.History, d *predict.Decision, v *Verdict) {
	said := r.said.Before(h.Trajectory(), d.Turn)
	candidates := r.p.Model().Candidates(h.Before(d.Before), r.alpha, func(s uint32) float64 { return r.similarity.Score(said, s) })
	actual := r.p.Model().Symbol(d.Next)
	for i, c := range candidates {
		if !d.None() && c.Symbol == actual {
			v.Rank, v.OfCalls = i+1, i+1
		}
	}
	if v.Inside || r.recovers(h, d, v) {
		return
	}
	if len(candidates) > 0 {
		r.fire(h, d, v, candidates[0].Symbol, candidates[0].CIPS)
	}
}

// fire judges a call of a tool, if it can be filled in.
func (r *replayer) fire(h *predict.History, d *predict.Decision, v *Verdict, symbol uint32, score float64) {
	if symbol == predict.NoneSymbol || r.offered != nil && !r.offered(r.p.Model().Tool(symbol).Name) {
		return
	}
	fill := r.p.Fill(h, d, symbol)
	if !fill.Complete {
		return
	}
	r.judge(h, d, v, predict.Firing{Symbol: symbol, Score: score, Call: fill})
}

// judge compares a call with what was recorded.
func (r *replayer) judge(h *predict.History, d *predict.Decision, v *Verdict, f predict.Firing) {
	t := r.p.Model().Tool(f.Symbol)
	v.Fires, v.Score = true, f.Score
	v.Right = h.Right(d, t.Name, &f.Call)
	if !d.None() && d.Next == t.Name {
		wrong := h.Wrong(d.Call, &f.Call)
		for _, a := range f.Call.Args {
			v.Tried[a.Source]++
			v.Good[a.Source]++
		}
		for _, a := range wrong {
			v.Good[a.Source]--
		}
		if len(wrong) > 0 {
			v.By = wrong[0].Source
		}
	}
	if !v.Right {
		v.Wrong = r.classify(h, d, t, &f.Call)
	}
}

func (r *replayer) classify(h *predict.History, d *predict.Decision, t *predict.Tool, f *predict.Fill) WrongClass {
	switch {
	case f.Repeated && !r.wroteSince(h, d, t.Name, f):
		return WrongRedundant
	case t.Counts.Failed > 0 && t.Counts.OK+t.Counts.Unknown == 0:
		return WrongUnsupported
	case d.None():
		return WrongNone
	case d.Next != t.Name:
		return WrongTool
	case !h.SameCall(d.Call, f):
		return WrongArgument
	case d.Multiple:
		return WrongParallel
	}
	return WrongOther
}

// wroteSince reports whether anything may have been written since the same call
// was last made.
func (r *replayer) wroteSince(h *predict.History, d *predict.Decision, tool trace.Name, f *predict.Fill) bool {
	before := h.Before(d.Before)
	for i := range before {
		call := d.Before - 1 - i
		name := h.Call(call).Tool
		if name == tool && h.SameCall(call, f) {
			return false
		}
		if r.effects == nil || r.effects(name) != predict.EffectReads {
			return true
		}
	}
	return true
}

// recovers makes the recovery call where the last two calls failed, whatever else would
// be called (AutoTool, section 5.2 and appendix C).
func (r *replayer) recovers(h *predict.History, d *predict.Decision, v *Verdict) bool {
	symbol := r.p.Model().Symbol(r.o.Recovery)
	if r.o.Recovery == (trace.Name{}) || symbol == 0 || d.Before < 2 {
		return false
	}
	for i := d.Before - 2; i < d.Before; i++ {
		if h.Call(i).Status != trace.StatusFailed {
			return false
		}
	}
	v.Forced = true
	r.fire(h, d, v, symbol, 1)
	return true
}
