package report

import (
	"bufio"
	_ "embed"
	"fmt"
	"html"
	"io"
	"strings"
)

// WriteHTML writes d as one self-contained page: no request to anywhere, styles,
// scripts and pictures inside. Without scripts all tables and texts are there. It
// follows the reader's dark mode, and prints. All text is escaped, and a policy in the
// page forbids whatever would slip through to load or run anything but the scripts
// that the page brings, which it names by their hashes. The error is that of w.
func (d *Document) WriteHTML(w io.Writer) error {
	l := &lines{w: bufio.NewWriter(w)}
	title, scripts, style := htmlText(d.Title), d.scripts(), "\n"+htmlStyle
	l.line("<!DOCTYPE html>")
	l.line(`<html lang="en">`)
	l.line("<head>")
	l.line(`<meta charset="utf-8">`)
	l.line(`<meta http-equiv="Content-Security-Policy" content="` + policy(style, scripts) + `">`)
	l.line(`<meta name="viewport" content="width=device-width, initial-scale=1">`)
	l.line(`<meta name="color-scheme" content="light dark">`)
	l.line("<title>" + title + "</title>")
	l.line("<style>" + style + "</style>")
	l.line("</head>")
	l.line("<body>")
	l.line("<main>")
	l.line("<h1>" + title + "</h1>")
	if d.Answer != "" {
		l.line("<p class=\"answer\">" + htmlText(d.Answer) + "</p>")
	}
	contents := d.contents()
	if !d.hasLead() {
		l.line(contents)
	}
	for i, s := range d.Sections {
		if s.Appendix && (i == 0 || !d.Sections[i-1].Appendix) {
			l.line(`<details class="appendix"><summary>Appendices: all tables</summary>`)
		}
		l.line("<section" + sectionID(i, s) + ">")
		if s.Heading != "" {
			l.line("<h2>" + htmlText(s.Heading) + "</h2>")
		}
		for _, b := range s.Blocks {
			b.writeHTML(l)
		}
		l.line("</section>")
		if s.Appendix && (i == len(d.Sections)-1 || !d.Sections[i+1].Appendix) {
			l.line("</details>")
		}
		if i == 0 && d.hasLead() { // what answers comes before where to read on
			l.line(contents)
		}
	}
	l.line("</main>")
	l.line(`<svg width="0" height="0" aria-hidden="true"><defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect class="ground" width="6" height="6"/><rect class="stripe" width="3" height="6"/></pattern></defs></svg>`)
	for _, s := range scripts {
		l.line("<script>" + s + "</script>")
	}
	l.line("</body>")
	l.line("</html>")
	return l.w.Flush()
}

// contents writes links to the sections where there are several.
func (d *Document) contents() string {
	var links []string
	for i, s := range d.Sections {
		if s.Heading != "" && !s.Appendix {
			links = append(links, fmt.Sprintf(`<li><a href="#s%d">%s</a></li>`, i+1, htmlText(s.Heading)))
		}
	}
	if len(links) < 2 {
		return ""
	}
	return "<nav aria-label=\"Sections\">\n<ul>\n" + strings.Join(links, "\n") + "\n</ul>\n</nav>"
}

// hasLead reports whether the first section is a screen of its own.
func (d *Document) hasLead() bool {
	if len(d.Sections) == 0 || d.Sections[0].Heading != "" {
		return false
	}
	_, is := d.Sections[0].Blocks[0].(Tiles)
	return is
}

func sectionID(i int, s Section) string {
	if s.Heading == "" {
		return ""
	}
	return fmt.Sprintf(` id="s%d"`, i+1)
}

// htmlText makes s plain text in HTML, attributes included.
func htmlText(s string) string { return html.EscapeString(Escape(s)) }

func (Short) writeHTML(*lines) {}

func (p Paragraph) writeHTML(w *lines) { w.line("<p>" + htmlText(string(p)) + "</p>") }

func (list List) writeHTML(w *lines) {
	w.line("<ul>")
	for _, item := range list {
		w.line("<li>" + htmlText(item) + "</li>")
	}
	w.line("</ul>")
}

func (c Code) writeHTML(w *lines) {
	w.line("<pre><code>" + html.EscapeString(escape(c.Text, true)) + "</code></pre>")
}

// codeHTML sets a name from the traces, broken between its words.
func codeHTML(name string) string {
	return "<code>" + strings.ReplaceAll(htmlText(name), "_", "_<wbr>") + "</code>"
}

func (t *Table) writeHTML(w *lines) {
	t, more := t.limited()
	if t.Open != nil {
		t = t.only(func(c *Column) bool { return !c.Detail })
	}
	footnotes := t.footnotes()
	if t.empty() {
		if t.Title != "" {
			w.line("<h3>" + htmlText(t.Title) + "</h3>")
		}
		w.line("<p>(no rows)</p>")
	} else {
		w.line(`<div class="table">`)
		w.line("<table>")
		if t.Title != "" {
			w.line("<caption>" + htmlText(t.Title) + "</caption>")
		}
		t.rowsHTML(w, footnotes)
		w.line("</table>")
		w.line("</div>")
	}
	notes := footnotes.notes(t, t.all())
	if more != "" {
		notes = append(notes, more)
	}
	if len(notes) > 0 {
		w.line(`<ul class="notes">`)
		for _, note := range notes {
			w.line("<li>" + htmlText(note) + "</li>")
		}
		w.line("</ul>")
	}
}

// rowsHTML writes header and rows.
func (t *Table) rowsHTML(w *lines, footnotes *footnotes) {
	class := func(j int) string {
		switch c := &t.Columns[j]; {
		case c.Align == Right:
			return ` class="r"`
		case c.Interval:
			return ` class="i"`
		case c.Wrap:
			return ` class="w"`
		}
		return ""
	}
	w.line("<thead>")
	w.line("<tr>")
	for j, c := range t.Columns {
		w.line(`<th scope="col"` + class(j) + ">" + htmlText(c.heading()) + "</th>")
	}
	w.line("</tr>")
	w.line("</thead>")
	w.line("<tbody>")
	for i, row := range t.Rows {
		var b strings.Builder
		b.WriteString("<tr>")
		for j, c := range row {
			text := htmlText(c.shown()) + footnotes.number(c)
			if c.kind == kindName {
				text = codeHTML(c.text)
			}
			b.WriteString("<td" + class(j) + ">" + text + "</td>")
		}
		b.WriteString("</tr>")
		w.line(b.String())
		if t.Open == nil {
			continue
		}
		w.line(fmt.Sprintf(`<tr class="more"><td colspan="%d">`, len(row)))
		for _, block := range t.Open(i) {
			block.writeHTML(w)
		}
		w.line("</td></tr>")
	}
	w.line("</tbody>")
}

//go:embed page/page.css
var htmlStyle string
