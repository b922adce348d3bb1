package jsonscan

import "encoding/binary"

// value passes over the value at i and returns the index behind it, or -1.
func (c *Cursor) value(i int) int {
	if i >= len(c.data) {
		c.fail(CodeTruncated, len(c.data), msgEnds)
		return -1
	}
	switch kinds[c.data[i]] {
	case String:
		i, _ = c.str(i + 1)
		return i
	case Array, Object:
		return c.container(i)
	}
	return c.scalar(i)
}

// container passes over the object or array at i. It keeps a bit for each level
// instead of a frame, so depth costs no stack.
func (c *Cursor) container(i int) int {
	data, base := c.data, c.depth

open:
	object := data[i] == '{'
	if !c.push(object, i) {
		return -1
	}
	if i++; i >= len(data) || data[i] <= ' ' {
		i = skipSpace(data, i)
	}
	if i < len(data) && (object && data[i] == '}' || !object && data[i] == ']') {
		goto closed
	}

item:
	if object {
		if i >= len(data) || data[i] != '"' {
			c.want(i, msgKey)
			return -1
		}
		if i, _ = c.str(i + 1); i < 0 {
			return -1
		}
		if i >= len(data) || data[i] != ':' {
			if i = skipSpace(data, i); i >= len(data) || data[i] != ':' {
				c.want(i, msgColon)
				return -1
			}
		}
		if i++; i >= len(data) || data[i] <= ' ' {
			i = skipSpace(data, i)
		}
	}
	if i >= len(data) {
		c.fail(CodeTruncated, i, msgEnds)
		return -1
	}
	switch data[i] {
	case '"':
		i, _ = c.str(i + 1)
	case '{', '[':
		goto open
	default:
		i = c.scalar(i)
	}
	if i < 0 {
		return -1
	}

after:
	if i >= len(data) || data[i] <= ' ' {
		i = skipSpace(data, i)
	}
	if i >= len(data) {
		c.fail(CodeTruncated, i, msgEnds)
		return -1
	}
	switch b := data[i]; {
	case b == ',':
		if i++; i >= len(data) || data[i] <= ' ' {
			i = skipSpace(data, i)
		}
		if i < len(data) && (object && data[i] == '}' || !object && data[i] == ']') {
			c.fail(CodeSyntax, i, msgComma)
			return -1
		}
		goto item
	case object && b == '}', !object && b == ']':
		goto closed
	case object:
		c.fail(CodeSyntax, i, msgObjectEnd)
	default:
		c.fail(CodeSyntax, i, msgArrayEnd)
	}
	return -1

closed:
	i++
	c.depth--
	if c.depth == base {
		return i
	}
	object = c.isObject(c.depth)
	goto after
}

// scalar passes over the number or literal at i.
func (c *Cursor) scalar(i int) int {
	data := c.data
	switch data[i] {
	case 't':
		return c.literal(i, "true")
	case 'f':
		return c.literal(i, "false")
	case 'n':
		return c.literal(i, "null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return c.number(i)
	}
	b := data[i]
	if b|0x20 >= 'a' && b|0x20 <= 'z' {
		c.fail(CodeSyntax, i, msgLiteral)
	} else {
		c.fail(CodeSyntax, i, msgValue)
	}
	return -1
}

func (c *Cursor) literal(i int, word string) int {
	data := c.data
	if len(data)-i >= len(word) && string(data[i:i+len(word)]) == word {
		return i + len(word)
	}
	for n := range len(word) {
		if i+n >= len(data) {
			c.fail(CodeTruncated, len(data), msgEnds)
			break
		}
		if data[i+n] != word[n] {
			c.fail(CodeSyntax, i+n, msgLiteral)
			break
		}
	}
	return -1
}

// number passes over the number at i. It ends where it may end, so that what
// follows is judged by the place it stands at; only a digit behind a leading
// zero is told apart, because it is plain what was meant.
func (c *Cursor) number(i int) int {
	data := c.data
	if data[i] == '-' {
		i++
	}
	switch {
	case i < len(data) && data[i] == '0':
		if i++; i < len(data) && isDigit(data[i]) {
			c.fail(CodeNumber, i, msgZero)
			return -1
		}
	default:
		if i = c.digits(i); i < 0 {
			return -1
		}
	}
	if i < len(data) && data[i] == '.' {
		if i = c.digits(i + 1); i < 0 {
			return -1
		}
	}
	if i < len(data) && data[i]|0x20 == 'e' {
		if i++; i < len(data) && (data[i] == '+' || data[i] == '-') {
			i++
		}
		i = c.digits(i)
	}
	return i
}

// digits passes over at least one digit.
func (c *Cursor) digits(i int) int {
	data, start := c.data, i
	for i < len(data) && isDigit(data[i]) {
		i++
	}
	switch {
	case i > start:
		return i
	case i >= len(data):
		c.fail(CodeTruncated, len(data), msgEnds)
	default:
		c.fail(CodeNumber, i, msgNumber)
	}
	return -1
}

func isDigit(b byte) bool { return b-'0' <= 9 }

// skipSpace returns the index of the first byte from i on that is no white
// space, the length of the text if there is none. Indented texts have runs of
// spaces, so those are taken eight at a time.
func skipSpace(data []byte, i int) int {
	for i < len(data) {
		switch data[i] {
		case ' ', '\n', '\t', '\r':
			i++
			for len(data)-i >= 8 && binary.LittleEndian.Uint64(data[i:]) == 0x2020202020202020 {
				i += 8
			}
		default:
			return i
		}
	}
	return i
}
