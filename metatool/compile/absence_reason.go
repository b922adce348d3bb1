package compile

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/stategraph"
)

// isMissing finds a tool that is called nowhere, or never as a step.
func (a *Absence) isMissing(c *Compilation) bool {
	for k, tool := range a.Tools {
		if a.Called[k] > 0 {
			continue
		}
		a.Code, a.Step = "tool-unknown", k
		if slices.ContainsFunc(c.Merged.Catalog.Tools(), func(t *merge.CatalogTool) bool { return t.Called && t.Name.Value() == tool }) {
			a.Code = "tool-no-step"
		}
		return true
	}
	return false
}

// interrupted says what stands between the calls most often.
func (a *Absence) interrupted() {
	a.Count, a.Of = a.Joined.Trajectories, a.Runs.Trajectories
	slices.SortFunc(a.Cuts, func(x, y Interruption) int { return cmp.Compare(x.Step, y.Step) })
	most := 0
	for _, i := range a.Cuts {
		for _, kind := range []struct {
			code string
			n    int
		}{{"user-message", i.User}, {"barrier", i.Barrier}, {"cut", i.Cuts}} {
			if kind.n > most {
				a.Code, a.Step, most = kind.code, i.Step, kind.n
			}
		}
	}
}

// unreached says where Algorithm 1 leaves the calls: from the state from which
// most trajectories make all of them.
func (c *Compilation) unreached(a *Absence, runs []run) {
	w, g := c.Merged.Walks, c.Merged.Graph
	from := map[stategraph.StateID]*Extent{}
	var starts []stategraph.StateID
	for i := range runs {
		s := g.From(w.Edge(runs[i].places[0]))
		if from[s] == nil {
			from[s] = &Extent{}
			starts = append(starts, s)
		}
		from[s].add(runs[i].trajectory)
	}
	slices.SortFunc(starts, func(x, y stategraph.StateID) int {
		return cmp.Or(cmp.Compare(from[y].Trajectories, from[x].Trajectories), cmp.Compare(x, y))
	})
	start := starts[0]
	if from[start].Trajectories < a.Threshold {
		a.Code, a.Count, a.Of = "states-differ", from[start].Trajectories, a.Joined.Trajectories
		return
	}
	for k := range a.Tools {
		if c.stays(runs, start, k) {
			a.Code, a.Step = "self-loop", k
			return
		}
		if k > 0 && !c.goesOn(a, runs, start, k) {
			return
		}
	}
}

// stays reports whether call k leaves the state as it is in most runs from start.
func (c *Compilation) stays(runs []run, start stategraph.StateID, k int) bool {
	w, g := c.Merged.Walks, c.Merged.Graph
	all, loops := 0, 0
	for i := range runs {
		if g.From(w.Edge(runs[i].places[0])) != start {
			continue
		}
		all++
		if e := w.Edge(runs[i].places[k]); g.From(e) == g.To(e) {
			loops++
		}
	}
	return 2*loops > all
}

// goesOn reports whether the chain that begins in a state grows into call k, and
// says why not.
func (c *Compilation) goesOn(a *Absence, runs []run, start stategraph.StateID, k int) bool {
	w, g := c.Merged.Walks, c.Merged.Graph
	at := map[stategraph.StateID]int{}
	for i := range runs {
		if g.From(w.Edge(runs[i].places[0])) == start {
			at[g.From(w.Edge(runs[i].places[k]))]++
		}
	}
	state := mostFrequent(at)
	m, best, ok := c.children(state)
	if !ok {
		a.Code, a.Step, a.Majority = m.Code, k, &m
		return false
	}
	follow, inChain := Extent{}, false
	for i := range runs {
		r := &runs[i]
		if g.From(w.Edge(r.places[0])) != start || w.Edge(r.places[k]) != best {
			continue
		}
		follow.add(r.trajectory)
		for q := r.places[0]; q < r.places[k]; q++ {
			inChain = inChain || g.From(w.Edge(q)) == g.To(best)
		}
	}
	m.Whole = follow.Trajectories
	m.judge(c.Extraction.Options, inChain)
	switch {
	case m.Code == "majority":
		return true
	case m.Code == "chain-rare" && follow.Trajectories == 0 || 2*m.Joined > m.Leave && m.Child != a.Tools[k] && follow.Trajectories == 0:
		m.Code = "other-majority"
	}
	a.Code, a.Step, a.Majority = m.Code, k, &m
	for _, id := range g.Out(state) {
		if e := g.Edge(id); c.Merged.Labels.Name(e.Label) == a.Tools[k] && !e.IsLoop() {
			a.Count = max(a.Count, c.joined(e))
		}
	}
	a.Of = m.Leave
	return false
}

// takers returns the candidates whose occurrences overlap with runs.
func (c *Compilation) takers(runs []run) []Taker {
	var list []Taker
	for _, candidate := range c.Extraction.Candidates {
		n, next := 0, 0
		for i := range candidate.Occurrences {
			o := &candidate.Occurrences[i]
			end := o.First + merge.Place(candidate.Places(o))
			for ; next < len(runs) && runs[next].end <= o.First; next++ {
			}
			if next < len(runs) && runs[next].places[0] < end {
				n++
				next++
			}
		}
		if n > 0 {
			list = append(list, Taker{candidate, n})
		}
	}
	slices.SortStableFunc(list, func(x, y Taker) int { return cmp.Compare(y.Occurrences, x.Occurrences) })
	return list
}

// unlike says why runs are no pattern.
func (c *Compilation) unlike(a *Absence, runs []run) {
	if len(a.Tools) > candidate.MaxPatternSteps {
		a.Code, a.Count, a.Of, a.Threshold = "too-long", candidate.MaxPatternSteps, len(a.Tools), 0
		return
	}
	find := c.patterns.Obstacles()
	whole, failures := map[string]*Extent{}, map[candidate.Obstacle]int{}
	var order []candidate.Obstacle
	possible, same := Extent{}, 0
	for i := range runs {
		symbols, obstacle := find(runs[i].places)
		if obstacle.Code != "" {
			if failures[obstacle] == 0 {
				order = append(order, obstacle)
			}
			failures[obstacle]++
			continue
		}
		possible.add(runs[i].trajectory)
		if whole[symbols] == nil {
			whole[symbols] = &Extent{}
		}
		whole[symbols].add(runs[i].trajectory)
		same = max(same, whole[symbols].Trajectories)
	}
	switch {
	case possible.Trajectories < a.Threshold:
		worst := order[0]
		for _, o := range order {
			if failures[o] > failures[worst] {
				worst = o
			}
		}
		a.Code, a.Argument, a.Step = worst.Code, worst.Argument, worst.Step
		a.Count, a.Of = possible.Trajectories, a.Joined.Trajectories
		if a.Code == "argument-unknown" {
			c.unproven(a)
		}
	case same < a.Threshold:
		a.Code, a.Count, a.Of, a.Step = "sources-differ", same, possible.Trajectories, len(a.Tools)-1
	case a.TurnsSaved == 0:
		a.Code = "saves-nothing"
	}
}

// unproven says of an argument that is taken for unknown that one of the results before it
// has always given it, where there are only too few calls to rely on that.
func (c *Compilation) unproven(a *Absence) {
	given := func(k *dataflow.Link) bool {
		to, from := jsonpath.Path{{Kind: jsonpath.Member, Name: a.Argument}}, k.From.ToolName()
		return k.To.ToolName() == a.Tools[a.Step] && k.To.Path == to.String() &&
			k.From.Side == dataflow.Output && k.Relation <= dataflow.Template && slices.Contains(a.Tools[:a.Step], from)
	}
	for i := range c.Set.Links {
		if k := &c.Set.Links[i]; k.Verdict == dataflow.FewValues && given(k) {
			a.Code, a.From = "argument-unproven", k.From.ToolName()
			return
		}
	}
	for i := range c.Judgments {
		g := &c.Judgments[i]
		if g.Verdict == dataflow.Accepted && g.Choice.Kind != dataflow.Unused && g.Uses > 0 && g.Agree == g.Uses && !g.Writes() && given(g.Link) {
			a.Code, a.From = "argument-unproven", g.Link.From.ToolName()
			return
		}
	}
}
