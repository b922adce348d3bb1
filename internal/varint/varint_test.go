package varint_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/internal/varint"
)

// TestReader reads what was written, and nothing is left.
func TestReader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 1<<62).Draw(t, "number")
		texts := rapid.SliceOf(rapid.String()).Draw(t, "texts")
		r := varint.Reader{Data: varint.AppendTexts(varint.Append(nil, n), texts)}
		if got := r.Int(); got != n {
			t.Fatalf("%d is read as %d", n, got)
		}
		if got := r.Texts(); !slices.Equal(got, texts) {
			t.Fatalf("%q are read as %q", texts, got)
		}
		if r.Broken != "" || len(r.Data) > 0 {
			t.Fatalf("broken: %q, %d bytes are left", r.Broken, len(r.Data))
		}
	})
}

// TestBroken takes zeros of what nobody wrote, and says the first thing that was wrong.
func TestBroken(t *testing.T) {
	for _, test := range []struct {
		name, want string
		data       []byte
		read       func(*varint.Reader) bool // whether it took a zero
	}{
		{"cut off", "a number", []byte{0x80}, func(r *varint.Reader) bool { return r.Uint() == 0 }},
		{"longer than it has to be", "a number", []byte{0x81, 0}, func(r *varint.Reader) bool { return r.Uint() == 0 }},
		{"too large", "a count", []byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 1}, func(r *varint.Reader) bool { return r.Int() == 0 }},
		{"not below", "a number", []byte{7}, func(r *varint.Reader) bool { return r.Below(7) == 0 }},
		{"a list that cannot be there", "the length of a list", []byte{2, 0, 0, 0}, func(r *varint.Reader) bool { return r.Length(2) == 0 }},
		{"a text that cannot be there", "the length of a list", []byte{3, 'a'}, func(r *varint.Reader) bool { return r.Text() == "" }},
		{"bytes that are not there", "its length", nil, func(r *varint.Reader) bool { return slices.Equal(r.Take(2), []byte{0, 0}) }},
	} {
		r := varint.Reader{Data: test.data}
		if !test.read(&r) || r.Broken != test.want || r.Data != nil {
			t.Errorf("%s: broken in %q, want %q", test.name, r.Broken, test.want)
		}
		if r.Fail("later"); r.Broken != test.want || r.Uint() != 0 {
			t.Errorf("%s: the first failure is not kept", test.name)
		}
	}
	r := varint.Reader{Data: []byte{255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 1}}
	if v := r.Uint(); v != math.MaxUint64 || r.Signed() != -1 {
		t.Errorf("the largest number is %d", v)
	}
}
