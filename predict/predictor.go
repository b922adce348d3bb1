package predict

import (
	"cmp"
	"math"
	"slices"

	"github.com/awo-dev/awo/trace"
)

// Effect says what a call of a tool may change.
type Effect uint8

// The effects.
const (
	EffectUnknown Effect = iota
	EffectReads          // declared to change nothing
	EffectWrites
)

// String returns "unknown", "reads" or "writes".
func (e Effect) String() string { return [...]string{"unknown", "reads", "writes"}[e] }

// Effects says what is declared about a tool. Nil declares nothing.
type Effects func(tool trace.Name) Effect

// A Prediction is what may come next.
type Prediction struct {
	Symbol      uint32 // 0 is none
	Tool        trace.Name
	Probability float64
}

// A Firing is a call that could be made without asking the language model.
type Firing struct {
	Symbol uint32
	Score  float64 // what is compared with theta; the default predictor's is the probability that the call is right
	Features
	Call Fill
}

// PredictorOptions are the choices of a predictor. The zero value is the default.
type PredictorOptions struct {
	Effects   Effects
	Any       bool // fires calls of any tool; without it only of tools that read
	AfterUser bool // fires right after user messages too
	Fill      FillOptions
	Available func(trace.Name) bool // tools that may be called; nil allows all
	Most      int                   // tools that are considered at a turn, the likeliest; 0 means 3

	// Each runs independent pieces of work, in any order, when a model is calibrated; nil
	// runs them one after the other. It changes no result.
	Each func(n int, do func(i int))
}

// A Predictor predicts the next call at a turn of a history. It keeps scratch
// memory and is not safe for concurrent use; several may share one Model.
type Predictor struct {
	model   *Model
	options PredictorOptions
	p       []float64
	ranked  []uint32

	learning bool // examples are gathered: all calls are looked at
}

// NewPredictor returns a predictor on m.
func NewPredictor(m *Model, o PredictorOptions) *Predictor {
	if o.Most == 0 {
		o.Most = 3
	}
	return &Predictor{model: m, options: o, p: make([]float64, m.Alphabet())}
}

// Next returns the likeliest outcomes of a decision, at most n, and the
// probability of a tool that the model does not know.
func (p *Predictor) Next(h *History, d *Decision, n int) ([]Prediction, float64) {
	unknown := p.model.Distribution(p.model.ContextOf(d.State, h.Before(d.Before)), p.p)
	out := make([]Prediction, 0, n)
	for _, s := range p.top(n) {
		out = append(out, Prediction{s, p.model.tools[s].Name, p.p[s]})
	}
	return out, unknown
}

// top returns the symbols of the n largest probabilities, of equal ones in order.
func (p *Predictor) top(n int) []uint32 {
	p.ranked = p.ranked[:0]
	least := math.Inf(-1) // what a symbol must exceed
	for s, x := range p.p {
		if x <= least {
			continue
		}
		at, _ := slices.BinarySearchFunc(p.ranked, x, func(r uint32, x float64) int {
			if p.p[r] >= x {
				return -1
			}
			return 1
		})
		if at >= n {
			continue
		}
		if len(p.ranked) == n {
			p.ranked = p.ranked[:n-1]
		}
		p.ranked = slices.Insert(p.ranked, at, uint32(s))
		if len(p.ranked) == n {
			least = p.p[p.ranked[n-1]]
		}
	}
	return p.ranked
}

// Fire returns the call that is likeliest to be right, with its arguments; false
// if there is none that the options allow and that can be filled in. Whether the
// likelihood is enough is for the caller to say, see [Threshold], and whether
// it is time for the [Gate].
func (p *Predictor) Fire(h *History, d *Decision) (Firing, bool) {
	if d.AfterUser && !p.options.AfterUser {
		return Firing{}, false
	}
	best, found := Firing{}, false
	p.each(h, d, func(f Firing) {
		if !found || f.Score > best.Score {
			best, found = f, true
		}
	})
	return best, found
}

// each calls do for the calls that could be made at a decision.
func (p *Predictor) each(h *History, d *Decision, do func(Firing)) {
	m := p.model
	before := h.Before(d.Before)
	m.Distribution(m.ContextOf(d.State, before), p.p)
	v := h.viewAt(d)
	for _, s := range slices.Clone(p.top(p.options.Most + 1)) {
		if s == NoneSymbol || !p.allows(m.tools[s].Name) {
			continue
		}
		fill := m.fillAs(v, s, &p.options.Fill, true)
		if !fill.Complete || fill.Repeated && m.calibration.Examples == 0 && !p.learning {
			continue // nothing says how often a call is repeated
		}
		f := Firing{Symbol: s, Call: fill, Features: Features{Name: m.tools[s].Name, Tool: p.p[s] * m.tools[s].single(), Fill: fill.Share(), Repeated: fill.Repeated}}
		for _, a := range fill.Args {
			f.Named, f.Other = f.Named || a.Named, f.Other || a.Other
		}
		for f.Run < len(before) && before[len(before)-1-f.Run] == f.Name {
			f.Run++
		}
		f.Score = m.calibration.Probability(f.Features)
		do(f)
	}
}

func (p *Predictor) allows(tool trace.Name) bool {
	if p.options.Available != nil && !p.options.Available(tool) {
		return false
	}
	return p.options.Any || p.options.Effects != nil && p.options.Effects(tool) == EffectReads
}

// Threshold returns the probability from which on a call is worth making: where
// the turn it saves, times the probability, outweighs what a wrong call costs,
// cost turns, times the rest.
func Threshold(cost float64) float64 { return cost / (1 + cost) }

// examples appends what the predictor could have called in a trajectory.
func (p *Predictor) examples(h *History, to []Example) []Example {
	p.learning = true
	decisions := h.Decisions()
	for i := range decisions {
		d := &decisions[i]
		if d.State == StateInside || d.AfterUser && !p.options.AfterUser {
			continue
		}
		p.each(h, d, func(f Firing) {
			to = append(to, Example{f.Features, h.Right(d, f.Name, &f.Call)})
		})
	}
	return to
}

// Right reports whether the turn of d makes exactly this call.
func (h *History) Right(d *Decision, tool trace.Name, f *Fill) bool {
	return !d.None() && !d.Multiple && d.Next == tool && h.SameCall(d.Call, f)
}

// Wrong returns the filled arguments that are not those of call number n of the model.
func (h *History) Wrong(n int, f *Fill) []Filled {
	call := h.calls[n]
	var out []Filled
	for _, a := range f.Args {
		if h.arg(call, a.Param) != a.Value {
			out = append(out, a)
		}
	}
	return out
}

// RankOf returns the place of a symbol among the outcomes, from 1.
func RankOf(p []float64, symbol uint32) int {
	r := 1
	for s, x := range p {
		if c := cmp.Compare(x, p[symbol]); c > 0 || c == 0 && uint32(s) < symbol {
			r++
		}
	}
	return r
}

// Offer is a ranked outcome of a turn, with the call that it means filled in as
// far as it can be.
type Offer struct {
	Prediction
	Effect Effect
	Fill   Fill
	Right  float64 // probability that exactly this call is made; 0 for none, and where it cannot be filled in
}

// Offers returns the likeliest outcomes of a decision, at most n, whether or not
// the options allow to make the call.
func (p *Predictor) Offers(h *History, d *Decision, n int) []Offer {
	ranked, _ := p.Next(h, d, n)
	wide := *p
	wide.options.Any, wide.options.Most, wide.learning = true, n, true
	wide.p = make([]float64, len(p.p))
	wide.ranked = nil
	calls := map[uint32]Firing{}
	wide.each(h, d, func(f Firing) { calls[f.Symbol] = f })
	v := h.viewAt(d)
	var out []Offer
	for _, r := range ranked {
		o := Offer{Prediction: r}
		if r.Symbol != NoneSymbol {
			o.Effect = p.model.tools[r.Symbol].Effect
			f, ok := calls[r.Symbol]
			o.Fill, o.Right = f.Call, f.Score
			if !ok {
				o.Fill = p.model.fill(v, r.Symbol, &p.options.Fill)
			}
		}
		out = append(out, o)
	}
	return out
}

// Now returns the decision that comes after everything that a history holds: the
// next turn of the model.
func (h *History) Now() Decision {
	t := *h.t
	t.Turns = append(slices.Clone(h.t.Turns), trace.Turn{FirstCall: len(h.t.Calls)})
	open := History{t: &t, calls: h.calls}
	all := open.Decisions()
	d := all[len(all)-1]
	d.Before, d.Call = len(h.calls), -1
	return d
}

// Events returns the calls so far as the gate sees them.
func (h *History) Events() []Event {
	var out []Event
	for i := range h.t.Calls {
		c := &h.t.Calls[i]
		if c.Origin == trace.OriginModel || c.Origin == trace.OriginInertial {
			out = append(out, Event{Inertial: c.Origin == trace.OriginInertial, Failed: c.Status == trace.StatusFailed})
		}
	}
	return out
}

// Model returns the model that the predictor asks.
func (p *Predictor) Model() *Model { return p.model }

// Offer tells the predictor which tools are offered from now on, nil for all.
func (p *Predictor) Offer(available func(tool trace.Name) bool) { p.options.Available = available }

// Fill returns the call of a tool at a decision, filled in as far as it can be.
func (p *Predictor) Fill(h *History, d *Decision, symbol uint32) Fill {
	return p.model.fill(h.viewAt(d), symbol, &p.options.Fill)
}

// Offered returns the tools that a trajectory offers, nil if that is not recorded.
func Offered(t *trace.Trajectory) func(trace.Name) bool {
	if len(t.Tools) == 0 {
		return nil
	}
	offered := make(map[trace.Name]bool, len(t.Tools))
	for i := range t.Tools {
		offered[t.Tools[i].Name] = true
	}
	return func(n trace.Name) bool { return offered[n] }
}
