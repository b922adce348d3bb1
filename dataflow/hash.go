package dataflow

import (
	"math"
	"math/bits"
	"strconv"
	"strings"

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

// mix folds the 128-bit product of its arguments.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^prime0, b^prime1)
	return hi ^ lo
}

// hashText hashes s, eight bytes at a time.
func hashText(seed uint64, s string) uint64 {
	h := seed ^ uint64(len(s))*prime2
	for len(s) >= 8 {
		h = mix(h, word(s))
		s = s[8:]
	}
	var tail uint64
	for i := range len(s) {
		tail |= uint64(s[i]) << (8 * i)
	}
	return mix(h, tail^prime2)
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

func hashString(s string) uint64    { return hashText(seedString, s) }
func hashNumber(text string) uint64 { return hashText(seedNumber, numberKey(text)) }

// numberKey returns the same text for numbers of the same value, given in
// canonical form, which keeps 7 and 7.0 apart.
func numberKey(text string) string {
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

// SameValue reports whether two values are equal as JSON: numbers by value, so that 7
// is 7.0, members in any order.
func SameValue(a, b *trace.Value) bool {
	if a.Kind != b.Kind || a.Bool != b.Bool || len(a.Elems) != len(b.Elems) || len(a.Members) != len(b.Members) {
		return false
	}
	if a.Text != b.Text && (a.Kind != trace.Number || numberKey(a.Text) != numberKey(b.Text)) {
		return false
	}
	for i := range a.Elems {
		if !SameValue(&a.Elems[i], &b.Elems[i]) {
			return false
		}
	}
	for i := range a.Members {
		if a.Members[i].Name != b.Members[i].Name || !SameValue(&a.Members[i].Value, &b.Members[i].Value) {
			return false
		}
	}
	return true
}

// sameText reports whether a string and a number, or two of either, are spelled
// alike.
func sameText(a, b *trace.Value) bool {
	return isText(a) && isText(b) && spelling(a) == spelling(b)
}

func isText(v *trace.Value) bool { return v.Kind == trace.String || v.Kind == trace.Number }

func spelling(v *trace.Value) string {
	if v.Kind == trace.Number {
		return numberKey(v.Text)
	}
	return v.Text
}

// HashValue returns a hash that is equal for values that are equal.
func HashValue(v *trace.Value) uint64 {
	switch v.Kind {
	case trace.Bool:
		if v.Bool {
			return mix(seedTrue, 0)
		}
		return mix(seedFalse, 0)
	case trace.Number:
		return hashNumber(v.Text)
	case trace.String:
		return hashString(v.Text)
	case trace.Array:
		h := hashArray(len(v.Elems))
		for i := range v.Elems {
			h = hashElement(h, HashValue(&v.Elems[i]))
		}
		return h
	case trace.Object:
		h := hashObject(len(v.Members))
		for i := range v.Members {
			h = hashMember(h, v.Members[i].Name, HashValue(&v.Members[i].Value))
		}
		return h
	}
	return mix(seedNull, 0)
}

// hashArray begins the hash of an array of n elements, whose hashes are then added
// in order with hashElement.
func hashArray(n int) uint64 { return mix(seedArray, uint64(n)) }

// hashObject begins the hash of an object of n members, which are then added in
// order of names with hashMember.
func hashObject(n int) uint64 { return mix(seedObject, uint64(n)) }

// hashElement adds an element to the hash of an array.
func hashElement(h, element uint64) uint64 { return mix(h, element) }

// hashMember adds a member, with the hash of its value, to the hash of an object.
func hashMember(h uint64, name string, value uint64) uint64 {
	return mix(mix(h, hashText(seedName, name)), value)
}
