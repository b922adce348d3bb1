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
	m, loss := prepare(rows, yes, c)
	problem := optimize.Problem{
		Func: func(w []float64) float64 { return loss.at(w).value },
		Grad: func(grad, w []float64) { copy(grad, loss.at(w).grad) },
	}
	w := m.weights(start)
	settings := &optimize.Settings{GradientThreshold: loss.enough(), MajorIterations: 500, Converger: optimize.NeverTerminate{}}
	result, err := optimize.Minimize(problem, w, settings, &optimize.LBFGS{})
	if result == nil {
		// The loss is convex and smooth everywhere: only a broken invariant of ours
		// leaves no point at all.
		panic("logit: no minimum: " + err.Error())
	}
	m.set(result.X)
	return m
}

// prepare returns a model without coefficients, and what it has to minimise.
func prepare(rows [][]float64, yes []bool, c float64) (*Model, *loss) {
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
	return m, &loss{flat: flat, yes: yes, n: n, c: c, grad: make([]float64, n+1)}
}

// weights returns the coefficients and the intercept that make of m the same function as
// start; 0 if that is nil.
func (m *Model) weights(start *Model) []float64 {
	n := len(m.Coef)
	w := make([]float64, n+1)
	if start == nil {
		return w
	}
	w[n] = start.Intercept
	for j := range n {
		w[j] = start.Coef[j] / start.Scale[j] * m.Scale[j]
		w[n] += float64(start.Coef[j] / start.Scale[j] * (m.Mean[j] - start.Mean[j]))
	}
	return w
}

func (m *Model) set(w []float64) {
	n := copy(m.Coef, w)
	m.Intercept = w[n]
}

// A loss is what is minimised. The value and the gradient at a point share nearly all
// of their work, and are asked for one after the other.
type loss struct {
	flat []float64 // standardised rows
	yes  []bool
	n    int
	c    float64

	noValue bool // the gradient is all that is wanted

	known bool
	w     []float64
	value float64
	grad  []float64
}

// enough is how small the largest part of the gradient has to be.
func (l *loss) enough() float64 { return 1e-6 * (1 + l.c*float64(len(l.yes))) }

func (l *loss) at(w []float64) *loss {
	if l.known && slices.Equal(w, l.w) {
		return l
	}
	l.known, l.w = true, append(l.w[:0], w...)
	l.value = 0
	clear(l.grad)
	l.addAll()
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

func (l *loss) row(i int) []float64 { return l.flat[i*l.n : (i+1)*l.n] }

// addAll adds the losses of all rows at w, and their parts of the gradient.
func (l *loss) addAll() {
	i := 0
	for ; i+abreast <= len(l.yes); i += abreast {
		l.addAbreast(i)
	}
	for ; i < len(l.yes); i++ {
		x := l.row(i)
		z := l.w[l.n]
		for j, v := range x {
			z += float64(l.w[j] * v)
		}
		d := l.add(z, l.yes[i])
		for j, v := range x {
			l.grad[j] += float64(d * v)
		}
	}
}

// add adds the loss of a row with the log odds z, and its part of the gradient of the
// intercept, which it returns.
func (l *loss) add(z float64, yes bool) float64 {
	e := math.Exp(-math.Abs(z))
	d := 1 / (1 + e) // of the more likely answer
	if z < 0 {
		d = e / (1 + e)
	}
	if !l.noValue {
		value := max(z, 0)
		if yes {
			value = max(-z, 0)
		}
		l.value += math.Log1p(e) + value
	}
	if yes {
		d--
	}
	l.grad[l.n] += d
	return d
}

// abreast is how many rows addAbreast adds at once: the sums of different rows do not wait
// for each other.
const abreast = 4

// addAbreast adds the rows from i on. Every sum has its terms in the order that they have
// one row after the other, and so the same value to the last bit.
func (l *loss) addAbreast(i int) {
	w := l.w[:l.n]
	a, b, c, d := l.row(i)[:len(w)], l.row(i + 1)[:len(w)], l.row(i + 2)[:len(w)], l.row(i + 3)[:len(w)]
	za, zb, zc, zd := l.w[l.n], l.w[l.n], l.w[l.n], l.w[l.n]
	for j, v := range w {
		za += float64(v * a[j])
		zb += float64(v * b[j])
		zc += float64(v * c[j])
		zd += float64(v * d[j])
	}
	da, db := l.add(za, l.yes[i]), l.add(zb, l.yes[i+1])
	dc, dd := l.add(zc, l.yes[i+2]), l.add(zd, l.yes[i+3])
	grad := l.grad[:len(w)]
	for j, g := range grad {
		g += float64(da * a[j])
		g += float64(db * b[j])
		g += float64(dc * c[j])
		grad[j] = g + float64(dd*d[j])
	}
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
