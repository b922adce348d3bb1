package dataflow

import "github.com/awo-dev/awo/internal/lookup"

// context is what a source held in the trajectories that use a parameter after
// it, from the first hit on. Coincidence must be judged among those: what tools
// return in other kinds of tasks says nothing about it.
//
// Note: one count of values for each source over all trajectories was tried
// first. Where a tool is called once in most tasks and many times in those that
// use the parameter, it makes a pool of five values look rarer than it is
// there, and coincidences were accepted.
type context struct {
	param      int32
	before     int32 // trials before the first hit
	values     counter
	full       int32 // trajectories in which the source held more than is kept
	hasWords   bool  // words are counted too
	beforeWord int32 // trials before the first hit that needed them
	words      counter
	absent     absence
}

// open makes sure that there is a context for a link that has its first hit.
func (l *Links) open(k linkKey) {
	t := l.trial(k.source, k.param)
	before := t.trajectories - 1 // this one is counted
	next := int32(len(l.contexts))
	id := l.contextOf.Insert(lookup.Pair(uint32(k.source), uint32(k.param)), next)
	if id == next {
		l.contexts = append(l.contexts, context{
			param: k.param, before: before,
			values: counter{limit: maxHeld, budget: &l.budget},
			words:  counter{limit: maxHeld, budget: &l.budget},
			absent: absence{before: t.absent, values: counter{limit: maxHeld, budget: &l.budget}},
		})
		l.slots[k.source].contexts = append(l.slots[k.source].contexts, id)
	}
	if c := &l.contexts[id]; k.relation.toText() && !c.hasWords {
		c.hasWords, c.beforeWord = true, before
	}
}

// trial returns what is known of the trials of a source and a parameter, nil if
// there was no room for them.
func (l *Links) trial(source, param int32) *trial {
	return l.trialOf(l.slots[source].tool, param)
}

// context returns that of a link.
func (l *Links) context(k linkKey) *context {
	return &l.contexts[l.contextOf.Find(lookup.Pair(uint32(k.source), uint32(k.param)))]
}

// addContents counts what sources held, in the contexts of this trajectory.
func (l *Links) addContents(f *Flow) {
	for i, g := range f.given {
		tool := int(l.givenHere[i])
		if tool >= len(l.turns) {
			l.turns = append(l.turns, make([]int32, tool+1-len(l.turns))...)
		}
		l.turns[tool] = g.turn + 1
	}
	l.live, l.unused, l.liveRoom = l.live[:0], l.unused[:0], l.liveRoom[:0]
	for i, s := range f.Slots {
		start, unused := len(l.liveRoom), []int32(nil)
		if slot := l.global[i]; slot >= 0 {
			if tool := int(l.slots[slot].tool); tool < len(l.turns) && l.turns[tool] > 0 { // else nothing was given
				turn := l.turns[tool] - 1
				for _, id := range l.slots[slot].contexts {
					if param := l.contexts[id].param; l.asked(param) && turn <= l.here[param].last {
						l.liveRoom = append(l.liveRoom, id)
					}
				}
				unused = l.idle(s, slot, turn)
			}
		}
		l.live, l.unused = append(l.live, l.liveRoom[start:len(l.liveRoom):len(l.liveRoom)]), append(l.unused, unused)
	}
	for _, tool := range l.givenHere {
		l.turns[tool] = 0
	}
	l.addAbsent(f)
	for _, c := range f.contents {
		for _, id := range l.live[c.slot] {
			l.contexts[id].values.add(c.hash)
		}
	}
	for _, c := range f.words {
		for _, id := range l.live[c.slot] {
			if l.contexts[id].hasWords {
				l.contexts[id].words.add(c.hash)
			}
		}
	}
	for _, slot := range f.full {
		for _, id := range l.live[slot] {
			l.contexts[id].full++
		}
	}
}
