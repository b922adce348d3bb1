package cli

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// Choice is the value of a flag that takes one of a few words.
type Choice struct {
	value   string
	Allowed []string // words, the default first
}

// NewChoice returns a choice whose default is the first of the allowed words.
func NewChoice(allowed ...string) *Choice {
	return &Choice{value: allowed[0], Allowed: allowed}
}

// String returns the word chosen.
func (c *Choice) String() string { return c.value }

// Set chooses a word.
func (c *Choice) Set(s string) error {
	if !slices.Contains(c.Allowed, s) {
		return fmt.Errorf("want %s", c.Want())
	}
	c.value = s
	return nil
}

// Type names the value in help texts.
func (c *Choice) Type() string { return strings.Join(c.Allowed, "|") }

// Want says in words what can be chosen.
func (c *Choice) Want() string {
	last := len(c.Allowed) - 1
	if last == 0 {
		return c.Allowed[0]
	}
	return strings.Join(c.Allowed[:last], ", ") + " or " + c.Allowed[last]
}

// Size is the value of a flag that counts bytes, such as 64MiB.
type Size int64

// sizeUnits are what may follow the number, longest first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"TiB", 1 << 40},
	{"kB", 1e3},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
	{"TB", 1e12},
	{"B", 1},
	{"k", 1e3},
	{"K", 1 << 10},
	{"M", 1 << 20},
	{"G", 1 << 30},
	{"T", 1 << 40},
}

// String returns the size in the largest unit that divides it.
func (s *Size) String() string {
	n := int64(*s)
	for _, u := range []string{"TiB", "GiB", "MiB", "KiB"} {
		for _, unit := range sizeUnits {
			if unit.name == u && n != 0 && n%unit.bytes == 0 {
				return strconv.FormatInt(n/unit.bytes, 10) + u
			}
		}
	}
	return strconv.FormatInt(n, 10)
}

// Set reads a size: a number, and a unit if it is not bytes.
func (s *Size) Set(text string) error {
	number, factor := strings.TrimSpace(text), int64(1)
	for _, unit := range sizeUnits {
		if rest, ok := strings.CutSuffix(number, unit.name); ok {
			number, factor = strings.TrimSpace(rest), unit.bytes
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(v) || v < 0 || v*float64(factor) >= math.MaxInt64 {
		return fmt.Errorf("want %s", wantSize)
	}
	*s = Size(v * float64(factor))
	return nil
}

const wantSize = "a size such as 500000, 64MiB or 1.5GB"

// Type names the value in help texts.
func (s *Size) Type() string { return "size" }

// UnmarshalText reads a size as Set does.
func (s *Size) UnmarshalText(text []byte) error { return s.Set(string(text)) }

// Wanted says in words what values a flag takes.
func Wanted(v pflag.Value) string {
	switch v := v.(type) {
	case *Choice:
		return v.Want()
	case *Size:
		return wantSize
	}
	switch v.Type() {
	case "bool":
		return "true or false"
	case "int", "int64":
		return "a whole number"
	case "uint", "uint64":
		return "a whole number that is not negative"
	case "float64":
		return "a number"
	case "duration":
		return "a duration such as 30s or 5m"
	}
	return "a value"
}
