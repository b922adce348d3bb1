package prediction

import (
	"cmp"
	"io"
	"iter"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/par"
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
	var failed error
	var observer predict.Observer
	r.each = j.Each()
	trajectories := func(yield func(*trace.Trajectory) bool) {
		for t, err := range source {
			if err != nil {
				failed = err
				return
			}
			if r.adapter != nil {
				t = r.adapter.Rewrite(t)
			}
			r.effects.Add(t)
			if !yield(t) {
				return
			}
		}
	}
	type observed struct {
		t *trace.Trajectory
		o *predict.Observation
	}
	for x := range par.Map(j.Parallel(), trajectories, func(t *trace.Trajectory) observed {
		return observed{t, observer.Observe(t, nil)}
	}) {
		add(x.t, x.o)
	}
	return failed
}

// Learn returns the graph of what a learner has read, and how its calls are judged.
func (r *SnapshotReader) Learn(l *predict.Learner, o predict.ModelOptions) (*predict.Graph, predict.Calibration) {
	g := l.Graph()
	r.effects.Declare(g)
	return g, l.Calibration(o, predict.PredictorOptions{Any: true, Each: r.each, Fill: predict.FillOptions{Adapter: r.adapter}})
}

func snapshotBuild(j *cli.Job, o snapshotOptions, files []string) error {
	if err := o.check(); err != nil {
		return err
	}
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
		defer in.Close()
	}
	m := g.Model(predict.ModelOptions{HalfLife: o.HalfLife}).Calibrated(calibration)
	return writeSnapshot(j, o.Out, m, g, in)
}

// readTraces reads traces, and adds what they teach.
func readTraces(j *cli.Job, o snapshotOptions, files []string, add func(string, *predict.Graph, predict.Calibration) error) (*cli.Intake, error) {
	set, err := j.Rules(j.RuleFile)
	if err != nil {
		return nil, err
	}
	r := NewSnapshotReader(set)
	if r.adapter, err = readAdapter(j, o.Adapter); err != nil {
		return nil, err
	}
	in, err := j.Intake(files, trace.Options{})
	if err != nil {
		return nil, err
	}
	in.Follows = true
	learner := predict.NewLearner(o.Order, j.Seed)
	if err = r.Read(j, in.All(), learner.Add); err == nil {
		in.Predicts()
		g, calibration := r.Learn(learner, predict.ModelOptions{HalfLife: o.HalfLife})
		err = add("--order", g, calibration)
	}
	if err != nil {
		in.Close()
		return nil, err
	}
	return in, nil
}

// writeSnapshot writes the file whole or not at all, and prints what it holds.
func writeSnapshot(j *cli.Job, file string, m *predict.Model, g *predict.Graph, in *cli.Intake) error {
	data := m.AppendSnapshot(nil, g)
	dir, name := filepath.Split(file)
	err := emit.WriteStream(cmp.Or(dir, "."), name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	return showSnapshot(j, file, m, int64(len(data)), in)
}
