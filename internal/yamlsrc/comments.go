package yamlsrc

import "slices"

// pendingComments returns the comments on lines of their own in front of the
// next token that no entry has yet.
func (b *builder) pendingComments() []*comment {
	var found []*comment
	for i := b.pending; i < len(b.comments) && b.comments[i].before <= b.next; i++ {
		if c := &b.comments[i]; !c.taken && !c.trailing {
			found = append(found, c)
		}
	}
	return found
}

// skipTaken moves past the comments that have found their place.
func (b *builder) skipTaken() {
	for b.pending < len(b.comments) && (b.comments[b.pending].taken || b.comments[b.pending].trailing) {
		b.pending++
	}
}

// takeHead takes the comments above the next token. apart says whether an empty
// line separates the token from the last of them.
func (b *builder) takeHead() (head []Comment, apart bool) {
	last := 0
	for _, c := range b.pendingComments() {
		head = append(head, Comment{Text: c.text, Apart: c.apart})
		c.taken = true
		last = c.line
	}
	b.skipTaken()
	if t := b.peek(); t != nil && len(head) > 0 {
		apart = t.line > last+1
	}
	return head, apart
}

// takeFoot takes the comments in front of the next token that are indented like
// the entries in column col that end here.
func (b *builder) takeFoot(col int) []string {
	var foot []string
	for _, c := range b.pendingComments() {
		if c.col < col {
			break
		}
		foot = append(foot, c.text)
		c.taken = true
	}
	b.skipTaken()
	return foot
}

// keepComments gives comments between an entry's key and its value to the entry.
func (b *builder) keepComments() {
	if b.owner == nil {
		return
	}
	head, _ := b.takeHead()
	b.owner.Head = append(b.owner.Head, head...)
}

// placeComments places what the tree left over: comments behind tokens, those
// at the end of the document, and those at its head.
func (b *builder) placeComments() {
	for i := range b.comments {
		c := &b.comments[i]
		if c.taken {
			continue
		}
		c.taken = true
		if c.trailing {
			if e := b.owners[c.before-1]; e != nil {
				e.Line = append(e.Line, c.text)
				continue
			}
		}
		if b.doc.Root == nil || c.before == 0 || (c.trailing && c.before == 1 && b.tokens[0].kind == tokenStart) {
			b.doc.Head = append(b.doc.Head, c.text)
		} else {
			b.doc.Foot = append(b.doc.Foot, c.text)
		}
	}
	root := b.doc.Root
	if root == nil || root.Kind == Scalar || len(root.Entries) == 0 {
		return
	}
	b.doc.Foot = append(root.Foot, b.doc.Foot...)
	root.Foot = nil
	b.splitHead(root.Entries[0])
}

// splitHead moves the comments above the first entry that an empty line
// separates from it to the head of the document.
func (b *builder) splitHead(e *Entry) {
	cut := 0
	for i, c := range e.Head {
		if c.Apart && i > 0 {
			cut = i
		}
	}
	if e.Apart {
		cut = len(e.Head)
	}
	for _, c := range e.Head[:cut] {
		b.doc.Head = append(b.doc.Head, c.Text)
	}
	e.Head = slices.Clone(e.Head[cut:])
	e.Apart = false
	if len(e.Head) > 0 {
		e.Head[0].Apart = false
	}
}
