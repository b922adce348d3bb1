package plot

import (
	"bytes"
	"fmt"
	"html"
	"slices"
)

// Flow is a small picture of calls that lead to one another: boxes in rows, from the top
// down, and arrows from what gives a value to what takes it.
type Flow struct {
	Alt    string // what it shows, in a sentence, for readers who do not see it
	Boxes  []FlowBox
	Arrows [][2]int // from a box to one of a row further down
}

// FlowBox is a box of a Flow.
type FlowBox struct {
	Kind  FlowKind
	Title string
	Lines []string // below the title, smaller
	Row   int      // from 0
}

// FlowKind is what a box stands for.
type FlowKind uint8

// The kinds of boxes.
const (
	FlowGiven FlowKind = iota // what somebody has to give, and what comes out
	FlowCall                  // one call
	FlowEach                  // one call for each element of a list
)

// The measures of a Flow, in pixels: letters of the given sizes in a typeface whose
// letters are all as wide.
const (
	flowTitle, flowTitleWide = 12, 7.25
	flowLine, flowLineWide   = 11, 6.65
	flowPad, flowGap         = 9, 22 // within a box, and between boxes of a row
	flowRise                 = 34    // between rows
	flowMost                 = 46    // characters of a line
)

// flowSpot is where a box stands.
type flowSpot struct{ x, y, width, height float64 }

// SVG returns the picture as an SVG document. It has a white ground, and the same bytes
// for the same boxes.
func (f *Flow) SVG() []byte {
	spots, width, height := f.place()
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img" font-family="Liberation Mono, DejaVu Sans Mono, Menlo, Consolas, monospace">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, "<title>%s</title>\n", html.EscapeString(label(f.Alt, 400)))
	b.WriteString(`<rect width="100%" height="100%" fill="#fff"/>` + "\n")
	for _, a := range f.Arrows {
		from, to := spots[a[0]], spots[a[1]]
		side := f.beside(spots, a)
		x0, y0, x1, y1 := from.x+from.width/2, from.y+from.height, to.x+to.width/2, to.y
		if f.Boxes[a[1]].Kind == FlowEach {
			y1 -= 2 // its shadow lies below, its edge is thicker
		}
		bend := max(14, (y1-y0)/2)
		if side > 0 { // around the boxes between: a curve comes three quarters of the way to its handles
			x0, x1 = x0+flowAside, x1+flowAside
			handle := x1 + (side-x1)*4/3
			fmt.Fprintf(&b, `<path d="M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f" fill="none" stroke="#57606a" stroke-width="1.4"/>`, x0, y0, handle, y0+bend/2, handle, y1-bend/2, x1, y1-5)
			fmt.Fprintf(&b, `<path d="M%.1f %.1fl-1 -8l8 3z" fill="#57606a"/>`+"\n", x1, y1)
			continue
		}
		fmt.Fprintf(&b, `<path d="M%.1f %.1fC%.1f %.1f %.1f %.1f %.1f %.1f" fill="none" stroke="#57606a" stroke-width="1.4"/>`, x0, y0, x0, y0+bend, x1, y1-bend, x1, y1-5)
		fmt.Fprintf(&b, `<path d="M%.1f %.1fl-4 -7h8z" fill="#57606a"/>`+"\n", x1, y1)
	}
	for i := range f.Boxes {
		f.Boxes[i].draw(&b, spots[i])
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// place lays the boxes out: rows are centred below each other.
func (f *Flow) place() (spots []flowSpot, width, height float64) {
	spots = make([]flowSpot, len(f.Boxes))
	rows := 0
	for i := range f.Boxes {
		box := &f.Boxes[i]
		w := flowTitleWide * float64(len([]rune(label(box.Title, flowMost))))
		for _, line := range box.Lines {
			w = max(w, flowLineWide*float64(len([]rune(label(line, flowMost)))))
		}
		spots[i].width, spots[i].height = w+2*flowPad, 2*flowPad+flowTitle+float64(len(box.Lines))*(flowLine+4)
		rows = max(rows, box.Row+1)
	}
	widths := make([]float64, rows)
	y := 6.0
	for row := range rows {
		tallest, x := 0.0, 0.0
		for i := range f.Boxes {
			if f.Boxes[i].Row != row {
				continue
			}
			if x > 0 {
				x += flowGap
			}
			spots[i].x, spots[i].y = x, y
			x, tallest = x+spots[i].width, max(tallest, spots[i].height)
		}
		widths[row] = x
		y += tallest + flowRise
	}
	width = slices.Max(append(widths, 0)) + 16
	for i := range f.Boxes {
		spots[i].x += (width - widths[f.Boxes[i].Row]) / 2
	}
	for _, a := range f.Arrows {
		width = max(width, f.beside(spots, a)+8)
	}
	return spots, width, y - flowRise + 12
}

// flowAside is how far from the middle of a box an arrow is that goes around others.
const flowAside = 16

// beside returns how far right an arrow has to go around the boxes of the rows between its
// ends, 0 if there are none.
func (f *Flow) beside(spots []flowSpot, a [2]int) float64 {
	side := 0.0
	for i := range f.Boxes {
		if row := f.Boxes[i].Row; f.Boxes[a[0]].Row < row && row < f.Boxes[a[1]].Row {
			side = max(side, spots[i].x+spots[i].width+14)
		}
	}
	return side
}

func (box *FlowBox) draw(b *bytes.Buffer, at flowSpot) {
	fill, line := "#ffffff", "#8c959f"
	switch box.Kind {
	case FlowCall, FlowEach:
		fill, line = "#ddf4ff", "#0969da"
	}
	if box.Kind == FlowEach { // a stack: the call is made again and again
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="5" fill="%s" stroke="%s"/>`, at.x+4, at.y+4, at.width, at.height, fill, line)
	}
	dash := ""
	if box.Kind == FlowGiven {
		dash = ` stroke-dasharray="4 3"`
	}
	fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" rx="5" fill="%s" stroke="%s"%s/>`, at.x, at.y, at.width, at.height, fill, line, dash)
	y := at.y + flowPad + flowTitle - 2
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" font-size="%d" font-weight="bold" fill="#1f2328">%s</text>`, at.x+flowPad, y, flowTitle, html.EscapeString(label(box.Title, flowMost)))
	for _, text := range box.Lines {
		y += flowLine + 4
		fmt.Fprintf(b, `<text x="%.1f" y="%.1f" font-size="%d" fill="#57606a">%s</text>`, at.x+flowPad, y, flowLine, html.EscapeString(label(text, flowMost)))
	}
	b.WriteString("\n")
}
