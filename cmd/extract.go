package cmd

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/stategraph"
	"github.com/awo-dev/awo/trace"
)

// extractOptions are the flags of `awo extract`.
type extractOptions struct {
	inputOptions `mapstructure:",squash"`
	Rules        string `mapstructure:"rules"`
	Threshold    int    `mapstructure:"threshold"`
	Algorithm    string `mapstructure:"algorithm"`
	MaxExtra     int    `mapstructure:"max-extra"`
	Select       string `mapstructure:"select"`
	Preset       string `mapstructure:"preset"`
	Out          string `mapstructure:"out"`
}

func newExtract(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "extract FILES...",
		Short: "Extract recurring chains of calls as meta-tools",
		Long: `Extract the chains of calls that at least --threshold trajectories follow from the
same state, as meta-tools: one call where there were several. A chain ends where
the majority goes another way, and at user messages and barriers; calls that a
model made in one turn are counted, but save no turn.

Where the arguments of a step come from is found out from the traces: from the
result of an earlier step, with a filter where it is one element of a list, from a
list that is walked whole, a constant, or an input. A chain with an argument that
only the model, or a call inside, can have known is refused, and its parts are
tried. With --out the definitions are written as files. No value is in them but
constants that are no secret: the same in many trajectories of several tasks.

--algorithm patterns finds chains wherever they start, and calls that walk a list.

--preset awo follows the published algorithm to the letter: user messages are
ignored, and the steps of a chain need no trajectory in common.

` + filesHelp,
		Example: `  awo extract traces/ --rules rules.yaml
  awo extract traces/ --rules rules.yaml --threshold 10 --out tools/
  awo extract traces/ --rules rules.yaml --algorithm patterns --max-extra 5
  awo extract traces/ --rules rules.yaml --preset awo --format json`,
		GroupID: groupCompile,
	}
	f := c.Flags()
	addInput(f)
	addRules(f)
	f.Int("threshold", metatool.DefaultThreshold, "how many trajectories must follow a chain")
	f.Var(newChoice("awo", "patterns"), "algorithm", "how chains are found: awo is Algorithm 1 of the paper, bound to states; patterns are chains wherever they start, with lists that are walked")
	f.Int("max-extra", metatool.DefaultMaxExtra, "how many reads that no run made a walk over a list may make (95th percentile)")
	f.Var(newChoice("all"), "select", "which meta-tools are written")
	f.Var(newChoice("default", "awo"), "preset", "whose conventions are followed")
	f.String("out", "", "write the artefacts into this `FOLDER`")
	return work(a, c, extract)
}

// extractionJSON is the JSON of `awo extract`; docs/artefacts.md describes it.
type extractionJSON struct {
	Schema      string         `json:"schema"`
	Input       inputJSON      `json:"input"`
	Threshold   int            `json:"threshold"`
	Algorithm   string         `json:"algorithm"`
	CallsBefore int            `json:"calls_before"`
	CallsAfter  int            `json:"calls_after"`
	TurnsBefore int            `json:"calling_turns_before"`
	TurnsSaved  int            `json:"turns_saved"` // upper bound
	MetaTools   []metaToolJSON `json:"meta_tools"`
	Emitted     emittedJSON    `json:"emitted"`
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

func extract(j *job, o extractOptions, files []string) error {
	if o.MaxExtra < 0 {
		return usagef("--max-extra: %d is negative", o.MaxExtra)
	}
	if o.Threshold < 1 {
		return usagef("--threshold: %d is less than 1", o.Threshold)
	}
	set, err := j.rules(o.Rules)
	if err != nil {
		return err
	}
	in, err := j.intake(files, o.inputOptions, trace.Options{})
	if err != nil {
		return err
	}
	defer in.Close()
	in.needs = []string{trace.CapabilitySequences, trace.CapabilityTurns, trace.CapabilityDataflow}
	compilation, err := metatool.Compile(in.Source, set, o.compile(j.workers()))
	if err != nil {
		return err
	}
	if err := in.refuse(set); err != nil {
		return err
	}
	merged, tools := compilation.Merged, compilation.Definitions
	veil := merged.Veil(j.ShowValues)
	out := extractionResult(in, o, compilation, veil)
	if o.Out != "" {
		results, err := extractionArtefacts(merged, veil, tools)
		if err != nil {
			return err
		}
		if results.Snapshot, err = j.inertiaSnapshot(in, set, results.Tools); err != nil {
			return err
		}
		made, err := emit.All(emit.Emitters, results)
		if err != nil {
			return err
		}
		if err := j.writeArtefacts(o.Out, made, in); err != nil {
			return err
		}
	}
	return j.print(extractionDocument(in, o, out), out)
}

// compile are the options of the compiler.
func (o extractOptions) compile(workers int) metatool.CompileOptions {
	out := metatool.CompileOptions{
		Algorithm: metatool.Algorithm(o.Algorithm), Workers: workers,
		Extract: metatool.Options{Threshold: o.Threshold, AsPublished: o.Preset == "awo"},
		Bind:    metatool.BindOptions{Threshold: o.Threshold, MaxExtra: o.MaxExtra},
	}
	if o.MaxExtra == 0 {
		out.Bind.MaxExtra = -1
	}
	return out
}

// extractionArtefacts gathers what emitters need.
func extractionArtefacts(merged *merge.Merged, veil *merge.Veil, tools []*metatool.Definition) (emit.Results, error) {
	names := merged.Names(veil)
	view, err := merged.Graph.Select(stategraph.Selection{}, names)
	if err != nil {
		return emit.Results{}, err
	}
	offered := slices.DeleteFunc(slices.Clone(tools), func(t *metatool.Definition) bool { return len(t.Refusals) > 0 })
	return emit.Results{View: view, Names: names, Tools: offered, Operations: operations(merged)}, nil
}

func extractionResult(in *intake, o extractOptions, c *metatool.Compilation, veil *merge.Veil) extractionJSON {
	found := c.Extraction
	out := extractionJSON{
		Schema: "awo.extraction/v1", Input: in.JSON(), Threshold: o.Threshold, Algorithm: o.Algorithm,
		CallsBefore: found.Calls, CallsAfter: found.CallsAfter, TurnsBefore: found.Turns, TurnsSaved: found.TurnsSaved(), MetaTools: []metaToolJSON{},
	}
	calls, turns := metatool.Offered(c.Merged, c.Definitions)
	out.Emitted = emittedJSON{CallsAfter: out.CallsBefore - calls, TurnsSaved: turns}
	for _, t := range c.Definitions {
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
		if len(t.Refusals) > 0 {
			m.Status, m.Reason = statusLeftOut, refusalText(t)
		} else {
			out.Emitted.MetaTools++
		}
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

func extractionDocument(in *intake, o extractOptions, out extractionJSON) *report.Document {
	d := &report.Document{Title: "Meta-tools"}
	d.Add(in.Summary())
	if len(out.MetaTools) == 0 {
		if o.Algorithm == string(metatool.AlgorithmPatterns) {
			d.Add(report.Paragraph("No chain of two or more calls, nor a walk over a list, occurs in at least " + countOf(out.Threshold, "trajectory") +
				" without a user message in between and could be called. A lower --threshold, or rules that say which calls only read (--rules), may find some."))
			return d
		}
		d.Add(report.Paragraph("No chain of two or more calls is followed from one state by at least " + countOf(out.Threshold, "trajectory") +
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
	}
	if refused {
		columns = append(columns, report.Column{Key: "left_out", Title: "cannot be offered", Max: 40, Wrap: true})
	}
	table := report.NewTable("meta-tools", "", columns...)
	for _, m := range out.MetaTools {
		cells := []report.Cell{report.Name(m.Name), report.Name(strings.Join(stepsInWords(m), " → ")), report.Name(inputsInWords(m)), report.Int(m.Support), report.Int(m.Occurrences), report.Int(m.TurnsSaved)}
		if refused {
			cells = append(cells, report.Text(m.Reason))
		}
		table.Add(cells...)
	}
	table.Note("Saved, in order of extraction: at most %s of %s (%.1f %%). An upper bound: an agent must choose the meta-tool, each step's arguments must be known when it is called, and what it then does may differ from what was recorded.",
		report.Grouped(out.TurnsSaved), countOf(out.TurnsBefore, "calling turn")+afterRules(in, out), percentOf(out.TurnsSaved, out.TurnsBefore))
	if refused {
		table.Note("Of these can be offered: %s, which save at most %s.", countOf(out.Emitted.MetaTools, "meta-tool"), countOf(out.Emitted.TurnsSaved, "turn"))
	}
	where := "are followed from one state by"
	if o.Algorithm == string(metatool.AlgorithmPatterns) {
		where = "occur anywhere in"
	}
	table.Note("Chains "+where+" at least %s; a user message or a barrier ends them. Turns with parallel calls save less than calls: %s become %s.",
		countOf(out.Threshold, "trajectory"), countOf(out.CallsBefore, "call"), report.Grouped(out.CallsAfter))
	d.Add(table)
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
func bindingsTable(out extractionJSON) *report.Table {
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
func afterRules(in *intake, out extractionJSON) string {
	if out.TurnsBefore == in.tally.CallingTurns {
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
