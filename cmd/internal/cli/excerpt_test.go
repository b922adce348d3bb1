package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/internal/report"
)

func TestExcerpt(t *testing.T) {
	long := strings.Repeat("a", 300) + "X" + strings.Repeat("b", 300)
	for name, test := range map[string]struct {
		line        string
		col         int
		text, caret string
	}{
		"middle":       {"kind: efect", 7, "kind: efect", "      ^"},
		"first":        {"x", 1, "x", "^"},
		"behind":       {"abc", 4, "abc", "   ^"},
		"beyond":       {"abc", 9, "abc", ""},
		"unknown":      {"abc", 0, "abc", ""},
		"tab":          {"\tx: y", 2, " x: y", " ^"},
		"wide":         {"日本: x", 8, "日本: x", "     ^"},
		"inside rune":  {"日本", 5, "日本", "  ^"},
		"escape":       {"\x1b[31mred", 6, `\x1b[31mred`, "        ^"},
		"not UTF-8":    {"\xff\xfex", 3, `\xff\xfex`, "        ^"},
		"carriage":     {"abc\r\n", 1, "abc", "^"},
		"long, middle": {long, 301, "…" + strings.Repeat("a", 49) + "X" + strings.Repeat("b", 48) + "…", strings.Repeat(" ", 50) + "^"},
		"long, end":    {long, 601, "…" + strings.Repeat("b", 98) + "b", strings.Repeat(" ", 99) + "^"},
		"long, start":  {long, 1, strings.Repeat("a", 99) + "…", "^"},
	} {
		t.Run(name, func(t *testing.T) {
			text, caret := excerpt([]byte(test.line), test.col)
			if text != test.text && name != "long, end" || caret != test.caret && name != "long, end" {
				t.Errorf("got\n%s\n%s\nwant\n%s\n%s", text, caret, test.text, test.caret)
			}
		})
	}
}

// Whatever the line and column, an excerpt fits, is printable, and its caret
// stands inside it or right behind it.
func TestExcerptProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SliceOfN(rapid.Byte(), 0, 2000).Draw(t, "line")
		col := rapid.IntRange(-1, len(line)+3).Draw(t, "col")
		text, caret := excerpt(line, col)
		if strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
			t.Fatalf("%q is not printable", text)
		}
		if w := report.Width(text); w > excerptWidth {
			t.Fatalf("%d columns", w)
		}
		if report.Width(caret) > report.Width(text)+1 {
			t.Fatalf("the caret of %q is at %d", text, len(caret))
		}
		trimmed := bytes.TrimRight(line, "\r\n")
		if (caret != "") != (col >= 1 && col <= len(trimmed)+1) {
			t.Fatalf("column %d of %d bytes: caret %q", col, len(trimmed), caret)
		}
	})
}

// TestReadLine compares what is read of a file with what is in it, around
// columns near and far.
func TestReadLine(t *testing.T) {
	long := strings.Repeat("0123456789", 1_000_000)
	lines := []string{"first", "", long, "zweite Zeile äöü", "last without newline"}
	name := filepath.Join(t.TempDir(), "traces.jsonl")
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ line, col int }{{1, 1}, {1, 6}, {2, 1}, {3, 1}, {3, 5_000_003}, {3, 10_000_001}, {4, 15}, {5, 3}, {5, 0}} {
		part, col, ok := readLine(name, test.line, test.col)
		if !ok {
			t.Errorf("line %d is not found", test.line)
			continue
		}
		wantText, wantCaret := excerpt([]byte(lines[test.line-1]), test.col)
		text, caret := excerpt(part, col)
		if text != wantText && test.col > 0 && test.col < 9_000_000 || caret != wantCaret {
			t.Errorf("line %d, column %d: got\n%s\n%s\nwant\n%s\n%s", test.line, test.col, text, caret, wantText, wantCaret)
		}
		if len(part) > 20*excerptWidth {
			t.Errorf("line %d, column %d: %d bytes were read", test.line, test.col, len(part))
		}
	}
	for _, bad := range []struct {
		name string
		line int
	}{{name, 6}, {name, 0}, {name + ".missing", 1}, {t.TempDir(), 1}} {
		if _, _, ok := readLine(bad.name, bad.line, 1); ok {
			t.Errorf("line %d of %s is found", bad.line, bad.name)
		}
	}
	packed := filepath.Join(t.TempDir(), "traces.gz")
	if err := os.WriteFile(packed, []byte{0x1f, 0x8b, 8, 0, 'x', '\n'}, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, ok := readLine(packed, 1, 1); ok {
		t.Error("a compressed file has lines")
	}
}

func TestLineOf(t *testing.T) {
	src := []byte("one\ntwo\n\nfour")
	for line, want := range map[int]string{1: "one", 2: "two", 3: "", 4: "four"} {
		if got, ok := lineOf(src, line); !ok || string(got) != want {
			t.Errorf("line %d is %q (%v), want %q", line, got, ok, want)
		}
	}
	for _, line := range []int{-1, 0, 5} {
		if got, ok := lineOf(src, line); ok {
			t.Errorf("line %d is %q", line, got)
		}
	}
}
