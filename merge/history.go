package merge

import (
	"github.com/awo-dev/awo/merge/internal/hash128"
)

// history is what the state of a walk depends on: the reads seen, and the
// writes up to commutation.
//
// Writes are events of a trace in the sense of Mazurkiewicz: two of them depend
// on each other unless their domains differ or a commute rule joins their
// classes; a write without a domain depends on all, and equal actions always
// depend on each other, which changes no equivalence and lets events be told
// apart. Two words of events are equivalent exactly if their dependence graphs
// are the same, and that graph is hashed event by event: the hash of an event is
// that of its action and of the multiset of the hashes of all earlier events
// that it depends on; the hash of the word is that of the multiset of its
// events. Multisets are hashed by adding, so an event costs the same however
// long the history is. No two events of one word have the same hash: equal
// actions depend on each other, so the later one has the earlier one, and all
// that it depends on, below itself.
//
// Note: for domains alone the projections onto each domain (with the writes of
// no domain) are as complete and as cheap; they say nothing about commute rules,
// for which this form is needed anyway. Foata's normal form is complete too, but
// an event may have to be put in far back.
type history struct {
	classes  *classes // nil: no commute rules
	loops    bool     // loop rules apply: keep what they ask for
	contexts bool     // context values tell writes apart
	variant  int      // of the labels

	reads   map[hash128.Hash]struct{}
	readSum hash128.Hash

	writes int
	total  hash128.Hash // of all events

	parts   []part // writes by domain and class, in order of first appearance
	none    part   // writes of no domain, whatever their class
	byPart  map[partKey]int
	actions map[hash128.Hash]selfPart // of actions whose class commutes with itself

	// Domains with writes after the last write of no domain.
	recent int

	events []event // only kept for loop rules under commute rules
}

// partKey tells apart writes that differ in what they depend on.
type partKey struct {
	domain domainID
	class  classID
}

// part is the writes of one domain and class.
type part struct {
	key  partKey
	sum  hash128.Hash
	last int // the number of the last of them, from 1; 0 for none
	at   *action
}

// selfPart is the equal actions among writes that commute with their like.
type selfPart struct {
	sum  hash128.Hash
	last int
	at   *action
}

type event struct {
	key    partKey
	action hash128.Hash
}

func (h *history) reset() {
	clear(h.reads)
	h.readSum, h.total, h.none = hash128.Hash{}, hash128.Hash{}, part{}
	h.writes, h.recent = 0, 0
	h.parts, h.events = h.parts[:0], h.events[:0]
	if len(h.byPart) > 0 {
		clear(h.byPart)
	}
	if len(h.actions) > 0 {
		clear(h.actions)
	}
}

// key is the key of the state that the history leads to.
func (h *history) key() hash128.Hash { return hash128.Mix(h.readSum, h.total) }

// read adds a read and reports whether the state changes.
func (h *history) read(entry hash128.Hash) bool {
	if _, known := h.reads[entry]; known {
		return false
	}
	if h.reads == nil {
		h.reads = map[hash128.Hash]struct{}{}
	}
	h.reads[entry] = struct{}{}
	h.readSum = h.readSum.Plus(entry)
	return true
}

// write adds a write and reports whether the state changes: it does not if a
// loop rule finds the same write right below it. entry is the write's action.
func (h *history) write(a *action, key partKey, entry hash128.Hash) bool {
	if h.loops && a.loop >= 0 && h.repeats(a, key, entry) {
		return false
	}
	e := hash128.Mix(entry, h.below(key, entry))
	h.writes++
	h.total = h.total.Plus(e)
	p := h.part(key)
	if key.domain == 0 {
		h.none.sum, h.none.last, h.none.at = h.none.sum.Plus(e), h.writes, a
		h.recent = 0
	} else if p.last <= h.none.last {
		h.recent++
	}
	p.sum, p.last, p.at = p.sum.Plus(e), h.writes, a
	if h.selfCommutes(key) {
		same := h.actions[entry]
		h.actions[entry] = selfPart{same.sum.Plus(e), h.writes, a}
	}
	if h.classes != nil && h.loops {
		h.events = append(h.events, event{key, entry})
	}
	return true
}

// below is the hash of all events that a new one depends on.
func (h *history) below(key partKey, entry hash128.Hash) hash128.Hash {
	if h.classes == nil {
		if key.domain == 0 {
			return h.total
		}
		return h.none.sum.Plus(h.part(key).sum)
	}
	var sum hash128.Hash
	for i := range h.parts {
		if h.depend(key, h.parts[i].key) {
			sum = sum.Plus(h.parts[i].sum)
		}
	}
	if h.selfCommutes(key) {
		sum = sum.Plus(h.actions[entry].sum)
	}
	return sum
}

// depend reports whether writes of the two parts depend on each other, equal
// actions aside.
func (h *history) depend(a, b partKey) bool {
	if a.domain != b.domain && a.domain != 0 && b.domain != 0 {
		return false
	}
	return h.classes == nil || !h.classes.commute(a.class, b.class)
}

// selfCommutes reports whether writes of the part commute with each other.
func (h *history) selfCommutes(key partKey) bool {
	return h.classes != nil && key.class != 0 && h.classes.commute(key.class, key.class)
}

// part finds or makes the part of the key.
func (h *history) part(key partKey) *part {
	if len(h.parts) <= 8 {
		for i := range h.parts {
			if h.parts[i].key == key {
				return &h.parts[i]
			}
		}
	} else if i, known := h.byPart[key]; known {
		return &h.parts[i]
	}
	h.parts = append(h.parts, part{key: key})
	n := len(h.parts)
	switch {
	case n == 9: // more than is quick to look through
		if h.byPart == nil {
			h.byPart = map[partKey]int{}
		}
		for i := range h.parts {
			h.byPart[h.parts[i].key] = i
		}
	case n > 9:
		h.byPart[key] = n - 1
	}
	return &h.parts[n-1]
}

// repeats reports whether a write that loops is the same as the sole maximal
// event that it depends on: its label, less what its loop rule ignores, is that
// event's label less the same.
func (h *history) repeats(a *action, key partKey, entry hash128.Hash) bool {
	last, at, sole := h.lastBelow(key, entry)
	if at == nil || len(at.form(h.variant).loops) <= int(a.loop) {
		return false // the last one is of another name, which has other rules
	}
	if at.form(h.variant).loops[a.loop] != a.form(h.variant).loops[a.loop] {
		return false
	}
	if h.contexts && at.context != a.context {
		return false
	}
	return sole || h.isSole(last, key, entry)
}

// lastBelow returns the number of the last event that a new one depends on, its
// action, and whether it is known that all others that the new one depends on
// are below it.
func (h *history) lastBelow(key partKey, entry hash128.Hash) (last int, at *action, sole bool) {
	if h.classes == nil {
		if key.domain != 0 {
			if p := h.part(key); p.last > h.none.last {
				return p.last, p.at, true
			}
			return h.none.last, h.none.at, true
		}
		if h.recent == 0 {
			return h.none.last, h.none.at, true
		}
		for i := range h.parts {
			if h.parts[i].last == h.writes {
				at = h.parts[i].at
			}
		}
		if h.recent > 1 {
			at = nil // several maximal ones
		}
		return h.writes, at, true
	}
	for i := range h.parts {
		p := &h.parts[i]
		if p.last > last && h.depend(key, p.key) {
			last, at, sole = p.last, p.at, p.key == key
		}
	}
	if h.selfCommutes(key) {
		if same := h.actions[entry]; same.last > last {
			last, at, sole = same.last, same.at, true
		}
	}
	return last, at, sole
}

// isSole reports whether all events that a new one depends on are below the
// given one or that itself. It looks back through the history, which it is
// only asked to do where labels are equal though what they depend on differs.
func (h *history) isSole(last int, key partKey, entry hash128.Hash) bool {
	below := []event{h.events[last-1]}
	for i := last - 2; i >= 0; i-- {
		e := h.events[i]
		isBelow, known := false, false
		for _, b := range below {
			isBelow = isBelow || h.dependEvents(e, b)
			known = known || e == b
		}
		switch {
		case isBelow && !known:
			below = append(below, e)
		case isBelow:
		case h.dependEvents(e, event{key, entry}):
			return false
		}
	}
	return true
}

func (h *history) dependEvents(a, b event) bool {
	return h.depend(a.key, b.key) || a == b
}
