package inertia

import (
	"cmp"
	"math"
	"strconv"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/holdout"
)

// The predictors that are replayed.
const (
	PredictorDefault = "default"
	PredictorPreset  = "autotool"
	PredictorTrigram = "3-gram"
	PredictorRecover = "3-gram-recovery"
)

// Predictors returns their names, in the order of reports.
func Predictors() []string {
	return []string{PredictorDefault, PredictorPreset, PredictorTrigram, PredictorRecover}
}

// A Run is a recorded trajectory to replay or to learn from.
type Run struct {
	History     *History
	Observation *Observation
	Task        string
}

// NewRun pairs a trajectory with what it teaches.
func NewRun(t *trace.Trajectory, o *Observation) *Run {
	return &Run{History: NewHistory(t), Observation: o, Task: o.Task}
}

// ReplayOptions are the choices of a replay. The zero value is the default.
type ReplayOptions struct {
	Order     int // of the graph
	Model     ModelOptions
	Predictor PredictorOptions
	Alpha     float64   // of CIPS; negative means 0, 0 means DefaultAlpha
	Alphas    []float64 // further weights, whose verdicts have the names that [PresetAt] gives
	Recovery  trace.Name
	Part      func(task string) int // deals tasks into the parts of calibration
	Only      []string              // predictors; nil means all

	// Uncalibrated leaves out the calibration: a call is as likely to be right as
	// its tool times its arguments.
	Uncalibrated bool

	// Ready, if set, is the model of the default predictor, and Counts what the
	// others are made of: nothing is trained. Without Counts the 3-grams are left
	// out.
	Ready  *Model
	Counts *Graph
}

// PresetAt returns the name of the verdicts of the preset with a weight of
// [ReplayOptions.Alphas].
func PresetAt(alpha float64) string {
	return PredictorPreset + "@" + strconv.FormatFloat(alpha, 'g', -1, 64)
}

func (o *ReplayOptions) alpha() float64 {
	switch {
	case o.Alpha == 0:
		return DefaultAlpha
	case o.Alpha < 0:
		return 0
	}
	return o.Alpha
}

// order returns the length of the graph's contexts: AutoTool needs its window.
func (o *ReplayOptions) order() int {
	if o.Order == 0 {
		return DefaultOrder
	}
	return max(o.Order, Window)
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
	By     Source // of the first wrong argument, with WrongArgument
	Forced bool   // a recovery call, whatever its score
	Tried  [sources]int
	Good   [sources]int
}

// A Replayed is the verdicts of one predictor on one trajectory.
type Replayed struct {
	Task     string
	Verdicts []Verdict
}

// Replay trains on some runs and replays others: the verdicts of each predictor
// on each test run, by name. It is a pure function of its arguments.
func Replay(train, test []*Run, o ReplayOptions) map[string][]Replayed {
	rs := newReplayers(train, o)
	out := map[string][]Replayed{}
	for _, run := range test {
		for _, r := range rs {
			out[r.name()] = append(out[r.name()], Replayed{run.Task, r.replay(run)})
		}
	}
	return out
}

// Counterparts of the model that baselines use: no states, contexts of two calls.
func newReplayers(train []*Run, o ReplayOptions) []*replayer {
	part := o.Part
	if part == nil {
		folds := holdout.HashFolds(calibrationParts, 1)
		part = folds.Of
	}
	var observations []*Observation
	var histories []*History
	for _, r := range train {
		observations = append(observations, r.Observation)
		histories = append(histories, r.History)
	}
	trained := NewTrained(o.order(), observations, part)
	graph, main := o.Counts, o.Ready
	if main == nil {
		graph = trained.Graph(-1)
		main = trained.Calibrated(o.Model, o.Predictor, histories, part)
		if o.Uncalibrated {
			main.calibration = Calibration{}
		}
	}
	var plain *Model
	if graph != nil {
		plain = graph.Model(ModelOptions{Order: Window, NoState: true})
	}
	any := o.Predictor
	any.Any, any.AfterUser = true, true
	var out []*replayer
	for _, name := range Predictors() {
		if o.Only != nil && !containsName(o.Only, name) {
			continue
		}
		r := &replayer{kind: name, o: o, effects: o.Predictor.Effects}
		switch name {
		case PredictorDefault:
			r.p = NewPredictor(main, o.Predictor)
		case PredictorPreset:
			r.p = NewPredictor(main, any)
			if graph != nil && (main.Info.NoState || main.Info.Order < Window) {
				r.p = NewPredictor(graph.Model(ModelOptions{}), any)
			}
			r.similarity, r.alpha = NewLexical(r.p.model), o.alpha()
			out = append(out, r)
			for _, alpha := range o.Alphas {
				other := *r
				other.as, other.alpha = PresetAt(alpha), alpha
				out = append(out, &other)
			}
			continue
		case PredictorTrigram, PredictorRecover:
			if plain == nil {
				continue
			}
			r.p = NewPredictor(plain, any)
		}
		out = append(out, r)
	}
	return out
}

func containsName(list []string, name string) bool {
	for _, s := range list {
		if s == name {
			return true
		}
	}
	return false
}

// replayer replays trajectories for one predictor.
type replayer struct {
	kind       string
	o          ReplayOptions
	p          *Predictor
	similarity Similarity
	effects    Effects
	as         string  // whose verdicts they are, if that is not the kind
	alpha      float64 // of the preset
	said       thoughts
}

func (r *replayer) name() string { return cmp.Or(r.as, r.kind) }

func (r *replayer) replay(run *Run) []Verdict {
	h := run.History
	decisions := run.Observation.Decisions
	out := make([]Verdict, 0, len(decisions))
	available := availableTools(h.t)
	if available != nil {
		r.p.options.Available = available
	}
	for i := range decisions {
		d := &decisions[i]
		v := Verdict{Inside: d.State == StateInside, None: d.None(), Status: d.Status, Bits: math.NaN(), CallBits: math.NaN()}
		if r.kind == PredictorPreset {
			r.score(h, d, &v)
		} else {
			r.predict(h, d, &v)
		}
		out = append(out, v)
	}
	r.p.options.Available = r.o.Predictor.Available
	return out
}

// availableTools returns the tools that were offered, nil if that is not recorded.
func availableTools(t *trace.Trajectory) func(trace.Name) bool {
	if len(t.Tools) == 0 {
		return nil
	}
	offered := make(map[trace.Name]bool, len(t.Tools))
	for i := range t.Tools {
		offered[t.Tools[i].Name] = true
	}
	return func(n trace.Name) bool { return offered[n] }
}

// predict asks a model with probabilities.
func (r *replayer) predict(h *History, d *Decision, v *Verdict) {
	m := r.p.model
	unknown := m.Distribution(m.ContextOf(d.State, h.before(d.Before)), r.p.p)
	actual, p := m.outcome(d.Next), unknown
	if d.None() || actual != 0 {
		p = r.p.p[actual]
		v.Rank = rank(r.p.p, actual)
	}
	v.Bits = -log2(p)
	if !d.None() {
		calls := 1 - r.p.p[noneSymbol]
		v.CallBits = -log2(p / calls)
		if v.Rank > 0 {
			v.OfCalls = v.Rank
			if r.p.p[noneSymbol] >= p {
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
	best := r.p.top(1)[0]
	score := r.p.p[best]
	if r.kind == PredictorRecover {
		if tool, ok := r.recovers(h, d); ok {
			best, score, v.Forced = tool, 1, true
		}
	}
	r.fire(h, d, v, best, score)
}

// score asks AutoTool.
func (r *replayer) score(h *History, d *Decision, v *Verdict) {
	said := r.said.before(h.t, d.Turn)
	candidates := r.p.model.Candidates(h.before(d.Before), r.alpha, func(s uint32) float64 { return r.similarity.Score(said, s) })
	actual := r.p.model.Symbol(d.Next)
	for i, c := range candidates {
		if !d.None() && c.Symbol == actual {
			v.Rank, v.OfCalls = i+1, i+1
		}
	}
	if !v.Inside && len(candidates) > 0 {
		r.fire(h, d, v, candidates[0].Symbol, candidates[0].CIPS)
	}
}

// fire judges a call of a tool, if it can be filled in.
func (r *replayer) fire(h *History, d *Decision, v *Verdict, symbol uint32, score float64) {
	m := r.p.model
	if symbol == noneSymbol || r.p.options.Available != nil && !r.p.options.Available(m.tools[symbol].Name) {
		return
	}
	fill := m.fill(h.viewAt(d), symbol, &r.p.options.Fill)
	if !fill.Complete {
		return
	}
	r.judge(h, d, v, Firing{Symbol: symbol, Score: score, Fill: fill})
}

// judge compares a call with what was recorded.
func (r *replayer) judge(h *History, d *Decision, v *Verdict, f Firing) {
	t := &r.p.model.tools[f.Symbol]
	v.Fires, v.Score = true, f.Score
	v.Right = h.right(d, t.Name, &f.Fill)
	if !d.None() && d.Next == t.Name {
		wrong := h.wrong(d, &f.Fill)
		for _, a := range f.Fill.Args {
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
		v.Wrong = r.classify(h, d, t, &f.Fill)
	}
}

func (r *replayer) classify(h *History, d *Decision, t *Tool, f *Fill) WrongClass {
	switch {
	case f.Repeated && !r.wroteSince(h, d, t.Name, f):
		return WrongRedundant
	case t.Counts.Failed > 0 && t.Counts.OK+t.Counts.Unknown == 0:
		return WrongUnsupported
	case d.None():
		return WrongNone
	case d.Next != t.Name:
		return WrongTool
	case len(h.wrong(d, f)) > 0 || len(f.Args) != len(h.arguments(h.calls[d.Call])):
		return WrongArgument
	case d.Multiple:
		return WrongParallel
	}
	return WrongOther
}

// wroteSince reports whether anything may have been written since the same call
// was last made.
func (r *replayer) wroteSince(h *History, d *Decision, tool trace.Name, f *Fill) bool {
	for i := d.Before - 1; i >= since(d.Before); i-- {
		call := h.calls[i]
		name := h.t.Calls[call].Tool
		if name == tool && h.sameCall(call, f) {
			return false
		}
		if r.effects == nil || r.effects(name) != EffectReads {
			return true
		}
	}
	return true
}

func (h *History) sameCall(call int, f *Fill) bool {
	if len(h.arguments(call)) != len(f.Args) {
		return false
	}
	for _, a := range f.Args {
		if h.arg(call, a.Param) != a.Value {
			return false
		}
	}
	return true
}

// recovers returns the recovery call where the last two calls failed.
func (r *replayer) recovers(h *History, d *Decision) (uint32, bool) {
	symbol := r.p.model.Symbol(r.o.Recovery)
	if r.o.Recovery == noName || symbol == 0 {
		return 0, false
	}
	var events []Event
	for i := max(0, d.Before-2); i < d.Before; i++ { // the last two tell
		events = append(events, Event{Failed: h.t.Calls[h.calls[i]].Status == trace.StatusFailed})
	}
	return symbol, Gate{}.Recovers(events)
}

// Fresh returns a run of the same trajectory that shares nothing that changes, for
// another goroutine.
func (r *Run) Fresh() *Run {
	return &Run{History: NewHistory(r.History.t), Observation: r.Observation, Task: r.Task}
}
