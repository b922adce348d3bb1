package merge

import (
	"math/bits"
	"slices"

	"github.com/awo-dev/awo/merge/internal/hash128"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/stategraph"
)

// reasonsBuilder finds reasons while walks stream by.
type reasonsBuilder struct {
	Reasons
	index map[*rules.Rule]int
	ways  []way
	known map[way]wayID
	cache map[*action]wayID
	met   map[meeting]struct{} // that have been compared
}

// meeting is a way into a state from another state than the first.
type meeting struct {
	to, from stategraph.StateID
	raw      uint64
}

// pastStep is one step of the history of a state.
type pastStep struct {
	raw   uint64
	label Label
	way   wayID
}

func newReasonsBuilder(set *rules.Set) *reasonsBuilder {
	b := &reasonsBuilder{Reasons: Reasons{set: set}, index: map[*rules.Rule]int{}, known: map[way]wayID{}, cache: map[*action]wayID{}, met: map[meeting]struct{}{}}
	for i, rule := range set.Rules {
		b.index[rule] = i
	}
	b.sets.number(nil)
	b.states = append(b.states, stateReasons{}) // the root
	return b
}

// add compares how one trajectory came to its states with how others did.
func (b *reasonsBuilder) add(steps []Step, skips []skip, walk []stategraph.Step) {
	at, history := stategraph.Root, hash128.Hash{}
	for i := range walk {
		skips, history = b.skipped(skips, i, at, history)
		if steps[i].Cut {
			at, history = stategraph.Root, hash128.Hash{}
		}
		to, l := walk[i].To, steps[i].action
		if l.uses.raw != (hash128.Hash{}) {
			history = hash128.Mix(history, l.uses.raw)
		}
		w := b.way(l)
		switch {
		case to == at:
			b.join(to, JoinUnchanged, b.ways[w].changed, b.stays(l), b.between(steps[:i], l))
		case int(to) == len(b.states):
			b.states = append(b.states, stateReasons{history: history, raw: l.uses.raw.Lo, from: at, label: l.label, way: w})
		default:
			b.arrive(to, at, l, w)
		}
		at = to
		b.visit(at, history)
	}
	if len(walk) == len(steps) {
		b.skipped(skips, len(steps), at, history)
	}
}

// visit notes that an execution with that history is in a state.
func (b *reasonsBuilder) visit(s stategraph.StateID, history hash128.Hash) {
	if b.states[s].history != history && b.states[s].join == 0 {
		b.states[s].join = JoinInherited
	}
}

// skipped joins the histories with and without the calls before a step that
// became none. It returns those that are left, and the history.
func (b *reasonsBuilder) skipped(skips []skip, step int, at stategraph.StateID, history hash128.Hash) ([]skip, hash128.Hash) {
	for ; len(skips) > 0 && skips[0].steps <= step; skips = skips[1:] {
		s := &skips[0]
		if s.failed && b.set.Failed == rules.FailedSplit {
			continue // what comes next begins at the root
		}
		var list []int
		if s.failed {
			list = append(list, len(b.set.Rules))
		}
		for _, a := range s.uses.list {
			if a.isDecisive() && (a.rule.Kind == rules.KindDrop || s.failed && a.rule.Kind == rules.KindStatus) {
				list = append(list, b.index[a.rule])
			}
		}
		b.join(at, JoinUnchanged, b.sets.number(list))
		history = hash128.Mix(history, s.uses.raw)
		b.visit(at, history)
	}
	return skips, history
}

// arrive compares a way into a known state with the first one.
func (b *reasonsBuilder) arrive(to, from stategraph.StateID, l *action, w wayID) {
	first := &b.states[to]
	switch {
	case first.from == from && first.raw == l.uses.raw.Lo:
	case first.from == from:
		b.join(to, JoinCalls, b.ways[first.way].changed, b.ways[w].changed)
	default:
		m := meeting{to, from, l.uses.raw.Lo}
		if _, known := b.met[m]; !known {
			b.met[m] = struct{}{}
			b.meet(to, from, pastStep{l.uses.raw.Lo, l.label, w})
		}
	}
}

// maxPast bounds how many steps of a history are looked back through.
const maxPast = 1000

// meet compares the first history of a state with one that comes from another
// state, back to where they parted.
func (b *reasonsBuilder) meet(to, from stategraph.StateID, last pastStep) {
	at := map[stategraph.StateID]int{}
	var one []pastStep
	for s := to; s != stategraph.Root && len(one) < maxPast; s = b.states[s].from {
		one = append(one, b.states[s].past())
		at[b.states[s].from] = len(one)
	}
	other := []pastStep{last}
	s := from
	for ; at[s] == 0 && s != stategraph.Root && len(other) < maxPast; s = b.states[s].from {
		other = append(other, b.states[s].past())
	}
	if n := at[s]; n > 0 {
		one = one[:n]
	}
	times := map[uint64]int{}
	for _, p := range one {
		times[p.raw]++
	}
	for _, p := range other {
		times[p.raw]--
	}
	reordered := !slices.Equal(b.writes(one), b.writes(other))
	var calls, order []uint32
	for _, p := range slices.Concat(one, other) {
		w := b.ways[p.way]
		if times[p.raw] != 0 {
			calls = append(calls, w.changed)
		}
		if w.accessor || reordered {
			order = append(order, w.moved)
		}
	}
	if len(order) > 0 {
		b.join(to, JoinOrder, order...)
	}
	if b.sets.union(append(calls, 0)...) != 0 {
		b.join(to, JoinCalls, calls...)
	}
}

func (s *stateReasons) past() pastStep { return pastStep{s.raw, s.label, s.way} }

// writes returns the labels of the writes among steps.
func (b *reasonsBuilder) writes(steps []pastStep) []Label {
	var labels []Label
	for _, p := range steps {
		if !b.ways[p.way].accessor {
			labels = append(labels, p.label)
		}
	}
	return labels
}

func (b *reasonsBuilder) join(s stategraph.StateID, j Join, sets ...uint32) {
	state := &b.states[s]
	state.join = state.join&^JoinInherited | j
	own := &state.own[bits.TrailingZeros8(uint8(j))]
	*own = b.sets.union(append(sets, *own)...)
}

// way returns what the rules had to do with an action.
func (b *reasonsBuilder) way(l *action) wayID {
	if id, known := b.cache[l]; known {
		return id
	}
	var changed, moved []int
	for i := range l.uses.list {
		a := &l.uses.list[i]
		if !a.isDecisive() {
			continue
		}
		switch rule := b.index[a.rule]; a.rule.Kind {
		case rules.KindRename, rules.KindFold, rules.KindInsert, rules.KindDropArg, rules.KindRewrite:
			changed = append(changed, rule)
		case rules.KindLoop:
			if l.effect == rules.Accessor && len(a.rule.IgnoreArgs) > 0 {
				changed = append(changed, rule)
			}
		case rules.KindEffect:
			if l.effect == rules.Accessor {
				moved = append(moved, rule)
			}
		case rules.KindDomain, rules.KindCommute:
			if l.effect == rules.Mutator {
				moved = append(moved, rule)
			}
		}
	}
	w := way{b.sets.number(changed), b.sets.number(moved), l.effect == rules.Accessor}
	id, known := b.known[w]
	if !known {
		id = wayID(len(b.ways))
		b.ways = append(b.ways, w)
		b.known[w] = id
	}
	if len(b.cache) >= MaxCached {
		clear(b.cache)
	}
	b.cache[l] = id
	return id
}

// stays is the set of the rules by which an action leaves the state as it is.
func (b *reasonsBuilder) stays(l *action) uint32 {
	var list []int
	for i := range l.uses.list {
		a := &l.uses.list[i]
		isReason := a.rule.Kind == rules.KindEffect && l.effect != rules.Mutator || a.rule.Kind == rules.KindLoop && l.effect == rules.Mutator
		if a.by == nil && isReason {
			list = append(list, b.index[a.rule])
		}
	}
	return b.sets.number(list)
}

// between is the set of the rules that let a repeated write look past the steps
// since the one that it repeats.
func (b *reasonsBuilder) between(steps []Step, l *action) uint32 {
	if l.effect != rules.Mutator || l.loop < 0 {
		return 0
	}
	var sets []uint32
	writes := false
	for i := len(steps) - 1; i >= 0 && len(steps)-i < maxPast; i-- {
		other := steps[i].action
		if other.effect == rules.Mutator && other.loop == l.loop && other.repeated() == l.repeated() {
			break
		}
		w := b.ways[b.way(other)]
		sets = append(sets, w.moved)
		writes = writes || other.effect == rules.Mutator
	}
	if writes {
		sets = append(sets, b.ways[b.way(l)].moved)
	}
	return b.sets.union(append(sets, 0)...)
}

// repeated is the label of an action that has a loop rule, less what that ignores.
func (l *action) repeated() hash128.Hash {
	form := &l.text
	if l.texts != nil {
		form = &l.texts[len(l.texts)-1]
	}
	return form.loops[l.loop]
}

// finish returns the reasons.
func (b *reasonsBuilder) finish() *Reasons {
	b.ways, b.known, b.cache, b.met = nil, nil, nil, nil
	return &b.Reasons
}
