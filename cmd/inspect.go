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
	DraftMap bool `mapstructure:"draft-map"`
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
	cli.Uses(c, cli.UseTraces, cli.UseRules)
	c.Flags().Bool("draft-map", false, "print the draft of a map for the first file, whatever its format")
	return cli.Work(a, c, inspect)
}

// inspection are the figures of `awo inspect`.
type inspection struct {
	Input     cli.InputJSON  `json:"input"`
	Formats   map[string]int `json:"formats"` // trajectories by format
	First     *time.Time     `json:"first"`   // earliest recorded time
	Last      *time.Time     `json:"last"`
	SubAgents int            `json:"sub_agents"`
	Parallel  int            `json:"parallel_turns"`
	Tokens    *trace.Usage   `json:"tokens"`

	Deferred      int `json:"deferred_definitions"`  // tools that the model sees once a search has found them
	ProgramCalls  int `json:"program_calls"`         // made by programs that the model wrote
	Continuations int `json:"program_continuations"` // responses that only went on with a program: no turns
}

type inspectedTool struct {
	completeness.ToolSummary
	ErrorRate stat.Estimate `json:"error_rate"`
}

func inspect(j *cli.Job, o inspectOptions, files []string) error {
	in, err := j.Intake(files, trace.Options{})
	if err != nil {
		return err
	}
	if o.DraftMap {
		return draftMap(j, in, files)
	}
	in.Facts, in.SaysDoubts = &completeness.Facts{}, true
	for _, err := range in.All() {
		if err != nil {
			if draft, ok := j.DraftMap(in.Reader.Counts().Files, false); ok && j.Format == report.FormatText && in.Facts.Tally.Trajectories == 0 {
				j.Say("what looks like calls is printed as the draft of a map: look at it, then read the file with --map")
				j.Printf("%s", draft)
			}
			return err
		}
	}
	d := inspectionDocument(in, in.Facts)
	d.Next = []string{j.Then(files, "what is wrong, and how habitual it is", "analyze", "{}")}
	return j.Result(d)
}

// draftMap prints a map for the first file in which something looks like calls.
func draftMap(j *cli.Job, in *cli.Intake, files []string) error {
	for range in.Reader.All() { // which says what the files are called
		break
	}
	draft, ok := j.DraftMap(in.Reader.Counts().Files, true)
	if !ok {
		return cli.Usagef("--draft-map: nothing in these files looks like calls")
	}
	j.Printf("%s", draft)
	return nil
}

func inspectionFigures(in *cli.Intake, c *completeness.Facts) inspection {
	out := inspection{Input: in.JSON(), Formats: c.Formats, SubAgents: c.SubAgents, Parallel: c.Parallel, Deferred: c.Deferred(), ProgramCalls: c.Tally.CodeCalls, Continuations: c.Continued}
	if c.Usage.Known {
		out.Tokens = &c.Usage
	}
	if !c.First.IsZero() {
		first, last := c.First.UTC(), c.Last.UTC()
		out.First, out.Last = &first, &last
	}
	return out
}

// filesShown is how many files the text lists.
const filesShown = 15

func inspectionDocument(in *cli.Intake, c *completeness.Facts) *report.Document {
	out, capabilities, doubts := inspectionFigures(in, c), c.Capabilities(), c.Tally.Doubts()
	d := &report.Document{Title: "What is in these traces", Answer: inspectionAnswer(in, capabilities, doubts), Figures: out}
	d.Add(in.Summary(), lacking(capabilities), inspectedTools(c.Tools()).IfAny())
	d.Details()
	if out.First != nil {
		d.Add(report.Paragraph(fmt.Sprintf("Recorded between %s and %s (UTC).", out.First.Format(time.DateTime), out.Last.Format(time.DateTime))))
	}
	if out.ProgramCalls > 0 {
		d.Add(report.Paragraph(fmt.Sprintf("Programs that the model wrote made %s. They need no turn: %s that only went on with a program counted as none.", cli.CountOf(out.ProgramCalls, "call"), cli.CountOf(out.Continuations, "response"))))
	}
	if out.Deferred > 0 {
		d.Add(report.Paragraph(fmt.Sprintf("The definitions of %s are deferred: their tokens count from where a search found them.", cli.CountOf(out.Deferred, "tool"))))
	}
	d.Section("What they support", report.TableOf("capabilities", "", capabilities, []report.Column{
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
	files := report.TableOf("files", "", in.Reader.Counts().Files, []report.Column{
		{Key: "file", Max: 60},
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
	files.Most = filesShown
	d.Section("Files", files)
	models := report.TableOf("models", "", c.Models(), []report.Column{
		{Key: "model", Max: 50, Empty: "(not recorded)"},
		{Key: "turns"},
		{Key: "calling_turns", Title: "with calls"},
		{Key: "input_tokens", From: "tokens.input", Title: "input tokens"},
		{Key: "cached_tokens", From: "tokens.cached_input", Title: "of which cached"},
		{Key: "output_tokens", From: "tokens.output", Title: "output tokens"},
		{Key: "turns_with_usage", Title: "turns with usage"},
	}).IfAny()
	models.NoteIf(c.Tally.TurnsUsage > 0 && c.Tally.TurnsUsage < c.Tally.LLMTurns, "Tokens are sums over the turns that record them, not over all.")
	d.Section("Models", models)
	d.Section("Trust", report.Paragraph(trust(out.Input.Calls, doubts)), report.TableOf("warnings", "", doubts, nil).Hidden())
	return d
}

// inspectionAnswer says what the traces are good for.
func inspectionAnswer(in *cli.Intake, capabilities []completeness.Capability, doubts []completeness.Doubt) string {
	y := in.Tally
	text := fmt.Sprintf("%s of agents that made %s of %s", cli.CountOf(y.Trajectories, "trajectory"), cli.CountOf(y.Calls, "call"), cli.CountOf(y.Tools(), "tool"))
	whole, none := 0, 0
	for _, c := range capabilities {
		switch {
		case c.Share == 0:
			none++
		case c.Share >= 0.95:
			whole++
		}
	}
	switch {
	case whole == len(capabilities):
		text += "; everything that awo looks at is recorded"
	case none > 0:
		text += fmt.Sprintf("; %d of %d things that awo looks at are not recorded", none, len(capabilities))
	default:
		text += fmt.Sprintf("; %d of %d things that awo looks at are recorded in part", len(capabilities)-whole, len(capabilities))
	}
	if len(doubts) > 0 {
		return text + ", and the counts are doubtful."
	}
	return text + ", and no data-quality problem was found."
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

func inspectedTools(summaries []completeness.ToolSummary) *report.Table {
	called, others := 0, 0
	tools := cli.Map(summaries, func(t *completeness.ToolSummary) inspectedTool {
		if t.Calls+t.OtherCalls > 0 {
			called++ // these come first
		}
		others += t.OtherCalls
		return inspectedTool{*t, stat.ShareOf(t.Failed, t.Judged(), "the traces do not say which calls failed")}
	})
	table := report.TableOf("tools", "Tools", tools, []report.Column{
		{Key: "tool", Max: 44},
		{Key: "calls"},
		{Key: "trajectories", Title: "in trajectories"},
		{Key: "error_rate", Title: "failed", Unit: "%"},
		{Key: "lacks", Title: "calls without", Cell: report.By((*inspectedTool).lacks)},
		{Key: "defined", Title: "definition"},
	})
	table.Most = min(called, cli.ToolsShown)
	table.NoteIf(len(tools) > called, "Offered to the model but never called: %s.", cli.CountOf(len(tools)-called, "tool"))
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
func trust(calls int, doubts []completeness.Doubt) string {
	grave := slices.DeleteFunc(slices.Clone(doubts), func(d completeness.Doubt) bool { return !d.Grave })
	small := slices.DeleteFunc(slices.Clone(doubts), func(d completeness.Doubt) bool { return d.Grave })
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
		return "Check these counts before you trust them: " + cli.Doubts(doubts) + ". It affects " + affects(grave) + "." + nextOf(doubts)
	case len(small) > 0:
		return "The counts are right but for a small part: " + cli.Doubts(small) + ". It affects " + affects(small) + "." + nextOf(small)
	case calls == 0:
		return "No call was read. The traces hold none, or in a form that awo does not know."
	}
	return "No data-quality problem was found: every result answers a call, and every message was understood."
}

// nextOf says where the first of some doubts is, and what to do about each.
func nextOf(doubts []completeness.Doubt) string {
	text, said := "", map[string]bool{}
	for _, d := range doubts {
		if d.First != "" {
			text += fmt.Sprintf(" First in %s (%s).", d.First, d.Code)
		}
	}
	for _, d := range doubts {
		if d.Next != "" && !said[d.Next] {
			said[d.Next] = true
			text += " Next: " + d.Next + "."
		}
	}
	return text
}
