// Package jsonvalue says when two JSON values are the same: numbers by value, so
// that 7 is 7.0, members in any order. It also says how numbers are written where
// they become text, and hashes values.
//
// Links between calls, filters in paths, and whatever compares a recorded
// argument with one that was made all go by it. It keeps no memory.
package jsonvalue

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
	"unsafe"

	"github.com/awo-dev/awo/trace"
)

// Values are known by 64-bit hashes of their kind and canonical text: with 10^8
// different values the chance of any collision is 3 in 10^4, and a collision
// costs a wrong count of one. Where a hash says that a result held an argument,
// the values themselves are compared.

// The multipliers of wyhash (Wang Yi), odd and with mixed bits.
const (
	prime0 = 0xa0761d6478bd642f
	prime1 = 0xe7037ed1a0b428db
	prime2 = 0x8ebc6af09c88c6e3
)

// Mix folds the 128-bit product of its arguments.
func Mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^prime0, b^prime1)
	return hi ^ lo
}

// hashText hashes s, eight bytes at a time.
func hashText(seed uint64, s string) uint64 {
	h := seed ^ uint64(len(s))*prime2
	for len(s) >= 8 {
		h = Mix(h, word(s))
		s = s[8:]
	}
	var tail uint64
	for i := range len(s) {
		tail |= uint64(s[i]) << (8 * i)
	}
	return Mix(h, tail^prime2)
}

// word reads the first eight bytes of s, little-endian.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// Seeds keep values of different kinds apart.
const (
	seedNull = iota + 1
	seedFalse
	seedTrue
	seedNumber
	seedString
	seedArray
	seedObject
	seedName
)

// HashString returns the hash of a string.
func HashString(s string) uint64 { return hashText(seedString, s) }

// HashBytes returns the hash of a string that stands in bytes.
func HashBytes(s []byte) uint64 {
	return hashText(seedString, unsafe.String(unsafe.SliceData(s), len(s)))
}

// HashNumber returns the hash of a number, given in canonical form.
func HashNumber(text string) uint64 { return hashText(seedNumber, Number(text)) }

// Number returns the same text for numbers of the same value, given in
// canonical form, which keeps 7 and 7.0 apart.
func Number(text string) string {
	if whole, ok := strings.CutSuffix(text, ".0"); ok {
		if whole == "-0" {
			return "0"
		}
		return whole
	}
	if strings.IndexByte(text, 'e') < 0 {
		return text
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(f) >= 1e21 || f != math.Trunc(f) {
		return text
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}

// Equal reports whether two values are equal as JSON: numbers by value, so that 7
// is 7.0, members in any order.
func Equal(a, b *trace.Value) bool {
	if a.Kind != b.Kind || a.Bool != b.Bool || len(a.Elems) != len(b.Elems) || len(a.Members) != len(b.Members) {
		return false
	}
	if a.Text != b.Text && (a.Kind != trace.Number || Number(a.Text) != Number(b.Text)) {
		return false
	}
	for i := range a.Elems {
		if !Equal(&a.Elems[i], &b.Elems[i]) {
			return false
		}
	}
	for i := range a.Members {
		if a.Members[i].Name != b.Members[i].Name || !Equal(&a.Members[i].Value, &b.Members[i].Value) {
			return false
		}
	}
	return true
}

// Sole returns the value if all are the same one: a list may hold the wanted
// record twice. It is false if there is none.
func Sole(found []trace.Value) (trace.Value, bool) {
	if len(found) == 0 {
		return trace.Value{}, false
	}
	for i := range found[1:] {
		if !Equal(&found[i+1], &found[0]) {
			return trace.Value{}, false
		}
	}
	return found[0], true
}

// SameText reports whether a string and a number, or two of either, are spelled
// alike.
func SameText(a, b *trace.Value) bool {
	return IsText(a) && IsText(b) && Text(a) == Text(b)
}

// IsText reports whether a value is a string or a number, which have a text.
func IsText(v *trace.Value) bool { return v.Kind == trace.String || v.Kind == trace.Number }

// Text returns what a string or number is as text.
func Text(v *trace.Value) string {
	if v.Kind == trace.Number {
		return Number(v.Text)
	}
	return v.Text
}

// Hash returns a hash that is equal for values that are equal.
func Hash(v *trace.Value) uint64 {
	switch v.Kind {
	case trace.Bool:
		if v.Bool {
			return Mix(seedTrue, 0)
		}
		return Mix(seedFalse, 0)
	case trace.Number:
		return HashNumber(v.Text)
	case trace.String:
		return HashString(v.Text)
	case trace.Array:
		h := HashArray(len(v.Elems))
		for i := range v.Elems {
			h = HashElement(h, Hash(&v.Elems[i]))
		}
		return h
	case trace.Object:
		h := HashObject(len(v.Members))
		for i := range v.Members {
			h = HashMember(h, v.Members[i].Name, Hash(&v.Members[i].Value))
		}
		return h
	}
	return Mix(seedNull, 0)
}

// HashArray begins the hash of an array of n elements, whose hashes are then added
// in order with HashElement.
func HashArray(n int) uint64 { return Mix(seedArray, uint64(n)) }

// HashObject begins the hash of an object of n members, which are then added in
// order of names with HashMember.
func HashObject(n int) uint64 { return Mix(seedObject, uint64(n)) }

// HashElement adds an element to the hash of an array.
func HashElement(h, element uint64) uint64 { return Mix(h, element) }

// HashMember adds a member, with the hash of its value, to the hash of an object.
func HashMember(h uint64, name string, value uint64) uint64 {
	return Mix(Mix(h, hashText(seedName, name)), value)
}
