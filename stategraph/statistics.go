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

// Branching returns how many other states a state leads to, of those that lead on; 0 if none does.
func (s Statistics) Branching() float64 {
	return float64(s.Edges-s.SelfLoops) / float64(max(1, s.States-s.Sinks))
}

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
	for i := range g.edges {
		seen[g.edges[i].label] = struct{}{}
	}
	stats.Labels = len(seen)
	return stats
}

// Counter counts the statistics of a graph without building it: enough for comparing
// strategies of merging. Labels are not told apart; who counts the states knows
// their number. The zero value is ready to use.
type Counter struct {
	first    []StateID               // for every state but the root: where it was discovered from
	isLooped []bool                  // by state
	isLeft   []bool                  // by state: an edge leads to another
	more     map[[2]StateID]struct{} // other pairs of states, self-loops not among them
	loops    int
	sinks    int
}

// Add counts the transitions of one execution, numbered as for Builder.Add.
func (c *Counter) Add(walk []Step) {
	if c.more == nil {
		c.more = map[[2]StateID]struct{}{}
		c.state()
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

// state adds a state.
func (c *Counter) state() {
	c.isLooped, c.isLeft = append(c.isLooped, false), append(c.isLeft, false)
	c.sinks++
}

func (c *Counter) transition(from, to StateID) {
	if from == to {
		if !c.isLooped[from] {
			c.isLooped[from] = true
			c.loops++
		}
		return
	}
	if !c.isLeft[from] {
		c.isLeft[from] = true
		c.sinks--
	}
	switch {
	case int(to) == len(c.isLeft):
		c.first = append(c.first, from)
		c.state()
	case to != Root && c.first[to-1] == from:
	default:
		c.more[[2]StateID{from, to}] = struct{}{}
	}
}

// Statistics returns the figures so far; Labels is 0.
func (c *Counter) Statistics() Statistics {
	if c.more == nil {
		return Statistics{States: 1, Sinks: 1}
	}
	return Statistics{States: len(c.first) + 1, Edges: len(c.first) + len(c.more) + c.loops, SelfLoops: c.loops, Sinks: c.sinks}
}
