package cmd

import (
	"fmt"
	"strconv"
)

// orAuto is the value of a flag that takes a number from 1 on, or "auto", which
// is 0.
type orAuto int

// String returns the number or "auto".
func (v *orAuto) String() string {
	if *v == 0 {
		return "auto"
	}
	return strconv.Itoa(int(*v))
}

// Set reads a number or "auto".
func (v *orAuto) Set(s string) error {
	n, err := strconv.Atoi(s)
	switch {
	case s == "auto":
		*v = 0
	case err != nil || n < 1:
		return fmt.Errorf("want %s", wantOrAuto)
	default:
		*v = orAuto(n)
	}
	return nil
}

const wantOrAuto = "a whole number from 1 on, or auto"

// Type names the value in help texts.
func (v *orAuto) Type() string { return "N|auto" }

// UnmarshalText reads a value as Set does.
func (v *orAuto) UnmarshalText(text []byte) error { return v.Set(string(text)) }
