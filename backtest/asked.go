package backtest

import (
	"slices"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/trace"
)

// Asked is how often agents ask again for a read whose result they have: what is attached to a
// message or an answer saves nothing where the agent makes the read all the same.
type Asked struct {
	Reads int // whose result was still good, and in the context, for at least one more turn
	Again int // of these, those that the agent made at least once more
	// Assumed says that there are fewer than fewestAsked such reads of this agent; the share is
	// then that of all agents of the traces, or askedAssumed.
	Assumed bool
	Share   float64 // that is counted with
}

const (
	fewestAsked  = 20
	askedAssumed = 0.05
)

// asked counts the reads of runs, each once in a trajectory, however often it is made again.
func asked(runs []*corpus.Run, reads func(trace.Name) bool) (out Asked) {
	for _, r := range runs {
		t := r.Trajectory
		changes := func(i int) bool { return !reads(t.Calls[i].Tool) }
		repeats := t.Repeats(changes)
		first, again := make([]int, len(repeats)), make([]bool, len(repeats)) // again: in a later turn
		for i, before := range repeats {
			if first[i] = i; before >= 0 {
				first[i] = first[before]
				again[first[i]] = again[first[i]] || t.Calls[i].Turn > t.Calls[first[i]].Turn
			}
		}
		for i := range t.Calls {
			if c := &t.Calls[i]; repeats[i] < 0 && !changes(i) && c.Origin == trace.OriginModel && c.HasResult && c.Status != trace.StatusFailed && isHeld(t, i, changes) {
				out.Reads++
				if again[i] {
					out.Again++
				}
			}
		}
	}
	return out
}

// isHeld reports whether the result of a call is still good when the model is asked next.
func isHeld(t *trace.Trajectory, call int, changes func(int) bool) bool {
	turn := t.Calls[call].Turn
	if turn < 0 || turn+1 >= len(t.Turns) {
		return false
	}
	for i := call + 1; i < len(t.Calls) && t.Calls[i].Turn == turn; i++ {
		if changes(i) {
			return false
		}
	}
	return true
}

// askedAgain returns how often the agent whose runs p has asks again; everywhere is that of
// all agents of the traces.
func (p *Part) askedAgain(everywhere *Asked) Asked {
	out := asked(p.Runs, p.readsOnly)
	share := out
	if out.Assumed = out.Reads < fewestAsked; out.Assumed && everywhere != nil {
		share = *everywhere
	}
	out.Share = askedAssumed
	if share.Reads >= fewestAsked {
		out.Share = float64(share.Again) / float64(share.Reads)
	}
	return out
}

// attached returns what is saved in a trajectory by the turns that go because of attached
// results, before what these cost.
func attached(c *Case, f *Finding) Saved {
	if f.Blind != nil {
		f = &f.Blind.Finding
	}
	if f.Reading == nil || len(f.Reading.turns) == 0 {
		return Saved{}
	}
	turns := slices.Sorted(slices.Values(f.Reading.turns))
	saved, n := c.Account.Saving(turns, 0), float64(len(turns))
	return Saved{n, n, float64(saved.Tokens()), saved.USD, secondsOf(c.Trajectory, turns)}
}
