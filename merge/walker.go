package merge

import (
	"github.com/awo-dev/awo/merge/internal/hash128"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/stategraph"
)

// Walker folds steps into transitions between states. It numbers states by the
// first appearance of their keys, so it is not safe for concurrent use. It
// keeps the key of each state.
//
// The key of a state is a 128-bit hash of what the strategy tells apart of a
// history:
//   - the set of reads: for each label of an accessor (less what a loop rule
//     ignores) one entry, under `state_reads: after_write` with the number of
//     writes before it;
//   - the writes, up to commutation (see history);
//   - with each read or write, the context values that `state` rules ask for,
//     as the paper's pair of tool call and url (appendix A.1).
//
// Annotators enter nowhere. A step that changes nothing is a self-loop.
// Histories only grow, so a walk never comes back to a state that it has left.
type Walker struct {
	strategy  Strategy
	interns   *interns
	reads     rules.ReadPolicy
	maxStates int

	effects, domains, loops, commutes, contexts bool

	history history
	root    hash128.Hash // the key of the root
	keys    []hash128.Hash
	states  hash128.Table
	fresh   uint32 // states of the disjoint strategy
	LeftOut int    // steps not walked because they led to states beyond the limit
}

// NewWalker returns a walker over the steps of r. The strategy must be the one
// of r. maxStates limits the number of states, 0 for no limit: a walk ends
// where it would enter one more, and LeftOut counts the steps that are lost.
func NewWalker(r *Rewriter, strategy Strategy, maxStates int) *Walker {
	return newWalker(r.set, strategy, r.interns, len(r.variants)-1, maxStates)
}

func newWalker(set *rules.Set, strategy Strategy, in *interns, variant, maxStates int) *Walker {
	w := &Walker{
		strategy: strategy, interns: in, maxStates: maxStates,
		effects:  strategy.kinds.has(rules.KindEffect),
		domains:  strategy.kinds.has(rules.KindDomain),
		loops:    strategy.kinds.has(rules.KindLoop),
		commutes: strategy.kinds.has(rules.KindCommute),
		contexts: strategy.kinds.has(rules.KindState),
	}
	if w.effects {
		w.reads = set.StateReads
	}
	if maxStates <= 0 || maxStates > stategraph.MaxStates {
		w.maxStates = stategraph.MaxStates
	}
	w.history.loops, w.history.contexts, w.history.variant = w.loops, w.contexts, variant
	if w.commutes {
		w.history.classes = in.classes
		w.history.actions = map[hash128.Hash]selfPart{}
	}
	w.history.reset()
	w.root = w.history.key()
	if !strategy.disjoint {
		w.states.Number(w.root)
	}
	return w
}

// States returns how many states there are so far, the root among them.
func (w *Walker) States() int {
	if w.strategy.disjoint {
		return int(w.fresh) + 1
	}
	return w.states.Len()
}

// Walk appends the transitions of one trajectory, a step each, to dst.
func (w *Walker) Walk(steps []Step, dst []stategraph.Step) []stategraph.Step {
	w.follow(steps)
	at, last := stategraph.Root, w.root
	barrier := false
	for i := range steps {
		step := &steps[i]
		if step.Cut {
			at, last = stategraph.Root, w.root
		}
		if w.keys[i] != last || w.strategy.disjoint {
			next, ok := w.state(w.keys[i])
			if !ok {
				w.LeftOut += len(steps) - i
				return dst
			}
			at, last = next, w.keys[i]
		}
		var flags stategraph.Flags
		if step.Cut {
			flags |= stategraph.Cut
		}
		if step.AfterUser {
			flags |= stategraph.AfterUser
		}
		if step.action.barrier || barrier {
			flags |= stategraph.Blocked
		}
		barrier = step.action.barrier
		dst = append(dst, stategraph.Step{Label: step.action.label, To: at, Flags: flags})
	}
	return dst
}

// follow leaves the keys of the states that the steps lead to in w.keys. They are the
// same in every process.
func (w *Walker) follow(steps []Step) {
	w.keys = w.keys[:0]
	var key hash128.Hash
	for i := range steps {
		step := &steps[i]
		if i == 0 || step.Cut {
			w.history.reset()
			key = w.history.key()
		}
		if w.enter(step.action) {
			key = w.history.key()
		}
		w.keys = append(w.keys, key)
	}
}

// state returns the state of a key, false if there is no room for it.
func (w *Walker) state(key hash128.Hash) (stategraph.StateID, bool) {
	if w.strategy.disjoint {
		if int(w.fresh)+1 >= w.maxStates {
			return 0, false
		}
		w.fresh++
		return stategraph.StateID(w.fresh), true
	}
	if w.states.Len() >= w.maxStates {
		n, known := w.states.Find(key)
		return stategraph.StateID(n), known
	}
	n, _ := w.states.Number(key)
	return stategraph.StateID(n), true
}

// enter adds a step to the history and reports whether the state changes.
func (w *Walker) enter(a *action) bool {
	effect := rules.Mutator
	if w.effects {
		effect = a.effect
	}
	if w.strategy.disjoint {
		return true
	}
	switch effect {
	case rules.Annotator:
		return false
	case rules.Accessor:
		entry := w.inContext(a, a.entry(w.history.variant, w.loops))
		if w.reads == rules.ReadsAfterWrite {
			entry = hash128.Mix(entry, hash128.Hash{Lo: uint64(w.history.writes)})
		}
		return w.history.read(entry)
	}
	var key partKey
	if w.domains {
		key.domain = a.domain
	}
	if w.commutes {
		key.class = a.class
	}
	entry := w.inContext(a, a.form(w.history.variant).hash)
	// What a write depends on is part of its action: the same label may be of
	// another domain elsewhere, if rules look at what the label does not hold.
	if key.domain != 0 {
		entry.Hi ^= a.domainHash
	}
	if key.class != 0 {
		entry.Lo ^= a.classHash
	}
	return w.history.write(a, key, entry)
}

// inContext adds the context values that enter the state to an entry.
func (w *Walker) inContext(a *action, entry hash128.Hash) hash128.Hash {
	if w.contexts && a.context != (hash128.Hash{}) {
		return hash128.Mix(entry, a.context)
	}
	return entry
}
