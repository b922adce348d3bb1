package yamlsrc

import (
	"strings"

	"github.com/awo-dev/awo/diag"
)

// builder turns tokens into a tree. Its methods return a problem where the rest
// of the source cannot be understood; others they add to problems and go on.
type builder struct {
	doc      *Document
	src      *source
	tokens   []token
	comments []comment
	options  Options
	problems diag.List

	next    int // index of the next token
	pending int // index of the first comment that may not be taken
	owners  []*Entry
	owner   *Entry // whose tokens are being read
	depth   int
	added   int // nodes that aliases added
	anchors map[string]*Node
	open    map[string]bool // anchors whose node is not complete
}

// maxProblems bounds the list: more are of no use to anybody.
const maxProblems = 1000

func (b *builder) report(at int, code, format string, args ...any) {
	b.addProblem(b.problem(at, code, format, args...))
}

func (b *builder) addProblem(problem *diag.Error) {
	if len(b.problems) < maxProblems {
		b.problems = append(b.problems, problem)
	}
}

func (b *builder) problem(at int, code, format string, args ...any) *diag.Error {
	return diag.New(b.src.pos(at), code, format, args...)
}

// peek returns the next token, or nil at the end.
func (b *builder) peek() *token {
	if b.next == len(b.tokens) {
		return nil
	}
	return &b.tokens[b.next]
}

// take consumes the next token on behalf of the current owner.
func (b *builder) take() *token {
	t := &b.tokens[b.next]
	b.next++
	b.owners = append(b.owners, b.owner)
	return t
}

// last returns the token before the next one.
func (b *builder) last() *token { return &b.tokens[b.next-1] }

// isKey reports whether the token at index i is the key of a member: text (or
// what stands for one) with a colon behind it.
func (b *builder) isKey(i int) bool {
	if i+1 >= len(b.tokens) || b.tokens[i+1].kind != tokenColon {
		return false
	}
	return b.tokens[i].kind == tokenScalar || b.tokens[i].kind == tokenAlias
}

// document reads the whole source.
func (b *builder) document() *diag.Error {
	b.open = map[string]bool{}
	for t := b.peek(); t != nil && (t.kind == tokenDirective || t.kind == tokenStart); t = b.peek() {
		if t.kind == tokenDirective {
			return b.problem(t.start, "yaml-unsupported", "directives (`%%`) are not read")
		}
		b.take()
		if b.next > 1 {
			return b.problem(t.start, "yaml-unsupported", "one document a file: this is a second one")
		}
	}
	if t := b.peek(); t != nil && t.kind != tokenEnd {
		root, problem := b.node(1, false)
		if problem != nil {
			return problem
		}
		b.doc.Root = root
	}
	if t := b.peek(); t != nil && t.kind == tokenEnd {
		b.take()
	}
	if t := b.peek(); t != nil {
		return b.leftOver(t)
	}
	b.placeComments()
	return nil
}

// leftOver is the problem of a token that nothing claims.
func (b *builder) leftOver(t *token) *diag.Error {
	switch t.kind {
	case tokenStart, tokenEnd:
		return b.problem(t.start, "yaml-unsupported", "one document a file: this begins a second one")
	case tokenDirective:
		return b.problem(t.start, "yaml-syntax", "a text that begins with `%%` wants quotes")
	case tokenCloseList, tokenCloseMap:
		return b.problem(t.start, "yaml-syntax", "this bracket closes nothing")
	case tokenComma, tokenColon:
		return b.problem(t.start, "yaml-syntax", "nothing stands before this %s", quoteRune(b.src.text[t.start:]))
	}
	if b.next > 0 && b.last().endLine == t.line {
		return b.problem(t.start, "yaml-syntax", "nothing can follow the value on its line: quote the whole if it is one text")
	}
	return b.problem(t.start, "yaml-indent", "this line is indented like nothing above it")
}

// enter and leave count how deep collections are inside each other.
func (b *builder) enter(t *token) *diag.Error {
	if b.depth++; b.depth > b.options.MaxDepth {
		return b.problem(t.start, "yaml-limit", "lists and mappings are at most %d deep", b.options.MaxDepth)
	}
	return nil
}

func (b *builder) leave() { b.depth-- }

// newNode returns a node that begins with t.
func (b *builder) newNode(kind Kind, style Style, t *token) *Node {
	return &Node{Kind: kind, Style: style, Pos: b.src.pos(t.start), doc: b.doc, start: t.start, end: t.end, size: 1}
}

// absent returns the node of a value that is left out after the last token.
func (b *builder) absent() *Node {
	t := b.last()
	n := b.newNode(Scalar, Plain, t)
	n.start, n.end = t.end, t.end
	return n
}

func (b *builder) scalar(t *token) *Node {
	n := b.newNode(Scalar, t.style, t)
	n.Text = t.text
	if t.style == Plain {
		b.checkPlain(n, t)
	}
	return n
}

// checkPlain complains about an unquoted text that begins with what begins
// something else in YAML, of which the scanner lets some pass, and about one
// that seems to run into a list.
func (b *builder) checkPlain(n *Node, t *token) {
	switch b.src.text[t.start] {
	case ',', ']', '}', '&', '*', '!', '|', '>', '\'', '"', '%', '@', '`', '#', '[', '{':
		b.report(t.start, "yaml-syntax", "a text that begins with %s wants quotes", quoteRune(b.src.text[t.start:]))
		n.Bad = true
		return
	}
	for at := t.start; at < t.end; {
		length := strings.IndexByte(b.src.text[at:t.end], '\n')
		if length < 0 {
			return
		}
		line := strings.TrimLeftFunc(b.src.text[at+length:t.end], isSpace)
		at = t.end - len(line)
		if strings.HasPrefix(line, "- ") {
			b.report(at, "yaml-indent", "this `-` continues the text above: a list belongs below a key without a value")
			n.Bad = true
			return
		}
	}
}

// node reads a node with its anchor. flow says whether it is inside brackets;
// outside of them its lines begin in column from or further right.
func (b *builder) node(from int, flow bool) (*Node, *diag.Error) {
	anchor, problem := b.anchor()
	if problem != nil {
		return nil, problem
	}
	t := b.peek()
	if t == nil || (anchor != nil && !flow && t.line != anchor.line && t.col < from) || endsValue(t) {
		if anchor == nil {
			return nil, b.problem(b.endOffset(), "yaml-syntax", "a value is missing here")
		}
		n := b.absent()
		b.name(n, anchor)
		return n, nil
	}
	if anchor != nil {
		if !flow && t.line == anchor.line && b.isKey(b.next) {
			return nil, b.problem(anchor.start, "yaml-unsupported", "a key has no anchor: put it in front of the value, on the line above")
		}
		b.open[anchor.text] = true
		defer delete(b.open, anchor.text)
	}
	n, problem := b.content(t, flow)
	if problem != nil {
		return nil, problem
	}
	if anchor != nil {
		b.name(n, anchor)
	}
	return n, nil
}

// endsValue reports whether a token cannot begin a value.
func endsValue(t *token) bool {
	switch t.kind {
	case tokenComma, tokenCloseList, tokenCloseMap, tokenStart, tokenEnd:
		return true
	}
	return false
}

func (b *builder) endOffset() int {
	if t := b.peek(); t != nil {
		return t.start
	}
	return len(b.src.text)
}

// anchor reads the anchor in front of a value and returns its token, or nil.
func (b *builder) anchor() (*token, *diag.Error) {
	t := b.peek()
	if t == nil || t.kind != tokenAnchor {
		return nil, nil
	}
	if t.text == "" {
		return nil, b.problem(t.start, "yaml-syntax", "a text that begins with `&` wants quotes")
	}
	if strings.Trim(t.text, "-_.0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
		return nil, b.problem(t.start, "yaml-alias", "the name of an anchor has letters, digits and - _ . only; quote a text that begins with `&`")
	}
	b.take()
	if next := b.peek(); next != nil && next.kind == tokenAnchor {
		return nil, b.problem(next.start, "yaml-syntax", "a value has one anchor at most")
	}
	return t, nil
}

// name gives n the anchor.
func (b *builder) name(n *Node, anchor *token) {
	if _, known := b.anchors[anchor.text]; known {
		b.report(anchor.start, "yaml-alias", "the anchor `&%s` is there twice", shorten(anchor.text))
		return
	}
	n.Anchor = anchor.text
	b.anchors[anchor.text] = n
	b.doc.anchors++
}

// content reads a node without its anchor.
func (b *builder) content(t *token, flow bool) (*Node, *diag.Error) {
	switch t.kind {
	case tokenOpenList:
		return b.flowSequence()
	case tokenOpenMap:
		return b.flowMapping()
	case tokenScalar, tokenAlias:
		if !flow && b.isKey(b.next) {
			return b.blockMapping(t.col)
		}
		b.keepComments()
		if t.kind == tokenAlias {
			return b.alias(b.take()), nil
		}
		return b.scalar(b.take()), nil
	case tokenDash:
		if flow {
			return nil, b.problem(t.start, "yaml-syntax", "inside brackets a list has no `-`: separate its elements with commas")
		}
		return b.blockSequence(t.col)
	case tokenQuestion:
		return nil, b.problem(t.start, "yaml-unsupported", "keys that begin with `?` are not read: quote the text if the `?` is part of it")
	case tokenColon:
		return nil, b.problem(t.start, "yaml-syntax", "a key is missing before this colon")
	}
	return nil, b.leftOver(t)
}

// alias returns a copy of the anchored node.
func (b *builder) alias(t *token) *Node {
	n := b.newNode(Scalar, Plain, t)
	target, known := b.anchors[t.text]
	switch {
	case b.open[t.text]:
		b.report(t.start, "yaml-alias", "`*%s` is inside of what it stands for", shorten(t.text))
	case t.text == "":
		b.report(t.start, "yaml-alias", "an unquoted `*` begins an alias: write '*' if it is text")
	case !known:
		b.report(t.start, "yaml-alias", "an unquoted `*` begins an alias, and no anchor above is called %q: write '*%s' if it is text", shorten(t.text), shorten(t.text))
	case b.added+target.size > b.options.MaxNodes:
		b.report(t.start, "yaml-limit", "aliases add more than %d values", b.options.MaxNodes)
	default:
		b.added += target.size
		n.Kind, n.Style, n.Text, n.Entries, n.Bad, n.size = target.Kind, target.Style, target.Text, target.Entries, target.Bad, target.size
		n.Alias = t.text
		return n
	}
	n.Text, n.Bad = "*"+t.text, true
	return n
}
