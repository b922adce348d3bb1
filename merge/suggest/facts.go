package suggest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/awo-dev/awo/internal/secret"
	"github.com/awo-dev/awo/internal/toolname"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/merge/internal/hash128"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// toolFacts is what the calls of one tool tell about its effect.
type toolFacts struct {
	name  trace.Name
	calls int
	runs  int
	run   int // the last run that called it

	declared toolname.Effect // by the annotations of its definition
	effect   toolname.Effect // by these, else by its name
	program  bool            // a command line that runs a program which only reads
	gets     bool            // a request by GET or HEAD
	address  string          // the argument with a url by whose shape the calls are named

	same, differs      int // the same call returned the same, or something else, with nothing between or in another run
	unchanged, changed int // reads before and after it returned the same, or something else

	repeated, repeatedRuns int // the same call right after itself returned the same, and in how many runs
	repeatedElse           int // or something else
	repeatedRun            int

	results map[hash128.Hash]bool // the first few

	args  map[string]*argFacts // by path
	pages map[string]int       // by argument: runs of calls that differ in it alone
}

// argFacts is what values an argument had.
type argFacts struct {
	path rules.Path
	name string // the last name on the path
	seen int    // values

	samples map[string]int // how often each of the first maxDistinct different values was seen
	forms   map[valueType]*form
	shapes  []*shape
}

// valueType is a type of values that rarely decide what happens next.
type valueType uint8

const (
	typeNone valueType = iota
	typeUUID
	typeDate
	typeEmail
	typeToken
	typeNumber
	typeID
	typeURL
)

func (t valueType) String() string {
	return [...]string{"", "UUIDs", "dates", "e-mail addresses", "tokens", "numbers", "ids", "urls of one shape"}[t]
}

// form counts the values of one type.
type form struct {
	n        int
	distinct map[hash128.Hash]bool // at most maxDistinct
}

// maxDistinct is how many different values are told apart: from three on they
// are enough.
const maxDistinct = 64

func (f *form) add(h hash128.Hash) {
	f.n++
	if f.distinct == nil {
		f.distinct = map[hash128.Hash]bool{}
	}
	if len(f.distinct) < maxDistinct {
		f.distinct[h] = true
	}
}

var (
	uuidText   = regexp.MustCompile(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)
	dateText   = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}([T ][0-9:.+Z-]+)?$`)
	emailText  = regexp.MustCompile(`^[^@\s]+@[^@\s]+\.[^@\s]+$`)
	numberText = regexp.MustCompile(`^-?\d+(\.\d+)?$`)
)

// typePatterns are what a rewrite of a type matches; ids have patterns by their
// shapes.
var typePatterns = map[valueType]*regexp.Regexp{
	typeUUID: uuidText, typeDate: dateText, typeEmail: emailText, typeNumber: numberText, typeToken: regexp.MustCompile(`^\S+$`),
}

func typeOf(name string, v trace.Value) valueType {
	text := merge.TextOf(v)
	switch {
	case v.Kind == trace.Number:
		return typeNumber
	case v.Kind != trace.String, text == "":
		return typeNone
	case uuidText.MatchString(text):
		return typeUUID
	case dateText.MatchString(text):
		return typeDate
	case secret.LooksLike(name, "") && !strings.ContainsFunc(text, unicode.IsSpace):
		return typeToken
	case emailText.MatchString(text):
		return typeEmail
	case numberText.MatchString(text):
		return typeNumber
	case secret.LooksLike("", text) && !strings.ContainsFunc(text, unicode.IsSpace):
		return typeToken
	}
	return typeID
}

// shape is what ids with the same separators have in common: for every part
// between them the kinds of its characters and its length. It holds no value.
type shape struct {
	form
	separators string
	parts      []idPart
	digits     int // ids with a digit

	// Of ids of one part, by length, what characters they have; beyond maxLengths
	// they are of any length.
	lengths map[int]*idPart
	any     bool
}

// maxLengths is how many lengths of ids are told apart.
const maxLengths = 4

// isMixed reports whether the ids are of two or three lengths that differ in their
// characters: one kind has digits only, say, and another letters.
func (s *shape) isMixed() bool {
	if s.any || len(s.lengths) < 2 {
		return false
	}
	var first *idPart
	for _, p := range s.lengths {
		if first == nil {
			first = p
		}
		if p.lower != first.lower || p.upper != first.upper || p.digit != first.digit {
			return true
		}
	}
	return false
}

// idPart is one part of a shape.
type idPart struct {
	lower, upper, digit bool
	least, most         int
}

// separatorChars may stand in ids. The first characters of ids, such as `#W`,
// are text of values all the same: a shape keeps separators only.
const separatorChars = "_-#.:/"

// split returns the parts and separators of an id, false if the text is none.
func split(text string) (parts []string, separators string, ok bool) {
	if len(text) > 80 {
		return nil, "", false
	}
	start := 0
	for i := range len(text) {
		c := text[i]
		if strings.IndexByte(separatorChars, c) >= 0 {
			parts, separators, start = append(parts, text[start:i]), separators+string(c), i+1
			continue
		}
		if !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z') {
			return nil, "", false
		}
	}
	return append(parts, text[start:]), separators, len(separators) <= 6
}

// addID adds an id to the shape that it has.
func (a *argFacts) addID(text string, h hash128.Hash) {
	parts, separators, ok := split(text)
	if !ok {
		return
	}
	i := slices.IndexFunc(a.shapes, func(s *shape) bool { return s.separators == separators })
	if i < 0 {
		if len(a.shapes) >= 8 {
			return
		}
		i = len(a.shapes)
		a.shapes = append(a.shapes, &shape{separators: separators, parts: make([]idPart, len(parts))})
	}
	s := a.shapes[i]
	s.add(h)
	hasDigit := false
	for j, part := range parts {
		p := &s.parts[j]
		if s.n == 1 {
			p.least = len(part)
		}
		p.least, p.most = min(p.least, len(part)), max(p.most, len(part))
		hasDigit = p.see(part) || hasDigit
	}
	if hasDigit {
		s.digits++
	}
	if len(parts) == 1 {
		s.addLength(text)
	}
}

// addLength notes the length of an id of one part, and its characters.
func (s *shape) addLength(text string) {
	if s.lengths == nil {
		s.lengths = map[int]*idPart{}
	}
	p := s.lengths[len(text)]
	if p == nil {
		if s.any = s.any || len(s.lengths) == maxLengths; s.any {
			return
		}
		p = &idPart{}
		s.lengths[len(text)] = p
	}
	p.see(text)
}

// see notes the kinds of characters of a text; it reports whether digits are among
// them.
func (p *idPart) see(text string) (hasDigit bool) {
	for _, c := range text {
		switch {
		case '0' <= c && c <= '9':
			p.digit, hasDigit = true, true
		case 'a' <= c && c <= 'z':
			p.lower = true
		default:
			p.upper = true
		}
	}
	return hasDigit
}

// isID reports whether the values of the shape are ids and no words: nearly all
// have a digit, or all are capitals of one length.
func (s *shape) isID() bool {
	if len(s.distinct) < minValues {
		return false
	}
	if 10*s.digits >= 9*s.n {
		return true
	}
	p := s.parts[0]
	return s.separators == "" && p.upper && !p.lower && p.least == p.most && p.most >= 2
}

// minValues is how many different values of one type a rewrite needs.
const minValues = 3

// pattern is a regular expression for the shape.
func (s *shape) pattern() string {
	var b strings.Builder
	for i, p := range s.parts {
		if i > 0 {
			b.WriteString(regexp.QuoteMeta(s.separators[i-1 : i]))
		}
		class := ""
		if p.upper {
			class += "A-Z"
		}
		if p.lower {
			class += "a-z"
		}
		if p.digit {
			class += "0-9"
		}
		switch {
		case class == "":
		case p.least == p.most && p.digit: // a length that words have by chance says nothing
			b.WriteString("[" + class + "]{" + strconv.Itoa(p.least) + "}")
		case p.least == p.most && p.upper && !p.lower:
			b.WriteString("[" + class + "]{" + strconv.Itoa(p.least) + "}")
		case p.least == 0:
			b.WriteString("[" + class + "]*")
		default:
			b.WriteString("[" + class + "]+")
		}
	}
	return b.String()
}
