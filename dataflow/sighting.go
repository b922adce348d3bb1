package dataflow

import (
	"unicode/utf8"

	"github.com/awo-dev/awo/dataflow/jsonvalue"
	"github.com/awo-dev/awo/trace"
)

// Sighting says from when on a value was known in a trajectory, whether it is an
// argument there or not.
type Sighting struct {
	t     *trace.Trajectory
	value trace.Value
	asked bool // the trajectory has to be read again for each answer
	seen  Seen
	at    int32 // the first call of the turn from which on it had been read
}

// Sightings looks for values in t: one reading answers for all of them, and for
// all calls, what KnownBefore reads it for each time. Objects and arrays, what is
// no UTF-8, and all values of a trajectory with more places than are kept, are
// left to that.
func (c *Collector) Sightings(t *trace.Trajectory, values ...trace.Value) []Sighting {
	list := make([]Sighting, len(values))
	for i := range values {
		list[i] = Sighting{t: t, value: values[i]}
	}
	if len(values) == 0 {
		return list
	}
	s := c.begin()
	s.sight(t, list)
	c.end(s)
	return list
}

// KnownBefore reports whether the value was known when the model made the turn of
// the given call, as KnownBefore of the package does for a parameter that no
// schema describes.
func (s *Sighting) KnownBefore(call int) Known {
	v := &s.value
	switch {
	case s.asked:
		return KnownBefore(s.t, call, Slot{}, *v)
	case v.Kind == trace.Bool:
		return Known{OK: true, Reason: KnownBoolean}
	case isEmpty(v):
		return Known{OK: true, Reason: KnownEmpty}
	case isShort(v):
		return Known{Reason: TooShort}
	}
	first, turn := turnBefore(s.t, call)
	if s.seen.Turn < 0 || s.at > int32(first) || s.seen.Turn > turn {
		return Known{Reason: NotKnown}
	}
	return s.seen.known()
}

// turnBefore returns the turn of a call, which may be the number of calls, and its
// first call.
func turnBefore(t *trace.Trajectory, call int) (first, turn int) {
	turn, first = len(t.Turns), call
	if call < len(t.Calls) {
		turn = t.Calls[call].Turn
	}
	for first > 0 && t.Calls[first-1].Turn == turn {
		first--
	}
	return first, turn
}

// known returns what is known of a value that was seen.
func (s *Seen) known() Known {
	k := Known{OK: true, Reason: KnownSeen, Side: s.Side, Index: s.Index}
	if s.Normalized {
		k.Reason = KnownNormal
	}
	return k
}

// sight fills in when the values were seen. What else is there to look for is
// left out, and no places are kept.
func (c *collection) sight(t *trace.Trajectory, list []Sighting) {
	c.mode = sighting
	ids := make([]int32, len(list))
	for i := range list {
		if v := &list[i].value; !isEmpty(v) && v.Kind != trace.Bool {
			ids[i] = c.want(*v, jsonvalue.Hash(v))
		}
	}
	c.read(t)
	overflow := c.places.met >= maxPlaces
	for i := range list {
		s := &list[i]
		s.asked = overflow || s.value.Kind == trace.Array || s.value.Kind == trace.Object || !utf8.ValidString(s.value.Text)
		if v := &s.value; !s.asked && !isEmpty(v) && v.Kind != trace.Bool {
			w := &c.wants[ids[i]]
			s.seen, s.at, s.asked = w.seen, w.seenAt, !jsonvalue.Equal(&w.value, v)
		}
	}
}
