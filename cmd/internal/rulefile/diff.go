package rulefile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/merge/evidence"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
	"github.com/spf13/cobra"
)

// diffOptions are the flags of `awo rules diff`.
type diffOptions struct {
	cli.InputOptions `mapstructure:",squash"`
	Threshold        int `mapstructure:"threshold"`
	Folds            int `mapstructure:"folds"`
}

func newDiff(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "diff OLD NEW TRACES...",
		Short: "Say what a change of rules changes on traces",
		Long: `Merge the same traces under two rule files and compare: how many states and edges the
graph has, what the next call costs to predict from the state on tasks that were not
seen, which chains of calls would become meta-tools, and how many turns they would save
at most. Rules are compared by their ids.

` + cli.FilesHelp,
		Example: "  awo rules diff rules.yaml new.yaml traces/",
		Args: func(c *cobra.Command, args []string) error {
			if len(args) < 3 {
				return cli.Usagef("`%s` wants two rule files and then files or folders of traces", c.CommandPath())
			}
			return nil
		},
	}
	f := c.Flags()
	cli.AddInput(f)
	f.Int("threshold", 5, "support that a chain of calls needs")
	f.Int("folds", 10, "parts that the tasks are divided into for the held-out loss")
	return cli.Work(a, c, diffRules)
}

// RulesDiffJSON is the JSON of `awo rules diff`; docs/artefacts.md describes it.
type RulesDiffJSON struct {
	Schema string          `json:"schema"`
	Input  cli.InputJSON   `json:"input"`
	Old    mergedFiguresOf `json:"old"`
	New    mergedFiguresOf `json:"new"`
	Rules  []changedRule   `json:"rules"`      // that are not the same in both
	Chains []changedChain  `json:"meta_tools"` // that only one of them gives
	Same   int             `json:"meta_tools_in_both"`
}

type mergedFiguresOf struct {
	File       string      `json:"file"`
	Rules      int         `json:"rules"`
	States     int         `json:"states"`
	Edges      int         `json:"edges"`
	Bits       stat.Figure `json:"held_out_bits"`
	MetaTools  int         `json:"meta_tools"`
	TurnsSaved int         `json:"turns_saved"` // upper bound
}

type changedRule struct {
	ID     string `json:"id"`
	Change string `json:"change"` // added, removed or changed
	Old    string `json:"old"`
	New    string `json:"new"`
}

type changedChain struct {
	Change     string   `json:"change"` // added or removed
	Tools      []string `json:"tools"`
	Support    int      `json:"support"`
	TurnsSaved int      `json:"turns_saved"`
}

func diffRules(j *cli.Job, o diffOptions, args []string) error {
	switch {
	case o.Threshold < 1:
		return cli.Usagef("--threshold: %d is less than 1", o.Threshold)
	case o.Folds < 2:
		return cli.Usagef("--folds: %d is less than 2", o.Folds)
	}
	var sets [2]*rules.Set
	var mergers [2]*merge.Merger
	var losses [2]*evidence.StateLoss
	for i := range sets {
		set, err := j.Rules(args[i])
		if err != nil {
			return err
		}
		sets[i], mergers[i], losses[i] = set, merge.NewMerger(set, merge.Options{}), evidence.NewStateLoss(set)
	}
	in, err := j.Intake(args[2:], o.InputOptions, trace.Options{})
	if err != nil {
		return err
	}
	defer in.Close()
	for t, err := range in.All() {
		if err != nil {
			return err
		}
		for i := range mergers {
			mergers[i].Add(t)
			losses[i].Add(t)
		}
	}
	out := RulesDiffJSON{Schema: "awo.rules-diff/v1", Input: in.JSON(), Rules: changedRules(sets[0], sets[1])}
	var chains [2][]changedChain
	for i, change := range []string{"removed", "added"} {
		merged := mergers[i].Merged()
		found := candidate.Extract(merged, candidate.Options{Threshold: o.Threshold})
		stats := merged.Graph.Statistics()
		figures := mergedFiguresOf{
			File: args[i], Rules: len(sets[i].Rules), States: stats.States, Edges: stats.Edges,
			Bits: stat.Finite(losses[i].Bits(o.Folds, o.Seed), "a held-out loss needs two tasks with calls"), MetaTools: len(found.Candidates), TurnsSaved: found.TurnsSaved(),
		}
		if i == 0 {
			out.Old = figures
		} else {
			out.New = figures
		}
		for k := range found.Candidates {
			c := found.Candidates[k]
			chain := changedChain{Change: change, Support: c.Support, TurnsSaved: c.TurnsSaved}
			for _, l := range c.Labels {
				chain.Tools = append(chain.Tools, merged.Labels.Name(l))
			}
			chains[i] = append(chains[i], chain)
		}
	}
	out.Chains, out.Same = changedChains(chains[0], chains[1])
	return j.Print(rulesDiffDocument(in, o, out), out)
}

// changedRules returns the rules that are not the same in two sets, those of the old
// one first.
func changedRules(old, now *rules.Set) []changedRule {
	changed := []changedRule{}
	text := func(set *rules.Set, id string) string {
		i := slices.IndexFunc(set.Rules, func(r *rules.Rule) bool { return r.ID == id })
		if i < 0 {
			return ""
		}
		alone := *set.Rules[i]
		alone.Doc = ""
		return alone.Line()
	}
	for _, r := range old.Rules {
		before, after := text(old, r.ID), text(now, r.ID)
		switch {
		case after == "":
			changed = append(changed, changedRule{r.ID, "removed", before, ""})
		case before != after:
			changed = append(changed, changedRule{r.ID, "changed", before, after})
		}
	}
	for _, r := range now.Rules {
		if text(old, r.ID) == "" {
			changed = append(changed, changedRule{r.ID, "added", "", text(now, r.ID)})
		}
	}
	return changed
}

// changedChains returns the chains that one side has more of, and how many both have.
// Chains of the same tools count as the same.
func changedChains(old, now []changedChain) (changed []changedChain, same int) {
	changed = []changedChain{}
	key := func(c changedChain) string { return strings.Join(c.Tools, "\x00") }
	counts := map[string]int{}
	for _, c := range now {
		counts[key(c)]++
	}
	for _, c := range old {
		if counts[key(c)] > 0 {
			counts[key(c)]--
			same++
			continue
		}
		changed = append(changed, c)
	}
	clear(counts)
	for _, c := range old {
		counts[key(c)]++
	}
	for _, c := range now {
		if counts[key(c)] > 0 {
			counts[key(c)]--
			continue
		}
		changed = append(changed, c)
	}
	return changed, same
}

func rulesDiffDocument(in *cli.Intake, o diffOptions, out RulesDiffJSON) *report.Document {
	d := &report.Document{Title: "What the change of rules changes", Answer: fmt.Sprintf("Rules that differ: %d; the traces lead through %s states, now %s, and meta-tools would save at most %s turns, now %s.",
		len(out.Rules), report.Grouped(out.Old.States), report.Grouped(out.New.States), report.Grouped(out.Old.TurnsSaved), report.Grouped(out.New.TurnsSaved))}
	d.Add(in.Brief())
	figures := report.TableOf("figures", "", []mergedFiguresOf{out.Old, out.New}, []report.Column{
		{Key: "file"},
		{Key: "rules"},
		{Key: "states"},
		{Key: "edges"},
		{Key: "bits", From: "held_out_bits", Title: "held-out bits a call", Digits: 3},
		{Key: "meta-tools", From: "meta_tools"},
		{Key: "turns", From: "turns_saved", Title: "turns saved"},
	})
	figures.Note("Meta-tools are chains of calls from one state with a support of %d or more; turns saved are an upper bound. Bits: what the tool of the next call costs to predict from the state, on tasks that the model has not seen.", o.Threshold)
	d.Add(figures)
	changed := report.NewTable("changed-rules", "Rules", report.Column{Key: "rule"}, report.Column{Key: "change"}, report.Column{Key: "old", Wrap: true}, report.Column{Key: "new", Wrap: true})
	for _, r := range out.Rules {
		changed.Add(report.Name(r.ID), report.Text(r.Change), report.Text(r.Old), report.Text(r.New))
	}
	d.Add(changed)
	chains := report.NewTable("changed-meta-tools", "Meta-tools", report.Column{Key: "change"}, report.Column{Key: "tools", Wrap: true}, report.Column{Key: "support", Align: report.Right}, report.Column{Key: "turns", Title: "turns saved", Align: report.Right})
	for _, c := range out.Chains {
		chains.Add(report.Text(c.Change), report.Name(strings.Join(c.Tools, " → ")), report.Int(c.Support), report.Int(c.TurnsSaved))
	}
	chains.Note("%s.", fmt.Sprintf("In both: %s of the same tools", cli.CountOf(out.Same, "meta-tool")))
	d.Add(chains)
	d.Details()
	d.Section("What was read", in.Summary())
	return d
}
