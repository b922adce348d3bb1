package cmd

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/filter"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// inputOptions choose among the trajectories that are read. Every command that
// reads traces has them.
type inputOptions struct {
	Where  string `mapstructure:"where"`
	Since  string `mapstructure:"since"`
	Until  string `mapstructure:"until"`
	Dedupe bool   `mapstructure:"dedupe"`
	Sample int    `mapstructure:"sample"`
	Seed   uint64 `mapstructure:"seed"`
}

// filesHelp says what FILES may be, for help texts.
const filesHelp = `FILES are trace files, folders (read with all files below), patterns such as
'traces/**/*.jsonl', or - for the standard input; compressed ones are unpacked.`

func addInput(flags *pflag.FlagSet) {
	flags.String("where", "", "read only trajectories for which the `EXPRESSION` holds, such as 'outcome == \"success\" && tool(\"book_*\")' (awo formats --where lists the names)")
	flags.String("since", "", "read only trajectories that began at this `TIME` or later: 2026-03-01, or 2026-03-01T12:00:00Z")
	flags.String("until", "", "read only trajectories that began before this `TIME`")
	flags.Bool("dedupe", false, "of trajectories with the same messages, calls and results read only the first")
	flags.Int("sample", 0, "read only `N` trajectories, chosen by --seed")
	flags.Uint64("seed", 1, "`NUMBER` that all random choices follow from")
}

// filter compiles the options.
func (o inputOptions) filter() (filter.Options, error) {
	out := filter.Options{Dedupe: o.Dedupe, Sample: o.Sample, Seed: o.Seed}
	if o.Sample < 0 {
		return out, usagef("--sample: %d is negative", o.Sample)
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
			return out, usagef("--%s: %s", bound.flag, err)
		}
		*bound.time = at
	}
	return out, nil
}

// intake reads the traces of one command and counts what came in.
type intake struct {
	j      *job
	reader *trace.Reader
	filter filter.Options
	left   filter.Counts
	tally  *trace.Tally

	// needs are the capabilities of traces that the command rests on: what these
	// traces lack of them is said in the summary.
	needs []string

	// facts, if set, collects what All yields, its tally among it.
	facts *trace.Completeness

	// exclude takes calls out of a trajectory before it is counted; it returns
	// false to leave out the whole trajectory. Nil excludes nothing.
	exclude  func(*trace.Trajectory) bool
	excluded int // trajectories that exclude left out

	isRead bool // Source was read once

	keepsOrigins bool
	origins      []emit.Origin // of what All yielded, if they are kept
}

// intake opens files for reading under the options. Close gives up what was
// spooled.
func (j *job) intake(files []string, o inputOptions, reader trace.Options) (*intake, error) {
	if len(files) == 0 {
		return nil, usagef("no traces named: give files, folders, or - for the standard input")
	}
	j.showLines("--where", []byte(o.Where))
	chosen, err := o.filter()
	if err != nil {
		return nil, err
	}
	r, err := j.open(files, reader)
	if err != nil {
		return nil, err
	}
	return &intake{j: j, reader: r, filter: chosen, tally: &trace.Tally{}}, nil
}

// All yields the trajectories that pass, and counts them. An error ends it.
func (in *intake) All() iter.Seq2[*trace.Trajectory, error] {
	return func(yield func(*trace.Trajectory, error) bool) {
		in.begin()
		for t, err := range filter.Apply(in.j.trajectories(in.reader), in.filter, &in.left) {
			if err != nil {
				yield(nil, err)
				return
			}
			if in.exclude != nil && !in.exclude(t) {
				in.excluded++
				continue
			}
			in.count(t)
			if in.keepsOrigins {
				in.origins = append(in.origins, emit.NewOrigin(t))
			}
			if !yield(t, nil) {
				return
			}
		}
	}
}

// Source yields the trajectories that pass, over and over: the first time as All
// does, later without counting anything or telling of a problem again.
func (in *intake) Source() iter.Seq2[*trace.Trajectory, error] {
	if !in.isRead {
		in.isRead = true
		return in.All()
	}
	return func(yield func(*trace.Trajectory, error) bool) {
		for t, err := range filter.Apply(in.j.trajectoriesAgain(in.reader), in.filter, &filter.Counts{}) {
			if err == nil && in.exclude != nil && !in.exclude(t) {
				continue
			}
			if !yield(t, err) || err != nil {
				return
			}
		}
	}
}

// files returns how many files were read as traces.
func (in *intake) files() int {
	n := 0
	for _, f := range in.reader.Counts().Files {
		if f.Format != "" {
			n++
		}
	}
	return n
}

// begin sets the counts to nothing.
func (in *intake) begin() {
	in.tally, in.left, in.excluded, in.origins = &trace.Tally{}, filter.Counts{}, 0, nil
	if in.facts != nil {
		*in.facts = trace.Completeness{}
		in.tally = &in.facts.Tally
	}
}

func (in *intake) count(t *trace.Trajectory) {
	if in.facts != nil {
		in.facts.Add(t)
		return
	}
	in.tally.Add(t)
}

// Close releases what the reader holds.
func (in *intake) Close() error { return in.reader.Close() }

// inputJSON is the block "input" of every result: what came in, after filters
// and exclusions.
type inputJSON struct {
	Files          int           `json:"files"`
	Records        int           `json:"records"`
	Trajectories   int           `json:"trajectories"`
	Empty          int           `json:"empty"`
	Calls          int           `json:"calls"`
	OtherCalls     int           `json:"other_calls"`
	Tools          int           `json:"tools"`
	LLMTurns       report.Figure `json:"llm_turns"`
	CallingTurns   report.Figure `json:"calling_turns"`
	UserMessages   int           `json:"user_messages"`
	CallsAfterUser int           `json:"calls_after_user"`
	WithoutResult  int           `json:"without_result"`
	OrphanResults  int           `json:"orphan_results"`
	LeftOut        leftOutJSON   `json:"left_out"`
	Problems       problemsJSON  `json:"problems"`
	Lacks          []lackJSON    `json:"lacks,omitempty"`
}

// lackJSON is what the traces do not bear of what a command rests on.
type lackJSON struct {
	Capability string  `json:"capability"`
	Share      float64 `json:"share"` // of what it needs that is there
	Of         int     `json:"of"`
	Units      string  `json:"units"`
	Reason     string  `json:"reason"`
}

// enough is the share of what a command needs from which on it is not worth a
// word that some is not there.
const enough = 0.95

// lacks returns which of its needs the traces do not bear, or only in part.
func (in *intake) lacks() []lackJSON {
	var out []lackJSON
	for _, c := range in.tally.Capabilities() {
		if c.Share < enough && slices.Contains(in.needs, c.Name) && in.tally.Calls > 0 {
			out = append(out, lackJSON{c.Name, c.Share, c.Of, c.Units, c.Reason})
		}
	}
	return out
}

// refuse is the error for traces that cannot bear what rules ask for.
func (in *intake) refuse(set *rules.Set) error {
	if set != nil && set.Outcome == rules.OutcomeSuccess && in.tally.Trajectories > 0 && in.tally.OutcomeKnown == 0 {
		return diag.New(diag.Pos{}, "outcome-unknown", "the rules read successful trajectories only, and of these traces (%s) none records its outcome", countOf(in.tally.Trajectories, "trajectory"))
	}
	return nil
}

// leftOutJSON counts the trajectories that were read but not wanted.
type leftOutJSON struct {
	filter.Counts
	Excluded int `json:"excluded,omitempty"`
}

type problemsJSON struct {
	Total  int            `json:"total"`
	ByCode map[string]int `json:"by_code"`
}

// JSON returns the block "input". Call it when All has ended.
func (in *intake) JSON() inputJSON {
	y := in.tally
	counts := in.reader.Counts()
	problems := diag.Counts{ByCode: map[string]int{}}
	for _, c := range []diag.Counts{counts.Problems, y.Problems} {
		for code, n := range c.ByCode {
			problems.AddN(code, n)
		}
	}
	out := inputJSON{
		Files: in.files(), Records: counts.Records, Trajectories: y.Trajectories, Empty: y.Empty,
		Calls: y.Calls, OtherCalls: y.OtherCalls, Tools: y.Tools(), LLMTurns: report.Count(y.LLMTurns), CallingTurns: report.Count(y.CallingTurns),
		UserMessages: y.UserMessages, CallsAfterUser: y.CallsAfterUser, WithoutResult: y.WithoutResult, OrphanResults: y.OrphanResults,
		LeftOut:  leftOutJSON{Counts: in.left, Excluded: in.excluded},
		Problems: problemsJSON{Total: problems.Total, ByCode: problems.ByCode},
		Lacks:    in.lacks(),
	}
	if y.TurnsUnknown > 0 && y.TurnsUnknown == y.Calls {
		const reason = "these traces do not record which model response made a call"
		out.LLMTurns, out.CallingTurns = report.Unknown(reason), report.Unknown(reason)
	}
	return out
}

// Summary says in a few sentences what came in.
func (in *intake) Summary() report.Paragraph {
	y := in.tally
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s", countOf(y.Trajectories, "trajectory"), countOf(in.files(), "file"))
	if y.Empty > 0 {
		fmt.Fprintf(&b, " (%s without a call)", report.Grouped(y.Empty))
	}
	fmt.Fprintf(&b, ": %s of %s", countOf(y.Calls, "call"), countOf(y.Tools(), "tool"))
	switch {
	case y.TurnsUnknown == y.Calls && y.Calls > 0:
		b.WriteString("; model turns are not recorded")
	case y.LLMTurns > 0:
		fmt.Fprintf(&b, ", made in %s of %s", report.Grouped(y.CallingTurns), countOf(y.LLMTurns, "model turn"))
	}
	fmt.Fprintf(&b, "; %s.", countOf(y.UserMessages, "user message"))
	if y.OtherCalls > 0 {
		fmt.Fprintf(&b, " In no sequence, since no model decided on them: %s.", countOf(y.OtherCalls, "call"))
	}
	if y.WithoutResult > 0 || y.OrphanResults > 0 {
		fmt.Fprintf(&b, " %s without a result, %s that answer no call.", countOf(y.WithoutResult, "call"), countOf(y.OrphanResults, "result"))
	}
	if n := in.left.Total() + in.excluded; n > 0 {
		fmt.Fprintf(&b, " %s left out by filters%s.", countOf(n, "trajectory"), untimed(in.left))
	}
	for _, l := range in.lacks() {
		if l.Share == 0 {
			fmt.Fprintf(&b, " For %s: %s.", l.Capability, l.Reason)
			continue
		}
		fmt.Fprintf(&b, " For %s there are %.1f %% of the %s; %s.", l.Capability, 100*l.Share, l.Units, l.Reason)
	}
	return report.Paragraph(b.String())
}

func untimed(left filter.Counts) string {
	if left.Untimed == 0 {
		return ""
	}
	return fmt.Sprintf(", %s of them since no time is recorded", report.Grouped(left.Untimed))
}
