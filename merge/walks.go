package merge

import (
	"iter"

	"github.com/awo-dev/awo/stategraph"
)

// Walks are the walks of all trajectories through a graph, in compact form: 13
// bytes a step in one piece of memory for all, and 8 a trajectory. They do not
// change and may be shared.
type Walks struct {
	starts []int // by trajectory: where its steps begin; one more at the end

	// By step.
	edges []stategraph.EdgeID
	turns []uint32 // see TurnOf
	calls []uint32 // the first of the calls that it stands for
	flags []stepFlags

	spans map[int]span // of the steps that stand for several calls or turns
}

// stepFlags are stategraph.Flags and one more.
type stepFlags uint8

const (
	flagMask               = stepFlags(stategraph.Cut | stategraph.AfterUser | stategraph.Blocked)
	insertedFlag stepFlags = 1 << 7
)

// span is what a folded step covers beyond its first call.
type span struct {
	lastCall uint32
	lastTurn uint32
	calls    uint32
}

// Place is one step of one trajectory, as an index into all steps.
type Place int

// Trajectories returns how many trajectories there are, in the order in which
// they were added; those without steps and those left out are among them.
func (w *Walks) Trajectories() int { return len(w.starts) - 1 }

// Steps returns the number of all steps.
func (w *Walks) Steps() int { return len(w.edges) }

// Of returns the steps of a trajectory as a range of places: first to last-1.
func (w *Walks) Of(trajectory int) (first, last Place) {
	return Place(w.starts[trajectory]), Place(w.starts[trajectory+1])
}

// All yields the steps of every trajectory that has any, as ranges of places.
func (w *Walks) All() iter.Seq2[int, [2]Place] {
	return func(yield func(int, [2]Place) bool) {
		for i := range w.Trajectories() {
			if first, last := w.Of(i); first < last && !yield(i, [2]Place{first, last}) {
				return
			}
		}
	}
}

// Edge returns the edge that the step takes.
func (w *Walks) Edge(p Place) stategraph.EdgeID { return w.edges[p] }

// Flags say how the step hangs together with the one before it.
func (w *Walks) Flags(p Place) stategraph.Flags { return stategraph.Flags(w.flags[p] & flagMask) }

// Inserted reports whether a rule inserted the step: nobody called it.
func (w *Walks) Inserted(p Place) bool { return w.flags[p]&insertedFlag != 0 }

// Calls returns the first and the last of the calls that the step stands for,
// as indices into Trajectory.Calls, and how many they are: 0 if the step is
// inserted, and more than 1 only if a rule folded calls.
func (w *Walks) Calls(p Place) (first, last, n int) {
	first = int(w.calls[p])
	if s, folded := w.spans[int(p)]; folded {
		return first, int(s.lastCall), int(s.calls)
	}
	if w.Inserted(p) {
		return first, first, 0
	}
	return first, first, 1
}

// Turns returns the turns of the first and the last call of the step. Turns are
// counted per trajectory over those that have a call in one of its steps, from
// 0: the difference of two is how many such turns lie between.
func (w *Walks) Turns(p Place) (first, last int) {
	first = int(w.turns[p])
	if s, folded := w.spans[int(p)]; folded {
		return first, int(s.lastTurn)
	}
	return first, first
}

// walksBuilder collects Walks while the graph still grows.
type walksBuilder struct{ walks Walks }

// add appends the walk of one trajectory: its edges, its transitions and its steps, of which the walk may have only the first ones.
func (b *walksBuilder) add(walk []stategraph.Step, edges []stategraph.EdgeID, steps []Step) {
	w := &b.walks
	w.starts = append(w.starts, len(w.edges))
	w.edges = append(w.edges, edges...)
	turn, recorded := int32(-1), int32(-1)
	for i := range walk {
		step := &steps[i]
		flags := stepFlags(walk[i].Flags)
		if step.Inserted {
			flags |= insertedFlag
		}
		if step.FirstTurn != recorded || turn < 0 {
			turn, recorded = turn+1, step.FirstTurn
		}
		place := len(w.flags)
		w.flags = append(w.flags, flags)
		w.turns = append(w.turns, uint32(turn))
		w.calls = append(w.calls, uint32(step.FirstCall))
		if step.Calls > 1 {
			turn, recorded = turn+step.Turns-1, step.LastTurn
			if w.spans == nil {
				w.spans = map[int]span{}
			}
			w.spans[place] = span{uint32(step.LastCall), uint32(turn), uint32(step.Calls)}
		}
	}
}

// finish returns the walks.
func (b *walksBuilder) finish() *Walks {
	w := new(Walks) // a pointer to b.walks would keep all that b is a part of
	*w = b.walks
	w.starts = append(w.starts, len(w.edges))
	return w
}
