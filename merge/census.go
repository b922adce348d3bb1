package merge

import (
	"fmt"
	"strconv"

	"github.com/awo-dev/awo/merge/internal/hash128"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/stategraph"
	"github.com/awo-dev/awo/trace"
)

// Census counts what the table of a Merger shows, without numbering anything: the counts
// of parts of the traces, added up, are those of the whole. It keeps no state and no label.
//
// States, their pairs and labels are told apart by 64 bits of their hashes, which are the
// same in every process: of n different ones two are taken for one with a chance of n²/2^65.
type Census struct {
	groups []*group
	rows   [][]censusRow // by group
	labels [][]func(uint64)
	root   uint64
	add    func(name string, n int)
}

// censusRow is where the counts of one strategy go.
type censusRow struct {
	*row
	states, pairs, loops, exits func(uint64)
}

// Counts take what a Census finds: numbers that add up, and hashes of things of which the
// different ones are counted. Names tell them apart.
type Counts interface {
	AddN(name string, n int)
	Different(name string) (add func(hash uint64))
}

// NewCensus returns a census under a set of rules, which may be nil.
func NewCensus(set *rules.Set, to Counts) *Census {
	m := NewMerger(set, Options{Table: true, NoWalks: true})
	m.rewriter.labels, m.rewriter.catalog = nil, nil
	last := m.groups[len(m.groups)-1]
	last.rows = append(last.rows, &row{strategy: Full(set), walker: m.walker, variant: len(m.rewriter.variants) - 1})
	c := &Census{groups: m.groups, root: short(m.walker.root), add: to.AddN}
	n := 0
	for i, g := range m.groups {
		g.rewriter.texts = nil
		var labels []func(uint64)
		for variant := range g.rewriter.variants {
			labels = append(labels, to.Different(labelsName(i, variant)))
		}
		c.labels = append(c.labels, labels)
		var rows []censusRow
		for _, r := range g.rows {
			row := censusRow{row: r}
			if !r.strategy.disjoint {
				row.states, row.pairs = to.Different(rowName(n, "states")), to.Different(rowName(n, "pairs"))
				row.loops, row.exits = to.Different(rowName(n, "loops")), to.Different(rowName(n, "exits"))
				row.states(c.root)
			}
			rows = append(rows, row)
			n++
		}
		c.rows = append(c.rows, rows)
	}
	return c
}

func labelsName(group, variant int) string { return fmt.Sprintf("graph.labels.%d.%d", group, variant) }

func rowName(row int, what string) string { return "graph." + strconv.Itoa(row) + "." + what }

func short(h hash128.Hash) uint64 { return h.Lo }

// Add counts one trajectory, of which nothing is kept.
func (c *Census) Add(t *trace.Trajectory) {
	for i, g := range c.groups {
		steps := g.rewriter.Rewrite(t)
		for k := range steps {
			if a := steps[k].action; !a.counted {
				a.counted = true
				for variant, see := range c.labels[i] {
					see(short(a.form(variant).hash))
				}
			}
		}
		for k := range c.rows[i] {
			c.rows[i][k].add(steps, c)
		}
	}
}

func (r *censusRow) add(steps []Step, c *Census) {
	if r.states == nil {
		starts := 0
		for i := range steps {
			if i == 0 || steps[i].Cut {
				starts++
			}
		}
		c.add("graph.steps", len(steps))
		c.add("graph.starts", starts)
		return
	}
	r.walker.follow(steps)
	from := hash128.Hash{}
	for i, to := range r.walker.keys {
		if i == 0 || steps[i].Cut {
			from = r.walker.root
		}
		if from == to {
			r.loops(short(to))
		} else {
			r.states(short(to))
			r.pairs(short(hash128.Mix(from, to)))
			r.exits(short(from))
		}
		from = to
	}
}

// CensusTable returns the rows of the table from the counts of a Census under the same
// rules: sum gives what was added under a name, different how many hashes there were.
func CensusTable(set *rules.Set, sum, different func(name string) int) []StrategyStatistics {
	m := NewMerger(set, Options{Table: true, NoWalks: true})
	var table []StrategyStatistics
	for i, g := range m.groups {
		rows := g.rows
		if i == len(m.groups)-1 {
			rows = append(rows, &row{strategy: Full(set), variant: len(m.rewriter.variants) - 1})
		}
		for _, r := range rows {
			n := len(table)
			s := stategraph.Statistics{Labels: different(labelsName(i, r.variant))}
			if r.strategy.disjoint {
				s.States, s.Edges, s.Sinks = sum("graph.steps")+1, sum("graph.steps"), max(1, sum("graph.starts"))
			} else {
				s.States, s.SelfLoops = max(1, different(rowName(n, "states"))), different(rowName(n, "loops"))
				s.Edges = different(rowName(n, "pairs")) + s.SelfLoops
				s.Sinks = max(0, s.States-different(rowName(n, "exits")))
			}
			table = append(table, StrategyStatistics{Strategy: r.strategy.Name, Statistics: s})
		}
	}
	return table
}
