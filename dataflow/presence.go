package dataflow

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
			l.budget.used -= c.absent.values.counts.len()
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
	return s.asked.counts.len() <= maxPresent && s.asked.exact()
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
		held := float64(c.values.counts.of(v) + a.values.counts.of(v) + more)
		q += float64(t.asked.counts.of(v)) / float64(t.asked.total) * min(1, held/n)
	}
	q = min(1, q)
	return q, log10Tail(link.Trials, link.Rate, q), true
}
