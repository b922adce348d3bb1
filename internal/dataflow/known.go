package dataflow

import (
	"strings"
	"unicode/utf8"

	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/trace"
)

// Reason says why a value counts as known, or why not.
type Reason string

// The reasons.
const (
	KnownSeen    Reason = "seen"       // it stands in something that came before
	KnownNormal  Reason = "normalized" // the same date or number does, or the same words in other case or with other blanks
	KnownBoolean Reason = "boolean"    // true or false needs no source
	KnownEnum    Reason = "enum"       // one of the values that the tool's schema lists
	KnownEmpty   Reason = "empty"      // null, or an empty string, list or object
	TooShort     Reason = "too-short"  // fewer than three characters prove nothing
	NotKnown     Reason = "unknown"    // it had not been seen
)

// Known says whether a value was known at some point of a trajectory.
type Known struct {
	OK     bool
	Reason Reason
	Side   Side // where it was seen first, with KnownSeen and KnownNormal
	Index  int  // of that call or message
}

// KnownBefore reports whether the value of the use u was known when the model
// made the turn of the given call: from a message before it, or from the
// arguments or result of a call of an earlier turn, after making dates,
// numbers, case and blanks alike. Values under three characters prove nothing;
// booleans and empty values need no proof, and neither do the values that enums
// lists. For a whole object or array ask about its leaves. With the number of
// calls for call the question is about the end of the trajectory.
//
// Booleans and enumerated values pass although they could depend on results in
// between: whether they do is for the links to say.
func (f *Flow) KnownBefore(u *Use, call int, enums Enums) Known {
	return f.known(u, call, f.Slots[u.Param], enums)
}

func (f *Flow) known(u *Use, call int, param Slot, enums Enums) Known {
	switch {
	case u.Kind == trace.Bool:
		return Known{OK: true, Reason: KnownBoolean}
	case u.empty:
		return Known{OK: true, Reason: KnownEmpty}
	case enums.Has(param, u.Value):
		return Known{OK: true, Reason: KnownEnum}
	case u.Short:
		return Known{Reason: TooShort}
	case u.Seen.Turn < 0 || call < len(f.turns) && u.Seen.Turn > int(f.turns[call]):
		return Known{Reason: NotKnown}
	}
	return u.Seen.known()
}

// ToldBefore reports whether the value of the use u stood in a message or a
// result, however short it is, before the model made the turn of the given call.
func (f *Flow) ToldBefore(u *Use, call int) bool {
	return u.Seen.Turn >= 0 && u.Seen.Side != Input && !(call < len(f.turns) && u.Seen.Turn > int(f.turns[call]))
}

// KnownBefore reports whether v, as the value of a parameter (which may be the
// zero Slot), was known when the model of t made the turn of the given call;
// see Flow.KnownBefore. An object or array is known if all of its leaves are,
// and the answer is about the first that is not. It reads the trajectory up to
// that turn: where there is a Flow, ask that, and for many values or calls see
// Collector.Knowledge.
func KnownBefore(t *trace.Trajectory, call int, param Slot, v trace.Value) Known {
	before := *t
	first, turn := turnBefore(t, call)
	asked := []byte(`{"value":`)
	asked = append(v.AppendCanonical(asked), '}')
	before.Calls = append(t.Calls[:first:first], trace.Call{Turn: turn, Args: trace.JSONOf(asked)})
	s := collection{mode: knowing}
	f := s.collect(&before)
	enums := EnumsOf(t)
	known := Known{OK: true, Reason: KnownEmpty}
	for i := range f.Uses {
		u := &f.Uses[i]
		if u.Call != first || u.Whole {
			continue
		}
		leaf := Slot{Input, param.Tool, param.Path + strings.TrimPrefix(f.Slots[u.Param].Path, "$.value")}
		if known = f.known(u, first, leaf, enums); !known.OK {
			break
		}
	}
	return known
}

// isShort reports whether a scalar has too few characters to be recognised.
func isShort(v *trace.Value) bool {
	return (v.Kind == trace.Number || v.Kind == trace.String) && utf8.RuneCountInString(v.Text) < minText
}

// Knowledge says from when on a value was known in a trajectory, whether it is an
// argument there or not.
type Knowledge struct {
	t     *trace.Trajectory
	value trace.Value
	asked bool // the trajectory has to be read again for each answer
	seen  Seen
	at    int32 // the first call of the turn from which on it had been read
}

// Knowledge looks for values in t: one reading answers for all of them, and for
// all calls, what KnownBefore reads it for each time. Objects and arrays, what is
// no UTF-8, and all values of a trajectory with more places than are kept, are
// left to that.
func (c *Collector) Knowledge(t *trace.Trajectory, values ...trace.Value) []Knowledge {
	list := make([]Knowledge, len(values))
	for i := range values {
		list[i] = Knowledge{t: t, value: values[i]}
	}
	if len(values) == 0 {
		return list
	}
	s := c.begin()
	s.ask(t, list)
	c.end(s)
	return list
}

// KnownBefore reports whether the value was known when the model made the turn of
// the given call, as KnownBefore of the package does for a parameter that no
// schema describes.
func (s *Knowledge) KnownBefore(call int) Known {
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

// ask fills in when the values were seen. What else is there to look for is
// left out, and no places are kept.
func (c *collection) ask(t *trace.Trajectory, list []Knowledge) {
	c.mode = asking
	ids := make([]int32, len(list))
	for i := range list {
		if v := &list[i].value; !isEmpty(v) && v.Kind != trace.Bool {
			ids[i] = c.want(*v, jsonvalue.Hash(v))
		}
	}
	c.readAll(t)
	overflow := c.places.met >= bounds.Places
	for i := range list {
		s := &list[i]
		s.asked = overflow || s.value.Kind == trace.Array || s.value.Kind == trace.Object || !utf8.ValidString(s.value.Text)
		if v := &s.value; !s.asked && !isEmpty(v) && v.Kind != trace.Bool {
			w := &c.wants[ids[i]]
			s.seen, s.at, s.asked = w.seen, w.seenAt, !jsonvalue.Equal(&w.value, v)
		}
	}
}
