package report

import (
	"encoding/json"
	"math"

	"github.com/awo-dev/awo/internal/stat"
)

// Figure is a number in the JSON of a command that the input may not bear. It
// is written as a number or as null; WriteJSON adds a note that gives the
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

// missing returns why f is null, "" if it is not.
func (f Figure) missing() string {
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

// Float returns the figure as a Float cell, or a Missing one.
func (f Figure) Float(digits int) Cell { return f.cell(Float(f.value, digits)) }

// Share returns the figure as a Share cell, or a Missing one.
func (f Figure) Share(digits int) Cell { return f.cell(Share(f.value, digits)) }

// Int returns the figure, rounded, as an Int cell, or a Missing one.
func (f Figure) Int() Cell { return f.cell(Int64(int64(math.Round(f.value)))) }

func (f Figure) cell(c Cell) Cell {
	if reason := f.missing(); reason != "" {
		return Missing(reason)
	}
	return c
}

// Interval is what stands beside an estimate. One that there is not is null with a note.
type Interval = stat.Interval

// NoInterval returns an interval that is null, and why.
func NoInterval(reason string) Interval { return stat.None(reason) }
