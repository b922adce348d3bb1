package dataflow

import (
	"strings"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/trace"
)

// part is a piece of an argument's text that is a want too.
type part struct {
	start, end int32
	want       int32
}

// piece is a piece of an argument's text that equals nothing so far.
type piece struct {
	arg, start, end int32
	next            int32 // the next piece of the same hash, or -1
}

// divide notes the pieces of a text argument that may have come from elsewhere:
// whole words, with or without the signs around them. A piece becomes a want
// when a value is met that it equals; that it equals another argument is known
// at once.
func (c *collection) divide(id int32) {
	text := c.wants[id].value.Text
	if len(text) <= minText || len(text) > maxValue || strings.Contains(text, jsonpath.Hole) {
		return
	}
	tokens := appendTokens(c.tokens[:0], text)
	c.tokens = tokens
	if len(tokens) > maxParts {
		return
	}
	for i := range tokens {
		for j := i; j < len(tokens) && j < i+maxPhrase/2; j++ {
			start, end := tokens[i].start, tokens[j].end
			wideStart, wideEnd := widen(text, start, end)
			c.piece(id, start, end)
			if wideEnd != end {
				c.piece(id, start, wideEnd)
			}
			if wideStart != start {
				c.piece(id, wideStart, end)
			}
			if wideStart != start && wideEnd != end {
				c.piece(id, wideStart, wideEnd)
			}
		}
	}
}

// piece notes one piece of the argument id.
func (c *collection) piece(id, start, end int32) {
	text := c.wants[id].value.Text
	if end-start < minText || int(end-start) == len(text) {
		return
	}
	h := jsonvalue.HashString(text[start:end])
	if whole := c.equal.Find(h); whole >= 0 {
		c.wants[id].parts = append(c.wants[id].parts, part{start, end, whole})
		return
	}
	next := int32(len(c.pieces))
	first := c.pieceOf.Insert(h, next)
	p := piece{arg: id, start: start, end: end, next: -1}
	if first != next {
		p.next, c.pieces[first].next = c.pieces[first].next, next
	}
	c.pieces = append(c.pieces, p)
}

// wantPiece makes a want of the pieces that equal text, if there are any.
func (c *collection) wantPiece(h uint64, text string) int32 {
	first := c.pieceOf.Find(h)
	if first < 0 {
		return -1
	}
	id := int32(-1)
	for i := first; i >= 0; i = c.pieces[i].next {
		p := c.pieces[i]
		if c.wants[p.arg].value.Text[p.start:p.end] != text {
			continue
		}
		if id < 0 {
			if id = c.want(trace.Value{Kind: trace.String, Text: text}, h); c.wants[id].value.Text != text {
				return -1
			}
			if canonical, ok := numberOf(text); ok && canonical == text {
				c.coerced.Insert(jsonvalue.HashNumber(canonical), id)
			}
		}
		c.wants[p.arg].parts = append(c.wants[p.arg].parts, part{p.start, p.end, id})
	}
	return id
}

// comparePart orders parts from left to right, the longer ones first.
func comparePart(a, b part) int {
	if a.start != b.start {
		return int(a.start - b.start)
	}
	return int(b.end - a.end)
}

// widen moves the ends of a piece of text outwards over signs that are neither
// blank nor part of a word.
func widen(text string, start, end int32) (int32, int32) {
	for start > 0 && isSign(text[start-1]) {
		start--
	}
	for int(end) < len(text) && isSign(text[end]) {
		end++
	}
	return start, end
}

func isSign(c byte) bool {
	return c > ' ' && c < 0x7f && asciiClass[c] == classOther
}
