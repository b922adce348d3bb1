package execute

import (
	"slices"

	"github.com/awo-dev/awo/dataflow/jsonpath"
	"github.com/awo-dev/awo/dataflow/jsonvalue"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

// scope is what bindings are evaluated in.
type scope struct {
	inputs  trace.Value   // an object
	results []trace.Value // by step: of those that are done
	element *trace.Value  // that a step with Each walks over
}

// value returns the one value that a binding gives, and false if it gives none
// or several.
func (s *scope) value(b *metatool.Binding) (trace.Value, bool) {
	v, ok := s.bare(b)
	if !ok {
		return trace.Value{}, false
	}
	return coerce(v, b.Coerce)
}

func (s *scope) bare(b *metatool.Binding) (trace.Value, bool) {
	switch b.Kind {
	case metatool.BindConst:
		return b.Const, true
	case metatool.BindInput:
		return s.inputs.Lookup(b.Input)
	case metatool.BindStep:
		path, ok := s.path(b)
		if !ok || b.Step < 0 || b.Step >= len(s.results) {
			return trace.Value{}, false
		}
		return path.Sole(s.results[b.Step])
	case metatool.BindElement:
		path, ok := s.path(b)
		if !ok || s.element == nil {
			return trace.Value{}, false
		}
		return path.Sole(*s.element)
	case metatool.BindTemplate:
		parts := make([]trace.Value, len(b.Parts))
		for i := range b.Parts {
			v, ok := s.value(&b.Parts[i])
			if !ok {
				return trace.Value{}, false
			}
			parts[i] = v
		}
		text, ok := jsonpath.Fill(b.Template, parts...)
		return trace.Value{Kind: trace.String, Text: text}, ok
	}
	return trace.Value{}, false
}

// sole returns the value if all that was selected is the same one, numbers by
// value: a list may hold the wanted record twice.
func sole(found []trace.Value) (trace.Value, bool) {
	if len(found) == 0 {
		return trace.Value{}, false
	}
	for _, v := range found[1:] {
		if !jsonvalue.Equal(&v, &found[0]) {
			return trace.Value{}, false
		}
	}
	return found[0], true
}

// path returns a binding's path with its open filter closed.
func (s *scope) path(b *metatool.Binding) (jsonpath.Path, bool) {
	if b.Key == nil {
		return b.Path, true
	}
	key, ok := s.value(b.Key)
	if !ok || key.Kind == trace.Array || key.Kind == trace.Object {
		return nil, false
	}
	return b.Path.Bind(key), true
}

// elements returns what a step with Each walks over: each different element
// once (numbers by value), in the order of the list. It is false if the list is
// not there.
func (s *scope) elements(b *metatool.Binding) ([]trace.Value, bool) {
	var all []trace.Value
	switch b.Kind {
	case metatool.BindStep:
		path, ok := s.path(b)
		if !ok || b.Step < 0 || b.Step >= len(s.results) || !listed(path, s.results[b.Step]) {
			return nil, false
		}
		all = path.Eval(s.results[b.Step])
	default:
		v, ok := s.value(b)
		if !ok || v.Kind != trace.Array {
			return nil, false
		}
		all = v.Elems
	}
	var kept []trace.Value
	seen := map[uint64][]trace.Value{}
	for _, v := range all {
		key := jsonvalue.Hash(&v)
		if !slices.ContainsFunc(seen[key], func(w trace.Value) bool { return jsonvalue.Equal(&v, &w) }) {
			seen[key] = append(seen[key], v)
			kept = append(kept, v)
		}
	}
	return kept, true
}

// listed reports whether what a path walks over is there, be it empty: an empty
// list is an answer, a missing one is none.
func listed(path jsonpath.Path, v trace.Value) bool {
	for i, step := range path {
		if step.Kind == jsonpath.Each || step.Kind == jsonpath.Filter {
			return path[:i].Selects(v)
		}
	}
	return true
}

// coerce turns numbers into texts, spelled as templates spell them, or texts into
// numbers.
func coerce(v trace.Value, c metatool.Coercion) (trace.Value, bool) {
	switch {
	case c == metatool.CoerceString && v.Kind == trace.Number:
		text, ok := jsonpath.Fill(jsonpath.Hole, v)
		return trace.Value{Kind: trace.String, Text: text}, ok
	case c == metatool.CoerceNumber && v.Kind == trace.String:
		n, err := trace.ParseValue([]byte(v.Text))
		return n, err == nil && n.Kind == trace.Number
	}
	return v, true
}
