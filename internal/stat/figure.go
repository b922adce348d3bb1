package stat

import (
	"encoding/json"
	"math"
)

// Figure is a number of a result, or why the input does not support one. In JSON it
// is a number or null; a report adds a note that gives the reason for every
// null. The zero value is a figure that is not known.
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

// Float returns the figure for arithmetic, NaN if it is not known.
func (f Figure) Float() float64 {
	if !f.known {
		return math.NaN()
	}
	return f.value
}

// Known reports whether there is a number.
func (f Figure) Known() bool { return f.known }

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
