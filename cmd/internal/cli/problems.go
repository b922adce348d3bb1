package cli

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/trace/completeness"
)

// shownPerCode is how many problems of one code are printed unless -v asks for
// all: a broken file of a million lines has a million.
const shownPerCode = 5

// Problems counts the problems of a run and prints them as they are met.
type Problems struct {
	app      *App
	settings *Settings
	clear    func() // takes the progress bar off the terminal

	// Unlimited lets every problem be printed.
	Unlimited bool

	Errors   diag.Counts // all that are no warnings
	warnings diag.Counts
	doubts   []completeness.Doubt // reasons not to trust what was counted
}

// limit is how many problems of one code are printed.
func (p *Problems) limit() int {
	switch {
	case p.settings.Quiet:
		return 0
	case p.settings.Verbose, p.Unlimited:
		return math.MaxInt
	}
	return shownPerCode
}

// Add counts and prints a problem.
func (p *Problems) Add(e *diag.Error) {
	counts := &p.Errors
	if e.Severity == diag.SeverityWarning {
		counts = &p.warnings
	}
	counts.Add(e)
	if counts.ByCode[e.Code] > p.limit() {
		return
	}
	p.clear()
	p.app.printProblem(e)
}

// AddAll adds the problems of a list, or what else went wrong.
func (p *Problems) AddAll(err error) {
	if list, ok := errors.AsType[diag.List](err); ok {
		for _, e := range list {
			p.Add(e)
		}
		return
	}
	e := diag.New(diag.Pos{}, "unexpected", "%s", err)
	e.Err = err
	p.Add(e)
}

// finish prints what was not printed, and how much there was of everything.
func (p *Problems) finish() {
	p.clear()
	if limit := p.limit(); limit > 0 {
		for _, counts := range []diag.Counts{p.Errors, p.warnings} {
			for _, code := range codes(counts) {
				if more := counts.ByCode[code] - limit; more > 0 {
					fmt.Fprintf(p.app.Stderr, "… and %s more %s; -v shows all\n", report.Grouped(more), code)
				}
			}
		}
	}
	var parts []string
	for _, part := range []struct {
		counts diag.Counts
		noun   string
	}{{p.Errors, "problem"}, {p.warnings, "warning"}} {
		if part.counts.Total > 0 {
			parts = append(parts, CountOf(part.counts.Total, part.noun)+" ("+byCode(part.counts)+")")
		}
	}
	if len(parts) > 0 {
		fmt.Fprintf(p.app.Stderr, "awo: %s\n", strings.Join(parts, ", "))
	}
	if len(p.doubts) > 0 && !p.settings.Quiet {
		word := "the counts are doubtful"
		if !slices.ContainsFunc(p.doubts, func(d completeness.Doubt) bool { return d.Grave }) {
			word = "a small part of the counts is doubtful"
		}
		fmt.Fprintf(p.app.Stderr, "awo: %s: %s; awo inspect says more\n", word, Doubts(p.doubts))
	}
}

// Doubts says why counts are not to be trusted.
func Doubts(doubts []completeness.Doubt) string {
	var parts []string
	for _, d := range doubts {
		share := ""
		if !d.Grave {
			share = fmt.Sprintf(" (%s %%)", strconv.FormatFloat(100*d.Share, 'g', 2, 64))
		}
		parts = append(parts, fmt.Sprintf("%s of %s%s %s", report.Grouped(d.Count), report.Grouped(d.Of), share, d.Reason))
	}
	return strings.Join(parts, "; ")
}

// All returns the counts of errors and warnings together, as results show them.
func (p *Problems) All() diag.Counts {
	all := diag.Counts{ByCode: map[string]int{}}
	for _, counts := range []diag.Counts{p.Errors, p.warnings} {
		for code, n := range counts.ByCode {
			all.AddN(code, n)
		}
	}
	return all
}

// codes returns the codes of counts, the most frequent first.
func codes(counts diag.Counts) []string {
	var out []string
	for code := range counts.ByCode {
		out = append(out, code)
	}
	slices.SortFunc(out, func(a, b string) int {
		if n, m := counts.ByCode[a], counts.ByCode[b]; n != m {
			return m - n
		}
		return strings.Compare(a, b)
	})
	return out
}

func byCode(counts diag.Counts) string {
	var parts []string
	for _, code := range codes(counts) {
		parts = append(parts, report.Grouped(counts.ByCode[code])+" "+code)
	}
	return strings.Join(parts, ", ")
}

// CountOf returns "1 problem" or "2 problems".
func CountOf(n int, noun string) string {
	if stem, ok := strings.CutSuffix(noun, "y"); n != 1 && ok && !strings.HasSuffix(stem, "a") && !strings.HasSuffix(stem, "e") {
		noun = stem + "ies"
	} else if n != 1 {
		noun += "s"
	}
	return report.Grouped(n) + " " + noun
}

// printProblem prints a problem as file:line:col: code: message, the source
// line with a caret where it may be shown, and the notes.
func (a *App) printProblem(e *diag.Error) {
	var b strings.Builder
	head, bold, off := "", "", ""
	if a.colour {
		head, bold, off = "\x1b[31m", "\x1b[1m", "\x1b[0m"
		if e.Severity == diag.SeverityWarning {
			head = "\x1b[33m"
		}
	}
	if !e.Pos.IsZero() {
		where := bold + report.Escape(e.Pos.String()) + off
		b.WriteString(where + ": ")
	}
	b.WriteString(head + report.Escape(e.Code) + off + ": ")
	if e.Severity == diag.SeverityWarning {
		b.WriteString("warning: ")
	}
	b.WriteString(report.Escape(e.Msg) + "\n")
	a.writeExcerpt(&b, e.Pos, head, off)
	for _, n := range e.Notes {
		b.WriteString("  ")
		if !n.Pos.IsZero() {
			b.WriteString(report.Escape(n.Pos.String()) + ": ")
		}
		b.WriteString(report.Escape(n.Msg) + "\n")
		if n.Pos != e.Pos {
			a.writeExcerpt(&b, n.Pos, head, off)
		}
	}
	_, _ = io.WriteString(a.Stderr, b.String())
}

// writeExcerpt writes the line of a position. Lines of traces hold secrets, so
// only --show-values shows them; lines of rules and settings are always shown.
func (a *App) writeExcerpt(b *strings.Builder, pos diag.Pos, head, off string) {
	if pos.Line == 0 || pos.File == "" {
		return
	}
	var line []byte
	col := pos.Col
	ok := false
	if src, known := a.sources[pos.File]; known {
		line, ok = lineOf(src, pos.Line)
	} else if a.showValues {
		line, col, ok = readLine(pos.File, pos.Line, pos.Col)
	}
	if !ok {
		return
	}
	text, caret := excerpt(line, col)
	if strings.TrimSpace(text) == "" {
		return
	}
	b.WriteString("    " + text + "\n")
	if caret != "" {
		indent := strings.TrimSuffix(caret, "^")
		b.WriteString("    " + indent + head + "^" + off + "\n")
	}
}

// showLines lets problems in a file show its lines: one that holds no traces.
func (a *App) showLines(file string, src []byte) {
	if a.sources == nil {
		a.sources = map[string][]byte{}
	}
	a.sources[file] = src
}

// ShowLines lets problems in a file show its lines: one that holds no traces.
func (j *Job) ShowLines(file string, src []byte) { j.app.showLines(file, src) }
