package jsonscan

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"unicode/utf8"
)

// TestValidUTF8 compares validUTF8 with the standard library at every border of
// a block, on all pairs and on broken runes.
func TestValidUTF8(t *testing.T) {
	check := func(s []byte) {
		t.Helper()
		if got, want := validUTF8(s), utf8.Valid(s); got != want {
			t.Fatalf("%q: got %v, want %v", s, got, want)
		}
	}
	pad := bytes.Repeat([]byte("a"), 160)
	for a := 0x7F; a < 256; a++ {
		for b := 0x7F; b < 256; b += 1 {
			for _, c := range []byte{0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC2, 0xE1, 0xF1} {
				for _, at := range []int{0, 29, 30, 31, 32, 61, 62, 63, 64, 95, 96} {
					s := append([]byte(nil), pad[:96+at%7]...)
					for i, x := range []byte{byte(a), byte(b), c, 0x80} {
						if at+i < len(s) {
							s[at+i] = x
						}
					}
					check(s)
					s = s[:max(0, min(len(s), at+3))]
					check(s)
				}
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	runes := []rune{'a', 0x7F, 0x80, 0x7FF, 0x800, 0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x10FFFF, '’', '请'}
	for range 20000 {
		var s []byte
		for n := 30 + r.IntN(120); len(s) < n; {
			s = utf8.AppendRune(s, runes[r.IntN(len(runes))])
		}
		check(s)
		s[r.IntN(len(s))] = byte(r.Uint32())
		check(s)
		check(s[:len(s)-r.IntN(4)])
	}
}
