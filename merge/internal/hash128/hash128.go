package merge

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/maphash"
	"math/bits"

	"github.com/awo-dev/awo/trace"
)

// hash is a 128-bit hash. Labels are hashed by SHA-256, cut short; what is made
// of labels is mixed from their hashes.
//
// States and labels are told apart by these hashes alone. Taking the mixing for
// a random function, n different histories collide with probability below
// n²/2^129: for 10^9 states that is 2e-21, less than the chance that memory
// failed meanwhile. Labels cannot be made to collide on purpose without
// breaking SHA-256 cut to 128 bits; a crafted trace could at worst merge two of
// its own states.
type hash struct{ hi, lo uint64 }

// plus adds modulo 2^128: the hash of a multiset is the sum of its members'.
func (h hash) plus(o hash) hash {
	lo, carry := bits.Add64(h.lo, o.lo, 0)
	hi, _ := bits.Add64(h.hi, o.hi, carry)
	return hash{hi, lo}
}

// mix hashes an ordered pair: five rounds of SipHash's permutation over the 256
// bits, of which half are given out.
func mix(a, b hash) hash {
	v0, v1 := a.hi^0x736f6d6570736575, a.lo^0x646f72616e646f6d
	v2, v3 := b.hi^0x6c7967656e657261, b.lo^0x7465646279746573
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
	return hash{v0 ^ v2, v1 ^ v3}
}

// hashOf hashes bytes for good: the same bytes give the same hash anywhere.
func hashOf(b []byte) hash {
	sum := sha256.Sum256(b)
	return hash{binary.LittleEndian.Uint64(sum[:8]), binary.LittleEndian.Uint64(sum[8:16])}
}

// seeds make hashes for look-ups in this process: fast, and not to be foreseen
// by who wrote the trace.
type seeds [2]maphash.Seed

func newSeeds() seeds { return seeds{maphash.MakeSeed(), maphash.MakeSeed()} }

// raw hashes a piece of a record as it is written.
func (s *seeds) raw(r trace.Raw) hash {
	h := hash{maphash.Bytes(s[0], r.Data), maphash.Bytes(s[1], r.Data)}
	h.lo += uint64(r.Form) * 0x9e3779b97f4a7c15
	return h
}

// text hashes a string.
func (s *seeds) text(t string) hash {
	return hash{maphash.String(s[0], t), maphash.String(s[1], t)}
}
