package cli

import (
	"fmt"
	"iter"
	"time"

	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/filter"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/shell"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/completeness"
	"github.com/awo-dev/awo/trace/formats"
)

// InputOptions choose among the trajectories that are read. Every command that
// reads traces has them.
type InputOptions struct {
	Where  string `mapstructure:"where"`
	Since  string `mapstructure:"since"`
	Until  string `mapstructure:"until"`
	Dedupe bool   `mapstructure:"dedupe"`
	Sample int    `mapstructure:"sample"`
	Seed   uint64 `mapstructure:"seed"`

	TurnGap time.Duration `mapstructure:"turn-gap"`
}

// FilesHelp says what FILES may be, for help texts.
const FilesHelp = `FILES are trace files, folders (read with all files below), patterns such as
'traces/**/*.jsonl', or - for the standard input; compressed ones are unpacked.`

// addInput defines the flags of InputOptions.
func addInput(flags *pflag.FlagSet) {
	flags.String("where", "", "read only trajectories for which the `EXPRESSION` holds, such as 'outcome == \"success\" && tool(\"book_*\")' (awo formats --where lists the names)")
	flags.String("since", "", "read only trajectories that began at this `TIME` or later: 2026-03-01, or 2026-03-01T12:00:00Z")
	flags.String("until", "", "read only trajectories that began before this `TIME`")
	flags.Bool("dedupe", false, "of trajectories with the same messages, calls and results read only the first")
	Count(flags, "sample", 0, 0, "read only `N` trajectories, chosen by --seed")
	flags.Uint64("seed", 1, "`NUMBER` that all random choices follow from")
	flags.Duration("turn-gap", formats.DefaultTurnGap, "where turns are not recorded (format mcp), a call that begins this `TIME` after the one before ended is of another turn")
}

// LastDays sets Since to days before Until, or before now without one; 0 leaves it as it is.
func (o *InputOptions) LastDays(days int, now time.Time) error {
	if days == 0 {
		return nil
	}
	if o.Since != "" {
		return Usagef("--days and --since contradict each other")
	}
	if o.Until != "" {
		until, err := filter.ParseTime(o.Until)
		if err != nil {
			return Usagef("--until: %s", err)
		}
		now = until
	}
	o.Since = now.AddDate(0, 0, -days).UTC().Format(time.RFC3339)
	return nil
}

// Filter compiles the options.
func (o InputOptions) Filter() (filter.Options, error) {
	out := filter.Options{Dedupe: o.Dedupe, Sample: o.Sample, Seed: o.Seed}
	if o.TurnGap < 0 {
		return out, Usagef("--turn-gap: %v is negative", o.TurnGap)
	}
	if o.Where != "" {
		where, err := filter.Compile("--where", o.Where)
		if err != nil {
			return out, err
		}
		out.Where = where
	}
	for _, bound := range []struct {
		flag, text string
		time       *time.Time
	}{{"since", o.Since, &out.Since}, {"until", o.Until, &out.Until}} {
		if bound.text == "" {
			continue
		}
		at, err := filter.ParseTime(bound.text)
		if err != nil {
			return out, Usagef("--%s: %s", bound.flag, err)
		}
		*bound.time = at
	}
	return out, nil
}

// Intake reads the traces of one command and counts what came in.
type Intake struct {
	j      *Job
	Reader *trace.Reader
	filter filter.Options
	left   filter.Counts
	Tally  *completeness.Tally

	// Needs are the capabilities of traces that the command rests on: what these
	// traces lack of them is said in the summary.
	Needs []string

	// SaysDoubts says that the result itself tells whether the counts are to be
	// trusted, so that the errors need not.
	SaysDoubts bool
	// SaysTools says that the command itself warns of rules that misspell a tool.
	SaysTools bool

	// Facts, if set, collects what All yields, its tally among it.
	Facts *completeness.Facts

	// Findings, if set, collects what is wrong in what All yields.
	Findings *Findings

	// Expand reads the calls of meta-tools as if the model had made their steps one by one.
	Expand   bool
	expanded int // calls of meta-tools

	// Shell tells calls of a shell apart by what they run; nil leaves them as one tool.
	Shell *shell.Splitter

	// Exclude takes calls out of a trajectory before it is counted; it returns
	// false to leave out the whole trajectory. Nil excludes nothing.
	Exclude  func(*trace.Trajectory) bool
	excluded int // trajectories that exclude left out

	// Statuses reads from results how calls ended; nil leaves what is recorded.
	Statuses *merge.Statuses

	stored *Stored    // in place of Reader, where counts stand in for traces
	mined  *MinedJSON // what is mined, where that is not all

	// Follows says that values are followed from call to call, for which a trajectory has
	// at most bounds.Calls calls; the rest of a longer one is left out.
	Follows bool
}

// Intake opens files for reading under the settings.
func (j *Job) Intake(files []string, reader trace.Options) (*Intake, error) {
	return j.IntakeOf(files, j.InputOptions, reader)
}

// IntakeOf is Intake under other options.
func (j *Job) IntakeOf(files []string, o InputOptions, reader trace.Options) (*Intake, error) {
	if len(files) == 0 {
		return nil, Usagef("no traces named: give files, folders, or - for the standard input")
	}
	if stored, _ := SplitStored(files); len(stored) > 0 {
		return nil, Usagef("%s is a summary, and this wants the traces themselves; `awo analyze`, `awo cost`, `awo graph` and `awo verify` read summaries in place of traces", stored[0])
	}
	j.ShowLines("--where", []byte(o.Where))
	chosen, err := o.Filter()
	if err != nil {
		return nil, err
	}
	reader.Formats = formats.WithTurnGap(o.TurnGap)
	r, err := j.Open(files, reader)
	if err != nil {
		return nil, err
	}
	return &Intake{j: j, Reader: r, filter: chosen, Tally: &completeness.Tally{}, Statuses: merge.NewStatuses(j.rules)}, nil
}

// Stored is what was read of traces that were counted before.
type Stored struct {
	Summaries      int // files that hold the counts
	Files, Records int
	Problems       diag.Counts // of reading
	Left           filter.Counts
	Excluded       int
	Expanded       int
	Bounded        []bounds.Report
	Facts          *completeness.Facts
}

// Stored returns what was read when All has ended, but for Facts and Summaries.
func (in *Intake) Stored() Stored {
	counts := in.Reader.Counts()
	return Stored{
		Files: in.files(), Records: counts.Records, Problems: counts.Problems, Left: in.left,
		Excluded: in.excluded, Expanded: in.expanded, Bounded: in.j.Bounds.Reports(),
	}
}

// storedIntake returns the intake of counts that were made before.
func (j *Job) storedIntake(s Stored) *Intake {
	in := &Intake{j: j, stored: &s, Facts: s.Facts, Tally: &s.Facts.Tally, left: s.Left, excluded: s.Excluded, expanded: s.Expanded}
	j.Problems.doubts = in.Tally.Doubts()
	return in
}

// KeptIntake returns an intake that read nothing, for what is known without reading.
func (j *Job) KeptIntake() *Intake {
	return j.storedIntake(Stored{Facts: &completeness.Facts{}})
}

// ReadsAsUsual reports whether no setting changes what is read of a file.
func (j *Job) ReadsAsUsual() bool {
	return j.Map == "" && j.InputFormat == "" && !j.Strict && int(j.MaxRecord) == trace.DefaultMaxRecord && j.TurnGap == formats.DefaultTurnGap
}

// Summaries returns how many files with counts were read in place of traces.
func (in *Intake) Summaries() int {
	if in.stored == nil {
		return 0
	}
	return in.stored.Summaries
}

// bounded returns the bounds that were reached.
func (in *Intake) bounded() []bounds.Report {
	if in.stored != nil {
		return in.stored.Bounded
	}
	return in.j.Bounds.Reports()
}

// All yields the trajectories that pass, and counts them. An error ends it.
func (in *Intake) All() iter.Seq2[*trace.Trajectory, error] {
	return func(yield func(*trace.Trajectory, error) bool) {
		in.begin()
		for t, err := range in.Findings.Watch(in.j.Parallel(), in.chosen()) {
			if err != nil {
				yield(nil, err)
				return
			}
			in.count(t)
			if !yield(t, nil) {
				return
			}
		}
		if !in.SaysTools && in.IsWhole() {
			in.j.doubtTools(in.Tally)
		}
		if !in.SaysDoubts {
			in.j.Problems.doubts = in.Tally.Doubts()
		}
	}
}

// Each hands to each of the functions what All yields.
func (in *Intake) Each(do ...func(*trace.Trajectory)) error {
	for t, err := range in.All() {
		if err != nil {
			return err
		}
		for _, f := range do {
			f(t)
		}
	}
	return nil
}

// IsWhole reports whether nothing of what was read was left out, so that a tool without
// a call has none.
func (in *Intake) IsWhole() bool { return in.left.Total()+in.excluded == 0 }

// chosen yields the trajectories that pass and are not excluded.
func (in *Intake) chosen() iter.Seq2[*trace.Trajectory, error] {
	return func(yield func(*trace.Trajectory, error) bool) {
		some := false
		for t, err := range filter.Apply(in.read(in.j.Trajectories(in.Reader)), in.filter, &in.left) {
			if err == nil && in.leaves(t) {
				in.excluded++
				continue
			}
			some = true
			if !yield(t, err) || err != nil {
				return
			}
		}
		if !some && !in.IsWhole() {
			yield(nil, diag.New(diag.Pos{}, CodeNoTrajectories, "the filters leave out every trajectory that was given"))
		}
	}
}

// leaves reports whether a trajectory is left out, once its calls have the names and
// are those that the command asks for.
func (in *Intake) leaves(t *trace.Trajectory) bool {
	if in.Shell != nil {
		in.Shell.Split(t)
	}
	return in.Exclude != nil && !in.Exclude(t)
}

// read gives the calls of trajectories the statuses that their results tell, and lets those
// who work on them note which bounds they reach.
func (in *Intake) read(from iter.Seq2[*trace.Trajectory, error]) iter.Seq2[*trace.Trajectory, error] {
	if in.Expand {
		from = in.expand(from)
	}
	return func(yield func(*trace.Trajectory, error) bool) {
		for t, err := range from {
			if t != nil {
				if in.Follows {
					t.Cut(bounds.Calls)
				}
				in.readStatuses(t)
				t.Reached = &in.j.Bounds
				for _, b := range t.Bounded {
					t.NoteBound(b.Bound, b.Count)
				}
			}
			if !yield(t, err) {
				return
			}
		}
	}
}

// readStatuses gives the calls of t the statuses that their results tell.
func (in *Intake) readStatuses(t *trace.Trajectory) {
	if in.Statuses != nil {
		in.Statuses.Read(t)
	}
}

// Predicts notes, once all was read, whether a model of the next call leaves out tools.
func (in *Intake) Predicts() {
	in.j.Bounds.Note(bounds.ToolsBound, "", in.Tally.Tools()-bounds.Tools)
}

// expand unfolds the calls of meta-tools.
func (in *Intake) expand(from iter.Seq2[*trace.Trajectory, error]) iter.Seq2[*trace.Trajectory, error] {
	return func(yield func(*trace.Trajectory, error) bool) {
		in.expanded = 0
		for t, err := range from {
			if t != nil {
				in.expanded += t.Expand()
			}
			if !yield(t, err) {
				return
			}
		}
	}
}

// files returns how many files were read as traces.
func (in *Intake) files() int {
	if in.stored != nil {
		return in.stored.Files
	}
	n := 0
	for _, f := range in.Reader.Counts().Files {
		if f.Format != "" {
			n++
		}
	}
	return n
}

// begin sets the counts to nothing.
func (in *Intake) begin() {
	in.Tally, in.left, in.excluded = &completeness.Tally{}, filter.Counts{}, 0
	if in.Facts != nil {
		*in.Facts = completeness.Facts{}
		in.Tally = &in.Facts.Tally
	}
}

func (in *Intake) count(t *trace.Trajectory) {
	if in.Facts != nil {
		in.Facts.Add(t)
		return
	}
	in.Tally.Add(t)
}

// Load reads the traces as All does, and keeps those that are mined under the rules, which may
// be nil.
func (in *Intake) Load(set *rules.Set) (*corpus.Corpus, error) {
	c, err := corpus.Load(in.All(), in.Mining(set))
	if err != nil {
		return nil, err
	}
	in.Mined(c)
	return c, nil
}

// Mining are the options of what is kept to be mined.
func (in *Intake) Mining(set *rules.Set) corpus.Options {
	return corpus.Options{Rules: set, Most: max(in.filter.Sample, corpus.DefaultMost), Workers: in.j.Parallel()}
}

// Mined notes what is mined of what was read.
func (in *Intake) Mined(c *corpus.Corpus) {
	if in.mined = nil; !c.IsWhole() {
		in.mined = &MinedJSON{len(c.Runs), c.Trajectories, c.Kept, c.Tasks}
	}
}

// MinedJSON says what a result was mined from where that is not all that was read.
type MinedJSON struct {
	Trajectories   int `json:"trajectories"`
	OfTrajectories int `json:"of_trajectories"`
	Tasks          int `json:"tasks"`
	OfTasks        int `json:"of_tasks"`
}

// minedWords says it in a sentence, "" for all.
func (in *Intake) minedWords() string {
	m := in.mined
	if m == nil {
		return ""
	}
	return fmt.Sprintf(" Mined from %s of %s (%s of %s).", report.Grouped(m.Trajectories), CountOf(m.OfTrajectories, "trajectory"), report.Grouped(m.Tasks), CountOf(m.OfTasks, "task"))
}

// Again yields the trajectories that pass, once more and before calls are left out of them,
// without counting anything or telling of a problem again.
func (in *Intake) Again() iter.Seq2[*trace.Trajectory, error] {
	return func(yield func(*trace.Trajectory, error) bool) {
		for t, err := range filter.Apply(in.read(in.j.trajectoriesAgain(in.Reader)), in.filter, &filter.Counts{}) {
			if err == nil && in.Shell != nil {
				in.Shell.Split(t)
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}
