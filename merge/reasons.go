package merge

import (
	"fmt"
	"math/bits"
	"slices"

	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/stategraph"
)

// Join is a way in which histories become one state.
type Join uint8

// The ways in which histories are joined.
const (
	JoinCalls     Join = 1 << iota // calls that were recorded differently are one step
	JoinOrder                      // the same steps were made in another order
	JoinUnchanged                  // a call left the state as it was
	JoinInherited                  // all of that happened at earlier states
)

// joinNames are the words for the ways, in their order.
var joinNames = [...]string{"calls", "order", "unchanged", "inherited"}

// Names returns the words for the ways in a set of them.
func (j Join) Names() []string {
	names := []string{}
	for i, name := range joinNames {
		if j&(1<<i) != 0 {
			names = append(names, name)
		}
	}
	return names
}

// Reasons say of every state of a graph whether executions came to it with
// different histories of recorded calls, and which rules made these one state.
//
// Whether there are several is exact. The rules are named where histories meet:
// each way into a state is compared with the first one.
//   - From the same state by another recorded call: named are the rules that
//     changed the label of either call, or left its arguments out of a comparison.
//   - From another state: the first histories of both, back to where they parted.
//     Of calls that only one of them has, the rules that changed them; of reads,
//     the effect rules; of writes, if they come in another order, the domain and
//     commute rules.
//   - A call that leaves the state as it was: the rules that say so, those that
//     changed its label, and for a repeated write those that let it look past what
//     came in between.
//
// A state with several histories and no such reason of its own has them from
// earlier states. Rules may be named that others would have made up for.
//
// They take 56 bytes a state, some 40 for each edge that comes from another state
// than the first, and one list for each different set of rules.
type Reasons struct {
	set    *rules.Set
	states []stateReasons
	sets   setTable
}

type stateReasons struct {
	history hash   // of the first execution that came here
	raw     uint64 // of its last step
	from    stategraph.StateID
	label   Label // of its last step
	way     wayID
	own     [3]uint32 // sets of the rules that joined histories here, by way
	join    Join
}

// wayID numbers what the rules had to do with one step.
type wayID uint32

// way is what the rules had to do with one step, as sets of rules.
type way struct {
	changed  uint32 // rules that changed the label, or which arguments count
	moved    uint32 // rules that let it change places
	accessor bool
}

// RuleReasons counts the states at which one rule joined histories.
type RuleReasons struct {
	Rule   *rules.Rule // nil for the policy for failed calls
	States int
	Join   Join // in which ways
}

// Several reports whether the state has several histories.
func (r *Reasons) Several(s stategraph.StateID) bool { return r.states[s].join != 0 }

// Join returns in which ways the histories of a state became one.
func (r *Reasons) Join(s stategraph.StateID) Join { return r.states[s].join }

// Rules returns the ids of the rules that joined histories at the state itself,
// in file order, the policy for failed calls last as "failed:".
func (r *Reasons) Rules(s stategraph.StateID) []string {
	var list []int
	for _, own := range r.states[s].own {
		list = append(list, r.sets.lists[own]...)
	}
	slices.Sort(list)
	ids := []string{}
	for _, i := range slices.Compact(list) {
		ids = append(ids, r.id(i))
	}
	return ids
}

func (r *Reasons) id(i int) string {
	if i == len(r.set.Rules) {
		return "failed:"
	}
	return r.set.Rules[i].ID
}

// Totals returns how many states have several histories, and how many of those
// have inherited all of them.
func (r *Reasons) Totals() (several, inherited int) {
	for i := range r.states {
		if join := r.states[i].join; join != 0 {
			several++
			if join == JoinInherited {
				inherited++
			}
		}
	}
	return several, inherited
}

// ByRule returns the rules that joined histories at some state, in file order.
func (r *Reasons) ByRule() []RuleReasons {
	all := make([]RuleReasons, len(r.set.Rules)+1)
	at := make([]int, len(all)) // the last state counted, plus one
	for i := range r.states {
		for way, own := range r.states[i].own {
			for _, rule := range r.sets.lists[own] {
				all[rule].Join |= 1 << way
				if at[rule] != i+1 {
					at[rule] = i + 1
					all[rule].States++
				}
			}
		}
	}
	var found []RuleReasons
	for i, f := range all {
		if f.States == 0 {
			continue
		}
		if i < len(r.set.Rules) {
			f.Rule = r.set.Rules[i]
		}
		found = append(found, f)
	}
	return found
}

// setTable numbers sets of rules; 0 is the empty one.
type setTable struct {
	lists   [][]int
	numbers map[string]uint32
}

func (t *setTable) number(list []int) uint32 {
	if t.numbers == nil {
		t.numbers, t.lists = map[string]uint32{"[]": 0}, [][]int{nil}
	}
	slices.Sort(list)
	list = slices.Compact(list)
	key := fmt.Sprint(list)
	n, known := t.numbers[key]
	if !known {
		n = uint32(len(t.lists))
		t.numbers[key] = n
		t.lists = append(t.lists, slices.Clone(list))
	}
	return n
}

func (t *setTable) union(sets ...uint32) uint32 {
	first := sets[0]
	if !slices.ContainsFunc(sets, func(s uint32) bool { return s != first }) {
		return first
	}
	var list []int
	for _, s := range sets {
		list = append(list, t.lists[s]...)
	}
	return t.number(list)
}

// reasonsBuilder finds reasons while walks stream by.
type reasonsBuilder struct {
	Reasons
	index map[*rules.Rule]int
	ways  []way
	known map[way]wayID
	cache map[*letter]wayID
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
	b := &reasonsBuilder{Reasons: Reasons{set: set}, index: map[*rules.Rule]int{}, known: map[way]wayID{}, cache: map[*letter]wayID{}, met: map[meeting]struct{}{}}
	for i, rule := range set.Rules {
		b.index[rule] = i
	}
	b.sets.number(nil)
	b.states = append(b.states, stateReasons{}) // the root
	return b
}

// add compares how one trajectory came to its states with how others did.
func (b *reasonsBuilder) add(steps []Step, skips []skip, walk []stategraph.Step) {
	at, history := stategraph.Root, hash{}
	for i := range walk {
		skips, history = b.skipped(skips, i, at, history)
		if steps[i].Cut {
			at, history = stategraph.Root, hash{}
		}
		to, l := walk[i].To, steps[i].letter
		if l.uses.raw != (hash{}) {
			history = mix(history, l.uses.raw)
		}
		w := b.way(l)
		switch {
		case to == at:
			b.join(to, JoinUnchanged, b.ways[w].changed, b.stays(l), b.between(steps[:i], l))
		case int(to) == len(b.states):
			b.states = append(b.states, stateReasons{history: history, raw: l.uses.raw.lo, from: at, label: l.label, way: w})
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
func (b *reasonsBuilder) visit(s stategraph.StateID, history hash) {
	if b.states[s].history != history && b.states[s].join == 0 {
		b.states[s].join = JoinInherited
	}
}

// skipped joins the histories with and without the calls before a step that
// became none. It returns those that are left, and the history.
func (b *reasonsBuilder) skipped(skips []skip, step int, at stategraph.StateID, history hash) ([]skip, hash) {
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
		history = mix(history, s.uses.raw)
		b.visit(at, history)
	}
	return skips, history
}

// arrive compares a way into a known state with the first one.
func (b *reasonsBuilder) arrive(to, from stategraph.StateID, l *letter, w wayID) {
	first := &b.states[to]
	switch {
	case first.from == from && first.raw == l.uses.raw.lo:
	case first.from == from:
		b.join(to, JoinCalls, b.ways[first.way].changed, b.ways[w].changed)
	default:
		m := meeting{to, from, l.uses.raw.lo}
		if _, known := b.met[m]; !known {
			b.met[m] = struct{}{}
			b.meet(to, from, pastStep{l.uses.raw.lo, l.label, w})
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

// way returns what the rules had to do with a letter.
func (b *reasonsBuilder) way(l *letter) wayID {
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
	if len(b.cache) >= maxCached {
		clear(b.cache)
	}
	b.cache[l] = id
	return id
}

// stays is the set of the rules by which a letter leaves the state as it is.
func (b *reasonsBuilder) stays(l *letter) uint32 {
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
func (b *reasonsBuilder) between(steps []Step, l *letter) uint32 {
	if l.effect != rules.Mutator || l.loop < 0 {
		return 0
	}
	var sets []uint32
	writes := false
	for i := len(steps) - 1; i >= 0 && len(steps)-i < maxPast; i-- {
		other := steps[i].letter
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

// repeated is the label of a letter that has a loop rule, less what that ignores.
func (l *letter) repeated() hash {
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
