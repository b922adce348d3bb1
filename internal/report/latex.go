package report

import (
	"bufio"
	"io"
	"strings"
)

// writeLaTeX writes the tables of d with the rules of the package booktabs, each with its
// title as a caption and its notes below. What a table says of the rest of its rows in text is
// not needed: all rows are here.
func (d *Document) writeLaTeX(w io.Writer) error {
	l := &lines{w: bufio.NewWriter(w)}
	for _, t := range d.Tables() {
		if t.empty() {
			continue
		}
		l.gap()
		t.writeLaTeX(l)
	}
	return l.w.Flush()
}

func (t *Table) writeLaTeX(w *lines) {
	footnotes := t.footnotes()
	columns, header := "", make([]string, len(t.Columns))
	for j := range t.Columns {
		c := &t.Columns[j]
		side := "l"
		if c.Align == Right || c.Interval {
			side = "r"
		}
		columns, header[j] = columns+side, latexText(c.heading())
	}
	w.line(`\begin{table}`)
	w.line(`\centering`)
	if t.Title != "" {
		w.line(`\caption{` + latexText(t.Title) + `}`)
	}
	w.line(`\label{tab:` + strings.ReplaceAll(t.ID, "_", "-") + `}`)
	w.line(`\begin{tabular}{` + columns + `}`)
	w.line(`\toprule`)
	w.line(strings.Join(header, " & ") + ` \\`)
	w.line(`\midrule`)
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for j, c := range row {
			cells[j] = latexText(c.shown())
			switch c.kind {
			case kindName:
				cells[j] = `\texttt{` + cells[j] + `}`
			case kindMissing:
				cells[j] += latexText(footnotes.number(c))
			case kindInterval: // a bracket behind \\ would be taken for its argument
				cells[j] = "{" + cells[j] + "}"
			}
		}
		w.line(strings.Join(cells, " & ") + ` \\`)
	}
	w.line(`\bottomrule`)
	w.line(`\end{tabular}`)
	for _, note := range footnotes.notes(t, t.all()) {
		w.line(``)
		w.line(`{\footnotesize ` + latexText(note) + `\par}`)
	}
	w.line(`\end{table}`)
}

// latexNames are characters that LaTeX reads as commands, or has no letter for in every font.
var latexNames = strings.NewReplacer(
	`\`, `\textbackslash{}`, `{`, `\{`, `}`, `\}`, `$`, `\$`, `&`, `\&`, `#`, `\#`, `%`, `\%`, `_`, `\_`, `^`, `\textasciicircum{}`, `~`, `\textasciitilde{}`,
	`<`, `\textless{}`, `>`, `\textgreater{}`, "`", `\textasciigrave{}`, `–`, `--`, `→`, `$\rightarrow$`, `∞`, `$\infty$`, `×`, `$\times$`, `…`, `\dots{}`,
	`⁰`, `\textsuperscript{0}`, `¹`, `\textsuperscript{1}`, `²`, `\textsuperscript{2}`, `³`, `\textsuperscript{3}`, `⁴`, `\textsuperscript{4}`,
	`⁵`, `\textsuperscript{5}`, `⁶`, `\textsuperscript{6}`, `⁷`, `\textsuperscript{7}`, `⁸`, `\textsuperscript{8}`, `⁹`, `\textsuperscript{9}`,
)

// latexText makes s plain text in LaTeX.
func latexText(s string) string { return latexNames.Replace(Escape(s)) }
