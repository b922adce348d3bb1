package stategraph

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/graph/path"
	"gonum.org/v1/gonum/graph/simple"
	"pgregory.net/rapid"
)

// naive is a graph kept in plain maps, the model that Builder is held against.
type naive struct {
	executions, starts, steps int
	weight, occurrences, free map[key]int
}

type key struct {
	from, to StateID
	label    Label
}

func naiveOf(walks [][]Step) *naive {
	n := &naive{weight: map[key]int{}, occurrences: map[key]int{}, free: map[key]int{}}
	for _, walk := range walks {
		n.executions++
		n.steps += len(walk)
		taken, joined := map[key]bool{}, map[key]bool{}
		from := Root
		for i, s := range walk {
			if i == 0 || s.Flags&Cut != 0 {
				from = Root
				n.starts++
			}
			k := key{from, s.To, s.Label}
			n.occurrences[k]++
			taken[k] = true
			if s.Flags.Joined() {
				joined[k] = true
			}
			from = s.To
		}
		for k := range taken {
			n.weight[k]++
		}
		for k := range joined {
			n.free[k]++
		}
	}
	return n
}

func (n *naive) statistics(states int) Statistics {
	stats := Statistics{States: states}
	pairs, exits, labels := map[[2]StateID]bool{}, map[StateID]bool{}, map[Label]bool{}
	for k := range n.weight {
		pairs[[2]StateID{k.from, k.to}] = true
		labels[k.label] = true
		if k.from != k.to {
			exits[k.from] = true
		}
	}
	for p := range pairs {
		if p[0] == p[1] {
			stats.SelfLoops++
		}
	}
	stats.Edges, stats.Sinks, stats.Labels = len(pairs), states-len(exits), len(labels)
	return stats
}

// drawWalks draws walks over few states and labels, so that all of them meet,
// numbered by first appearance.
func drawWalks(t *rapid.T) [][]Step {
	number := map[int]StateID{0: Root}
	walks := make([][]Step, rapid.IntRange(0, 12).Draw(t, "walks"))
	for i := range walks {
		walks[i] = make([]Step, rapid.IntRange(0, 10).Draw(t, "length"))
		for j := range walks[i] {
			state := rapid.IntRange(0, 7).Draw(t, "state")
			if _, known := number[state]; !known {
				number[state] = StateID(len(number))
			}
			walks[i][j] = Step{
				Label: Label(rapid.IntRange(0, 2).Draw(t, "label")),
				To:    number[state],
				Flags: Flags(rapid.IntRange(0, 7).Draw(t, "flags")) & rapid.SampledFrom([]Flags{0, 7}).Draw(t, "mask"),
			}
		}
	}
	return walks
}

func build(walks [][]Step) (*Graph, [][]EdgeID) {
	var b Builder
	refs := make([][]EdgeID, len(walks))
	for i, walk := range walks {
		refs[i] = b.Add(walk, nil)
	}
	return b.Graph(), refs
}

func TestGraphAgreesWithPlainMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walks := drawWalks(t)
		g, refs := build(walks)
		want := naiveOf(walks)

		got := naive{weight: map[key]int{}, occurrences: map[key]int{}, free: map[key]int{}}
		for id := range EdgeID(g.Edges()) {
			e := g.Edge(id)
			k := key{e.From, e.To, e.Label}
			if _, twice := got.weight[k]; twice {
				t.Fatalf("edge %v is there twice", k)
			}
			got.weight[k], got.occurrences[k] = e.Weight, e.Occurrences
			if e.Free > 0 {
				got.free[k] = e.Free
			}
		}
		if !maps.Equal(got.weight, want.weight) || !maps.Equal(got.occurrences, want.occurrences) || !maps.Equal(got.free, want.free) {
			t.Fatalf("got %+v\nwant %+v", got, want)
		}
		if g.Executions() != want.executions || g.Starts() != want.starts || g.Steps() != want.steps {
			t.Fatalf("executions %d, starts %d, steps %d; want %+v", g.Executions(), g.Starts(), g.Steps(), want)
		}
		if stats := want.statistics(g.States()); g.Statistics() != stats {
			t.Fatalf("statistics %+v, want %+v", g.Statistics(), stats)
		}
		for i, walk := range walks {
			for j, s := range walk {
				if e := g.Edge(refs[i][j]); e.To != s.To || e.Label != s.Label {
					t.Fatalf("walk %d, step %d: reference resolves to %+v, want %+v", i, j, e, s)
				}
			}
		}
	})
}

func TestGraphListsEveryEdgeOnceByEitherEnd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, _ := build(drawWalks(t))
		in := g.Incoming()
		var out, into []EdgeID
		for s := range StateID(g.States()) {
			for i, e := range g.Out(s) {
				if g.From(e) != s {
					t.Fatalf("edge %d does not leave %d", e, s)
				}
				if i > 0 && g.To(g.Out(s)[i-1]) > g.To(e) {
					t.Fatalf("edges of state %d are not ordered by target", s)
				}
			}
			for _, e := range in[s] {
				if g.To(e) != s {
					t.Fatalf("edge %d does not lead to %d", e, s)
				}
			}
			out, into = append(out, g.Out(s)...), append(into, in[s]...)
		}
		all := make([]EdgeID, g.Edges())
		for e := range all {
			all[e] = EdgeID(e)
		}
		slices.Sort(out)
		slices.Sort(into)
		if !slices.Equal(out, all) || !slices.Equal(into, all) {
			t.Fatalf("outgoing %v, incoming %v, want each of %d once", out, into, len(all))
		}
	})
}

func TestVisitsAreConserved(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, _ := build(drawWalks(t))
		visits, ends := 0, 0
		for s, n := range g.Visits() {
			visits += n
			if e := g.Ends()[s]; e < 0 {
				t.Fatalf("%d executions end in state %d", e, s)
			} else {
				ends += e
			}
		}
		if visits != g.Steps()+g.Starts() || ends != g.Starts() {
			t.Fatalf("visits %d, ends %d with %d steps and %d starts", visits, ends, g.Steps(), g.Starts())
		}
	})
}

func TestAddingWalksTwiceDoublesWeightsAlone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walks := drawWalks(t)
		once, _ := build(walks)
		twice, _ := build(slices.Concat(walks, walks))
		if once.Statistics() != twice.Statistics() || once.Edges() != twice.Edges() {
			t.Fatalf("statistics changed: %+v, %+v", once.Statistics(), twice.Statistics())
		}
		for id := range EdgeID(once.Edges()) {
			want := once.Edge(id)
			want.Weight, want.Occurrences, want.Free = 2*want.Weight, 2*want.Occurrences, 2*want.Free
			if got := twice.Edge(id); got != want {
				t.Fatalf("edge %d: %+v, want %+v", id, got, want)
			}
		}
	})
}

func TestDistancesAgreeWithGonum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g, _ := build(drawWalks(t))
		other := simple.NewDirectedGraph()
		for s := range g.States() {
			other.AddNode(simple.Node(s))
		}
		for id := range EdgeID(g.Edges()) {
			if e := g.Edge(id); !e.IsLoop() && !other.HasEdgeFromTo(int64(e.From), int64(e.To)) {
				other.SetEdge(other.NewEdge(simple.Node(e.From), simple.Node(e.To)))
			}
		}
		shortest := path.DijkstraFrom(simple.Node(Root), other)
		for s := range StateID(g.States()) {
			if want := shortest.WeightTo(int64(s)); float64(g.Distance(s)) != want {
				t.Fatalf("distance of %d is %d, want %v", s, g.Distance(s), want)
			}
		}
	})
}

func TestCounterAgreesWithGraph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		walks := drawWalks(t)
		g, _ := build(walks)
		var c Counter
		for _, walk := range walks {
			c.Add(walk)
		}
		want := g.Statistics()
		want.Labels = 0
		if got := c.Statistics(); got != want {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

func TestGraphStaysAsItWas(t *testing.T) {
	var b Builder
	b.Add([]Step{{Label: 1, To: 1}, {Label: 2, To: 2}}, nil)
	g := b.Graph()
	before := fmt.Sprint(g.Statistics(), g.Edge(0), g.Edge(1), g.Executions(), g.Visits())
	b.Add([]Step{{Label: 1, To: 1}, {Label: 2, To: 1}, {Label: 3, To: 3}}, nil)
	if after := fmt.Sprint(g.Statistics(), g.Edge(0), g.Edge(1), g.Executions(), g.Visits()); after != before {
		t.Errorf("the graph changed with its builder:\n%s\n%s", before, after)
	}
	if s := b.Graph().States(); s != 4 {
		t.Errorf("the builder has %d states, want 4", s)
	}
}

func TestEmptyGraph(t *testing.T) {
	var b Builder
	b.Add(nil, nil)
	g := b.Graph()
	if want := (Statistics{States: 1, Sinks: 1}); g.Statistics() != want {
		t.Errorf("got %+v, want %+v", g.Statistics(), want)
	}
	if g.Executions() != 1 || g.Starts() != 0 {
		t.Errorf("executions %d, starts %d, want 1 and 0", g.Executions(), g.Starts())
	}
}

func TestStatesMustBeNumberedByFirstAppearance(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("a step to a state far beyond the known ones was taken")
		}
	}()
	var b Builder
	b.Add([]Step{{To: 2}}, nil)
}

// treeWalks are walks of a prefix tree with the given number of steps.
func treeWalks(steps int) [][]Step {
	random := rand.New(rand.NewPCG(1, 2))
	type place struct {
		state StateID
		label Label
	}
	next := map[place]StateID{}
	var walks [][]Step
	for steps > 0 {
		walk := make([]Step, 0, 12)
		state := Root
		for range 4 + random.IntN(16) {
			p := place{state, Label(random.IntN(8) * random.IntN(8))}
			to, known := next[p]
			if !known {
				to = StateID(len(next)) + 1
				next[p] = to
			}
			walk = append(walk, Step{Label: p.label, To: to})
			state = to
			steps--
		}
		walks = append(walks, walk)
	}
	return walks
}

func BenchmarkBuilder(b *testing.B) {
	walks := treeWalks(1 << 20)
	steps := 0
	for _, w := range walks {
		steps += len(w)
	}
	b.ReportAllocs()
	for b.Loop() {
		var builder Builder
		var refs []EdgeID
		for _, w := range walks {
			refs = builder.Add(w, refs[:0])
		}
	}
	b.ReportMetric(float64(b.N)*float64(steps)/b.Elapsed().Seconds()/1e6, "Msteps/s")
}
