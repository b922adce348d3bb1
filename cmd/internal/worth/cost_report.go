package worth

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/process"
	"github.com/awo-dev/awo/internal/report"
)

// CostFindings is what `awo cost` found.
type CostFindings struct {
	options   CostOptions
	caching   string
	meter     *cost.Meter
	fit       *cost.Fit
	unscaled  int
	statement *cost.Statement
	rough     cost.Placeholders
	lazy      *cost.LazyReport
	periods   []period // with --by day and --by week
	waits     []process.Wait
}

// unknown says in sentences what the traces do not say, and what follows.
func (f *CostFindings) unknown() []string {
	s, out := f.statement, []string{}
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	t := s.Total
	if s.NoTurns > 0 {
		say("%s without recorded model turns: nothing is known of what they cost.", cli.CountOf(s.NoTurns, "trajectory"))
	}
	if s.Silent > 0 {
		say("%s without recorded usage: in no figure here, because summaries hold no texts to count. `awo cost` of the traces estimates them.", cli.CountOf(s.Silent, "turn"))
	}
	if s.TurnsUnknown > 0 {
		say("%s of no recorded turn: in no tool's figures.", cli.CountOf(s.TurnsUnknown, "call"))
	}
	switch fitted := t.Estimated - f.unscaled; {
	case f.unscaled > 0:
		say("%s without recorded usage, and no turn of the same model and system prompt in two tasks to scale by: o200k counts of the texts recorded. What is not recorded, such as system prompts and definitions, comes on top: so the true figures are higher, except that other vocabularies count up to a fifth less.", cli.CountOf(f.unscaled, "turn"))
		fallthrough
	case fitted > 0:
		if fitted > 0 {
			say("%s without recorded usage: o200k counts scaled by turns of the same model and system prompt that have it.", cli.CountOf(fitted, "turn"))
		}
		if f.caching == "recorded" {
			say("Whether these turns read a cache is not known: all their input is at the full price, an upper bound.")
		}
	}
	if bytes, mean := f.meter.Guessed(); bytes > 0 {
		say("%.1f MB of texts beyond the first 100 MB were not counted: tokens are guessed from their length, %.2f bytes a token as in what was counted.", float64(bytes)/1e6, mean)
	}
	if f.caching == "recorded" && s.Caches == 0 && t.Turns > t.Estimated {
		say("No turn records cached input: if a cache was used, the real cost was lower.")
	}
	if p := f.rough; p.Turns > 0 {
		say("%s with %s for %s of text and arguments: these counts are placeholders, and what their output cost is too low.", cli.CountOf(p.Turns, "turn"), cli.CountOf(int(p.Tokens), "recorded output token"), cli.CountOf(int(p.Bytes), "byte"))
	}
	if t.Unpriced > 0 {
		var without []string
		for _, m := range f.meter.Models() {
			if m.Price == nil {
				without = append(without, cmp.Or(m.Model, "(model not recorded)"))
			}
		}
		shown := without[:min(len(without), 8)]
		more := ""
		if len(without) > len(shown) {
			more = fmt.Sprintf(" and %d more", len(without)-len(shown))
		}
		say("No price for %s in %s of %s: their tokens are counted, their money is not. --prices can add it.", report.Escape(strings.Join(shown, ", "))+more, cli.CountOf(t.Unpriced, "turn"), report.Grouped(t.Turns))
	}
	if s.Total.Trajectories > 0 && s.Offered < s.Total.Trajectories {
		say("%s without the definitions of the tools offered: what definitions cost there is not known.", cli.CountOf(s.Total.Trajectories-s.Offered, "trajectory"))
	}
	return out
}

func (f *CostFindings) document(in *cli.Intake) *report.Document {
	out := f.Costs(in)
	d := &report.Document{Title: "What it cost", Answer: CostAnswer(out), Lines: report.ScreenLines, Figures: out.CostFigures}
	if f.lazy != nil {
		d.Answer = strings.TrimSpace(string(lazyShort(f.lazy)) + " " + d.Answer)
	}
	if said := trendWords(f.periods); said != "" {
		d.Add(report.Paragraph(said))
	}
	input := in.Summary()
	if shares := process.Shares(f.waits); shares != "" {
		input += report.Paragraph(" T" + shares[1:] + ".")
	}
	d.Add(input)
	some := out.Turns > 0
	if len(f.periods) > 0 {
		d.Section("By "+f.options.By, periodTable(f.periods))
	}
	f.Sections(d, out)
	if some && f.lazy != nil {
		lazySections(d, f.lazy)
	}
	return d
}

// Sections adds what models, tools, habits and days cost: the first two, and details.
func (f *CostFindings) Sections(d *report.Document, out Costs) {
	some := out.Turns > 0
	only := func(shown bool, t *report.Table) *report.Table {
		if !some || !shown {
			return t.Hidden()
		}
		return t
	}
	models, tools := LineTable("models", "model", out.Models), toolTable(out)
	models.Brief, tools.Brief = 3, 6
	d.Section("By model", only(true, models))
	if some && (len(out.Models) == 1 || len(f.periods) > 0) { // the answer says it all but the name
		d.Sections[len(d.Sections)-1].Detail = true
	}
	d.Section("By tool", only(true, tools))
	d.Details()
	d.Section("How long it takes", f.WaitTable())
	d.Section("Tokens", f.total(out))
	d.Section("What cannot be known", report.List(out.Unknown))
	d.Add(only(out.Unpriced < out.Turns, priceTable(out.Prices)))
	d.Section("Scaling of counted tokens", only(out.Estimated > out.Unscaled, fitTable(out.Fit)))
	d.Section("By agent", only(len(out.Agents) > 1, LineTable("agents", "agent", out.Agents)))
	if len(out.Groups) > 0 {
		d.Section("By "+out.By, only(true, LineTable("groups", out.By, out.Groups)))
	}
	d.Section("By outcome", only(len(out.Outcomes) > 1 || some && out.Outcomes[0].Name != "unknown", outcomeTable(out)))
	d.Section("Habits that cost most", only(len(out.Habits) > 0, habitTable(out)))
	d.Section("By day", only(len(out.Days) > 1, LineTable("days", "day", out.Days)))
	d.Section("Most expensive trajectories", only(len(out.Dearest) > 0, LineTable("dearest", "trajectory", out.Dearest)))
}

// Waits says how long trajectories, turns and calls take, "" where no times are recorded.
func (f *CostFindings) Waits() report.Paragraph { return report.Paragraph(process.Words(f.waits)) }

// Times are the rows of WaitTable, of trajectories first.
func (f *CostFindings) Times() []process.Wait { return f.waits }

// WaitTable shows the same, and each tool.
func (f *CostFindings) WaitTable() *report.Table {
	table := report.TableOf("latency", "", f.waits, []report.Column{
		{Key: "what", Words: true},
		{Key: "tool", Max: 44, Empty: "(all)"},
		{Key: "n", Title: "times"},
		{Key: "median", Unit: "s", Digits: 3},
		{Key: "p95", Title: "95 % below", Unit: "s", Digits: 3},
		{Key: "total_seconds", Title: "in all", Unit: "s", Digits: 1},
		{Key: "share", Title: "of the time", Unit: "%"},
	})
	table.Most = linesShown
	table.Note("A turn lasts from what was last recorded before it to the end of the response, a call to its result. Calls made in parallel count once in the time of all. Other is neither turn nor call: users, and the agent's own program.")
	return table.IfAny()
}

// nothing says why there are no figures.
func (out *Costs) nothing() string {
	if out.Silent > 0 {
		return fmt.Sprintf("None of %s records its tokens, and summaries hold no texts to count: `awo cost` of the traces estimates them.", cli.CountOf(out.Silent, "turn"))
	}
	return "No model turn is recorded, so nothing can be said about tokens or money."
}

// CostAnswer says in a sentence what everything cost, and on what most of it went.
func CostAnswer(out Costs) string {
	t := &out.CostFigures
	if t.Turns == 0 {
		return out.nothing()
	}
	usd, priced := t.PaidUSD.Value()
	text := fmt.Sprintf("%s tokens, %s a trajectory", cli.Grouped(t.Tokens), cli.Grouped(int64(math.Round(t.EachTokens.Float()))))
	if priced {
		each, _ := t.PerTrajectory.Value()
		text = fmt.Sprintf("%s USD %s, %s USD a trajectory", cli.Dollars(usd), t.Basis(), cli.Dollars(each))
	}
	switch {
	case out.Silent > 0:
		text += fmt.Sprintf(", in the %s of %s that record their tokens", report.Grouped(t.Turns), cli.CountOf(t.Turns+out.Silent, "turn"))
	case t.Estimated == t.Turns:
		text += ", estimated from texts" + t.bounds()
	case t.Estimated > 0:
		text += fmt.Sprintf(", %.0f %% of the turns estimated from texts", 100*float64(t.Estimated)/float64(t.Turns)) + t.bounds()
	}
	if priced && t.Unpaid > 0 {
		text += fmt.Sprintf(" (%s of %s have no price)", report.Grouped(t.Unpaid), cli.CountOf(t.Turns, "turn"))
	}
	if len(out.Tools) > 0 {
		most := &out.Tools[0]
		name := "calls of " + most.Tool
		if most.Tool == "" {
			name = "turns that call nothing"
		}
		if share, ok := most.Share.Value(); ok {
			text += fmt.Sprintf("; %.0f %% of it on %s", 100*share, name)
		}
	}
	return text + "."
}

// bounds say between what an amount lies that is estimated, "" where that is not known.
func (l *CostFigures) bounds() string {
	in, write := l.PaidRange, func(v float64) string { return cli.Dollars(v) + " USD" }
	if !l.PaidUSD.Known() {
		in, write = l.TokensRange, func(v float64) string { return cli.Grouped(int64(math.Round(v))) }
	}
	switch {
	case !in.Known():
		return ""
	case math.IsInf(in.Hi, 1):
		return fmt.Sprintf(" (at least %s)", write(in.Lo))
	}
	return fmt.Sprintf(" (95 %% range %s to %s)", write(in.Lo), write(in.Hi))
}

// Basis says where the amounts are from.
func (l *CostFigures) Basis() string {
	switch {
	case l.RecordedTurns == 0:
		return "at list prices"
	case l.RecordedTurns >= l.Turns:
		return "as recorded"
	}
	return fmt.Sprintf("as recorded for %.0f %% of the turns, at list prices for the others", 100*float64(l.RecordedTurns)/float64(l.Turns))
}

// total says in a sentence what everything cost.
func (f *CostFindings) total(out Costs) report.Paragraph {
	t := &out.CostFigures
	if t.Turns == 0 {
		return report.Paragraph(out.nothing())
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s input tokens (%s read from a cache, %s written to one) and %s output tokens", cli.Grouped(t.Input), cli.Grouped(t.Cached), cli.Grouped(t.Write), cli.Grouped(t.Output))
	if usd, ok := out.ListUSD.Value(); ok {
		fmt.Fprintf(&b, ": %s USD at list prices", cli.Dollars(usd))
		if t.Unpriced > 0 {
			fmt.Fprintf(&b, " for the %s with a price", cli.CountOf(t.Turns-t.Unpriced, "turn"))
		}
	}
	b.WriteString(".")
	if usd, ok := out.RecordedUSD.Value(); ok {
		fmt.Fprintf(&b, " The traces themselves record %s USD, for %s.", cli.Dollars(usd), cli.CountOf(t.RecordedTurns, "turn"))
	}
	if f.caching != "recorded" {
		fmt.Fprintf(&b, " Caching is taken to be %s, whatever was recorded.", f.caching)
	}
	return report.Paragraph(b.String())
}

// LineTable shows lines of costs; key is what each of them is about.
func LineTable(id, key string, lines []cost.Line) *report.Table {
	table := report.TableOf(id, "", lines, []report.Column{
		{Key: key, From: "name", Max: 44, Empty: "(not recorded)"},
		{Key: "trajectories", Hide: key == "trajectory"},
		{Key: "turns"},
		{Key: "input_tokens", Title: "input tokens"},
		{Key: "cached_input_tokens", Title: "cached"},
		{Key: "output_tokens", Title: "output tokens"},
		{Key: "paid_usd", Title: "cost", Unit: "USD", Digits: 4},
		{Key: "paid_usd_range", Title: "95 % range", Digits: 4, Align: report.Right, Hide: !slices.ContainsFunc(lines, func(l cost.Line) bool { return l.PaidRange.Known() })},
		{Key: "cost_usd", Title: "list price", Unit: "USD", Digits: 4, Hide: !slices.ContainsFunc(lines, func(l cost.Line) bool { return l.RecordedTurns > 0 })},
	})
	table.Most = linesShown
	table.NoteIf(id == "models", "Trajectories count for the model that they begin with. Cached tokens are part of the input tokens.")
	return table
}

// linesShown is how many lines of a table the text shows.
const linesShown = 31

func priceTable(prices []price) *report.Table {
	return report.TableOf("prices", "Prices used, US dollars for a million tokens", prices, []report.Column{
		{Key: "model", Max: 44, Empty: "(not recorded)"},
		{Key: "input", From: "input_usd_per_million", Digits: 3},
		{Key: "cached_input", From: "cached_input_usd_per_million", Title: "cached input", Digits: 3},
		{Key: "cache_write", From: "cache_write_usd_per_million", Title: "cache write", Digits: 3},
		{Key: "output", From: "output_usd_per_million", Digits: 3},
		{Key: "as_of", Title: "as of", Words: true},
		{Key: "source", Words: true},
	})
}

func fitTable(fits []cost.Factors) *report.Table {
	table := report.TableOf("fit", "", fits, []report.Column{
		{Key: "model", Max: 44, Empty: "(not recorded)"},
		{Key: "system_prompt", Title: "prompt"},
		{Key: "scaled_turns", Title: "turns"},
		{Key: "input_factor", From: "input_factor.value", Title: "input", Digits: 3},
		{Key: "input_factor", From: "input_factor.interval", Title: "95 % interval", Digits: 3, Align: report.Right},
		{Key: "base_tokens", From: "base_tokens.value", Title: "not in the texts", Unit: "tokens", Digits: report.Whole},
		{Key: "output_factor", From: "output_factor.value", Title: "output", Digits: 3},
		{Key: "output_factor", From: "output_factor.interval", Title: "95 % interval", Digits: 3, Align: report.Right},
		{Key: "median_relative_error", Title: "error", Unit: "%"},
	})
	table.Note("Recorded tokens for a counted one, by model and system prompt; turns is how many were scaled so. Half of the turns that this was learnt from are nearer to what was recorded than the error; others do worse.")
	return table
}

func outcomeTable(out Costs) *report.Table {
	table := LineTable("outcomes", "outcome", out.Outcomes)
	var usd float64
	solved := 0
	for _, l := range out.Outcomes {
		if v, ok := l.PaidUSD.Value(); ok {
			usd += v
		}
		if l.Name == "success" {
			solved = l.Trajectories
		}
	}
	table.NoteIf(solved > 0 && out.Unpaid == 0, "Each success costs %s USD: the money of all trajectories over the %s that succeeded.", cli.Dollars(usd/float64(solved)), report.Grouped(solved))
	return table
}

// toolTable shows what the turns cost that call each tool.
func toolTable(out Costs) *report.Table {
	table := report.TableOf("tools", "", out.Tools, []report.Column{
		{Key: "tool", Max: 44, Empty: "(turns without a call)"},
		{Key: "calls"},
		{Key: "trajectories", Title: "in trajectories"},
		{Key: "turns", Digits: 1},
		{Key: "input_tokens", Title: "input tokens"},
		{Key: "output_tokens", Title: "output tokens"},
		{Key: "paid_usd", Title: "cost", Unit: "USD", Digits: 4},
		{Key: "share", Title: "of all", Unit: "%", Detail: true},
	})
	table.Most = cli.ToolsShown
	table.Note("The turns that make the calls; a turn with several calls is shared equally among them. Reading a result costs the turns after it.")
	return table
}

// habitTable shows the pairs of calls whose second decisions cost most.
func habitTable(out Costs) *report.Table {
	table := report.TableOf("habits", "", out.Habits, []report.Column{
		{Key: "first", From: "tools.0", Max: 40},
		{Key: "second", From: "tools.1", Title: "then", Max: 40},
		{Key: "occurrences", Title: "times"},
		{Key: "trajectories", Title: "in trajectories"},
		{Key: "tokens"},
		{Key: "cost_usd", Title: "cost", Unit: "USD", Digits: 4},
	})
	table.Note("What the turns cost that make the second call: an upper bound of what not having to decide on it would save.")
	return table
}
