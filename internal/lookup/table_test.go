package lookup

import (
	"math/rand/v2"
	"testing"
)

// TestTable compares a table with a map, over and over in the same memory.
func TestTable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var x Table
	for round := range 50 {
		x.Reset()
		want := map[uint64]int32{}
		for i := range int32(r.IntN(3000)) {
			key := uint64(r.IntN(2000))
			if round%2 == 1 {
				key = Pair(uint32(key), uint32(r.IntN(3)))
			}
			old, known := want[key]
			if !known {
				old = -1
			}
			if got := x.Find(key); got != old {
				t.Fatalf("found %d under %d, want %d", got, key, old)
			}
			if !known {
				want[key], old = i, i
			}
			if got := x.Insert(key, i); got != old {
				t.Fatalf("stored %d under %d, want %d", got, key, old)
			}
		}
		if x.Len() != len(want) {
			t.Fatalf("%d keys, want %d", x.Len(), len(want))
		}
		for key, id := range want {
			if got := x.Find(key); got != id {
				t.Fatalf("found %d under %d, want %d", got, key, id)
			}
		}
	}
}

// TestPair says that no two pairs share a key, as far as small numbers and the largest go.
func TestPair(t *testing.T) {
	seen := map[uint64][2]uint32{}
	for _, a := range []uint32{0, 1, 2, 3, 1000, 1 << 16, 1<<31 - 1, 1 << 31, 1<<32 - 2, 1<<32 - 1} {
		for b := range uint32(300) {
			for _, p := range [...][2]uint32{{a, b}, {b, a}, {a, -b}} {
				key := Pair(p[0], p[1])
				if other, ok := seen[key]; ok && other != p {
					t.Fatalf("%v and %v have the key %d", p, other, key)
				}
				seen[key] = p
			}
		}
	}
}
