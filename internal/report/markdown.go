package report

import (
	"bufio"
	"io"
	"strings"

	"github.com/olekukonko/tablewriter"
	"github.com/olekukonko/tablewriter/renderer"
)

func (d *Document) writeMarkdown(w io.Writer, o Options) error {
	l := &lines{w: bufio.NewWriter(w)}
	if d.Title != "" {
		l.gap()
		l.line("# " + EscapeMarkdown(d.Title))
	}
	if d.Answer != "" {
		l.gap()
		l.line(EscapeMarkdown(d.Answer))
	}
	for i, s := range d.Sections {
		folded := o.Fold && i > 0 && s.Heading != ""
		if folded {
			l.gap()
			l.line("<details><summary>" + htmlText(s.Heading) + "</summary>")
		} else if s.Heading != "" {
			l.gap()
			l.line("## " + EscapeMarkdown(s.Heading))
		}
		for _, b := range s.Blocks {
			if _, short := b.(Short); short || isPicture(b) {
				continue
			}
			l.gap()
			b.writeMarkdown(l, o)
		}
		if folded {
			l.gap()
			l.line("</details>")
		}
	}
	for i, next := range d.Next {
		if i == 0 {
			l.gap()
		}
		command, reason, _ := strings.Cut(next, " # ")
		line := "Next: " + codeSpan(command)
		if reason != "" {
			line += " (" + EscapeMarkdown(reason) + ")"
		}
		l.line(line)
	}
	return l.w.Flush()
}

func (p Paragraph) writeMarkdown(w *lines, _ Options) { w.line(EscapeMarkdown(string(p))) }

func (Short) writeMarkdown(*lines, Options) {}

func (list List) writeMarkdown(w *lines, _ Options) {
	for _, item := range list {
		w.line("- " + EscapeMarkdown(item))
	}
}

func (c Code) writeMarkdown(w *lines, _ Options) {
	text := escape(c.Text, true)
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	w.line(fence + strings.Map(languageRune, c.Language))
	for line := range strings.Lines(text) {
		w.line(strings.TrimSuffix(line, "\n"))
	}
	w.line(fence)
}

// languageRune keeps the characters that the name of a language may have.
func languageRune(r rune) rune {
	if r < 0x80 && (isWord(byte(r)) || r == '-' || r == '+') {
		return r
	}
	return -1
}

func (t *Table) writeMarkdown(w *lines, _ Options) {
	t, more := t.limited()
	if t.Title != "" {
		w.line("**" + EscapeMarkdown(t.Title) + "**")
		w.line("")
	}
	footnotes := t.footnotes()
	if t.empty() {
		w.line("(no rows)")
	} else {
		for line := range strings.Lines(t.markdown(footnotes)) {
			w.line(strings.TrimSuffix(line, "\n"))
		}
	}
	notes := footnotes.notes(t, t.all())
	if more != "" {
		notes = append(notes, more)
	}
	if len(notes) > 0 {
		w.line("")
		for _, note := range notes {
			w.line("- " + EscapeMarkdown(note))
		}
	}
}

func (t *Table) markdown(footnotes *footnotes) string {
	var b strings.Builder
	table := tablewriter.NewTable(&b, append(t.options(t.all()), tablewriter.WithRenderer(renderer.NewMarkdown()))...)
	header := make([]string, len(t.Columns))
	for j, c := range t.Columns {
		header[j] = EscapeMarkdown(c.heading())
	}
	table.Header(header)
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for j, c := range row {
			switch c.kind {
			case kindName:
				cells[j] = codeSpan(c.text)
			case kindText:
				cells[j] = EscapeMarkdown(c.text)
			default: // figures: nothing in them is markup
				cells[j] = c.shown() + footnotes.number(c)
			}
		}
		mustAppend(table.Append(cells))
	}
	mustAppend(table.Render())
	return b.String()
}
