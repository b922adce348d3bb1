package toolgraph

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/internal/lexical"
)

// Reason is the kind of evidence for a step of a path.
type Reason string

// The kinds of evidence, the best first.
const (
	Proven       Reason = "proven"    // values went this way in trajectories
	Listed       Reason = "given"     // a file of links says so
	Followed     Reason = "observed"  // the calls followed one another
	BySchema     Reason = "schema"    // names and types of places fit, in schemas or recorded results
	ByName       Reason = "name"      // the name of the tool alone promises what is needed
	ByPrediction Reason = "predicted" // the predictor of this graph expects it
	BySuggestion Reason = "suggested" // the predictor of other catalogues expects it
)

// Evidence is why one tool comes before another.
type Evidence struct {
	Reason Reason
	N, Of  int     // proven: trajectories; observed: calls
	Value  float64 // m, or the probability
}

// String returns the evidence as people read it: "proven 53/53", "schema .81".
func (e Evidence) String() string {
	switch e.Reason {
	case Listed:
		return string(e.Reason)
	case Proven, Followed:
		return string(e.Reason) + " " + strconv.Itoa(e.N) + "/" + strconv.Itoa(e.Of)
	}
	text := strconv.FormatFloat(e.Value, 'f', 2, 64)
	return string(e.Reason) + " " + strings.TrimPrefix(text, "0")
}

// A Step is one call of a path, with what it is made for.
type PathStep struct {
	Tool     int
	For      int    // the tool that it comes before; -1 for the target
	Give     string // the place of its result that is needed; "" if none is known
	Take     string // the argument of For that it gives; "" if none is known
	Evidence Evidence
	Weight   float64
}

// A Path is the calls before a target, in an order in which they can be made.
type Path struct {
	Target int
	Steps  []PathStep // targets are for none; the last is one
	Inputs []Demand   // required arguments that the caller has to give
	Broken int        // edges that were taken out because they closed a cycle
}

// followAt is the weight from which on a tool that merely tends to come before is a
// step: more likely than not. Suggested edges never make a step.
const followAt = .5

// A choice is an edge that a path takes.
type choice struct {
	from, to int // tools
	param    int // -1 for a Follow
	take     string
	weight   float64
	step     PathStep
}

// Path returns the calls before the target: of each required parameter that is not
// given the best producer, and before each tool the tool that comes before it more
// often than not. Of several targets it is one tree, in which a call that two of them
// need is made once. Scores of tools by found, if there are any, add to the weight of
// producers, so that a task's words choose between equal ones.
func (n *Navigator) Path(q Query, found []Found) *Path {
	bonus := map[int]float64{}
	for _, f := range found {
		bonus[f.Tool] = f.Score
	}
	var choices []choice
	targets := append([]int{q.Target}, q.Also...)
	visited := map[int]bool{}
	worth := map[int]float64{}
	for _, t := range targets {
		visited[t], worth[t] = true, 1
	}
	for queue := slices.Clone(targets); len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for _, c := range n.before(at, q, bonus) {
			score := worth[at] * c.weight * Decay
			if score < least || visited[c.from] && c.from == q.Target {
				continue
			}
			choices = append(choices, c)
			if !visited[c.from] {
				visited[c.from] = true
				worth[c.from] = score
				queue = append(queue, c.from)
			}
		}
	}
	p := &Path{Target: q.Target}
	choices, p.Broken = acyclic(choices)
	n.order(p, targets, choices)
	n.demand(p, q, choices)
	return p
}

// before returns the edges that a path takes into a tool.
func (n *Navigator) before(tool int, q Query, bonus map[int]float64) []choice {
	var out []choice
	follow := choice{weight: -1}
	for _, a := range n.back[tool] {
		if int(a.to) < n.tools {
			e := n.g.Follows[a.edge]
			if q.Without[e.From] || e.Weight < followAt || e.Kind == Suggested {
				continue
			}
			if e.Kind == Given {
				out = append(out, n.following(e))
			} else if e.Weight > follow.weight {
				follow = n.following(e)
			}
			continue
		}
		e := n.g.Consumes[a.edge]
		if !e.Required || q.Have[e.Param] {
			continue
		}
		if c, ok := n.producer(e, q, bonus); ok {
			out = append(out, c)
		}
	}
	// A producer is before the tool anyway.
	if follow.weight > 0 && !slices.ContainsFunc(out, func(c choice) bool { return c.from == follow.from }) {
		out = append(out, follow)
	}
	return out
}

// What recorded calls say of an argument counts before what its name says.
const (
	fedAt   = .5  // share of uses that came from results from which on a producer is named
	ownAt   = .25 // share of uses that a producer must have given itself
	leastOf = 10  // calls that say something
)

// producer returns the edge from the best producer of an argument; false leaves the
// argument to the caller. Where calls show where its values came from, that counts: if
// at least half came from results the result that gave most, else it is the caller's.
func (n *Navigator) producer(e Consume, q Query, bonus map[int]float64) (choice, bool) {
	fed, best := 0.0, -1
	for _, i := range n.feeds[argument{e.Tool, e.Path}] {
		f := &n.g.Feeds[i]
		fed += f.Weight
		if best < 0 && f.FromTool != e.Tool && !q.Without[f.FromTool] {
			best = i
		}
	}
	if best >= 0 && fed >= fedAt && n.g.Feeds[best].Weight >= ownAt {
		f := &n.g.Feeds[best]
		return choice{
			from: f.FromTool, to: e.Tool, param: e.Param, take: e.Path, weight: f.Weight,
			step: PathStep{Tool: f.FromTool, For: e.Tool, Give: f.FromPath, Take: e.Path, Evidence: Evidence{Reason: Proven, N: f.Hits, Of: f.Trials}, Weight: f.Weight},
		}, true
	}
	if e.Given >= leastOf || isSetting(lexical.Words(lastName(e.Path))) {
		return choice{}, false
	}
	most, at := -1.0, -1
	for _, b := range n.back[n.param(e.Param)] {
		if int(b.to) == e.Tool || q.Without[int(b.to)] {
			continue
		}
		w := b.weight + TextWeight*bonus[int(b.to)]
		if n.requires(int(b.to), e.Param) {
			w /= 2 // it needs what it is to give
		}
		if w > most || w == most && n.g.cautious(int(b.to)) < n.g.cautious(n.g.Produces[at].Tool) {
			most, at = w, int(b.edge)
		}
	}
	if at < 0 {
		return choice{}, false
	}
	return n.producing(n.g.Produces[at], e), true
}

// lastName returns the last member on a path.
func lastName(path string) string {
	if names := pathNames(path); len(names) > 0 {
		return names[len(names)-1]
	}
	return ""
}

// requires reports whether a tool requires a parameter.
func (n *Navigator) requires(tool, param int) bool {
	return slices.ContainsFunc(n.g.Tools[tool].Inputs, func(p Place) bool { return p.Required && p.Param == param })
}

func (n *Navigator) following(e Follow) choice {
	return choice{from: e.From, to: e.To, param: -1, weight: e.Weight, step: PathStep{Tool: e.From, For: e.To, Evidence: followedBy(e), Weight: e.Weight}}
}

func (n *Navigator) producing(e Produce, c Consume) choice {
	return choice{
		from: e.Tool, to: c.Tool, param: c.Param, take: c.Path, weight: e.Weight,
		step: PathStep{Tool: e.Tool, For: c.Tool, Give: e.Path, Take: c.Path, Evidence: producedBy(e), Weight: e.Weight},
	}
}

// followedBy returns the evidence of an edge between tools.
func followedBy(e Follow) Evidence {
	switch e.Kind {
	case Given:
		return Evidence{Reason: Listed}
	case Recorded:
		return Evidence{Reason: Followed, N: e.Succeeded, Of: e.Of}
	case Predicted:
		return Evidence{Reason: ByPrediction, Value: e.Prior}
	}
	return Evidence{Reason: BySuggestion, Value: e.Prior}
}

// producedBy returns the evidence of an edge from a tool to a parameter.
func producedBy(e Produce) Evidence {
	switch {
	case e.Trials > 0:
		return Evidence{Reason: Proven, N: e.Hits, Of: e.Trials}
	case e.From == FromName:
		return Evidence{Reason: ByName, Value: e.Match}
	}
	return Evidence{Reason: BySchema, Value: e.Match}
}

// acyclic takes out the weakest edge of every cycle, and returns how many these
// were.
func acyclic(choices []choice) ([]choice, int) {
	broken := 0
	for {
		cycle := findCycle(choices)
		if cycle == nil {
			return choices, broken
		}
		weakest := slices.MinFunc(cycle, func(a, b int) int {
			return cmp.Or(cmp.Compare(choices[a].weight, choices[b].weight), cmp.Compare(b, a))
		})
		choices = slices.Delete(choices, weakest, weakest+1)
		broken++
	}
}

// findCycle returns the edges of a cycle, nil if there is none.
func findCycle(choices []choice) []int {
	into := map[int][]int{}
	for i, c := range choices {
		into[c.to] = append(into[c.to], i)
	}
	state := map[int]int{} // 1 under way, 2 done
	var stack []int
	var visit func(tool int) []int
	visit = func(tool int) []int {
		state[tool] = 1
		for _, i := range into[tool] {
			from := choices[i].from
			switch state[from] {
			case 1:
				cycle := []int{i}
				for j := len(stack) - 1; j >= 0 && choices[cycle[len(cycle)-1]].to != from; j-- {
					cycle = append(cycle, stack[j])
				}
				return cycle
			case 0:
				stack = append(stack, i)
				if cycle := visit(from); cycle != nil {
					return cycle
				}
				stack = stack[:len(stack)-1]
			}
		}
		state[tool] = 2
		return nil
	}
	for _, c := range choices {
		if state[c.to] == 0 {
			if cycle := visit(c.to); cycle != nil {
				return cycle
			}
		}
	}
	return nil
}

// order lists the tools so that each comes after what it needs, ties by number. Of
// several reasons for a step the one of most weight stands with it.
func (n *Navigator) order(p *Path, targets []int, choices []choice) {
	// Only what still leads to a target, after cycles were broken, is a step.
	needed := map[int]bool{}
	steps := map[int]PathStep{}
	for _, t := range targets {
		needed[t] = true
		steps[t] = PathStep{Tool: t, For: -1, Weight: 1}
	}
	for queue := slices.Clone(targets); len(queue) > 0; queue = queue[1:] {
		for _, c := range choices {
			if c.to == queue[0] && !needed[c.from] {
				needed[c.from] = true
				queue = append(queue, c.from)
			}
		}
	}
	waits := map[int]int{}
	for _, c := range choices {
		if !needed[c.to] {
			continue
		}
		waits[c.to]++
		if old, ok := steps[c.from]; !ok || c.weight > old.Weight && old.For >= 0 {
			steps[c.from] = c.step
		}
	}
	for len(steps) > 0 {
		next := -1
		for tool := range steps {
			if waits[tool] == 0 && (next < 0 || tool < next) {
				next = tool
			}
		}
		p.Steps = append(p.Steps, steps[next])
		delete(steps, next)
		for _, c := range choices {
			if c.from == next && needed[c.to] {
				waits[c.to]--
			}
		}
	}
}

// demand lists the required arguments of the steps that no step gives.
func (n *Navigator) demand(p *Path, q Query, choices []choice) {
	given := map[argument]bool{}
	for _, c := range choices {
		given[argument{c.to, c.take}] = true
	}
	for _, s := range p.Steps {
		for _, place := range n.g.Tools[s.Tool].Inputs {
			if place.Required && !q.Have[place.Param] && !given[argument{s.Tool, place.Path}] {
				p.Inputs = append(p.Inputs, Demand{s.Tool, place.Path, place.Param})
			}
		}
	}
}

// Producers returns the fewest tools whose results hold the parameters, and those that
// none holds. Of tools that give as many, the one that fits the scores in found best is
// taken, then the one that asks the caller for less.
func (n *Navigator) Producers(params map[int]bool, have map[int]bool, found []Found) (tools, none []int) {
	bonus := map[int]float64{}
	for _, f := range found {
		bonus[f.Tool] = f.Score
	}
	left := maps.Clone(params)
	for len(left) > 0 {
		best, bestGives, bestAsks := -1, 0, 0
		for i := range n.g.Tools {
			t := &n.g.Tools[i]
			gives, asks := map[int]bool{}, 0
			for _, p := range t.Outputs {
				if left[p.Param] && t.State != Pruned {
					gives[p.Param] = true
				}
			}
			for _, p := range t.Inputs {
				if p.Required && !have[p.Param] {
					asks++
				}
			}
			better := cmp.Or(cmp.Compare(len(gives), bestGives), cmp.Compare(bonus[i], bonus[best]), cmp.Compare(bestAsks, asks))
			if len(gives) > 0 && better > 0 {
				best, bestGives, bestAsks = i, len(gives), asks
			}
		}
		if best < 0 {
			break
		}
		tools = append(tools, best)
		for _, p := range n.g.Tools[best].Outputs {
			delete(left, p.Param)
		}
	}
	return tools, slices.Sorted(maps.Keys(left))
}
