package mapped

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/trace"
)

// shape is what the objects at one place have in common.
type shape struct {
	path    []string // names, and "*" for the elements of a list
	objects []trace.Value
	members map[string]*memberShape
}

type memberShape struct {
	n      int
	kinds  [6]int
	values map[string]int // texts that are names
	names  int            // how many are
}

// drafter looks at records.
type drafter struct {
	shapes map[string]*shape
	order  []string
	seen   int
}

func (d *drafter) look(v trace.Value, path []string) {
	if len(path) > draftDepth || d.seen >= draftObjects {
		return
	}
	switch v.Kind {
	case trace.Array:
		for _, e := range v.Elems {
			d.look(e, append(slices.Clip(path), "*"))
		}
	case trace.Object:
		d.seen++
		key := strings.Join(path, "\x00")
		s := d.shapes[key]
		if s == nil {
			s = &shape{path: slices.Clone(path), members: map[string]*memberShape{}}
			d.shapes[key], d.order = s, append(d.order, key)
		}
		s.objects = append(s.objects, v)
		keyed := isKeyed(v)
		for _, m := range v.Members {
			one := s.members[m.Name]
			if one == nil {
				one = &memberShape{values: map[string]int{}}
				s.members[m.Name] = one
			}
			one.n++
			one.kinds[m.Value.Kind]++
			if m.Value.Kind == trace.String && isIdentifier(m.Value.Text) {
				one.names++
				if _, ok := one.values[m.Value.Text]; ok || len(one.values) < draftValues {
					one.values[m.Value.Text]++
				}
			}
			name := m.Name
			if keyed {
				name = "*"
			}
			d.look(m.Value, append(slices.Clip(path), name))
		}
	}
}

// isKeyed reports whether an object holds elements by their names, such as {"c1": {...},
// "c2": {...}}: at least three objects, all with the members of the first.
func isKeyed(v trace.Value) bool {
	for _, m := range v.Members {
		if m.Value.Kind != trace.Object || len(m.Value.Members) == 0 || len(m.Value.Members) != len(v.Members[0].Value.Members) {
			return false
		}
		for i, inner := range m.Value.Members {
			if inner.Name != v.Members[0].Value.Members[i].Name {
				return false
			}
		}
	}
	return len(v.Members) >= 3
}

// member returns the first of some members that the objects have, of the kinds wanted.
func (s *shape) member(names []string, wanted func(*memberShape) bool) string {
	for _, name := range names {
		if m := s.members[name]; m != nil && wanted(m) {
			return name
		}
	}
	return ""
}

func anyKind(m *memberShape) bool { return m.n > m.kinds[trace.Null] }
func isText(m *memberShape) bool  { return 2*m.kinds[trace.String] > m.n }
func isScalar(m *memberShape) bool {
	return 2*(m.kinds[trace.String]+m.kinds[trace.Number]) > m.n
}
func isNumber(m *memberShape) bool { return 2*m.kinds[trace.Number] > m.n }
func isName(m *memberShape) bool   { return 2*m.names > m.n }
func isTool(m *memberShape) bool   { return 2*(m.names+m.kinds[trace.Null]) > m.n && m.names > 0 }

// arguments returns the member that has the arguments: objects, or their JSON text.
func (s *shape) arguments(except string) string {
	for _, name := range argumentNames {
		if name == except || s.members[name] == nil {
			continue
		}
		objects, all := 0, 0
		for _, o := range s.objects {
			v, ok := o.Lookup(name)
			if !ok || v.Kind == trace.Null {
				continue
			}
			all++
			if v.Kind == trace.String {
				v, _ = jsonpath.LookThrough(v.Text)
			}
			if v.Kind == trace.Object {
				objects++
			}
		}
		if all > 0 && 2*objects > all {
			return name
		}
	}
	return ""
}

// callShape is a place where calls seem to stand.
type callShape struct {
	*shape
	tool, arguments string
	score           int
}

// calls returns the place that looks most like calls.
func (d *drafter) calls() (best callShape) {
	for _, key := range d.order {
		s := d.shapes[key]
		c := callShape{shape: s, tool: s.member(toolNames, isTool)}
		if c.tool == "" {
			continue
		}
		c.arguments = s.arguments(c.tool)
		switch {
		case strings.Contains(strings.ToLower(c.tool), "tool"), strings.HasPrefix(strings.ToLower(c.tool), "function"), strings.HasPrefix(c.tool, "action"), strings.HasPrefix(c.tool, "api"):
			c.score += 3
		default:
			c.score++
		}
		if c.arguments != "" {
			c.score += 3
			if i := slices.Index(argumentNames, c.arguments); i < slices.Index(argumentNames, "input") {
				c.score++
			}
		}
		if s.member(resultNames, anyKind) != "" {
			c.score++
		}
		for _, name := range s.path {
			if callLists.MatchString(name) {
				c.score++
			}
			if notCalls.MatchString(name) {
				c.score -= 5
			}
		}
		if s.members["description"] != nil {
			c.score -= 3
		}
		if p := d.shapes[strings.Join(append(slices.Clone(s.path), c.arguments), "\x00")]; p != nil && p.members["properties"] != nil && p.members["type"] != nil {
			c.score -= 8 // a schema
		}
		if c.score > best.score || c.score == best.score && best.shape != nil && len(s.objects) > len(best.objects) {
			best = c
		}
	}
	return best
}

// callScore is what a place must have to be taken for calls: the name of a tool and
// its arguments, or a clear name in a clear place.
const callScore = 4
