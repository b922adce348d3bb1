package compile

import (
	"cmp"
	"slices"

	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/stategraph"
)

// Ending is how the occurrences of a candidate go on, which says why it is not
// longer.
type Ending struct {
	Occurrences int            `json:"-"`    // of the candidate
	Next        []Continuation `json:"next"` // the calls made next in one go, the most frequent first
	Done        int            `json:"done"` // occurrences behind which the trajectory has no call
	User        int            `json:"user_message"`
	Barrier     int            `json:"barrier"` // the next call, or the last one, is a barrier
	Cut         int            `json:"cut"`     // rules begin a new execution there

	// Majority is the choice of Algorithm 1 in the state in which most occurrences
	// end; nil for patterns.
	Majority *Majority `json:"majority"`
}

// Continuation is a call that comes next.
type Continuation struct {
	Tool         string `json:"tool"` // as rules left it
	Occurrences  int    `json:"occurrences"`
	Trajectories int    `json:"trajectories"`
}

// Majority is how the children of a state compare (Algorithm 1: the child that
// is taken by more than half of what leaves the state), in the graph as it was
// before any chain became one step.
type Majority struct {
	// Code says whether the chain could go on: no-child (nobody goes on in one go),
	// no-majority (at most half do), child-rare (fewer than the threshold),
	// chain-rare (fewer than the threshold came along the chain), loop (the state
	// is in the chain already), or majority.
	Code   string `json:"code"`
	Leave  int    `json:"leave"`  // trajectories that leave the state
	Child  string `json:"child"`  // that most of them go on to in one go, "" if there is none
	Joined int    `json:"joined"` // how many
	Whole  int    `json:"whole"`  // trajectories that follow the whole chain into it
}

// maxContinuations is how many continuations are told apart by name.
const maxContinuations = 5

// Ending returns how the occurrences of a candidate go on.
func (c *Compilation) Ending(candidate *candidate.Candidate) Ending {
	w, g := c.Merged.Walks, c.Merged.Graph
	out := Ending{Occurrences: len(candidate.Occurrences), Next: []Continuation{}}
	type count struct{ occurrences, trajectories, last int }
	next := map[string]*count{}
	ends := map[stategraph.StateID]int{}
	for i := range candidate.Occurrences {
		o := &candidate.Occurrences[i]
		p := o.First + merge.Place(candidate.Places(o))
		ends[g.To(w.Edge(p-1))]++
		if _, stop := w.Of(o.Trajectory); p >= stop {
			out.Done++
			continue
		}
		switch flags := c.flags(p); {
		case flags&stategraph.Cut != 0:
			out.Cut++
		case flags&stategraph.Blocked != 0:
			out.Barrier++
		case flags&stategraph.AfterUser != 0:
			out.User++
		default:
			name := c.Merged.Labels.Name(g.Label(w.Edge(p)))
			n := next[name]
			if n == nil {
				n = &count{last: -1}
				next[name] = n
			}
			n.occurrences++
			if n.last != o.Trajectory {
				n.trajectories, n.last = n.trajectories+1, o.Trajectory
			}
		}
	}
	for name, n := range next {
		out.Next = append(out.Next, Continuation{name, n.occurrences, n.trajectories})
	}
	slices.SortFunc(out.Next, func(a, b Continuation) int {
		return cmp.Or(cmp.Compare(b.Occurrences, a.Occurrences), cmp.Compare(a.Tool, b.Tool))
	})
	out.Next = out.Next[:min(len(out.Next), maxContinuations)]
	if c.patterns == nil && len(ends) > 0 {
		m := c.majorityAt(mostFrequent(ends), candidate)
		out.Majority = &m
	}
	return out
}

func mostFrequent(counts map[stategraph.StateID]int) stategraph.StateID {
	var best stategraph.StateID
	most := 0
	for s, n := range counts {
		if n > most || n == most && s < best {
			best, most = s, n
		}
	}
	return best
}

// flags returns how the step at a place hangs together with the one before it,
// by the conventions of the extraction.
func (c *Compilation) flags(p merge.Place) stategraph.Flags {
	flags := c.Merged.Walks.Flags(p)
	if c.Extraction.Options.AsPublished && c.patterns == nil {
		flags &^= stategraph.AfterUser
	}
	return flags
}

// majorityAt returns how the children of a state compare for the occurrences of
// a candidate that end in it.
func (c *Compilation) majorityAt(state stategraph.StateID, candidate *candidate.Candidate) Majority {
	w, g := c.Merged.Walks, c.Merged.Graph
	m, best, ok := c.children(state)
	if !ok {
		return m
	}
	inChain, last := false, -1
	for i := range candidate.Occurrences {
		o := &candidate.Occurrences[i]
		p := o.First + merge.Place(candidate.Places(o))
		if g.To(w.Edge(p-1)) != state {
			continue
		}
		for q := o.First; q < p; q++ {
			inChain = inChain || g.From(w.Edge(q)) == g.To(best)
		}
		if _, stop := w.Of(o.Trajectory); p < stop && w.Edge(p) == best && c.flags(p).Joined() && last != o.Trajectory {
			m.Whole, last = m.Whole+1, o.Trajectory
		}
	}
	m.judge(c.Extraction.Options, inChain)
	return m
}

// children counts what leaves a state, and returns the edge that most
// trajectories take in one go, false if there is none.
func (c *Compilation) children(state stategraph.StateID) (m Majority, best stategraph.EdgeID, ok bool) {
	g := c.Merged.Graph
	m.Code = "no-child"
	for _, id := range g.Out(state) {
		e := g.Edge(id)
		if e.IsLoop() {
			continue
		}
		m.Leave += e.Weight
		if joined := c.joined(e); joined > m.Joined {
			m.Joined, best, ok = joined, id, true
		}
	}
	if ok {
		m.Child = c.Merged.Labels.Name(g.Label(best))
	}
	return m, best, ok
}

// joined returns how many trajectories take an edge in one go.
func (c *Compilation) joined(e stategraph.Edge) int {
	if c.Extraction.Options.AsPublished {
		return e.Weight
	}
	return e.Free
}

// judge sets the code.
func (m *Majority) judge(o candidate.Options, inChain bool) {
	switch {
	case 2*m.Joined <= m.Leave:
		m.Code = "no-majority"
	case m.Joined < o.MinSupport():
		m.Code = "child-rare"
	case inChain:
		m.Code = "loop"
	case !o.AsPublished && m.Whole < o.MinSupport():
		m.Code = "chain-rare"
	default:
		m.Code = "majority"
	}
}
