package analysis

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/recommend"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
)

// document puts the page together: a first screen, sections, and appendices.
func (r *pageInput) document() (*report.Document, error) {
	d := &report.Document{Title: "Agent report: " + cli.CountOf(r.in.Tally.Trajectories, "trajectory") + r.when()}
	if r.in.Tally.Calls == 0 {
		d.Add(r.in.Summary(), report.Paragraph("There are no calls, so there is nothing to measure."))
		return d, nil
	}
	d.Answer = r.read()
	d.Add(r.tiles(), report.Pair{{r.spending()}, r.advice()})
	d.Details()
	d.Section("Findings", r.findings())
	d.Section("Ways to save", r.ways()...)
	d.Section("Cost over time", r.overTime())
	apps, err := r.apps()
	if err != nil {
		return nil, err
	}
	d.Section("Process map", apps[0]...)
	d.Section("Trajectories", apps[1]...)
	d.Section("Habits", r.habits()...)
	d.Section("Meta-tools and prefetch rules", r.compiled...)
	d.Section("Data quality", r.quality()...)
	n := len(d.Sections)
	r.appendices(d)
	for i := n; i < len(d.Sections); i++ {
		d.Sections[i].Appendix, d.Sections[i].Detail = true, true
	}
	return d, nil
}

// when is the days that the traces span, "" if no time is recorded.
func (r *pageInput) when() string {
	facts := r.in.Facts
	if facts == nil || facts.First.IsZero() || facts.Last.IsZero() {
		return ""
	}
	first, last := facts.First.UTC().Format("2 January 2006"), facts.Last.UTC().Format("2 January 2006")
	if first == last {
		return ", " + first
	}
	return ", " + first + " to " + last
}

// read says in a sentence what was read.
func (r *pageInput) read() string {
	y := r.in.Tally
	text := fmt.Sprintf("%s of %s", cli.CountOf(y.Calls, "call"), cli.CountOf(y.Tools(), "tool"))
	if y.LLMTurns > 0 {
		text += " in " + cli.CountOf(y.LLMTurns, "model turn")
	}
	var models []string
	for _, m := range r.in.Facts.Models() {
		if m.Name != "" {
			models = append(models, m.Name)
		}
	}
	if n := len(models); n > 0 {
		text += ", by " + strings.Join(models[:min(n, 3)], ", ")
		if n > 3 {
			text += " and " + cli.CountOf(n-3, "more model")
		}
	}
	return text + "."
}

// tiles are the four figures that a page begins with.
func (r *pageInput) tiles() report.Tiles {
	paid := report.Tile{Label: "Paid", Value: "not known", Note: "no turn has a price"}
	if usd, ok := r.cost.PaidUSD.Value(); ok {
		each, _ := r.cost.PerTrajectory.Value()
		paid.Value, paid.Note = cli.Dollars(usd)+" USD", cli.Dollars(each)+" USD a trajectory, "+r.cost.Basis()
	} else if r.cost.Tokens > 0 {
		paid.Label, paid.Value = "Tokens", cli.Grouped(r.cost.Tokens)
	}
	runs := report.Tile{Label: "Trajectories", Value: report.Grouped(r.in.Tally.Trajectories), Note: "their outcome is not recorded"}
	var good, judged int
	for i := range r.cost.Outcomes {
		if line := &r.cost.Outcomes[i]; line.Name != "unknown" {
			judged += line.Trajectories
			if line.Name == "success" {
				good += line.Trajectories
			}
		}
	}
	if judged > 0 {
		in := stat.Wilson(float64(good), float64(judged), 0.95)
		runs.Note = fmt.Sprintf("%.0f %% succeed (95 %%: %.0f to %.0f %%)", 100*float64(good)/float64(judged), 100*in.Lo, 100*in.Hi)
		if judged < r.in.Tally.Trajectories {
			runs.Note += " of " + report.Grouped(judged) + " with an outcome"
		}
	}
	took := report.Tile{Label: "Median time", Value: "not known", Note: "no times are recorded"}
	if rows := r.costs.Times(); len(rows) > 0 {
		if median, ok := rows[0].Median.Value(); ok {
			took.Value, took.Note = fmt.Sprintf("%.1f s", median), "of a trajectory"
			if p95, ok := rows[0].P95.Value(); ok {
				took.Note += fmt.Sprintf("; 95 %% take less than %.1f s", p95)
			}
		}
	}
	return report.Tiles{paid, runs, took, r.saved()}
}

// measure is what savings are counted in.
type measure struct {
	of   func(*recommend.Row) stat.Estimate
	unit string
}

// measures are the ways to count savings, of which the first is taken that is known.
var measures = []measure{
	{func(r *recommend.Row) stat.Estimate { return r.USD }, "USD"},
	{func(r *recommend.Row) stat.Estimate { return r.Token }, "tokens"},
	{func(r *recommend.Row) stat.Estimate { return r.Turns }, "calling turns"},
}

// measured returns the first measure that is known of rows; ok is false if there is none.
func measured(rows []recommend.Row) (measure, bool) {
	for _, m := range measures {
		if slices.ContainsFunc(rows, func(row recommend.Row) bool { return m.of(&row).Known() }) {
			return m, true
		}
	}
	return measure{}, false
}

// words write an amount and the ends of its interval.
func (m measure) words(e stat.Estimate) []string {
	v, _ := e.Value()
	if m.unit == "USD" {
		return cli.Amounts(v, e.Interval.Lo, e.Interval.Hi)
	}
	var out []string
	for _, x := range []float64{v, e.Interval.Lo, e.Interval.Hi} {
		out = append(out, report.Grouped(int(math.Round(x))))
	}
	return out
}

// estimated is an estimate as charts have it; words are its value and the ends of its interval.
func estimated(name string, e stat.Estimate, words []string) report.Bar {
	out := report.Bar{Name: name, Is: &report.Estimated{Value: e.Float(), Lo: math.NaN(), Hi: math.NaN()}, Text: words[0]}
	if e.Interval.Known() {
		out.Is.Lo, out.Is.Hi = e.Interval.Lo, e.Interval.Hi
		out.Text += " [" + words[1] + ", " + words[2] + "]"
	}
	return out
}

// saved is the tile of what could be saved.
func (r *pageInput) saved() report.Tile {
	out := report.Tile{Label: "Could be saved", Value: "not measured", Note: "awo backtest measures it"}
	v := r.saving.Recommended
	switch {
	case v == nil:
	case v.IsNothing():
		out.Value, out.Note = "nothing", "no way surely saves on tasks held out"
	default:
		row := v.Best()
		m, _ := measured([]recommend.Row{*row})
		words := m.words(m.of(row))
		out.Value, out.Note = words[0]+" "+m.unit, "on tasks held out"
		if m.of(row).Interval.Known() {
			out.Note = fmt.Sprintf("95 %%: %s to %s %s, on tasks held out", words[1], words[2], m.unit)
		}
	}
	return out
}

// toolsCharted is how many tools the chart of spending has; the others are one row.
const toolsCharted = 12

// spending draws where the money goes, and what findings and the recommendation would remove
// of it, each turn once. Without prices it is tokens.
func (r *pageInput) spending() report.Block {
	_, money := r.cost.PaidUSD.Value()
	unit := func(v float64) string {
		if money {
			return cli.Dollars(v) + " USD"
		}
		return cli.Grouped(int64(math.Round(v))) + " tokens"
	}
	type spent struct {
		name    string
		isTool  bool
		all     float64
		removed [6]float64 // by shade
	}
	rows, rest := []spent{}, spent{}
	place, others := map[string]int{}, 0
	for i := range r.cost.Tools {
		t := &r.cost.Tools[i]
		one := spent{name: t.Tool, isTool: true, all: t.Input + t.Output}
		if money {
			one.all = t.Paid
		}
		if t.Tool == "" {
			one.name, one.isTool = "turns without a call", false
		}
		if len(rows) < toolsCharted || t.Tool == "" {
			place[t.Tool] = len(rows)
			rows = append(rows, one)
		} else {
			rest.all += one.all
			others++
		}
	}
	if others > 0 {
		rest.name = cli.CountOf(others, "other tool")
		rows = append(rows, rest)
	}
	keys := make([]string, 6)
	keys[0] = "no finding"
	more := 0
	for i := range r.charged {
		f := &r.charged[i]
		shade := min(i+1, 4)
		switch {
		case f.Code == cli.Recommended:
			shade = 5
			keys[5] = "what the recommendation removes beyond the findings, before its own cost"
		case shade < 4:
			keys[shade] = fmt.Sprintf("%d %s", i+1, findingWords(f))
		default:
			more++
			keys[4] = cli.CountOf(more, "more finding")
		}
		for _, c := range f.Tools {
			at, ok := place[c.Tool]
			if !ok {
				at = len(rows) - 1
			}
			if v := c.Tokens; !money {
				rows[at].removed[shade] += v
			} else {
				rows[at].removed[shade] += c.USD
			}
		}
	}
	chart := report.Bars{Title: "Where the money goes", Keys: keys}
	if !money {
		chart.Title = "Where the tokens go"
	}
	if len(r.charged) == 0 {
		chart.Keys = nil
	}
	whole := 0.0
	for i := range rows {
		whole += rows[i].all
	}
	if whole == 0 {
		return report.Bars{}
	}
	for i := range rows {
		row := &rows[i]
		sum := 0.0
		for _, v := range row.removed {
			sum += v
		}
		scale := 1.0 // counted tokens are scaled after findings have charged them
		if sum > row.all && sum > 0 {
			scale = row.all / sum
		}
		at := row.all - sum*scale
		spans := []report.Span{{To: at}}
		for shade, v := range row.removed {
			if v > 0 {
				spans = append(spans, report.Span{From: at, To: at + v*scale, Shade: shade, Title: keys[shade] + ": " + unit(v*scale)})
				at += v * scale
			}
		}
		chart.Rows = append(chart.Rows, report.Bar{Name: row.name, IsCode: row.isTool, Spans: spans, Text: fmt.Sprintf("%s, %.0f %%", unit(row.all), 100*row.all/whole)})
	}
	if len(r.charged) > 0 {
		chart.Notes = append(chart.Notes, "A bar is the cost of the turns that call the tool; its coloured end is what would go. Each turn is charged once, to the first finding in order of amount. All are upper bounds.")
	}
	return chart.Scaled()
}

// findingWords name a finding in two words or three.
func findingWords(f *cli.Finding) string {
	words := strings.ReplaceAll(string(f.Code), "-", " ")
	if f.Tool != "" {
		words += " of " + f.Tool
	}
	return words
}

// advice is the recommendation with its command, and the findings that are worth most.
func (r *pageInput) advice() []report.Block {
	var out []report.Block
	switch {
	case r.saving.Recommended != nil:
		out = append(out, report.Heading("Recommendation"), report.Paragraph(capital(strings.TrimPrefix(r.saving.Recommended.Words(), "Recommended: "))))
		if !r.saving.Recommended.IsNothing() {
			out = append(out, report.Code{Text: r.command("extract", "--out", "tools")})
		}
	case r.untested:
		out = append(out, report.Heading("Recommendation"), report.Paragraph(fmt.Sprintf("Savings were not measured, because more than %s calls take long. This measures them:", report.Grouped(autoCalls))), report.Code{Text: r.command("backtest")})
	}
	out = append(out, report.Heading("Largest findings"))
	if len(r.wrong) == 0 {
		return append(out, report.Paragraph(cli.NoFindings))
	}
	for i := range r.wrong[:min(len(r.wrong), cli.FindingsShown)] {
		out = append(out, report.Fold{Summary: cli.FindingName(&r.wrong[i]), Key: i + 1, Blocks: r.evidence(i)})
	}
	return out
}

// capital is a sentence with a capital letter.
func capital(s string) string { return strings.ToUpper(s[:min(1, len(s))]) + s[min(1, len(s)):] }

// evidence is what a finding says to do, what it rests on, and where to look.
func (r *pageInput) evidence(i int) []report.Block {
	f := &r.wrong[i]
	var commands []string
	for _, x := range f.Examples {
		commands = append(commands, cli.ShowCommand(portable(x.File), x.Trajectory))
	}
	return []report.Block{report.Paragraph(cli.FindingSentence(f)), report.Paragraph("Trajectories in which it happens most often:"), report.Code{Text: strings.Join(commands, "\n")}}
}

// command is a command on the traces of the page.
func (r *pageInput) command(name string, flags ...string) string {
	words := []string{"awo", name}
	for _, file := range r.files {
		words = append(words, portable(file))
	}
	if r.j.RuleFile != "" {
		words = append(words, "--rules", portable(r.j.RuleFile))
	}
	return cli.ShellLine(append(words, flags...)...)
}

// portable is a path without the folders of the machine that made the page.
func portable(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Base(path)
	}
	return path
}

// findings is the table of all findings, each of which opens to its evidence.
func (r *pageInput) findings() report.Block {
	if len(r.wrong) == 0 {
		return report.Paragraph(cli.NoFindings)
	}
	table := cli.FindingsTable(r.wrong).Without("of")
	if r.cost.PaidUSD.Known() {
		table = table.Without("tokens")
	}
	table.Open = r.evidence
	return table
}

// ways are what each way would save: a chart and a table.
func (r *pageInput) ways() []report.Block {
	switch {
	case r.untested:
		return []report.Block{report.Paragraph(fmt.Sprintf("Savings were not measured: there are %s, and more than %s take long. --backtest always measures them.", cli.CountOf(r.in.Tally.Calls, "call"), report.Grouped(autoCalls)))}
	case r.saving.Recommended == nil:
		return nil
	}
	table := r.saving.Recommended.Table()
	if table == nil || len(table.Rows) == 0 {
		return []report.Block{report.Paragraph(r.saving.Recommended.Words())}
	}
	out := []report.Block{report.Paragraph("Each way was compiled from one part of the tasks and replayed on tasks that it had not seen. All figures are upper bounds: an agent must use what it is offered every time, and go on as it did in the recording.")}
	if r.apart {
		out = append(out, report.Paragraph("This section is about all calls, also those that the process map leaves out."))
	}
	return append(out, r.waysChart(), table.Without("tokens", "model_calls", "model_seconds"))
}

// waysChart draws what ways save, in money where it is known.
func (r *pageInput) waysChart() report.Block {
	rows := r.saving.Recommended.Rows
	m, ok := measured(rows)
	if !ok {
		return report.Bars{}
	}
	chart := report.Bars{Title: capital(m.unit) + " saved, with 95 % intervals"}
	for i := range rows {
		if e := m.of(&rows[i]); e.Known() {
			chart.Rows = append(chart.Rows, estimated(strings.ReplaceAll(rows[i].Way, "-", " "), e, m.words(e)))
		}
	}
	return chart.Scaled()
}

// daysCharted is how many days the chart of cost over time has.
const daysCharted = 31

// overTime draws what each day cost, nothing where there is one.
func (r *pageInput) overTime() report.Block {
	days := slices.DeleteFunc(slices.Clone(r.cost.Days), func(l cost.Line) bool { return l.Name == "" })
	slices.SortFunc(days, func(a, b cost.Line) int { return strings.Compare(a.Name, b.Name) })
	if len(days) < 2 {
		return report.Bars{}
	}
	chart := report.Bars{}
	_, money := r.cost.PaidUSD.Value()
	of := ""
	if len(days) > daysCharted {
		of = fmt.Sprintf(", the last %d of %d days", daysCharted, len(days))
		days = days[len(days)-daysCharted:]
	}
	for i := range days {
		v := float64(days[i].Tokens())
		if money {
			v = days[i].Paid
		}
		chart.Rows = append(chart.Rows, report.Bar{Name: days[i].Name, Spans: []report.Span{{To: v, Shade: 2}}})
	}
	if chart = chart.Scaled(); chart.Hi == 0 {
		return report.Bars{}
	}
	chart.Title = "Tokens a day" + of
	digits := 0
	if money {
		chart.Title, digits = "USD a day"+of, 2
		for v := chart.Hi; v < 1 && digits < 5; v *= 10 {
			digits++
		}
	}
	for i := range days {
		row := &chart.Rows[i]
		row.Text = report.Decimal(row.Spans[0].To, digits) + ", " + cli.CountOf(days[i].Trajectories, "trajectory")
	}
	return chart
}

// apps are the process map and the trajectories.
func (r *pageInput) apps() ([2][]report.Block, error) {
	var out [2][]report.Block
	if len(r.process.Nodes) == 0 {
		return out, nil
	}
	apps := [2]report.App{}
	for i, x := range []struct {
		name report.AppName
		data any
	}{{report.AppProcessMap, mapData(r.process, r)}, {report.AppTimelines, timelines(r.sample)}} {
		app, err := report.NewApp(x.name, x.data)
		if err != nil {
			return out, err
		}
		apps[i] = app
	}
	out[0] = []report.Block{report.Paragraph("Which tool is called right after which. Only calls that the model decided on are shown."), apps[0], stepTable(r.process)}
	out[1] = []report.Block{report.Paragraph("Each row is a turn: the time of the model, then of its tools. A gap before it is waiting, for a user or for the agent's own program."), apps[1]}
	return out, nil
}

// habits say how predictable the next call is.
func (r *pageInput) habits() []report.Block {
	f := r.found
	out := []report.Block{report.Paragraph(habitWords(&f.analysis))}
	chart := report.Bars{Title: "Conditional entropy of the next call on unseen tasks, in bits, with 95 % intervals", Hi: f.analysis.HMax.Float()}
	for k := range f.analysis.Orders {
		h, ok := f.heldOut(k)
		v, known := h.Bits.Value()
		if !ok || !known {
			continue
		}
		name, words := "with the last "+cli.CountOf(k, "call"), []string{}
		if k == 0 {
			name = "without earlier calls"
		}
		for _, x := range []float64{v, h.Interval.Lo, h.Interval.Hi} {
			words = append(words, fmt.Sprintf("%.2f", x))
		}
		chart.Rows = append(chart.Rows, estimated(name, stat.Estimate{Figure: h.Bits, Interval: h.Interval}, words))
	}
	chart = chart.Scaled()
	if len(chart.Rows) > 0 {
		chart.Notes = []string{fmt.Sprintf("0 bits: the next call is certain. %.2f bits, the right edge: any of %s is as likely.", f.analysis.HMax.Float(), cli.CountOf(f.analysis.Distinct, "tool"))}
	}
	out = append(out, chart)
	if r.o.Order > 0 && f.analysis.Distinct > 1 {
		out = append(out, followTable(f))
	}
	return out
}

// quality says what the traces do not support.
func (r *pageInput) quality() []report.Block {
	said := report.List(slices.Clone(r.cost.Unknown))
	if r.tested != nil {
		for _, text := range r.saving.Unknown {
			if !slices.Contains(said, text) {
				said = append(said, text)
			}
		}
	}
	if text := r.in.Findings.Unsaid(); text != "" {
		said = append(said, text)
	}
	if len(said) == 0 {
		said = append(said, "No data-quality problem was found.")
	}
	return []report.Block{r.in.Summary(), said}
}

// appendices are the tables that the page has above in part, or not at all.
func (r *pageInput) appendices(d *report.Document) {
	f := r.found
	money := &report.Document{}
	r.costs.Sections(money, r.cost)
	for _, s := range money.Sections {
		if s.Heading != "What cannot be known" {
			d.Section(cmp.Or(s.Heading, "Prices"), s.Blocks...)
		}
	}
	if r.tested != nil {
		each := &report.Document{}
		r.tested.Sections(each, r.saving)
		var blocks []report.Block
		for _, s := range each.Sections {
			if s.Heading != "What cannot be known" {
				blocks = append(blocks, s.Blocks...)
			}
		}
		d.Section("The back-test, by technique", blocks...)
	}
	d.Section("Conditional entropy, bits", orderTable(f), unless(f.analysis.Distinct < 2, testTable("tests", f.analysis.Tests, r.o)))
	if r.o.Order > 0 && f.analysis.Distinct > 1 {
		d.Section("What follows what", successorTable(f, r.o), topTable(f))
	}
	d.Section("Calls by tool", toolTable(f))
	d.Section("Sequences of tools", append([]report.Block{variantTable(r.in, f)}, convergenceTables(f)...)...)
	if f.sources != nil {
		d.Section("Where arguments come from", sourceTables(f.sources, r.o)...)
	}
	if len(f.groups) > 0 {
		d.Section("Groups by "+r.o.By, groupTable(f), testTable("tests_within_groups", f.within, r.o), shiftTable(f))
	}
}
