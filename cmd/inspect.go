package cmd

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/entropy"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/trace"
)

// inspectOptions are the flags of `awo inspect`.
type inspectOptions struct {
	cli.InputOptions `mapstructure:",squash"`
}

func newInspect(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "inspect FILES...",
		Short: "Say what traces contain, and which analyses they bear",
		Long: `Say what traces contain before anything is analysed: formats, models, tools,
tokens, and for each kind of analysis whether what it needs is recorded. Formats
differ in what they keep, and exporters in what they were told to keep.

` + cli.FilesHelp,
		Example: `  awo inspect traces/
  awo inspect 'logs/**/*.jsonl.gz' --since 2026-03-01 --format markdown`,
		GroupID: cli.GroupLook,
	}
	cli.AddInput(c.Flags())
	return cli.Work(a, c, inspect)
}

// inspectionJSON is the JSON of `awo inspect`.
type inspectionJSON struct {
	Schema       string           `json:"schema"`
	Input        cli.InputJSON    `json:"input"`
	Files        []fileJSON       `json:"files"`
	Formats      map[string]int   `json:"formats"` // trajectories by format
	First        *time.Time       `json:"first"`   // earliest recorded time
	Last         *time.Time       `json:"last"`
	SubAgents    int              `json:"sub_agents"`
	Parallel     int              `json:"parallel_turns"`
	Models       []modelJSON      `json:"models"`
	Tools        []inspectedTool  `json:"tools"`
	Tokens       *tokensJSON      `json:"tokens"`
	Capabilities []capabilityJSON `json:"capabilities"`
}

type fileJSON struct {
	File         string `json:"file"`
	Format       string `json:"format"`
	Records      int    `json:"records"`
	Trajectories int    `json:"trajectories"`
	Empty        int    `json:"empty"`
	Bytes        int64  `json:"bytes"`
	Problems     int    `json:"problems"`
}

type modelJSON struct {
	Model        string      `json:"model"` // empty: not recorded
	Turns        int         `json:"turns"`
	CallingTurns int         `json:"calling_turns"`
	Tokens       *tokensJSON `json:"tokens"` // of the turns that record them
	TurnsUsage   int         `json:"turns_with_usage"`
}

type inspectedTool struct {
	Tool          string          `json:"tool"`
	Calls         int             `json:"calls"`
	OtherCalls    int             `json:"other_calls"`
	Trajectories  int             `json:"trajectories"`
	Failed        int             `json:"failed"`
	StatusUnknown int             `json:"status_unknown"`
	ErrorRate     entropy.Figure  `json:"error_rate"`
	ErrorInterval report.Interval `json:"error_rate_interval"`
	ArgsMissing   int             `json:"without_arguments"`
	WithoutResult int             `json:"without_result"`
	Defined       bool            `json:"defined"`
}

type tokensJSON struct {
	Input       int64    `json:"input"` // cached ones included
	CachedInput int64    `json:"cached_input"`
	CacheWrite  int64    `json:"cache_write"`
	Output      int64    `json:"output"` // reasoning included
	Reasoning   int64    `json:"reasoning"`
	CostUSD     *float64 `json:"recorded_cost_usd"`
}

type capabilityJSON struct {
	Capability string  `json:"capability"`
	Support    string  `json:"support"` // yes, partly, no
	Share      float64 `json:"share"`
	Of         int     `json:"of"`
	Needs      string  `json:"needs"`
	Reason     string  `json:"reason,omitempty"`
}

func inspect(j *cli.Job, o inspectOptions, files []string) error {
	in, err := j.Intake(files, o.InputOptions, trace.Options{})
	if err != nil {
		return err
	}
	defer in.Close()
	in.Facts = &trace.Completeness{}
	for _, err := range in.All() {
		if err != nil {
			return err
		}
	}
	return j.Print(inspectionDocument(in, in.Facts), inspectionResult(in, in.Facts))
}

func inspectionResult(in *cli.Intake, c *trace.Completeness) inspectionJSON {
	out := inspectionJSON{
		Schema: "awo.inspection/v1", Input: in.JSON(), Formats: c.Formats, SubAgents: c.SubAgents, Parallel: c.Parallel,
		Files: []fileJSON{}, Models: []modelJSON{}, Tools: []inspectedTool{}, Tokens: tokens(c.Usage),
	}
	if out.Formats == nil {
		out.Formats = map[string]int{}
	}
	if !c.First.IsZero() {
		first, last := c.First.UTC(), c.Last.UTC()
		out.First, out.Last = &first, &last
	}
	for _, f := range in.Reader.Counts().Files {
		out.Files = append(out.Files, fileJSON{f.Name, f.Format, f.Records, f.Trajectories, f.Empty, f.Bytes, f.Problems})
	}
	for _, m := range c.Models() {
		out.Models = append(out.Models, modelJSON{m.Name, m.Turns, m.CallingTurns, tokens(m.Usage), m.TurnsUsage})
	}
	for _, t := range c.Tools() {
		tool := inspectedTool{
			Tool: t.Name, Calls: t.Calls, OtherCalls: t.OtherCalls, Trajectories: t.Trajectories, Failed: t.Failed, StatusUnknown: t.StatusUnknown,
			ErrorRate: entropy.None(), ErrorInterval: report.NoInterval("no rate, no interval"), ArgsMissing: t.ArgsMissing, WithoutResult: t.WithoutResult, Defined: t.Defined,
		}
		if known := t.OK + t.Failed; known > 0 {
			tool.ErrorRate, tool.ErrorInterval = entropy.Figure(float64(t.Failed)/float64(known)), cli.Wilson(t.Failed, known)
		}
		out.Tools = append(out.Tools, tool)
	}
	for _, k := range c.Capabilities() {
		out.Capabilities = append(out.Capabilities, capabilityJSON{k.Name, string(k.Support), k.Share, k.Of, k.Units, k.Reason})
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

func inspectionDocument(in *cli.Intake, c *trace.Completeness) *report.Document {
	d := &report.Document{Title: "What is in these traces"}
	d.Add(in.Summary())
	if !c.First.IsZero() {
		d.Add(report.Paragraph(fmt.Sprintf("Recorded between %s and %s (UTC).", c.First.UTC().Format(time.DateTime), c.Last.UTC().Format(time.DateTime))))
	}
	d.Section("What they bear", capabilityTable(c))
	d.Section("Files", fileTable(in))
	if c.Tally.LLMTurns > 0 {
		d.Section("Models", modelTable(c))
	}
	if tools := c.Tools(); len(tools) > 0 {
		d.Section("Tools", inspectedTools(tools))
	}
	return d
}

func capabilityTable(c *trace.Completeness) *report.Table {
	table := report.NewTable("capabilities", "",
		report.Column{Key: "capability"},
		report.Column{Key: "support", Title: "borne"},
		report.Column{Key: "share", Unit: "%", Align: report.Right},
		report.Column{Key: "of", Align: report.Right},
		report.Column{Key: "needs", Title: "what is needed", Max: 44, Wrap: true},
		report.Column{Key: "reason", Title: "what that means", Max: 60, Wrap: true},
	)
	for _, k := range c.Capabilities() {
		part := report.Share(k.Share, 1)
		if k.Of == 0 {
			part = report.Missing("there is nothing of the kind")
		}
		table.Add(report.Text(k.Name), report.Text(string(k.Support)), part, report.Int(k.Of), report.Text(k.Units), report.Text(k.Reason))
	}
	return table
}

func fileTable(in *cli.Intake) *report.Table {
	table := report.NewTable("files", "",
		report.Column{Key: "file", Max: 60},
		report.Column{Key: "format"},
		report.Column{Key: "records", Align: report.Right},
		report.Column{Key: "trajectories", Align: report.Right},
		report.Column{Key: "empty", Title: "without calls", Align: report.Right},
		report.Column{Key: "problems", Align: report.Right},
	)
	files := in.Reader.Counts().Files
	for i, f := range files {
		if i == filesShown {
			table.Note("%s more in JSON.", cli.CountOf(len(files)-filesShown, "file"))
			break
		}
		format := report.Text(f.Format)
		if f.Format == "" {
			format = report.Missing("not recognised")
		}
		table.Add(report.Name(f.Name), format, report.Int(f.Records), report.Int(f.Trajectories), report.Int(f.Empty), report.Int(f.Problems))
	}
	return table
}

func modelTable(c *trace.Completeness) *report.Table {
	table := report.NewTable("models", "",
		report.Column{Key: "model", Max: 50},
		report.Column{Key: "turns", Align: report.Right},
		report.Column{Key: "calling_turns", Title: "with calls", Align: report.Right},
		report.Column{Key: "input_tokens", Title: "input tokens", Align: report.Right},
		report.Column{Key: "cached_tokens", Title: "of which cached", Align: report.Right},
		report.Column{Key: "output_tokens", Title: "output tokens", Align: report.Right},
		report.Column{Key: "turns_with_usage", Title: "turns that say so", Align: report.Right},
	)
	for _, m := range c.Models() {
		name := report.Name(m.Name)
		if m.Name == "" {
			name = report.Text("(not recorded)")
		}
		const unknown = "no token usage is recorded"
		input, cached, output := report.Missing(unknown), report.Missing(unknown), report.Missing(unknown)
		if m.Usage.Known {
			input, cached, output = report.Int64(m.Usage.Input), report.Int64(m.Usage.CachedInput), report.Int64(m.Usage.Output)
		}
		table.Add(name, report.Int(m.Turns), report.Int(m.CallingTurns), input, cached, output, report.Int(m.TurnsUsage))
	}
	if c.Tally.LLMTurns > 0 && c.Tally.TurnsUsage > 0 && c.Tally.TurnsUsage < c.Tally.LLMTurns {
		table.Note("Tokens are sums over the turns that record them, not over all.")
	}
	return table
}

func inspectedTools(tools []trace.ToolSummary) *report.Table {
	table := report.NewTable("tools", "",
		report.Column{Key: "tool", Max: 44},
		report.Column{Key: "calls", Align: report.Right},
		report.Column{Key: "trajectories", Title: "in trajectories", Align: report.Right},
		report.Column{Key: "error_rate", Title: "failed", Unit: "%", Align: report.Right},
		report.Column{Key: "error", Title: "95 % interval", Unit: "%", Interval: true, Align: report.Right},
		report.Column{Key: "lacks", Title: "calls without"},
		report.Column{Key: "defined", Title: "definition"},
	)
	called, others := 0, 0
	for _, t := range tools {
		if t.Calls+t.OtherCalls == 0 {
			continue
		}
		if called++; called > cli.ToolsShown {
			continue
		}
		others += t.OtherCalls
		rate, interval := report.Missing("the traces do not say which calls failed"), report.Missing("no rate, no interval")
		if known := t.OK + t.Failed; known > 0 {
			rate, interval = report.Share(float64(t.Failed)/float64(known), 1), report.ShareRange(cli.Wilson(t.Failed, known), 1)
		}
		var lacks []string
		for _, lack := range []struct {
			n    int
			what string
		}{{t.ArgsMissing, "arguments"}, {t.WithoutResult, "result"}, {t.StatusUnknown, "status"}} {
			switch {
			case lack.n == 0:
			case lack.n == t.Calls+t.OtherCalls:
				lacks = append(lacks, lack.what)
			default:
				lacks = append(lacks, fmt.Sprintf("%s (%s)", lack.what, report.Grouped(lack.n)))
			}
		}
		table.Add(report.Name(t.Name), report.Int(t.Calls), report.Int(t.Trajectories), rate, interval, report.Text(strings.Join(lacks, ", ")), report.Bool(t.Defined))
	}
	if called > cli.ToolsShown {
		table.Note("%s more in JSON.", cli.CountOf(called-cli.ToolsShown, "tool"))
	}
	if defined := len(tools) - called; defined > 0 {
		table.Note("Offered to the model but never called: %s.", cli.CountOf(defined, "tool"))
	}
	if others > 0 {
		table.Note("Not decided by a model, and in the error rates only: %s.", cli.CountOf(others, "call"))
	}
	return table
}
