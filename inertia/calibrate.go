package inertia

import (
	"cmp"
	"math"
	"slices"

	"github.com/awo-dev/awo/internal/elementary"
	"github.com/awo-dev/awo/trace"
)

// Features are what the chance of a call to be right is judged by.
type Features struct {
	Tool  float64 // probability that the turn makes this one call
	Fill  float64 // probability that its arguments are right
	Calls int     // calls before this one
	Run   int     // calls of the same tool right before this one
	Left  int     // elements of the list that an argument walks that are left; 0 without a list
	All   int     // elements of that list
	Named bool    // the user has mentioned an argument
	Other bool    // the user has mentioned another identifier that could stand there
	Place Place
}

// terms is how many numbers the curve weighs.
const curveTerms = 10

// terms returns what the curve weighs.
func (f *Features) terms() [curveTerms]float64 {
	x := [curveTerms]float64{1, logit(f.Tool * f.Fill), logit(f.Fill), elementary.Log1p(float64(f.Run))}
	if f.All > 0 {
		x[4] = 1 / float64(f.All)
		x[5] = float64(f.Left) / float64(f.All)
	}
	if f.Named {
		x[6] = 1
	}
	if f.Other {
		x[7] = 1
	}
	x[8] = elementary.Log1p(float64(f.Calls))
	if f.Place.Repeated {
		x[9] = 1
	}
	return x
}

// A Place is the situation in which a call would be made.
type Place struct {
	Tool, Last trace.Name // Last is zero before the first call
	State      State
	Class      Class // of the argument that is least sure
	List       bool  // some argument is the next element of a list
	Repeated   bool  // the same call was made before
}

func (p Place) compare(o Place) int {
	bit := func(b bool) int {
		if b {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(nameText(p.Tool), nameText(o.Tool)), cmp.Compare(nameText(p.Last), nameText(o.Last)),
		cmp.Compare(p.State, o.State), cmp.Compare(p.Class, o.Class), cmp.Compare(bit(p.List), bit(o.List)), cmp.Compare(bit(p.Repeated), bit(o.Repeated)))
}

// An Example is a call that could have been made in a trajectory that the model
// had not seen, and whether it would have been right.
type Example struct {
	Features
	Right bool
}

// A Calibration turns features into the probability that a call is right: a
// logistic curve, drawn towards the share of the same place. Both come from
// held-out folds. The zero value multiplies the probabilities of tool and
// arguments.
type Calibration struct {
	Examples int
	Weights  [curveTerms]float64
	Places   []PlaceCount // in order
}

// A PlaceCount is how often calls would have been right in a place.
type PlaceCount struct {
	Place
	Tried, Right uint64
}

// The prior of a place's share, in examples, and the ridge of the curve: with few
// examples the curve stays near the product.
const (
	placePrior = 20
	ridge      = 1
	newton     = 40
)

// start is the curve without any examples.
var startWeights = [curveTerms]float64{0, 1, 9: -2}

// Calibrate fits a calibration. The order of the examples does not matter to it.
func Calibrate(examples []Example) Calibration {
	c := Calibration{Examples: len(examples), Weights: startWeights}
	if len(examples) == 0 {
		return c
	}
	c.Weights = fit(rowsOf(examples))
	counts := map[Place]*PlaceCount{}
	for i := range examples {
		n := counts[examples[i].Place]
		if n == nil {
			n = &PlaceCount{Place: examples[i].Place}
			counts[examples[i].Place] = n
		}
		n.Tried++
		if examples[i].Right {
			n.Right++
		}
	}
	for _, n := range counts {
		c.Places = append(c.Places, *n)
	}
	slices.SortFunc(c.Places, func(a, b PlaceCount) int { return a.Place.compare(b.Place) })
	return c
}

// row is the examples that are one to the curve.
type row struct {
	x            [curveTerms]float64
	wrong, right int
}

// rowsOf returns the examples as the curve sees them, in order: sums of fractions depend on
// it. Those of one row are added one by one, which gives the sums that they had alone.
func rowsOf(examples []Example) []row {
	rows := make([]row, len(examples))
	for i := range examples {
		rows[i].x = examples[i].terms()
		if examples[i].Right {
			rows[i].right = 1
		} else {
			rows[i].wrong = 1
		}
	}
	slices.SortFunc(rows, func(a, b row) int { return slices.Compare(a.x[:], b.x[:]) })
	kept := rows[:0]
	for _, r := range rows {
		if n := len(kept); n > 0 && kept[n-1].x == r.x {
			kept[n-1].wrong += r.wrong
			kept[n-1].right += r.right
			continue
		}
		kept = append(kept, r)
	}
	return kept
}

// fit fits the ridge logistic regression around startWeights by Newton's method,
// with steps halved until they help. Weights of the two probabilities stay above
// 0: a call does not become likelier by being less likely.
func fit(rows []row) [curveTerms]float64 {
	w := startWeights
	loss := penalty(rows, w)
	for range newton {
		delta := direction(rows, w)
		size, better := 1.0, false
		for range 30 {
			next := w
			for j := range w {
				next[j] -= float64(size * delta[j])
			}
			next[1], next[2] = max(next[1], 0), max(next[2], 0)
			if l := penalty(rows, next); l < loss-1e-12 {
				w, loss, better = next, l, true
				break
			}
			size /= 2
		}
		if !better {
			break
		}
	}
	return w
}

// penalty is the loss of the curve in nats, with the ridge.
func penalty(rows []row, w [curveTerms]float64) float64 {
	loss := 0.0
	for j := range w {
		loss += float64(ridge / 2 * (w[j] - startWeights[j]) * (w[j] - startWeights[j]))
	}
	for i := range rows {
		r := &rows[i]
		z := dot(&r.x, &w)
		both := elementary.Log1p(elementary.Exp(-math.Abs(z)))
		wrong, right := max(0, z)+both, max(0, -z)+both
		for range r.wrong {
			loss += wrong
		}
		for range r.right {
			loss += right
		}
	}
	return loss
}

func dot(x, w *[curveTerms]float64) float64 {
	z := 0.0
	for j := range x {
		z += float64(x[j] * w[j])
	}
	return z
}

// direction returns what to take off the weights.
func direction(rows []row, w [curveTerms]float64) [curveTerms]float64 {
	var gradient [curveTerms]float64
	var hessian [curveTerms][curveTerms]float64
	for j := range w {
		gradient[j] = ridge * (w[j] - startWeights[j])
		hessian[j][j] = ridge
	}
	for i := range rows {
		r := &rows[i]
		p := sigmoid(dot(&r.x, &w))
		spread := float64(p * (1 - p))
		for j, x := range &r.x {
			if x == 0 {
				continue
			}
			gradient[j] = addTimes(gradient[j], float64(p*x), r.wrong)
			gradient[j] = addTimes(gradient[j], float64((p-1)*x), r.right)
			weighted := float64(spread * x)
			for k := range &r.x {
				if y := r.x[k]; y != 0 {
					hessian[j][k] = addTimes(hessian[j][k], float64(weighted*y), r.wrong+r.right)
				}
			}
		}
	}
	return solve(hessian, gradient)
}

// addTimes adds x to a sum n times.
func addTimes(sum, x float64, n int) float64 {
	for range n {
		sum += x
	}
	return sum
}

// solve solves a positive definite system.
func solve(a [curveTerms][curveTerms]float64, b [curveTerms]float64) [curveTerms]float64 {
	for i := range b {
		for j := i + 1; j < len(b); j++ {
			f := a[j][i] / a[i][i]
			for k := i; k < len(b); k++ {
				a[j][k] -= float64(f * a[i][k])
			}
			b[j] -= float64(f * b[i])
		}
	}
	for i := len(b) - 1; i >= 0; i-- {
		for k := i + 1; k < len(b); k++ {
			b[i] -= float64(a[i][k] * b[k])
		}
		b[i] /= a[i][i]
	}
	return b
}

func logit(p float64) float64 {
	p = min(max(p, 1e-6), 1-1e-6)
	return elementary.Log(p / (1 - p))
}

func sigmoid(x float64) float64 { return 1 / (1 + elementary.Exp(-x)) }

// Probability returns the probability that a call is right.
func (c *Calibration) Probability(f Features) float64 {
	if c.Examples == 0 {
		return f.Tool * f.Fill
	}
	x := f.terms()
	p := sigmoid(dot(&x, &c.Weights))
	i, ok := slices.BinarySearchFunc(c.Places, f.Place, func(n PlaceCount, p Place) int { return n.Place.compare(p) })
	if !ok {
		return p
	}
	n := c.Places[i]
	return (float64(n.Right) + float64(placePrior*p)) / (float64(n.Tried) + placePrior)
}

// Merge returns the calibration of the examples of both: places add up, and the
// curves are averaged by the number of examples.
func (c Calibration) Merge(o Calibration) Calibration {
	out := Calibration{Examples: c.Examples + o.Examples, Weights: startWeights}
	if out.Examples == 0 {
		return out
	}
	for j := range out.Weights {
		out.Weights[j] = (float64(float64(c.Examples)*c.Weights[j]) + float64(float64(o.Examples)*o.Weights[j])) / float64(out.Examples)
	}
	counts := map[Place]PlaceCount{}
	for _, places := range [][]PlaceCount{c.Places, o.Places} {
		for _, p := range places {
			n := counts[p.Place]
			n.Place, n.Tried, n.Right = p.Place, n.Tried+p.Tried, n.Right+p.Right
			counts[p.Place] = n
		}
	}
	for _, n := range counts {
		out.Places = append(out.Places, n)
	}
	slices.SortFunc(out.Places, func(a, b PlaceCount) int { return a.Place.compare(b.Place) })
	return out
}

// Recalibrated returns m with another calibration. It shares everything else.
func (m *Model) Recalibrated(c Calibration) *Model {
	out := *m
	out.calibration = c
	return &out
}
