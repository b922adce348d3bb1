package report

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Blocks that lay a page out. Pictures are left out of the other formats: what they show must
// also be in a table or a text.

// Tiles are the few figures that a document begins with.
type Tiles []Tile

// Tile is a figure: what it is, its value, and in a few words what it rests on.
type Tile struct{ Label, Value, Note string }

func (t Tiles) list() (list List) {
	for _, tile := range t {
		text := tile.Label + ": " + tile.Value
		if tile.Note != "" {
			text += " (" + tile.Note + ")"
		}
		list = append(list, text)
	}
	return list
}

func (t Tiles) writeText(w *lines, o Options)     { t.list().writeText(w, o) }
func (t Tiles) writeMarkdown(w *lines, o Options) { t.list().writeMarkdown(w, o) }

func (t Tiles) writeHTML(w *lines) {
	w.line(`<dl class="tiles">`)
	for _, tile := range t {
		w.line("<div><dt>" + htmlText(tile.Label) + "</dt><dd><b>" + htmlText(tile.Value) + "</b> <span>" + htmlText(tile.Note) + "</span></dd></div>")
	}
	w.line("</dl>")
}

// Pair is blocks next to each other where a page is wide enough.
type Pair [2][]Block

func (p Pair) writeText(w *lines, o Options)     { p.each(w, func(b Block) { b.writeText(w, o) }) }
func (p Pair) writeMarkdown(w *lines, o Options) { p.each(w, func(b Block) { b.writeMarkdown(w, o) }) }

func (p Pair) each(w *lines, do func(Block)) {
	var before Block
	for _, b := range slices.Concat(p[0], p[1]) {
		if isPicture(b) {
			continue
		}
		if _, heads := before.(Heading); before != nil && !heads && reflect.TypeOf(b) != reflect.TypeFor[Fold]() {
			w.gap()
		}
		do(b)
		before = b
	}
}

func (p Pair) writeHTML(w *lines) {
	w.line(`<div class="pair">`)
	for _, side := range p {
		w.line("<div>")
		for _, b := range side {
			b.writeHTML(w)
		}
		w.line("</div>")
	}
	w.line("</div>")
}

// Heading is a heading within a section.
type Heading string

func (h Heading) writeText(w *lines, _ Options)     { w.line(string(h) + ":") }
func (h Heading) writeMarkdown(w *lines, _ Options) { w.line("**" + EscapeMarkdown(string(h)) + "**") }

func (h Heading) writeHTML(w *lines) { w.line("<h2>" + htmlText(string(h)) + "</h2>") }

// isPicture reports whether a block is in HTML alone.
func isPicture(b Block) bool {
	switch b.(type) {
	case Bars, Gallery, App:
		return true
	}
	return false
}

// Fold is blocks below a line that opens them.
type Fold struct {
	Summary string
	Key     int // the shade of Bars that it is about, 0 for none
	Blocks  []Block
}

func (f Fold) writeText(w *lines, o Options) {
	List{f.Summary}.writeText(w, o)
}

func (f Fold) writeMarkdown(w *lines, o Options) {
	List{f.Summary}.writeMarkdown(w, o)
}

func (f Fold) writeHTML(w *lines) {
	w.line("<details><summary>" + chip(f.Key) + htmlText(f.Summary) + "</summary>")
	for _, b := range f.Blocks {
		b.writeHTML(w)
	}
	w.line("</details>")
}

func chip(key int) string {
	if key <= 0 {
		return ""
	}
	return fmt.Sprintf(`<span class="chip c%d">%d</span> `, key, key)
}

// Bars is a chart: rows to one scale, each with its name before and its value behind it.
type Bars struct {
	Title  string
	Keys   []string // what the shades of spans are; the first is for what needs no name, and empty ones are left out
	Lo, Hi float64  // the ends of the scale
	Rows   []Bar
	Notes  []string
}

// Scaled returns the chart with a scale that has room for all of its rows, and zero.
func (b Bars) Scaled() Bars {
	see := func(values ...float64) {
		for _, v := range values {
			if !math.IsNaN(v) && !math.IsInf(v, 0) {
				b.Lo, b.Hi = min(b.Lo, v), max(b.Hi, v)
			}
		}
	}
	for i := range b.Rows {
		for _, span := range b.Rows[i].Spans {
			see(span.To)
		}
		if is := b.Rows[i].Is; is != nil {
			see(is.Value, is.Lo, is.Hi)
		}
	}
	return b
}

// Bar is a row of Bars.
type Bar struct {
	Name   string
	IsCode bool // it is from the traces
	Spans  []Span
	Is     *Estimated // a point with its interval, or nil
	Text   string     // the value
}

// Span is a part of a Bar.
type Span struct {
	From, To float64
	Shade    int    // a place in Keys
	Title    string // for those who point at it
}

// Estimated is a value with its interval, NaN where there is none.
type Estimated struct{ Value, Lo, Hi float64 }

func (Bars) writeText(*lines, Options)     {}
func (Bars) writeMarkdown(*lines, Options) {}

func (b Bars) writeHTML(w *lines) {
	w.line(`<figure class="chart">`)
	w.line("<figcaption>" + htmlText(b.Title) + "</figcaption>")
	w.line("<ul>")
	for i := range b.Rows {
		row := &b.Rows[i]
		name := Cut(row.Name, 48)
		if row.IsCode {
			name = codeHTML(name)
		} else {
			name = htmlText(name)
		}
		w.line("<li><span>" + name + "</span>" + b.drawn(row) + "<span>" + htmlText(row.Text) + "</span></li>")
	}
	w.line("</ul>")
	var keys strings.Builder
	for shade, text := range b.Keys {
		if text != "" {
			fmt.Fprintf(&keys, `<span><svg class="swatch" aria-hidden="true"><rect class="s%d" width="12" height="12"/></svg> %s</span>`, shade, htmlText(text))
		}
	}
	if keys.Len() > 0 {
		w.line(`<p class="legend">` + keys.String() + "</p>")
	}
	for _, note := range b.Notes {
		w.line(`<p class="notes">` + htmlText(note) + "</p>")
	}
	w.line("</figure>")
}

// drawn returns a row as a picture as wide as its place: lengths are shares of it.
func (b *Bars) drawn(row *Bar) string {
	at := func(v float64) string {
		if !(b.Hi > b.Lo) || math.IsNaN(v) {
			return "0"
		}
		return fmt.Sprintf("%.2f%%", 100*min(max((v-b.Lo)/(b.Hi-b.Lo), 0), 1))
	}
	var s strings.Builder
	s.WriteString(`<svg class="bar" aria-hidden="true">`)
	if b.Lo < 0 {
		fmt.Fprintf(&s, `<line class="zero" x1="%s" x2="%[1]s" y1="0" y2="18"/>`, at(0))
	}
	for _, span := range row.Spans {
		if span.To <= span.From {
			continue
		}
		fmt.Fprintf(&s, `<rect class="s%d" x="%s" width="%s" y="1" height="16">`, span.Shade, at(span.From), at(b.Lo+span.To-span.From))
		if span.Title != "" {
			s.WriteString("<title>" + htmlText(span.Title) + "</title>")
		}
		s.WriteString("</rect>")
	}
	if is := row.Is; is != nil {
		if !math.IsNaN(is.Lo + is.Hi) {
			fmt.Fprintf(&s, `<line x1="%s" x2="%s" y1="9" y2="9"/>`, at(is.Lo), at(is.Hi))
			for _, end := range []float64{is.Lo, is.Hi} {
				fmt.Fprintf(&s, `<line x1="%s" x2="%[1]s" y1="5" y2="13"/>`, at(end))
			}
		}
		fmt.Fprintf(&s, `<circle cx="%s" cy="9" r="4"/>`, at(is.Value))
	}
	s.WriteString("</svg>")
	return s.String()
}

// Gallery is pictures next to each other, each with its name above and sentences below it.
type Gallery []Card

// Card is one picture of a Gallery. SVG is trusted: it comes from package plot, which
// escapes names.
type Card struct {
	Title string // from the traces, such as the name of a tool
	Alt   string // what it shows, for readers who do not see it
	SVG   []byte
	Lines []string
}

func (Gallery) writeText(*lines, Options)     {}
func (Gallery) writeMarkdown(*lines, Options) {}

func (g Gallery) writeHTML(w *lines) {
	w.line(`<div class="gallery">`)
	for _, c := range g {
		w.line("<figure>")
		w.line("<figcaption><h3>" + codeHTML(c.Title) + "</h3>")
		if len(c.Lines) > 0 {
			List(c.Lines).writeHTML(w)
		}
		w.line("</figcaption>")
		w.line(`<div role="img" aria-label="` + htmlText(c.Alt) + `">`)
		w.line(string(bytes.TrimSpace(c.SVG)))
		w.line("</div>")
		w.line("</figure>")
	}
	w.line("</div>")
}
