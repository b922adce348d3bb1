package merge

import (
	"github.com/awo-dev/awo/merge/internal/hash128"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/stategraph"
	"github.com/awo-dev/awo/trace"
)

// Options say what a Merger is to find out. The zero value gives the graph and
// the walks of the full strategy.
type Options struct {
	Table     bool // also the figures of every cumulative strategy
	NoWalks   bool // keep no walks
	MaxStates int  // limit of the states of each strategy; 0 for none
}

// Merger merges a stream of trajectories into one graph. It is not safe for
// concurrent use: what is numbered is numbered by one consumer in input order,
// so that the result does not depend on who decoded the input.
type Merger struct {
	set     *rules.Set
	options Options

	labels  *Labels
	catalog *Catalog

	rewriter *Rewriter
	walker   *Walker
	builder  stategraph.Builder
	walks    walksBuilder
	groups   []*group

	walk  []stategraph.Step
	edges []stategraph.EdgeID

	trajectories, empty, unread, calls, turns int
}

// group is strategies under which trajectories have the same steps, but for
// their labels.
type group struct {
	rewriter *Rewriter // of the Merger itself, for the last group
	rows     []*row
}

// row counts one strategy.
type row struct {
	strategy Strategy
	walker   *Walker
	counter  stategraph.Counter
	variant  int
}

// Merged is what a Merger found.
type Merged struct {
	Set     *rules.Set
	Graph   *stategraph.Graph
	Labels  *Labels
	Walks   *Walks // nil if not asked for
	Catalog *Catalog
	Table   []StrategyStatistics // nil if not asked for

	Trajectories int // added, all of which have a walk, if only an empty one
	Empty        int // of those, without a call that the rules leave
	Unread       int // of those, left out by the `outcome:` policy
	Calls        int // that steps stand for
	Turns        int // with such a call
	LeftOut      int // steps that led to states beyond the limit of states
}

// StrategyStatistics are the figures of one cumulative strategy.
type StrategyStatistics struct {
	Strategy string `json:"strategy"`
	stategraph.Statistics
	LeftOut int `json:"left_out,omitempty"` // steps that led to states beyond the limit of states
}

// NewMerger returns a merger for a set of rules, which may be nil.
func NewMerger(set *rules.Set, options Options) *Merger {
	if set == nil {
		set = &rules.Set{}
	}
	m := &Merger{set: set, options: options, labels: &Labels{}, catalog: NewCatalog(set)}
	in := newInterns()
	full := Full(set)
	variants := []kindSet{full.kinds & textual}
	if options.Table {
		variants = m.table(in)
	}
	m.rewriter = newRewriter(set, full.kinds, variants, m.labels, m.catalog, in)
	m.walker = newWalker(set, full, in, len(variants)-1, options.MaxStates)
	if options.Table {
		m.groups[len(m.groups)-1].rewriter = m.rewriter
		m.rewriter.texts = make([]hash128.Table, len(variants))
	}
	return m
}

// table makes the rows but for the rewriter of the last group, whose forms of
// the label it returns.
func (m *Merger) table(in *interns) []kindSet {
	var variants []kindSet
	var last Strategy
	strategies := Strategies(m.set)
	for i, s := range strategies {
		if m.groups == nil || s.kinds&structural != last.kinds&structural {
			m.closeGroup(last, variants, in)
			m.groups = append(m.groups, &group{})
			variants = nil
		}
		if text := s.kinds & textual; len(variants) == 0 || variants[len(variants)-1] != text {
			variants = append(variants, text)
		}
		last = s
		if i == len(strategies)-1 {
			break // the row of the full strategy is the graph itself
		}
		g := m.groups[len(m.groups)-1]
		variant := len(variants) - 1
		g.rows = append(g.rows, &row{strategy: s, walker: newWalker(m.set, s, in, variant, m.options.MaxStates), variant: variant})
	}
	return variants
}

// closeGroup gives the group before the one that begins its own rewriter. Its
// labels are counted and not kept.
func (m *Merger) closeGroup(last Strategy, variants []kindSet, in *interns) {
	if m.groups == nil {
		return
	}
	r := newRewriter(m.set, last.kinds, variants, nil, nil, in)
	r.texts = make([]hash128.Table, len(variants))
	m.groups[len(m.groups)-1].rewriter = r
}

// Add merges one trajectory, of which nothing is kept but labels.
func (m *Merger) Add(t *trace.Trajectory) {
	m.trajectories++
	for _, g := range m.groups[:max(0, len(m.groups)-1)] {
		g.add(g.rewriter.Rewrite(t), &m.walk)
	}
	steps := m.rewriter.Rewrite(t)
	if len(m.groups) > 0 {
		m.groups[len(m.groups)-1].add(steps, &m.walk)
	}
	switch {
	case !Reads(m.set, t):
		m.unread++
	case len(steps) == 0:
		m.empty++
	}
	m.count(steps)
	m.walk = m.walker.Walk(steps, m.walk[:0])
	m.edges = m.builder.Add(m.walk, m.edges[:0])
	if !m.options.NoWalks {
		m.walks.add(m.walk, m.edges, steps)
	}
}

// count counts calls and the turns that they are in.
func (m *Merger) count(steps []Step) {
	turn := int32(-1)
	for i := range steps {
		step := &steps[i]
		m.calls += int(step.Calls)
		if step.Calls == 0 {
			continue
		}
		m.turns += int(step.Turns)
		if step.FirstTurn == turn {
			m.turns-- // shared with the step before
		}
		turn = step.LastTurn
	}
}

func (g *group) add(steps []Step, walk *[]stategraph.Step) {
	for _, row := range g.rows {
		*walk = row.walker.Walk(steps, (*walk)[:0])
		row.counter.Add(*walk)
	}
}

// Merged returns what was found. The merger must not be used afterwards.
func (m *Merger) Merged() *Merged {
	merged := &Merged{
		Set: m.set, Graph: m.builder.Graph(), Labels: m.labels, Catalog: m.catalog,
		Trajectories: m.trajectories, Empty: m.empty, Unread: m.unread, Calls: m.calls, Turns: m.turns,
		LeftOut: m.walker.LeftOut,
	}
	if !m.options.NoWalks {
		merged.Walks = m.walks.finish()
	}
	if m.options.Table {
		merged.Table = m.statistics(merged.Graph)
	}
	return merged
}

// statistics returns the rows of the table, the last of which is the graph.
func (m *Merger) statistics(full *stategraph.Graph) []StrategyStatistics {
	var table []StrategyStatistics
	for _, g := range m.groups {
		for _, row := range g.rows {
			stats := row.counter.Statistics()
			stats.Labels = g.rewriter.texts[row.variant].Len()
			table = append(table, StrategyStatistics{row.strategy.Name, stats, row.walker.LeftOut})
		}
	}
	return append(table, StrategyStatistics{Full(m.set).Name, full.Statistics(), m.walker.LeftOut})
}

// Names returns the names of labels for the exports of the graph, as the masker
// shows them.
func (m *Merged) Names(masker *Masker) stategraph.Names {
	return stategraph.Names{Label: masker.Label, Tool: m.Labels.Name}
}
