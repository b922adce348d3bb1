package cli

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/dataflow"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/filter"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/shell"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/completeness"
	"github.com/awo-dev/awo/trace/copies"
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

// AddInput defines the flags of InputOptions.
func AddInput(flags *pflag.FlagSet) {
	flags.String("where", "", "read only trajectories for which the `EXPRESSION` holds, such as 'outcome == \"success\" && tool(\"book_*\")' (awo formats --where lists the names)")
	flags.String("since", "", "read only trajectories that began at this `TIME` or later: 2026-03-01, or 2026-03-01T12:00:00Z")
	flags.String("until", "", "read only trajectories that began before this `TIME`")
	flags.Bool("dedupe", false, "of trajectories with the same messages, calls and results read only the first")
	flags.Int("sample", 0, "read only `N` trajectories, chosen by --seed")
	flags.Uint64("seed", 1, "`NUMBER` that all random choices follow from")
	flags.Duration("turn-gap", formats.DefaultTurnGap, "where turns are not recorded (format mcp), a call that begins this `TIME` after the one before ended is of another turn")
}

// filter compiles the options.
func (o InputOptions) filter() (filter.Options, error) {
	out := filter.Options{Dedupe: o.Dedupe, Sample: o.Sample, Seed: o.Seed}
	switch {
	case o.Sample < 0:
		return out, Usagef("--sample: %d is negative", o.Sample)
	case o.TurnGap < 0:
		return out, Usagef("--turn-gap: %v is negative", o.TurnGap)
	}
	if o.Where != "" {
		where, err := filter.Compile(o.Where)
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
	known    knownStatuses // of what was read, if it can be read again

	isSpooled bool // the traces can be read several times

	stored *Stored // in place of Reader, where counts stand in for traces

	isRead bool // Source was read once

	// Digest, if set, keeps what All yields for later readings; see trace.Digest. It is of
	// use to those who read dozens of times.
	Digest *trace.Digest
	// Recalls lets what is yielded remember its flow and the values of its calls, for commands
	// in which several ask for the same; see trace.Trajectory.Recall. They are worked out in
	// the first reading, and known to later ones, which find copies of what was read then.
	Recalls   bool
	copies    *copies.Set      // nil where later readings read the traces again
	flows     *dataflow.Digest // nil where nothing is known to later readings
	collector dataflow.Collector
	isKept    bool // all of it was offered to Digest

	// Follows says that values are followed from call to call, for which a trajectory has
	// at most bounds.Calls calls; the rest of a longer one is left out.
	Follows bool

	KeepsOrigins bool          // set it before All
	Origins      []emit.Origin // of what All yielded, if they are kept
}

// Intake opens files for reading under the options. Close gives up what was
// spooled.
func (j *Job) Intake(files []string, o InputOptions, reader trace.Options) (*Intake, error) {
	if len(files) == 0 {
		return nil, Usagef("no traces named: give files, folders, or - for the standard input")
	}
	if stored, _ := SplitStored(files); len(stored) > 0 {
		return nil, Usagef("%s is a summary, and this wants the traces themselves; `awo analyze`, `awo cost`, `awo graph` and `awo verify` read summaries in place of traces", stored[0])
	}
	j.ShowLines("--where", []byte(o.Where))
	chosen, err := o.filter()
	if err != nil {
		return nil, err
	}
	reader.Formats = formats.WithTurnGap(o.TurnGap)
	r, err := j.Open(files, reader)
	if err != nil {
		return nil, err
	}
	return &Intake{j: j, Reader: r, filter: chosen, Tally: &completeness.Tally{}, Statuses: merge.NewStatuses(j.rules), isSpooled: reader.Spool}, nil
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
		for t, err := range in.Findings.look(in.j.Parallel(), in.keeping(in.chosen())) {
			if err != nil {
				yield(nil, err)
				return
			}
			in.count(t)
			if in.KeepsOrigins {
				in.Origins = append(in.Origins, emit.Origin{ID: t.ID, File: t.Source.File, Line: t.Source.Line})
			}
			if !yield(t, nil) {
				return
			}
			in.Findings.add(t)
		}
		in.isKept = in.Digest != nil
		if !in.SaysTools && in.IsWhole() {
			in.j.doubtTools(in.Tally)
		}
		if !in.SaysDoubts {
			in.j.Problems.doubts = in.Tally.Doubts()
		}
	}
}

// IsWhole reports whether nothing of what was read was left out, so that a tool without
// a call has none.
func (in *Intake) IsWhole() bool { return in.left.Total()+in.excluded == 0 }

// chosen yields the trajectories that pass and are not excluded.
func (in *Intake) chosen() iter.Seq2[*trace.Trajectory, error] {
	return func(yield func(*trace.Trajectory, error) bool) {
		for t, err := range filter.Apply(in.read(in.j.Trajectories(in.Reader)), in.filter, &in.left) {
			if err == nil && in.leaves(t) {
				in.excluded++
				continue
			}
			if !yield(t, err) || err != nil {
				return
			}
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

// DigestRoom is how many bytes of memory a command that reads its traces many times may
// take to keep what it has read.
const DigestRoom = 64 << 20

// read gives the calls of trajectories the statuses that their results tell, which it looks
// for in the first reading to the end, and lets those who work on them note which bounds
// they reach.
func (in *Intake) read(from iter.Seq2[*trace.Trajectory, error]) iter.Seq2[*trace.Trajectory, error] {
	if in.Expand {
		from = in.expand(from)
	}
	return func(yield func(*trace.Trajectory, error) bool) {
		as := readAs{in.Statuses, in.Expand, in.Follows}
		known, first := in.known.isWhole && in.known.as == as, 0
		noted := in.isSpooled && !known // for another reading
		if noted {
			in.known.begin(as)
		}
		for t, err := range from {
			if t != nil {
				if in.Follows {
					t.Cut(bounds.Calls)
				}
				if !known || !in.known.give(t, first) {
					in.readStatuses(t)
				}
				first += len(t.Calls)
				if noted {
					in.known.note(t)
				}
				t.Reached = &in.j.Bounds
				for _, b := range t.Bounded {
					t.NoteBound(b.Bound, b.Count)
				}
			}
			if !yield(t, err) {
				return
			}
		}
		if noted {
			in.known.end()
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
	in.Tally, in.left, in.excluded, in.Origins = &completeness.Tally{}, filter.Counts{}, 0, nil
	in.Findings.begin()
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

// Close releases what the reader holds.
func (in *Intake) Close() error {
	if in.Reader == nil {
		return nil
	}
	in.forget()
	return in.Reader.Close()
}

// InputJSON is the block "input" of every result: what came in, after filters
// and exclusions.
type InputJSON struct {
	Files          int          `json:"files"`
	Records        int          `json:"records"`
	Trajectories   int          `json:"trajectories"`
	Empty          int          `json:"empty"`
	Calls          int          `json:"calls"`
	OtherCalls     int          `json:"other_calls"`
	Tools          int          `json:"tools"`
	LLMTurns       stat.Figure  `json:"llm_turns"`
	CallingTurns   stat.Figure  `json:"calling_turns"`
	UserMessages   int          `json:"user_messages"`
	CallsAfterUser int          `json:"calls_after_user"`
	WithoutResult  int          `json:"without_result"`
	Expanded       int          `json:"expanded,omitempty"`      // calls of meta-tools that were read as their steps
	TurnsAssumed   int          `json:"turns_assumed,omitempty"` // of llm_turns: by the time between calls
	OrphanResults  int          `json:"orphan_results"`
	LeftOut        LeftOutJSON  `json:"left_out"`
	Problems       ProblemsJSON `json:"problems"`
	Lacks          []LackJSON   `json:"lacks,omitempty"`

	// Bounded says which bounds were reached, and what was left out beyond them.
	Bounded []bounds.Report `json:"bounded,omitempty"`

	// StatusFrom says what failed calls were known by where the format has no flag.
	StatusFrom []completeness.StatusReading `json:"status_from,omitempty"`
}

// LackJSON is what the traces do not support of what a command rests on.
type LackJSON struct {
	Capability string  `json:"capability"`
	Share      float64 `json:"share"` // of what it needs that is there
	Of         int     `json:"of"`
	Units      string  `json:"units"`
	Reason     string  `json:"reason"`
}

// enough is the share of what a command needs from which on it is not worth a
// word that some is not there.
const enough = 0.95

// lacks returns which of its needs the traces do not support, or only in part.
func (in *Intake) lacks() []LackJSON {
	var out []LackJSON
	for _, c := range in.Tally.Capabilities() {
		if c.Share < enough && slices.Contains(in.Needs, c.Name) && in.Tally.Calls > 0 {
			out = append(out, LackJSON{c.Name, c.Share, c.Of, c.Units, c.Reason})
		}
	}
	return out
}

// Refuse is the error for traces that do not support what rules ask for.
func (in *Intake) Refuse(set *rules.Set) error {
	if set != nil && set.Outcome == rules.OutcomeSuccess && in.Tally.Trajectories > 0 && in.Tally.OutcomeKnown == 0 {
		return diag.New(diag.Pos{}, "outcome-unknown", "the rules read successful trajectories only, and of these traces (%s) none records its outcome", CountOf(in.Tally.Trajectories, "trajectory"))
	}
	return nil
}

// LeftOutJSON counts the trajectories that were read but not wanted.
type LeftOutJSON struct {
	filter.Counts
	Excluded int `json:"excluded,omitempty"`
}

// ProblemsJSON counts problems, by their code.
type ProblemsJSON struct {
	Total  int            `json:"total"`
	ByCode map[string]int `json:"by_code"`
}

// JSON returns the block "input". Call it when All has ended.
func (in *Intake) JSON() InputJSON {
	y := in.Tally
	var counts trace.Counts
	if in.stored != nil {
		counts = trace.Counts{Records: in.stored.Records, Problems: in.stored.Problems}
	} else {
		counts = in.Reader.Counts()
	}
	problems := diag.Counts{ByCode: map[string]int{}}
	for _, c := range []diag.Counts{counts.Problems, y.Problems} {
		for code, n := range c.ByCode {
			problems.AddN(code, n)
		}
	}
	out := InputJSON{
		Files: in.files(), Records: counts.Records, Trajectories: y.Trajectories, Empty: y.Empty,
		Calls: y.Calls, OtherCalls: y.OtherCalls, Tools: y.Tools(), LLMTurns: stat.Count(y.LLMTurns), CallingTurns: stat.Count(y.CallingTurns),
		UserMessages: y.UserMessages, CallsAfterUser: y.CallsAfterUser, WithoutResult: y.WithoutResult, OrphanResults: y.OrphanResults, TurnsAssumed: y.TurnsAssumed, Expanded: in.expanded,
		LeftOut:  LeftOutJSON{Counts: in.left, Excluded: in.excluded},
		Problems: ProblemsJSON{Total: problems.Total, ByCode: problems.ByCode},
		Lacks:    in.lacks(), Bounded: in.bounded(), StatusFrom: y.StatusReadings(),
	}
	if y.TurnsUnknown > 0 && y.TurnsUnknown == y.Calls {
		const reason = "these traces do not record which model response made a call"
		out.LLMTurns, out.CallingTurns = stat.Unknown(reason), stat.Unknown(reason)
	}
	return out
}

// Brief says in a sentence what came in.
func (in *Intake) Brief() report.Short {
	y := in.Tally
	text := fmt.Sprintf("Read: %s with %s of %s", CountOf(y.Trajectories, "trajectory"), CountOf(y.Calls, "call"), CountOf(y.Tools(), "tool"))
	if y.LLMTurns > 0 {
		text += fmt.Sprintf(" in %s", CountOf(y.LLMTurns, "model turn"))
	}
	if n := in.left.Total() + in.excluded; n > 0 {
		text += fmt.Sprintf("; %s left out by filters", CountOf(n, "trajectory"))
	}
	text += "."
	if by := y.StatusReadings(); len(by) > 0 && by[0].By != trace.ByRule {
		n := 0
		for _, r := range by {
			n += r.Calls
		}
		text += fmt.Sprintf(" No flag and no rule says which calls failed; by their results %s did.", report.Grouped(n))
	}
	for _, l := range in.lacks() {
		text += fmt.Sprintf(" For %s: %s.", l.Capability, l.Reason)
	}
	return report.Short(text)
}

// Summary says in a few sentences what came in.
func (in *Intake) Summary() report.Paragraph {
	y := in.Tally
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s", CountOf(y.Trajectories, "trajectory"), CountOf(in.files(), "file"))
	if y.Empty > 0 {
		fmt.Fprintf(&b, " (%s without a call)", report.Grouped(y.Empty))
	}
	fmt.Fprintf(&b, ": %s of %s", CountOf(y.Calls, "call"), CountOf(y.Tools(), "tool"))
	switch {
	case y.TurnsUnknown == y.Calls && y.Calls > 0:
		b.WriteString("; model turns are not recorded")
	case y.LLMTurns > 0:
		fmt.Fprintf(&b, ", made in %s of %s", report.Grouped(y.CallingTurns), CountOf(y.LLMTurns, "model turn"))
		if y.TurnsAssumed > 0 {
			fmt.Fprintf(&b, " (%s assumed from the time between calls)", report.Grouped(y.TurnsAssumed))
		}
	}
	fmt.Fprintf(&b, "; %s.", CountOf(y.UserMessages, "user message"))
	if y.OtherCalls > 0 {
		fmt.Fprintf(&b, " Not part of any sequence, because no model decided on them: %s.", CountOf(y.OtherCalls, "call"))
	}
	if in.expanded > 0 {
		fmt.Fprintf(&b, " Of meta-tools, and read as their steps made one by one: %s.", CountOf(in.expanded, "call"))
	}
	if y.WithoutResult > 0 || y.OrphanResults > 0 {
		fmt.Fprintf(&b, " %s without a result, %s that answer no call.", CountOf(y.WithoutResult, "call"), CountOf(y.OrphanResults, "result"))
	}
	if n := in.left.Total() + in.excluded; n > 0 {
		fmt.Fprintf(&b, " %s left out by filters%s.", CountOf(n, "trajectory"), untimed(in.left))
	}
	if by := y.StatusReadings(); len(by) > 0 {
		n, names := 0, make([]string, len(by))
		for i, r := range by {
			n += r.Calls
			names[i] = fmt.Sprintf("%s %s", readingName(r.By), report.Grouped(r.Calls))
		}
		fmt.Fprintf(&b, " Failed by what %s returned, not by a flag: %s%s.", CountOf(n, "call"), strings.Join(names, ", "), in.unruled(by))
	}
	for _, l := range in.lacks() {
		if l.Share == 0 {
			fmt.Fprintf(&b, " For %s: %s.", l.Capability, l.Reason)
			continue
		}
		fmt.Fprintf(&b, " For %s there are %.1f %% of the %s; %s.", l.Capability, 100*l.Share, l.Units, l.Reason)
	}
	b.WriteString(bounded(in.bounded()))
	if in.stored != nil && in.stored.Summaries > 0 {
		fmt.Fprintf(&b, " Counted before, and read from %s.", CountOf(in.stored.Summaries, "summary"))
	}
	return report.Paragraph(b.String())
}

// bounded says which bounds were reached.
func bounded(reached []bounds.Report) string {
	var b strings.Builder
	for _, r := range reached {
		fmt.Fprintf(&b, " Bounded (%s): at most %s %s are looked at; %s %s were left out.", r.Code, report.Grouped(r.Limit), r.Of, report.Grouped(r.LeftOut), r.Unit)
	}
	return b.String()
}

// unruled says, where failures were read by built-in patterns only, how to write rules.
func (in *Intake) unruled(by []completeness.StatusReading) string {
	for _, r := range by {
		if r.By == trace.ByRule {
			return ""
		}
	}
	return "; `awo rules suggest` drafts rules for them"
}

// readingName is the name of what a status was read by.
func readingName(by string) string {
	if by == trace.ByRule {
		return "rules"
	}
	return by
}

func untimed(left filter.Counts) string {
	if left.Untimed == 0 {
		return ""
	}
	return fmt.Sprintf(", %s of them because no time is recorded", report.Grouped(left.Untimed))
}
