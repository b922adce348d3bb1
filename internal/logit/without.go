package logit

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// FitWithout returns, for each of so many groups of rows, what FitFrom(m, ...) returns for the
// rows of the other groups, nil where there are none: m is the model of all rows, which these
// are near. The second derivatives at m are summed up once, by group, and steps are taken with
// them from there, each of which reads the rows without any; what they do not reach, FitFrom
// does. It stops where the gradient is as small as FitFrom leaves it, but not at the same point
// of it.
func FitWithout(m *Model, rows [][]float64, yes []bool, group []int, groups int, c float64) []*Model {
	n := len(m.Coef)
	h := &heldOut{n: n, from: make([]int, groups+1)}
	order := make([]int, 0, len(rows)) // rows by group
	for g := range groups {
		for i := range rows {
			if group[i] == g {
				order = append(order, i)
			}
		}
		h.from[g+1] = len(order)
	}
	h.flat, h.yes = make([]float64, 0, len(rows)*n), make([]bool, 0, len(rows))
	for _, i := range order {
		for j, x := range rows[i] {
			h.flat = append(h.flat, (x-m.Mean[j])/m.Scale[j])
		}
		h.yes = append(h.yes, yes[i])
	}
	h.start = append(append(h.start, m.Coef...), m.Intercept)
	h.sum()
	out := make([]*Model, groups)
	for g := range groups {
		if h.from[g+1]-h.from[g] == len(rows) {
			continue
		}
		if w := h.fit(g, m, c); w != nil {
			out[g] = &Model{Mean: m.Mean, Scale: m.Scale, Coef: w[:n:n], Intercept: w[n]}
			continue
		}
		var left [][]float64
		var answers []bool
		for i := range rows {
			if group[i] != g {
				left, answers = append(left, rows[i]), append(answers, yes[i])
			}
		}
		out[g] = FitFrom(m, left, answers, c)
	}
	return out
}

// heldOut is rows by group, and the sums of their derivatives at the start.
type heldOut struct {
	n     int
	flat  []float64 // standardised rows
	yes   []bool
	from  []int // by group, and behind the last: its first row
	start []float64

	grad          [][]float64 // by group
	curvature     [][]float64 // by group: the lower triangle, line by line
	sums, squares [][]float64 // by group, of the rows
}

// sum fills in the sums.
func (h *heldOut) sum() {
	n := h.n
	row := make([]float64, n+1)
	row[n] = 1
	for g := range len(h.from) - 1 {
		grad, curvature := make([]float64, n+1), make([]float64, (n+1)*(n+2)/2)
		sums, squares := make([]float64, n+1), make([]float64, n+1)
		for i := h.from[g]; i < h.from[g+1]; i++ {
			copy(row, h.flat[i*n:(i+1)*n])
			z := 0.0
			for j, v := range row {
				z += float64(h.start[j] * v)
			}
			d := Sigmoid(z)
			weight := d * (1 - d)
			if h.yes[i] {
				d--
			}
			line := curvature
			for j, v := range row {
				grad[j] += float64(d * v)
				sums[j] += v
				squares[j] += float64(v * v)
				by := weight * v
				for k, other := range row[:j+1] {
					line[k] += float64(by * other)
				}
				line = line[j+1:]
			}
		}
		h.grad, h.curvature = append(h.grad, grad), append(h.curvature, curvature)
		h.sums, h.squares = append(h.sums, sums), append(h.squares, squares)
	}
}

// noVariance is up to which variance of a feature without a group, in that of all rows, there
// is none.
const noVariance = 1e-12

// fit returns the coefficients, over rows as m standardises them, and the intercept of the
// model without a group; nil if the steps do not get there. The penalty is on coefficients of
// features that would be standardised without the group, which weighs it by their variance.
func (h *heldOut) fit(group int, m *Model, c float64) []float64 {
	n := h.n
	penalty := make([]float64, n+1)
	size := float64(len(h.yes) - (h.from[group+1] - h.from[group]))
	for j := range n {
		sum, squares := 0.0, 0.0
		for g := range h.sums {
			if g != group {
				sum, squares = sum+h.sums[g][j], squares+h.squares[g][j]
			}
		}
		mean := sum / size
		if penalty[j] = squares/size - float64(mean*mean); penalty[j] <= noVariance {
			penalty[j] = 1 / float64(m.Scale[j]*m.Scale[j])
		}
	}
	grad, curvature := make([]float64, n+1), mat.NewSymDense(n+1, nil)
	at := 0
	for j := range n + 1 {
		for k := range j + 1 {
			v := 0.0
			for g := range h.curvature {
				if g != group {
					v += h.curvature[g][at]
				}
			}
			at++
			if v *= c; j == k {
				v += penalty[j]
			}
			curvature.SetSym(j, k, v)
		}
		for g := range h.grad {
			if g != group {
				grad[j] += h.grad[g][j]
			}
		}
	}
	var factors mat.Cholesky
	if !factors.Factorize(curvature) {
		return nil
	}
	w := append([]float64{}, h.start...)
	step := mat.NewVecDense(n+1, nil)
	left := &loss{n: n, c: c, grad: grad, w: w, noValue: true}
	parts := [][2]int{{0, h.from[group]}, {h.from[group+1], len(h.yes)}}
	enough := (&loss{c: c, yes: h.yes[:len(h.yes)-(h.from[group+1]-h.from[group])]}).enough()
	for before := math.Inf(1); ; {
		steepest := 0.0
		for j := range grad {
			grad[j] = float64(grad[j]*c) + float64(penalty[j]*w[j])
			steepest = max(steepest, math.Abs(grad[j]))
		}
		if steepest <= enough {
			return w
		}
		if !(steepest < before/2) || factors.SolveVecTo(step, mat.NewVecDense(n+1, grad)) != nil {
			return nil
		}
		before = steepest
		for j := range w {
			w[j] -= step.AtVec(j)
		}
		clear(grad)
		for _, part := range parts {
			left.flat, left.yes = h.flat[part[0]*n:part[1]*n], h.yes[part[0]:part[1]]
			left.addAll()
		}
	}
}
