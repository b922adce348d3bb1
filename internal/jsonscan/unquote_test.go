package jsonscan_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/jsonscan"
)

func checkUnquotedLen(t *testing.T, token string) {
	t.Helper()
	c := jsonscan.New([]byte(token))
	if c.Token() == nil || c.End() != nil {
		return
	}
	if got, want := jsonscan.UnquotedLen([]byte(token)), len(jsonscan.AppendUnquoted(nil, []byte(token))); got != want {
		t.Errorf("%s: %d bytes, want %d", token, got, want)
	}
}

func TestUnquotedLen(t *testing.T) {
	pieces := []string{`\"`, `\\`, `\n`, `\/`, `\u0041`, `\u00e9`, `\u20ac`, `\ud83d\ude00`, `\ud800`, `\\u`, `u`, `uu`, `é`, `a`, `abcdefg`, `name`}
	random := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		var s strings.Builder
		for range random.IntN(12) {
			s.WriteString(pieces[random.IntN(1+random.IntN(len(pieces)))])
		}
		checkUnquotedLen(t, `"`+s.String()+`"`)
	}
}

func TestEqualBytes(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 20_000 {
		word, b := random.Uint64(), byte(random.UintN(256))
		for range random.IntN(8) {
			word = word&^(0xff<<16) | uint64(b^byte(random.UintN(2)<<7))<<16
			word = word<<8 | word>>56
		}
		want := uint64(0)
		for i := range 8 {
			if byte(word>>(8*i)) == b {
				want |= 0x80 << (8 * i)
			}
		}
		if got := jsonscan.EqualBytes(word, b); got != want {
			t.Fatalf("%x in %x: %x, want %x", b, word, got, want)
		}
	}
}

func FuzzUnquotedLen(f *testing.F) {
	for _, seed := range []string{`"a\"b"`, `"\\\\u0041\u0041"`, `"1234567\\"`, `"\ud83d\ude00"`} {
		f.Add(seed)
	}
	f.Fuzz(checkUnquotedLen)
}

func BenchmarkUnquotedLen(b *testing.B) {
	token := []byte(`"{\"invoice_id\":\"INV-539803\",\"vendor\":\"Saffron Travel\",\"amount\":519,\"currency\":\"EUR\",\"due_date\":\"2026-03-15\",\"status\":\"open\"}"`)
	b.SetBytes(int64(len(token)))
	for b.Loop() {
		jsonscan.UnquotedLen(token)
	}
}
