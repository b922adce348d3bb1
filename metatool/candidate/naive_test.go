package candidate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/stategraph"
	"github.com/awo-dev/awo/trace"
)

// naiveItem is a step, or several that were made one.
type naiveItem struct {
	from, to stategraph.StateID
	labels   string // texts, a line each
	first    merge.Place
	steps    int
	joined   bool
	merged   bool
}

// naiveEdge is what tells edges apart.
type naiveEdge struct {
	from, to stategraph.StateID
	labels   string
}

func (i naiveItem) edge() naiveEdge { return naiveEdge{i.from, i.to, i.labels} }

// naiveExtraction is Algorithm 1 as it is written down: after every meta-tool
// all walks are walked again, and everything is counted again.
type naiveExtraction struct {
	m       *merge.Merged
	options Options
	walks   [][]naiveItem

	weight, joined map[naiveEdge]int
	out            map[stategraph.StateID][]naiveEdge
	distance       map[stategraph.StateID]int
}

func newNaive(m *merge.Merged, o Options) *naiveExtraction {
	n := &naiveExtraction{m: m, options: o}
	for t := range m.Walks.Trajectories() {
		var walk []naiveItem
		first, last := m.Walks.Of(t)
		for p := first; p < last; p++ {
			e := m.Graph.Edge(m.Walks.Edge(p))
			flags := m.Walks.Flags(p)
			if o.AsPublished {
				flags &^= stategraph.AfterUser
			}
			walk = append(walk, naiveItem{e.From, e.To, m.Labels.Text(e.Label) + "\n", p, 1, flags.Joined(), false})
		}
		n.walks = append(n.walks, walk)
	}
	return n
}

// count counts weights and distances in the walks as they are.
func (n *naiveExtraction) count() {
	n.weight, n.joined = map[naiveEdge]int{}, map[naiveEdge]int{}
	n.out = map[stategraph.StateID][]naiveEdge{}
	for _, walk := range n.walks {
		taken, joined := map[naiveEdge]bool{}, map[naiveEdge]bool{}
		for _, item := range walk {
			e := item.edge()
			taken[e] = true
			if item.joined {
				joined[e] = true
			}
		}
		for e := range taken {
			if n.weight[e]++; n.weight[e] == 1 {
				n.out[e.from] = append(n.out[e.from], e)
			}
		}
		for e := range joined {
			n.joined[e]++
		}
	}
	n.distance = map[stategraph.StateID]int{stategraph.Root: 0}
	for queue := []stategraph.StateID{stategraph.Root}; len(queue) > 0; queue = queue[1:] {
		for _, e := range n.out[queue[0]] {
			if _, known := n.distance[e.to]; !known {
				n.distance[e.to] = n.distance[queue[0]] + 1
				queue = append(queue, e.to)
			}
		}
	}
}

func (n *naiveExtraction) seeds(exhausted map[naiveEdge]bool) []naiveEdge {
	var seeds []naiveEdge
	for e, w := range n.weight {
		if w >= n.options.MinSupport() && e.from != e.to && !exhausted[e] {
			seeds = append(seeds, e)
		}
	}
	slices.SortFunc(seeds, func(a, b naiveEdge) int {
		return cmp.Or(
			cmp.Compare(n.weight[b], n.weight[a]),
			cmp.Compare(n.distance[a.from], n.distance[b.from]),
			slices.Compare(strings.SplitAfter(a.labels, "\n"), strings.SplitAfter(b.labels, "\n")),
			cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
	return seeds
}

// follow returns the places (walk, item) at which a chain is followed whole.
func (n *naiveExtraction) follow(chain []naiveEdge) (places [][2]int, trajectories int) {
	for w, walk := range n.walks {
		found := false
		for i := 0; i+len(chain) <= len(walk); i++ {
			all := true
			for j, e := range chain {
				all = all && walk[i+j].edge() == e && (j == 0 || walk[i+j].joined)
			}
			if all {
				places = append(places, [2]int{w, i})
				found = true
			}
		}
		if found {
			trajectories++
		}
	}
	return places, trajectories
}

func (n *naiveExtraction) grow(seed naiveEdge) []naiveEdge {
	chain := []naiveEdge{seed}
	for {
		end := chain[len(chain)-1].to
		total := 0
		for _, e := range n.out[end] {
			if e.to != end {
				total += n.weight[e]
			}
		}
		var next []naiveEdge
		for _, e := range n.out[end] {
			inChain := e.to == chain[0].from || slices.ContainsFunc(chain, func(c naiveEdge) bool { return c.to == e.to })
			if e.to != end && 2*n.joined[e] > total && n.joined[e] >= n.options.MinSupport() && !inChain {
				next = append(next, e)
			}
		}
		if len(next) == 0 {
			return chain
		}
		longer := append(slices.Clone(chain), next[0])
		if _, trajectories := n.follow(longer); !n.options.AsPublished && trajectories < n.options.MinSupport() {
			return chain
		}
		chain = longer
	}
}

// cost counts the calls of all walks, and the turns that hold one.
func (n *naiveExtraction) cost() (calls, turns int) {
	for _, walk := range n.walks {
		occupied := map[int]bool{}
		for _, item := range walk {
			own := 0
			for p := item.first; p < item.first+merge.Place(item.steps); p++ {
				_, _, k := n.m.Walks.Calls(p)
				first, last := n.m.Walks.Turns(p)
				for t := first; t <= last && k > 0 && (!item.merged || own == 0); t++ {
					occupied[t] = true
					if item.merged {
						break
					}
				}
				own += k
			}
			if item.merged {
				own = min(own, 1)
			}
			calls += own
		}
		turns += len(occupied)
	}
	return calls, turns
}

func (n *naiveExtraction) run() *Extraction {
	x := &Extraction{Options: n.options}
	x.Calls, x.Turns = n.cost()
	byCalls := map[string]*Candidate{}
	exhausted := map[naiveEdge]bool{}
	for {
		n.count()
		seeds := n.seeds(exhausted)
		if len(seeds) == 0 {
			break
		}
		chain := n.grow(seeds[0])
		places, _ := n.follow(chain)
		if len(chain) < 2 || len(places) == 0 {
			exhausted[seeds[0]] = true
			continue
		}
		labels := ""
		for _, e := range chain {
			labels += e.labels
		}
		c := byCalls[labels]
		if c == nil {
			c = &Candidate{}
			byCalls[labels] = c
			x.Candidates = append(x.Candidates, c)
			first := n.walks[places[0][0]][places[0][1]].first
			for i := range strings.Count(labels, "\n") {
				c.Labels = append(c.Labels, n.m.Graph.Label(n.m.Walks.Edge(first+merge.Place(i))))
			}
		}
		calls, turns := n.cost()
		for _, place := range slices.Backward(places) {
			w, i := place[0], place[1]
			walk := n.walks[w]
			one := naiveItem{chain[0].from, chain[len(chain)-1].to, labels, walk[i].first, 0, walk[i].joined, true}
			for _, item := range walk[i : i+len(chain)] {
				one.steps += item.steps
			}
			n.walks[w] = slices.Replace(walk, i, i+len(chain), one)
			c.Occurrences = append(c.Occurrences, Occurrence{Trajectory: w, First: one.first})
		}
		after, turnsAfter := n.cost()
		c.CallsSaved += calls - after
		c.TurnsSaved += turns - turnsAfter
	}
	for _, c := range x.Candidates {
		slices.SortFunc(c.Occurrences, func(a, b Occurrence) int { return cmp.Compare(a.First, b.First) })
		support := map[int]bool{}
		for _, o := range c.Occurrences {
			support[o.Trajectory] = true
		}
		c.Support = len(support)
	}
	x.CallsAfter, x.TurnsAfter = n.cost()
	return x
}

// describe writes an extraction down.
func describe(m *merge.Merged, x *Extraction) string {
	var b strings.Builder
	fmt.Fprintf(&b, "calls %d -> %d, turns %d -> %d\n", x.Calls, x.CallsAfter, x.Turns, x.TurnsAfter)
	for _, c := range x.Candidates {
		for _, l := range c.Labels {
			fmt.Fprint(&b, m.Labels.Text(l), " ")
		}
		fmt.Fprintf(&b, "support %d, turns %d, calls %d: %v\n", c.Support, c.TurnsSaved, c.CallsSaved, c.Occurrences)
	}
	return b.String()
}

// everyKind are rules that make walks with everything that Extract has to mind:
// cuts, barriers, inserted and folded steps, self-loops, merged states.
const everyKind = `{"version": 1, "failed": "split", "rules": [
	{"id": "reads", "kind": "effect", "match": {"tool": ["b", "c"]}, "effect": "accessor"},
	{"id": "notes", "kind": "effect", "match": {"tool": "d"}, "effect": "annotator"},
	{"id": "stop", "kind": "barrier", "match": {"tool": "a", "args": {"n": "^1$"}}},
	{"id": "fold", "kind": "fold", "match": {"tool": "e"}, "arg": "n"},
	{"id": "insert", "kind": "insert", "match": {"tool": "b", "args": {"n": "^1$"}}, "after": {"tool": "z"}},
	{"id": "first", "kind": "insert", "match": {"tool": "e"}, "before": {"tool": "y"}},
	{"id": "quiet", "kind": "drop", "match": {"tool": "c", "args": {"n": "^1$"}}}
]}`

// drawRuns draws trajectories that mostly do the same things.
func drawRuns(t *rapid.T) []*trace.Trajectory {
	habits := rapid.SliceOfN(rapid.SliceOfN(rapid.IntRange(0, 9), 2, 8), 1, 4).Draw(t, "habits")
	var runs []*trace.Trajectory
	for range rapid.IntRange(1, 14).Draw(t, "runs") {
		tr := &trace.Trajectory{}
		calls := slices.Clone(rapid.SampledFrom(habits).Draw(t, "habit"))
		if rapid.IntRange(0, 2).Draw(t, "departs") == 0 {
			calls[rapid.IntRange(0, len(calls)-1).Draw(t, "at")] = rapid.IntRange(0, 9).Draw(t, "call")
		}
		if rapid.Bool().Draw(t, "again") {
			calls = append(calls, rapid.SampledFrom(habits).Draw(t, "habit")...)
		}
		mark := rapid.SampledFrom([]int{3, 8, 100}).Draw(t, "marks")
		for i, c := range calls {
			drawn := rapid.IntRange(0, mark).Draw(t, "mark")
			if drawn != 0 || i == 0 {
				tr.Turns = append(tr.Turns, trace.Turn{})
			}
			call := trace.Call{
				Tool: trace.Intern(string(rune('a' + c/2))), Args: trace.JSONOf(fmt.Appendf(nil, `{"n":%d}`, c%2)),
				Turn: len(tr.Turns) - 1, AfterUser: drawn == 1,
			}
			if drawn == 2 {
				call.Status = trace.StatusFailed
			}
			tr.Calls = append(tr.Calls, call)
		}
		runs = append(runs, tr)
	}
	return runs
}

func TestExtractAgreesWithTheNaiveAlgorithm(t *testing.T) {
	sets := []*rules.Set{nil}
	for _, text := range []string{everyKind, strings.Replace(everyKind, `{"tool": "a", "args"`, `{"tool": "b", "args"`, 1)} {
		set, err := rules.Parse("rules.json", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		sets = append(sets, set)
	}
	rapid.Check(t, func(t *rapid.T) {
		used := rapid.SampledFrom(sets).Draw(t, "rules")
		merger := merge.NewMerger(used, merge.Options{})
		for _, tr := range drawRuns(t) {
			merger.Add(tr)
		}
		m := merger.Merged()
		o := Options{Threshold: rapid.IntRange(1, 4).Draw(t, "threshold"), AsPublished: rapid.Bool().Draw(t, "as published")}
		got, want := describe(m, Extract(m, o)), describe(m, newNaive(m, o).run())
		if got != want {
			t.Fatalf("got\n%s\nwant\n%s", got, want)
		}
	})
}
