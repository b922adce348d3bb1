package worth

import (
	"fmt"
	"slices"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
)

// lazyRow is a variant of registration, of the trajectories that offer a number of tools.
type lazyRow struct {
	Tools        string      `json:"tools"` // 0-10, 11-20, >20 or all
	Trajectories int         `json:"trajectories"`
	Tasks        int         `json:"tasks"`
	MeanTools    float64     `json:"mean_tools"`
	AllTurns     int         `json:"turns_with_all"` // with all tools registered, as recorded
	AllTokens    int64       `json:"tokens_with_all"`
	AllUSD       stat.Figure `json:"cost_usd_with_all"`
	cost.LazyLine
}

// definitionPart is the tokens of one part of all definitions.
type definitionPart struct {
	Part   string  `json:"part"`
	Tokens int64   `json:"tokens"`
	Share  float64 `json:"share"`
}

// lazyShort says in a sentence what lazy registration saves.
func lazyShort(l *cost.LazyReport) report.Short {
	if len(l.Levels) == 0 || l.Parts.Tools == 0 {
		return "No trajectory records the definitions of the tools that it was offered, so what registering them later would save cannot be computed."
	}
	all := &l.Levels[len(l.Levels)-1]
	v := &all.Variants[slices.IndexFunc(all.Variants, func(v cost.LazyLine) bool { return v.Variant == "single-result" })]
	share, in, what := v.USDSaved, v.USDInterval, "money"
	if _, known := share.Value(); !known {
		share, in, what = v.TokensSaved, v.TokensInterval, "tokens"
	}
	saved, known := share.Value()
	if !known {
		return ""
	}
	text := fmt.Sprintf("Registering definitions when they are needed saves %.1f %% of the %s", 100*saved, what)
	lo, hi := in.Lo, in.Hi
	if saved < 0 {
		text = fmt.Sprintf("Registering definitions when they are needed costs %.1f %% more %s", -100*saved, what)
		lo, hi = -in.Hi, -in.Lo
	}
	if in.Known() {
		text += fmt.Sprintf(" (95 %% interval %.1f to %.1f %%)", 100*lo, 100*hi)
	}
	return report.Short(text + ", if agents register what they call and nothing else.")
}

// lazySections adds what lazy registration would have cost.
func lazySections(d *report.Document, l *cost.LazyReport) {
	if l.Parts.Tools == 0 {
		d.Section("Lazy registration", report.Paragraph("No trajectory records the definitions of the tools that it was offered, so what registering them later would save cannot be computed."))
		return
	}
	about := "Only tool_register and the names of tools stand in front; the first use of a tool costs one more model turn, and its definition is read from then on. Everything else stays as it was recorded: an agent that registers the wrong tools, or fails without a definition in sight, costs more."
	if l.NoTools+l.Misfit > 0 {
		about += fmt.Sprintf(" Left out: %s without definitions, %s whose recorded input is smaller than its definitions.", cli.CountOf(l.NoTools, "trajectory"), cli.CountOf(l.Misfit, "trajectory"))
	}
	d.Section("Lazy registration", report.Paragraph(about), lazyTable(l), lazyEven(l))
	growth := report.TableOf("registered_share", "Share of the tools offered that were called so far", l.Growth, []report.Column{
		{Key: "turn", Title: "after turn"}, {Key: "share", Unit: "%"}, {Key: "trajectories"},
	})
	growth.Most = stepsOfGrowth
	if v, ok := l.Final.Value(); ok {
		growth.Note("At the end of the trajectories it is %.1f %%. Each line is the trajectories that have so many turns.", 100*v)
	}
	d.Section("Tokens of definitions", partTable(l), growth)
}

// stepsOfGrowth is how many turns the text has.
const stepsOfGrowth = 12

func lazyTable(l *cost.LazyReport) *report.Table {
	var rows []lazyRow
	for _, level := range l.Levels {
		for _, v := range level.Variants {
			rows = append(rows, lazyRow{level.Name, level.Trajectories, level.Tasks, level.MeanTools, level.Turns, level.Tokens, level.CostUSD, v})
		}
	}
	table := report.TableOf("lazy", "", rows, []report.Column{
		{Key: "tools", Title: "tools offered", Words: true},
		{Key: "trajectories"},
		{Key: "variant", From: "doc", Title: "registered", Max: 44, Words: true},
		{Key: "llm_calls_saved", Title: "model turns saved"},
		{Key: "tokens_saved", From: "tokens_saved_share", Title: "tokens saved", Unit: "%"},
		{Key: "tokens", From: "tokens_saved_interval", Title: "95 % interval", Unit: "%", Align: report.Right},
		{Key: "cost_saved", From: "cost_saved_share", Title: "money saved", Unit: "%"},
		{Key: "cost", From: "cost_saved_interval", Title: "95 % interval", Unit: "%", Align: report.Right},
	})
	table.Note("Negative: it costs more. Into the tool list, a registration makes the next turn's cache void; as a result, it does not. Only what is called is registered, a lower bound, but for the variant that registers more.")
	table.NoteIf(l.Tasks < fewTasks, "Intervals are a bootstrap over only %s, and are too narrow.", cli.CountOf(l.Tasks, "task"))
	return table.IfAny()
}

// fewTasks is below how many tasks a bootstrap over them is not to be trusted.
const fewTasks = 20

func lazyEven(l *cost.LazyReport) report.Paragraph {
	if len(l.Levels) == 0 {
		return ""
	}
	say := func(f stat.Figure, i stat.Interval, what string) string {
		v, ok := f.Value()
		if !ok {
			return "by " + what + " no number of tools is enough"
		}
		text := fmt.Sprintf("by %s at %.1f tools", what, v)
		if i.Reason == "" {
			text += fmt.Sprintf(" (95 %% interval %.1f to %.1f)", i.Lo, i.Hi)
		}
		return text
	}
	text := "Lazy registration, one at a time and as a result, begins to pay, for tools as large as these and the same calls, " + say(l.BreakEven.Tokens, l.BreakEven.TokensInterval, "tokens")
	if l.BreakEven.USDInterval.Reason != cost.NoPrice {
		text += ", " + say(l.BreakEven.USD, l.BreakEven.USDInterval, "money")
	}
	return report.Paragraph(fmt.Sprintf("%s; %s.", text, cli.CountOf(l.BreakEven.Tasks, "task")))
}

func partTable(l *cost.LazyReport) *report.Table {
	p := l.Parts
	total := float64(p.Names + p.Descriptions + p.Parameters)
	part := func(name string, tokens int64) definitionPart {
		return definitionPart{name, tokens, float64(tokens) / total}
	}
	table := report.TableOf("definition_tokens", "", []definitionPart{part("names", p.Names), part("descriptions", p.Descriptions), part("parameters", p.Parameters)}, []report.Column{
		{Key: "part", Words: true},
		{Key: "tokens"},
		{Key: "share", Unit: "%"},
	})
	offered, _ := p.OfferedPerTurn.Value()
	called, _ := p.CalledPerTurn.Value()
	table.Note("o200k tokens of %s, each counted once. A turn reads %s tokens of definitions on average; those of the tools that it calls are %s.", cli.CountOf(p.Tools, "definition"), report.Grouped(int(offered+0.5)), report.Grouped(int(called+0.5)))
	return table
}
