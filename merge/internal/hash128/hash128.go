// Package hash128 has the hashes by which package merge distinguishes states and labels,
// and the table that numbers them.
//
// Bytes and pieces of records come in, 128-bit hashes and dense numbers go out. A
// [Table] keeps about 40 bytes a hash. Nothing here knows what is hashed.
package hash128

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
	"math/bits"

	"github.com/awo-dev/awo/trace"
)

// Hash is a 128-bit hash. Labels are hashed by SHA-256, cut short; what is made
// of labels is mixed from their hashes.
//
// States and labels are told apart by these hashes alone. Taking the mixing for
// a random function, n different histories collide with probability below
// n²/2^129: for 10^9 states that is 2e-21, less than the chance that memory
// failed meanwhile. Labels cannot be made to collide on purpose without
// breaking SHA-256 cut to 128 bits; a crafted trace could at worst merge two of
// its own states.
type Hash struct{ Hi, Lo uint64 }

// Plus adds modulo 2^128: the hash of a multiset is the sum of its members'.
func (h Hash) Plus(o Hash) Hash {
	lo, carry := bits.Add64(h.Lo, o.Lo, 0)
	hi, _ := bits.Add64(h.Hi, o.Hi, carry)
	return Hash{hi, lo}
}

// Mix hashes an ordered pair: five rounds of SipHash's permutation over the 256
// bits, of which half are given out.
func Mix(a, b Hash) Hash {
	v0, v1 := a.Hi^0x736f6d6570736575, a.Lo^0x646f72616e646f6d
	v2, v3 := b.Hi^0x6c7967656e657261, b.Lo^0x7465646279746573
	for range 5 {
		v0 += v1
		v2 += v3
		v1 = bits.RotateLeft64(v1, 13) ^ v0
		v3 = bits.RotateLeft64(v3, 16) ^ v2
		v0 = bits.RotateLeft64(v0, 32)
		v2 += v1
		v0 += v3
		v1 = bits.RotateLeft64(v1, 17) ^ v2
		v3 = bits.RotateLeft64(v3, 21) ^ v0
		v2 = bits.RotateLeft64(v2, 32)
	}
	return Hash{v0 ^ v2, v1 ^ v3}
}

// Of hashes bytes for good: the same bytes give the same hash anywhere.
func Of(b []byte) Hash {
	sum := sha256.Sum256(b)
	return Hash{binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16])}
}

// Seeds make hashes for look-ups in this process: fast, and not to be foreseen
// by who wrote the trace.
type Seeds [2]maphash.Seed

// NewSeeds returns seeds that no other process has.
func NewSeeds() Seeds { return Seeds{maphash.MakeSeed(), maphash.MakeSeed()} }

// Raw hashes a piece of a record as it is written.
func (s *Seeds) Raw(r trace.Raw) Hash {
	h := Hash{maphash.Bytes(s[0], r.Data), maphash.Bytes(s[1], r.Data)}
	h.Lo += uint64(r.Form) * 0x9e3779b97f4a7c15
	return h
}

// Text hashes a string.
func (s *Seeds) Text(t string) Hash {
	return Hash{maphash.String(s[0], t), maphash.String(s[1], t)}
}
