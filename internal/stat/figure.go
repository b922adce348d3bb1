// Package stat is the estimates that results hold: figures that may not be known, and
// the intervals beside them.
//
// In come numbers and reasons; out go values that say themselves why they are null. As
// JSON both are a number or an object, and null where there is nothing to say: package
// report adds the reasons.
package stat

import (
	"encoding/json"
	"math"
)

// Figure is a number in the JSON of a command that the input may not bear. It
// is written as a number or as null; report.WriteJSON adds a note that gives the
// reason for every null. The zero value is a figure that is not known.
type Figure struct {
	value  float64
	known  bool
	reason string
}

// Known returns a figure. One that JSON cannot hold becomes null.
func Known(v float64) Figure {
	switch {
	case math.IsNaN(v):
		return Unknown("not a number")
	case math.IsInf(v, 0):
		return Unknown("infinite")
	}
	return Figure{value: v, known: true}
}

// Count returns a figure that is a count.
func Count(n int) Figure { return Known(float64(n)) }

// Finite returns a figure: what is no finite number is null for a reason.
func Finite(v float64, reason string) Figure {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return Unknown(reason)
	}
	return Known(v)
}

// Ratio returns a part of a whole: null for a reason where there is no whole.
func Ratio(part, whole int, reason string) Figure {
	if whole == 0 {
		return Unknown(reason)
	}
	return Known(float64(part) / float64(whole))
}

// Unknown returns a figure that is null, and why.
func Unknown(reason string) Figure { return Figure{reason: reason} }

// Value returns the figure, and false if it is not known.
func (f Figure) Value() (float64, bool) { return f.value, f.known }

// PartOf returns f as a part of a whole: null where f is, where the whole is, and of
// nothing.
func (f Figure) PartOf(whole Figure) Figure {
	switch {
	case !f.known:
		return f
	case whole.known && whole.value == 0:
		return Unknown("there is nothing that it could be a part of")
	case whole.known:
		f.value /= whole.value
		return f
	}
	return whole
}

// Missing returns why f is null, "" if it is not.
func (f Figure) Missing() string {
	switch {
	case f.known:
		return ""
	case f.reason == "":
		return "not known"
	}
	return f.reason
}

// MarshalJSON writes a number or null.
func (f Figure) MarshalJSON() ([]byte, error) {
	if !f.known {
		return []byte("null"), nil
	}
	return json.Marshal(f.value)
}

// Interval is what stands beside an estimate. The zero value, and one with a
// Reason, is no interval: null with a note.
type Interval struct {
	Lo, Hi float64 // infinite: the data do not bound it on this side
	Level  float64 // such as 0.95
	Method string  // such as "bootstrap over tasks"
	Reason string  // set: there is no interval, and why
}

// NoInterval returns an interval that is null, and why.
func NoInterval(reason string) Interval { return Interval{Reason: reason} }

// Missing returns why i is null, "" if it is not.
func (i Interval) Missing() string {
	switch {
	case i.Reason != "":
		return i.Reason
	case i.Level == 0, math.IsNaN(i.Lo), math.IsNaN(i.Hi):
		return "not known"
	}
	return ""
}

// MarshalJSON writes {"lo","hi","level","method"} or null. A bound that is
// infinite is null.
func (i Interval) MarshalJSON() ([]byte, error) {
	if i.Missing() != "" {
		return []byte("null"), nil
	}
	return json.Marshal(struct {
		Lo     Figure  `json:"lo"`
		Hi     Figure  `json:"hi"`
		Level  float64 `json:"level"`
		Method string  `json:"method"`
	}{Known(i.Lo), Known(i.Hi), i.Level, i.Method})
}
