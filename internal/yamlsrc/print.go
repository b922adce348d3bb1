package yamlsrc

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// lineWidth is how many characters a line should have at most.
const lineWidth = 100

// Append writes the document to dst in one fixed layout and returns it. The
// result holds every comment and parses to an equal tree; appending what was
// parsed from it gives the same bytes. JSON stays JSON.
//
// Lists and mappings in brackets stay there as long as they fit on a line and
// hold no comment; in JSON they are spread over lines otherwise, in YAML they
// lose the brackets. Quotes stay, single ones where both would do.
func (d *Document) Append(dst []byte) []byte {
	p := printer{json: d.JSON}
	var lines []string
	for _, text := range d.Head {
		lines = append(lines, "#"+text)
	}
	if d.Root != nil {
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, p.root(d.Root)...)
	}
	if len(lines) > 0 && len(d.Foot) > 0 {
		lines = append(lines, "")
	}
	for _, text := range d.Foot {
		lines = append(lines, "#"+text)
	}
	for _, line := range lines {
		dst = append(dst, line...)
		dst = append(dst, '\n')
	}
	return dst
}

// printer writes nodes as lines with their indentation.
type printer struct {
	json bool
}

func (p *printer) root(n *Node) []string {
	switch {
	case n.Kind == Scalar, p.staysFlow(n, 0):
		return []string{p.flow(n, inList)}
	case p.json:
		return append([]string{opening(n)}, p.spread(n, 2)...)
	case n.Anchor != "":
		return append([]string{"&" + n.Anchor}, p.entries(n, 0)...)
	}
	return p.entries(n, 0)
}

// staysFlow reports whether a node keeps its brackets if at most lineWidth less
// used characters are left for it.
func (p *printer) staysFlow(n *Node, used int) bool {
	if n.Alias != "" || len(n.Entries) == 0 {
		return true
	}
	return n.Style == Flow && !hasComments(n) && used+utf8.RuneCountInString(p.flow(n, inList)) <= lineWidth
}

// hasComments reports whether a comment is anywhere inside the node.
func hasComments(n *Node) bool {
	if n.Alias != "" {
		return false
	}
	return len(n.Foot) > 0 || slices.ContainsFunc(n.Entries, func(e *Entry) bool {
		return len(e.Head) > 0 || len(e.Line) > 0 || hasComments(e.Value)
	})
}

// entries writes the entries of a list or mapping on lines of their own.
func (p *printer) entries(n *Node, indent int) []string {
	var lines []string
	wasLong := false
	for i, e := range n.Entries {
		comments, entry := p.comments(e, indent), p.entry(e, indent)
		long := len(entry) > 1
		apart := len(e.Head) > 0 && e.Head[0].Apart
		if i > 0 && (apart || n.Spaced && (long || wasLong || len(comments) > 0)) {
			lines = append(lines, "")
		}
		lines = append(append(lines, comments...), entry...)
		wasLong = long
	}
	for _, text := range n.Foot {
		lines = append(lines, pad(indent)+"#"+text)
	}
	return lines
}

func pad(indent int) string { return strings.Repeat(" ", indent) }

// comments writes the comments above an entry. Of those behind it one has room
// there, others come above too.
func (p *printer) comments(e *Entry, indent int) []string {
	var lines []string
	for i, c := range e.Head {
		if c.Apart && i > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, pad(indent)+"#"+c.Text)
	}
	for i := 1; i < len(e.Line); i++ {
		lines = append(lines, pad(indent)+"#"+e.Line[i])
	}
	if e.Apart && len(e.Head) > 0 {
		lines = append(lines, "")
	}
	return lines
}

// entry writes one entry without the comments above it.
func (p *printer) entry(e *Entry, indent int) []string {
	begin := pad(indent) + "-"
	if e.Key != nil {
		begin = pad(indent) + p.key(e.Key) + ":"
	}
	if e.Key == nil && len(e.Line) == 0 && p.isCompact(e.Value, indent) {
		inner := p.entries(e.Value, indent+2)
		inner[0] = begin + " " + inner[0][indent+2:]
		return inner
	}
	first, rest := p.value(e.Value, indent+2, utf8.RuneCountInString(begin))
	if len(e.Line) > 0 {
		first += " #" + e.Line[0]
	}
	return append([]string{begin + first}, rest...)
}

// isCompact reports whether a list element begins on the line of its dash though
// it has several lines.
func (p *printer) isCompact(n *Node, indent int) bool {
	return n.Kind != Scalar && n.Anchor == "" && !p.staysFlow(n, indent+2) && len(n.Entries[0].Head) == 0 && len(n.Entries[0].Line) <= 1
}

// key writes a key.
func (p *printer) key(n *Node) string {
	if p.json {
		return quoteDouble(n.Text)
	}
	return inline(n, inBraces)
}

// value writes a value behind a dash or colon in column used: what stands on
// the same line, and further lines, which are indented by indent.
func (p *printer) value(n *Node, indent, used int) (first string, rest []string) {
	if n.Alias != "" {
		return " *" + n.Alias, nil
	}
	if n.Anchor != "" {
		first = " &" + n.Anchor
	}
	switch {
	case n.Kind == Scalar && p.json:
		return " " + p.flow(n, inList), nil
	case n.Kind == Scalar:
		text, lines := scalarLines(n, indent, used)
		if text != "" {
			first += " " + text
		}
		return first, lines
	case p.staysFlow(n, used+len(first)+1):
		return " " + p.flow(n, inList), nil
	case p.json:
		return " " + opening(n), p.spread(n, indent)
	}
	return first, p.entries(n, indent)
}

func opening(n *Node) string {
	if n.Kind == Sequence {
		return "["
	}
	return "{"
}

func closing(n *Node) string {
	if n.Kind == Sequence {
		return "]"
	}
	return "}"
}

// spread writes the entries and closing bracket of a JSON value on lines of
// their own; indent is that of the value of an entry.
func (p *printer) spread(n *Node, indent int) []string {
	var lines []string
	for i, e := range n.Entries {
		begin := pad(indent)
		if e.Key != nil {
			begin += p.key(e.Key) + ":"
		}
		first, rest := p.value(e.Value, indent+2, utf8.RuneCountInString(begin))
		if e.Key == nil {
			first = strings.TrimPrefix(first, " ")
		}
		lines = append(append(lines, begin+first), rest...)
		if i < len(n.Entries)-1 {
			lines[len(lines)-1] += ","
		}
	}
	return append(lines, pad(indent-2)+closing(n))
}

// flow writes a node on one line; where is what is around it.
func (p *printer) flow(n *Node, where setting) string {
	switch {
	case n.Alias != "":
		return "*" + n.Alias
	case n.Kind == Scalar && p.json && n.Style == Plain:
		return n.Text
	case n.Kind == Scalar && p.json:
		return quoteDouble(n.Text)
	case n.Kind == Scalar:
		return anchored(n, inline(n, where))
	}
	if n.Kind == Mapping {
		where = inBraces
	}
	var b strings.Builder
	b.WriteString(opening(n))
	for i, e := range n.Entries {
		if i > 0 {
			b.WriteString(", ")
		}
		if e.Key != nil {
			b.WriteString(p.key(e.Key))
			if e.Value.isAbsent() && !p.json {
				continue
			}
			b.WriteString(": ")
		}
		b.WriteString(p.flow(e.Value, where))
	}
	b.WriteString(closing(n))
	return anchored(n, b.String())
}

func anchored(n *Node, text string) string {
	switch {
	case n.Anchor == "":
		return text
	case text == "":
		return "&" + n.Anchor
	}
	return "&" + n.Anchor + " " + text
}

// isAbsent reports whether nothing at all is written for a value.
func (n *Node) isAbsent() bool {
	return n.Kind == Scalar && n.Style == Plain && n.Text == "" && n.Anchor == "" && n.Alias == ""
}
