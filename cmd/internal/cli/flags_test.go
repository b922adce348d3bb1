package cli

import (
	"testing"

	"github.com/spf13/pflag"
	"pgregory.net/rapid"
)

// TestNumber: a value beyond the bounds is refused and changes nothing.
func TestNumber(t *testing.T) {
	f := pflag.NewFlagSet("", pflag.ContinueOnError)
	Count(f, "count", 5, 2, "")
	CountTo(f, "order", 3, 0, 8, "")
	Share(f, "share", 0.5, true, "")
	Amount(f, "amount", 1, "")
	for _, c := range []struct {
		flag, value string
		ok          bool
	}{
		{"count", "2", true},
		{"count", "1", false},
		{"count", "2.5", false},
		{"count", "3e9", false},
		{"order", "8", true},
		{"order", "9", false},
		{"order", "-1", false},
		{"share", "0", true},
		{"share", "1", false},
		{"share", "NaN", false},
		{"amount", "1e-3", true},
		{"amount", "-1", false},
		{"amount", "Inf", false},
	} {
		before := f.Lookup(c.flag).Value.String()
		err := f.Set(c.flag, c.value)
		if got := f.Lookup(c.flag).Value.String(); (err == nil) != c.ok || !c.ok && got != before || c.ok && got != c.value {
			t.Errorf("--%s %s: %v, and it is %s", c.flag, c.value, err, got)
		}
	}
}

func TestByteSize(t *testing.T) {
	for in, want := range map[string]int64{
		"0": 0, "500000": 500_000, "64MiB": 64 << 20, "1.5GB": 1_500_000_000, "1 KiB": 1 << 10,
		"2KB": 2000, "3 MB": 3_000_000, " 8 ": 8, "1e6": 1_000_000,
	} {
		var s Size
		if err := s.Set(in); err != nil || int64(s) != want {
			t.Errorf("%q is %d (%v), want %d", in, s, err, want)
		}
	}
	for _, in := range []string{"", "x", "-1", "1 MiBB", "7B", "2k", "NaN", "1e300", "9223372036854775808", "Inf", "MiB"} {
		s := Size(5)
		if err := s.Set(in); err == nil || s != 5 {
			t.Errorf("%q is taken as %d", in, s)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		// Floats hold integers up to 2^53 exactly.
		s := Size(rapid.Int64Range(0, 1<<53).Draw(t, "bytes"))
		var back Size
		if err := back.Set(s.String()); err != nil || back != s {
			t.Fatalf("%d is written as %s and reads back as %d (%v)", int64(s), s.String(), int64(back), err)
		}
	})
}
