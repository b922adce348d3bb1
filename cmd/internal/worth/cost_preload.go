package worth

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// preloadFolds is into how many parts tasks are dealt: what is registered from the
// start of a trajectory is learnt from those that its task is not in.
const preloadFolds = 5

// lazyStudy simulates lazy registration on all trajectories, whose accounts are in
// the ledger, and says which tools are worth registering from the start.
func lazyStudy(in *cli.Intake, ledger *cost.Ledger, learning *backtest.Preloading, fit *cost.Fit, meter *cost.Meter, o CostOptions) (*cost.LazyReport, error) {
	study := cost.NewLazyStudy(meter, cost.LazyStudyOptions{Share: o.Share, Batch: o.Batch, Seed: o.Seed, Preload: learning.HeldOut(preloadFolds, o.Seed)})
	all, counts := learning.Train(nil), map[string]*cost.PreloadTool{}
	count := func(name trace.Name) *cost.PreloadTool {
		key := name.Value()
		if counts[key] == nil {
			counts[key] = &cost.PreloadTool{Tool: key}
		}
		return counts[key]
	}
	n := 0
	for t, err := range in.Source() {
		if err != nil {
			return nil, err
		}
		study.Add(t, ledger.Account(n))
		n++
		for i := range t.Tools {
			count(t.Tools[i].Name).Offered++
		}
		for _, name := range all.Tools(t) {
			count(name).Worth++
		}
	}
	worth := []cost.PreloadTool{}
	for _, c := range counts {
		if 2*c.Worth >= c.Offered && c.Worth > 0 {
			worth = append(worth, *c)
		}
	}
	slices.SortFunc(worth, func(a, b cost.PreloadTool) int {
		return cmp.Or(cmp.Compare(b.Worth, a.Worth), cmp.Compare(a.Tool, b.Tool))
	})
	out := study.Report(fit)
	out.PreloadTools = worth
	return out, nil
}

// lazyShort says in a sentence what lazy registration saves, and with which tools from the
// start.
func lazyShort(l *cost.LazyReport) report.Short {
	if len(l.Levels) == 0 || l.Parts.Tools == 0 {
		return "No trajectory records the definitions of the tools that it was offered, so what registering them later would save cannot be computed."
	}
	v := preloadVariant(&l.Levels[len(l.Levels)-1])
	share, in, what := v.USDSaved, v.USDInterval, "money"
	if _, known := share.Value(); !known {
		share, in, what = v.TokensSaved, v.TokensInterval, "tokens"
	}
	saved, known := share.Value()
	if !known {
		return ""
	}
	text := fmt.Sprintf("Registering definitions when they are needed, and some from the start, saves %.1f %% of the %s", 100*saved, what)
	if in.Known() {
		text += fmt.Sprintf(" (95 %% interval %.1f to %.1f %%)", 100*in.Lo, 100*in.Hi)
	}
	text += ", if agents register what they call and nothing else."
	if names := pins(l); len(names) > 0 {
		text += fmt.Sprintf(" Worth having from the start: %s (awo serve --lazy call --pin).", strings.Join(names, ", "))
	} else {
		text += " No tool is worth having from the start."
	}
	return report.Short(text)
}

// pins are the tools worth having from the start.
func pins(l *cost.LazyReport) []string {
	return cli.Map(l.PreloadTools, func(t *cost.PreloadTool) string { return t.Tool })
}

// pinTable lists them.
func pinTable(l *cost.LazyReport) *report.Table {
	table := report.TableOf("preload-tools", "Tools worth registering from the start", l.PreloadTools, []report.Column{
		{Key: "tool", Max: 50},
		{Key: "trajectories", Title: "worth it in"},
		{Key: "offered", Title: "offered in"},
	})
	table.Note("In at least half of the trajectories that were offered the tool, its expected first use is worth reading its definition from the first turn on. This is learnt from all trajectories; what it saves is measured above on tasks held out.")
	return table.IfAny()
}

// preloadTable is the comparison by level, nothing without preloading.
func preloadTable(l *cost.LazyReport) *report.Table {
	type row struct {
		Level *cost.LazyLevel `json:"level"`
		Unit  string          `json:"unit"`
		Full  stat.Figure     `json:"full"`
		FullI stat.Interval   `json:"full_interval"`
		Lazy  stat.Figure     `json:"lazy"`
		LazyI stat.Interval   `json:"lazy_interval"`
		Beats string          `json:"beats"`
	}
	var rows []row
	for _, level := range shownLevels(l) {
		full, p := preloadVariant(&level), level.Preload
		rows = append(rows, row{&level, "tokens", full.TokensSaved, full.TokensInterval, p.Tokens, p.TokensInterval, p.ByTokens},
			row{&level, "money", full.USDSaved, full.USDInterval, p.USD, p.USDInterval, p.ByUSD})
	}
	table := report.TableOf("preload", "Some registered from the start, compared with both", rows, []report.Column{
		{Key: "tools", From: "level.tools", Title: "tools offered", Words: true},
		{Key: "tasks", From: "level.tasks"},
		{Key: "unit", Title: "of the", Words: true},
		{Key: "full", Title: "saved of full registration", Unit: "%"},
		{Key: "full_interval", Title: "95 % interval", Unit: "%", Align: report.Right},
		{Key: "lazy", Title: "beyond one at a time", Unit: "%"},
		{Key: "lazy_interval", Title: "95 % interval", Unit: "%", Align: report.Right},
		{Key: "beats", Words: true},
	})
	table.Note("What is registered from the start of a trajectory was learnt from other tasks: tools whose expected first use makes it worth reading their definitions from the first turn on. Both shares are of full registration; what is beaten is beaten with the whole interval, by the same tasks.")
	return table
}

// shownLevels leaves out the line of all where it repeats the only level.
func shownLevels(l *cost.LazyReport) []cost.LazyLevel {
	if len(l.Levels) == 2 {
		return l.Levels[:1]
	}
	return l.Levels
}

func preloadVariant(l *cost.LazyLevel) *cost.LazyLine {
	return &l.Variants[slices.IndexFunc(l.Variants, func(v cost.LazyLine) bool { return v.Variant == "preload-result" })]
}

// preloadAnswer says where preloading beats both, and where not.
func preloadAnswer(l *cost.LazyReport) report.Paragraph {
	levels := l.Levels
	if len(levels) > 1 {
		levels = levels[:len(levels)-1]
	}
	say := func(unit string, of func(*cost.LazyLevel) (is, reason string), e stat.Figure, interval stat.Interval) string {
		where, why := map[string][]string{}, ""
		for i := range levels {
			is, reason := of(&levels[i])
			where[is], why = append(where[is], levels[i].Name), cmp.Or(why, reason)
		}
		if len(where[cost.BeatsUnknown]) == len(levels) {
			return fmt.Sprintf("By %s that cannot be known: %s.", unit, why)
		}
		var parts []string
		for _, part := range []struct{ is, words string }{
			{cost.BeatsBoth, "both with %s"},
			{cost.BeatsLazy, "only lazy registration with %s"},
			{cost.BeatsFull, "only full registration with %s"},
			{cost.BeatsNeither, "neither for certain with %s"},
			{cost.BeatsUnknown, "unknown what with %s"},
		} {
			if names := where[part.is]; len(names) > 0 {
				parts = append(parts, fmt.Sprintf(part.words, strings.Join(names, " and ")))
			}
		}
		parts[0] += " tools"
		text := fmt.Sprintf("By %s it beats %s.", unit, strings.Join(parts, ", "))
		if v, ok := e.Value(); ok {
			text += fmt.Sprintf(" All together, with tools as large as these and the same calls, it begins to cost less than full registration at %.1f tools", v)
			if interval.Reason == "" {
				text += fmt.Sprintf(" (95 %% interval %.1f to %.1f)", interval.Lo, interval.Hi)
			}
			text += "."
		}
		return text
	}
	e := &l.PreloadEven
	text := "Where does registering some from the start beat both full and lazy registration? " +
		say("tokens", func(l *cost.LazyLevel) (string, string) {
			return l.Preload.ByTokens, l.Preload.TokensInterval.Reason
		}, e.Tokens, e.TokensInterval) + " " +
		say("money", func(l *cost.LazyLevel) (string, string) {
			if _, known := l.Preload.USD.Value(); !known {
				return l.Preload.ByUSD, cost.NoPrice
			}
			return l.Preload.ByUSD, l.Preload.USDInterval.Reason
		}, e.USD, e.USDInterval)
	if !slices.ContainsFunc(levels, func(l cost.LazyLevel) bool { return l.Preload.Tokens.Known() && l.Preload.Tokens.Float() != 0 }) {
		text += " No tool is worth registering from the start here, so that it is the same as lazy registration."
	}
	return report.Paragraph(text)
}
