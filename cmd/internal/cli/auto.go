package cli

import (
	"fmt"
	"strconv"
)

// OrAuto is the value of a flag that takes a number from 1 on, or "auto", which
// is 0.
type OrAuto int

// String returns the number or "auto".
func (v *OrAuto) String() string {
	if *v == 0 {
		return "auto"
	}
	return strconv.Itoa(int(*v))
}

// Set reads a number or "auto".
func (v *OrAuto) Set(s string) error {
	n, err := strconv.Atoi(s)
	switch {
	case s == "auto":
		*v = 0
	case err != nil || n < 1:
		return fmt.Errorf("want %s", WantOrAuto)
	default:
		*v = OrAuto(n)
	}
	return nil
}

// WantOrAuto says in words what an OrAuto takes.
const WantOrAuto = "a whole number from 1 on, or auto"

// Type names the value in help texts.
func (v *OrAuto) Type() string { return "N|auto" }

// UnmarshalText reads a value as Set does.
func (v *OrAuto) UnmarshalText(text []byte) error { return v.Set(string(text)) }
