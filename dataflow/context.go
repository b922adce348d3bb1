package dataflow

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
	values     counter[uint64]
	full       int32 // trajectories in which the source held more than is kept
	hasWords   bool  // words are counted too
	beforeWord int32 // trials before the first hit that needed them
	words      counter[uint64]
	absent     absence
}

// open makes sure that there is a context for a link that has its first hit.
func (l *Links) open(k linkKey) {
	t := l.trial(k.source, k.param)
	before := t.trajectories - 1 // this one is counted
	at := pair{k.source, k.param}
	id, ok := l.contextOf[at]
	if !ok {
		id = int32(len(l.contexts))
		l.contextOf[at] = id
		l.contexts = append(l.contexts, context{
			param: k.param, before: before,
			values: counter[uint64]{limit: maxHeld, budget: &l.budget},
			words:  counter[uint64]{limit: maxHeld, budget: &l.budget},
			absent: absence{before: t.absent, values: counter[uint64]{limit: maxHeld, budget: &l.budget}},
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
	return l.trials[pair{l.slots[source].tool, param}]
}

// addContents counts what sources held, in the contexts of this trajectory.
func (l *Links) addContents(f *Flow) {
	turns := make(map[toolKey]int32, len(f.given))
	for _, g := range f.given {
		turns[toolKey{g.side, g.tool}] = g.turn
	}
	l.live, l.unused = l.live[:0], l.unused[:0]
	for i, s := range f.Slots {
		var live, unused []int32
		if slot := l.global[i]; slot >= 0 {
			turn, given := turns[toolKey{s.Side, s.Tool}]
			for _, id := range l.slots[slot].contexts {
				if last, asked := l.lastHere[l.contexts[id].param]; asked && given && turn <= last {
					live = append(live, id)
				}
			}
			if given {
				unused = l.idle(s, slot, turn)
			}
		}
		l.live, l.unused = append(l.live, live), append(l.unused, unused)
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
