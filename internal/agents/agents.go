// Package agents tells apart the agents that trajectories are of, by the tools that an
// agent could see: what an agent is offered is paid by that agent alone.
//
// Trajectories come in. Where definitions are recorded, lists of which one holds half of
// the other's tools are of one agent; else tools that are called in one trajectory are.
// Out comes a [List] that says of each trajectory which agent it is of. Names of agents
// are told and part nothing: agents that see the same tools share what is made of them.
//
// Memory is O(different tools and lists of definitions), and of the tasks of each no more
// than decide whether they are enough.
package agents

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	"github.com/awo-dev/awo/trace"
)

// Agent is an agent, or with Rest all those of which there are too few tasks each.
type Agent struct {
	Names        []string // that are recorded of it, in order
	Tools        []string // that it could see, in order
	Trajectories int
	Rest         bool

	tools map[trace.Name]bool
}

// Sees reports whether the agent could call all of the tools.
func (a *Agent) Sees(tools []string) bool {
	return !slices.ContainsFunc(tools, func(tool string) bool { return !a.tools[trace.Intern(tool)] })
}

// Key is the same for an agent that sees the same tools: a hash of their names.
func (a *Agent) Key() string {
	sum := sha256.Sum256([]byte(strings.Join(a.Tools, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// List is the agents that a Finder found, those with most trajectories first.
type List struct {
	Agents []Agent

	finder *Finder
	place  map[int]int // group -> in Agents
}

// maxLists is how many lists of definitions are told apart; what comes later is of the
// first that it is like, or else of the first.
const maxLists = 256

// Finder finds agents. The zero value has seen nothing; it is used by one goroutine.
type Finder struct {
	groups []group // of lists of definitions first come, and of tools that are called
	parent []int   // by group: the one that it was joined to, or itself
	offers []int   // the groups that lists of definitions made
	called map[trace.Name]int
	lists  trace.ToolLists[int]
}

type group struct {
	tools        map[trace.Name]bool
	names        map[string]bool
	tasks        map[string]bool
	trajectories int
}

// enough bounds how many tasks and names of a group are kept.
const enough = 64

// Add sees a trajectory.
func (f *Finder) Add(t *trace.Trajectory) {
	at := f.see(t)
	if at < 0 {
		return
	}
	g := &f.groups[f.root(at)]
	g.trajectories++
	if t.Agent != "" && len(g.names) < enough {
		g.names[t.Agent] = true
	}
	if len(g.tasks) < enough {
		g.tasks[t.TaskKey()] = true
	}
}

// see returns the group of a trajectory, -1 where nothing says what tools there are.
func (f *Finder) see(t *trace.Trajectory) int {
	if len(t.Tools) > 0 {
		return f.offered(t.Tools)
	}
	if f.called == nil {
		f.called = map[trace.Name]int{}
	}
	first := -1
	for i := range t.Calls {
		tool := t.Calls[i].Tool
		if tool == (trace.Name{}) {
			continue
		}
		at, known := f.called[tool]
		if !known {
			at = f.group(map[trace.Name]bool{tool: true})
			f.called[tool] = at
		}
		if first < 0 {
			first = at
		}
		if first, at = f.root(first), f.root(at); first != at {
			first = f.join(first, at)
		}
	}
	return first
}

// offered returns the group of a list of definitions.
func (f *Finder) offered(list []trace.ToolDef) int {
	if at, known := f.lists.Of(list); known {
		return at
	}
	if len(f.offers) == maxLists {
		return f.nearest(list)
	}
	at := f.group(toolsIn(list))
	f.offers = append(f.offers, at)
	f.lists.Keep(list, at, maxLists)
	return at
}

func toolsIn(list []trace.ToolDef) map[trace.Name]bool {
	tools := make(map[trace.Name]bool, len(list))
	for i := range list {
		tools[list[i].Name] = true
	}
	return tools
}

// nearest returns the first group that a list is of that is not kept, or else the first.
func (f *Finder) nearest(list []trace.ToolDef) int {
	tools := toolsIn(list)
	for _, at := range f.offers {
		if overlap(tools, f.groups[f.root(at)].tools) {
			return f.root(at)
		}
	}
	return f.root(f.offers[0])
}

// overlap reports whether two sets have half of the smaller one in common.
func overlap(a, b map[trace.Name]bool) bool {
	if len(a) > len(b) {
		a, b = b, a
	}
	both := 0
	for tool := range a {
		if b[tool] {
			both++
		}
	}
	return 2*both >= len(a)
}

func (f *Finder) group(tools map[trace.Name]bool) int {
	f.parent = append(f.parent, len(f.groups))
	f.groups = append(f.groups, group{tools: tools, names: map[string]bool{}, tasks: map[string]bool{}})
	return len(f.groups) - 1
}

func (f *Finder) root(at int) int {
	for f.parent[at] != at {
		f.parent[at] = f.parent[f.parent[at]]
		at = f.parent[at]
	}
	return at
}

// join makes one group of two, and returns it: that which is larger already.
func (f *Finder) join(a, b int) int {
	a, b = f.root(a), f.root(b)
	if len(f.groups[a].tools) < len(f.groups[b].tools) {
		a, b = b, a
	}
	to, from := &f.groups[a], &f.groups[b]
	maps.Copy(to.tools, from.tools)
	for name := range from.names {
		if len(to.names) < enough {
			to.names[name] = true
		}
	}
	for task := range from.tasks {
		if len(to.tasks) < enough {
			to.tasks[task] = true
		}
	}
	to.trajectories += from.trajectories
	f.parent[b], *from = a, group{}
	return a
}

// List returns the agents. Those with fewer tasks than least, which is at most 64, are one
// together: there is too little to say of each.
func (f *Finder) List(least int) *List {
	own := make([]map[trace.Name]bool, len(f.offers))
	for i, at := range f.offers {
		own[i] = maps.Clone(f.groups[at].tools)
	}
	for i := range f.offers {
		for k := range i {
			if f.root(f.offers[i]) != f.root(f.offers[k]) && overlap(own[i], own[k]) {
				f.join(f.offers[i], f.offers[k])
			}
		}
	}
	// Tools that are only called belong to an agent whose definitions hold them.
	for at := range f.groups {
		if f.root(at) != at || slices.ContainsFunc(f.offers, func(offer int) bool { return f.root(offer) == at }) {
			continue
		}
		for _, offer := range f.offers {
			if overlap(f.groups[at].tools, f.groups[f.root(offer)].tools) {
				f.join(offer, at)
				break
			}
		}
	}
	out := &List{finder: f, place: map[int]int{}}
	var order []int
	var rest []int
	for at := range f.groups {
		switch {
		case f.root(at) != at || f.groups[at].trajectories == 0:
		case len(f.groups[at].tasks) < least:
			rest = append(rest, at)
		default:
			order = append(order, at)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(f.groups[b].trajectories, f.groups[a].trajectories) })
	for _, at := range order {
		out.place[at] = len(out.Agents)
		out.Agents = append(out.Agents, f.groups[at].agent())
	}
	if len(rest) == 0 {
		return out
	}
	all := Agent{Rest: len(order) > 0, tools: map[trace.Name]bool{}}
	names := map[string]bool{}
	for _, at := range rest {
		g := &f.groups[at]
		out.place[at] = len(out.Agents)
		all.Trajectories += g.trajectories
		maps.Copy(all.tools, g.tools)
		maps.Copy(names, g.names)
	}
	all.Names = slices.Sorted(maps.Keys(names))
	out.Agents = append(out.Agents, all.sorted())
	return out
}

func (g *group) agent() Agent {
	a := Agent{Names: slices.Sorted(maps.Keys(g.names)), Trajectories: g.trajectories, tools: g.tools}
	return a.sorted()
}

func (a Agent) sorted() Agent {
	for tool := range a.tools {
		a.Tools = append(a.Tools, tool.Value())
	}
	slices.Sort(a.Tools)
	return a
}

// Of returns which agent a trajectory is of that the Finder has seen. Where nothing says
// what tools there were it is the first of its name, or else the first.
func (l *List) Of(t *trace.Trajectory) int {
	f, at := l.finder, -1
	if len(t.Tools) > 0 {
		at = f.offered(t.Tools)
	} else {
		for i := range t.Calls {
			if group, known := f.called[t.Calls[i].Tool]; known {
				at = group
				break
			}
		}
	}
	if at < 0 {
		named := slices.IndexFunc(l.Agents, func(a Agent) bool { return slices.Contains(a.Names, t.Agent) })
		return max(named, 0)
	}
	return l.place[f.root(at)]
}
