package stategraph

// Statistics are the figures of AWO's Table 4.
type Statistics struct {
	States    int `json:"states"`     // the root among them
	Edges     int `json:"edges"`      // distinct pairs of source and target, self-loops included
	SelfLoops int `json:"self_loops"` // distinct pairs of a state with itself
	Sinks     int `json:"sinks"`      // states without an edge to another state
	Labels    int `json:"labels"`     // distinct labels
}

// MeanInDegree returns edges per state.
func (s Statistics) MeanInDegree() float64 { return float64(s.Edges) / float64(s.States) }

// Statistics counts the figures of the graph.
func (g *Graph) Statistics() Statistics {
	stats := Statistics{States: g.states}
	for s := range StateID(g.states) {
		sink := true
		last := StateID(0)
		for i, e := range g.Out(s) {
			to := g.To(e)
			if i > 0 && to == last {
				continue // Out is ordered by target
			}
			last = to
			stats.Edges++
			if to == s {
				stats.SelfLoops++
			} else {
				sink = false
			}
		}
		if sink {
			stats.Sinks++
		}
	}
	seen := map[Label]struct{}{}
	for _, l := range g.label {
		seen[l] = struct{}{}
	}
	stats.Labels = len(seen)
	return stats
}

// Counter counts the statistics of a graph without building it, in 6 bytes a
// state and about 14 an edge that discovered none: enough for comparing
// strategies of merging. Labels are not told apart; who counts the states knows
// their number. The zero value is ready to use.
type Counter struct {
	first chunks[StateID]     // for every state but the root: where it was discovered from
	more  map[uint64]struct{} // other pairs of states, self-loops not among them
	flags chunks[stateFlags]
	loops int
	sinks int
}

type stateFlags uint8

const (
	hasLoop stateFlags = 1 << iota
	hasExit
)

// Add counts the transitions of one execution, numbered as for Builder.Add.
func (c *Counter) Add(walk []Step) {
	if c.flags.len() == 0 {
		c.flags.append(0)
		c.sinks = 1
	}
	from := Root
	for i := range walk {
		if walk[i].Flags&Cut != 0 {
			from = Root
		}
		c.transition(from, walk[i].To)
		from = walk[i].To
	}
}

func (c *Counter) transition(from, to StateID) {
	flags := c.flags.at(int(from))
	if from == to {
		if *flags&hasLoop == 0 {
			*flags |= hasLoop
			c.loops++
		}
		return
	}
	if *flags&hasExit == 0 {
		*flags |= hasExit
		c.sinks--
	}
	switch {
	case int(to) == c.flags.len():
		c.flags.append(0)
		c.first.append(from)
		c.sinks++
	case to != Root && *c.first.at(int(to) - 1) == from:
	default:
		if c.more == nil {
			c.more = map[uint64]struct{}{}
		}
		c.more[uint64(from)<<32|uint64(to)] = struct{}{}
	}
}

// Statistics returns the figures so far; Labels is 0.
func (c *Counter) Statistics() Statistics {
	if c.flags.len() == 0 {
		return Statistics{States: 1, Sinks: 1}
	}
	return Statistics{
		States:    c.flags.len(),
		Edges:     c.first.len() + len(c.more) + c.loops,
		SelfLoops: c.loops,
		Sinks:     c.sinks,
	}
}
