package plot_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/plot"
)

// figures are one of each kind, at the sizes that users meet: few tools, a
// usual number, very many with long and hostile names.
func figures(t testing.TB) map[string]*plot.Figure {
	t.Helper()
	out := map[string]*plot.Figure{}
	add := func(name string, f *plot.Figure, err error) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = f
	}
	nan := math.NaN()
	f, err := plot.Entropy([]plot.Order{
		{K: 0, PlugIn: 3.08, MillerMadow: 3.09, HeldOut: 3.12, Lo: 3.02, Hi: 3.22},
		{K: 1, PlugIn: 2.14, MillerMadow: 2.19, HeldOut: 2.4, Lo: 2.28, Hi: 2.52},
		{K: 2, PlugIn: 1.76, MillerMadow: 1.88, HeldOut: 2.31, Lo: 2.2, Hi: 2.44, Biased: true},
		{K: 3, PlugIn: 1.09, MillerMadow: 1.22, HeldOut: nan, Lo: nan, Hi: nan, Biased: true},
	}, 3.81)
	add("entropy", f, err)
	f, err = plot.Entropy(nil, 0)
	add("entropy-empty", f, err)
	f, err = plot.Entropy([]plot.Order{{PlugIn: nan, MillerMadow: nan, HeldOut: nan, Lo: nan, Hi: nan}}, nan)
	add("entropy-unknown", f, err)
	f, err = plot.TopM([][]float64{{0.4, 0.6, 0.75, 0.85, 0.9}, {0.55, 0.72, 0.8, 0.9, 0.94}, {0.7, 0.84, 0.9, 0.95, 0.97}})
	add("top-m", f, err)
	f, err = plot.Convergence([]float64{0.9, 0.6, 0.3, 0.2, 0.18, 0.1, 0.05}, nil, []float64{1, 0.98, 0.9, 0.7, 0.5, 0.3, 0.1})
	add("convergence", f, err)
	f, err = plot.Convergence([]float64{0.4, 0.2, 0.1}, []float64{0.5, 0.4, 0.3, 0.3}, []float64{1, 0.9, 0.8})
	add("convergence-merged", f, err)
	for name, rows := range map[string][]plot.Estimate{
		"estimates": {
			{Name: "patterns", Share: 0.363, Lo: 0.329, Hi: 0.398},
			{Name: "counted", Share: 0.158, Lo: 0.134, Hi: 0.179, Apart: true},
			{Name: "no interval", Share: 0.05, Lo: nan, Hi: nan},
			{Name: "a loss", Share: -0.3, Lo: -0.4, Hi: -0.25},
			{Name: "not known", Share: nan, Lo: nan, Hi: nan},
		},
		"estimates-zero": {{Name: "nothing"}}, "estimates-none": nil,
		"estimates-wild": {{Name: "<b>\x1b[31m" + strings.Repeat("x", 200), Share: -1e9, Lo: math.Inf(-1), Hi: 1e9}},
		"estimates-many": make([]plot.Estimate, 100),
	} {
		f, err = plot.Estimates(plot.Axes{Name: name, Title: "Saved, at most", X: "share"}, rows)
		add(name, f, err)
	}
	for _, n := range []int{0, 1, 8, 30, 500} {
		tools, counts := chain(n)
		f, err = plot.Transitions(tools, pairs(counts))
		add(fmt.Sprintf("transitions-%d", n), f, err)
	}
	rows := make([]plot.Bar, 40)
	for i := range rows {
		x := float64(i) / 40
		rows[i] = plot.Bar{Name: fmt.Sprintf("application_%d.a_rather_long_tool_name_%d.parameter_%d", i%5, i, i), N: 1000 - i, Shares: []float64{x, (1 - x) / 2, (1 - x) / 2, 0}}
	}
	f, err = plot.StackedBars(plot.Axes{Name: "sources", Title: "Where argument values come from", X: "share of calls"},
		[]string{"earlier result", "earlier argument", "user", "unknown"}, rows)
	add("bars", f, err)
	f, err = plot.StackedBars(plot.Axes{Name: "sources", Title: "Where argument values come from", X: "share of calls"},
		[]string{"earlier result", "earlier argument", "user", "unknown"}, rows[:3])
	add("bars-3", f, err)
	return out
}

// chain returns n tools of which blocks of five follow each other, in an order
// that hides it.
func chain(n int) ([]string, [][]float64) {
	tools := make([]string, n)
	counts := make([][]float64, n)
	place := func(i int) int { return (i * 7) % max(n, 1) } // a permutation where 7 does not divide n
	for i := range counts {
		counts[i] = make([]float64, n)
	}
	for i := range n {
		at := place(i)
		tools[at] = fmt.Sprintf("app%d.tool_with_a_long_name_number_%03d", i/5, i)
		counts[at][place((i+1)%max(n, 1))] += 30
		counts[at][place(i/5*5)] += 10
		counts[at][at] += 3
	}
	if n > 2 {
		tools[2] = "evil\x1b[31m\"<script>&\n" + strings.Repeat("x", 300)
	}
	return tools, counts
}

// pairs lists what counts holds.
func pairs(counts [][]float64) []plot.Transition {
	var out []plot.Transition
	for i, row := range counts {
		for j, n := range row {
			if n > 0 {
				out = append(out, plot.Transition{From: i, To: j, N: n})
			}
		}
	}
	return out
}

// A hundred thousand tools cost what their transitions cost, not their square.
func TestTransitionsOfManyTools(t *testing.T) {
	const n = 100_000
	tools, chain := make([]string, n), make([]plot.Transition, n)
	for i := range n {
		tools[i], chain[i] = fmt.Sprint("tool", i), plot.Transition{From: i, To: (i + 1) % n, N: 1}
	}
	f, err := plot.Transitions(tools, chain)
	if err != nil {
		t.Fatal(err)
	}
	svg, err := f.SVG()
	if err != nil || !bytes.Contains(svg, []byte("the 30 busiest of 100000 tools")) {
		t.Errorf("no picture: %v", err)
	}
}

func TestFiguresAreWellFormed(t *testing.T) {
	for name, f := range figures(t) {
		t.Run(name, func(t *testing.T) {
			svg, err := f.SVG()
			if err != nil {
				t.Fatal(err)
			}
			for dec := xml.NewDecoder(bytes.NewReader(svg)); ; {
				if _, err := dec.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("SVG is not well-formed: %v", err)
				}
			}
			if bytes.Contains(svg, []byte("NaN")) || bytes.Contains(svg, []byte("<script")) {
				t.Error("SVG holds NaN or an unescaped name")
			}
			pdf, err := f.PDF()
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.HasPrefix(pdf, []byte("%PDF-")) || !bytes.HasSuffix(bytes.TrimSpace(pdf), []byte("%%EOF")) {
				t.Error("it is not a PDF")
			}
		})
	}
}

func TestFiguresAreDeterministic(t *testing.T) {
	first, second := figures(t), figures(t)
	for name := range first {
		for format, draw := range map[string]func(*plot.Figure) ([]byte, error){"svg": (*plot.Figure).SVG, "pdf": (*plot.Figure).PDF} {
			a, err := draw(first[name])
			if err != nil {
				t.Fatal(err)
			}
			b, err := draw(second[name])
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(a, b) {
				t.Errorf("%s.%s differs between two runs", name, format)
			}
		}
	}
}

func TestTransitionsSaysWhatItLeavesOut(t *testing.T) {
	tools, counts := chain(500)
	f, err := plot.Transitions(tools, pairs(counts))
	if err != nil {
		t.Fatal(err)
	}
	svg, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(svg, []byte("the 30 busiest of 500 tools")) {
		t.Error("the axis does not say that 470 tools are left out")
	}
}
