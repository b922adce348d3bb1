package analysis

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/extraction"
	"github.com/awo-dev/awo/entropy/ngram"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/metatool"
)

// chainsMost bounds --chains.
const chainsMost = 1000

// chain is a row of calls, by the names of their tools, that recurs.
type chain struct {
	Tools        []string      `json:"tools"`
	Occurrences  int           `json:"occurrences"` // that do not overlap
	Saved        int           `json:"calls_less"`  // if each were one call; upper bound
	Trajectories int           `json:"trajectories"`
	Tasks        int           `json:"tasks"`
	Share        stat.Estimate `json:"share"`             // of the trajectories with calls
	Covered      string        `json:"covered,omitempty"` // by meta-tools: whole, inside, part or no; with --tools
	MetaTool     string        `json:"meta_tool,omitempty"`
}

// What meta-tools make of a chain.
const (
	coveredWhole  = "whole"  // one makes these calls
	coveredInside = "inside" // one makes these calls and others before or behind them
	coveredPart   = "part"   // one makes some of them, in a row
	coveredNot    = "no"
)

// readCovering reads the meta-tools that chains are held against; nil if none are named.
func readCovering(j *cli.Job, o analyzeOptions) ([]*metatool.Tool, error) {
	switch {
	case o.Chains < 0 || o.Chains > chainsMost:
		return nil, cli.Usagef("--chains: %d is not in 0..%d", o.Chains, chainsMost)
	case o.Tools == "":
		return nil, nil
	case o.Chains == 0:
		return nil, cli.Usagef("--tools says which chains meta-tools cover: list chains with --chains, such as --chains 20")
	}
	return extraction.ReadTools(j, o.Tools)
}

// addChains finds the chains that recur. The figures depend on names and tasks alone, so
// they are the same for traces and for what was summarized of them.
func (f *findings) addChains(j *cli.Job, o analyzeOptions, covering []*metatool.Tool) {
	if o.Chains == 0 {
		return
	}
	f.chains, f.covering = []chain{}, o.Tools != ""
	var sequences [][]uint32
	var tasks []uint32
	for i, tools := range f.corpus.Sequences() {
		sequences, tasks = append(sequences, tools), append(tasks, f.corpus.Task(i))
	}
	whole := make([]int, len(f.corpus.Tasks()))
	for _, task := range tasks {
		whole[task]++
	}
	chains := ngram.Chains(sequences, tasks, o.Chains, f.byName)
	var shares []stat.ClusterRatio
	for i := range chains {
		c := &chains[i]
		shares = append(shares, shareOf(c.With, whole))
		one := chain{
			Tools: f.names(c.Symbols), Occurrences: c.Occurrences, Saved: c.Gain(), Trajectories: c.Sequences, Tasks: c.Tasks,
			Share: stat.Estimate{Figure: stat.Known(float64(c.Sequences) / float64(len(sequences)))},
		}
		if f.covering {
			one.Covered, one.MetaTool = coverage(one.Tools, covering, o.CollapseRepeats)
		}
		f.chains = append(f.chains, one)
	}
	resamples := min(max(20_000_000/max(len(whole)*len(chains), 1), 200), 2000)
	for i, interval := range stat.Intervals(shares, stat.Options{Seed: j.Seed, Resamples: resamples}) {
		f.chains[i].Share.Interval = interval.Within(0, 1)
	}
}

// shareOf returns the share of trajectories with a chain as a figure of tasks, in an order
// that follows from their counts: what is drawn then depends on nothing else.
func shareOf(with, whole []int) stat.ClusterRatio {
	type task struct{ with, whole int }
	var list []task
	for i, n := range whole {
		if n > 0 {
			one := task{whole: n}
			if i < len(with) {
				one.with = with[i]
			}
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b task) int { return cmp.Or(cmp.Compare(a.whole, b.whole), cmp.Compare(a.with, b.with)) })
	var out stat.ClusterRatio
	for _, one := range list {
		out.Num, out.Den = append(out.Num, float64(one.with)), append(out.Den, float64(one.whole))
	}
	return out
}

// coverage says what meta-tools make of a chain, and the first that makes most of it. By
// names alone: nothing says that its arguments can be bound where the chain occurs.
func coverage(chain []string, tools []*metatool.Tool, collapsed bool) (covered, name string) {
	rank := []string{coveredNot, coveredPart, coveredInside, coveredWhole}
	covered = coveredNot
	for _, t := range tools {
		calls := callsOf(t, collapsed)
		is := coveredNot
		switch {
		case calls.make(chain):
			is = coveredWhole
		case slices.ContainsFunc(calls.parts(), func(part madeCalls) bool { return part.make(chain) }):
			is = coveredInside
		case calls.makePart(chain):
			is = coveredPart
		}
		if slices.Index(rank, is) > slices.Index(rank, covered) {
			covered, name = is, t.Name
		}
	}
	return covered, name
}

// madeCalls are the calls that a meta-tool makes, in a row.
type madeCalls []madeCall

type madeCall struct {
	tool string
	each bool // once or more
}

func callsOf(t *metatool.Tool, collapsed bool) (out madeCalls) {
	for i := range t.Steps {
		s := &t.Steps[i]
		if n := len(out); collapsed && n > 0 && out[n-1].tool == s.Tool {
			continue
		}
		out = append(out, madeCall{s.Tool, s.Each != nil && !collapsed})
	}
	return out
}

// make reports whether these are the calls.
func (m madeCalls) make(calls []string) bool {
	if len(m) == 0 || len(calls) == 0 {
		return len(m) == len(calls)
	}
	if m[0].tool != calls[0] {
		return false
	}
	return m[1:].make(calls[1:]) || m[0].each && m.make(calls[1:])
}

// parts returns what some of the calls are, in a row, but not all.
func (m madeCalls) parts() (out []madeCalls) {
	for from := range m {
		for to := from + 1; to <= len(m); to++ {
			if to-from < len(m) {
				out = append(out, m[from:to])
			}
		}
	}
	return out
}

// makePart reports whether some of the calls, in a row, are all of these.
func (m madeCalls) makePart(calls []string) bool {
	for from := range calls {
		for to := from + 2; to <= len(calls); to++ {
			if m.make(calls[from:to]) {
				return true
			}
		}
	}
	return false
}

// coveredText says in words what meta-tools make of a chain.
func coveredText(c *chain) string {
	switch c.Covered {
	case coveredWhole:
		return c.MetaTool
	case coveredInside:
		return "inside " + c.MetaTool
	case coveredPart:
		return "in part, " + c.MetaTool
	}
	return "no"
}

// namesAlone says what a chain of names is worth.
const namesAlone = "By names alone, so these are upper bounds of what meta-tools can serve: they end at user messages and failed calls, and their arguments must follow from earlier results, which names do not show."

// chainBlocks lists chains, and says what they are worth.
func chainBlocks(f *findings, o analyzeOptions) []report.Block {
	if len(f.chains) == 0 {
		return []report.Block{report.Paragraph("No chain of calls recurs in two tasks."), report.TableOf("chains", "", f.chains, nil).Hidden()}
	}
	columns := []report.Column{
		{Key: "tools", Title: "calls", Max: 44, Wrap: true, Cell: report.By(func(c *chain) report.Cell { return report.Name(sequenceText(c.Tools)) })},
		{Key: "occurrences", Title: "places"},
		{Key: "calls_less", Title: "calls less"},
		{Key: "trajectories"},
		{Key: "tasks"},
		{Key: "share", Unit: "%", Range: "95 %"},
	}
	said := namesAlone
	if f.covering {
		columns = append(columns, report.Column{Key: "covered", Title: "meta-tool", Max: 40, Cell: report.By(func(c *chain) report.Cell { return report.Name(coveredText(c)) })})
		missing := 0
		for i := range f.chains {
			if f.chains[i].Covered == coveredNot {
				missing++
			}
		}
		said = fmt.Sprintf("Of %s no meta-tool makes %s, not even in part. %s `awo verify` counts where meta-tools are exact.", cli.CountOf(len(f.chains), "chain"), report.Grouped(missing), said)
	}
	table := report.TableOf("chains", "Chains of calls that recur", f.chains, columns)
	table.Note("Chains of 2 to %d calls in two tasks or more that are not always part of one and the same longer chain: the %d with the most calls less, which are left out if each place becomes one call (--chains). Places do not overlap; the share is of trajectories with calls, its interval over tasks.", ngram.MaxChain, o.Chains)
	return []report.Block{table, report.Paragraph(said)}
}
