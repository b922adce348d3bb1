// Package logit fits logistic regressions with an L2 penalty.
//
// Rows of features and a yes or no for each come in, a Model goes out. Both are kept
// in memory. The package knows nothing of what the features mean.
package logit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/optimize"
)

// A Model gives the probability of yes: 1/(1 + exp(-(Intercept + sum Coef (x -
// Mean)/Scale))).
type Model struct {
	Mean, Scale, Coef []float64
	Intercept         float64
}

// Fit returns the model that minimises |Coef|^2/2 + c sum loss, the convention of
// LIBLINEAR, over standardised features; the intercept is not penalised. Features
// without variance have the coefficient 0. The rows must not be empty and are not
// kept.
//
// Note: the sums of gonum run in an order that differs between processors, so that
// coefficients agree to about eight digits between machines; what is written is
// rounded to fewer.
func Fit(rows [][]float64, yes []bool, c float64) *Model {
	return FitFrom(nil, rows, yes, c)
}

// FitFrom is Fit that begins at a model, which is faster where the rows are nearly
// those of that model; nil begins at 0.
func FitFrom(start *Model, rows [][]float64, yes []bool, c float64) *Model {
	n := len(rows[0])
	m := &Model{Mean: make([]float64, n), Scale: make([]float64, n), Coef: make([]float64, n)}
	for _, row := range rows {
		for j, x := range row {
			m.Mean[j] += x / float64(len(rows))
		}
	}
	for _, row := range rows {
		for j, x := range row {
			d := x - m.Mean[j]
			m.Scale[j] += float64(d*d) / float64(len(rows))
		}
	}
	for j, v := range m.Scale {
		m.Scale[j] = 1
		if v > 1e-18 {
			m.Scale[j] = math.Sqrt(v)
		}
	}
	flat := make([]float64, 0, len(rows)*n)
	for _, row := range rows {
		for j, x := range row {
			flat = append(flat, (x-m.Mean[j])/m.Scale[j])
		}
	}
	loss := &loss{flat: flat, yes: yes, n: n, c: c, grad: make([]float64, n+1)}
	problem := optimize.Problem{
		Func: func(w []float64) float64 { return loss.at(w).value },
		Grad: func(grad, w []float64) { copy(grad, loss.at(w).grad) },
	}
	w := make([]float64, n+1)
	if start != nil {
		w[n] = start.Intercept
		for j := range n {
			// The same function of x over the new mean and scale.
			w[j] = start.Coef[j] / start.Scale[j] * m.Scale[j]
			w[n] += float64(start.Coef[j] / start.Scale[j] * (m.Mean[j] - start.Mean[j]))
		}
	}
	settings := &optimize.Settings{GradientThreshold: 1e-6 * (1 + c*float64(len(rows))), MajorIterations: 500, Converger: optimize.NeverTerminate{}}
	result, err := optimize.Minimize(problem, w, settings, &optimize.LBFGS{})
	if result == nil {
		// The loss is convex and smooth everywhere: only a broken invariant of ours
		// leaves no point at all.
		panic("logit: no minimum: " + err.Error())
	}
	copy(m.Coef, result.X[:n])
	m.Intercept = result.X[n]
	return m
}

// A loss is what is minimised. The value and the gradient at a point share nearly all
// of their work, and are asked for one after the other.
type loss struct {
	flat []float64 // standardised rows
	yes  []bool
	n    int
	c    float64

	known bool
	w     []float64
	value float64
	grad  []float64
}

func (l *loss) at(w []float64) *loss {
	if l.known && slices.Equal(w, l.w) {
		return l
	}
	l.known, l.w = true, append(l.w[:0], w...)
	l.value = 0
	clear(l.grad)
	for i, yes := range l.yes {
		x := l.flat[i*l.n : (i+1)*l.n]
		z := w[l.n]
		for j, v := range x {
			z += float64(w[j] * v)
		}
		e := math.Exp(-math.Abs(z))
		d := 1 / (1 + e) // of the more likely answer
		if z < 0 {
			d = e / (1 + e)
		}
		value := math.Log1p(e)
		if yes {
			d--
			value += max(-z, 0)
		} else {
			value += max(z, 0)
		}
		l.value += value
		for j, v := range x {
			l.grad[j] += float64(d * v)
		}
		l.grad[l.n] += d
	}
	l.value *= l.c
	for j := range l.grad {
		l.grad[j] *= l.c
	}
	for j, x := range w[:l.n] {
		l.value += float64(x*x) / 2
		l.grad[j] += x
	}
	return l
}

// Score returns the log odds of yes.
func (m *Model) Score(x []float64) float64 {
	z := m.Intercept
	for j, v := range x {
		z += float64(m.Coef[j] * ((v - m.Mean[j]) / m.Scale[j]))
	}
	return z
}

// Probability returns the probability of yes.
func (m *Model) Probability(x []float64) float64 { return Sigmoid(m.Score(x)) }

// Shift moves the intercept from the share of yes among the rows to the share that
// there is among what the model is asked about.
func (m *Model) Shift(rows, asked float64) {
	m.Intercept += logOdds(asked) - logOdds(rows)
}

func logOdds(p float64) float64 {
	p = min(max(p, 1e-9), 1-1e-9)
	return math.Log(p / (1 - p))
}

// Sigmoid returns 1/(1 + exp(-z)).
func Sigmoid(z float64) float64 {
	if z >= 0 {
		return 1 / (1 + math.Exp(-z))
	}
	e := math.Exp(z)
	return e / (1 + e)
}
