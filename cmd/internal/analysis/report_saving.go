package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/worth"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// The section that shows what `awo backtest` finds.

var sectionSaving = reportSection{
	heading: "What it would save",
	about: "Calls that agents keep making one after the other can be made at once by one tool, a meta-tool, and then the model is asked fewer times; here such tools, and other ways to ask it less, were made from one part of the tasks and tried on runs of tasks that they had not seen. " +
		"All figures are upper bounds: an agent would have to choose the new tool every time, and to go on as it did in the recording.",
	blocks: func(r *reportInput) []report.Block {
		if r.saving == nil {
			return nil
		}
		return r.saving.blocks(r)
	},
}

// saving is a back-test for a report.
type saving struct {
	found *worth.BacktestFindings // nil where there are too many calls
	out   worth.Backtest
	apart string // what differs from the traces of the other sections
}

// weigh adds what the traces cost, and what could be saved of it. They are read again, with
// the calls that the analysis leaves out, and what is mined of them is kept.
func weigh(j *cli.Job, r *reportInput, o reportOptions, files []string) error {
	if r.in.Tally.Calls == 0 {
		return nil
	}
	set, err := j.Rules(j.RuleFile)
	if err != nil {
		return err
	}
	meter, err := j.Meter()
	if err != nil {
		return err
	}
	mines := o.Backtest != "never" || o.MetaTools != "never"
	if !mines && !o.Cost {
		return nil
	}
	tests := o.Backtest == "always" || o.Backtest == "auto" && r.in.Tally.Calls <= autoCalls
	again := r.in.Again()
	if r.in.Findings = nil; tests {
		r.in.Findings = j.NewFindings(meter)
		again = r.in.Findings.Watch(j.Parallel(), again)
	}
	sampler, see := corpus.NewSampler(r.in.Mining(set)), func(*trace.Trajectory) {}
	if mines {
		see = sampler.Add
	}
	if o.Cost {
		own := worth.CostOptions{Top: 10}
		found, err := worth.Account(j, r.in, again, meter, own, see)
		if err != nil {
			return err
		}
		r.cost = &spending{found: found, out: found.Costs(r.in)}
	} else {
		for t, err := range again {
			if err != nil {
				return err
			}
			see(t)
		}
	}
	mined := sampler.Corpus()
	r.in.Mined(mined)
	if r.mined = mined.Runs; !tests {
		if o.Backtest != "never" {
			r.saving = &saving{}
		}
		return nil
	}
	found, err := worth.BackTest(j, r.in, r.mined, set, meter, worth.UsualBacktest())
	if err != nil {
		return err
	}
	r.saving = &saving{found: found, out: found.Backtest(r.in)}
	if o.MinLength > 0 || len(j.ExcludeTool) > 0 || o.DropFailed || o.CollapseRepeats {
		r.saving.apart = "This section is about all calls, also those that the other sections leave out: turns cannot be taken apart."
	}
	figures, err := worth.BacktestPlots(found)
	if err != nil {
		return err
	}
	r.draw(figures)
	return nil
}

// autoCalls is how many calls are back-tested unasked: a minute or so.
const autoCalls = 30_000

// measured reports whether there were tasks enough to compile from some and test on
// others.
func (s *saving) measured() bool {
	return s.out.Split.TestTasks > 1 && len(s.out.Techniques) > 0
}

// best returns what is said of the single technique that saves most, nil if none saves anything.
func (s *saving) best() *worth.Technique {
	at := slices.IndexFunc(s.out.Techniques, func(t worth.Technique) bool {
		return t.Technique == s.out.ByTurns.Technique && t.Technique != "none"
	})
	if at < 0 {
		return nil
	}
	return &s.out.Techniques[at]
}

// headline says in a sentence what would be saved.
func (s *saving) headline() report.Paragraph {
	best := s.best()
	switch {
	case s.found == nil:
		return report.Paragraph(fmt.Sprintf("What meta-tools would save was not measured, because there are more than %s calls: --backtest always does it.", report.Grouped(autoCalls)))
	case !s.measured():
		return "What meta-tools would save cannot be measured: that takes several tasks, some to compile from and others to test on."
	case best == nil:
		return "On tasks that were not compiled from, no technique tried would save a turn, a token or money, as far as these traces tell."
	case best.CallingTurnsSaved == 0:
		if usd, ok := best.CostSavedUSD.Value(); ok {
			all, _ := best.CostUSD.Value()
			return report.Paragraph(fmt.Sprintf("On tasks that were not compiled from, no technique would save a turn; %s would save at most %s of %s USD%s.",
				best.Technique, cli.Dollars(usd), cli.Dollars(all), between(best.Intervals["cost_saved_usd"], 1, 4, "")))
		}
		saved, _ := best.TokensSaved.Value()
		all, _ := best.Tokens.Value()
		return report.Paragraph(fmt.Sprintf("On tasks that were not compiled from, no technique would save a turn; %s would save at most %s of %s tokens%s.",
			best.Technique, cli.Grouped(int64(saved)), cli.Grouped(int64(all)), between(best.Intervals["tokens_saved"], 1, 0, "")))
	}
	return report.Paragraph(fmt.Sprintf("On tasks that were not compiled from, %s would save at most %s%s.", best.Technique, turnsOf(best), s.price(best)))
}

// turnsOf says how many calling turns a technique saves.
func turnsOf(t *worth.Technique) string {
	text := fmt.Sprintf("%s of %s", report.Grouped(t.CallingTurnsSaved), cli.CountOf(t.CallingTurns, "calling turn"))
	if v, ok := t.Share.Value(); ok {
		text += fmt.Sprintf(" (%.1f %%%s)", 100*v, between(t.Intervals["calling_turns_saved_share"], 100, 1, " %"))
	}
	return text
}

// between writes an interval, times scale, behind a figure; nothing if there is none.
func between(i stat.Interval, scale float64, digits int, unit string) string {
	if i.Reason != "" || i.Level == 0 {
		return ""
	}
	lo, hi := min(scale*i.Lo, scale*i.Hi), max(scale*i.Lo, scale*i.Hi)
	if digits == 0 {
		return fmt.Sprintf(", 95 %% interval %s to %s%s", cli.Grouped(int64(lo)), cli.Grouped(int64(hi)), unit)
	}
	return fmt.Sprintf(", 95 %% interval %.*f to %.*f%s", digits, lo, digits, hi, unit)
}

// price says in half a sentence whether that pays.
func (s *saving) price(t *worth.Technique) string {
	if usd, ok := t.CostSavedUSD.Value(); ok {
		if usd < 0 && t.DefinitionTokens > 0 {
			return ", and would cost more money than it saves unless definitions are registered when needed"
		}
		return ""
	}
	if tokens, ok := t.TokensSaved.Value(); ok && tokens < 0 && t.DefinitionTokens > 0 {
		return ", and would take more tokens than it saves unless definitions are registered when needed"
	}
	return ""
}

func (s *saving) blocks(r *reportInput) []report.Block {
	var blocks []report.Block
	add := func(b ...report.Block) { blocks = append(blocks, b...) }
	if s.found == nil {
		add(report.Paragraph(fmt.Sprintf("It was not measured here, because there are %s and more than %s take long; --backtest always measures it.", cli.CountOf(r.in.Tally.Calls, "call"), report.Grouped(autoCalls))))
		return blocks
	}
	if !s.measured() {
		add(report.Paragraph(fmt.Sprintf("There is only %s, and a back-test needs several: some to compile from, and others to test on.", cli.CountOf(s.out.Split.TestTasks, "task"))))
		return blocks
	}
	add(s.found.SplitWords())
	if s.apart != "" {
		add(report.Paragraph(s.apart))
	}
	add(s.words())
	add(r.shown("backtest-turns")...)
	add(worth.TurnsTable(s.out))
	add(r.shown("backtest-money")...)
	add(worth.MoneyTable(s.out))
	if table := worth.TimeTable(s.out); table != nil {
		add(table)
	}
	if table := adoptionTable(s.out); table != nil {
		add(table)
	}
	if len(s.out.Interactions) > 0 {
		table := worth.InteractionTable(s.out)
		table.Title = "Two techniques together"
		add(table)
	}
	if len(s.out.Unknown) > 0 {
		add(report.Paragraph("What cannot be known:"), report.List(s.out.Unknown))
	}
	add(techniqueTable(s.out))
	return blocks
}

// tables are those of the section, for CSV.
func (s *saving) tables() []report.Block {
	if !s.measured() {
		return nil
	}
	return []report.Block{worth.TurnsTable(s.out), worth.MoneyTable(s.out)}
}

// words are the result in sentences.
func (s *saving) words() report.Block {
	best, rec := s.best(), s.out.ByTurns
	if best == nil {
		return report.List{"No technique saves a calling turn, a token or money on tasks that it was not compiled from: these agents have no habit that is worth a tool, or the traces are too few to find it."}
	}
	var list report.List
	say := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	say("If calling turns are all that counts: %s, --threshold %d, --select %s. %s.", rec.Technique, rec.Threshold, rec.Select, capital(rec.Reason))
	if best.CallingTurnsSaved > 0 {
		say("By turns: %s (%s) saves at most %s.", best.Technique, best.Doc, turnsOf(best))
	}
	usd, priced := best.CostSavedUSD.Value()
	all, _ := best.CostUSD.Value()
	tokens, counted := best.TokensSaved.Value()
	of, _ := best.Tokens.Value()
	read := ""
	if best.DefinitionTokens > 0 {
		read = fmt.Sprintf(", with %s tokens of definitions read on every turn that is left", cli.Grouped(int64(math.Round(best.DefinitionTokens))))
	}
	switch {
	case priced && usd < 0:
		say("By money it costs %s USD more than it saves%s, on top of %s USD%s. Take fewer meta-tools (--select net, --max-tools), or register definitions when they are needed.",
			cli.Dollars(-usd), between(best.Intervals["cost_saved_usd"], -1, 2, " USD"), cli.Dollars(all), read)
	case priced:
		say("By money it saves at most %s of %s USD%s%s.", cli.Dollars(usd), cli.Dollars(all), between(best.Intervals["cost_saved_usd"], 1, 2, " USD"), read)
	case counted && tokens < 0:
		say("By tokens it takes %s more than it saves%s, on top of %s%s; what that is in money is not known: %s. Take fewer meta-tools (--select net, --max-tools), or register definitions when they are needed.",
			cli.Grouped(int64(-tokens)), between(best.Intervals["tokens_saved"], -1, 0, ""), cli.Grouped(int64(of)), read, worth.NoPrices)
	case counted:
		say("By tokens it saves at most %s of %s%s; what that is in money is not known: %s.", cli.Grouped(int64(tokens)), cli.Grouped(int64(of)), between(best.Intervals["tokens_saved"], 1, 0, "")+read, worth.NoPrices)
	}
	if a := best.Adoption; a != nil {
		say("Agents may not use it: published ones used meta-tools in %.0f to %.0f %% of the tasks, which leaves %.0f to %.0f of these turns; and one published model made %.0f and %.0f %% more calls with meta-tools than without, which here would be %.0f to %.0f model calls more.",
			100*a.Low, 100*a.High, a.SavedLow, a.SavedHi, 100*overuseLow, 100*overuseHigh, overuseLow*float64(best.LLMCalls), overuseHigh*float64(best.LLMCalls))
	}
	return list
}

// Calls that one model of the AWO paper made more with meta-tools than without.
const (
	overuseLow  = 0.04
	overuseHigh = 0.19
)

// capital lets a sentence begin with a capital.
func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// adoptionTable shows what is left if agents use meta-tools as seldom or as often
// as published, nil where no meta-tool saves a turn.
func adoptionTable(out worth.Backtest) *report.Table {
	table := report.NewTable("adoption", "What is left if agents use meta-tools as published agents did",
		report.Column{Key: "technique"},
		report.Column{Key: "calling_turns_saved", Title: "turns saved, at most", Align: report.Right},
		report.Column{Key: "calling_turns_saved", Title: "95 %", Interval: true},
		report.Column{Key: "high", Title: fmt.Sprintf("used in %.0f %% of tasks", 100*worth.AdoptionHigh), Align: report.Right},
		report.Column{Key: "low", Title: fmt.Sprintf("used in %.0f %%", 100*worth.AdoptionLow), Align: report.Right},
		report.Column{Key: "overuse_low", Title: fmt.Sprintf("%.0f %% more calls", 100*overuseLow), Align: report.Right},
		report.Column{Key: "overuse_high", Title: fmt.Sprintf("%.0f %% more calls", 100*overuseHigh), Align: report.Right},
	)
	for _, t := range out.Techniques {
		if a := t.Adoption; a != nil && t.Technique != "awo-paper" {
			table.Add(report.Text(t.Technique), report.Int(t.CallingTurnsSaved), report.Range(t.Intervals["calling_turns_saved"], 0), report.Float(a.SavedHi, 0), report.Float(a.SavedLow, 0),
				report.Float(-overuseLow*float64(t.LLMCalls), 0), report.Float(-overuseHigh*float64(t.LLMCalls), 0))
		}
	}
	if len(table.Rows) == 0 {
		return nil
	}
	table.Note("Agents of the AWO paper used meta-tools in %.0f to %.0f %% of the tasks (its Tables 7 and 9), and one model made %.0f and %.0f %% more calls with them than without: then calls are lost (negative), not saved. Which of these your agent is like, only a trial with it tells.",
		100*worth.AdoptionLow, 100*worth.AdoptionHigh, 100*overuseLow, 100*overuseHigh)
	return table
}

// techniqueTable says what each technique is.
func techniqueTable(out worth.Backtest) *report.Table {
	table := report.NewTable("technique-names", "The techniques",
		report.Column{Key: "technique"}, report.Column{Key: "doc", Title: "what it does", Max: 100, Wrap: true}, report.Column{Key: "notes", Max: 100, Wrap: true})
	for _, t := range out.Techniques {
		var notes []string
		for _, n := range t.Notes {
			if !strings.HasPrefix(n, "an upper bound") && !strings.HasPrefix(n, "published agents") {
				notes = append(notes, capital(n)+".")
			}
		}
		table.Add(report.Text(t.Technique), report.Text(capital(t.Doc)), report.Text(strings.Join(notes, " ")))
	}
	return table
}
