// Package yamlsrc reads YAML for people who will be told what is wrong with
// it: every node, key and character of a scalar keeps its place in the source.
//
// In comes one YAML or JSON document, out go a tree of nodes with positions and
// comments, and a diag.List of every problem that reading on did not prevent.
// What YAML offers beyond a readable tree is refused with a problem of its own:
// tags, directives, merge keys, keys that are no text, several documents.
// Anchors and aliases are resolved. [Document.Append] writes a tree back in one
// fixed layout, comments included.
//
// The package keeps the source and its tree in memory, O(size of the document),
// and bounds both: see [Options]. It decodes into no Go values and knows nothing
// of what documents mean.
package yamlsrc

import (
	"github.com/awo-dev/awo/diag"
)

// usualDepth is how many collections may stand inside each other unless Options say so.
const usualDepth = 100

// Options bound what Parse takes. The zero value is the default.
type Options struct {
	MaxBytes int // size of the source; 0 is 1 MiB
	MaxDepth int // collections inside each other; 0 is 100
	MaxNodes int // nodes that aliases may add to those written; 0 is 10,000
}

func (o Options) withDefaults() Options {
	if o.MaxBytes <= 0 {
		o.MaxBytes = 1 << 20
	}
	if o.MaxDepth <= 0 {
		o.MaxDepth = usualDepth
	}
	if o.MaxNodes <= 0 {
		o.MaxNodes = 10_000
	}
	return o
}

// Document is a parsed source.
type Document struct {
	File string
	Root *Node    // nil for a source without any content
	Head []string // comments above the content, set apart by an empty line; without the #
	Foot []string // comments below the content
	JSON bool     // whether the source is JSON

	anchors int
	source  *source
}

// Kind is what a node is.
type Kind uint8

// The kinds. The zero value is Scalar.
const (
	Scalar Kind = iota
	Sequence
	Mapping
)

// String returns what a person calls such a node: "a text", "a list" or "a mapping".
func (k Kind) String() string { return [...]string{"a text", "a list", "a mapping"}[k] }

// Style is how a node is written.
type Style uint8

// The styles of scalars, then those of collections. The zero value is Plain.
const (
	Plain Style = iota
	SingleQuoted
	DoubleQuoted
	Literal // after |
	Folded  // after >
	Block   // entries on lines of their own
	Flow    // in brackets
)

// Node is a scalar, a list or a mapping.
type Node struct {
	Kind    Kind
	Style   Style
	Pos     diag.Pos // of the first character
	Text    string   // Scalar: the content; empty for a value that is left out
	Entries []*Entry // Sequence and Mapping, in order
	Foot    []string // comments below the last entry, without the #

	Anchor string // the name after &, if there is one
	Alias  string // the name after *: the rest is that of the anchored node, but Pos

	// Bad marks what Parse has already complained about: whoever walks the tree
	// need not do so again.
	Bad bool

	// Spaced asks Append for an empty line between entries where one of the two
	// takes several lines.
	Spaced bool

	doc        *Document
	start, end int // bytes of the source
	size       int // number of nodes
}

// Entry is one element of a sequence or one member of a mapping.
type Entry struct {
	Key   *Node     // nil in a sequence
	Value *Node     // never nil
	Head  []Comment // above the entry
	Line  []string  // on the lines of the entry, behind it; without the #
	Apart bool      // an empty line separates the entry from its last Head comment
}

// Comment is one line of a comment above an entry.
type Comment struct {
	Text  string // without the #
	Apart bool   // an empty line separates it from what is above
}

// Pos returns where the entry begins: at its key, if it has one.
func (e *Entry) Pos() diag.Pos {
	if e.Key != nil {
		return e.Key.Pos
	}
	return e.Value.Pos
}

// Lookup returns the value of a mapping's key, or nil.
func (n *Node) Lookup(key string) *Node {
	if n == nil || n.Kind != Mapping {
		return nil
	}
	for _, e := range n.Entries {
		if e.Key.Text == key {
			return e.Value
		}
	}
	return nil
}

// End returns where the node ends: the place behind its last character.
func (n *Node) End() diag.Pos {
	if n.doc == nil {
		return n.Pos
	}
	return n.doc.source.pos(n.end)
}

// HasAnchors reports whether any node of the document has an anchor.
func (d *Document) HasAnchors() bool { return d.anchors > 0 }

// Parse reads one document. The list holds every problem that was met; if one
// of them made the tree unreadable, Root is nil. A mapping that has a key twice
// keeps the first of them. Parse takes time in proportion to the source.
func Parse(file string, src []byte, options Options) (*Document, diag.List) {
	options = options.withDefaults()
	doc := &Document{File: file}
	s, problem := newSource(file, src, options)
	if problem != nil {
		return doc, diag.List{problem}
	}
	doc.source = s
	doc.JSON = s.json
	tokens, comments, problem := scan(s)
	if problem != nil {
		return doc, diag.List{problem}
	}
	b := builder{doc: doc, src: s, tokens: tokens, comments: comments, options: options, anchors: map[string]*Node{}}
	if problem := b.document(); problem != nil {
		doc.Root = nil
		b.problems = append(b.problems, problem)
	}
	b.problems.Sort()
	return doc, b.problems
}
