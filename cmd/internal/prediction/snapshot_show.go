package prediction

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/inertia"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/trace"
)

// SnapshotJSON is the JSON of `awo snapshot build` and `show`.
type SnapshotJSON struct {
	Schema       string             `json:"schema"`
	Input        *cli.InputJSON     `json:"input,omitempty"` // what was read to make it
	File         string             `json:"file"`
	Bytes        int64              `json:"bytes"`
	Trajectories uint64             `json:"trajectories"`
	Newest       string             `json:"newest"` // day of the newest trajectory, "" where no time is recorded
	Order        int                `json:"order"`
	HalfLife     float64            `json:"half_life_days"`
	Contexts     int                `json:"contexts"`
	Examples     int                `json:"calibration_examples"`
	Tools        []snapshotToolJSON `json:"tools"`
}

type snapshotToolJSON struct {
	Tool    string             `json:"tool"`
	Effect  string             `json:"effect"`
	Calls   uint64             `json:"calls"`
	OK      uint64             `json:"ok"`
	Failed  uint64             `json:"failed"`
	Unknown uint64             `json:"status_unknown"`
	First   string             `json:"first_call"` // of a meta-tool the tool of its first call, "" of others
	Params  []snapshotParmJSON `json:"params"`
}

type snapshotParmJSON struct {
	Param    string             `json:"param"`
	Required bool               `json:"required"`
	Present  uint64             `json:"present"`
	Sources  []snapshotRuleJSON `json:"sources"` // the best first
}

type snapshotRuleJSON struct {
	Side  string `json:"side"` // output, input, task
	Tool  string `json:"tool"`
	Path  string `json:"path"` // of a text the shape
	Tried uint64 `json:"tried"`
	Right uint64 `json:"right"`
}

func newSnapshotShow(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:     "show SNAPSHOT",
		Short:   "Print what a snapshot holds",
		Long:    "Print what a snapshot holds: its tools, and where their arguments come from. A damaged file is an error.",
		Example: "  awo snapshot show inertia.awo",
		Args:    oneSnapshot,
	}
	return cli.Work(a, c, snapshotShow)
}

func oneSnapshot(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return cli.Usagef("`%s` wants one snapshot", c.CommandPath())
	}
	return nil
}

func snapshotShow(j *cli.Job, _ struct{}, args []string) error {
	s, err := inertia.Open(args[0])
	if err != nil {
		return err
	}
	info, err := os.Stat(args[0])
	if err != nil {
		return cli.FileProblem(args[0], err)
	}
	return showSnapshot(j, args[0], s.Model, info.Size(), nil)
}

func showSnapshot(j *cli.Job, file string, m *inertia.Model, size int64, in *cli.Intake) error {
	out := SnapshotJSON{
		Schema: "awo.snapshot/v1", File: file, Bytes: size, Trajectories: m.Info.Trajectories, Newest: m.Info.Day(),
		Order: m.Info.Order, HalfLife: m.Info.HalfLife, Contexts: m.Contexts(), Examples: m.Calibration().Examples,
	}
	for i := range m.Tools() {
		out.Tools = append(out.Tools, snapshotTool(m, uint32(i+1)))
	}
	if in != nil {
		input := in.JSON()
		out.Input = &input
	}
	return j.Print(snapshotDocument(in, out), out)
}

func snapshotTool(m *inertia.Model, symbol uint32) snapshotToolJSON {
	t := &m.Tools()[symbol-1]
	out := snapshotToolJSON{
		Tool: t.Name.Value(), Effect: t.Effect.String(), Calls: t.Calls, OK: t.Counts.OK, Failed: t.Counts.Failed,
		Unknown: t.Counts.Unknown,
	}
	if t.First != (trace.Name{}) {
		out.First = t.First.Value()
	}
	for _, p := range t.Params {
		param := snapshotParmJSON{Param: p.Name, Required: p.Required, Present: p.Present}
		for _, r := range m.Rules(symbol) {
			if r.Param != p.Name {
				continue
			}
			rule := snapshotRuleJSON{Side: r.Side.String(), Path: r.Path}
			if r.From != t.Name && r.Side.String() != "task" || r.Side.String() != "task" {
				rule.Tool = r.From.Value()
			}
			for _, u := range r.Uses {
				rule.Tried += u.Tried
				rule.Right += u.Right
			}
			param.Sources = append(param.Sources, rule)
		}
		out.Params = append(out.Params, param)
	}
	return out
}

func snapshotDocument(in *cli.Intake, out SnapshotJSON) *report.Document {
	d := &report.Document{Title: "Snapshot"}
	text := cli.CountOf(int(out.Trajectories), "trajectory") + ", " + cli.CountOf(len(out.Tools), "tool") + ", " + cli.CountOf(out.Contexts, "context") + " of up to " + cli.CountOf(out.Order, "call")
	if out.Newest != "" {
		text += ", the newest of " + out.Newest
	}
	d.Answer = out.File + ": " + text + "; " + cli.CountOf(int(out.Bytes), "byte") + "."
	if in != nil {
		d.Add(in.Brief())
	}
	type row struct {
		Tool  *snapshotToolJSON `json:"tool"` // nil below the first line of a tool
		Param *snapshotParmJSON `json:"param"`
	}
	var rows []row
	for i := range out.Tools {
		tool, params := &out.Tools[i], out.Tools[i].Params
		for k := range params {
			rows = append(rows, row{tool, &params[k]})
			tool = nil
		}
		if tool != nil {
			rows = append(rows, row{tool, nil})
		}
	}
	t := report.TableOf("tools", "Tools", rows, []report.Column{
		{Key: "tool", From: "tool.tool"},
		{Key: "effect", Cell: report.By(func(r *row) report.Cell { return report.Text(r.Tool.words()) })},
		{Key: "calls", From: "tool.calls"},
		{Key: "failed", From: "tool.failed"},
		{Key: "param", From: "param.param", Title: "parameter"},
		{Key: "source", Title: "best source", Max: 50, Cell: report.By(func(r *row) report.Cell {
			if r.Param == nil || len(r.Param.Sources) == 0 {
				return report.Text("")
			}
			return report.Name(sourceText(r.Param.Sources[0]))
		})},
		{Key: "right", From: "param.sources.0.right", Title: "right"},
		{Key: "tried", From: "param.sources.0.tried", Title: "of"},
	})
	t.Brief = 12
	t.Note("A source is right where it gave the recorded argument, of all calls that it could have been tried at.")
	d.Add(t)
	if in != nil {
		d.Details()
		d.Section("What was read", in.Summary())
	}
	return d
}

// words say what a tool is, nothing below the first line of a tool.
func (t *snapshotToolJSON) words() string {
	switch {
	case t == nil:
		return ""
	case t.First != "":
		return t.Effect + ", meta-tool"
	}
	return t.Effect
}

func sourceText(r snapshotRuleJSON) string {
	switch r.Side {
	case "task":
		return "what the user said, like " + r.Path
	case "input":
		return r.Tool + "(" + r.Path + ")"
	}
	return r.Tool + " → " + r.Path
}
