package yamlsrc

import (
	"strings"

	"github.com/awo-dev/awo/diag"
)

// begin makes e the owner of what is read from here on and gives it the
// comments above it. The returned function gives the ownership back.
func (b *builder) begin(e *Entry) func() {
	e.Head, e.Apart = b.takeHead()
	before := b.owner
	b.owner = e
	return func() { b.owner = before }
}

// blockMapping reads the members whose keys begin in column col.
func (b *builder) blockMapping(col int) (*Node, *diag.Error) {
	if problem := b.enter(b.peek()); problem != nil {
		return nil, problem
	}
	defer b.leave()
	n := b.newNode(Mapping, Block, b.peek())
	seen := map[string]diag.Pos{}
	for t := b.peek(); t != nil && t.col == col && t.kind != tokenEnd && t.kind != tokenStart; t = b.peek() {
		e := &Entry{}
		done := b.begin(e)
		if problem := b.key(e, t, false); problem != nil {
			return nil, problem
		}
		value, problem := b.blockValue(col, true)
		if problem != nil {
			return nil, problem
		}
		e.Value = value
		done()
		b.add(n, e, seen)
		if problem := b.afterEntry(e, col); problem != nil {
			return nil, problem
		}
	}
	n.Foot = b.takeFoot(col)
	return n, nil
}

// key reads a member's key and colon.
func (b *builder) key(e *Entry, t *token, flow bool) *diag.Error {
	switch {
	case t.kind == tokenDash:
		return b.problem(t.start, "yaml-syntax", "a list element cannot stand among keys")
	case t.kind == tokenColon:
		return b.problem(t.start, "yaml-syntax", "a key is missing before this colon")
	case t.kind == tokenQuestion:
		return b.problem(t.start, "yaml-unsupported", "keys that begin with `?` are not read: quote the text if the `?` is part of it")
	case (t.kind == tokenScalar || t.kind == tokenAlias) && !b.isKey(b.next):
		return b.problem(t.start, "yaml-syntax", "a key with a colon and a value should stand here")
	case t.kind != tokenScalar && t.kind != tokenAlias:
		return b.leftOver(t)
	}
	colon := b.tokens[b.next+1]
	if (!flow && (t.line != t.endLine || colon.line != t.endLine)) || t.style == Literal || t.style == Folded {
		return b.splitKey(t, colon)
	}
	if t.kind == tokenAlias {
		return b.problem(t.start, "yaml-unsupported", "an alias is no key: quote the text if the `*` is part of it")
	}
	e.Key = b.scalar(b.take())
	b.take()
	if flow && t.style == Plain && colon.end < len(b.src.text) && !strings.ContainsRune(" \t\n,[]{}\"'", rune(b.src.text[colon.end])) {
		b.report(colon.start, "yaml-syntax", "inside braces a space follows the colon of a key: quote the text if the colon is part of it")
		e.Key.Bad = true
	}
	if e.Key.Text == "<<" && e.Key.Style == Plain {
		b.report(t.start, "yaml-unsupported", "merge keys (`<<`) are not part of YAML 1.2: write the members out")
		e.Key.Bad = true
	}
	return nil
}

// splitKey is the problem of a colon whose key is not on one line with it. In
// most cases the key is one line's and the text above it another value, that
// the key's deeper indentation has made it part of.
func (b *builder) splitKey(t *token, colon token) *diag.Error {
	at := b.src.lines[colon.line-1]
	at += len(b.src.text[at:]) - len(strings.TrimLeft(b.src.text[at:], " \t"))
	if at == colon.start {
		return b.problem(at, "yaml-syntax", "a key is missing before this colon")
	}
	if t.style == Plain {
		return b.problem(at, "yaml-indent", "this key is indented deeper than the text above, and so a part of it")
	}
	return b.problem(t.start, "yaml-syntax", "a key and its colon stand on one line")
}

// blockValue reads what follows a colon or dash in column col. A list may begin
// in the column of its key.
func (b *builder) blockValue(col int, afterColon bool) (*Node, *diag.Error) {
	mark, t := b.last(), b.peek()
	switch {
	case t == nil:
		return b.absent(), nil
	case t.line != mark.line:
		if t.col > col || (afterColon && t.col == col && t.kind == tokenDash) {
			return b.node(col+1, false)
		}
		return b.absent(), nil
	case !afterColon:
		return b.node(col+1, false)
	case t.kind == tokenDash:
		return nil, b.problem(t.start, "yaml-syntax", "a list with `-` begins on a line of its own: quote the text if the `-` is part of it")
	case b.isKey(b.next) && b.tokens[b.next+1].line == t.line:
		return nil, b.problem(b.tokens[b.next+1].start, "yaml-syntax", "a second colon on this line: quote the value if the colon is part of it")
	}
	return b.node(col+1, false)
}

// afterEntry checks that what follows the entry e in column col is another one
// or stands further left.
func (b *builder) afterEntry(e *Entry, col int) *diag.Error {
	t := b.peek()
	if t == nil || t.kind == tokenEnd || t.kind == tokenStart {
		return nil
	}
	last := b.last()
	if last.endLine == t.line {
		return b.leftOver(t)
	}
	if t.col > col && e.Value.Kind != Scalar && e.Value.Style == Block {
		return b.leftOver(t)
	}
	if t.col > col {
		return b.problem(t.start, "yaml-indent", "this line is indented deeper than the entry above, which has its value already")
	}
	return nil
}

// blockSequence reads the elements whose dashes are in column col.
func (b *builder) blockSequence(col int) (*Node, *diag.Error) {
	if problem := b.enter(b.peek()); problem != nil {
		return nil, problem
	}
	defer b.leave()
	n := b.newNode(Sequence, Block, b.peek())
	for t := b.peek(); t != nil && t.col == col && t.kind == tokenDash; t = b.peek() {
		e := &Entry{}
		done := b.begin(e)
		b.take()
		value, problem := b.blockValue(col, false)
		if problem != nil {
			return nil, problem
		}
		e.Value = value
		done()
		b.add(n, e, nil)
		if problem := b.afterEntry(e, col); problem != nil {
			return nil, problem
		}
	}
	// Below a key in the same column, comments there are those of the next key.
	underKey := b.owner != nil && b.owner.Key != nil && b.owner.Key.Pos.Col == col
	if underKey {
		n.Foot = b.takeFoot(col + 1)
		return n, nil
	}
	if t := b.peek(); t != nil && t.col == col && t.kind != tokenEnd && t.kind != tokenStart {
		return nil, b.problem(t.start, "yaml-indent", "an element of the list above would begin with `-` here")
	}
	n.Foot = b.takeFoot(col)
	return n, nil
}

// add appends e to n. A key that is there already is reported and left out.
func (b *builder) add(n *Node, e *Entry, seen map[string]diag.Pos) {
	n.end = b.last().end
	if e.Key != nil {
		n.size++
		if first, twice := seen[e.Key.Text]; twice {
			problem := diag.New(e.Key.Pos, "yaml-duplicate-key", "the key %q is there twice", shorten(e.Key.Text))
			b.addProblem(problem.Note(first, "first here"))
			return
		}
		seen[e.Key.Text] = e.Key.Pos
	}
	n.size += e.Value.size
	n.Entries = append(n.Entries, e)
}

// shorten cuts a text that is shown in a message.
func shorten(text string) string {
	const most = 40
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}

// flowSequence reads a list in brackets.
func (b *builder) flowSequence() (*Node, *diag.Error) {
	return b.flow(Sequence, tokenCloseList, func(e *Entry) *diag.Error {
		value, problem := b.node(0, true)
		if problem != nil {
			return problem
		}
		e.Value = value
		if t := b.peek(); t != nil && t.kind == tokenColon {
			b.report(value.start, "yaml-syntax", "a key with a value inside a list wants braces; quote the text if the colon is part of it")
			return b.skipPair(e)
		}
		return nil
	})
}

// skipPair reads over the colon and value of a pair that has been reported.
func (b *builder) skipPair(e *Entry) *diag.Error {
	e.Value = &Node{Pos: e.Value.Pos, Bad: true, doc: b.doc, start: e.Value.start, end: e.Value.end, size: 1}
	b.take()
	if t := b.peek(); t != nil && t.kind != tokenComma && t.kind != tokenCloseList {
		_, problem := b.node(0, true)
		return problem
	}
	return nil
}

// flowMapping reads a mapping in braces.
func (b *builder) flowMapping() (*Node, *diag.Error) {
	seen := map[string]diag.Pos{}
	var n *Node
	n, problem := b.flow(Mapping, tokenCloseMap, func(e *Entry) *diag.Error {
		t := b.peek()
		switch {
		case t.kind == tokenAlias:
			return b.problem(t.start, "yaml-unsupported", "an alias is no key: quote the text if the `*` is part of it")
		case t.kind != tokenScalar:
			return b.problem(t.start, "yaml-syntax", "a key should stand here")
		}
		if b.isKey(b.next) {
			if problem := b.key(e, t, true); problem != nil {
				return problem
			}
			if t = b.peek(); t == nil || t.kind == tokenComma || t.kind == tokenCloseMap {
				e.Value = b.absent()
				return nil
			}
			value, problem := b.node(0, true)
			e.Value = value
			return problem
		}
		e.Key = b.scalar(b.take())
		e.Value = b.absent()
		return nil
	})
	if problem != nil {
		return nil, problem
	}
	entries := n.Entries
	n.Entries = nil
	end := n.end
	for _, e := range entries {
		b.add(n, e, seen)
	}
	n.end = end
	return n, nil
}

// flow reads entries up to the closing bracket.
func (b *builder) flow(kind Kind, closing tokenKind, entry func(*Entry) *diag.Error) (*Node, *diag.Error) {
	if problem := b.enter(b.peek()); problem != nil {
		return nil, problem
	}
	defer b.leave()
	b.keepComments()
	opening := b.take()
	n := b.newNode(kind, Flow, opening)
	for {
		t := b.peek()
		switch {
		case t == nil, t.kind == tokenStart, t.kind == tokenEnd:
			return nil, b.problem(opening.start, "yaml-unclosed", "this bracket is never closed")
		case t.kind == closing:
			if len(n.Entries) == 0 {
				b.keepComments()
			} else {
				n.Foot = b.takeFoot(0)
			}
			n.end = b.take().end
			return n, nil
		case t.kind == tokenComma:
			return nil, b.problem(t.start, "yaml-syntax", "nothing stands before this comma")
		}
		e := &Entry{}
		done := b.begin(e)
		if problem := entry(e); problem != nil {
			return nil, problem
		}
		if kind == Sequence {
			n.size += e.Value.size
		}
		n.Entries = append(n.Entries, e)
		if t = b.peek(); t != nil && t.kind == tokenComma {
			b.take()
		} else if t != nil && t.kind != closing && t.kind != tokenStart && t.kind != tokenEnd {
			return nil, b.problem(t.start, "yaml-unclosed", "a comma or the closing bracket should stand here").
				Note(b.src.pos(opening.start), "opened here")
		}
		done()
	}
}
