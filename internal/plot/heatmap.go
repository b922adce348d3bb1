package plot

import (
	"fmt"
	"image/color"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// heatLimit is how many tools a heat map shows: beyond it labels are no longer
// read, and the long tail carries few of the calls.
const heatLimit = 30

// Transition is how often the tool To came right after From; both are indices.
type Transition struct {
	From, To int
	N        float64
}

// Transitions draws how often each tool is followed by each other one, as
// shares of the row: row, "after this tool"; column, "comes this one". The
// heatLimit tools with the most calls are shown, in an order that puts frequent
// neighbours next to each other (see seriate), so that routines show as blocks
// and chains as runs beside the diagonal. Shares are of all successors of the
// row, shown or not; the axis says what was left out. It takes memory for the
// pairs given, not for all pairs of tools.
func Transitions(tools []string, pairs []Transition) (*Figure, error) {
	total, covered := 0.0, 0.0
	sums, weight := make([]float64, len(tools)), make([]float64, len(tools))
	for _, t := range pairs {
		total += t.N
		sums[t.From] += t.N
		weight[t.From] += t.N
		weight[t.To] += t.N
	}
	shown := busiest(weight, heatLimit)
	place := map[int]int{}
	counts := make([][]float64, len(shown))
	for at, i := range shown {
		place[i], counts[at] = at, make([]float64, len(shown))
	}
	for _, t := range pairs {
		from, ok := place[t.From]
		to, also := place[t.To]
		if ok && also {
			counts[from][to] += t.N
			covered += t.N
		}
	}
	order := seriate(counts)
	n := len(order)

	axis := "comes this tool"
	if n < len(tools) && total > 0 {
		axis = fmt.Sprintf("comes this tool (the %d busiest of %d tools, %.0f %% of the transitions)", n, len(tools), 100*covered/total)
	}
	p := newPlot(axis, "after this tool")
	grid := &cells{
		n:     n,
		share: make([]float64, n*n),
		// Figures are legible in cells of some 26 points.
		figures: n <= 16,
		style:   p.X.Tick.Label,
	}
	full := make([]string, n)
	for row, i := range order {
		full[row] = tools[shown[i]]
		for col, j := range order {
			if sum := sums[shown[i]]; sum > 0 {
				grid.share[row*n+col] = counts[i][j] / sum
			}
		}
	}
	names, widest := labels(full, 26), 0
	for _, name := range names {
		widest = max(widest, len([]rune(name)))
	}
	p.Add(grid)
	p.X.Min, p.X.Max, p.Y.Min, p.Y.Max = -0.5, max(float64(n), 1)-0.5, -0.5, max(float64(n), 1)-0.5
	across, down := make([]plot.Tick, n), make([]plot.Tick, n)
	for i, name := range names {
		// The spaces keep turned labels, whose ends the axis places, off the cells.
		across[i] = plot.Tick{Value: float64(i), Label: name + "   "}
		down[i] = plot.Tick{Value: float64(n - 1 - i), Label: name} // the first tool on top
	}
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.ConstantTicks(across), plot.ConstantTicks(down)
	p.X.Tick.Label.Rotation = quarterTurn
	p.X.Tick.Label.XAlign, p.X.Tick.Label.YAlign = draw.XRight, draw.YCenter
	p.X.Tick.Length, p.Y.Tick.Length = 6, 6
	p.X.Tick.LineStyle.Width, p.Y.Tick.LineStyle.Width = 0, 0
	p.X.Padding, p.Y.Padding = 0, 0
	p.X.LineStyle.Width, p.Y.LineStyle.Width = 0, 0

	cell := vg.Length(18)
	if grid.figures {
		cell = 28
	}
	margin := vg.Length(widest)*5.3 + 80
	side := max(cell*vg.Length(n), 160) + margin
	return &Figure{
		Name: "transitions", plot: p, width: max(side, column), height: side + 20,
		Alt: "Heat map of the share with which each tool follows each other.",
	}, nil
}

// busiest returns the indices of the limit heaviest tools, heaviest first, ties
// by index.
func busiest(weight []float64, limit int) []int {
	index := make([]int, len(weight))
	for i := range index {
		index[i] = i
	}
	slices.SortStableFunc(index, func(a, b int) int {
		switch {
		case weight[a] > weight[b]:
			return -1
		case weight[a] < weight[b]:
			return 1
		}
		return 0
	})
	return index[:min(limit, len(index))]
}

// seriate orders the tools of a square of counts so that heavy transitions join neighbours: it minimises
// the sum of weight times squared distance, starting from the best chain of
// nearest neighbours, by moving single tools and turning stretches round until
// nothing helps. Squared, so that one far pair costs more than
// several near ones. The result depends on the input alone.
func seriate(counts [][]float64) []int {
	n := len(counts)
	// Normalising by the geometric mean of the margins keeps one busy tool from
	// pulling every other to its side.
	margin := make([]float64, n)
	for a := range n {
		for b := range n {
			if a != b {
				margin[a] += counts[a][b] + counts[b][a]
			}
		}
	}
	weight := make([]float64, n*n)
	for a := range n {
		for b := range n {
			if m := margin[a] * margin[b]; a != b && m > 0 {
				weight[a*n+b] = (counts[a][b] + counts[b][a]) / math.Sqrt(m)
			}
		}
	}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	cost := func(order []int) float64 {
		sum := 0.0
		for i, a := range order {
			for j := i + 1; j < n; j++ {
				d := float64(j - i)
				sum += weight[a*n+order[j]] * d * d
			}
		}
		return sum
	}
	best := cost(order)
	for first := range n {
		if chain := nearest(weight, n, first); cost(chain) < best {
			order, best = chain, cost(chain)
		}
	}
	trial := make([]int, 0, n)
	try := func() bool {
		c := cost(trial)
		if c >= best*(1-1e-12) { // a gain within rounding is none
			return false
		}
		best = c
		copy(order, trial)
		return true
	}
	// Single moves alone get stuck where a run has to be turned round as a
	// whole, so stretches are reversed too.
	for improved := true; improved; {
		improved = false
		for from := range n {
			for to := range n {
				trial = append(trial[:0], order...)
				moved := trial[from]
				trial = slices.Insert(slices.Delete(trial, from, from+1), to, moved)
				improved = try() || improved
				trial = append(trial[:0], order...)
				if from < to {
					slices.Reverse(trial[from : to+1])
					improved = try() || improved
				}
			}
		}
	}
	// The mirror image costs the same: let the busier end come first.
	if n > 1 && margin[order[0]] < margin[order[n-1]] {
		slices.Reverse(order)
	}
	return order
}

// nearest returns the order that begins at first and goes on with the tool of
// the heaviest weight to the one before, ties by position.
func nearest(weight []float64, n, first int) []int {
	order := make([]int, 0, n)
	used := make([]bool, n)
	for at := first; at >= 0; {
		order = append(order, at)
		used[at] = true
		next := -1
		for b := range n {
			if !used[b] && (next < 0 || weight[at*n+b] > weight[at*n+next]) {
				next = b
			}
		}
		at = next
	}
	return order
}

// cells draws a square of shares, the first row on top.
type cells struct {
	n       int
	share   []float64 // row-major
	figures bool      // print the shares into the cells
	style   text.Style
}

// Plot implements plot.Plotter.
func (g *cells) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for row := range g.n {
		for col := range g.n {
			share := g.share[row*g.n+col]
			top := g.n - 1 - row
			// A gap of half a point between cells hides the seams that
			// anti-aliasing would draw.
			const gap = 0.25
			x0, x1 := x(float64(col)-0.5)+gap, x(float64(col)+0.5)-gap
			y0, y1 := y(float64(top)-0.5)+gap, y(float64(top)+0.5)-gap
			c.FillPolygon(shade(share), []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}})
			if !g.figures || share < 0.005 {
				continue
			}
			style := g.style
			style.Rotation = 0
			style.XAlign, style.YAlign = draw.XCenter, draw.YCenter
			style.Font.Size = 9
			style.Color = ink
			if share > 0.5 {
				style.Color = color.White
			}
			c.FillText(style, vg.Point{X: (x0 + x1) / 2, Y: (y0 + y1) / 2}, strconv.Itoa(int(math.Round(share*100))))
		}
	}
}

// shade maps a share to a colour from near white to dark blue. The square root
// keeps shares of a few percent visible.
func shade(share float64) color.Color {
	t := math.Sqrt(max(0, min(1, share)))
	stops := []color.NRGBA{
		{R: 0xf4, G: 0xf6, B: 0xf8, A: 0xff},
		{R: 0xa6, G: 0xcb, B: 0xe3, A: 0xff},
		{R: 0x3c, G: 0x8d, B: 0xc4, A: 0xff},
		{R: 0x08, G: 0x30, B: 0x6b, A: 0xff},
	}
	at := t * float64(len(stops)-1)
	i := min(int(at), len(stops)-2)
	f := at - float64(i)
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a) + f*(float64(b)-float64(a)))) }
	return color.NRGBA{
		R: mix(stops[i].R, stops[i+1].R), G: mix(stops[i].G, stops[i+1].G), B: mix(stops[i].B, stops[i+1].B), A: 0xff,
	}
}
