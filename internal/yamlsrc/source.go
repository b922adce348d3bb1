package yamlsrc

import (
	"bytes"
	"encoding/json"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/awo-dev/awo/diag"
)

// maxRun is how many tabs a line may have, and how many < may follow each other.
// The scanner's time grows with their number times the length of the line, or
// with its square.
const maxRun = 256

// source is a checked text with its lines. Positions of the text are those of
// the original: only a byte order mark and the carriage returns at line ends
// are gone.
type source struct {
	file  string
	text  string
	json  bool  // whether the text is one JSON object or array
	lines []int // byte offset of each line's beginning
}

// newSource checks that src is text that can be read, and splits it into lines.
func newSource(file string, src []byte, options Options) (*source, *diag.Error) {
	if len(src) > options.MaxBytes {
		return nil, diag.New(diag.Pos{File: file}, "yaml-limit", "the file has %d bytes; %d are read at most", len(src), options.MaxBytes)
	}
	src = bytes.TrimPrefix(src, []byte("\ufeff"))
	src = bytes.ReplaceAll(src, []byte("\r\n"), []byte("\n"))
	asJSON := isJSON(src)
	if asJSON {
		// Tabs are only space there, and the scanner does not count them.
		src = bytes.ReplaceAll(src, []byte("\t"), []byte(" "))
	}
	s := &source{file: file, text: string(src), json: asJSON, lines: []int{0}}
	tabs, angles := 0, 0
	for i := 0; i < len(s.text); {
		r, size := utf8.DecodeRuneInString(s.text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return nil, diag.New(s.pos(i), "yaml-encoding", "this byte is not UTF-8")
		case r == '\n':
			s.lines = append(s.lines, i+1)
			tabs = 0
		case r == '\t':
			if tabs++; tabs > maxRun {
				return nil, diag.New(s.pos(i), "yaml-limit", "a line has %d tabs at most", maxRun)
			}
		case r == '<':
			if angles++; angles > maxRun {
				return nil, diag.New(s.pos(i), "yaml-limit", "`<` follows itself %d times at most", maxRun)
			}
		case r == '\r':
			return nil, diag.New(s.pos(i), "yaml-encoding", "this carriage return ends no line")
		case r < ' ':
			return nil, diag.New(s.pos(i), "yaml-encoding", "this is a control character (%U): inside double quotes it can be written as an escape", r)
		}
		if r != '<' {
			angles = 0
		}
		i += size
	}
	return s, nil
}

// pos returns the position of the byte at offset, clamped to the text.
func (s *source) pos(offset int) diag.Pos {
	offset = max(0, min(offset, len(s.text)))
	line := sort.SearchInts(s.lines, offset+1)
	return diag.Pos{File: s.file, Line: line, Col: offset - s.lines[line-1] + 1}
}

// lineEnd returns where the line ends that the byte at offset is on.
func (s *source) lineEnd(offset int) int {
	if length := strings.IndexByte(s.text[offset:], '\n'); length >= 0 {
		return offset + length
	}
	return len(s.text)
}

// offset returns the byte offset of a line and a column in runes, both from 1,
// or the place in the text that is nearest to them.
func (s *source) offset(line, column int) int {
	line = max(1, min(line, len(s.lines)))
	text, _, _ := strings.Cut(s.text[s.lines[line-1]:], "\n")
	for i := range text {
		if column--; column <= 0 {
			return s.lines[line-1] + i
		}
	}
	return s.lines[line-1] + len(text)
}

// isJSON reports whether src is one JSON object or array.
func isJSON(src []byte) bool {
	src = bytes.TrimSpace(src)
	return len(src) > 0 && (src[0] == '{' || src[0] == '[') && json.Valid(src)
}
