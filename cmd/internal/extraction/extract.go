// Package extraction is the commands that make meta-tools and that read them again:
// `awo extract`, and on what it wrote verify, run, diff, why and why-not.
//
// In come traces, rules and folders of artefacts; out go artefacts, what became of
// every candidate, and whether meta-tools do what was recorded. Package metatool
// compiles, backtest chooses, execute runs and internal/emit writes; what is kept in
// memory is theirs, and the calls of the traces.
package extraction

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/stategraph"
	"github.com/awo-dev/awo/trace"
)

// Options are the flags of `awo extract`.
type Options struct {
	cli.InputOptions `mapstructure:",squash"`
	Rules            string `mapstructure:"rules"`
	cli.PriceOptions `mapstructure:",squash"`
	Threshold        cli.OrAuto `mapstructure:"threshold"`
	Algorithm        string     `mapstructure:"algorithm"`
	MaxExtra         int        `mapstructure:"max-extra"`
	AssumeReads      bool       `mapstructure:"assume-reads"`
	Select           string     `mapstructure:"select"`
	MaxTools         int        `mapstructure:"max-tools"`
	TokenBudget      int64      `mapstructure:"token-budget"`
	Holdout          float64    `mapstructure:"holdout"`
	Preset           string     `mapstructure:"preset"`
	Out              string     `mapstructure:"out"`
	Check            string     `mapstructure:"check"`
}

// NewExtract returns `awo extract`.
func NewExtract(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "extract FILES...",
		Short: "Extract recurring chains of calls as meta-tools",
		Long: `Extract recurring chains of calls as meta-tools: one call where there were several.

--algorithm patterns finds chains wherever they start, and calls that walk a list;
awo finds those that at least --threshold trajectories follow from one state
(Algorithm 1 of the paper). User messages and barriers end a chain, and calls that a
model made in one turn are counted, but save no turn.

Where the arguments of a step come from is found out from the traces: from the
result of an earlier step, with a filter where it is one element of a list, from a
list that is walked whole, a constant, or an input. A chain with an argument that
only the model, or a call inside, can have known is refused, and its parts are
tried. Tools whose definition or name says that they only read are taken at their
word where no rule is about them, and listed (--assume-reads=false takes only
rules).

What can be bound is replayed at all places in the traces, and what does not make
the recorded calls is left out. Of the rest --select turns takes, one after the
other, what saves most calling turns beyond those taken before, and leaves out what
adds fewer than --threshold; net takes what saves more than its definition costs when every turn reads
it: in money, in tokens where no price is known, and in turns where no usage is
recorded; all takes all. --threshold auto takes the threshold that saves most on
tasks that were not compiled from.

With --out the definitions are written as files. No value is in them but constants
that are no secret: the same in many trajectories of several tasks.

--check compares instead of writing: the exit code is 1, and what differs is shown,
if the artefacts in a folder are not what the inputs give. Options, rules and traces
that are not given are those that its manifest names; awo's version does not count.

--preset awo follows the published algorithm to the letter: user messages are
ignored, the steps of a chain need no trajectory in common, and all is taken.

` + cli.FilesHelp,
		Example: `  awo extract traces/
  awo extract traces/ --rules rules.yaml --threshold 10 --out tools/
  awo extract traces/ --select turns --max-tools 5 --holdout 0.2
  awo extract traces/ --rules rules.yaml --algorithm awo --select all
  awo extract traces/ --rules rules.yaml --preset awo --format json
  awo extract --check tools/`,
		GroupID: cli.GroupCompile,
	}
	f := c.Flags()
	cli.AddInput(f)
	cli.AddRules(f)
	cli.AddPrices(f)
	threshold := cli.OrAuto(metatool.DefaultThreshold)
	f.Var(&threshold, "threshold", "how many trajectories must follow a chain; auto tries several on tasks held out")
	addCompile(f)
	f.Var(cli.NewChoice("turns", "net", "all"), "select", "which meta-tools are offered: those that save turns which others do not, those that save more than their definitions cost, or all")
	f.Int("max-tools", 0, "offer at most so many meta-tools; 0 sets no bound")
	f.Int64("token-budget", 0, "offer definitions of at most so many tokens; 0 sets no bound")
	f.Float64("holdout", 0, "compile from the rest and replay on this `SHARE` of the tasks, too")
	f.Var(cli.NewChoice("default", "awo"), "preset", "whose conventions are followed")
	f.String("out", "", "write the artefacts into this `FOLDER`")
	f.String("check", "", "write nothing, and fail if the artefacts in this `FOLDER` are not what the inputs give")
	return recalling(cli.Work(a, c, extract), checkedFolder)
}

// JSON is the JSON of `awo extract`; docs/artefacts.md describes it.
type JSON struct {
	Schema      string         `json:"schema"`
	Input       cli.InputJSON  `json:"input"`
	Threshold   int            `json:"threshold"`
	Algorithm   string         `json:"algorithm"`
	CallsBefore int            `json:"calls_before"`
	CallsAfter  int            `json:"calls_after"`
	TurnsBefore int            `json:"calling_turns_before"`
	TurnsSaved  int            `json:"turns_saved"` // upper bound
	MetaTools   []metaToolJSON `json:"meta_tools"`
	Emitted     emittedJSON    `json:"emitted"`

	Choice      choiceJSON       `json:"choice"`
	Assumptions []assumptionJSON `json:"assumptions"` // tools taken to read only
}

type metaToolJSON struct {
	Name        string   `json:"name"`
	Tools       []string `json:"tools"`
	Calls       []string `json:"calls"` // labels
	Support     int      `json:"support"`
	Occurrences int      `json:"occurrences"`
	TurnsSaved  int      `json:"turns_saved"`
	Status      string   `json:"status"` // statusEmitted or statusLeftOut
	Reason      string   `json:"reason"` // why it was left out

	Inputs   []string      `json:"inputs"`   // names, those that may be left out with a ? behind
	Bindings []boundJSON   `json:"bindings"` // by step, then argument
	Refusals []refusalJSON `json:"refusals"`
	Returns  []int         `json:"returns"` // steps whose results are returned, from 0

	DefinitionTokens int64             `json:"definition_tokens"` // 0 for those that cannot be offered
	Replay           choiceReplayJSON  `json:"replay"`
	Holdout          *choiceReplayJSON `json:"holdout,omitempty"`

	Anti     bool               `json:"anti_meta_tool"` // it fails more often than its parts, or costs more than it saves
	Failures *emit.FailuresJSON `json:"failures,omitempty"`
	Cost     *antiCostJSON      `json:"cost,omitempty"` // of what costs more than it saves
}

// boundJSON says where an argument comes from, in words and without values but
// the constants that may be shown.
type boundJSON struct {
	Step        int     `json:"step"` // from 0
	Argument    string  `json:"argument"`
	Kind        string  `json:"kind"`
	From        string  `json:"from"`
	Agree       int     `json:"agree"` // occurrences in which the binding gives what was recorded
	Occurrences int     `json:"occurrences"`
	LinkAgree   int     `json:"link_agree"` // the same of the link that it follows, over all traces; 0 without one
	LinkUses    int     `json:"link_uses"`
	ExtraMean   float64 `json:"extra_mean"` // of a walk over a list: calls that no run made, an occurrence
	ExtraP95    int     `json:"extra_p95"`
}

type refusalJSON struct {
	Code     string `json:"code"`
	Step     int    `json:"step"` // from 0
	Argument string `json:"argument"`
}

// What became of a meta-tool that was found.
const (
	statusEmitted = "emitted"
	statusLeftOut = "left-out"
)

// refusalText says why a meta-tool cannot be offered, by stable codes.
func refusalText(t *metatool.Definition) string {
	var reasons []string
	for _, r := range t.Refusals {
		at := fmt.Sprintf("step %d", r.Step+1)
		if r.Argument != "" {
			at += ", " + r.Argument
		}
		reasons = append(reasons, fmt.Sprintf("%s (%s)", r.Code, at))
	}
	return strings.Join(reasons, ", ")
}

type emittedJSON struct {
	MetaTools  int `json:"meta_tools"`
	CallsAfter int `json:"calls_after"`
	TurnsSaved int `json:"turns_saved"`
}

func extract(j *cli.Job, o Options, files []string) error {
	if err := o.check(); err != nil {
		return err
	}
	if o.Out != "" && o.Check != "" {
		return cli.Usagef("--out and --check contradict each other")
	}
	set, err := j.Rules(o.Rules)
	if err != nil {
		return err
	}
	meter, err := j.Meter(o.PriceOptions)
	if err != nil {
		return err
	}
	in, err := j.Intake(files, o.InputOptions, trace.Options{Spool: true})
	if err != nil {
		return err
	}
	defer in.Close()
	in.Needs = []string{trace.CapabilitySequences, trace.CapabilityTurns, trace.CapabilityDataflow}
	in.KeepsOrigins = o.Out != "" || o.Check != ""
	c, err := compile(j, in, set, meter, o)
	if err != nil {
		return err
	}
	if err := in.Refuse(set); err != nil {
		return err
	}
	veil := c.Merged.Veil(j.ShowValues)
	out := extractionResult(in, o, c, veil)
	if o.Out != "" || o.Check != "" {
		results, err := extractionArtefacts(c.Merged, veil, c.offered())
		if err != nil {
			return err
		}
		results.Found, results.Definitions = foundArtefact(c.Compilation, in, out), toolDefinitions(c.Merged)
		if results.Snapshot, err = inertiaSnapshot(j, in, set, results.Tools); err != nil {
			return err
		}
		made, err := emit.All(emit.Emitters, results)
		if err != nil {
			return err
		}
		if o.Check != "" {
			all, err := j.WithManifest(made, in)
			if err != nil {
				return err
			}
			return checkArtefacts(j, o.Check, all, in)
		}
		if err := j.WriteArtefacts(o.Out, made, in); err != nil {
			return err
		}
	}
	return j.Print(extractionDocument(in, o, out), out)
}

// extractionArtefacts gathers what emitters need.
func extractionArtefacts(merged *merge.Merged, veil *merge.Veil, tools []*metatool.Definition) (emit.Results, error) {
	names := merged.Names(veil)
	view, err := merged.Graph.Select(stategraph.Selection{}, names)
	if err != nil {
		return emit.Results{}, err
	}
	return emit.Results{View: view, Names: names, Tools: tools, Operations: operations(merged)}, nil
}

func extractionResult(in *cli.Intake, o Options, compiled *extractCompilation, veil *merge.Veil) JSON {
	found := compiled.Extraction
	out := JSON{
		Schema: "awo.extraction/v1", Input: in.JSON(), Threshold: compiled.threshold, Algorithm: o.algorithm(),
		CallsBefore: found.Calls, CallsAfter: found.CallsAfter, TurnsBefore: found.Turns, TurnsSaved: found.TurnsSaved(), MetaTools: []metaToolJSON{},
	}
	out.Emitted = emittedJSON{CallsAfter: out.CallsBefore}
	if n := len(compiled.choice.Chosen); n > 0 {
		last := compiled.choice.Chosen[n-1]
		out.Emitted = emittedJSON{MetaTools: n, CallsAfter: out.CallsBefore - last.Calls, TurnsSaved: last.Turns}
	}
	out.Choice, out.Assumptions = compiled.choiceJSON(), compiled.assumptionsJSON()
	for _, t := range compiled.Definitions {
		c := t.Candidate
		m := metaToolJSON{
			Name: t.Name, Tools: []string{}, Calls: []string{}, Inputs: []string{}, Bindings: []boundJSON{}, Refusals: []refusalJSON{}, Returns: t.Output.Steps,
			Support: c.Support, Occurrences: len(c.Occurrences), TurnsSaved: c.TurnsSaved, Status: statusEmitted,
		}
		for i, step := range t.Steps {
			m.Tools = append(m.Tools, step.Tool)
			if i < len(c.Labels) {
				m.Calls = append(m.Calls, veil.Label(c.Labels[i]))
			} else {
				m.Calls = append(m.Calls, step.Name)
			}
		}
		m.bind(t)
		m.choose(t, compiled)
		out.MetaTools = append(out.MetaTools, m)
	}
	return out
}

// bind says where the arguments come from.
func (m *metaToolJSON) bind(t *metatool.Definition) {
	for _, in := range t.Inputs {
		name := in.Name
		if !in.Required {
			name += "?"
		}
		m.Inputs = append(m.Inputs, name)
	}
	for i := range t.Bound {
		b := &t.Bound[i]
		one := boundJSON{
			Step: b.Step, Argument: b.Argument, Kind: b.Binding.Kind.String(), From: b.Binding.Words(),
			Agree: b.Evidence.Agree, Occurrences: b.Evidence.Occurrences, ExtraMean: b.Evidence.ExtraMean, ExtraP95: b.Evidence.ExtraP95,
		}
		if b.Binding.Kind == metatool.BindInput {
			one.From = "input " + b.Binding.Input
		}
		if j := b.Evidence.Judgment; j != nil {
			one.LinkAgree, one.LinkUses = j.Agree, j.Uses
		}
		m.Bindings = append(m.Bindings, one)
	}
	for _, r := range t.Refusals {
		m.Refusals = append(m.Refusals, refusalJSON{Code: r.Code, Step: r.Step, Argument: r.Argument})
	}
}

func extractionDocument(in *cli.Intake, o Options, out JSON) *report.Document {
	d := &report.Document{Title: "Meta-tools"}
	d.Add(in.Summary())
	if len(out.MetaTools) == 0 {
		if o.Algorithm == string(metatool.AlgorithmPatterns) {
			d.Add(report.Paragraph("No chain of two or more calls, nor a walk over a list, occurs in at least " + cli.CountOf(out.Threshold, "trajectory") +
				" without a user message in between and could be called. A lower --threshold, or rules that say which calls only read (--rules), may find some."))
			return d
		}
		d.Add(report.Paragraph("No chain of two or more calls is followed by at least " + cli.CountOf(out.Threshold, "trajectory") +
			" without a user message in between. A lower --threshold or rules that merge more states (--rules) may find some."))
		return d
	}
	refused := slices.ContainsFunc(out.MetaTools, func(m metaToolJSON) bool { return m.Reason != "" })
	columns := []report.Column{
		{Key: "name", Max: 42},
		{Key: "calls", Title: "does in one call", Max: 64, Wrap: true},
		{Key: "inputs", Max: 32, Wrap: true},
		{Key: "support", Title: "trajectories", Align: report.Right},
		{Key: "occurrences", Title: "times", Align: report.Right},
		{Key: "turns_saved", Title: "turns saved", Align: report.Right},
		{Key: "exact", Title: "exact in replay", Align: report.Right},
	}
	if refused {
		columns = append(columns, report.Column{Key: "left_out", Title: "left out", Max: 40, Wrap: true})
	}
	table := report.NewTable("meta-tools", "", columns...)
	for _, m := range out.MetaTools {
		cells := []report.Cell{report.Name(m.Name), report.Name(strings.Join(stepsInWords(m), " → ")), report.Name(inputsInWords(m)), report.Int(m.Support), report.Int(m.Occurrences), report.Int(m.TurnsSaved), report.Text(m.Replay.words())}
		if refused {
			cells = append(cells, report.Text(leftOutWords(&m)))
		}
		table.Add(cells...)
	}
	table.Note("Saved, in order of extraction: at most %s of %s (%.1f %%). An upper bound: an agent must choose the meta-tool, each step's arguments must be known when it is called, and what it then does may differ from what was recorded.",
		report.Grouped(out.TurnsSaved), cli.CountOf(out.TurnsBefore, "calling turn")+afterRules(in, out), percentOf(out.TurnsSaved, out.TurnsBefore))
	table.Note("Exact in replay: at how many of the places in these traces where it would save a turn it made the recorded calls.")
	d.Add(table)
	choiceSections(d, out)
	if bindings := bindingsTable(out); bindings != nil {
		d.Add(bindings)
	}
	if o.Out != "" {
		d.Add(report.Paragraph("The definitions are in " + o.Out + "; manifest.json says what they were made from."))
	}
	return d
}

// bindingsTable says where the arguments of what is offered come from that are
// no inputs, nil if all are.
func bindingsTable(out JSON) *report.Table {
	table := report.NewTable("bindings", "Where arguments come from",
		report.Column{Key: "name", Max: 42},
		report.Column{Key: "call", Align: report.Right},
		report.Column{Key: "argument", Max: 24},
		report.Column{Key: "from", Max: 60, Wrap: true},
		report.Column{Key: "agrees", Title: "agrees", Align: report.Right},
		report.Column{Key: "times", Title: "times", Align: report.Right},
		report.Column{Key: "extra", Title: "extra calls", Align: report.Right},
	)
	rows := 0
	for _, m := range out.MetaTools {
		if m.Status != statusEmitted {
			continue
		}
		for _, b := range m.Bindings {
			if b.Kind == metatool.BindInput.String() {
				continue
			}
			rows++
			extra := ""
			if b.Kind == metatool.BindElement.String() {
				extra = fmt.Sprintf("%.1f", b.ExtraMean)
			}
			table.Add(report.Name(m.Name), report.Int(b.Step+1), report.Name(b.Argument), report.Text(b.From), report.Int(b.Agree), report.Int(b.Occurrences), report.Text(extra))
		}
	}
	if rows == 0 {
		return nil
	}
	table.Note("All other arguments are inputs. Agrees: in how many occurrences the binding gives what was recorded. Extra calls: what walking a whole list adds to what agents did, on average.")
	return table
}

// stepsInWords names the steps.
func stepsInWords(m metaToolJSON) []string {
	words := slices.Clone(m.Tools)
	for _, b := range m.Bindings {
		if b.Kind == metatool.BindElement.String() && !strings.HasPrefix(words[b.Step], "each ") {
			words[b.Step] = "each " + words[b.Step]
		}
	}
	return words
}

func inputsInWords(m metaToolJSON) string {
	if len(m.Inputs) == 0 {
		return "none"
	}
	return strings.Join(m.Inputs, ", ")
}

// afterRules says why fewer turns are compiled than came in.
func afterRules(in *cli.Intake, out JSON) string {
	if out.TurnsBefore == in.Tally.CallingTurns {
		return ""
	}
	return " that the rules leave"
}

func percentOf(part, whole int) float64 {
	if whole == 0 {
		return 0
	}
	return 100 * float64(part) / float64(whole)
}
