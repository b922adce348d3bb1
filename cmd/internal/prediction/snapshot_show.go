package prediction

import (
	"os"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/predict"
)

// snapshotFigures are those of `awo snapshot show`.
type snapshotFigures struct {
	File         string  `json:"file"`
	Bytes        int64   `json:"bytes"`
	Trajectories uint64  `json:"trajectories"`
	Newest       string  `json:"newest"` // day of the newest trajectory, "" where no time is recorded
	Order        int     `json:"order"`
	HalfLife     float64 `json:"half_life_days"`
	Contexts     int     `json:"contexts"`
	Examples     int     `json:"calibration_examples"`
}

// builtFigures are those of `awo snapshot build`.
type builtFigures struct {
	Input cli.InputJSON `json:"input"` // what was read to make it
	snapshotFigures
}

// tool is a tool of a snapshot.
type tool struct {
	Tool    string `json:"tool"`
	Effect  string `json:"effect"`
	Calls   uint64 `json:"calls"`
	OK      uint64 `json:"ok"`
	Failed  uint64 `json:"failed"`
	Unknown uint64 `json:"status_unknown"`
}

// param is a parameter of a tool, and where its arguments come from.
type param struct {
	Tool     string   `json:"tool"`
	Param    string   `json:"param"`
	Required bool     `json:"required"`
	Present  uint64   `json:"present"`
	Sources  []source `json:"sources"` // the best first
}

type source struct {
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
	s, err := predict.Open(args[0])
	if err != nil {
		return err
	}
	info, err := os.Stat(args[0])
	if err != nil {
		return cli.FileProblem(args[0], err)
	}
	return showSnapshot(j, args[0], s.Model, info.Size(), nil)
}

func showSnapshot(j *cli.Job, file string, m *predict.Model, size int64, in *cli.Intake) error {
	out := snapshotFigures{
		File: file, Bytes: size, Trajectories: m.Info.Trajectories, Newest: m.Info.Day(),
		Order: m.Info.Order, HalfLife: m.Info.HalfLife, Contexts: m.Contexts(), Examples: m.Calibration().Examples,
	}
	return j.Result(snapshotDocument(m, &out, in))
}

func toolsOf(m *predict.Model) []tool {
	return cli.Map(m.Tools(), func(t *predict.Tool) tool {
		out := tool{Tool: t.Name.Value(), Effect: t.Effect.String(), Calls: t.Calls, OK: t.Counts.OK, Failed: t.Counts.Failed, Unknown: t.Counts.Unknown}
		return out
	})
}

func paramsOf(m *predict.Model) (params []param) {
	for i, t := range m.Tools() {
		for _, p := range t.Params {
			one := param{Tool: t.Name.Value(), Param: p.Name, Required: p.Required, Present: p.Present}
			for _, r := range m.Rules(uint32(i + 1)) {
				if r.Param == p.Name {
					one.Sources = append(one.Sources, sourceOf(&r))
				}
			}
			params = append(params, one)
		}
	}
	return params
}

func sourceOf(r *predict.Rule) source {
	out := source{Side: r.Side.String(), Path: r.Path}
	if out.Side != "task" {
		out.Tool = r.From.Value()
	}
	for _, u := range r.Uses {
		out.Tried += u.Tried
		out.Right += u.Right
	}
	return out
}

func snapshotDocument(m *predict.Model, out *snapshotFigures, in *cli.Intake) *report.Document {
	d := &report.Document{Title: "Snapshot", Figures: *out}
	list := toolsOf(m)
	text := cli.CountOf(int(out.Trajectories), "trajectory") + ", " + cli.CountOf(len(list), "tool") + ", " + cli.CountOf(out.Contexts, "context") + " of up to " + cli.CountOf(out.Order, "call")
	if out.Newest != "" {
		text += ", the newest of " + out.Newest
	}
	d.Answer = out.File + ": " + text + "; " + cli.CountOf(int(out.Bytes), "byte") + "."
	if in != nil {
		d.Figures = builtFigures{in.JSON(), *out}
		d.Add(in.Brief())
	}
	tools := report.TableOf("tools", "Tools", list, []report.Column{
		{Key: "tool"},
		{Key: "effect"},
		{Key: "calls"},
		{Key: "failed"},
	})
	params := report.TableOf("params", "Where arguments come from", paramsOf(m), []report.Column{
		{Key: "tool"},
		{Key: "param", Title: "parameter"},
		{Key: "source", Title: "best source", Max: 50, Cell: report.By(func(p *param) report.Cell {
			if len(p.Sources) == 0 {
				return report.Text("")
			}
			return report.Name(p.Sources[0].words())
		})},
		{Key: "right", From: "sources.0.right"},
		{Key: "tried", From: "sources.0.tried", Title: "of"},
	})
	params.Note("A source is right where it gave the recorded argument, of all calls that it could have been tried at.")
	d.Add(tools, params)
	if in != nil {
		d.Details()
		d.Section("What was read", in.Summary())
	}
	return d
}

func (s *source) words() string {
	switch s.Side {
	case "task":
		return "what the user said, like " + s.Path
	case "input":
		return s.Tool + "(" + s.Path + ")"
	}
	return s.Tool + " → " + s.Path
}
