package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/pkg/twwidth"
	"github.com/olekukonko/tablewriter/renderer"
	"github.com/olekukonko/tablewriter/tw"
)

// lines writes lines without trailing space, with one empty line between
// blocks, and remembers the first error.
type lines struct {
	w   *bufio.Writer
	any bool
}

func (l *lines) line(s string) {
	// The error of a bufio.Writer stays with it until Flush.
	_, _ = l.w.WriteString(strings.TrimRight(s, " "))
	_ = l.w.WriteByte('\n')
}

// gap separates the coming block from the one before.
func (l *lines) gap() {
	if l.any {
		_ = l.w.WriteByte('\n')
	}
	l.any = true
}

func (d *Document) writeText(w io.Writer, o Options) error {
	l := &lines{w: bufio.NewWriter(w)}
	o.brief = d.Answer != "" && !o.Details
	var p *plan
	if o.brief && d.Lines > 0 {
		p = d.fitted(o)
	}
	d.writeShort(l, o, p)
	return l.w.Flush()
}

// writeShort writes what a plan has of d, and all of what can be written without one.
func (d *Document) writeShort(l *lines, o Options, p *plan) {
	bold := func(s string) string {
		if o.Bold {
			return "\x1b[1m" + s + "\x1b[0m"
		}
		return s
	}
	switch {
	case d.Answer != "":
		l.gap()
		for _, line := range wrap(Escape(d.Answer), o.width()) {
			l.line(bold(line))
		}
	case d.Title != "":
		l.gap()
		l.line(bold(Escape(d.Title)))
	}
	inline := false // what is above is a section in a line
	for i, s := range d.Sections {
		if o.brief && s.Detail || p.leaves(i, &s) {
			continue
		}
		if text := p.inline(&s); text != "" {
			if !inline {
				l.gap()
			}
			Paragraph(text).writeText(l, o)
			inline = true
			continue
		}
		inline = false
		if s.Heading != "" {
			l.gap()
			for _, line := range wrap(Escape(s.Heading), o.width()) {
				l.line(bold(line))
			}
			if !o.brief {
				l.line(strings.Repeat("─", min(Width(Escape(s.Heading)), o.width())))
			}
			l.any = len(s.Blocks) == 0 // the first block follows its heading at once
		}
		var before Block
		for j, b := range s.Blocks {
			switch b.(type) {
			case Bars, Gallery, App:
				continue
			case Short:
				if !o.brief {
					continue
				}
			}
			if b = p.shown(part{i, j}, b); b == nil {
				continue
			}
			if !p.joined(before, b) {
				l.gap()
			}
			b.writeText(l, o)
			before = b
		}
	}
	if figures := d.figuresTable(); figures != nil && o.Details {
		l.gap()
		figures.writeText(l, o)
	}
	d.writeEnd(l, o, p)
}

// writeEnd says what was left out, and what to do next.
func (d *Document) writeEnd(l *lines, o Options, p *plan) {
	if left := d.leftOut(o, p); o.brief && left != "" {
		l.gap()
		l.item("", detailsShow+left+".", o)
	}
	for i, next := range d.Next {
		if i == 0 {
			l.gap()
		}
		command, reason, _ := strings.Cut(next, " # ")
		if reason != "" && Width("Next: "+command+"  # "+reason) <= o.width() {
			command, reason = command+"  # "+reason, ""
		}
		l.line("Next: " + escape(command, false)) // to be copied: it is not wrapped
		if reason != "" {
			l.item("      ", reason, o)
		}
	}
}

// detailsShow is what the names of what was left out stand behind.
const detailsShow = "--details shows more: "

// namesShown is how many of what is left out short text names.
const namesShown = 8

// leftOut names the sections and tables that short text leaves out.
func (d *Document) leftOut(o Options, p *plan) string {
	var names []string
	for i, s := range d.Sections {
		if !s.Detail {
			names = append(names, p.leftOut(i, &s)...)
			continue
		}
		if s.Heading != "" {
			names = append(names, lowerFirst(s.Heading))
		}
		for _, b := range s.Blocks {
			if t, ok := b.(*Table); ok && (s.Heading == "" || t.Title != "" && (p == nil || len(s.Blocks) > 1)) {
				names = append(names, lowerFirst(cmp.Or(t.Title, t.ID)))
			}
		}
	}
	if p != nil {
		return oneLine(detailsShow, names, o.width())
	}
	if more := len(names) - namesShown; more > 0 {
		names = append(names[:namesShown], fmt.Sprintf("%d more", more))
	}
	return strings.Join(names, "; ")
}

// lowerFirst makes a heading part of a sentence, unless it begins with an abbreviation.
func lowerFirst(s string) string {
	s = strings.TrimRight(s, "?.")
	if len(s) > 1 && s[0] >= 'A' && s[0] <= 'Z' && s[1] >= 'a' && s[1] <= 'z' {
		return string(s[0]+'a'-'A') + s[1:]
	}
	return s
}

func (p Paragraph) writeText(w *lines, o Options) {
	for _, line := range wrap(Escape(string(p)), o.width()) {
		w.line(line)
	}
}

func (s Short) writeText(w *lines, o Options) { Paragraph(s).writeText(w, o) }

func (list List) writeText(w *lines, o Options) {
	for _, item := range list {
		w.item("- ", item, o)
	}
}

// item writes a sentence behind a bullet, its further lines under its first.
func (l *lines) item(bullet, s string, o Options) {
	indent := strings.Repeat(" ", Width(bullet))
	for i, line := range wrap(Escape(s), o.width()-len(indent)) {
		if i == 0 {
			l.line(bullet + line)
		} else {
			l.line(indent + line)
		}
	}
}

func (c Code) writeText(w *lines, _ Options) {
	for line := range strings.Lines(escape(c.Text, true)) {
		w.line("  " + strings.TrimSuffix(line, "\n"))
	}
}

func (t *Table) writeText(w *lines, o Options) {
	if t.Title != "" {
		for _, line := range wrap(Escape(t.Title), max(o.width(), o.Columns)) {
			w.line(line)
		}
	}
	t, notes := t.shortened(o)
	footnotes, shape := t.footnotes(), layout{}
	if t.empty() {
		w.line("(no rows)")
	} else {
		var grid string
		grid, shape = t.grid(footnotes, o)
		for line := range strings.Lines(grid) {
			w.line(strings.TrimSuffix(line, "\n"))
		}
	}
	notes = append(footnotes.notes(t, shape.columns), notes...)
	if dropped := shape.note(); dropped != "" {
		notes = append(notes, dropped)
	}
	for _, note := range notes {
		w.item("  ", note, o)
	}
}

// shortened returns the table as short text has it: its first rows and no notes but
// those that say what is missing. Other text has all of it.
func (t *Table) shortened(o Options) (*Table, []string) {
	limited, more := t.limited()
	var notes []string
	if more != "" {
		notes = []string{more}
	}
	if !o.brief {
		return limited, notes
	}
	short := *limited
	short.Notes = nil
	if most := t.briefly(); most < len(limited.Rows) {
		short.Rows = t.Rows[:most]
		return &short, []string{Grouped(len(limited.Rows)-most) + " more with --details."}
	}
	return &short, notes
}

// briefly is how many rows short text has, if there is room.
func (t *Table) briefly() int { return min(cmp.Or(t.Brief, briefRows), len(t.Rows)) }

// grid draws header and rows, columns two spaces apart, within the columns of the
// terminal.
func (t *Table) grid(footnotes *footnotes, o Options) (string, layout) {
	all := make([][]string, len(t.Rows))
	for i, row := range t.Rows {
		all[i] = make([]string, len(row))
		for j, c := range row {
			all[i][j] = t.Columns[j].fit(Escape(c.shown())) + footnotes.number(c)
		}
	}
	shape := t.fitted(all, o.Columns, o.brief)
	var b strings.Builder
	padding := make([]tw.Padding, len(shape.columns))
	for j := range padding {
		padding[j] = tw.Padding{Right: "  ", Overwrite: true}
	}
	padding[len(padding)-1] = tw.Padding{Overwrite: true}
	plain := tw.Rendition{
		Borders: tw.BorderNone,
		Symbols: tw.NewSymbolCustom("plain").WithRow("─"),
		Settings: tw.Settings{
			Lines:      tw.Lines{ShowHeaderLine: tw.On, ShowTop: tw.Off, ShowBottom: tw.Off, ShowFooterLine: tw.Off},
			Separators: tw.Separators{BetweenRows: tw.Off, BetweenColumns: tw.Off},
		},
	}
	table := tablewriter.NewTable(&b, append(t.options(shape.columns),
		tablewriter.WithRenderer(renderer.NewBlueprint(plain)),
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithRowPaddingPerColumn(padding),
		tablewriter.WithHeaderPaddingPerColumn(padding),
	)...)
	header := make([]string, len(shape.columns))
	for k, j := range shape.columns {
		header[k] = Escape(t.Columns[j].heading())
		if width := shape.widths[k]; width > 0 {
			header[k] = strings.Join(wrapAt(header[k], width), "\n")
		}
	}
	table.Header(header)
	for _, row := range all {
		cells := make([]string, len(shape.columns))
		for k, j := range shape.columns {
			cells[k] = t.Columns[j].within(row[j], shape.widths[k])
		}
		mustAppend(table.Append(cells))
	}
	mustAppend(table.Render())
	return b.String(), shape
}

// options are those that text and Markdown share: every default of the library
// that would change what stands in a cell is off.
// columns are those that are written.
func (t *Table) options(columns []int) []tablewriter.Option {
	align := make([]tw.Align, len(columns))
	for k, j := range columns {
		align[k] = tw.AlignLeft
		if t.Columns[j].Align == Right {
			align[k] = tw.AlignRight
		}
	}
	alignment := tw.CellAlignment{PerColumn: align}
	return []tablewriter.Option{
		tablewriter.WithHeaderAutoFormat(tw.Off),
		tablewriter.WithHeaderAutoWrap(tw.WrapNone),
		tablewriter.WithRowAutoWrap(tw.WrapNone),
		tablewriter.WithHeaderAlignmentConfig(alignment),
		tablewriter.WithRowAlignmentConfig(alignment),
		tablewriter.WithEastAsian(tw.Off),
	}
}

// mustAppend panics on an error of the table writer: rows have the right number
// of strings, and the target is memory.
func mustAppend(err error) {
	if err != nil {
		panic("report: " + err.Error())
	}
}

// fit makes a cell no wider than the column allows.
func (c Column) fit(s string) string {
	if Width(s) <= c.max() {
		return s
	}
	if c.Wrap {
		return strings.Join(wrap(s, c.max()), "\n")
	}
	return Cut(s, c.max())
}

// Width returns how many columns of a terminal s takes: 2 for wide characters,
// 0 for combining ones. It does not depend on the locale.
func Width(s string) int { return twwidth.WidthWithOptions(s, twwidth.Options{}) }

// Cut shortens s to at most width columns, with … in place of its middle: names
// often differ at their ends.
func Cut(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	if width < 1 {
		return ""
	}
	left := (width - 1 + 1) / 2
	head := prefix(s, left)
	tail := suffix(s, width-1-Width(head))
	return head + "…" + tail
}

// prefix returns the longest beginning of s that takes at most width columns.
func prefix(s string, width int) string {
	for i, r := range s {
		if width -= Width(string(r)); width < 0 {
			return s[:i]
		}
	}
	return s
}

// suffix returns the longest end of s that takes at most width columns and does
// not begin with a combining character.
func suffix(s string, width int) string {
	start := len(s)
	for i := len(s); i > 0; {
		r, size := utf8.DecodeLastRuneInString(s[:i])
		i -= size
		w := Width(string(r))
		if width -= w; width < 0 {
			break
		}
		if w > 0 {
			start = i
		}
	}
	return s[start:]
}

// wrap breaks s at spaces into lines of at most width columns, and inside words
// that are wider.
func wrap(s string, width int) []string { return wrapAt(s, max(width, 10)) }

// wrapAt is wrap for columns, which may be narrower.
func wrapAt(s string, width int) []string {
	width = max(width, 2)
	var out []string
	line := ""
	for word := range strings.SplitSeq(s, " ") {
		for {
			joined := word
			if line != "" {
				joined = line + " " + word
			}
			if Width(joined) <= width {
				line = joined
				break
			}
			if line != "" {
				out = append(out, line)
				line = ""
				continue
			}
			head := broken(prefix(word, width))
			out = append(out, head)
			word = word[len(head):]
		}
	}
	if line != "" || len(out) == 0 {
		out = append(out, line)
	}
	return out
}

// broken is where a name is broken that a line ends with: behind the last mark between two
// words of it, if that leaves half of the line.
func broken(s string) string {
	if i := strings.LastIndexAny(s, "_/"); i >= len(s)/2 {
		return s[:i+1]
	}
	return s
}
