package rules

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Path leads from a call's arguments to some of the values inside: `date`,
// `passengers[].dob`, `items[0].id`. A nil Path is no path.
type Path []Segment

// Segment is one step of a Path.
type Segment struct {
	Kind  SegmentKind
	Name  string // SegmentName
	Index int    // SegmentIndex, from 0
}

// SegmentKind says what a Segment selects.
type SegmentKind uint8

// The kinds of segments. The zero value is SegmentName.
const (
	SegmentName  SegmentKind = iota // the member of that name of an object
	SegmentIndex                    // one element of a list
	SegmentEach                     // every element of a list
)

// Matches reports whether the segment selects what concrete names: an equal
// name, an equal index, or any index for SegmentEach.
func (s Segment) Matches(concrete Segment) bool {
	if s.Kind == SegmentEach {
		return concrete.Kind != SegmentName
	}
	return s == concrete
}

// Matches reports whether the path selects the value that concrete leads to.
func (p Path) Matches(concrete Path) bool {
	if len(p) != len(concrete) {
		return false
	}
	for i, s := range p {
		if !s.Matches(concrete[i]) {
			return false
		}
	}
	return true
}

// String returns the path as it is written in rule files; ParsePath reads it
// back. Names that would be misread are quoted.
func (p Path) String() string {
	var b strings.Builder
	for i, s := range p {
		switch s.Kind {
		case SegmentIndex:
			b.WriteByte('[')
			b.WriteString(strconv.Itoa(s.Index))
			b.WriteByte(']')
		case SegmentEach:
			b.WriteString("[]")
		default:
			if i > 0 {
				b.WriteByte('.')
			}
			if isBareName(s.Name) {
				b.WriteString(s.Name)
			} else {
				b.WriteString(quoteName(s.Name))
			}
		}
	}
	return b.String()
}

// maxPathSegments bounds paths: deeper ones lead nowhere.
const maxPathSegments = 100

// PathError says what is wrong with a path and where: Offset counts bytes from
// the beginning of the text.
type PathError struct {
	Offset int
	Msg    string
}

// Error returns the message.
func (e *PathError) Error() string { return e.Msg }

// ParsePath reads a path. The error, if any, is a *PathError.
func ParsePath(text string) (Path, error) {
	if text == "" {
		return nil, &PathError{Msg: "the path is empty"}
	}
	if !utf8.ValidString(text) {
		return nil, &PathError{Msg: "the path is not valid UTF-8"}
	}
	path := Path{}
	for at := 0; at < len(text); {
		if len(path) == maxPathSegments {
			return nil, &PathError{Offset: at, Msg: fmt.Sprintf("a path has at most %d parts", maxPathSegments)}
		}
		segment, next, err := parseSegment(text, at, len(path) == 0)
		if err != nil {
			return nil, err
		}
		path = append(path, segment)
		at = next
	}
	return path, nil
}

// parseSegment reads the segment that begins at offset at and returns where
// the next one begins.
func parseSegment(text string, at int, first bool) (Segment, int, error) {
	switch {
	case text[at] == '[':
		return parseBrackets(text, at, first)
	case text[at] == '.' && first:
		return Segment{}, 0, &PathError{Offset: at, Msg: "a path begins with a name"}
	case text[at] == '.':
		at++
	case !first:
		return Segment{}, 0, &PathError{Offset: at, Msg: "expected `.` or `[` here"}
	}
	if at < len(text) && text[at] == '"' {
		return parseQuotedName(text, at)
	}
	end := at
	for end < len(text) && !strings.ContainsRune(`.[]"`, rune(text[end])) {
		end++
	}
	name := text[at:end]
	switch {
	case name == "" && end == len(text):
		return Segment{}, 0, &PathError{Offset: at, Msg: "a name is missing at the end"}
	case name == "":
		return Segment{}, 0, &PathError{Offset: at, Msg: "a name is missing here"}
	case name == "$" && first:
		return Segment{}, 0, &PathError{Offset: at, Msg: "a path begins with a name: leave the `$` out"}
	case name == "*":
		return Segment{}, 0, &PathError{Offset: at, Msg: "`*` is no part of a path: `[]` is every element of a list"}
	case !isBareName(name):
		return Segment{}, 0, &PathError{Offset: at, Msg: "a name with spaces or control characters wants double quotes"}
	}
	return Segment{Name: name}, end, nil
}

func parseBrackets(text string, at int, first bool) (Segment, int, error) {
	if first {
		return Segment{}, 0, &PathError{Offset: at, Msg: "a path begins with a name: arguments are no list"}
	}
	length := strings.IndexByte(text[at:], ']')
	if length < 0 {
		return Segment{}, 0, &PathError{Offset: at, Msg: "`[` is not closed"}
	}
	inside, next := text[at+1:at+length], at+length+1
	if inside == "" {
		return Segment{Kind: SegmentEach}, next, nil
	}
	if inside == "*" {
		return Segment{}, 0, &PathError{Offset: at + 1, Msg: "every element of a list is `[]`"}
	}
	index, err := strconv.ParseUint(inside, 10, 31)
	if err != nil || strconv.FormatUint(index, 10) != inside {
		return Segment{}, 0, &PathError{Offset: at + 1, Msg: "an index is a number from 0, or nothing for every element"}
	}
	return Segment{Kind: SegmentIndex, Index: int(index)}, next, nil
}

func parseQuotedName(text string, at int) (Segment, int, error) {
	var name strings.Builder
	for i := at + 1; i < len(text); i++ {
		switch c := text[i]; c {
		case '"':
			return Segment{Name: name.String()}, i + 1, nil
		case '\\':
			i++
			if i == len(text) || (text[i] != '"' && text[i] != '\\') {
				return Segment{}, 0, &PathError{Offset: i - 1, Msg: "a backslash inside a quoted name comes before `\"` or another backslash"}
			}
			name.WriteByte(text[i])
		default:
			name.WriteByte(c)
		}
	}
	return Segment{}, 0, &PathError{Offset: at, Msg: "the quoted name is not closed"}
}

// quoteName is the inverse of parseQuotedName.
func quoteName(name string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
}

// isBareName reports whether a name can be written without quotes.
func isBareName(name string) bool {
	if name == "" || name == "*" || name == "$" {
		return false
	}
	for _, r := range name {
		if strings.ContainsRune(`.[]"`, r) || unicode.IsSpace(r) || unicode.IsControl(r) {
			return false
		}
	}
	return true
}
