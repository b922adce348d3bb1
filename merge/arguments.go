package merge

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// argument is a value of a label's arguments while rules work on it: a JSON
// value that remembers which parts of its text a rule wrote, because only those
// may be shown.
type argument struct {
	kind    trace.Kind
	scalar  trace.Value // Null, Bool, Number
	text    string      // String
	shown   []bool      // String: by byte of text, whether it may be shown; nil for none
	allowed bool        // the whole value may be shown
	names   []string    // Object: by member
	items   []*argument // Array, Object
}

func newArgument(v trace.Value) *argument {
	a := &argument{kind: v.Kind}
	switch v.Kind {
	case trace.String:
		a.text = v.Text
	case trace.Array:
		a.items = make([]*argument, len(v.Elems))
		for i, e := range v.Elems {
			a.items[i] = newArgument(e)
		}
	case trace.Object:
		a.items = make([]*argument, len(v.Members))
		a.names = make([]string, len(v.Members))
		for i, m := range v.Members {
			a.items[i], a.names[i] = newArgument(m.Value), m.Name
		}
	default:
		a.scalar = v
	}
	return a
}

// Brackets around the parts of a label that may be shown. Canonical JSON escapes
// control characters, so nothing else in it looks like them.
const (
	shownOpen  = '\x01'
	shownClose = '\x02'
)

// appendBracketed appends the canonical JSON of the argument, with brackets around
// what may be shown.
func (a *argument) appendBracketed(dst []byte) []byte {
	if a.allowed {
		dst = append(dst, shownOpen)
		dst = a.value().AppendCanonical(dst)
		return append(dst, shownClose)
	}
	switch a.kind {
	case trace.String:
		return a.appendBracketedText(dst)
	case trace.Array:
		dst = append(dst, '[')
		for i, item := range a.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = item.appendBracketed(dst)
		}
		return append(dst, ']')
	case trace.Object:
		dst = append(dst, '{')
		for i, item := range a.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendString(dst, a.names[i])
			dst = append(dst, ':')
			dst = item.appendBracketed(dst)
		}
		return append(dst, '}')
	}
	return a.scalar.AppendCanonical(dst)
}

func (a *argument) appendBracketedText(dst []byte) []byte {
	if a.shown == nil {
		return appendString(dst, a.text)
	}
	dst = append(dst, '"')
	for start := 0; start < len(a.text); {
		end := start + 1
		for end < len(a.text) && a.shown[end] == a.shown[start] {
			end++
		}
		if a.shown[start] {
			dst = append(dst, shownOpen)
		}
		dst = appendStringContent(dst, a.text[start:end])
		if a.shown[start] {
			dst = append(dst, shownClose)
		}
		start = end
	}
	return append(dst, '"')
}

// appendString appends a canonical JSON string.
func appendString(dst []byte, s string) []byte {
	return trace.Value{Kind: trace.String, Text: s}.AppendCanonical(dst)
}

// appendStringContent appends a JSON string without its quotes. Escaping goes
// by character, so that of a concatenation is the concatenation.
func appendStringContent(dst []byte, s string) []byte {
	start := len(dst)
	dst = appendString(dst, s)
	dst = slices.Delete(dst, start, start+1)
	return dst[:len(dst)-1]
}

// value returns the argument as a value.
func (a *argument) value() trace.Value {
	v := trace.Value{Kind: a.kind}
	switch a.kind {
	case trace.String:
		v.Text = a.text
	case trace.Array:
		v.Elems = make([]trace.Value, len(a.items))
		for i, item := range a.items {
			v.Elems[i] = item.value()
		}
	case trace.Object:
		v.Members = make([]trace.Member, len(a.items))
		for i, item := range a.items {
			v.Members[i] = trace.Member{Name: a.names[i], Value: item.value()}
		}
	default:
		return a.scalar
	}
	return v
}

// each calls f for every argument that the path leads to.
func (a *argument) each(path rules.Path, f func(*argument)) {
	if len(path) == 0 {
		f(a)
		return
	}
	for i, item := range a.items {
		if a.selects(path[0], i) {
			item.each(path[1:], f)
		}
	}
}

// drop removes what the path leads to.
func (a *argument) drop(path rules.Path) {
	if len(path) == 0 {
		return
	}
	for i := len(a.items) - 1; i >= 0; i-- {
		switch {
		case !a.selects(path[0], i):
		case len(path) > 1:
			a.items[i].drop(path[1:])
		default:
			a.items = slices.Delete(a.items, i, i+1)
			if a.kind == trace.Object {
				a.names = slices.Delete(a.names, i, i+1)
			}
		}
	}
}

// selects reports whether the segment leads to item i.
func (a *argument) selects(segment rules.Segment, i int) bool {
	if a.kind == trace.Object {
		return segment.Kind == rules.SegmentName && segment.Name == a.names[i]
	}
	return segment.Kind == rules.SegmentEach || segment.Kind == rules.SegmentIndex && segment.Index == i
}

// rewrite replaces every match of the pattern in the argument's text: a string
// itself, any other value as canonical JSON. An argument that is changed is a
// string from then on, of which the fixed text of the template may be shown. One that would
// become longer than both maxRewritten and what it was stays as it is: a few rules could
// multiply a text until no memory is left.
func (a *argument) rewrite(pattern *regexp.Regexp, with template) {
	text, shown := a.text, a.shown
	if a.kind != trace.String {
		text, shown = string(a.value().AppendCanonical(nil)), nil
	}
	matches := pattern.FindAllStringSubmatchIndex(text, -1)
	if matches == nil {
		return
	}
	var out shownText
	last := 0
	for _, match := range matches {
		out.copy(text, shown, last, match[0])
		with.expand(&out, text, shown, match)
		last = match[1]
		if len(out.text) > max(maxRewritten, len(text)) {
			return
		}
	}
	out.copy(text, shown, last, len(text))
	if string(out.text) == text || len(out.text) > max(maxRewritten, len(text)) {
		return
	}
	*a = argument{kind: trace.String, text: string(out.text), shown: out.shown, allowed: a.allowed}
}

// maxRewritten is how many bytes of a value a rule may make.
const maxRewritten = 4 << 10

// shownText is a text in the making with, by byte, whether it may be shown.
type shownText struct {
	text  []byte
	shown []bool
}

// copy appends a part of another text as it is shown there.
func (m *shownText) copy(text string, shown []bool, from, to int) {
	m.text = append(m.text, text[from:to]...)
	for i := from; i < to; i++ {
		m.shown = append(m.shown, shown != nil && shown[i])
	}
}

// fixed appends text that the author of a rule wrote.
func (m *shownText) fixed(text string) {
	m.text = append(m.text, text...)
	for range len(text) {
		m.shown = append(m.shown, true)
	}
}

// template is the replacement of a rewrite rule in the syntax of
// regexp.Expand, taken apart: Expand itself does not say which bytes of its
// result are fixed text and which come from the input.
type template []templatePart

// templatePart is fixed text followed by the first of some groups that took
// part in the match.
type templatePart struct {
	text   string
	groups []int
}

var groupName = regexp.MustCompile(`^(?:([\p{L}\p{Nd}_]+)|\{([\p{L}\p{Nd}_]+)\})`)

func newTemplate(pattern *regexp.Regexp, with string) template {
	var t template
	text := ""
	for {
		before, after, found := strings.Cut(with, "$")
		text += before
		if !found {
			return append(t, templatePart{text: text})
		}
		if rest, escaped := strings.CutPrefix(after, "$"); escaped {
			text, with = text+"$", rest
			continue
		}
		match := groupName.FindStringSubmatch(after)
		if match == nil {
			text, with = text+"$", after // not a group: Expand takes it as text
			continue
		}
		t = append(t, templatePart{text, groupsNamed(pattern, match[1]+match[2])})
		text, with = "", after[len(match[0]):]
	}
}

// groupsNamed returns the groups of the pattern with that number or name.
func groupsNamed(pattern *regexp.Regexp, name string) []int {
	if n, err := strconv.ParseUint(name, 10, 24); err == nil && strconv.FormatUint(n, 10) == name {
		return []int{int(n)}
	}
	var groups []int
	for i, other := range pattern.SubexpNames() {
		if other == name {
			groups = append(groups, i)
		}
	}
	return groups
}

// expand appends the template for one match in text.
func (t template) expand(out *shownText, text string, shown []bool, match []int) {
	for _, part := range t {
		out.fixed(part.text)
		for _, g := range part.groups {
			if 2*g+1 < len(match) && match[2*g] >= 0 {
				out.copy(text, shown, match[2*g], match[2*g+1])
				break
			}
		}
	}
}
