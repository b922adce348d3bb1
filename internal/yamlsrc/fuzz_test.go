package yamlsrc

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// same returns where two trees differ in what they say, or "".
func same(a, b *Node) string {
	switch {
	case a == nil || b == nil:
		if a != b {
			return "one is empty"
		}
		return ""
	case a.Kind != b.Kind || a.Text != b.Text || a.Type() != b.Type() || len(a.Entries) != len(b.Entries) || a.Anchor != b.Anchor || a.Alias != b.Alias:
		return fmt.Sprintf("%s and %s", dump(a), dump(b))
	case a.Alias != "":
		return ""
	}
	for i, e := range a.Entries {
		f := b.Entries[i]
		if e.Key != nil {
			if d := same(e.Key, f.Key); d != "" {
				return d
			}
		}
		if d := same(e.Value, f.Value); d != "" {
			return d
		}
	}
	return ""
}

// allComments returns the comments of a document, sorted.
func allComments(d *Document) []string {
	found := slices.Concat(d.Head, d.Foot)
	var walk func(n *Node)
	walk = func(n *Node) {
		if n == nil || n.Alias != "" {
			return
		}
		found = append(found, n.Foot...)
		for _, e := range n.Entries {
			for _, c := range e.Head {
				found = append(found, c.Text)
			}
			found = append(found, e.Line...)
			walk(e.Value)
		}
	}
	walk(d.Root)
	slices.Sort(found)
	return found
}

// checkPositions fails if a position is outside of the source.
func checkPositions(t *testing.T, src []byte, n *Node) {
	t.Helper()
	lines := strings.Split(strings.ReplaceAll(strings.TrimPrefix(string(src), "\ufeff"), "\r\n", "\n"), "\n")
	inside := func(line, col int) bool {
		return line >= 1 && line <= len(lines) && col >= 1 && col <= len(lines[line-1])+1
	}
	var walk func(n *Node, depth int)
	walk = func(n *Node, depth int) {
		if n == nil || depth > 200 {
			return
		}
		if !inside(n.Pos.Line, n.Pos.Col) {
			t.Fatalf("%q: node at %s is outside", src, n.Pos)
		}
		for i := range len(n.Text) + 1 {
			if i > 100 {
				break
			}
			if at := n.PosAt(i); !inside(at.Line, at.Col) {
				t.Fatalf("%q: byte %d of node at %s is outside, at %s", src, i, n.Pos, at)
			}
		}
		for _, e := range n.Entries {
			walk(e.Key, depth+1)
			walk(e.Value, depth+1)
		}
	}
	walk(n, 0)
}

func FuzzParse(f *testing.F) {
	for _, src := range seeds {
		f.Add([]byte(src))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		doc, problems := Parse("f", src, Options{MaxNodes: 1000})
		lines := strings.Split(strings.ReplaceAll(strings.TrimPrefix(string(src), "\ufeff"), "\r\n", "\n"), "\n")
		for _, p := range problems {
			if p.Pos.Line < 1 || p.Pos.Line > len(lines) || p.Pos.Col < 1 || p.Pos.Col > len(lines[p.Pos.Line-1])+1 {
				t.Fatalf("problem outside of the source: %v", p)
			}
			if !utf8.ValidString(p.Msg) || p.Msg == "" || p.Code == "" {
				t.Fatalf("bad problem: %q", p)
			}
		}
		checkPositions(t, src, doc.Root)
		if len(problems) > 0 {
			return
		}
		out := doc.Append(nil)
		again, problems := Parse("f", out, Options{MaxNodes: 1000})
		if len(problems) > 0 {
			t.Fatalf("%q is written as %q, which does not parse: %v", src, out, problems)
		}
		if d := same(doc.Root, again.Root); d != "" {
			t.Fatalf("%q is written as %q, which differs: %s", src, out, d)
		}
		if a, b := allComments(doc), allComments(again); !slices.Equal(a, b) {
			t.Fatalf("%q is written as %q; comments %q and %q", src, out, a, b)
		}
		if twice := again.Append(nil); string(twice) != string(out) {
			t.Fatalf("%q is written as %q and then as %q", src, out, twice)
		}
		if doc.JSON && !json.Valid(out) {
			t.Fatalf("JSON %q is written as %q", src, out)
		}
	})
}

var seeds = []string{
	"a: b\nc:\n  - d # x\n  - \"é\": f\n    g: 'h''i'\n",
	"é: x\n\"a b\" : y\r\nz: multi\r\n  line\r\n  # c\n",
	"k: plain text\n  goes on\n  here\nl: \"double\n  goes\n\n  on\"\nm: z\n",
	"k: |\n  text\n  more\n\nl: >-2\n    x\nz: 1\n",
	"# head\n\n- a: 1 # one\n  # foot\n  b: 2\n# tail\n",
	"{a: [x, {y: z}], \"b\":1, c}\n",
	"a: &x {b: [1, 2]}\nc: *x\nd: [*x, *x]\n",
	"{\n\t\"a\": [1, 2.5e3, true, null, \"\\u00e9\\n\"]\n}\n",
	"a:\n- x\n# c\n- y\nb: 1\n",
	"a: | # c\n  x\nb: >\n  one two\n  three\n\n  four\n",
	"--- \na: 1\n...\n", "a: [ # one\n  b, # two\n  # three\n  c\n  # four\n]\n",
	"- - a\n  - b\n- - c\n", "tool: *_x\n", "p: \"\\d\"\n", "a: 'x\n", "- \n- ~\n- ''\n", "? a\n: b\n", "!t a\n", "a: ${1}\nb: '#'\n",
	"-\n  # c\n  a: 1\n", "a: # one\n  b # two\n", "a: \"x\ty\" # c\n",
}
