package compile

import (
	"slices"

	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/stategraph"
)

// Absence says why calls of tools in a row are no candidate. Codes are stable:
//
//	tool-unknown      Tools[Step] is called nowhere
//	tool-no-step      rules leave out, or join with others, all calls of Tools[Step]
//	never-in-a-row    Tools[Step] never comes directly behind the calls before it
//	in-a-row-rare     the calls are made in a row in too few trajectories
//	user-message      a user message stands before call Step too often
//	barrier           the same of a barrier
//	cut               the same of an execution that rules begin anew
//	states-differ     too few trajectories make the calls from one state; Of do from any
//	self-loop         call Step leaves the state as it is: Algorithm 1 follows no such edge
//	other-majority    another call than Tools[Step] is the majority's (Majority)
//	no-majority, child-rare, chain-rare, loop: see Majority.Code
//	too-long          patterns have at most MaxPatternSteps steps
//	call-unbound      call Step failed, or rules made it of several, too often
//	call-repeated     call Step is made again with the same arguments
//	argument-unknown  Argument of call Step is not known when the first call is made
//	argument-unproven it always came from an earlier result (From), in too few calls to rely on
//	list-walked       the calls are part of a longer walk over a list
//	sources-differ    the arguments come from too many different places
//	saves-nothing     the calls are made in one turn anyway
//	taken             other candidates, which save more or come first, hold the calls (Takers)
type Absence struct {
	Tools    []string
	Code     string
	Step     int    // index into Tools of the call that the code is about
	Argument string // of that call
	From     string // argument-unproven: the tool whose result it came from
	// Count is the number of trajectories left where the code says too few, Of what
	// there were before, and Threshold what is wanted.
	Count, Of, Threshold int

	Called  []int  // by tool: trajectories that call it
	InOrder int    // trajectories that make the calls in this order, others in between
	Runs    Extent // that make them in a row
	Joined  Extent // of these, with nothing in between that the user or a rule put there
	Cuts    []Interruption
	Between string // the tool that most often comes instead, for never-in-a-row

	// TurnsSaved is what a call instead of each joined run that overlaps with none
	// before it would have saved: at most, and without regard to what candidates save.
	TurnsSaved int
	Majority   *Majority
	Takers     []Taker // the most frequent first

	counted merge.Place // behind the last run that TurnsSaved counts
}

// Extent counts places and the trajectories that they are in.
type Extent struct {
	Occurrences  int `json:"occurrences"`
	Trajectories int `json:"trajectories"`

	last int // 1 + the trajectory added last
}

// add counts a place; places come in order of trajectories.
func (e *Extent) add(trajectory int) {
	e.Occurrences++
	if e.last != trajectory+1 {
		e.Trajectories, e.last = e.Trajectories+1, trajectory+1
	}
}

// Interruption is what stands between two calls of runs.
type Interruption struct {
	Step    int `json:"step"`         // before this one
	User    int `json:"user_message"` // occurrences, as are the others
	Barrier int `json:"barrier"`
	Cuts    int `json:"cut"`
}

// Taker is a candidate that holds calls of the runs.
type Taker struct {
	Candidate   *candidate.Candidate
	Occurrences int // runs that overlap with one of its occurrences
}

// run is a place where the tools are called in a row.
type run struct {
	trajectory int
	places     []merge.Place // by tool: where it is first called
	end        merge.Place
	joined     bool
}

// Absence returns why the calls of tools, two or more, in a row are no
// candidate. It may be called for those that are: then it says what would be so
// without it, mostly "taken".
func (c *Compilation) Absence(tools []string) *Absence {
	a := &Absence{Tools: tools, Called: make([]int, len(tools)), Threshold: c.Extraction.Options.MinSupport()}
	runs := c.runs(a)
	for i := range runs {
		c.count(a, &runs[i])
	}
	joined := slices.DeleteFunc(runs, func(r run) bool { return !r.joined })
	switch {
	case a.isMissing(c):
	case a.Runs.Trajectories == 0:
		a.Code, a.Count, a.Of = "never-in-a-row", 0, a.InOrder
	case a.Runs.Trajectories < a.Threshold:
		a.Code, a.Count, a.Of = "in-a-row-rare", a.Runs.Trajectories, a.InOrder
		a.Step = len(tools) - 1
	case a.Joined.Trajectories < a.Threshold:
		a.interrupted()
	case c.patterns != nil:
		c.unlike(a, joined)
	default:
		c.unreached(a, joined)
	}
	if a.Code == "" {
		a.Code = "taken"
	}
	a.Takers = c.takers(joined)
	return a
}

// matches reports whether the step at a place calls a tool, by its recorded name
// or the one that rules gave it.
func (c *Compilation) matches(p merge.Place, tool string) bool {
	label := c.Merged.Graph.Label(c.Merged.Walks.Edge(p))
	if c.Merged.Labels.Name(label) == tool {
		return true
	}
	name, _ := c.Merged.Labels.Tool(label)
	return name.Value() == tool
}

// runs finds the runs, and counts on the way what is called at all and in order.
func (c *Compilation) runs(a *Absence) []run {
	var runs []run
	between := map[string]int{}
	reached := 0 // the longest beginning of the tools that is made in a row
	for i, places := range c.Merged.Walks.All() {
		called := make([]bool, len(a.Tools))
		order := 0
		for p := places[0]; p < places[1]; p++ {
			for k, tool := range a.Tools {
				called[k] = called[k] || c.matches(p, tool)
			}
			if order < len(a.Tools) && c.matches(p, a.Tools[order]) {
				order++
			}
			r, after := c.runAt(a.Tools, i, p, places[1])
			if len(r.places) == len(a.Tools) {
				runs = append(runs, r)
				continue
			}
			if len(r.places) > reached {
				reached = len(r.places)
				clear(between)
			}
			if len(r.places) == reached && reached > 0 && after < places[1] {
				between[c.Merged.Labels.Name(c.Merged.Graph.Label(c.Merged.Walks.Edge(after)))]++
			}
		}
		for k := range called {
			if called[k] {
				a.Called[k]++
			}
		}
		if order == len(a.Tools) {
			a.InOrder++
		}
	}
	if len(runs) == 0 {
		a.Step = min(reached, len(a.Tools)-1)
		for name, n := range between {
			if m := between[a.Between]; a.Between == "" || n > m || n == m && name < a.Between {
				a.Between = name
			}
		}
	}
	return runs
}

// runAt returns how far the tools are called in a row from a place on, and the
// place behind. Patterns take consecutive calls of a tool for one step that walks
// a list.
func (c *Compilation) runAt(tools []string, trajectory int, p, stop merge.Place) (run, merge.Place) {
	r := run{trajectory: trajectory, joined: true}
	for k := 0; k < len(tools) && p < stop && c.matches(p, tools[k]); k++ {
		r.places = append(r.places, p)
		p++
		if c.patterns == nil || k+1 < len(tools) && tools[k+1] == tools[k] {
			continue
		}
		for p < stop && c.matches(p, tools[k]) && c.flags(p).Joined() && k+1 < len(tools) {
			p++
		}
	}
	r.end = p
	return r, p
}

// count adds a run to what is counted, and finds out whether it is joined.
func (c *Compilation) count(a *Absence, r *run) {
	a.Runs.add(r.trajectory)
	step := 0
	for p := r.places[0] + 1; p < r.end; p++ {
		if step+1 < len(r.places) && p == r.places[step+1] {
			step++
		}
		flags := c.flags(p)
		if flags.Joined() {
			continue
		}
		r.joined = false
		at := slices.IndexFunc(a.Cuts, func(i Interruption) bool { return i.Step == step })
		if at < 0 {
			at = len(a.Cuts)
			a.Cuts = append(a.Cuts, Interruption{Step: step})
		}
		switch {
		case flags&stategraph.Cut != 0:
			a.Cuts[at].Cuts++
		case flags&stategraph.Blocked != 0:
			a.Cuts[at].Barrier++
		default:
			a.Cuts[at].User++
		}
	}
	if r.joined {
		a.Joined.add(r.trajectory)
		if r.places[0] >= a.counted {
			_, turns := candidate.Saving(c.Merged.Walks, r.trajectory, r.places[0], r.end)
			a.TurnsSaved, a.counted = a.TurnsSaved+turns, r.end
		}
	}
}
