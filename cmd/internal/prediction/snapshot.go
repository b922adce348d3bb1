package prediction

import (
	"iter"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/predict"
	"github.com/awo-dev/awo/predict/effects"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// NewSnapshot returns `awo snapshot`.
func NewSnapshot(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "snapshot",
		Short: "Compile traces into files that predict the next call",
		Long: `Build and show snapshots: files that an agent reads when it starts, and that predict
the next call and its arguments (awo predict). They hold counts and names, and no
values of arguments or results.`,
		Example: "  awo snapshot build traces/ --rules rules.yaml --out inertia.awo",
		GroupID: cli.GroupCompile,
	}
	c.AddCommand(newSnapshotBuild(a), newSnapshotShow(a))
	return c
}

// snapshotOptions are the flags of `awo snapshot build`.
type snapshotOptions struct {
	inertiaOptions `mapstructure:",squash"`
	Out            string `mapstructure:"out"`
}

func newSnapshotBuild(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "build FILES...",
		Short: "Compile traces into a snapshot, or add them to one",
		Long: `Compile traces into a snapshot, in one pass. Which tools may be called without
asking the model is what --rules and annotations of definitions declare.

FILES may be traces, snapshots (*.awo), or both: their counts are added up, in any
order. All snapshots must have contexts of the same length (--order).

How likely a call is to be right is learnt on parts of the tasks in turn, from at
most 2,000 trajectories. What predictions read of these is kept in memory;
everything else is counted.

` + cli.FilesHelp,
		Example: `  awo snapshot build traces/ --rules rules.yaml --out inertia.awo
  awo snapshot build inertia.awo tuesday/ --out inertia.awo
  awo snapshot build monday.awo tuesday.awo --out week.awo`,
	}
	cli.Uses(c, cli.UseTraces, cli.UseRules)
	f := c.Flags()
	addInertia(f)
	f.String("out", "inertia.awo", "output `FILE`; an existing file is overwritten")
	return cli.Work(a, c, snapshotBuild)
}

// snapshotExt is how the names of snapshots end.
const snapshotExt = ".awo"

// SnapshotReader reads what snapshots are made of.
type SnapshotReader struct {
	effects *effects.Known
	adapter *predict.Adapter
	each    func(n int, do func(i int)) // runs work on the job's workers
}

// NewSnapshotReader returns a reader that goes by rules, nil for none.
func NewSnapshotReader(set *rules.Set) *SnapshotReader {
	return &SnapshotReader{effects: effects.New(set, false)}
}

// Read yields trajectories and what each teaches, in their order.
func (r *SnapshotReader) Read(j *cli.Job, source iter.Seq2[*trace.Trajectory, error], add func(*trace.Trajectory, *predict.Observation)) error {
	var observer predict.Observer
	r.each = j.Each()
	trajectories := func(yield func(*trace.Trajectory, error) bool) {
		for t, err := range source {
			if err == nil && r.adapter != nil {
				t = r.adapter.Rewrite(t)
			}
			if err == nil {
				r.effects.Add(t)
			}
			if !yield(t, err) {
				return
			}
		}
	}
	for x, err := range par.With(j.Parallel(), trajectories, func(t *trace.Trajectory) *predict.Observation { return observer.Observe(t, nil) }) {
		if err != nil {
			return err
		}
		add(x.From, x.Is)
	}
	return nil
}

// Learn returns the graph of what a learner has read, and how its calls are judged.
func (r *SnapshotReader) Learn(l *predict.Learner, o predict.ModelOptions) (*predict.Graph, predict.Calibration) {
	g := l.Graph()
	r.effects.Declare(g)
	return g, l.Calibration(o, predict.PredictorOptions{Any: true, Each: r.each, Fill: predict.FillOptions{Adapter: r.adapter}})
}

func snapshotBuild(j *cli.Job, o snapshotOptions, files []string) error {
	var traces []string
	var g *predict.Graph
	var calibration predict.Calibration
	add := func(file string, more *predict.Graph, c predict.Calibration) error {
		calibration = calibration.Merge(c)
		if g == nil {
			g = predict.NewGraph(more.Order())
		}
		if err := g.Merge(more); err != nil {
			return cli.Usagef("%s: %s", file, err)
		}
		return nil
	}
	for _, file := range files {
		if filepath.Ext(file) != snapshotExt {
			traces = append(traces, file)
			continue
		}
		s, err := predict.Open(file)
		if err != nil {
			return err
		}
		if err := add(file, s.Graph, s.Model.Calibration()); err != nil {
			return err
		}
		o.HalfLife = max(o.HalfLife, s.Model.Info.HalfLife)
	}
	var in *cli.Intake
	if len(traces) > 0 || g == nil {
		var err error
		if in, err = readTraces(j, o, traces, add); err != nil {
			return err
		}
	}
	m := g.Model(predict.ModelOptions{HalfLife: o.HalfLife}).Calibrated(calibration)
	return writeSnapshot(j, o.Out, m, g, in)
}

// readTraces reads traces, and adds what they teach.
func readTraces(j *cli.Job, o snapshotOptions, files []string, add func(string, *predict.Graph, predict.Calibration) error) (*cli.Intake, error) {
	r, err := NewSnapshotReader(j.Set), error(nil)
	if r.adapter, err = readAdapter(j, o.Adapter); err != nil {
		return nil, err
	}
	in, err := j.Intake(files, trace.Options{})
	if err != nil {
		return nil, err
	}
	in.Follows = true
	learner := predict.NewLearner(o.Order, j.Seed)
	if err = r.Read(j, in.All(), learner.Add); err != nil {
		return nil, err
	}
	in.Predicts()
	g, calibration := r.Learn(learner, predict.ModelOptions{HalfLife: o.HalfLife})
	return in, add("--order", g, calibration)
}

// writeSnapshot writes the file whole or not at all, and prints what it holds.
func writeSnapshot(j *cli.Job, file string, m *predict.Model, g *predict.Graph, in *cli.Intake) error {
	data := m.AppendSnapshot(nil, g)
	if err := j.WriteFile(file, data); err != nil {
		return err
	}
	return showSnapshot(j, file, m, int64(len(data)), in)
}

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
		return tool{Tool: t.Name.Value(), Effect: t.Effect.String(), Calls: t.Calls, OK: t.Counts.OK, Failed: t.Counts.Failed, Unknown: t.Counts.Unknown}
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
		d.Add(in.Summary())
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
