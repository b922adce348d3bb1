package prediction

import (
	"cmp"
	"io"
	"iter"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/inertia"
	"github.com/awo-dev/awo/inertia/effects"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/summary"
	"github.com/awo-dev/awo/summary/count"
	"github.com/awo-dev/awo/trace"
)

// NewSnapshot returns `awo snapshot`.
func NewSnapshot(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "snapshot",
		Short: "Compile inertia graphs into files that predict the next call",
		Long: `Build, merge and look at snapshots: files that an agent maps into memory when it
starts, and that predict the next call and its arguments (awo predict). They hold
counts and names, and no values of arguments or results.`,
		Example: "  awo snapshot build traces/ --rules rules.yaml --out inertia.awo",
		GroupID: cli.GroupCompile,
	}
	c.AddCommand(newSnapshotBuild(a), newSnapshotMerge(a), newSnapshotUpdate(a), newSnapshotShow(a), newSnapshotExport(a))
	return c
}

// snapshotOptions are the flags of `awo snapshot build` and `update`.
type snapshotOptions struct {
	cli.InputOptions `mapstructure:",squash"`
	inertiaOptions   `mapstructure:",squash"`
	Out              string `mapstructure:"out"`
	NoCounts         bool   `mapstructure:"no-counts"`
}

func newSnapshotBuild(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "build FILES...",
		Short: "Compile traces into a snapshot",
		Long: `Compile traces into a snapshot, in one pass. Which tools may be called without
asking the model is what --rules and annotations of definitions declare.

How likely a call is to be right is learnt on parts of the tasks in turn, from at
most 2,000 trajectories. What predictions read of these is kept in memory, up to
256 MiB; everything else is counted.

` + cli.FilesHelp,
		Example: `  awo snapshot build traces/ --rules rules.yaml --out inertia.awo
  awo snapshot build monday/ --half-life 14 --no-counts --out small.awo`,
	}
	f := c.Flags()
	cli.AddInput(f)
	addInertia(f)
	f.String("out", "inertia.awo", "`FILE` to write; one that is there is replaced")
	f.Bool("no-counts", false, "leave out what merging and updating need")
	return cli.Work(a, c, snapshotBuild)
}

func newSnapshotUpdate(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "update SNAPSHOT FILES...",
		Short: "Add traces to a snapshot",
		Long: `Add what traces teach to a snapshot, and replace its file. How likely its calls
are to be right is learnt from predicting the new traces, at most 2,000 trajectories
of them, with what the snapshot knew before.

` + cli.FilesHelp,
		Example: `  awo snapshot update inertia.awo tuesday/
  awo snapshot update inertia.awo tuesday/ --out new.awo`,
	}
	f := c.Flags()
	cli.AddInput(f)
	addInertia(f)
	f.String("out", "", "`FILE` to write instead of the snapshot itself")
	f.Bool("no-counts", false, "leave out what merging and updating need")
	return cli.Work(a, c, snapshotUpdate)
}

func newSnapshotMerge(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "merge SNAPSHOTS...",
		Short: "Merge snapshots by adding their counts",
		Long: `Add the counts of snapshots up: those of shards or days give the counts of the
whole, in any order. Contexts and fading are those of the snapshot with the most
trajectories; how likely calls are to be right is added up too.`,
		Example: "  awo snapshot merge monday.awo tuesday.awo --out week.awo",
	}
	c.Flags().String("out", "inertia.awo", "`FILE` to write; one that is there is replaced")
	return cli.Work(a, c, snapshotMerge)
}

// SnapshotReader reads what snapshots are made of.
type SnapshotReader struct {
	in      *cli.Intake
	effects *effects.Known
	adapter *inertia.Adapter
	each    func(n int, do func(i int)) // runs work on the job's workers
}

// NewSnapshotReader returns a reader that goes by rules, nil for none.
func NewSnapshotReader(set *rules.Set) *SnapshotReader {
	return &SnapshotReader{effects: effects.New(set, false)}
}

// observe reads traces, and yields each and what it teaches, in input order.
func observe(j *cli.Job, o snapshotOptions, files []string, add func(*trace.Trajectory, *inertia.Observation)) (*SnapshotReader, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	set, err := j.Rules(o.Rules)
	if err != nil {
		return nil, err
	}
	r := NewSnapshotReader(set)
	if r.adapter, err = readAdapter(j, o.Adapter); err != nil {
		return nil, err
	}
	if r.in, err = j.Intake(files, o.InputOptions, trace.Options{}); err != nil {
		return nil, err
	}
	r.in.Follows = true
	if err := r.Read(j, r.in.All(), add); err != nil {
		r.in.Close()
		return nil, err
	}
	r.in.Predicts()
	return r, nil
}

// Read does the work of observe for trajectories that are read already.
func (r *SnapshotReader) Read(j *cli.Job, source iter.Seq2[*trace.Trajectory, error], add func(*trace.Trajectory, *inertia.Observation)) error {
	var failed error
	var observer inertia.Observer
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
		o *inertia.Observation
	}
	for x := range par.Map(j.Parallel(), trajectories, func(t *trace.Trajectory) observed {
		return observed{t, observer.Observe(t)}
	}) {
		add(x.t, x.o)
	}
	return failed
}

// options are what calls are calibrated with.
func (r *SnapshotReader) options() inertia.PredictorOptions {
	return inertia.PredictorOptions{Any: true, Each: r.each, Fill: inertia.FillOptions{Adapter: r.adapter}}
}

// Compile makes the model, calibrated on the sample, and its graph; false where the
// lessons cannot be replayed.
func (r *SnapshotReader) Compile(l *inertia.Lessons, o inertia.ModelOptions) (*inertia.Model, *inertia.Graph, bool) {
	for _, g := range l.Trained().Parts() {
		r.effects.Declare(g)
	}
	m, ok := l.Model(o, r.options())
	return m, l.Trained().Graph(-1), ok
}

func snapshotBuild(j *cli.Job, o snapshotOptions, files []string) error {
	if err := o.check(); err != nil {
		return err
	}
	if stored, err := cli.OnlyStored(files); err != nil {
		return err
	} else if len(stored) > 0 {
		return snapshotOfSummaries(j, o, stored)
	}
	lessons := inertia.NewLessons(o.Order, o.Seed)
	r, err := observe(j, o, files, lessons.Add)
	if err != nil {
		return err
	}
	defer r.in.Close()
	m, g, ok := r.Compile(lessons, inertia.ModelOptions{HalfLife: o.HalfLife})
	if !ok {
		panic("prediction: a trajectory of the sample cannot be replayed")
	}
	return writeSnapshot(j, o.Out, m, g, o.NoCounts, r.in)
}

// snapshotOfSummaries builds the snapshot of what `awo summarize --snapshot` counted.
func snapshotOfSummaries(j *cli.Job, o snapshotOptions, files []string) error {
	if o.Adapter != "" {
		return cli.Usagef("--adapter: its rules read values, and a summary holds none")
	}
	set, err := j.Rules(o.Rules)
	if err != nil {
		return err
	}
	sum, err := j.Recounted(files, o.InputOptions, "snapshot", count.SnapshotChoice(o.Order, o.Seed))
	if err != nil {
		return err
	}
	if sum.Lessons() == nil {
		return snapshotCorrupt(files)
	}
	r := &SnapshotReader{effects: effects.FromSums(set, false, sum.Sums), in: j.StoredIntake(sum, len(files)), each: j.Each()}
	m, g, ok := r.Compile(sum.Lessons(), inertia.ModelOptions{HalfLife: o.HalfLife})
	if !ok {
		return snapshotCorrupt(files)
	}
	return writeSnapshot(j, o.Out, m, g, o.NoCounts, r.in)
}

func snapshotCorrupt(files []string) error {
	return diag.New(diag.Pos{File: files[0]}, summary.CodeCorrupt, "the summary contradicts itself in what was learnt")
}

func snapshotUpdate(j *cli.Job, o snapshotOptions, args []string) error {
	if len(args) < 2 {
		return cli.Usagef("`awo snapshot update` wants a snapshot, and traces to add")
	}
	old, m, g, err := openCounts(args[0])
	if err != nil {
		return err
	}
	defer old.Close()
	sample := inertia.NewSample(o.Seed)
	r, err := observe(j, o, args[1:], func(t *trace.Trajectory, x *inertia.Observation) {
		sample.Add(t)
		g.Add(x)
	})
	if err != nil {
		return err
	}
	defer r.in.Close()
	r.effects.Declare(g)
	var examples []inertia.Example
	predictor := inertia.NewPredictor(m, r.options())
	for _, h := range sample.Histories() {
		examples = predictor.Examples(h, examples)
	}
	calibration := m.Calibration().Merge(inertia.Calibrate(examples))
	updated := g.Model(m.Options()).Recalibrated(calibration)
	return writeSnapshot(j, cmp.Or(o.Out, args[0]), updated, g, o.NoCounts, r.in)
}

// mergeOptions are the flags of `awo snapshot merge`.
type mergeOptions struct {
	Out string `mapstructure:"out"`
}

func snapshotMerge(j *cli.Job, o mergeOptions, files []string) error {
	if len(files) == 0 {
		return cli.Usagef("`awo snapshot merge` wants snapshots")
	}
	var sum *inertia.Graph
	var options inertia.ModelOptions
	var most uint64
	var calibration inertia.Calibration
	for _, file := range files {
		s, m, g, err := openCounts(file)
		if err != nil {
			return err
		}
		if sum == nil {
			sum = inertia.NewGraph(g.Order())
		}
		if n := m.Info.Trajectories; n > most || most == 0 || n == most && m.Options().Compare(options) < 0 {
			options, most = m.Options(), n
		}
		calibration = calibration.Merge(m.Calibration())
		if err := sum.Merge(g); err != nil {
			return cli.Usagef("%s: %s", file, err)
		}
		s.Close()
	}
	return writeSnapshot(j, o.Out, sum.Model(options).Recalibrated(calibration), sum, false, nil)
}

// openCounts opens a snapshot with its counts, which do not point into the file.
func openCounts(file string) (*inertia.Snapshot, *inertia.Model, *inertia.Graph, error) {
	s, err := inertia.Open(file)
	if err != nil {
		return nil, nil, nil, err
	}
	if err := s.Verify(); err != nil {
		return nil, nil, nil, err
	}
	m, err := s.Model()
	if err != nil {
		return nil, nil, nil, err
	}
	g, err := s.Graph()
	return s, m, g, err
}

// writeSnapshot writes the file whole or not at all, and prints what it holds.
func writeSnapshot(j *cli.Job, file string, m *inertia.Model, g *inertia.Graph, noCounts bool, in *cli.Intake) error {
	counts := g
	if noCounts {
		counts = nil
	}
	data := m.AppendSnapshot(nil, counts)
	dir, name := filepath.Split(file)
	err := emit.WriteStream(cmp.Or(dir, "."), name, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
	if err != nil {
		return err
	}
	s, err := inertia.Read(file, data)
	if err != nil {
		return err
	}
	return showSnapshot(j, s, int64(len(data)), in)
}
