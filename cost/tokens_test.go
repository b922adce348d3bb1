package cost

import (
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestCounterLimit: a text counts the same however often and in whatever pieces it
// comes, and beyond the limit by the mean of what was counted.
func TestCounterLimit(t *testing.T) {
	c := counter{limit: 100}
	text := strings.TrimSpace(strings.Repeat(" and", 30)) // 119 bytes, 30 tokens
	for range 2 {
		if n := c.count(text); n != 30 {
			t.Fatalf("%d tokens, want 30", n)
		}
	}
	if c.counted != 119 || c.guessed != 0 {
		t.Errorf("%d bytes counted, %d guessed", c.counted, c.guessed)
	}
	other := strings.Repeat("x", 238)
	if n := c.count(other); n != 60 || c.guessed != 238 {
		t.Errorf("%d tokens, want 60; %d bytes guessed", n, c.guessed)
	}
	if n := c.count(text); n != 30 {
		t.Errorf("%d tokens of a known text", n)
	}
	long := strings.Repeat("one, two; three\n", 10_000)
	whole, err := vocabulary().Count(long)
	if err != nil {
		t.Fatal(err)
	}
	if n := countPieces(long); math.Abs(float64(n)-float64(whole)) > 5 {
		t.Errorf("%d tokens in pieces, %d at once", n, whole)
	}
}

func FuzzCount(f *testing.F) {
	for _, s := range []string{"", "a", "\xff\xfe", strings.Repeat("é", 40_000), strings.Repeat("\x80", 70_000), "<|endoftext|>", strings.Repeat(" ", 70_000)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		n := countPieces(s)
		if n < 0 || n > int64(len(s)) {
			t.Fatalf("%d tokens in %d bytes (valid UTF-8: %v)", n, len(s), utf8.ValidString(s))
		}
	})
}

// TestLongTexts: a text is counted once however often it comes, and only its first MiB.
func TestLongTexts(t *testing.T) {
	var c counter
	long := strings.Repeat("the quick brown fox ", 1000)
	once := c.count(long)
	for range 50 {
		if again := c.count(long); again != once {
			t.Fatalf("%d tokens, then %d", once, again)
		}
	}
	if c.counted != int64(len(long)) || c.guessed != 0 {
		t.Errorf("%d bytes were counted of a text of %d, %d guessed", c.counted, len(long), c.guessed)
	}
	c = counter{}
	longer := strings.Repeat("the quick brown fox ", 3*maxText/20)
	n := c.count(longer)
	if c.counted > maxText || c.guessed < 2*maxText-100 || n < 3*maxText/20*4-100 || n > 3*maxText/20*4+100 {
		t.Errorf("%d tokens, %d bytes counted and %d guessed of %d", n, c.counted, c.guessed, len(longer))
	}
}
