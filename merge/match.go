package merge

import (
	"regexp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// subject is a call as rules see it.
type subject struct {
	name        string // after renaming
	args        trace.Value
	context     []trace.ContextValue
	annotations trace.Value // of the tool's definition; Null if there is none
	seen        *seen       // what the last call before the turn returned; nil if no rule looks at it
}

// seen is a result that rules look at, parsed when a path is asked for.
type seen struct {
	text   string
	parsed bool
	value  trace.Value
}

func (s *seen) each(path rules.Path, f func(text string) bool) {
	if len(path) == 0 {
		f(s.text)
		return
	}
	if !s.parsed {
		s.parsed = true
		s.value, _ = trace.ParseValue([]byte(s.text))
	}
	EachAt(s.value, path, func(v trace.Value) bool { return f(TextOf(v)) })
}

// mostSeen is at how many places of a text a pattern is compared with arguments.
const mostSeen = 1000

// observes reports whether the pattern is found in the last result, its named groups equal
// to the arguments of their names.
func (s *subject) observes(p *rules.ArgPattern) (ok bool) {
	names := p.Pattern.SubexpNames()
	named := strings.Join(names, "") != ""
	s.seen.each(p.Path, func(text string) bool {
		if !named {
			ok = p.Pattern.MatchString(text)
			return !ok
		}
		ok = slices.ContainsFunc(p.Pattern.FindAllStringSubmatch(text, mostSeen), func(found []string) bool {
			for i, name := range names {
				if value, given := s.args.Lookup(name); name != "" && (!given || TextOf(value) != found[i]) {
					return false
				}
			}
			return true
		})
		return !ok
	})
	return ok
}

// matches reports whether all parts of the match hold, the name aside.
func (s *subject) matches(m *rules.Match) bool {
	for i := range m.Args {
		if _, ok := s.argument(&m.Args[i]); !ok {
			return false
		}
	}
	for i := range m.Context {
		if _, ok := s.contextValue(&m.Context[i]); !ok {
			return false
		}
	}
	for i := range m.Result {
		if s.seen == nil || !s.observes(&m.Result[i]) {
			return false
		}
	}
	for i := range m.Annotations {
		value, ok := s.annotations.Lookup(m.Annotations[i].Name)
		if !ok || !m.Annotations[i].Pattern.MatchString(TextOf(value)) {
			return false
		}
	}
	return true
}

// argument returns the text of the first value at the pattern's path that
// matches it.
func (s *subject) argument(p *rules.ArgPattern) (string, bool) {
	found, ok := "", false
	EachAt(s.args, p.Path, func(v trace.Value) bool {
		if text := TextOf(v); p.Pattern.MatchString(text) {
			found, ok = text, true
		}
		return !ok
	})
	return found, ok
}

// contextValue returns the first value of the pattern's name that matches it.
func (s *subject) contextValue(p *rules.ContextPattern) (string, bool) {
	for _, c := range s.context {
		if c.Name == p.Name && p.Pattern.MatchString(c.Value) {
			return c.Value, true
		}
	}
	return "", false
}

// TextOf is the text that patterns are matched against: a string itself, any
// other value as canonical JSON.
func TextOf(v trace.Value) string {
	if v.Kind == trace.String {
		return v.Text
	}
	return string(v.AppendCanonical(nil))
}

// EachAt calls f for every value that the path leads to, until f returns false.
// It reports whether f never did.
func EachAt(v trace.Value, path rules.Path, f func(trace.Value) bool) bool {
	if len(path) == 0 {
		return f(v)
	}
	switch segment := path[0]; segment.Kind {
	case rules.SegmentName:
		if member, ok := v.Lookup(segment.Name); ok && v.Kind == trace.Object {
			return EachAt(member, path[1:], f)
		}
	case rules.SegmentIndex:
		if v.Kind == trace.Array && segment.Index < len(v.Elems) {
			return EachAt(v.Elems[segment.Index], path[1:], f)
		}
	case rules.SegmentEach:
		if v.Kind == trace.Array {
			for _, e := range v.Elems {
				if !EachAt(e, path[1:], f) {
					return false
				}
			}
		}
	}
	return true
}

// newName returns the name that a rename rule which matches s gives it: its
// `to`, where ${0} is the old name and ${1} and on are the groups of the match's
// argument patterns, then of its context patterns. A name that would become longer than both
// maxRewritten and the old one stays the old one.
func (s *subject) newName(r *rules.Rule) string {
	text := []byte(s.name)
	groups := []int{0, len(s.name)}
	add := func(pattern *regexp.Regexp, value string) {
		match := pattern.FindStringSubmatchIndex(value)
		if len(match) < 2 {
			return
		}
		offset := len(text)
		text = append(text, value...)
		for _, i := range match[2:] {
			if i >= 0 {
				i += offset
			}
			groups = append(groups, i)
		}
	}
	for i := range r.Match.Args {
		value, _ := s.argument(&r.Match.Args[i])
		add(r.Match.Args[i].Pattern, value)
	}
	for i := range r.Match.Context {
		value, _ := s.contextValue(&r.Match.Context[i])
		add(r.Match.Context[i].Pattern, value)
	}
	longest := max(maxRewritten, len(s.name))
	if strings.Count(r.To, "$")*len(text) > 64*longest {
		return s.name // it may be that long only if most groups are empty
	}
	name := anyPattern.Expand(nil, []byte(r.To), text, groups)
	if len(name) == 0 || len(name) > longest {
		return s.name // a call needs a name
	}
	return string(name)
}

// anyPattern is only there for its Expand, which works on any groups that have
// numbers and not names.
var anyPattern = regexp.MustCompile(``)
