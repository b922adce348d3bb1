package extraction

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestAlign takes random versions apart and wants both back, with the fewest
// edits where they are short.
func TestAlign(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	text := func() [][]byte {
		var all [][]byte
		for range r.IntN(9) {
			all = append(all, []byte{byte('a' + r.IntN(3))})
		}
		return all
	}
	for range 5000 {
		a, b := text(), text()
		var left, right [][]byte
		edits := 0
		for _, op := range align(a, b) {
			if op.sign != '+' {
				left = append(left, op.line)
			}
			if op.sign != '-' {
				right = append(right, op.line)
			}
			if op.sign != ' ' {
				edits++
			}
		}
		if !bytes.Equal(bytes.Join(left, nil), bytes.Join(a, nil)) || !bytes.Equal(bytes.Join(right, nil), bytes.Join(b, nil)) {
			t.Fatalf("%q and %q became %q and %q", a, b, left, right)
		}
		if want := len(a) + len(b) - 2*common(a, b); edits != want {
			t.Fatalf("%q and %q: %d edits, want %d", a, b, edits, want)
		}
	}
	long := bytes.Repeat([]byte("x\n"), 2*maxEdits)
	if x := newExcerpt("a.json", long, []byte("y\n")); x.removed != 2*maxEdits || x.added != 1 || len(x.lines) > maxExcerptLines+1 {
		t.Errorf("%d removed, %d added, %d lines", x.removed, x.added, len(x.lines))
	}
}

// common returns the length of the longest common subsequence.
func common(a, b [][]byte) int {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	if bytes.Equal(a[0], b[0]) {
		return 1 + common(a[1:], b[1:])
	}
	return max(common(a[1:], b), common(a, b[1:]))
}

// TestExcerptHidesValues puts a secret wherever a file on disk could hold one.
func TestExcerptHidesValues(t *testing.T) {
	const secret = "sk-secret-1"
	for _, line := range []string{
		`  "const": "` + secret + `",`, `"` + secret + `",`, `    password: ` + secret, `- ` + secret, secret, `"path": "$[?@.a == '` + secret + `'].b"`,
		`"template": "` + secret + `{0}"`, `"name": {"x": "` + secret + `"}`, `"default": "` + secret + `"`, `"description": "` + secret + `"`,
		"\"const\": {\n  \"name\": \"" + secret + "\"\n}",
	} {
		for _, name := range []string{"metatools.json", "metatools.arazzo.yaml", "metatools.py", "SKILL.md"} {
			for _, versions := range [][2]string{{line, "other"}, {"other", line}, {line + "\na", line + "\nb"}} {
				x := newExcerpt(name, []byte(versions[0]), []byte(versions[1]))
				if text := strings.Join(x.lines, "\n"); strings.Contains(text, secret) {
					t.Errorf("%s shows %s", name, text)
				}
				if x.removed+x.added == 0 {
					t.Errorf("%s: %q and %q do not differ", name, versions[0], versions[1])
				}
			}
		}
	}
	if x := newExcerpt("metatools.json", []byte("{\n  \"support\": 44,\n}"), []byte("{\n  \"support\": 45,\n}")); strings.Join(x.lines, "|") != `@@ line 2 @@| {|-  "support": 44,|+  "support": 45,` {
		t.Errorf("%q", x.lines)
	}
}
