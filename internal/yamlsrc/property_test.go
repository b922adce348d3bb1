package yamlsrc

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawNode draws a tree, and the value that encoding/json would have for it.
func drawNode(t *rapid.T, depth int) (*Node, any) {
	style := rapid.SampledFrom([]Style{Block, Flow}).Draw(t, "style")
	kinds := []Kind{Scalar, Sequence, Mapping}
	if depth == 0 {
		kinds = kinds[:1]
	}
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case Sequence:
		n, value := &Node{Kind: kind, Style: style}, []any{}
		for range rapid.IntRange(0, 4).Draw(t, "length") {
			child, v := drawNode(t, depth-1)
			n.Entries = append(n.Entries, drawComments(t, &Entry{Value: child}))
			value = append(value, v)
		}
		return n, value
	case Mapping:
		n, value := &Node{Kind: kind, Style: style}, map[string]any{}
		for range rapid.IntRange(0, 4).Draw(t, "length") {
			key, _ := drawText(t)
			if _, twice := value[key.Text]; twice || (key.Style == Plain && key.Type() != String) {
				continue
			}
			child, v := drawNode(t, depth-1)
			n.Entries = append(n.Entries, drawComments(t, &Entry{Key: key, Value: child}))
			value[key.Text] = v
		}
		return n, value
	}
	return drawText(t)
}

func drawComments(t *rapid.T, e *Entry) *Entry {
	for range rapid.SampledFrom([]int{0, 0, 0, 0, 1, 2}).Draw(t, "comments") {
		e.Head = append(e.Head, Comment{Text: rapid.StringMatching(` [a-z'"\[:{}-]{1,5}`).Draw(t, "comment"), Apart: rapid.Bool().Draw(t, "apart")})
	}
	if rapid.IntRange(0, 5).Draw(t, "behind") == 0 {
		e.Line = append(e.Line, " behind")
	}
	return e
}

func drawText(t *rapid.T) (*Node, any) {
	text := rapid.OneOf(
		rapid.StringMatching(`[a-z*{}\[\]:#'" ,&!?|>%@-]{0,8}`),
		rapid.SampledFrom([]string{"null", "true", "7", "007", "1.5", "<<", "yes", "\n", "a\nb", "a\nb\n", "a\n\n b\n\n", " x", "x ", "\t", "é", "😀", "\u2028", "\x00", "---", "...", "- a", "a: b", "a #b", "${1}", `\d+`}),
		rapid.String(),
		rapid.StringMatching(`[a-z]{1,9}( [a-z]{1,9}){10,40}\n?`),
	).Draw(t, "text")
	text = strings.ToValidUTF8(text, "")
	style := rapid.SampledFrom([]Style{Plain, SingleQuoted, DoubleQuoted, Literal, Folded}).Draw(t, "scalar style")
	if style == Plain && (!isPrintable(text) || !isPlain(text, inBraces) || (&Node{Text: text}).Type() != String) {
		style = SingleQuoted
	}
	return &Node{Style: style, Text: text}, text
}

// TestAppendProperty: what is written parses to the tree that was written, with
// its comments, and is written alike again; as JSON it is what encoding/json
// reads.
func TestAppendProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		root, value := drawNode(t, 3)
		root.Spaced = rapid.Bool().Draw(t, "spaced")
		doc := &Document{Root: root}
		want := allComments(doc)
		out := doc.Append(nil)
		again, problems := Parse("f", out, Options{})
		if len(problems) > 0 {
			t.Fatalf("%q does not parse: %v", out, problems)
		}
		if d := same(root, again.Root); d != "" {
			t.Fatalf("%q differs: %s", out, d)
		}
		if got := allComments(again); !slices.Equal(got, want) {
			t.Fatalf("%q has comments %q, want %q", out, got, want)
		}
		again.Root.Spaced = root.Spaced
		if twice := again.Append(nil); string(twice) != string(out) {
			t.Fatalf("%q is written as %q", out, twice)
		}
		checkJSON(t, root, value)
	})
}

func checkJSON(t *rapid.T, root *Node, value any) {
	doc := &Document{Root: root, JSON: true}
	stripComments(root)
	quoteAll(root)
	out := doc.Append(nil)
	var got any
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatalf("%q is no JSON: %v", out, err)
	}
	if fmt.Sprint(got) != fmt.Sprint(value) {
		t.Fatalf("%q is read as %v, want %v", out, got, value)
	}
	again, problems := Parse("f", out, Options{})
	if len(problems) > 0 {
		t.Fatalf("%q does not parse: %v", out, problems)
	}
	if d := same(root, again.Root); d != "" {
		t.Fatalf("%q differs: %s", out, d)
	}
}

func stripComments(n *Node) {
	for _, e := range n.Entries {
		e.Head, e.Line, e.Apart = nil, nil, false
		stripComments(e.Value)
	}
}

func quoteAll(n *Node) {
	if n.Kind == Scalar {
		n.Style = DoubleQuoted
	}
	for _, e := range n.Entries {
		if e.Key != nil {
			e.Key.Style = DoubleQuoted
		}
		quoteAll(e.Value)
	}
}

// TestJSONProperty: JSON of any layout is read as encoding/json reads it.
func TestJSONProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := drawJSON(t, 4)
		text, err := json.MarshalIndent(map[string]any{"v": value}, "", rapid.SampledFrom([]string{"", " ", "\t", "    "}).Draw(t, "indent"))
		if err != nil {
			t.Fatal(err)
		}
		doc, problems := Parse("f", text, Options{})
		if len(problems) > 0 {
			t.Fatalf("%s: %v", text, problems)
		}
		var want any
		if err := json.Unmarshal(text, &want); err != nil {
			t.Fatal(err)
		}
		if got := toAny(doc.Root); fmt.Sprintf("%#v", got) != fmt.Sprintf("%#v", want) {
			t.Fatalf("%s\nis read as %#v\nwant       %#v", text, got, want)
		}
		if out := doc.Append(nil); !json.Valid(out) {
			t.Fatalf("%s is written as %s", text, out)
		}
	})
}

func drawJSON(t *rapid.T, depth int) any {
	choices := 5
	if depth > 0 {
		choices = 7
	}
	switch rapid.IntRange(0, choices-1).Draw(t, "kind") {
	case 0:
		return rapid.String().Draw(t, "string")
	case 1:
		return rapid.StringMatching("[\\x00-\\x7f]{0,6}").Draw(t, "ascii")
	case 2:
		return rapid.Bool().Draw(t, "bool")
	case 3:
		return rapid.Float64Range(-1e9, 1e9).Draw(t, "number")
	case 4:
		return nil
	case 5:
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any { return drawJSON(t, depth-1) }), 0, 4).Draw(t, "list")
	}
	return rapid.MapOfN(rapid.String(), rapid.Custom(func(t *rapid.T) any { return drawJSON(t, depth-1) }), 0, 4).Draw(t, "object")
}

// toAny returns what encoding/json would have for the tree.
func toAny(n *Node) any {
	switch n.Kind {
	case Sequence:
		list := []any{}
		for _, e := range n.Entries {
			list = append(list, toAny(e.Value))
		}
		return list
	case Mapping:
		object := map[string]any{}
		for _, e := range n.Entries {
			object[e.Key.Text] = toAny(e.Value)
		}
		return object
	}
	switch n.Type() {
	case Null:
		return nil
	case Bool:
		value, _ := n.Bool()
		return value
	case Int, Float:
		value, _ := n.Float()
		return value
	}
	return n.Text
}
