package yamlsrc

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// shape writes what a tree says, without styles.
func shape(n *Node) string {
	if n == nil {
		return "null"
	}
	switch n.Kind {
	case Sequence:
		parts := make([]string, len(n.Entries))
		for i, e := range n.Entries {
			parts[i] = shape(e.Value)
		}
		return "[" + strings.Join(parts, " ") + "]"
	case Mapping:
		parts := make([]string, len(n.Entries))
		for i, e := range n.Entries {
			parts[i] = fmt.Sprintf("%q=%s", e.Key.Text, shape(e.Value))
		}
		return "{" + strings.Join(parts, " ") + "}"
	}
	if n.Type() == Null {
		return "null"
	}
	return fmt.Sprintf("%q", n.Text)
}

// libraryShape is shape for the library's tree. ok is false for what has no
// counterpart here.
func libraryShape(n ast.Node) (text string, ok bool) {
	switch n := n.(type) {
	case nil:
		return "null", true
	case *ast.NullNode:
		return "null", true
	case *ast.MappingNode:
		return libraryMembers(n.Values)
	case *ast.MappingValueNode:
		return libraryMembers([]*ast.MappingValueNode{n})
	case *ast.SequenceNode:
		parts := make([]string, len(n.Values))
		for i, v := range n.Values {
			if parts[i], ok = libraryShape(v); !ok {
				return "", false
			}
		}
		return "[" + strings.Join(parts, " ") + "]", true
	case *ast.LiteralNode:
		return fmt.Sprintf("%q", n.Value.Value), true
	case *ast.StringNode:
		return fmt.Sprintf("%q", n.Value), true
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.InfinityNode, *ast.NanNode:
		return fmt.Sprintf("%q", strings.TrimRight(n.GetToken().Value, " ")), true
	}
	return "", false
}

func libraryMembers(values []*ast.MappingValueNode) (string, bool) {
	parts := make([]string, len(values))
	for i, v := range values {
		key, known := v.Key.(ast.Node)
		if !known || v.Key.IsMergeKey() {
			return "", false
		}
		keyText, ok := libraryShape(key)
		if keyText == "null" {
			keyText = fmt.Sprintf("%q", v.Key.GetToken().Value)
		}
		value, ok2 := libraryShape(v.Value)
		if !ok || !ok2 {
			return "", false
		}
		parts[i] = keyText + "=" + value
	}
	return "{" + strings.Join(parts, " ") + "}", true
}

// emptyElement is what the library's parser reads wrongly: an element without a
// value takes the key below for it ("a:\n- \nb:").
var emptyElement = regexp.MustCompile(`-\s*(#.*)?(\n|$)`)

// FuzzLibrary holds the tree against that of the library's own parser, which
// shares only the scanner: what both accept, both read alike.
func FuzzLibrary(f *testing.F) {
	for _, src := range seeds {
		f.Add(src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		if strings.ContainsAny(src, "&*!%\r\t") || emptyElement.MatchString(src) {
			return
		}
		doc, problems := Parse("f", []byte(src), Options{})
		if len(problems) > 0 {
			return
		}
		file, err := parser.ParseBytes([]byte(src), 0)
		if err != nil || len(file.Docs) != 1 {
			return
		}
		want, ok := libraryShape(file.Docs[0].Body)
		if !ok {
			return
		}
		if got := shape(doc.Root); got != want {
			t.Errorf("%q is read as %s, by the library as %s", src, got, want)
		}
	})
}
