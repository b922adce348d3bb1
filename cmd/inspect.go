package cmd

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/completeness"
)

// inspectOptions are the flags of `awo inspect`.
type inspectOptions struct {
	cli.InputOptions `mapstructure:",squash"`
	Rules            string `mapstructure:"rules"`
}

func newInspect(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "inspect FILES...",
		Short: "Show what traces contain, and which analyses they support",
		Long: `Show what traces contain before anything is analysed: formats, models, tools,
tokens, and for each kind of analysis whether what it needs is recorded. Formats
differ in what they keep, and exporters in what they were told to keep.

Where a format has no flag for failed calls, results that begin with Error, hold a
member "error" and the like are taken for failures, and named. --rules says more: its
status rules decide.

Of a file whose layout is not known it prints what looks like calls, as the draft of a
map with which --map reads such files.

` + cli.FilesHelp,
		Example: `  awo inspect traces/
  awo inspect traces/ --rules rules.yaml
  awo inspect log.jsonl > map.yaml; awo inspect log.jsonl --map map.yaml
  awo inspect 'logs/**/*.jsonl.gz' --since 2026-03-01 --format markdown`,
		GroupID: cli.GroupLook,
	}
	cli.AddInput(c.Flags())
	cli.AddRules(c.Flags())
	return cli.Work(a, c, inspect)
}

// inspectionJSON is the JSON of `awo inspect`.
type inspectionJSON struct {
	Schema       string                    `json:"schema"`
	Input        cli.InputJSON             `json:"input"`
	Files        []trace.FileCounts        `json:"files"`
	Formats      map[string]int            `json:"formats"` // trajectories by format
	First        *time.Time                `json:"first"`   // earliest recorded time
	Last         *time.Time                `json:"last"`
	SubAgents    int                       `json:"sub_agents"`
	Parallel     int                       `json:"parallel_turns"`
	Models       []modelJSON               `json:"models"`
	Tools        []inspectedTool           `json:"tools"`
	Tokens       *tokensJSON               `json:"tokens"`
	Capabilities []completeness.Capability `json:"capabilities"`
	Doubts       []completeness.Doubt      `json:"doubts"` // reasons not to trust the counts
}

type modelJSON struct {
	Model        string      `json:"model"` // empty: not recorded
	Turns        int         `json:"turns"`
	CallingTurns int         `json:"calling_turns"`
	Tokens       *tokensJSON `json:"tokens"` // of the turns that record them
	TurnsUsage   int         `json:"turns_with_usage"`
}

type inspectedTool struct {
	Tool          string        `json:"tool"`
	Calls         int           `json:"calls"`
	OtherCalls    int           `json:"other_calls"`
	Trajectories  int           `json:"trajectories"`
	Failed        int           `json:"failed"`
	StatusUnknown int           `json:"status_unknown"`
	ErrorRate     stat.Figure   `json:"error_rate"`
	ErrorInterval stat.Interval `json:"error_rate_interval"`
	ArgsMissing   int           `json:"without_arguments"`
	WithoutResult int           `json:"without_result"`
	Defined       bool          `json:"defined"`
}

type tokensJSON struct {
	Input       int64    `json:"input"` // cached ones included
	CachedInput int64    `json:"cached_input"`
	CacheWrite  int64    `json:"cache_write"`
	Output      int64    `json:"output"` // reasoning included
	Reasoning   int64    `json:"reasoning"`
	CostUSD     *float64 `json:"recorded_cost_usd"`
}

func inspect(j *cli.Job, o inspectOptions, files []string) error {
	if _, err := j.Rules(o.Rules); err != nil {
		return err
	}
	in, err := j.Intake(files, o.InputOptions, trace.Options{})
	if err != nil {
		return err
	}
	defer in.Close()
	in.Facts, in.SaysDoubts = &completeness.Facts{}, true
	for _, err := range in.All() {
		if err != nil {
			if draft, ok := j.DraftMap(in.Reader.Counts().Files); ok && j.Format == report.FormatText && in.Facts.Tally.Trajectories == 0 {
				j.Say("what looks like calls is printed as the draft of a map: look at it, then read the file with --map")
				j.Printf("%s", draft)
			}
			return err
		}
	}
	out := inspectionResult(in, in.Facts)
	d := inspectionDocument(in, in.Facts, out, j.Complete())
	d.Next = []string{j.Then(files, "what is wrong, and how habitual it is", "analyze", "{}")}
	return j.Print(d, out)
}

func inspectionResult(in *cli.Intake, c *completeness.Facts) inspectionJSON {
	out := inspectionJSON{
		Schema: "awo.inspection/v1", Input: in.JSON(), Formats: c.Formats, SubAgents: c.SubAgents, Parallel: c.Parallel,
		Files: in.Reader.Counts().Files, Tokens: tokens(c.Usage), Capabilities: c.Capabilities(), Doubts: append([]completeness.Doubt{}, c.Tally.Doubts()...),
		Models: cli.Map(c.Models(), func(m *completeness.ModelSummary) modelJSON {
			return modelJSON{m.Name, m.Turns, m.CallingTurns, tokens(m.Usage), m.TurnsUsage}
		}),
	}
	if !c.First.IsZero() {
		first, last := c.First.UTC(), c.Last.UTC()
		out.First, out.Last = &first, &last
	}
	for _, t := range c.Tools() {
		tool := inspectedTool{
			Tool: t.Name, Calls: t.Calls, OtherCalls: t.OtherCalls, Trajectories: t.Trajectories, Failed: t.Failed, StatusUnknown: t.StatusUnknown,
			ErrorRate: stat.Ratio(t.Failed, t.Judged(), "the traces do not say which calls failed"), ErrorInterval: stat.NoInterval("no rate, no interval"), ArgsMissing: t.ArgsMissing, WithoutResult: t.WithoutResult, Defined: t.Defined,
		}
		if known := t.Judged(); known > 0 {
			tool.ErrorInterval = cli.Wilson(t.Failed, known)
		}
		out.Tools = append(out.Tools, tool)
	}
	return out
}

func tokens(u trace.Usage) *tokensJSON {
	if !u.Known {
		return nil
	}
	return &tokensJSON{u.Input, u.CachedInput, u.CacheWrite, u.Output, u.Reasoning, u.CostUSD}
}

// filesShown is how many files the text lists.
const filesShown = 15

func inspectionDocument(in *cli.Intake, c *completeness.Facts, out inspectionJSON, complete bool) *report.Document {
	d := &report.Document{Title: "What is in these traces", Answer: inspectionAnswer(in, out)}
	d.Add(in.Brief(), lacking(out.Capabilities))
	if len(out.Tools) > 0 {
		d.Add(inspectedTools(out.Tools, complete))
	}
	d.Details()
	d.Section("What was read", in.Summary())
	if out.First != nil {
		d.Add(report.Paragraph(fmt.Sprintf("Recorded between %s and %s (UTC).", out.First.Format(time.DateTime), out.Last.Format(time.DateTime))))
	}
	d.Section("What they support", report.TableOf("capabilities", "", out.Capabilities, []report.Column{
		{Key: "capability", Words: true},
		{Key: "support", Title: "supported", Words: true},
		{Key: "share", Unit: "%", Align: report.Right, Cell: report.By(func(k *completeness.Capability) report.Cell {
			if k.Of == 0 {
				return report.Missing("there is nothing of the kind")
			}
			return report.Share(k.Share, 1)
		})},
		{Key: "of"},
		{Key: "needs", Title: "what is needed", Max: 44, Wrap: true, Words: true},
		{Key: "reason", Title: "what that means", Max: 60, Wrap: true, Words: true},
	}))
	d.Section("Files", fileTable(out.Files))
	if c.Tally.LLMTurns > 0 {
		table := report.TableOf("models", "", out.Models, []report.Column{
			{Key: "model", Max: 50, Empty: "(not recorded)"},
			{Key: "turns"},
			{Key: "calling_turns", Title: "with calls"},
			{Key: "input_tokens", Title: "input tokens", Align: report.Right, Cell: report.By(func(m *modelJSON) report.Cell { return usage(m, func(t *tokensJSON) int64 { return t.Input }) })},
			{Key: "cached_tokens", Title: "of which cached", Align: report.Right, Cell: report.By(func(m *modelJSON) report.Cell { return usage(m, func(t *tokensJSON) int64 { return t.CachedInput }) })},
			{Key: "output_tokens", Title: "output tokens", Align: report.Right, Cell: report.By(func(m *modelJSON) report.Cell { return usage(m, func(t *tokensJSON) int64 { return t.Output }) })},
			{Key: "turns_with_usage", Title: "turns with usage"},
		})
		table.NoteIf(c.Tally.TurnsUsage > 0 && c.Tally.TurnsUsage < c.Tally.LLMTurns, "Tokens are sums over the turns that record them, not over all.")
		d.Section("Models", table)
	}
	d.Section("Trust", report.Paragraph(trust(out)))
	return d
}

func usage(m *modelJSON, of func(*tokensJSON) int64) report.Cell {
	if m.Tokens == nil {
		return report.Missing("no token usage is recorded")
	}
	return report.Int64(of(m.Tokens))
}

func fileTable(files []trace.FileCounts) *report.Table {
	table := report.TableOf("files", "", files[:min(len(files), filesShown)], []report.Column{
		{Key: "file", Max: 60, File: true},
		{Key: "format", Cell: report.By(func(f *trace.FileCounts) report.Cell {
			if f.Format == "" {
				return report.Missing("not recognised")
			}
			return report.Text(f.Format)
		})},
		{Key: "records"},
		{Key: "trajectories"},
		{Key: "empty", Title: "without calls"},
		{Key: "problems"},
	})
	table.NoteIf(len(files) > filesShown, "%s more in JSON.", cli.CountOf(len(files)-filesShown, "file"))
	return table
}

// inspectionAnswer says what the traces are good for.
func inspectionAnswer(in *cli.Intake, out inspectionJSON) string {
	y := in.Tally
	text := fmt.Sprintf("%s of agents that made %s of %s", cli.CountOf(y.Trajectories, "trajectory"), cli.CountOf(y.Calls, "call"), cli.CountOf(y.Tools(), "tool"))
	whole, none := 0, 0
	for _, c := range out.Capabilities {
		switch {
		case c.Share == 0:
			none++
		case c.Share >= 0.95:
			whole++
		}
	}
	switch {
	case whole == len(out.Capabilities):
		text += "; everything that awo looks at is recorded"
	case none > 0:
		text += fmt.Sprintf("; %d of %d things that awo looks at are not recorded", none, len(out.Capabilities))
	default:
		text += fmt.Sprintf("; %d of %d things that awo looks at are recorded in part", len(out.Capabilities)-whole, len(out.Capabilities))
	}
	if len(out.Doubts) > 0 {
		return text + ", and the counts are doubtful."
	}
	return text + ", and nothing speaks against the counts."
}

// lacking says what the traces do not support.
func lacking(capabilities []completeness.Capability) report.List {
	var out report.List
	for _, c := range capabilities {
		switch {
		case c.Of == 0 || c.Share >= 0.95:
		case c.Share == 0:
			out = append(out, fmt.Sprintf("Not recorded, for %s: %s.", c.Name, c.Units))
		default:
			out = append(out, fmt.Sprintf("In part, for %s: %.0f %% of %s %s.", c.Name, 100*c.Share, report.Grouped(c.Of), c.Units))
		}
	}
	return out
}

func inspectedTools(tools []inspectedTool, complete bool) *report.Table {
	called := slices.DeleteFunc(slices.Clone(tools), func(t inspectedTool) bool { return t.Calls+t.OtherCalls == 0 })
	shown := called
	if !complete {
		shown = called[:min(len(called), cli.ToolsShown)]
	}
	table := report.TableOf("tools", "Tools", shown, []report.Column{
		{Key: "tool", Max: 44},
		{Key: "calls"},
		{Key: "trajectories", Title: "in trajectories"},
		{Key: "error_rate", Title: "failed", Unit: "%"},
		{Key: "error", From: "error_rate_interval", Title: "95 % interval", Unit: "%", Align: report.Right},
		{Key: "lacks", Title: "calls without", Cell: report.By((*inspectedTool).lacks)},
		{Key: "defined", Title: "definition"},
	})
	others := 0
	for _, t := range shown {
		others += t.OtherCalls
	}
	table.NoteIf(len(called) > len(shown), "%s more in JSON.", cli.CountOf(len(called)-len(shown), "tool"))
	table.NoteIf(len(tools) > len(called), "Offered to the model but never called: %s.", cli.CountOf(len(tools)-len(called), "tool"))
	table.NoteIf(others > 0, "Not decided by a model, and in the error rates only: %s.", cli.CountOf(others, "call"))
	return table
}

// lacks names what calls of the tool do not record, with how many unless it is all.
func (t *inspectedTool) lacks() report.Cell {
	var lacks []string
	for _, lack := range []struct {
		n    int
		what string
	}{{t.ArgsMissing, "arguments"}, {t.WithoutResult, "result"}, {t.StatusUnknown, "status"}} {
		switch lack.n {
		case 0:
		case t.Calls + t.OtherCalls:
			lacks = append(lacks, lack.what)
		default:
			lacks = append(lacks, fmt.Sprintf("%s (%s)", lack.what, report.Grouped(lack.n)))
		}
	}
	return report.Text(strings.Join(lacks, ", "))
}

// trust says whether the counts are to be trusted, and why not.
func trust(out inspectionJSON) string {
	grave := slices.DeleteFunc(slices.Clone(out.Doubts), func(d completeness.Doubt) bool { return !d.Grave })
	small := slices.DeleteFunc(slices.Clone(out.Doubts), func(d completeness.Doubt) bool { return d.Grave })
	affects := func(doubts []completeness.Doubt) string {
		var parts []string
		for _, d := range doubts {
			if !slices.Contains(parts, d.Affects) {
				parts = append(parts, d.Affects)
			}
		}
		return strings.Join(parts, "; ")
	}
	switch {
	case len(grave) > 0:
		return "Do not trust the counts before you have looked: " + cli.Doubts(out.Doubts) + ". It affects " + affects(grave) + "."
	case len(small) > 0:
		return "The counts are to be trusted but for a small part: " + cli.Doubts(small) + ". It affects " + affects(small) + "."
	case out.Input.Calls == 0:
		return "No call was read. The traces hold none, or in a form that awo does not know."
	}
	return "Nothing speaks against the counts: every result answers a call, and every message was understood."
}
