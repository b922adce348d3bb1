package backtest

import (
	"slices"

	"github.com/awo-dev/awo/metatool/compile"
)

// Sweep is a parameter of meta-tools, and the values of it that are tried. They
// are tested together with the techniques, on the same traces.
type Sweep struct {
	Parameter Parameter
	Values    []int
}

// Parameter is what a sweep changes.
type Parameter string

// The parameters. Of ParameterMaxTools a value says how many of the meta-tools are
// offered, those that add most on the training part.
const (
	ParameterThreshold Parameter = "threshold" // T, and how many turns each must add
	ParameterMaxTools  Parameter = "max_tools"
)

// SweepOutcome is what the values of a parameter come to.
type SweepOutcome struct {
	Parameter Parameter
	Technique string // whose meta-tools they are
	Values    []ValueOutcome
}

// ValueOutcome is what one value of a parameter comes to.
type ValueOutcome struct {
	Value int
	Outcome
}

// UseOutcome is what reading ahead comes to that begins at a P(use).
type UseOutcome struct {
	Use float64
	Outcome
}

// BestValue returns the value that saves most calling turns, of several the
// highest: a threshold then has the most evidence. 0 if nothing was tried.
func (s *SweepOutcome) BestValue() int {
	best := ValueOutcome{}
	for _, v := range s.Values {
		if v.CallingTurnsSaved >= best.CallingTurnsSaved {
			best = v
		}
	}
	return best.Value
}

// sweptValue says which value of which sweep a column is.
type sweptValue struct{ sweep, value int }

// sweep makes a column of each technique, and of each value that is tried. The
// technique of sweeps is the best of those measured that offer meta-tools.
func (r *run) sweep() {
	r.columns = slices.Clone(r.options.Techniques)
	var base *Technique
	for _, name := range []string{patterns.Name, awoAnywhere.Name, awo.Name} {
		at := slices.IndexFunc(r.options.Techniques, func(t Technique) bool { return t.Name == name && t.offer != nil })
		if base == nil && at >= 0 {
			base = &r.options.Techniques[at]
		}
	}
	if base == nil {
		return
	}
	for _, s := range r.options.Sweeps {
		if len(s.Values) == 0 {
			continue
		}
		r.out.Sweeps = append(r.out.Sweeps, SweepOutcome{Parameter: s.Parameter, Technique: base.Name})
		for _, value := range s.Values {
			offer := *base.offer
			if s.Parameter != ParameterThreshold || value != r.options.Compile.Extract.Threshold || value != r.options.Choose.MinTurns && !r.options.Choose.KeepMinTurns {
				offer = offer.with(s.Parameter, value)
			}
			r.columns = append(r.columns, offer.technique(base.Name, base.Doc))
			r.swept = append(r.swept, sweptValue{len(r.out.Sweeps) - 1, value})
		}
	}
}

// with returns the offer with another value of a parameter.
func (o offer) with(p Parameter, value int) offer {
	switch p {
	case ParameterThreshold:
		o.way.threshold = value
	case ParameterMaxTools:
		o.tools = value
	}
	return o
}

// ThresholdsTried are the thresholds that Thresholds tries.
var ThresholdsTried = [...]int{3, 5, 10, 20, 50}

// Thresholds back-tests the compiler with several thresholds.
func Thresholds(source compile.Source, o Options) (*SweepOutcome, error) {
	o.Techniques, o.Sweeps = []Technique{awoAnywhere}, []Sweep{{ParameterThreshold, ThresholdsTried[:]}}
	if o.Compile.Algorithm == compile.Patterns {
		o.Techniques[0] = patterns
	}
	r, err := Run(source, o)
	if err != nil {
		return nil, err
	}
	return &r.Sweeps[0], nil
}
