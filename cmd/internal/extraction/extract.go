// Package extraction is the commands that make meta-tools and that read them again:
// `awo extract`, and on what it wrote verify, run, diff and why.
//
// In come traces, rules and folders of artefacts; out go artefacts, what became of
// every candidate, and whether meta-tools do what was recorded. Package metatool
// compiles, backtest chooses, execute runs and internal/emit writes; what is kept in
// memory is theirs, and the calls of the traces.
package extraction

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/recommend"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/prefetch/learn"
	"github.com/awo-dev/awo/stategraph"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/completeness"
)

// Options are the flags of `awo extract`.
type Options struct {
	recommend.Options `mapstructure:",squash"`

	Threshold      int     `mapstructure:"threshold"`
	Algorithm      string  `mapstructure:"algorithm"`
	AssumeReads    bool    `mapstructure:"assume-reads"`
	Expand         bool    `mapstructure:"expand"`
	Select         string  `mapstructure:"select"`
	MaxTools       int     `mapstructure:"max-tools"`
	MinTurns       int     `mapstructure:"min-turns"`
	Batches        bool    `mapstructure:"batches"`
	WritePrecision float64 `mapstructure:"write-precision"`
	Holdout        float64 `mapstructure:"holdout"`
	Verdict        string  `mapstructure:"verdict"`
	Fresh          bool    `mapstructure:"fresh"`
	By             string  `mapstructure:"by"`
	Prefetch       float64 `mapstructure:"prefetch"`
	Preset         string  `mapstructure:"preset"`
	Graph          string  `mapstructure:"tool-graph"`
	Out            string  `mapstructure:"out"`
	Check          string  `mapstructure:"check"`
	Evidence       bool    `mapstructure:"evidence"`
	Update         bool    `mapstructure:"update"`
}

// NewExtract returns `awo extract`.
func NewExtract(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "extract FILES...",
		Short: "Extract recurring chains of calls as meta-tools",
		Long: `Extract chains of calls that recur as meta-tools: one call where there were several.

Where the arguments of a step come from is found out from the traces: an earlier result, a
list that is walked, a constant, or an input. A chain with an argument that only the model
can have known is refused, and its parts are tried. What can be bound is replayed at all
places in the traces; what does not make the recorded calls is left out.

Where no option says what is offered, a back-test decides (--verdict): it may be that
nothing pays. With --out definitions are written as files, and prefetch rules
(prefetch.json). --check writes nothing, and fails if the artefacts in a folder are not what
the inputs give; what is not given is taken from its manifest. --preset awo follows the
published algorithm to the letter.

` + cli.FilesHelp,
		Example: `  awo extract traces/
  awo extract traces/ --rules rules.yaml --threshold 10 --out tools/
  awo extract traces/ --select turns --max-tools 5 --holdout 0.2
  awo extract traces/ --rules rules.yaml --algorithm awo --select all
  awo extract traces/ --rules rules.yaml --preset awo --format json
  awo extract --check tools/`,
		GroupID: cli.GroupCompile,
	}
	cli.Uses(c, cli.UseTraces, cli.UseRules, cli.UsePrices)
	f := c.Flags()
	cli.Count(f, "threshold", candidate.DefaultThreshold, 1, "how many trajectories must follow a chain")
	addCompile(f)
	f.Var(cli.NewChoice("turns", "net", "all"), "select", "which meta-tools are offered: those that save turns which others do not, those that save more than their definitions cost, or all")
	cli.Count(f, "max-tools", 0, 0, "offer at most this many meta-tools; 0 means no limit")
	AddUse(f)
	cli.Share(f, "holdout", 0, true, "hold out this `SHARE` of the tasks: compile from the rest, and replay on them too")
	f.Var(cli.NewChoice("auto", "always", "never"), "verdict", "do what a back-test recommends: auto if no other option says what is offered")
	AddWeighed(f)
	f.Bool("fresh", false, "recommend without regard to what the manifest in --out or --check says was recommended before")
	AddBy(f)
	cli.Share(f, "prefetch", learn.DefaultThreshold, true, "with --out, also write rules for reads of which at least this `SHARE` is used; 0 writes none")
	f.Var(cli.NewChoice("default", "awo"), "preset", "whose conventions are followed")
	addGraph(f)
	f.String("out", "", "write the artefacts into this `FOLDER`")
	f.String("check", "", "write nothing, and fail if callers would see that the artefacts in this `FOLDER` are not what the inputs give")
	f.Bool("evidence", false, "with --check: compare counts, graph and snapshot too")
	f.Bool("update", false, "with --check: write what the inputs give")
	return deciding(recalling(cli.Work(a, c, extract), checkedFolder))
}

func extract(j *cli.Job, o Options, files []string) error {
	if o.Out != "" && o.Check != "" {
		return cli.Usagef("--out and --check contradict each other")
	}
	if o.Check == "" && (o.Update || o.Evidence) {
		return cli.Usagef("--update and --evidence go with --check")
	}
	meter := j.Meter()
	in, err := j.Intake(files, trace.Options{})
	if err != nil {
		return err
	}
	in.Expand, in.Follows = o.Expand, true
	in.Needs = []string{completeness.CapabilitySequences, completeness.CapabilityTurns, completeness.CapabilityDataflow}
	in.Findings = j.NewFindings(meter)
	mined, err := in.Load(j.Set)
	if err != nil {
		return err
	}
	var before recalledManifest
	if dir := cmp.Or(o.Check, o.Out); dir != "" {
		before, _ = readManifest(dir)
	}
	if !o.Fresh {
		o.Kept = before.ways()
	}
	meter, o.IsFixed = j.Weighing(meter, in.Findings.List())
	c, err := compileAndChoose(j, mined.Runs, j.Set, meter, &o)
	if err != nil {
		return err
	}
	if err := in.Refuse(j.Set); err != nil {
		return err
	}
	masker := c.Merged.Masker(j.ShowValues)
	out := extractionResult(in, o, c, masker)
	if o.Graph != "" {
		if err := hintAll(j, o.Graph, c.offered()); err != nil {
			return err
		}
	}
	if o.Out != "" || o.Check != "" {
		results, err := extractionArtefacts(c.Merged, masker, c.offered())
		if err != nil {
			return err
		}
		var known []emit.Input
		if o.Check != "" {
			known = before.Inputs
		}
		from, err := j.Inputs(cmp.Or(o.Check, o.Out), in, known)
		if err != nil {
			return err
		}
		from.Ways = c.ways
		results.Found, results.Definitions, results.Saved = foundArtefact(c, from, out), toolDefinitions(c.Merged), map[*bind.Definition]int{}
		for i := range c.choice.Chosen {
			results.Saved[c.choice.Chosen[i].Definition] = c.choice.Chosen[i].TurnsAdded
		}
		results.Prefetch = readsAhead(j, j.Set, meter, o, c)
		out.readsAhead(results.Prefetch)
		if results.Snapshot, err = inertiaSnapshot(j, in, mined, j.Set); err != nil {
			return err
		}
		made, err := emit.All(emit.Emitters, results)
		if err != nil {
			return err
		}
		if o.Check != "" {
			all, err := j.WithManifest(made, in, from)
			if err != nil {
				return err
			}
			found, err := checkArtefacts(j, o.Check, all, in, o.Evidence)
			if err != nil {
				return err
			}
			return o.checked(j, in, found, func() error { return j.WriteArtefacts(o.Check, made, in, from) })
		}
		if err := j.WriteArtefacts(o.Out, made, in, from); err != nil {
			return err
		}
	}
	d := extractionDocument(in, o, out)
	switch {
	case o.Out != "" && (out.Emitted.MetaTools > 0 || len(out.prefetch) > 0):
		d.Next = []string{j.Then(files, "that they do what was recorded", "verify", o.Out, "{}")}
		use := "before your servers"
		if len(out.prefetch) > 0 {
			use += "; or import prefetch.py"
		}
		d.Next = append(d.Next, j.Then(nil, use, "serve", "--servers", "mcp.json", "--tools", o.Out))
	case out.Emitted.MetaTools > 0:
		d.Next = []string{j.Then(files, "what is left of it on tasks held out", "backtest", "{}")}
	}
	return j.Result(d)
}

// checked says what --check found, and with --update has the artefacts written.
func (o *Options) checked(j *cli.Job, in *cli.Intake, found checked, write func() error) error {
	if o.Update {
		if err := write(); err != nil {
			return err
		}
	}
	d := checkDocument(in, found, o.Update)
	if found.Passed || o.Update {
		if found.Passed && !o.Update && j.Format != report.FormatJSON {
			return nil
		}
		return j.Result(d)
	}
	inputs := ""
	if _, found := readManifest(o.Check); !found {
		inputs = "FILES " // as there is none that names them
	}
	d.Next = []string{"awo extract " + inputs + "--check " + o.Check + " --update # writes it"}
	if err := j.Result(d); err != nil {
		return err
	}
	return cli.ErrProblems
}

// extractionArtefacts gathers what emitters need.
func extractionArtefacts(merged *merge.Merged, masker *merge.Masker, tools []*bind.Definition) (emit.Results, error) {
	names := merged.Names(masker)
	view, err := merged.Graph.Select(stategraph.Selection{}, names)
	if err != nil {
		return emit.Results{}, err
	}
	return emit.Results{View: view, Names: names, Tools: tools, Operations: operations(merged)}, nil
}
