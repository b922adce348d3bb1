// Package plot draws results as SVG and PDF: entropy by order, transition heat
// maps, curves and stacked bars.
//
// What comes in is plain numbers and labels, what goes out is the bytes of a
// picture; nothing is kept and no file is touched. The same figure gives the
// same bytes on any machine: fonts are embedded, nothing depends on the day.
// It is the only importer of gonum/plot, and decides nothing about statistics:
// what has no interval is drawn without one.
package plot

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/font/liberation"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Figure is a finished picture that can be written in several formats.
type Figure struct {
	Name string // file name without extension
	Alt  string // what it shows, in a sentence, for readers who do not see it

	plot          *plot.Plot
	width, height vg.Length
}

// SVG returns the figure as an SVG document whose text stays text.
func (f *Figure) SVG() ([]byte, error) {
	canvas := vgsvg.NewWith(vgsvg.UseWH(f.width, f.height))
	f.draw(draw.New(canvas))
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("drawing %s.svg: %w", f.Name, err)
	}
	return out.Bytes(), nil
}

// PDF returns the figure as a PDF document, of the same bytes on any day.
func (f *Figure) PDF() ([]byte, error) {
	canvas := vgpdf.New(f.width, f.height)
	canvas.EmbedFonts(true)
	f.draw(draw.New(canvas))
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return nil, fmt.Errorf("drawing %s.pdf: %w", f.Name, err)
	}
	// The library writes when it ran; a date of the same length takes its place.
	return pdfDates.ReplaceAll(out.Bytes(), []byte("Date (D:20000101000000)")), nil
}

var pdfDates = regexp.MustCompile(`Date \(D:[0-9]{14}\)`)

// draw leaves a margin, because labels at the ends of an axis reach beyond it.
func (f *Figure) draw(c draw.Canvas) {
	const margin = 5
	c.FillPolygon(color.White, []vg.Point{c.Min, {X: c.Max.X, Y: c.Min.Y}, c.Max, {X: c.Min.X, Y: c.Max.Y}})
	for _, axis := range []*plot.Axis{&f.plot.X, &f.plot.Y} {
		bound(axis)
	}
	f.plot.Draw(draw.Crop(c, margin, -margin, margin, -margin))
}

// bound gives an axis without data a range: its ends are infinite then, and
// looking for ticks between them would not end.
func bound(axis *plot.Axis) {
	if !(axis.Max > axis.Min) || math.IsInf(axis.Min, 0) || math.IsInf(axis.Max, 0) {
		axis.Min, axis.Max = 0, 1
	}
}

// column is how wide a column of a paper is, 3.5 inches: figures have no title, because the
// caption below them says it.
const column = 252

// The colours: distinguishable with the common colour-vision deficiencies and
// in grey (Okabe and Ito's set, without its yellow, which white swallows).
var (
	ink    = color.NRGBA{R: 0x22, G: 0x22, B: 0x22, A: 0xff}
	faint  = color.NRGBA{R: 0xdd, G: 0xdd, B: 0xdd, A: 0xff}
	series = []color.NRGBA{
		{R: 0x00, G: 0x72, B: 0xb2, A: 0xff}, // blue
		{R: 0xd5, G: 0x5e, B: 0x00, A: 0xff}, // vermilion
		{R: 0x00, G: 0x9e, B: 0x73, A: 0xff}, // green
		{R: 0xcc, G: 0x79, B: 0xa7, A: 0xff}, // purple
		{R: 0x56, G: 0xb4, B: 0xe9, A: 0xff}, // sky
		{R: 0xe6, G: 0x9f, B: 0x00, A: 0xff}, // orange
		{R: 0x99, G: 0x99, B: 0x99, A: 0xff}, // grey
	}
)

// newPlot returns an empty plot in the house's type and ink.
func newPlot(x, y string) *plot.Plot {
	handler := text.Plain{Fonts: font.NewCache(liberation.Collection())}
	p := plot.New()
	p.TextHandler = handler
	p.BackgroundColor = color.White
	p.X.Label.Text, p.Y.Label.Text = x, y
	for style, size := range map[*text.Style]vg.Length{
		&p.Legend.TextStyle:  7,
		&p.X.Label.TextStyle: 8, &p.Y.Label.TextStyle: 8, &p.X.Tick.Label: 7, &p.Y.Tick.Label: 7,
	} {
		style.Color = ink
		style.Font = font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
		style.Handler = handler
	}
	for _, axis := range []*plot.Axis{&p.X, &p.Y} {
		axis.LineStyle.Color = ink
		axis.Tick.LineStyle.Color = ink
		axis.Label.Padding = 3
	}
	p.Legend.ThumbnailWidth = 14
	p.Legend.Padding = 2
	return p
}

const quarterTurn = 1.5707963267948966 // 90 degrees in radians

// gridlines returns horizontal help lines behind the data.
func gridlines() *plotter.Grid {
	grid := plotter.NewGrid()
	grid.Vertical.Color = nil
	grid.Horizontal.Color = faint
	return grid
}

// label makes a tool or parameter name fit for a picture: control characters
// become visible, and what is longer than limit characters loses its middle,
// because tool names differ at both ends.
func label(name string, limit int) string {
	name = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == utf8.RuneError || !unicode.IsPrint(r) {
			return '·'
		}
		return r
	}, name)
	runes := []rune(name)
	if len(runes) <= limit {
		return name
	}
	tail := (limit - 1) / 2
	head := limit - 1 - tail
	return string(runes[:head]) + "…" + string(runes[len(runes)-tail:])
}

// labels makes names fit for a picture, as label does, and keeps apart those
// that would look the same: of names that share both ends what differs is
// shown, and what still looks the same gets a number.
func labels(names []string, limit int) []string {
	out := make([]string, len(names))
	alike := map[string][]int{}
	for i, name := range names {
		out[i] = label(name, limit)
		alike[out[i]] = append(alike[out[i]], i)
	}
	for i := range names {
		group := alike[out[i]]
		if len(group) < 2 || group[0] != i {
			continue
		}
		runes := make([][]rune, len(group))
		for k, at := range group {
			runes[k] = []rune(names[at])
		}
		start := shared(runes)
		if start == len(runes[0]) {
			continue // the same name
		}
		start = max(start-limit/3, 0) // some of what stands before, to read on from
		for k, at := range group {
			rest := string(runes[k][min(start, len(runes[k])):])
			if start > 0 {
				rest = "…" + rest
			}
			if r := []rune(rest); len(r) > limit {
				rest = string(r[:limit-1]) + "…"
			}
			out[at] = label(rest, limit)
		}
	}
	seen := map[string]int{}
	for i, name := range out {
		if seen[name]++; seen[name] > 1 {
			out[i] = fmt.Sprintf("%s #%d", name, seen[name])
		}
	}
	return out
}

// shared returns how many characters all of the names begin with.
func shared(names [][]rune) int {
	for n := 0; ; n++ {
		for _, name := range names {
			if n >= len(name) || name[n] != names[0][n] {
				return n
			}
		}
	}
}
