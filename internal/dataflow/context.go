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

// An optional parameter is also told by its absence: page 2 is asked for where
// there is a next page, and otherwise nobody asks. Where the values that are
// asked for are too few to say anything, this can: a source of such a parameter
// is judged among all trajectories that could have used it, and not only among
// those that did.

const (
	// maxPresent is how many different values a parameter may have for its
	// presence to be looked at: with more of them the values themselves tell.
	maxPresent = 8
	// minPresent is the share of a parameter's uses that a source must give,
	// wherever in the trajectory they are.
	minPresent = 0.9
)

// absence is what a source held in the trajectories that call the parameter's
// tool (after the source or, where it is the source's tool too, at all) and have
// the parameter in none of their calls.
type absence struct {
	before int32 // such trajectories before the first hit; all are counted in trial
	full   int32
	values counter
	closed bool // the parameter turned out to have many values
}

// idle returns the contexts of a slot whose parameter this trajectory could have
// used, and did not. turn is that from which on the slot could be a source.
func (l *Links) idle(s Slot, slot, turn int32) []int32 {
	if s.Side != Output {
		return nil
	}
	var idle []int32
	for _, id := range l.slots[slot].contexts {
		c := &l.contexts[id]
		param := &l.slots[c.param]
		if c.absent.closed {
			continue
		}
		if !param.hasFewValues() {
			l.budget.used -= len(c.absent.values.counts)
			c.absent = absence{closed: true}
			continue
		}
		if l.asked(c.param) {
			continue
		}
		if last, called := l.lastCall[param.slot.Tool]; called && (last >= turn || param.slot.Tool == s.Tool) {
			idle = append(idle, id)
		}
	}
	return idle
}

// addAbsences counts the trajectories that could have used a parameter and did
// not, for each tool whose results could have told.
func (l *Links) addAbsences(f *Flow) {
	clear(l.lastCall)
	for i := range f.Uses {
		u := &f.Uses[i]
		if i > 0 && u.Call == f.Uses[i-1].Call {
			continue
		}
		tool, turn := f.Slots[u.Param].Tool, f.turns[u.Call]
		if last, ok := l.lastCall[tool]; !ok || turn > last {
			l.lastCall[tool] = turn
		}
	}
	for tool, last := range l.lastCall {
		for _, param := range l.paramsOf[tool] {
			if l.asked(param) || !l.slots[param].hasFewValues() {
				continue
			}
			for _, g := range f.given {
				if g.side == Output && (last >= g.turn || g.tool == tool) {
					if t := l.trialOf(l.tools[toolKey{g.side, g.tool}], param); t != nil {
						t.absent++
					}
				}
			}
		}
	}
}

// hasFewValues reports whether a parameter has so few values that its presence
// is looked at.
func (s *slotStat) hasFewValues() bool {
	return len(s.asked.counts) <= maxPresent && s.asked.exact()
}

// addAbsent counts what sources held where a parameter could have been used and
// was not.
func (l *Links) addAbsent(f *Flow) {
	for _, c := range f.contents {
		for _, id := range l.unused[c.slot] {
			l.contexts[id].absent.values.add(c.hash)
		}
	}
	for _, slot := range f.full {
		for _, id := range l.unused[slot] {
			l.contexts[id].absent.full++
		}
	}
}

// present returns the chance that a link gives an optional parameter its value
// wherever it is used: q is as for equal values, but p_src is over the
// trajectories that could have used the parameter. It returns that q and log10
// of the probability; ok says whether the link is one that this can be said of.
func (l *Links) present(k *linkStat, link *Link, t *trial) (q, log10P float64, ok bool) {
	param := &l.slots[k.key.param]
	c := l.context(k.key)
	a := &c.absent
	if k.key.relation != Equal || a.closed || t.absent == a.before || !param.hasFewValues() || !t.asked.exact() ||
		link.Rate < minPresent || float64(k.uses) < minPresent*float64(param.used) {
		return 1, 0, false
	}
	n := float64(t.trajectories - c.before + t.absent - a.before)
	more := c.full + c.values.floor + a.full + a.values.floor
	for _, v := range t.asked.counts.sorted() {
		held := float64(c.values.counts[v] + a.values.counts[v] + more)
		q += float64(t.asked.counts[v]) / float64(t.asked.total) * min(1, held/n)
	}
	q = min(1, q)
	return q, log10Tail(link.Trials, link.Rate, q), true
}
