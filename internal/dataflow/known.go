package dataflow

import (
	"unicode/utf8"

	"github.com/awo-dev/awo/trace"
)

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
func (f *Flow) KnownBefore(u *Use, call int, enums Enums) bool {
	if u.Kind == trace.Bool || u.empty || enums.Has(f.Slots[u.Param], u.Value) {
		return true
	}
	return !u.Short && f.seenBefore(u, call)
}

// ToldBefore reports whether the value of the use u stood in a message or a
// result, however short it is, before the model made the turn of the given call.
func (f *Flow) ToldBefore(u *Use, call int) bool {
	return u.Seen.Side != Input && f.seenBefore(u, call)
}

func (f *Flow) seenBefore(u *Use, call int) bool {
	return u.Seen.Turn >= 0 && (call >= len(f.turns) || u.Seen.Turn <= int(f.turns[call]))
}

// isShort reports whether a scalar has too few characters to be recognised.
func isShort(v *trace.Value) bool {
	return (v.Kind == trace.Number || v.Kind == trace.String) && utf8.RuneCountInString(v.Text) < minText
}
