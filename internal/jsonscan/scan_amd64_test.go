//go:build amd64 && !purego

package jsonscan

import (
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestAgainstPureGo compares what the processor's vector instructions make of
// strings with what slowStr alone does.
func TestAgainstPureGo(t *testing.T) {
	if !hasAVX2 {
		t.Skip("the processor has no AVX2")
	}
	pieces := []string{
		"a", "b", "plain text ", "exactly sixteen.", `\n`, `\"`, `\\`, `\/`, `\u00e9`, `\ud83d\ude00`, `\uD800`, "é", "’", "😀",
		"x", "y", `\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\`, "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
	}
	wrong := []string{"\n", "\x00", `\x`, `\u12`, `\ud8`, "\xff", "\xc3", `"`, `\`}
	r := rand.New(rand.NewPCG(7, 8))
	for range 100_000 {
		var text []byte
		for range r.IntN(24) {
			text = append(text, pieces[r.IntN(len(pieces))]...)
			if r.IntN(40) == 0 {
				text = append(text, wrong[r.IntN(len(wrong))]...)
			}
		}
		if r.IntN(20) > 0 {
			text = append(text, '"')
		}
		for range r.IntN(3) {
			text = append(text, `, "more": [1, 2, 3], "and": "so on, for long enough to fill a block of sixty-four"`...)
		}
		fast, slow := Cursor{data: text}, Cursor{data: text}
		end, flags := fast.longStr(0)
		want, wantFlags := slow.restOfStr(0, 0, 0)
		if end != want || !reflect.DeepEqual(fast.err, slow.err) || fast.lone != slow.lone {
			t.Fatalf("%q: ends at %d (%v, %d lone), want %d (%v, %d lone)", text, end, fast.err, fast.lone, want, slow.err, slow.lone)
		}
		// The instructions may look beyond the end and see too much there.
		if flags&wantFlags != wantFlags {
			t.Fatalf("%q: holds %b, want %b", text, flags, wantFlags)
		}
	}
}
