package predict

import (
	"math"
	"slices"
	"strconv"

	"github.com/awo-dev/awo/internal/logit"
	"github.com/awo-dev/awo/trace"
)

// Features are what the chance of a call to be right is judged by.
type Features struct {
	Name     trace.Name // the tool
	Tool     float64    // probability that the turn makes this one call
	Fill     float64    // probability that its arguments are right
	Run      int        // calls of the same tool right before this one
	Named    bool       // the user has mentioned an argument
	Other    bool       // the user has mentioned another identifier that could stand there
	Repeated bool       // the same call was made before
}

// numTerms is how many numbers a calibration weighs beside a constant.
const numTerms = 6

// terms returns what a calibration weighs.
func (f *Features) terms() []float64 {
	return []float64{logOdds(f.Tool * f.Fill), logOdds(f.Fill), math.Log1p(float64(f.Run)), float64(flag(f.Named)), float64(flag(f.Other)), float64(flag(f.Repeated))}
}

func flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}

func logOdds(p float64) float64 {
	p = min(max(p, 1e-6), 1-1e-6)
	return math.Log(p / (1 - p))
}

// An Example is a call that could have been made in a trajectory that the model had not
// seen, and whether it would have been right.
type Example struct {
	Features
	Right bool
}

// A Calibration turns features into the probability that a call is right, by a logistic
// curve that was fitted to examples held out. The zero value multiplies the probabilities
// of tool and arguments.
type Calibration struct {
	Examples int       `json:"examples"`
	Weights  []float64 `json:"weights"` // the constant first
}

// weight of the examples against the penalty of the curve's weights.
const calibrationC = 1

// Calibrate fits a calibration. The order of the examples does not matter to it.
func Calibrate(examples []Example) Calibration {
	if len(examples) == 0 {
		return Calibration{}
	}
	type row struct {
		x     []float64
		right bool
	}
	sorted := make([]row, len(examples))
	for i := range examples {
		sorted[i] = row{examples[i].terms(), examples[i].Right}
	}
	slices.SortFunc(sorted, func(a, b row) int { // sums of fractions depend on the order
		if c := slices.Compare(a.x, b.x); c != 0 {
			return c
		}
		return int(flag(a.right)) - int(flag(b.right))
	})
	rows, right := make([][]float64, len(sorted)), make([]bool, len(sorted))
	for i, r := range sorted {
		rows[i], right[i] = r.x, r.right
	}
	m := logit.Fit(rows, right, calibrationC)
	c := Calibration{Examples: len(examples), Weights: make([]float64, 1+numTerms)}
	c.Weights[0] = m.Intercept
	for j, w := range m.Coef {
		c.Weights[j+1] = w / m.Scale[j]
		c.Weights[0] -= c.Weights[j+1] * m.Mean[j]
	}
	for j, w := range c.Weights { // processors differ beyond these digits
		c.Weights[j], _ = strconv.ParseFloat(strconv.FormatFloat(w, 'g', 6, 64), 64)
	}
	return c
}

// Probability returns the probability that a call is right.
func (c *Calibration) Probability(f Features) float64 {
	if c.Examples == 0 {
		return f.Tool * f.Fill
	}
	z := c.Weights[0]
	for j, x := range f.terms() {
		z += c.Weights[j+1] * x
	}
	return logit.Sigmoid(z)
}

// Merge returns the calibration of the examples of both: the average of the curves, by
// their examples.
func (c Calibration) Merge(o Calibration) Calibration {
	if c.Examples == 0 || o.Examples == 0 {
		return Calibration{c.Examples + o.Examples, slices.Concat(c.Weights, o.Weights)}
	}
	out := Calibration{c.Examples + o.Examples, make([]float64, len(c.Weights))}
	for j := range out.Weights {
		out.Weights[j] = (float64(c.Examples)*c.Weights[j] + float64(o.Examples)*o.Weights[j]) / float64(out.Examples)
	}
	return out
}

// Calibration returns how the model judges calls.
func (m *Model) Calibration() Calibration { return m.calibration }

// Calibrated returns m with another calibration. It shares everything else.
func (m *Model) Calibrated(c Calibration) *Model {
	out := *m
	out.calibration = c
	return &out
}
