package logit

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// FitNear is FitFrom for a model that is near by. Newton's method takes a few readings of
// the rows from there, where FitFrom takes tens; what it does not reach, FitFrom does. Both
// stop where the gradient is small, but not at the same point of it.
func FitNear(start *Model, rows [][]float64, yes []bool, c float64) *Model {
	m, loss := prepare(rows, yes, c)
	w := m.weights(start)
	curvature := mat.NewSymDense(len(w), nil)
	step := mat.NewVecDense(len(w), nil)
	var factors mat.Cholesky
	for before := math.Inf(1); ; {
		steepest := loss.slope(w, curvature)
		if steepest <= loss.enough() {
			m.set(w)
			return m
		}
		if !(steepest < before/2) || !factors.Factorize(curvature) || factors.SolveVecTo(step, mat.NewVecDense(len(w), loss.grad)) != nil {
			return FitFrom(start, rows, yes, c)
		}
		before = steepest
		for j := range w {
			w[j] -= step.AtVec(j)
		}
	}
}

// slope fills l.grad with the gradient at a point and into with the second derivatives, and
// returns the largest part of the gradient.
func (l *loss) slope(w []float64, into *mat.SymDense) float64 {
	n := l.n
	l.known = false
	clear(l.grad)
	h := make([]float64, (n+1)*(n+1)) // the lower triangle
	row := make([]float64, n+1)
	for i, yes := range l.yes {
		row[n] = 1
		copy(row, l.row(i))
		z := 0.0
		for j, v := range row {
			z += float64(w[j] * v)
		}
		d := Sigmoid(z)
		weight := d * (1 - d)
		if yes {
			d--
		}
		for j, v := range row {
			l.grad[j] += float64(d * v)
			by, line := weight*v, h[j*(n+1):]
			line = line[:j+1]
			for k, other := range row[:len(line)] {
				line[k] += float64(by * other)
			}
		}
	}
	most := 0.0
	for j := range l.grad {
		l.grad[j] *= l.c
		penalised := j < n
		if penalised {
			l.grad[j] += w[j]
		}
		for k := range j + 1 {
			v := h[j*(n+1)+k] * l.c
			if j == k && penalised {
				v++
			}
			into.SetSym(j, k, v)
		}
		most = max(most, math.Abs(l.grad[j]))
	}
	return most
}
