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
)

// heldOutFolds is how many parts the tasks are divided into for a held-out loss, and
// chainSupport how many trajectories must follow a meta-tool whose turns are counted.
const (
	heldOutFolds = 10
	chainSupport = 5
)

// diffFigures are those of `awo rules check --diff`.
type diffFigures struct {
	Input cli.InputJSON `json:"input"`
	Same  int           `json:"meta_tools_in_both"`
}

// mergedFigures are the traces under one of the two rule files.
type mergedFigures struct {
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

// diffRules is `awo rules check --diff`.
func diffRules(j *cli.Job, o checkOptions, args []string) error {
	files, traces := splitRules(args)
	if len(files) != 1 || len(traces) == 0 {
		return cli.Usagef("--diff wants one rule file, new or changed, and then files or folders of traces")
	}
	names := [2]string{o.Diff, files[0]}
	var sets [2]*rules.Set
	var mergers [2]*merge.Merger
	var losses [2]*evidence.StateLoss
	for i, name := range names {
		set, err := j.Rules(name)
		if err != nil {
			return err
		}
		sets[i], mergers[i], losses[i] = set, merge.NewMerger(set, merge.Options{}), evidence.NewStateLoss(set)
	}
	in, err := j.Intake(traces, trace.Options{})
	if err != nil {
		return err
	}
	if err := in.Each(mergers[0].Add, losses[0].Add, mergers[1].Add, losses[1].Add); err != nil {
		return err
	}
	var sides []mergedFigures
	var chains [2][]changedChain
	for i, change := range []string{"removed", "added"} {
		merged := mergers[i].Merged()
		found := candidate.Extract(merged, candidate.Options{Threshold: chainSupport})
		stats := merged.Graph.Statistics()
		sides = append(sides, mergedFigures{
			File: names[i], Rules: len(sets[i].Rules), States: stats.States, Edges: stats.Edges,
			Bits: stat.Finite(losses[i].Bits(heldOutFolds, j.Seed), "a held-out loss needs two tasks with calls"), MetaTools: len(found.Candidates), TurnsSaved: found.TurnsSaved(),
		})
		for k := range found.Candidates {
			c := found.Candidates[k]
			chain := changedChain{Change: change, Support: c.Support, TurnsSaved: c.TurnsSaved}
			for _, l := range c.Labels {
				chain.Tools = append(chain.Tools, merged.Labels.Name(l))
			}
			chains[i] = append(chains[i], chain)
		}
	}
	changed := changedRules(sets[0], sets[1])
	moved, same := changedChains(chains[0], chains[1])
	return j.Result(diffDocument(in, sides, changed, moved, same))
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
	left, matched := map[string]int{}, map[string]int{}
	for _, c := range now {
		left[key(c)]++
	}
	for _, c := range old {
		if k := key(c); left[k] > 0 {
			left[k]--
			matched[k]++
			same++
		} else {
			changed = append(changed, c)
		}
	}
	for _, c := range now {
		if k := key(c); matched[k] > 0 {
			matched[k]--
		} else {
			changed = append(changed, c)
		}
	}
	return changed, same
}

func diffDocument(in *cli.Intake, sides []mergedFigures, changed []changedRule, moved []changedChain, same int) *report.Document {
	old, now := &sides[0], &sides[1]
	d := &report.Document{Title: "What the change of rules changes", Figures: diffFigures{in.JSON(), same}, Answer: fmt.Sprintf("Rules that differ: %d; the traces lead through %s states, now %s, and meta-tools would save at most %s turns, now %s.",
		len(changed), report.Grouped(old.States), report.Grouped(now.States), report.Grouped(old.TurnsSaved), report.Grouped(now.TurnsSaved))}
	d.Add(in.Summary())
	figures := report.TableOf("sides", "", sides, []report.Column{
		{Key: "file"},
		{Key: "rules"},
		{Key: "states"},
		{Key: "edges"},
		{Key: "held_out_bits", Title: "held-out bits a call", Digits: 3},
		{Key: "meta_tools", Title: "meta-tools"},
		{Key: "turns_saved", Title: "turns saved"},
	})
	figures.Note("Meta-tools are chains of calls from one state with a support of %d or more; turns saved are an upper bound. Bits: what the tool of the next call costs to predict from the state, on tasks that the model has not seen.", chainSupport)
	chains := report.TableOf("meta_tools", "Meta-tools", moved, []report.Column{{Key: "change", Words: true}, {Key: "tools", Wrap: true, Join: " → "}, {Key: "support"}, {Key: "turns_saved", Title: "turns saved"}})
	chains.Note("In both: %s of the same tools.", cli.CountOf(same, "meta-tool"))
	d.Add(figures, report.TableOf("rules", "Rules", changed, []report.Column{{Key: "rule", From: "id"}, {Key: "change", Words: true}, {Key: "old", Wrap: true, Words: true}, {Key: "new", Wrap: true, Words: true}}), chains)
	return d
}
