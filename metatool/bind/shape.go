package bind

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/secret"
	"github.com/awo-dev/awo/trace"
)

// shape is what results at one place have in common: types and names, no values.
type shape struct {
	kinds   [trace.Object + 1]int
	names   []string // of the members that all objects had, in order
	members []*shape
	elems   *shape
}

// Bounds of shapes: what is deeper or wider is data.
const (
	maxShapeDepth = 4
	maxShapeNames = 40
)

// with returns the shape of what s is the shape of and v; s may be nil.
func (s *shape) with(v *trace.Value, depth int) *shape {
	if s == nil {
		s = &shape{}
	}
	s.kinds[v.Kind]++
	if depth == maxShapeDepth {
		return s
	}
	switch v.Kind {
	case trace.Object:
		s.withObject(v, depth)
	case trace.Array:
		for i := range v.Elems {
			s.elems = s.elems.with(&v.Elems[i], depth+1)
		}
	}
	return s
}

func (s *shape) withObject(v *trace.Value, depth int) {
	if s.kinds[trace.Object] == 1 && len(v.Members) <= maxShapeNames {
		for _, m := range v.Members {
			s.names = append(s.names, strings.Clone(m.Name))
			s.members = append(s.members, nil)
		}
	}
	for i := len(s.names) - 1; i >= 0; i-- {
		m, ok := v.Lookup(s.names[i])
		if !ok {
			s.names, s.members = slices.Delete(s.names, i, i+1), slices.Delete(s.members, i, i+1)
			continue
		}
		s.members[i] = s.members[i].with(&m, depth+1)
	}
}

// structure returns a JSON Schema that says which names what has this shape has, and
// nothing of types: everything fits it. Names that fewer than five objects had in common
// could be data and are left out.
func (s *shape) structure() trace.Value {
	out := trace.Value{Kind: trace.Object}
	if s == nil {
		return out
	}
	if items := s.elems.structure(); len(items.Members) > 0 {
		out = arrayOf(items)
	}
	var names []trace.Member
	for i, name := range s.names {
		if s.kinds[trace.Object] >= 5 && !secret.LooksLike("", name) && validName(name) == name {
			names = append(names, trace.Member{Name: name, Value: s.members[i].structure()})
		}
	}
	if len(names) > 0 {
		out = with(out, "properties", trace.NewObject(names...))
	}
	return out
}
