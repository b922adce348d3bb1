package metatool

import (
	"slices"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/trace"
)

// Scope is what bindings are evaluated in: there is no other evaluator of them in
// the project. What is emitted in other languages does the same.
type Scope struct {
	Inputs  trace.Value    // an object
	Results []*trace.Value // by step; nil for those that are not done
	Element *trace.Value   // that a step with Each walks over
}

// result returns the result of a step, nil if it is not done. Content blocks are no
// value to bind: only their text is.
func (s *Scope) result(step int) *trace.Value {
	if step < 0 || step >= len(s.Results) {
		return nil
	}
	return bindable(s.Results[step])
}

// Value returns the one value that a binding gives, and false if it gives none
// or several.
func (s *Scope) Value(b *Binding) (trace.Value, bool) {
	v, ok := s.bare(b)
	if !ok {
		return trace.Value{}, false
	}
	return coerce(v, b.Coerce)
}

func (s *Scope) bare(b *Binding) (trace.Value, bool) {
	switch b.Kind {
	case BindConst:
		return b.Const, true
	case BindInput:
		return s.Inputs.Lookup(b.Input)
	case BindStep:
		return s.at(b, s.result(b.Step))
	case BindElement:
		return s.at(b, s.Element)
	case BindTemplate:
		parts := make([]trace.Value, len(b.Parts))
		for i := range b.Parts {
			v, ok := s.Value(&b.Parts[i])
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

// at returns what a binding's path gives in a value, nil for one that is not there.
func (s *Scope) at(b *Binding, from *trace.Value) (trace.Value, bool) {
	if from == nil {
		return trace.Value{}, false
	}
	if b.Key == nil {
		return b.Path.Sole(from, nil)
	}
	key, ok := s.key(b)
	if !ok {
		return trace.Value{}, false
	}
	return b.Path.Sole(from, &key)
}

// key returns the value that closes a binding's open filter.
func (s *Scope) key(b *Binding) (trace.Value, bool) {
	key, ok := s.Value(b.Key)
	return key, ok && key.Kind != trace.Array && key.Kind != trace.Object
}

// path returns a binding's path with its open filter closed.
func (s *Scope) path(b *Binding) (jsonpath.Path, bool) {
	if b.Key == nil {
		return b.Path, true
	}
	key, ok := s.key(b)
	if !ok {
		return nil, false
	}
	return b.Path.Bind(key), true
}

// Elements returns what a step with Each walks over: each different element
// once (numbers by value), in the order of the list. It is false if the list is
// not there.
func (s *Scope) Elements(b *Binding) ([]trace.Value, bool) {
	var all []trace.Value
	switch b.Kind {
	case BindStep:
		path, ok := s.path(b)
		from := s.result(b.Step)
		if !ok || from == nil || !listed(path, *from) {
			return nil, false
		}
		all = path.Eval(*from)
	default:
		v, ok := s.Value(b)
		if !ok || v.Kind != trace.Array {
			return nil, false
		}
		all = v.Elems
	}
	return different(all), true
}

// fewElements are compared with each other sooner than put into a map.
const fewElements = 16

// different returns the first of equal values each.
func different(all []trace.Value) []trace.Value {
	var kept []trace.Value
	if len(all) <= fewElements {
		for i := range all {
			if !slices.ContainsFunc(kept, func(w trace.Value) bool { return jsonvalue.Equal(&all[i], &w) }) {
				kept = append(kept, all[i])
			}
		}
		return kept
	}
	seen := map[uint64][]trace.Value{}
	for _, v := range all {
		key := jsonvalue.Hash(&v)
		if !slices.ContainsFunc(seen[key], func(w trace.Value) bool { return jsonvalue.Equal(&v, &w) }) {
			seen[key] = append(seen[key], v)
			kept = append(kept, v)
		}
	}
	return kept
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
func coerce(v trace.Value, c Coercion) (trace.Value, bool) {
	switch {
	case c == CoerceString && v.Kind == trace.Number:
		text, ok := jsonpath.Fill(jsonpath.Hole, v)
		return trace.Value{Kind: trace.String, Text: text}, ok
	case c == CoerceNumber && v.Kind == trace.String:
		n, err := trace.ParseValue([]byte(v.Text))
		return n, err == nil && n.Kind == trace.Number
	}
	return v, true
}
