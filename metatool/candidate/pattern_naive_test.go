package candidate

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/trace"
)

// naivePatterns is the search as it is written down: after every pattern all
// patterns are found and counted again.
type naivePatterns struct {
	p     *Patterns
	forms *forms
	turns []naiveTurn // by call, in the order of steps
}

// naiveTurn is one call: the step it is part of, and the turn that it is made in
// by now.
type naiveTurn struct {
	step, trajectory, turn int
	worth                  float64
}

func (n *naivePatterns) symbols(start, length int) ([]int32, bool) {
	p, w := n.p, n.p.merged.Walks
	var path []int32
	each := uint16(0)
	for k := range length {
		s := start + k
		if s >= len(p.symbol) || p.trajectory[s] != p.trajectory[start] || p.symbol[s] == noSymbol {
			return nil, false
		}
		if k > 0 && !w.Flags(merge.Place(p.place[s])).Joined() {
			return nil, false
		}
		f := n.forms.of(p.symbol[s], k, each)
		if f == noSymbol {
			return nil, false
		}
		each <<= 1
		if n.forms.list[f].each {
			each |= 1
		}
		path = append(path, f)
	}
	return path, true
}

// callingTurns counts the turns that calls are made in.
func callingTurns(calls []naiveTurn) float64 {
	seen := map[[2]int]bool{}
	sum := 0.0
	for _, c := range calls {
		if at := [2]int{c.trajectory, c.turn}; !seen[at] {
			seen[at] = true
			sum += c.worth
		}
	}
	return sum
}

// merged returns the calls when each occurrence is one call.
func (n *naivePatterns) merged(starts []int, length int) []naiveTurn {
	var out []naiveTurn
	for i := 0; i < len(n.turns); {
		c := n.turns[i]
		inside := func(s int) bool {
			return slices.ContainsFunc(starts, func(start int) bool { return s >= start && s < start+length })
		}
		out = append(out, c)
		i++
		if !inside(c.step) {
			continue
		}
		start := starts[slices.IndexFunc(starts, func(start int) bool { return c.step >= start && c.step < start+length })]
		out[len(out)-1].step = start
		for i < len(n.turns) && n.turns[i].step < start+length {
			i++
		}
	}
	return out
}

type naiveFound struct {
	path    []int32
	starts  []int
	turns   float64
	calls   int
	support int
}

func (n *naivePatterns) best(items []int) *naiveFound {
	ends := map[int]bool{}
	for _, s := range items {
		ends[s] = true
	}
	ends[len(n.p.symbol)] = true
	groups := map[string]*naiveFound{}
	for i, start := range items {
		for length := 1; length <= MaxPatternSteps; length++ {
			path, ok := n.symbols(start, length)
			if !ok {
				break
			}
			if !ends[start+length] || length > 1 && i+1 < len(items) && items[i+1] == start+length {
				continue // in the middle of an item, or one item
			}
			key := fmt.Sprint(path)
			if groups[key] == nil {
				groups[key] = &naiveFound{path: path}
			}
			g := groups[key]
			if len(g.starts) == 0 || start >= g.starts[len(g.starts)-1]+length {
				g.starts = append(g.starts, start)
			}
		}
	}
	var best *naiveFound
	before := callingTurns(n.turns)
	for _, g := range groups {
		runs := map[uint32]bool{}
		for _, s := range g.starts {
			runs[n.p.trajectory[s]] = true
		}
		after := n.merged(g.starts, len(g.path))
		g.support, g.turns, g.calls = len(runs), before-callingTurns(after), len(n.turns)-len(after)
		if g.support < n.p.options.MinSupport() || g.turns <= 0 {
			continue
		}
		if best == nil || g.turns > best.turns || g.turns == best.turns && n.before(g.path, best.path) {
			best = g
		}
	}
	return best
}

func (n *naivePatterns) before(a, b []int32) bool {
	if len(a) != len(b) {
		return len(a) < len(b)
	}
	for i := range a {
		if c := n.forms.compare(a[i], b[i]); c != 0 {
			return c < 0
		}
	}
	return false
}

func (n *naivePatterns) run() []naiveFound {
	var items []int
	for s := range n.p.symbol {
		items = append(items, s)
	}
	var found []naiveFound
	for {
		best := n.best(items)
		if best == nil {
			return found
		}
		found = append(found, *best)
		n.turns = n.merged(best.starts, len(best.path))
		for _, start := range best.starts {
			items = slices.DeleteFunc(items, func(s int) bool { return s > start && s < start+len(best.path) })
		}
	}
}

// randomPatterns draws trajectories of few tools, with steps whose arguments
// come from earlier ones, from outside or from nowhere.
func randomPatterns(t *rapid.T, o Options) (*Patterns, []naiveTurn) {
	set := &dataflow.Set{}
	for i := range 3 {
		path := []string{"$.id", "$.list[*]", "$.other"}[i]
		set.Links = append(set.Links, dataflow.Link{
			From: dataflow.Slot{Side: dataflow.Output, Tool: trace.Intern("a"), Path: path}, Verdict: dataflow.Accepted,
		})
	}
	merger := merge.NewMerger(nil, merge.Options{})
	var list []*trace.Trajectory
	for range rapid.IntRange(1, 5).Draw(t, "trajectories") {
		one := &trace.Trajectory{}
		turn := 0
		for i := range rapid.IntRange(0, 14).Draw(t, "calls") {
			if i > 0 && rapid.IntRange(0, 3).Draw(t, "turn") > 0 {
				turn++
			}
			if len(one.Turns) <= turn {
				one.Turns = append(one.Turns, trace.Turn{FirstCall: i})
			}
			one.Turns[turn].NumCalls++
			name := rapid.SampledFrom([]string{"a", "a", "b", "c"}).Draw(t, "tool")
			one.Calls = append(one.Calls, trace.Call{
				Tool: trace.Intern(name), Args: trace.JSONOf([]byte(`{}`)), Turn: turn,
				AfterUser: i > 0 && rapid.IntRange(0, 9).Draw(t, "user") == 0,
			})
		}
		list = append(list, one)
		merger.Add(one)
	}
	p := NewPatterns(merger.Merged(), set, o)
	var calls []naiveTurn
	for i, one := range list {
		p.Add(randomSymbols(t, p, i, one, &calls))
	}
	return p, calls
}

func randomSymbols(t *rapid.T, p *Patterns, i int, one *trace.Trajectory, calls *[]naiveTurn) *Symbols {
	w := p.merged.Walks
	out := &Symbols{trajectory: i}
	first, last := w.Of(i)
	for place := first; place < last; {
		s := symbol{place: place, tool: p.toolOf[p.merged.Graph.Label(w.Edge(place))]}
		step := len(p.symbol) + len(out.steps)
		n := merge.Place(1)
		for place+n < last && w.Flags(place+n).Joined() && p.toolOf[p.merged.Graph.Label(w.Edge(place+n))] == s.tool && rapid.IntRange(0, 2).Draw(t, "fold") == 0 {
			n++
		}
		for range rapid.IntRange(0, 2).Draw(t, "arguments") {
			a := patternArg{param: uint64(len(s.args)), known: uint8(rapid.SampledFrom([]int{always, 3, 1, 0}).Draw(t, "known"))}
			for range rapid.IntRange(0, 2).Draw(t, "sources") {
				a.sources = append(a.sources, patternSource{
					int32(rapid.IntRange(0, 2).Draw(t, "link")), uint8(rapid.IntRange(1, 4).Draw(t, "before")), rapid.Bool().Draw(t, "copied"),
				})
			}
			s.args = append(s.args, a)
		}
		if n > 1 {
			s.many = true
			s.args = append(s.args, patternArg{param: 9, known: always, sources: []patternSource{{1, uint8(rapid.IntRange(1, 3).Draw(t, "before")), false}}})
			s.each = len(s.args) - 1
		}
		if rapid.IntRange(0, 12).Draw(t, "repeat") == 0 {
			s.again = 1
		}
		for k := range n {
			turn, _ := w.Turns(place + k)
			worth := 1.0
			if p.options.Gain != nil {
				worth = p.options.Gain(one, turn)
				for len(out.worth) <= turn {
					out.worth = append(out.worth, worthOf(p.options.Gain(one, len(out.worth))))
				}
			}
			*calls = append(*calls, naiveTurn{step, i, turn, worth})
		}
		out.steps = append(out.steps, s)
		place += n
	}
	return out
}

func TestPatternsNaive(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := Options{Threshold: rapid.IntRange(1, 3).Draw(t, "threshold")}
		if rapid.Bool().Draw(t, "priced") {
			o.Gain = func(_ *trace.Trajectory, turn int) float64 { return float64(1+turn*turn%7) / 4 }
		}
		p, calls := randomPatterns(t, o)
		naive := &naivePatterns{p: p, turns: calls, forms: newForms(p)}
		want := naive.run()
		x := p.Extraction()
		type found struct {
			Tools   []string
			Steps   []int
			Support int
			Calls   int
		}
		var a, b []found
		for _, c := range x.Candidates {
			f := found{Support: c.Support, Calls: c.CallsSaved}
			for _, s := range c.Pattern {
				f.Tools = append(f.Tools, s.Name)
			}
			for _, o := range c.Occurrences {
				f.Steps = append(f.Steps, int(o.First))
			}
			a = append(a, f)
		}
		for _, n := range want {
			f := found{Support: n.support, Calls: n.calls}
			for _, id := range n.path {
				f.Tools = append(f.Tools, p.tools[naive.forms.list[id].tool].name)
			}
			for _, s := range n.starts {
				f.Steps = append(f.Steps, int(p.place[s]))
			}
			b = append(b, f)
		}
		got, _ := json.Marshal(a)
		expected, _ := json.Marshal(b)
		if string(got) != string(expected) {
			t.Fatalf("got\n%s\nwant\n%s", got, expected)
		}
		turns := map[[2]int]bool{}
		for _, c := range naive.turns {
			turns[[2]int{c.trajectory, c.turn}] = true
		}
		if x.TurnsAfter != len(turns) || x.CallsAfter != len(naive.turns) {
			t.Fatalf("%d turns and %d calls are left, want %d and %d", x.TurnsAfter, x.CallsAfter, len(turns), len(naive.turns))
		}
	})
}
