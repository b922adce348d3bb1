package report

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"strings"
)

// ScreenLines is how many lines the text of a command has that fits one screen.
const ScreenLines = 25

// leastRows is how many rows a table has, if there is room, before others have more.
const leastRows = 3

// part is a block by its section and its place there.
type part struct{ section, block int }

// plan is what short text has of the parts that can be cut. nil is all.
type plan struct {
	size  map[part]int // rows of a table, items of a list; 0 leaves it out
	dense bool         // no lines between paragraphs, and headings of one stand before it
}

// sizes are the least and the most that short text has of a block; ok says whether it can
// be cut at all.
func sizes(b Block) (least, most int, ok bool) {
	switch b := b.(type) {
	case *Table:
		most = b.briefly()
		return min(leastRows, most), most, most > 0
	case Foremost:
		return 1, len(b.Items), true
	}
	return 0, 0, false
}

// fitted returns what of d its lines have room for. Sections stand in the order of their
// importance: each gets the least that makes sense if there is room, and what is left over
// goes to them in turn. What cannot be cut is always there.
func (d *Document) fitted(o Options) *plan {
	budget := d.Lines * 100 / min(o.width(), 100)
	p := &plan{size: map[part]int{}}
	most := map[part]int{}
	var parts []part
	for i, s := range d.Sections {
		for j, b := range s.Blocks {
			if _, n, ok := sizes(b); ok && !s.Detail {
				parts, most[part{i, j}], p.size[part{i, j}] = append(parts, part{i, j}), n, n
			}
		}
	}
	for _, dense := range []bool{false, true} {
		if p.dense = dense; d.length(o, p) <= budget {
			return p
		}
	}
	for at := range p.size {
		p.size[at] = 0
	}
	for _, at := range parts {
		for p.size[at], _, _ = sizes(d.Sections[at.section].Blocks[at.block]); p.size[at] > 0 && d.length(o, p) > budget; {
			p.size[at]--
		}
	}
	for grown := true; grown; {
		grown = false
		for _, at := range parts {
			if n := p.size[at]; n > 0 && n < most[at] {
				if p.size[at]++; d.length(o, p) <= budget {
					grown = true
				} else {
					p.size[at] = n
				}
			}
		}
	}
	return p
}

// length is how many lines d has by a plan.
func (d *Document) length(o Options, p *plan) int {
	var b bytes.Buffer
	l := &lines{w: bufio.NewWriter(&b)}
	d.writeShort(l, o, p)
	_ = l.w.Flush() // a buffer takes all
	return bytes.Count(b.Bytes(), []byte{'\n'})
}

// shown returns a block as the plan has it, nil if it is left out.
func (p *plan) shown(at part, b Block) Block {
	n, cut := 0, false
	if p != nil {
		n, cut = p.size[at]
	}
	if !cut {
		return b
	}
	if n == 0 {
		return nil
	}
	switch b := b.(type) {
	case *Table:
		short := *b
		short.Brief = n
		return &short
	case Foremost:
		b.shown = n
		return b
	}
	return b
}

// leaves reports whether the plan has nothing of a section but its heading and its
// words around what is left out.
func (p *plan) leaves(i int, s *Section) bool {
	if p == nil || s.Heading == "" {
		return false
	}
	left := false
	for j := range s.Blocks {
		if n, cut := p.size[part{i, j}]; cut {
			if n > 0 {
				return false
			}
			left = true
		}
	}
	return left
}

// leftOut names what the plan leaves out of a section that is no details.
func (p *plan) leftOut(i int, s *Section) []string {
	var names []string
	for j, b := range s.Blocks {
		if p == nil || p.shown(part{i, j}, b) != nil {
			continue
		}
		// Of what details have more of, such as a Foremost, these are named.
		if t, ok := b.(*Table); ok {
			names = append(names, lowerFirst(cmp.Or(t.Title, t.ID)))
		}
	}
	if len(names) > 0 && p.leaves(i, s) {
		return []string{lowerFirst(s.Heading)}
	}
	return names
}

// inline returns the words of a section that is one paragraph, with its heading before
// them, "" if it is not.
func (p *plan) inline(s *Section) string {
	if p == nil || !p.dense || s.Heading == "" || len(s.Blocks) != 1 {
		return ""
	}
	if text, ok := s.Blocks[0].(Paragraph); ok {
		return strings.TrimRight(s.Heading, "?.") + ": " + string(text)
	}
	return ""
}

// joined reports whether a block goes on below the one before it without a line between.
func (p *plan) joined(before, b Block) bool {
	return p != nil && p.dense && isWords(before) && isWords(b)
}

func isWords(b Block) bool {
	switch b.(type) {
	case Paragraph, Short:
		return true
	}
	return false
}

// Foremost is a List of what is worth most, and says how many more there are.
type Foremost struct {
	Items List
	Total int
	More  func(n int) string // what is said of so many more

	shown int // of the items; 0 is all
}

// list is what is written of it.
func (f Foremost) list() List {
	n := len(f.Items)
	if f.shown > 0 {
		n = min(n, f.shown)
	}
	out := append(List{}, f.Items[:n]...)
	if more := f.Total - n; more > 0 {
		out = append(out, f.More(more))
	}
	return out
}

func (f Foremost) writeText(w *lines, o Options)     { f.list().writeText(w, o) }
func (f Foremost) writeMarkdown(w *lines, o Options) { f.list().writeMarkdown(w, o) }
func (f Foremost) writeHTML(w *lines)                { f.list().writeHTML(w) }

// oneLine joins names as long as they fit into one line behind what is before them.
func oneLine(before string, names []string, width int) string {
	for n := len(names); n > 0; n-- {
		text := strings.Join(names[:n], "; ")
		if more := len(names) - n; more > 0 {
			text += fmt.Sprintf("; %d more", more)
		}
		if n == 1 || Width(before)+Width(Escape(text))+1 <= width {
			return text
		}
	}
	return ""
}
