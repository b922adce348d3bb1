package hash128

import (
	"testing"

	"pgregory.net/rapid"
)

func TestSumsOfHashes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) Hash {
			return Hash{rapid.Uint64().Draw(t, name), rapid.Uint64().Draw(t, name)}
		}
		a, b, c := draw("a"), draw("b"), draw("c")
		if a.Plus(b) != b.Plus(a) || a.Plus(b).Plus(c) != a.Plus(b.Plus(c)) {
			t.Fatalf("%v, %v, %v", a, b, c)
		}
	})
}

// TestMixDiffuses flips every input bit and counts how many output bits follow.
func TestMixDiffuses(t *testing.T) {
	const rounds = 200
	var flips [256][128]int
	input := Of([]byte("first"))
	other := Of([]byte("second"))
	for range rounds {
		input, other = Mix(input, other), Mix(other, input)
		want := Mix(input, other)
		for bit := range 256 {
			a, b := input, other
			words := [...]*uint64{&a.Hi, &a.Lo, &b.Hi, &b.Lo}
			*words[bit/64] ^= 1 << (bit % 64)
			got := Mix(a, b)
			for out := range 64 {
				flips[bit][out] += int((got.Hi ^ want.Hi) >> out & 1)
				flips[bit][64+out] += int((got.Lo ^ want.Lo) >> out & 1)
			}
		}
	}
	// 200 fair coins stay within 100 ± 42 with probability 1 - 2e-9 each.
	for bit := range flips {
		for out, n := range flips[bit] {
			if n < 58 || n > 142 {
				t.Fatalf("input bit %d flips output bit %d in %d of %d cases", bit, out, n, rounds)
			}
		}
	}
}
