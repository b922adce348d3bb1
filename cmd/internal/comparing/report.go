package comparing

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/gateway/compare"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
)

// conclusion says in a sentence whether turns are saved.
func conclusion(f *compare.Compared, r *compare.Result) string {
	in := f.DifferenceInterval
	share, bounds := f.Saved()
	switch {
	case r.Treated.Units == 0 || r.Control.Units == 0:
		return "There is one arm only: nothing can be compared."
	case !in.Known():
		return fmt.Sprintf("Whether calling turns are saved is not known: %s.", in.Missing())
	case !f.Different:
		return fmt.Sprintf("No difference in calling turns can be seen: %+.2f a session (%.2f to %.2f).", f.Difference.Float(), in.Lo, in.Hi)
	case f.Difference.Float() < 0 && bounds.Known():
		return fmt.Sprintf("Sessions with the compiled tools have %.1f %% fewer calling turns (%.1f to %.1f %%), used or not.", 100*share.Float(), 100*bounds.Lo, 100*bounds.Hi)
	}
	return fmt.Sprintf("Sessions with the compiled tools differ by %+.2f calling turns (%.2f to %.2f), used or not.", f.Difference.Float(), in.Lo, in.Hi)
}

// titles are the words for figures.
var titles = map[string]string{
	"calling_turns": "calling turns", "calls": "calls of the agent", "upstream_calls": "calls to servers", "failures": "failed calls",
	"definition_tokens": "tokens of definitions", "result_tokens": "tokens of results", "seconds": "seconds", "lookups": "definitions asked for", "unregistered_calls": "unregistered calls",
	"model_turns": "model turns", "input_tokens": "input tokens", "output_tokens": "output tokens", "usd": "USD",
}

func document(in *cli.Intake, r *compare.Result, figures *armFigures) *report.Document {
	d := &report.Document{Title: "With compiled tools and without", Answer: conclusion(&r.Figures[compare.CallingTurns], r), Figures: *figures, Lines: report.ScreenLines}
	d.Add(report.Paragraph(fmt.Sprintf("Units (%s): %s with compiled tools, with %s; %s without, with %s.", cmp.Or(r.Unit, "of several kinds"),
		report.Grouped(r.Treated.Units), cli.CountOf(r.Treated.Sessions, "session"), report.Grouped(r.Control.Units), cli.CountOf(r.Control.Sessions, "session"))))
	looks := slices.ContainsFunc(r.Figures, func(f compare.Compared) bool { return f.Always != nil })
	if looks {
		d.Add(report.Short("The 95 % interval holds if one looks once, at a size fixed before; that at every look holds however often one looks."))
	} else {
		d.Add(report.Short("Intervals hold if one looks once, at a size fixed before; --look adds those for looking every day."))
	}
	for _, w := range r.Warnings {
		d.Add(report.Paragraph(fmt.Sprintf("Warning: %s (%s).", w.Reason, w.Code)))
	}
	d.Section("A session", figureTable(r.Figures, looks))
	if e := figures.Estimate; e != nil {
		d.Section("Predicted and realised", estimateWords(e), unitsNeeded(e))
	}
	d.Section("Meta-tools", toolTable(r.Tools).IfAny())
	d.Section("Prefetched reads", ruleTable(r.Rules).IfAny())
	d.Add(in.Summary())
	d.Add(report.TableOf("arms", "", []compare.Arm{r.Treated, r.Control}, nil).Hidden(), report.TableOf("warnings", "", r.Warnings, nil).Hidden())
	return d
}

func figureTable(figures []compare.Compared, looks bool) *report.Table {
	table := report.TableOf("figures", "", figures, []report.Column{
		{Key: "figure", Title: "mean of a session", Cell: report.By(func(f *compare.Compared) report.Cell { return report.Text(titles[f.Name]) })},
		{Key: "treated", Title: "with", Digits: 2},
		{Key: "control", Title: "without", Digits: 2},
		{Key: "difference", Digits: 2},
		{Key: "difference_interval", Title: "95 % interval", Digits: 2, Align: report.Right},
		{Key: "p_adjusted", Title: "p", Digits: 3, Rank: 1},
		{Key: "ratio", Digits: 3},
		{Key: "ratio_interval", Title: "95 % of the ratio", Digits: 2, Align: report.Right},
		{Key: "difference_always", Title: "95 % at every look", Interval: true, Align: report.Right, Hide: !looks, Cell: report.By(func(f *compare.Compared) report.Cell {
			if f.Always == nil {
				return report.Missing("not asked for")
			}
			return report.Range(*f.Always, 2)
		})},
	})
	table.Note("All units of an arm count, whether they used a compiled tool or not. Intervals rest on units (bootstrap-t) and hold if one looks once, at a size fixed before; p permutes arms over units and is adjusted for all figures (Holm), and what the answer names has p below 0.05.")
	table.NoteIf(looks, "At every look: a confidence sequence (Waudby-Smith et al. 2024), of the means of units; one may look daily and stop. It is wider.")
	return table
}

// estimateWords set what was predicted beside what was realised.
func estimateWords(e *estimate) report.Paragraph {
	predicted, realised := fmt.Sprintf("%.1f %%", 100*e.Predicted.Share), "not known"
	if e.Predicted.Lo != nil && e.Predicted.Hi != nil {
		predicted += fmt.Sprintf(" (%.1f to %.1f %%)", 100**e.Predicted.Lo, 100**e.Predicted.Hi)
	}
	if in := e.Realised.Interval; e.Realised.Known() && in.Known() {
		realised = fmt.Sprintf("%.1f %% (%.1f to %.1f %%)", 100*e.Realised.Float(), 100*in.Lo, 100*in.Hi)
	}
	return report.Paragraph(fmt.Sprintf("Of the calling turns %s were to be saved by %s, an upper bound, because agents have to choose what it counts on. Saved were %s.", predicted, e.Predicted.Technique, realised))
}

// unitsNeeded says how many units it takes to see what is predicted.
func unitsNeeded(e *estimate) report.Paragraph {
	n, ok := e.Units.Value()
	if !ok {
		return ""
	}
	return report.Paragraph(fmt.Sprintf("To tell what is predicted from no saving takes about %s units in all (power 0.8).", report.Grouped(int(n))))
}

func toolTable(tools []compare.Tool) *report.Table {
	tools = slices.Clone(tools)
	slices.SortStableFunc(tools, func(a, b compare.Tool) int { return cmp.Compare(b.Uses, a.Uses) })
	table := report.TableOf("meta_tools", "", tools, []report.Column{
		{Key: "name", Max: 42},
		{Key: "advice", Words: true},
		{Key: "used_sessions", Title: "sessions with a use", Rank: 1, Cell: report.By(func(t *compare.Tool) report.Cell {
			return report.Textf("%d of %d", t.Used, t.Wanted)
		})},
		{Key: "uses"},
		{Key: "completed", Rank: 2},
		{Key: "hand_backs", Title: "handed back", Rank: 5, Cell: report.By(func(t *compare.Tool) report.Cell {
			var parts []string
			for _, code := range slices.Sorted(maps.Keys(t.HandBacks)) {
				parts = append(parts, fmt.Sprintf("%s %d", code, t.HandBacks[code]))
			}
			return report.Text(strings.Join(parts, ", "))
		})},
		{Key: "repeated_calls", Title: "calls made again", Rank: 4},
		{Key: "turns_saved", Title: "turns saved"},
		{Key: "over_use", From: "over_use_interval", Title: "over-use a session", Rank: 3, Digits: 2, Align: report.Right},
		{Key: "reason", Max: 50, Wrap: true, Words: true},
	})
	table.Brief = 5
	table.Note("Sessions with a use: of those in which it was used, or its calls were made one by one. Turns saved: steps less one of uses that completed, less calls that the agent made again: an upper bound. Over-use: uses and places of a session, less the places of one without.")
	return table
}

func ruleTable(rules []compare.Rule) *report.Table {
	rules = slices.Clone(rules)
	slices.SortStableFunc(rules, func(a, b compare.Rule) int { return cmp.Compare(b.Reads, a.Reads) })
	table := report.TableOf("prefetch", "", rules, []report.Column{
		{Key: "id", Title: "rule", Max: 42},
		{Key: "advice", Words: true},
		{Key: "reads"},
		{Key: "failed", Rank: 4},
		{Key: "attached", Rank: 2},
		{Key: "asked_again", Title: "asked for again", Rank: 5},
		{Key: "held_back", Title: "not attached", Rank: 1},
		{Key: "asked_for", Title: "asked for", Rank: 1},
		{Key: "precision", Unit: "%", Rank: 3},
		{Key: "promised", Unit: "%", Rank: 3},
		{Key: "reason", Max: 50, Wrap: true, Words: true},
	})
	table.Brief = 5
	table.Note("Precision: of reads that were not attached, those that the agent asked for. Whether it uses what is attached, nobody sees.")
	return table
}

// armFigures are those of a comparison of arms.
type armFigures struct {
	Input     cli.InputJSON `json:"input"`
	Unit      string        `json:"unit"` // session, token or day; empty: mixed
	Share     float64       `json:"share"`
	Joined    int           `json:"joined_sessions"`
	Unjoined  int           `json:"unjoined_transcripts"`
	Different bool          `json:"different"` // some figure does, at 5 % for all of them
	Estimate  *estimate     `json:"estimate,omitempty"`
}

// prediction is what a back-test says of a technique: the share of calling turns saved, and
// the bounds of its interval, nil where there is none.
type prediction struct {
	Technique string   `json:"technique"`
	Share     float64  `json:"calling_turns_saved_share"`
	Lo        *float64 `json:"lo"`
	Hi        *float64 `json:"hi"`
}

// estimate sets what was realised beside that.
type estimate struct {
	Predicted prediction    `json:"predicted"`
	Realised  stat.Estimate `json:"realised_share"`
	Units     stat.Figure   `json:"units_needed"` // in both arms, to tell the prediction from nothing
	Within    *bool         `json:"within"`       // the prediction is in the interval
}

func estimateOf(f *compare.Compared, r *compare.Result, predicted prediction) *estimate {
	share, in := f.Saved()
	out := &estimate{Predicted: predicted, Realised: stat.Estimate{Figure: share, Interval: in}, Units: stat.Unknown("too few units say how much they differ")}
	if n := f.UnitsFor(predicted.Share, r.Share); n > 0 {
		out.Units = stat.Count(n)
	}
	if in.Known() && share.Known() {
		out.Within = new(in.Lo <= predicted.Share && predicted.Share <= in.Hi)
	}
	return out
}
