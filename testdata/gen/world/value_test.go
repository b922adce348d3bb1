package world

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func FuzzAppendString(f *testing.F) {
	for _, s := range []string{"", "plain", `"quoted" \ back`, "tab\tnewline\n\r\x00\x1f", "Zoë \u2028 \U0001f600", "\xff\xfe broken \xe2\x82"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var got string
		if err := json.Unmarshal(AppendString(nil, s), &got); err != nil {
			t.Fatalf("%q: %v", s, err)
		}
		if want := strings.ToValidUTF8(s, "\ufffd"); utf8.ValidString(s) && got != s || !utf8.ValidString(s) && strings.ReplaceAll(got, "\ufffd", "") != strings.ReplaceAll(want, "\ufffd", "") {
			t.Fatalf("%q became %q", s, got)
		}
	})
}

func TestMoney(t *testing.T) {
	for cents, want := range map[int]string{0: "0", 5: "0.05", 50: "0.5", 100: "1", 129_90: "129.9", 129_95: "129.95", -250: "-2.5"} {
		if got := moneyText(cents); got != want {
			t.Errorf("%d cents are %s, not %s", cents, got, want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		cents := rapid.IntRange(0, 1<<40).Draw(t, "cents")
		if got, ok := parseMoney(moneyText(cents)); !ok || got != cents {
			t.Fatalf("%d came back as %d, %v", cents, got, ok)
		}
	})
	for _, s := range []string{"", ".", "1.234", "-5", "x", "1e3", "1.-5"} {
		if cents, ok := parseMoney(s); ok && cents > 0 {
			t.Errorf("%q is %d cents", s, cents)
		}
	}
}

func TestLeavesAndPaths(t *testing.T) {
	v := Obj(M("a", List(Int(1), Obj(M("b", Str("x"))))), M("c", Value{}), M("d", Obj(M("e", Truth(true)))))
	var got []string
	v.Leaves(func(path string, leaf Value) { got = append(got, path+"="+string(leaf.AppendJSON(nil))) })
	want := `a[0]=1 a[1].b="x" c=null d.e=true`
	if strings.Join(got, " ") != want {
		t.Errorf("leaves are %v", got)
	}
	var root []string
	List(Obj(M("p", Int(2)))).Leaves(func(path string, _ Value) { root = append(root, path) })
	if len(root) != 1 || root[0] != "[0].p" {
		t.Errorf("leaves of a list are %v", root)
	}
}

// TestRandIsFixed holds the numbers that the committed corpus is made of.
func TestRandIsFixed(t *testing.T) {
	// Known answers of splitmix64 with state 0.
	var z Rand
	for i, want := range []uint64{0xe220a8397b1dcdaf, 0x6e789e6aa1b965f4, 0x06c45d188009454f} {
		if got := z.Uint64(); got != want {
			t.Errorf("number %d is %#x, not %#x", i, got, want)
		}
	}
	counts := make([]int, 7)
	for range 70_000 {
		counts[z.IntN(7)]++
	}
	for i, n := range counts {
		if n < 9_500 || n > 10_500 {
			t.Errorf("%d came %d times of 70000", i, n)
		}
	}
}

func TestSpreadHasItsMedian(t *testing.T) {
	r := NewRand(1, "spread", 0)
	below := 0
	for range 10_000 {
		d := r.Spread(time.Second)
		if d < 400*time.Millisecond || d > 4*time.Second {
			t.Fatalf("a factor of %v", d)
		}
		if d < time.Second {
			below++
		}
	}
	if below < 4_500 || below > 5_500 {
		t.Errorf("%d of 10000 are below the median", below)
	}
}
