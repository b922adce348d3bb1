// Package comparing is `awo compare`: what differs between two sets of traces, and what
// compiled tools changed, by the sessions that a gateway recorded with and without them.
//
// In come traces; recordings, transcripts and the estimate of a back-test; package compare counts
// and judges, and here files are read and findings worded. It keeps a few figures a session.
package comparing

import (
	"cmp"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/extraction"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/gateway/compare"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/prefetch/stored"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

type options struct {
	Tools       string   `mapstructure:"tools"`
	Transcripts []string `mapstructure:"transcripts"`
	Estimate    string   `mapstructure:"estimate"`
	Technique   string   `mapstructure:"technique"`
	Look        bool     `mapstructure:"look"`

	Baseline     string `mapstructure:"baseline"`
	FailOn       string `mapstructure:"fail-on"`
	Inconclusive bool   `mapstructure:"fail-on-inconclusive"`

	OutcomeOptions `mapstructure:",squash"`
}

// New returns `awo compare`.
func New(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "compare BEFORE AFTER | RECORDINGS...",
		Short: "Compare two sets of traces, or sessions with compiled tools and without",
		Long: `Compare two sets of traces, such as before and after a change of a prompt, a model or a
tool: turns, calls, failures, tokens, money, success; how often tools are used; which steps
are taken; and whether the habits differ at all. Tasks are the units; tasks that both sets
have are compared one by one. Nobody drew by lot which runs were made before and which after.
--baseline compares with a summary (awo summarize --compare) that can be committed, since it has
no values; --fail-on ends with 1 where a figure got worse by more than chance explains.

Of recordings of an experiment (` + "`awo serve --control SHARE`" + `) it compares the arms:
what a session costs with the compiled tools, whether they are used or not, and without. Of
every meta-tool and every rule of reads ahead it says keep, fix, withdraw or wait, and why.
Intervals hold if one looks once; --look adds wider ones that hold however often one looks.

` + cli.FilesHelp,
		Example: `  awo compare old-traces/ new-traces/
  awo compare 'runs/2026-03-*' 'runs/2026-04-*' --format json
  awo compare --baseline baseline.awosum traces/ --fail-on 'success < -2%, cost > +10%, loops > 0'
  awo compare old/ new/ --outcomes results.csv
  awo compare traces/
  awo compare traces/ --tools tools/ --estimate backtest.json
  awo compare traces/ --look --format markdown
  awo compare traces/ --transcripts ~/.claude/projects`,
		GroupID: cli.GroupLook,
	}
	cli.Uses(c, cli.UseTraces, cli.UseRules, cli.UsePrices)
	f := c.Flags()
	f.String("tools", "", "look for the places of the meta-tools in this `FOLDER`, and for what its prefetch rules promise")
	f.StringSlice("transcripts", nil, "join the agent's own records of the sessions: `FILES` or folders")
	f.String("estimate", "", "compare what was realised with the back-test in this `FILE` (awo backtest --format json)")
	f.String("technique", "", "with --estimate: the `NAME` of the technique whose prediction counts (default patterns if meta-tools were served, else prefetch)")
	f.String("baseline", "", "compare the traces with this `FILE`, a summary that awo summarize --compare wrote, or traces")
	f.String("fail-on", "", "end with 1 if one of these `CONDITIONS` holds: a figure of the table, < or >, and a change, in % of before (of success in points)")
	f.Bool("fail-on-inconclusive", false, "with --fail-on: also where too few trajectories decide")
	OutcomeFlags(f)
	f.Bool("look", false, "also intervals that hold however often one looks")
	return cli.Work(a, c, run)
}

func run(j *cli.Job, o options, files []string) error {
	if sets, err := areSets(j, o, files); err != nil {
		return err
	} else if sets {
		return compareSets(j, o, files)
	}
	predictions, err := readEstimate(o.Estimate)
	if err != nil {
		return err
	}
	meter := j.Meter()
	options := compare.Options{Meter: meter, Look: o.Look, Stat: stat.Options{Seed: j.Seed, Each: j.Each()}, Promised: map[string]float64{}}
	if o.Tools != "" {
		if err := findPlaces(j, o.Tools, j.Set, &options); err != nil {
			return err
		}
		if err := readPromises(filepath.Join(o.Tools, stored.Name), options.Promised); err != nil {
			return err
		}
	}
	in, err := j.Intake(files, trace.Options{})
	if err != nil {
		return err
	}
	judge, err := o.Judge()
	if err != nil {
		return err
	}
	comparison := compare.New(options)
	if err := cmp.Or(in.Each(func(t *trace.Trajectory) { judge.Outcome(t); comparison.Add(t) }), judge.Err()); err != nil {
		return err
	}
	unjoined := 0
	if len(o.Transcripts) > 0 {
		if unjoined, err = join(j, comparison, options, o); err != nil {
			return err
		}
	}
	result := comparison.Result()
	figures := &armFigures{Input: in.JSON(), Unit: result.Unit, Share: result.Share, Joined: result.Joined, Unjoined: unjoined, Different: result.Different}
	if o.Estimate != "" {
		technique := techniqueOf(result, o.Technique)
		predicted, ok := predictions[technique]
		if !ok {
			return diag.New(diag.Pos{File: o.Estimate}, "estimate-empty", "the back-test says nothing of the technique %q", technique)
		}
		figures.Estimate = estimateOf(&result.Figures[compare.CallingTurns], result, predicted)
	}
	return j.Result(document(in, result, figures))
}

// findPlaces has the places found of the meta-tools in a folder or file, in order of their
// first call.
func findPlaces(j *cli.Job, name string, set *rules.Set, o *compare.Options) error {
	tools, err := extraction.ReadTools(j, name)
	if err != nil {
		return err
	}
	for _, t := range tools {
		o.Known = append(o.Known, t.Name)
	}
	finder, marker := replay.NewFinder(tools), extraction.NewMarker(set)
	o.Places = func(t *trace.Trajectory) (out []compare.Place) {
		for _, p := range finder.Find(t, marker.Marks(t)) {
			out = append(out, compare.Place{Tool: tools[p.Tool].Name, Begin: p.Begin, End: p.End})
		}
		return out
	}
	return nil
}

// techniqueOf returns the technique that was served, unless one is named.
func techniqueOf(r *compare.Result, name string) string {
	switch {
	case name != "":
		return name
	case len(r.Tools) > 0:
		return "patterns"
	}
	return "prefetch"
}

// join reads transcripts, and returns how many belong to no session.
func join(j *cli.Job, c *compare.Comparison, options compare.Options, o options) (unjoined int, err error) {
	in, err := j.IntakeOf(o.Transcripts, cli.InputOptions{TurnGap: j.TurnGap}, trace.Options{})
	if err != nil {
		return 0, err
	}
	for t, err := range in.All() {
		if err != nil {
			return 0, err
		}
		if !c.Join(compare.Transcript(t, options.Meter)) {
			unjoined++
		}
	}
	return unjoined, nil
}

// readPromises reads how often the reads of each rule are used at least, if the folder has
// rules.
func readPromises(name string, promised map[string]float64) error {
	data, err := cli.ReadSmall(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return cli.FileProblem(name, err)
	}
	file, err := stored.Decode(name, data)
	if err != nil {
		return err
	}
	for i := range file.Set.Rules {
		if in := file.Evidence[i].Interval; in.Known() {
			promised[file.Set.Rules[i].ID] = in.Lo
		}
	}
	return nil
}

// readEstimate reads what a back-test predicts of each technique; nothing of "".
func readEstimate(name string) (map[string]prediction, error) {
	if name == "" {
		return nil, nil
	}
	data, err := cli.ReadSmall(name)
	if err != nil {
		return nil, cli.FileProblem(name, err)
	}
	type bounds struct {
		Lo *float64 `json:"lo"`
		Hi *float64 `json:"hi"`
	}
	var file struct {
		Schema  string
		Command string
		Tables  struct {
			Techniques struct {
				Rows []struct {
					Technique string             `json:"technique"`
					Turns     float64            `json:"calling_turns"`
					Share     *float64           `json:"calling_turns_saved_share"`
					Intervals map[string]*bounds `json:"intervals"`
				}
			}
		}
	}
	if err := json.Unmarshal(data, &file); err != nil || file.Schema != report.Schema || file.Command != "backtest" {
		return nil, diag.New(diag.Pos{File: name}, "estimate-invalid", "this is no result of `awo backtest --format json`")
	}
	all := map[string]prediction{}
	for _, t := range file.Tables.Techniques.Rows {
		if t.Share == nil {
			continue
		}
		out := prediction{Technique: t.Technique, Share: *t.Share}
		if in := t.Intervals["calling_turns_saved"]; in != nil && in.Lo != nil && in.Hi != nil && t.Turns > 0 {
			out.Lo, out.Hi = new(*in.Lo/t.Turns), new(*in.Hi/t.Turns)
		}
		all[t.Technique] = out
	}
	return all, nil
}
