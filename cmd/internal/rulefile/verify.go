package rulefile

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/entropy"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/merge/evidence"
	"github.com/awo-dev/awo/trace"
)

// verifyOptions are the flags of `awo rules verify`.
type verifyOptions struct {
	MaxContradictions float64 `mapstructure:"max-contradictions"`
	MinTested         float64 `mapstructure:"min-tested"`
	StrictTested      bool    `mapstructure:"strict-tested"`
}

func newVerify(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "verify RULES TRACES...",
		Short: "Ask traces whether they contradict rules, and fail if they do",
		Long: `Hold rules against traces. Histories that the rules make one state claim to be
alike, so the same read has to return the same after each of them; where it does
not, a rule is wrong. The table shows for every rule how many states it joins,
in what share of them anything was checked, and how often its checks failed.

A rule is "contradicted" if more than --max-contradictions of its checks failed,
"untested" if in less than --min-tested of the states that it joins anything was
checked, and otherwise "ok". The exit code is 1 if a rule is contradicted, and with
--strict-tested also if one is untested: traces that cannot tell are no proof.
Rules that match no call are warnings, with the name that may have been meant.

Beside it stands what the next call costs to predict from the state, on tasks not
seen: rules that merge too much make it rise.

RULES is a rule file. ` + cli.FilesHelp,
		Example: `  awo rules verify rules.yaml traces/
  awo rules verify rules.yaml traces/ --min-tested 0.2 --strict-tested
  awo rules verify rules.yaml traces/ --format json`,
		Args: rulesAndFiles,
	}
	cli.Uses(c, cli.UseTraces)
	f := c.Flags()
	cli.Share(f, "max-contradictions", 0.01, false, "the largest share of a rule's checks that may fail, from 0 to 1")
	cli.Share(f, "min-tested", 0.2, false, "the smallest share of the states that a rule joins in which something must have been checked, from 0 to 1")
	f.Bool("strict-tested", false, "fail if a rule is untested")
	return cli.Work(a, c, verifyRules)
}

// rulesAndFiles wants a rule file and at least one file of traces.
func rulesAndFiles(c *cobra.Command, args []string) error {
	if len(args) < 2 {
		return cli.Usagef("`%s` wants a rule file and then files or folders of traces", c.CommandPath())
	}
	return nil
}

// What becomes of a rule.
const (
	verdictOK           = "ok"
	verdictContradicted = "contradicted"
	verdictUntested     = "untested"
)

// verifyFigures are those of `awo rules verify`.
type verifyFigures struct {
	Input             cli.InputJSON `json:"input"`
	Rules             string        `json:"rules_file"`
	MaxContradictions float64       `json:"max_contradictions"`
	MinTested         float64       `json:"min_tested"`
	Passed            bool          `json:"passed"`
	Checks            checks        `json:"checks"`
	LeftOut           struct {
		Reads int `json:"reads"` // beyond those that are watched
	} `json:"left_out"`
}

// verification is what traces say of rules.
type verification struct {
	verifyFigures
	verdicts []ruleVerdict // of single rules, then of those that only together make histories one state
	single   int           // of these, on single rules
	examples []counterExample
	next     []nextCall
}

type ruleVerdict struct {
	ID             string        `json:"id"` // empty for several
	Kind           string        `json:"kind"`
	At             diag.Pos      `json:"at"`
	Verdict        string        `json:"verdict"` // ok, contradicted or untested
	Why            string        `json:"why"`
	States         int           `json:"states"`        // that hold histories which are one state by this rule
	Tested         int           `json:"tested_states"` // of these, where something was checked
	TestedShare    stat.Figure   `json:"tested_share"`
	Checks         int           `json:"checks"`
	Contradictions int           `json:"contradictions"`
	Involved       int           `json:"involved"` // contradictions that are another rule's among them
	Expected       float64       `json:"expected"` // by the baseline
	Rate           stat.Estimate `json:"contradicted_share"`
}

type counterExample struct {
	Rule    string   `json:"rule"`
	Check   string   `json:"check"`
	Read    string   `json:"read"`
	First   sighting `json:"first"`
	Second  sighting `json:"second"`
	Results []string `json:"results_differ_at"`
}

type sighting struct {
	Trajectory string   `json:"trajectory"`
	Call       int      `json:"call"`  // counted from 1
	Calls      []string `json:"calls"` // that the other history lacks
	Order      []string `json:"order"` // of writes that the other history has in another order
}

type checks struct {
	Histories   checked `json:"histories"`
	Repeated    checked `json:"repeated"`
	Unchanged   checked `json:"unchanged"`
	Unstable    int     `json:"unstable"` // not counted: the call differs after identical histories
	Baseline    checked `json:"baseline"` // identical histories
	Unexplained checked `json:"unexplained"`
}

type checked struct {
	Checks         int `json:"checks"`
	Contradictions int `json:"contradictions"`
}

type nextCall struct {
	Rules  string        `json:"rules"`
	States int           `json:"states"`
	Calls  int           `json:"calls"`
	Bits   stat.Estimate `json:"bits"` // held out, a call
}

func verifyRules(j *cli.Job, o verifyOptions, args []string) error {
	set, err := j.Rules(args[0])
	if err != nil {
		return err
	}
	in, err := j.Intake(args[1:], trace.Options{Spool: true})
	if err != nil {
		return err
	}
	in.SaysTools = true
	options := evidence.Options{Tolerance: o.MaxContradictions, Folds: heldOutFolds, Seed: j.Seed}
	plain, examiner, usage := evidence.NewExaminer(nil, options), evidence.NewExaminer(set, options), merge.NewUsage(set)
	if err := in.Each(plain.Add, examiner.Add, usage.Add); err != nil {
		return err
	}
	found := examiner.Evidence()
	compared, err := comparisons(j, in, found)
	if err != nil {
		return err
	}
	out := verified(in, o, args[0], found, compared)
	out.next = []nextCall{nextCallOf("none", plain.Evidence(), j.Seed, 1), nextCallOf("these", found, j.Seed, 1), nextCallOf("one state", found, j.Seed, 0)}
	out.next[2].States = 1
	for _, w := range ruleFindings(set, usage) {
		if w.Code == "rule-unused" || w.Code == "rule-tool-unknown" && in.IsWhole() {
			j.Problems.Add(w)
		}
	}
	failRules(j, o, found, out)
	return j.Result(evidenceDocument(in, out))
}

// comparisons reads the trajectories of counter-examples again and says what
// they show.
func comparisons(j *cli.Job, in *cli.Intake, found *evidence.Evidence) (map[evidence.CounterExample]evidence.Comparison, error) {
	var examples []evidence.CounterExample
	var refs []trace.Ref
	for _, list := range [][]evidence.RuleEvidence{found.Rules, found.Kinds} {
		for i := range list {
			for _, x := range list[i].Examples {
				examples = append(examples, x)
				refs = append(refs, found.Runs[x.First.Run].Ref, found.Runs[x.Second.Run].Ref)
			}
		}
	}
	out := map[evidence.CounterExample]evidence.Comparison{}
	if len(refs) == 0 {
		return out, nil
	}
	again := map[trace.Ref]*trace.Trajectory{}
	for t, err := range in.Reader.At(refs) {
		if err != nil {
			return nil, err
		}
		again[t.Ref] = t
	}
	comparer := found.Comparer(j.ShowValues)
	for _, x := range examples {
		one, other := again[found.Runs[x.First.Run].Ref], again[found.Runs[x.Second.Run].Ref]
		if one == nil || other == nil {
			continue
		}
		if c, ok := comparer.Compare(x, one, other); ok {
			out[x] = c
		}
	}
	return out, nil
}

func verified(in *cli.Intake, o verifyOptions, file string, e *evidence.Evidence, compared map[evidence.CounterExample]evidence.Comparison) *verification {
	out := &verification{single: len(e.Rules), verifyFigures: verifyFigures{
		Input: in.JSON(), Rules: file, MaxContradictions: o.MaxContradictions, MinTested: o.MinTested, Passed: true,
	}}
	out.LeftOut.Reads = e.Unwatched
	of := func(k evidence.CheckKind) checked { return checked{e.Checks[k], e.Contradictions[k]} }
	out.Checks = checks{
		Histories: of(evidence.CheckHistories), Repeated: of(evidence.CheckRepeated), Unchanged: of(evidence.CheckUnchanged),
		Unstable: e.Unstable, Baseline: checked{e.Baseline.Of, e.Baseline.Count}, Unexplained: checked{e.Unexplained.Of, e.Unexplained.Count},
	}
	for i := range e.Rules {
		out.judge(&e.Rules[i], e, o, compared, e.Rules[i].Rules[0].ID)
	}
	for i := range e.Kinds {
		out.judge(&e.Kinds[i], e, o, compared, "")
	}
	return out
}

// judge adds the verdict on a rule, or on several without an ID.
func (out *verification) judge(r *evidence.RuleEvidence, e *evidence.Evidence, o verifyOptions, compared map[evidence.CounterExample]evidence.Comparison, id string) {
	rule := r.Rules[0]
	v := ruleVerdict{
		ID: id, Kind: rule.Kind.String(), At: rule.Pos, TestedShare: stat.Ratio(r.Tested, r.States, "it joins no states"),
		States: r.States, Tested: r.Tested, Checks: r.Checks, Contradictions: r.Contradictions, Involved: r.Involved, Expected: r.Expected,
		Rate: stat.NoEstimate("nothing was checked"),
	}
	if r.Rate.N > 0 {
		v.Rate = stat.Estimate{Figure: stat.Known(r.Rate.Share), Interval: r.Rate.Interval}
	}
	v.Verdict, v.Why = judge(r, o)
	out.verdicts = append(out.verdicts, v)
	for _, x := range r.Examples {
		c := compared[x]
		out.examples = append(out.examples, counterExample{
			Rule: cmp.Or(id, "rules of kind "+v.Kind), Check: x.Check.String(), Read: c.Read, Results: c.Results,
			First:  sighting{e.Runs[x.First.Run].ID, x.First.Call + 1, c.First, c.FirstOrder},
			Second: sighting{e.Runs[x.Second.Run].ID, x.Second.Call + 1, c.Second, c.SecondOrder},
		})
	}
}

// judge gives the verdict on a rule, or several, and the reason.
func judge(r *evidence.RuleEvidence, o verifyOptions) (verdict, why string) {
	switch {
	case !r.Moves:
		return verdictOK, "rules of this kind join no states"
	case r.Rate.N > 0 && r.Rate.Share > o.MaxContradictions:
		return verdictContradicted, fmt.Sprintf("%s of %s failed", report.Grouped(r.Contradictions), cli.CountOf(r.Checks, "check"))
	case r.States == 0:
		return verdictOK, "it joins no states in these traces"
	case r.TestedShare() < o.MinTested:
		return verdictUntested, fmt.Sprintf("%s of %s tested, less than %g %%", report.Grouped(r.Tested), cli.CountOf(r.States, "state"), 100*o.MinTested)
	case r.Checks == 0:
		return verdictOK, "no check needed this rule alone"
	}
	return verdictOK, fmt.Sprintf("%s of %s failed", report.Grouped(r.Contradictions), cli.CountOf(r.Checks, "check"))
}

// nextCallOf sums up what the next call costs to predict: at order 0 from nothing,
// at order 1 from the state.
func nextCallOf(name string, e *evidence.Evidence, seed uint64, order int) nextCall {
	const none = "a held-out loss needs at least two tasks with calls"
	out := nextCall{Rules: name, States: e.States, Bits: stat.NoEstimate(none)}
	if e.Next.Folds == 0 {
		return out
	}
	held := entropy.NewHeldOut(e.Next, entropy.Options{Seed: seed})
	out.Calls, out.Bits = held.N, stat.Estimate{Figure: held.Orders[order].Bits, Interval: held.Orders[order].Interval}
	return out
}

// failRules reports the rules that fail as problems at their places.
func failRules(j *cli.Job, o verifyOptions, e *evidence.Evidence, out *verification) {
	j.Problems.Unlimited = true
	fail := func(pos diag.Pos, code, format string, args ...any) {
		out.Passed = false
		j.Problems.Add(diag.New(pos, code, format, args...))
	}
	for i, v := range out.verdicts[:out.single] {
		rule := e.Rules[i].Rules[0]
		switch v.Verdict {
		case verdictContradicted:
			fail(rule.Pos, "rule-contradicted", "traces contradict the rule %q in %s of %s", rule.ID, report.Grouped(v.Contradictions), cli.CountOf(v.Checks, "check"))
		case verdictUntested:
			if !o.StrictTested {
				continue
			}
			fail(rule.Pos, "rule-untested", "of the %s that the rule %q joins the traces test %s", cli.CountOf(v.States, "state"), rule.ID, report.Grouped(v.Tested))
		}
	}
	for i, v := range out.verdicts[out.single:] {
		if v.Verdict == verdictContradicted {
			fail(e.Kinds[i].Rules[0].Pos, "rule-contradicted", "traces contradict the rules of kind %s, of which no single one is needed, in %s of %s",
				v.Kind, report.Grouped(v.Contradictions), cli.CountOf(v.Checks, "check"))
		}
	}
	if u := e.Unexplained; u.Of > 0 && float64(u.Count) > o.MaxContradictions*float64(u.Of) {
		fail(diag.Pos{File: out.Rules}, "rule-contradicted", "traces contradict these rules in %s of %s of histories that no rule and no kind of rules alone makes one state",
			report.Grouped(u.Count), cli.CountOf(u.Of, "check"))
	}
}

func evidenceDocument(in *cli.Intake, out *verification) *report.Document {
	d := &report.Document{Title: "Evidence for and against rules", Answer: evidenceAnswer(out), Figures: out.verifyFigures}
	d.Add(in.Summary())
	table := report.TableOf("rules", "", out.verdicts, []report.Column{
		{Key: "rule", From: "id", Max: 32, Empty: "(several together)"},
		{Key: "kind", Words: true},
		{Key: "states", Title: "joins states"},
		{Key: "tested", From: "tested_share", Title: "tested", Unit: "%", Digits: report.Whole},
		{Key: "checks"},
		{Key: "contradictions"},
		{Key: "contradicted_share", Title: "failed checks", Unit: "%"},
		{Key: "verdict", Words: true},
	})
	c := out.Checks
	table.Note("Checked: reads from one state after different histories (%s), reads made twice in a row (%s), reads before and after what changes nothing (%s). A check counts for every rule without which the two histories would be two states, a contradiction against the one that explains most.",
		report.Grouped(c.Histories.Checks), report.Grouped(c.Repeated.Checks), report.Grouped(c.Unchanged.Checks))
	table.Note("After identical histories %s of %s differ, which is no rule's fault; %s of calls that do so are not counted. Intervals (Wilson) assume independence and are too narrow, because checks of one task depend on each other.",
		report.Grouped(c.Baseline.Contradictions), cli.CountOf(c.Baseline.Checks, "read"), cli.CountOf(c.Unstable, "check"))
	table.NoteIf(out.LeftOut.Reads > 0, "%s were not compared: too many different ones.", cli.CountOf(out.LeftOut.Reads, "read"))
	d.Add(table)
	d.Details()
	d.Section("Counter-examples", counterExamples(out), report.TableOf("counter_examples", "", out.examples, nil).Hidden())
	d.Section("The next call", nextCallTable(out))
	return d
}

// evidenceAnswer says how many rules the traces contradict.
func evidenceAnswer(out *verification) string {
	contradicted, untested := 0, 0
	for _, v := range out.verdicts[:out.single] {
		switch v.Verdict {
		case "contradicted":
			contradicted++
		case "untested":
			untested++
		}
	}
	rest := ""
	if untested > 0 {
		rest = fmt.Sprintf(", and about %d nothing can be said", untested)
	}
	if contradicted == 0 {
		return fmt.Sprintf("These traces contradict none of %s%s.", cli.CountOf(out.single, "rule"), rest)
	}
	return fmt.Sprintf("These traces contradict %d of %s%s.", contradicted, cli.CountOf(out.single, "rule"), rest)
}

func nextCallTable(out *verification) *report.Table {
	table := report.TableOf("next_call", "", out.next, []report.Column{
		{Key: "rules", Words: true},
		{Key: "states"},
		{Key: "bits", Title: "held-out bits a call", Digits: 3},
	})
	table.Note("What the tool of the next call costs to predict from the state, on tasks that the model has not seen, whatever rules call the tools: too many states are new in every task, too few go on in different ways.")
	return table
}

// counterExamples writes the first contradictions of every rule as sentences.
func counterExamples(out *verification) report.List {
	return cli.Map(out.examples, func(x *counterExample) string { return x.Rule + ": " + x.text() })
}

func (x *counterExample) text() string {
	head := fmt.Sprintf("%s returned something else (%s) in call %d of %s than in call %d of %s", x.Read, strings.Join(x.Results, ", "), x.Second.Call, x.Second.Trajectory, x.First.Call, x.First.Trajectory)
	if x.Check != evidence.CheckHistories.String() {
		if len(x.Second.Calls) == 0 {
			return head + ", with nothing between."
		}
		return head + "; between them: " + shortList(x.Second.Calls) + "."
	}
	if len(x.Second.Order) > 0 {
		head += "; in this order: " + shortList(x.Second.Order) + "; in that: " + shortList(x.First.Order)
	}
	return head + "; only before the one: " + shortList(x.Second.Calls) + "; only before the other: " + shortList(x.First.Calls) + "."
}

// shortList joins the first few of a list.
func shortList(list []string) string {
	const most = 5
	if len(list) == 0 {
		return "nothing"
	}
	if more := len(list) - most; more > 0 {
		return fmt.Sprintf("%s, and %d more", strings.Join(list[:most], ", "), more)
	}
	return strings.Join(list, ", ")
}
