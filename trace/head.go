package trace

import (
	"bytes"
)

// MaxHeadRecords is how many records of a file are looked at to recognise it:
// files of several formats begin with records about themselves.
const MaxHeadRecords = 20

// NewHead reads the beginning of a file; whole says that it is all of it. It is
// not sure about the container if the beginning is one long line.
func NewHead(raw []byte, whole bool) (h Head, sure bool) {
	body := bytes.TrimPrefix(raw, byteOrderMark)
	h.Raw = raw
	h.Container, sure = containerOf(body)
	switch h.Container {
	case ContainerLines:
		h.Records = headLines(body, whole)
	case ContainerArray:
		body = body[bytes.IndexByte(body, '[')+1:]
		h.Records = headValues(body, whole)
	case ContainerDocument:
		h.Records = headValues(body, whole)
	}
	return h, sure || whole
}

// containerOf says how the records of a file are laid out, by its beginning.
func containerOf(body []byte) (c Container, sure bool) {
	trimmed := bytes.TrimLeft(body, " \t\r\n")
	if len(trimmed) == 0 {
		return ContainerOther, true
	}
	first := trimmed[0]
	if first != '{' && first != '[' {
		// One line that is no JSON does not make a file of lines something else.
		if hasJSONLine(trimmed) {
			return ContainerLines, true
		}
		return ContainerOther, true
	}
	nest := nestingOf(first)
	n, done := nest.skip(trimmed)
	lineEnd := bytes.IndexByte(trimmed, '\n')
	switch {
	case done && (lineEnd < 0 || n <= lineEnd):
		return containerAfter(first, trimmed[n:]), true
	case lineEnd < 0 && first == '{':
		return ContainerLines, false
	case breaksLine(trimmed, lineEnd):
		return ContainerLines, true
	case first == '[':
		return ContainerArray, true
	}
	return ContainerDocument, true
}

// containerAfter says what a file is whose first value ends on its first line,
// by what follows it.
func containerAfter(first byte, rest []byte) Container {
	line, following, _ := bytes.Cut(rest, newline)
	switch {
	case len(bytes.TrimSpace(line)) > 0:
		return ContainerDocument // another value on the same line
	case first == '[' && len(bytes.TrimSpace(following)) == 0:
		return ContainerArray
	}
	return ContainerLines
}

// breaksLine reports whether the first line of a file, whose value does not end
// on it, is a broken record of a file of lines: no JSON goes on with a bracket
// on the next line if it does not end with a comma, a colon or a bracket.
func breaksLine(trimmed []byte, lineEnd int) bool {
	if lineEnd < 0 {
		return false
	}
	line := bytes.TrimRight(trimmed[:lineEnd], " \t\r")
	next := trimmed[lineEnd+1:]
	if len(next) == 0 || next[0] != '{' && next[0] != '[' {
		return false
	}
	switch line[len(line)-1] {
	case ',', ':', '[', '{':
		return false
	}
	return true
}

// hasJSONLine reports whether one of the first lines is an object or an array.
func hasJSONLine(body []byte) bool {
	n := 0
	for line := range bytes.Lines(body) {
		if n++; n > MaxHeadRecords {
			return false
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 || line[0] != '{' && line[0] != '[' {
			continue
		}
		nest := nestingOf(line[0])
		if end, done := nest.skip(line); done && end == len(line) && closes(line) {
			return true
		}
	}
	return false
}

func headLines(body []byte, whole bool) []HeadRecord {
	var records []HeadRecord
	for line := range bytes.Lines(body) {
		text := bytes.TrimSpace(line)
		if len(text) == 0 || text[0] != '{' && text[0] != '[' {
			continue // blank, or no record
		}
		nest := nestingOf(text[0])
		_, done := nest.skip(text)
		cut := !whole && !done && line[len(line)-1] != '\n'
		if records = append(records, NewHeadRecord(text, cut)); len(records) == MaxHeadRecords {
			break
		}
	}
	return records
}

// headValues reads values with white space and commas between them.
func headValues(body []byte, whole bool) []HeadRecord {
	var records []HeadRecord
	for len(records) < MaxHeadRecords {
		body = bytes.TrimLeft(body, " \t\r\n,")
		if len(body) == 0 || !startsValue(body[0]) {
			break
		}
		nest := nestingOf(body[0])
		n, done := nest.skip(body)
		records = append(records, NewHeadRecord(body[:n], !done && !whole))
		body = body[n:]
	}
	return records
}

// NewHeadRecord reads the members of a record that is an object, as far as they go.
func NewHeadRecord(raw []byte, cut bool) HeadRecord {
	r := HeadRecord{Raw: raw, Truncated: cut}
	if len(raw) == 0 || raw[0] != '{' {
		return r
	}
	r.Members = map[string][]byte{}
	rest := raw[1:]
	for {
		rest = bytes.TrimLeft(rest, " \t\r\n,")
		if len(rest) == 0 || rest[0] != '"' {
			return r
		}
		nest := nestingOf('"')
		n, done := nest.skip(rest)
		if !done {
			return r
		}
		key := unquote(rest[:n])
		rest = bytes.TrimLeft(rest[n:], " \t\r\n")
		if len(rest) == 0 || rest[0] != ':' {
			return r
		}
		rest = bytes.TrimLeft(rest[1:], " \t\r\n")
		if len(rest) > 0 && !startsValue(rest[0]) {
			return r
		}
		var value []byte
		if len(rest) > 0 {
			nest = nestingOf(rest[0])
			n, _ = nest.skip(rest)
			value, rest = rest[:n], rest[n:]
		}
		r.Keys = append(r.Keys, key)
		r.Members[key] = value
	}
}
