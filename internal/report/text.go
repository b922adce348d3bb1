package report

import (
	"bufio"
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
	bold := func(s string) string {
		if o.Bold {
			return "\x1b[1m" + s + "\x1b[0m"
		}
		return s
	}
	if d.Title != "" {
		l.gap()
		l.line(bold(Escape(d.Title)))
	}
	for _, s := range d.Sections {
		if s.Heading != "" {
			l.gap()
			l.line(bold(Escape(s.Heading)))
			l.line(strings.Repeat("─", Width(Escape(s.Heading))))
			l.any = len(s.Blocks) == 0 // the first block follows its heading at once
		}
		for _, b := range s.Blocks {
			if _, ok := b.(Picture); ok {
				continue
			}
			l.gap()
			b.writeText(l, o)
		}
	}
	return l.w.Flush()
}

func (p Paragraph) writeText(w *lines, o Options) {
	for _, line := range wrap(Escape(string(p)), o.width()) {
		w.line(line)
	}
}

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
		w.line(Escape(t.Title))
	}
	marks := t.marks()
	if t.empty() {
		w.line("(no rows)")
	} else {
		for line := range strings.Lines(t.grid(marks)) {
			w.line(strings.TrimSuffix(line, "\n"))
		}
	}
	for _, note := range marks.notes(t) {
		w.item("  ", note, o)
	}
}

// grid draws header and rows, columns two spaces apart.
func (t *Table) grid(marks *marks) string {
	var b strings.Builder
	padding := make([]tw.Padding, len(t.Columns))
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
	table := tablewriter.NewTable(&b, append(t.options(),
		tablewriter.WithRenderer(renderer.NewBlueprint(plain)),
		tablewriter.WithTrimSpace(tw.Off),
		tablewriter.WithRowPaddingPerColumn(padding),
		tablewriter.WithHeaderPaddingPerColumn(padding),
	)...)
	header := make([]string, len(t.Columns))
	for j, c := range t.Columns {
		header[j] = Escape(c.heading())
	}
	table.Header(header)
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for j, c := range row {
			cells[j] = t.Columns[j].fit(Escape(c.shown())) + marks.mark(c)
		}
		mustAppend(table.Append(cells))
	}
	mustAppend(table.Render())
	return b.String()
}

// options are those that text and Markdown share: every default of the library
// that would change what stands in a cell is off.
func (t *Table) options() []tablewriter.Option {
	align := make([]tw.Align, len(t.Columns))
	for j, c := range t.Columns {
		align[j] = tw.AlignLeft
		if c.Align == Right {
			align[j] = tw.AlignRight
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
func wrap(s string, width int) []string {
	width = max(width, 10)
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
			head := prefix(word, width)
			out = append(out, head)
			word = word[len(head):]
		}
	}
	if line != "" || len(out) == 0 {
		out = append(out, line)
	}
	return out
}
