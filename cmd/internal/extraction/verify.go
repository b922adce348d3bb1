package extraction

import (
	"fmt"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/internal/summary"
	"github.com/awo-dev/awo/internal/summary/count"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/arazzo"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/prefetch/learn"
	"github.com/awo-dev/awo/prefetch/stored"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/completeness"
)

// verifyOptions are the flags of `awo verify`.
type verifyOptions struct {
	MinAgreement float64 `mapstructure:"min-agreement"`
	Expand       bool    `mapstructure:"expand"`
}

// NewVerify returns `awo verify`.
func NewVerify(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "verify DIR FILES...",
		Short: "Replay meta-tools and prefetch rules in traces",
		Long: `Run every meta-tool in DIR (or in a file of the kind metatools.arazzo.yaml) at every
place where a trajectory made its calls one by one. Calls answer what they did then; no tool
is called. A replay is exact if every step made the recorded calls with the recorded
arguments. Of prefetch rules it is counted how often they are used.

FILES may all be summaries in which the same meta-tools and rules were counted (awo
summarize --tools), under the same --rules.

The exit code is 1 if a meta-tool is exact at less than --min-agreement of its places, or if
a prefetch rule is used less often than the threshold in its file. What does not
occur is reported, and passes.

` + cli.FilesHelp,
		Example: `  awo verify tools/ traces/
  awo verify tools/ new-traces/ --rules rules.yaml --min-agreement 0.99
  awo verify tools/ traces/ --format json`,
		GroupID: cli.GroupCompile,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 2 {
				return cli.Usagef("`%s` wants the folder of the meta-tools and the traces to replay them in", c.CommandPath())
			}
			return nil
		},
	}
	cli.Uses(c, cli.UseTraces, cli.UseRules)
	f := c.Flags()
	addExpand(f)
	cli.Share(f, "min-agreement", 0.95, false, "fail if a meta-tool is exact at a smaller share of its places")
	return cli.Work(a, c, verify)
}

// verification is what `awo verify` finds.
type verification struct {
	verifyFigures
	tools []verifiedTool
	reads []verifiedRule
}

type verifyFigures struct {
	Input        cli.InputJSON    `json:"input"`
	MinAgreement float64          `json:"min_agreement"`
	Failed       int              `json:"failed"`   // meta-tools below min_agreement
	Prefetch     *prefetchFigures `json:"prefetch"` // null if the folder holds no prefetch rules
}

type verifiedTool struct {
	Name string `json:"name"`
	replay.Verification
	Agreement stat.Estimate `json:"agreement"` // exact of occurrences
	Passed    bool          `json:"passed"`
}

// disagreement is a place where a meta-tool is not exact, one of the first.
type disagreement struct {
	MetaTool   string `json:"meta_tool"`
	Trajectory string `json:"trajectory"`
	File       string `json:"file"`
	Line       int    `json:"line"`
	Call       int    `json:"call"` // from 1
	Step       int    `json:"step"` // from 1
	Code       string `json:"code"`
	Argument   string `json:"argument"`
}

func verify(j *cli.Job, o verifyOptions, args []string) error {
	stored, err := cli.OnlyStored(args[1:])
	if err != nil {
		return err
	}
	v := verifying{dir: args[0]}
	if err := v.read(j); err != nil {
		return err
	}
	if len(stored) > 0 {
		return v.stored(j, o, stored)
	}
	in, err := j.Intake(args[1:], trace.Options{})
	if err != nil {
		return err
	}
	in.Expand = o.Expand
	in.Needs = []string{completeness.CapabilityTurns, completeness.CapabilityDataflow}
	verifier, measure := v.counters()
	type checked struct {
		tools *replay.Checks
		reads *learn.Observation
	}
	for c, err := range par.With(j.Parallel(), marked(in, NewMarker(j.Set)), func(m markedTrajectory) (c checked) {
		c.tools = verifier.Check(m.t, m.marks)
		if measure != nil {
			c.reads = measure.Observe(m.t)
		}
		return c
	}) {
		if err != nil {
			return err
		}
		verifier.Add(c.Is.tools)
		if measure != nil {
			measure.Add(c.Is.reads)
		}
	}
	if err := in.Refuse(j.Set); err != nil {
		return err
	}
	out := verified(in, o, verifier.Verifications())
	out.addReads(v.ahead, measure, j.Seed)
	return out.print(j, out.document(in))
}

// print prints the result and returns what it means.
func (out *verification) print(j *cli.Job, d *report.Document) error {
	if err := j.Result(d); err != nil {
		return err
	}
	switch {
	case out.Failed > 0, out.Prefetch != nil && out.Prefetch.Failed > 0:
		return cli.ErrProblems
	case out.occurrences() == 0 && len(out.tools)+len(out.reads) > 0:
		return diag.New(diag.Pos{}, "nothing-occurs", "no call of a meta-tool or prefetch rule occurs in these traces, so nothing was verified")
	}
	return nil
}

// occurrences is how many places of meta-tools and rules there are in the traces.
func (out *verification) occurrences() (n int) {
	for i := range out.tools {
		n += out.tools[i].Occurrences
	}
	for i := range out.reads {
		n += out.reads[i].Offered
	}
	return n
}

// markedTrajectory is a trajectory with what rules make of its calls.
type markedTrajectory struct {
	t     *trace.Trajectory
	marks []merge.Mark
}

// marked yields what comes in with its marks; an error ends it.
func marked(in *cli.Intake, m Marker) iter.Seq2[markedTrajectory, error] {
	return func(yield func(markedTrajectory, error) bool) {
		for t, err := range in.All() {
			if err != nil {
				yield(markedTrajectory{}, err)
				return
			}
			if !yield(markedTrajectory{t, m.Marks(t)}, nil) {
				return
			}
		}
	}
}

func verified(in *cli.Intake, o verifyOptions, tools []*replay.Verification) *verification {
	out := &verification{verifyFigures: verifyFigures{Input: in.JSON(), MinAgreement: o.MinAgreement}}
	for _, v := range tools {
		t := verifiedTool{Name: v.Tool.Name, Verification: *v, Passed: true}
		t.Agreement = stat.ShareOf(v.Exact, v.Occurrences, "the meta-tool's calls occur nowhere in these traces")
		if share, occurs := t.Agreement.Value(); occurs && share < o.MinAgreement {
			t.Passed = false
			out.Failed++
		}
		out.tools = append(out.tools, t)
	}
	return out
}

// disagreements lists where meta-tools are not exact.
func (out *verification) disagreements() (list []disagreement) {
	for i := range out.tools {
		t := &out.tools[i]
		for _, d := range t.Disagreements {
			list = append(list, disagreement{t.Name, d.Trajectory, d.Source.File, d.Source.Line, d.Call + 1, d.Step + 1, d.Code, d.Argument})
		}
	}
	return list
}

func (out *verification) document(in *cli.Intake) *report.Document {
	d := &report.Document{Title: "Replay of meta-tools", Answer: out.answer(), Figures: out.verifyFigures}
	d.Add(in.Summary(), out.toolsTable(), out.readsTable())
	disagreements := out.disagreements()
	var lines []string
	for _, one := range disagreements {
		what := one.Code
		if one.Argument != "" {
			what = fmt.Sprintf("%s (%s)", one.Code, report.Escape(one.Argument))
		}
		lines = append(lines, fmt.Sprintf("%s:%d: %s, call %d: step %d of %s: %s", one.File, one.Line, report.Escape(one.Trajectory), one.Call, one.Step, one.MetaTool, what))
	}
	d.Details()
	d.Add(report.TableOf("disagreements", "", disagreements, nil).Hidden())
	if len(lines) > 0 {
		d.Section("Disagreements", report.Code{Text: strings.Join(lines, "\n")})
	}
	return d
}

func (out *verification) toolsTable() *report.Table {
	table := report.TableOf("meta_tools", "", out.tools, []report.Column{
		{Key: "name", Max: 42},
		{Key: "occurrences", Title: "places"},
		{Key: "exact"},
		{Key: "agreement", Title: "share", Share: true, Range: "95 %"},
		{Key: "inputs_known", Title: "inputs known"},
		{Key: "turns_saved", Title: "turns alone"},
		{Key: "extra_reads_mean", Title: "extra reads", Digits: 2},
		{Key: "verdict", Cell: report.By(func(t *verifiedTool) report.Cell {
			switch {
			case t.Occurrences == 0:
				return report.Text("does not occur")
			case !t.Passed:
				return report.Text("FAILED")
			}
			return report.Text("passed")
		})},
	})
	table.Note("A place is where a trajectory made the calls one by one, none failed, and one call would have saved a turn; exact means that the replay made the recorded calls. The interval assumes independence and is too narrow.")
	table.Note("Turns alone: those that each meta-tool would have saved without the others, at exact places whose inputs were known before the first call.")
	missing := 0
	for i := range out.tools {
		missing += out.tools[i].NotComparable
	}
	table.NoteIf(missing > 0, "%s more could not be compared, because the recording lacks the result of a call: in no share.", cli.CountOf(missing, "place"))
	return table.IfAny()
}

// answer says how many meta-tools do what was recorded.
func (out *verification) answer() string {
	switch {
	case out.occurrences() == 0 && len(out.tools)+len(out.reads) > 0:
		return "Nothing was verified: no meta-tool and no prefetch rule occurs in these traces."
	case len(out.tools) == 0 && len(out.reads) > 0:
		rules := cli.CountOf(len(out.reads), "rule") + " for prefetch"
		if out.Prefetch.Failed > 0 {
			return fmt.Sprintf("%d of %s FAILED: what they read is used with less than the probability %.3g.", out.Prefetch.Failed, rules, out.Prefetch.Threshold)
		}
		return fmt.Sprintf("None of %s failed; there is no meta-tool to replay.", rules)
	case out.Prefetch != nil && out.Prefetch.Failed > 0:
		return fmt.Sprintf("%d of %s FAILED, and %d of the prefetch rules.", out.Failed, cli.CountOf(len(out.tools), "meta-tool"), out.Prefetch.Failed)
	case len(out.tools) == 0:
		return "There is nothing to verify: neither a meta-tool nor a prefetch rule is offered here."
	case out.Failed > 0:
		return fmt.Sprintf("%d of %s FAILED: exact at less than %.1f %% of the places where agents made their calls.", out.Failed, cli.CountOf(len(out.tools), "meta-tool"), 100*out.MinAgreement)
	}
	if len(out.tools) == 1 {
		return fmt.Sprintf("The meta-tool did not fail: it is exact at %.1f %% or more of the places where agents made its calls.", 100*out.MinAgreement)
	}
	return fmt.Sprintf("None of %s failed: each is exact at %.1f %% or more of the places where agents made its calls.", cli.CountOf(len(out.tools), "meta-tool"), 100*out.MinAgreement)
}

// verifying is what `awo verify` verifies: the artefacts of a folder, or meta-tools alone.
type verifying struct {
	dir                  string
	toolsFile, aheadFile *count.Artefact // nil where there is none
	tools                []*metatool.Tool
	ahead                *stored.File // nil where there is none
}

func (v *verifying) read(j *cli.Job) (err error) {
	if v.toolsFile, v.aheadFile, err = Counted(j, v.dir); err != nil {
		if m, made := readManifest(v.dir); made && !m.makes(arazzo.File) {
			return nil // nothing is offered
		}
		return err
	}
	if v.aheadFile != nil {
		if v.ahead, err = stored.Decode(v.aheadFile.File, []byte(v.aheadFile.Text)); err != nil {
			return err
		}
	}
	if v.toolsFile != nil {
		v.tools, err = arazzo.Parse(v.toolsFile.File, []byte(v.toolsFile.Text))
	}
	return err
}

// counters return what counts of traces; no measure where there are no rules.
func (v *verifying) counters() (*replay.Verifier, *learn.Measure) {
	verifier := replay.NewVerifier(v.tools)
	if v.ahead == nil {
		return verifier, nil
	}
	return verifier, learn.NewMeasure(&v.ahead.Set)
}

// stored is `awo verify` of summaries in which the same artefacts were counted.
func (v *verifying) stored(j *cli.Job, o verifyOptions, files []string) error {
	if v.toolsFile == nil && v.aheadFile == nil {
		return cli.Usagef("%s offers neither meta-tools nor prefetch rules, so that no summary counts them", v.dir)
	}
	option, value := "tools", ""
	if v.toolsFile != nil {
		value = v.toolsFile.Choice()
	} else {
		option, value = count.PrefetchChoice, v.aheadFile.Choice()
	}
	sum, err := j.Recounted(files, option, value)
	if err != nil {
		return err
	}
	why := "" // rules are not verified
	verifier, measure := v.counters()
	switch was := sum.Choice(count.PrefetchChoice); {
	case measure == nil:
	case was == "":
		measure = nil
		why = "these summaries were counted without the prefetch rules: `awo summarize --tools " + v.dir + "` counts them"
	case was != v.aheadFile.Choice():
		return cli.Usagef("%s: the summary was counted with other prefetch rules (%s) than these (%s)", files[0], was, v.aheadFile.Choice())
	}
	if !verifier.Restore(sum.Sum, sum.Sums) {
		return diag.New(diag.Pos{File: files[0]}, summary.CodeCorrupt, "the counts of meta-tools contradict each other")
	}
	if measure != nil && !measure.Restore(sum.Sum, sum.TaskSums) {
		return diag.New(diag.Pos{File: files[0]}, summary.CodeCorrupt, "the counts of prefetch rules contradict each other")
	}
	in := j.StoredIntake(sum, len(files))
	in.Needs = []string{completeness.CapabilityTurns, completeness.CapabilityDataflow}
	out := verified(in, o, verifier.Verifications())
	if measure != nil {
		out.addReads(v.ahead, measure, j.Seed)
	}
	d := out.document(in)
	d.Note("figures.prefetch", why)
	if measure != nil {
		d.Note("tables.prefetch", "summaries have tasks in another order than traces, so that other ones are drawn: bounds of use differ from those of the traces as with another --seed")
	}
	if len(v.tools) > 0 {
		d.Note("tables.disagreements", "summaries hold how many disagreements there are, and not where: `awo verify` of the traces names the first ones")
	}
	if n := in.Tally.OtherCalls; o.Expand && n > 0 {
		d.Note("tables.meta_tools", fmt.Sprintf("--expand: summaries count calls as they are recorded; of %s that no model decided on, those of steps of meta-tools were not replayed as calls made one by one", cli.CountOf(n, "call")))
	}
	return out.print(j, d)
}
