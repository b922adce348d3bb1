package report

import (
	"bufio"
	"fmt"
	"html"
	"io"
	"strings"
)

// WriteHTML writes d as one self-contained page: no script, no request to
// anywhere, styles and pictures inside. It follows the reader's dark mode, and
// prints. All text is escaped, and a policy in the page forbids whatever would
// slip through to load or run anything. The error is that of w.
func (d *Document) WriteHTML(w io.Writer) error {
	l := &lines{w: bufio.NewWriter(w)}
	title := htmlText(d.Title)
	l.line("<!DOCTYPE html>")
	l.line(`<html lang="en">`)
	l.line("<head>")
	l.line(`<meta charset="utf-8">`)
	l.line(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`)
	l.line(`<meta name="viewport" content="width=device-width, initial-scale=1">`)
	l.line(`<meta name="color-scheme" content="light dark">`)
	l.line("<title>" + title + "</title>")
	l.line("<style>\n" + htmlStyle + "</style>")
	l.line("</head>")
	l.line("<body>")
	l.line("<main>")
	l.line("<h1>" + title + "</h1>")
	d.contents(l)
	for i, s := range d.Sections {
		l.line("<section" + sectionID(i, s) + ">")
		if s.Heading != "" {
			l.line("<h2>" + htmlText(s.Heading) + "</h2>")
		}
		for _, b := range s.Blocks {
			b.writeHTML(l)
		}
		l.line("</section>")
	}
	l.line("</main>")
	l.line("</body>")
	l.line("</html>")
	return l.w.Flush()
}

// contents writes links to the sections where there are several.
func (d *Document) contents(l *lines) {
	var links []string
	for i, s := range d.Sections {
		if s.Heading != "" {
			links = append(links, fmt.Sprintf(`<li><a href="#s%d">%s</a></li>`, i+1, htmlText(s.Heading)))
		}
	}
	if len(links) > 1 {
		l.line("<nav>\n<ul>\n" + strings.Join(links, "\n") + "\n</ul>\n</nav>")
	}
}

func sectionID(i int, s Section) string {
	if s.Heading == "" {
		return ""
	}
	return fmt.Sprintf(` id="s%d"`, i+1)
}

// htmlText makes s plain text in HTML, attributes included.
func htmlText(s string) string { return html.EscapeString(Escape(s)) }

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

func (p Picture) writeHTML(w *lines) {
	w.line(`<figure role="img" aria-label="` + htmlText(p.Alt) + `">`)
	w.line(p.inline())
	w.line("</figure>")
}

func (t *Table) writeHTML(w *lines) {
	marks := t.marks()
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
		t.rowsHTML(w, marks)
		w.line("</table>")
		w.line("</div>")
	}
	if notes := marks.notes(t); len(notes) > 0 {
		w.line(`<ul class="notes">`)
		for _, note := range notes {
			w.line("<li>" + htmlText(note) + "</li>")
		}
		w.line("</ul>")
	}
}

// rowsHTML writes header and rows.
func (t *Table) rowsHTML(w *lines, marks *marks) {
	class := func(j int) string {
		switch c := &t.Columns[j]; {
		case c.Align == Right:
			return ` class="r"`
		case c.Interval:
			return ` class="i"`
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
	for _, row := range t.Rows {
		var b strings.Builder
		b.WriteString("<tr>")
		for j, c := range row {
			text := htmlText(c.shown()) + marks.mark(c)
			if c.kind == kindName {
				text = "<code>" + text + "</code>"
			}
			b.WriteString("<td" + class(j) + ">" + text + "</td>")
		}
		b.WriteString("</tr>")
		w.line(b.String())
	}
	w.line("</tbody>")
}

// htmlStyle is the style of a page. Pictures are drawn on white: in dark mode
// their lightness is turned over and their hues are kept.
const htmlStyle = `:root { color-scheme: light dark; --ink: #1f2328; --paper: #ffffff; --faint: #59636e; --line: #d1d9e0; --band: #f6f8fa; --link: #0969da; }
@media screen and (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --paper: #0f1217; --faint: #9aa4ae; --line: #363d46; --band: #171b22; --link: #6cb2ff; }
  figure svg { filter: invert(0.94) hue-rotate(180deg); }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", Arial, sans-serif; }
main { max-width: 68rem; margin: 0 auto; padding: 1.5rem 1.25rem 4rem; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0.5rem 0 1rem; }
h2 { font-size: 1.35rem; margin: 2.75rem 0 0.5rem; padding-top: 0.75rem; border-top: 1px solid var(--line); }
h3 { font-size: 1.05rem; }
p { max-width: 46rem; }
a { color: var(--link); }
nav ul { display: flex; flex-wrap: wrap; gap: 0.15rem 1.25rem; list-style: none; margin: 0 0 1rem; padding: 0.6rem 0; border-block: 1px solid var(--line); font-size: 0.9rem; }
nav a { text-decoration: none; }
.table { overflow-x: auto; margin: 1rem 0 0.5rem; }
table { border-collapse: collapse; font-size: 0.875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: 0.4rem; font-size: 0.95rem; }
th, td { padding: 0.3rem 0.75rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
th { border-bottom: 2px solid var(--line); vertical-align: bottom; font-weight: 600; color: var(--faint); }
td code { overflow-wrap: anywhere; }
td:has(code) { min-width: 15rem; }
tbody tr:nth-child(even) { background: var(--band); }
.r { text-align: right; white-space: nowrap; }
th.r { white-space: normal; }
.i { white-space: nowrap; }
code, pre { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace; font-size: 0.92em; }
pre { overflow-x: auto; padding: 0.75rem; background: var(--band); }
.notes { margin: 0.25rem 0 1.25rem; padding: 0; list-style: none; color: var(--faint); font-size: 0.85rem; max-width: 52rem; }
.notes li { margin: 0.2rem 0; }
figure { margin: 1.25rem 0; }
figure svg { max-width: 100%; height: auto; border-radius: 4px; }
figure svg text { font-family: "Liberation Sans", Arial, Helvetica, sans-serif !important; }
@media print {
  body { font-size: 10pt; }
  main { max-width: none; padding: 0; }
  nav { display: none; }
  .table { overflow: visible; }
  h2, caption { break-after: avoid; }
  tr, figure, p { break-inside: avoid; }
}
`
