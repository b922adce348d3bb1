package jsonschema

import (
	"slices"

	"github.com/awo-dev/awo/trace"
)

// The bounds of what Inline copies.
const (
	MaxInlined      = 2000 // values
	maxInlinedDepth = 20
)

// anything is a schema that every value fits.
var anything = trace.Value{Kind: trace.Object}

// Inline returns a schema with what it refers to in place, so that it stands on its
// own; what stands beside a reference is added to what it leads to. What is too large
// or too deep, or refers to itself or to nothing, becomes a schema that takes anything,
// and whole is false.
func Inline(root, schema trace.Value) (out trace.Value, whole bool) {
	in := inliner{root: root, whole: true}
	return in.schema(schema, nil, 0), in.whole
}

type inliner struct {
	root  trace.Value
	nodes int
	whole bool
}

// full reports whether a bound is reached.
func (in *inliner) full(depth int) bool {
	if in.nodes++; in.nodes > MaxInlined || depth > maxInlinedDepth {
		in.whole = false
		return true
	}
	return false
}

// named reports whether a keyword holds schemas by names that are the user's.
func named(keyword string) bool {
	switch keyword {
	case "properties", "patternProperties", "dependentSchemas":
		return true
	}
	return false
}

// data reports whether a keyword holds values and no schemas.
func data(keyword string) bool {
	switch keyword {
	case "enum", "const", "default", "example", "examples", "required":
		return true
	}
	return false
}

// superfluous reports whether a keyword says nothing of a schema that stands on its own.
func superfluous(keyword string) bool {
	switch keyword {
	case "$defs", "definitions", "$id", "$schema":
		return true
	}
	return false
}

// schema copies a schema, or a list of them.
func (in *inliner) schema(v trace.Value, refs []string, depth int) trace.Value {
	if in.full(depth) {
		return anything
	}
	switch v.Kind {
	case trace.Array:
		return in.elements(v, func(e trace.Value) trace.Value { return in.schema(e, refs, depth+1) })
	case trace.Object:
		if ref, ok := Reference(v); ok {
			return in.reference(v, ref, refs, depth)
		}
		return in.keywords(v, refs, depth)
	}
	return v
}

func (in *inliner) keywords(v trace.Value, refs []string, depth int) trace.Value {
	return in.members(v, func(m trace.Member) (trace.Value, bool) {
		switch {
		case superfluous(m.Name), m.Name == "$ref":
			return trace.Value{}, false
		case data(m.Name):
			return in.value(m.Value, depth+1), true
		case named(m.Name) && m.Value.Kind == trace.Object:
			if in.full(depth + 1) {
				return anything, true
			}
			return in.members(m.Value, func(p trace.Member) (trace.Value, bool) { return in.schema(p.Value, refs, depth+2), true }), true
		}
		return in.schema(m.Value, refs, depth+1), true
	})
}

// reference puts the target of a reference in its place.
func (in *inliner) reference(v trace.Value, ref string, refs []string, depth int) trace.Value {
	target, ok := Pointer(in.root, ref)
	if !ok || target.Kind != trace.Object || slices.Contains(refs, ref) {
		in.whole = false
		return anything
	}
	out := in.schema(target, append(refs[:len(refs):len(refs)], ref), depth+1)
	if len(v.Members) == 1 {
		return out
	}
	beside := in.keywords(v, refs, depth)
	members := slices.DeleteFunc(slices.Clone(out.Members), func(m trace.Member) bool {
		_, again := beside.Lookup(m.Name)
		return again
	})
	return trace.NewObject(append(members, beside.Members...)...)
}

// value copies what is no schema.
func (in *inliner) value(v trace.Value, depth int) trace.Value {
	if in.full(depth) {
		return trace.Value{}
	}
	switch v.Kind {
	case trace.Array:
		return in.elements(v, func(e trace.Value) trace.Value { return in.value(e, depth+1) })
	case trace.Object:
		return in.members(v, func(m trace.Member) (trace.Value, bool) { return in.value(m.Value, depth+1), true })
	}
	return v
}

// elements copies a list up to the bound: what is beyond it takes no room.
func (in *inliner) elements(v trace.Value, copied func(trace.Value) trace.Value) trace.Value {
	out := trace.Value{Kind: trace.Array}
	for _, e := range v.Elems {
		if in.nodes > MaxInlined {
			break
		}
		out.Elems = append(out.Elems, copied(e))
	}
	return out
}

// members copies an object up to the bound.
func (in *inliner) members(v trace.Value, copied func(trace.Member) (trace.Value, bool)) trace.Value {
	out := trace.Value{Kind: trace.Object}
	for _, m := range v.Members {
		if in.nodes > MaxInlined {
			break
		}
		if value, keep := copied(m); keep {
			out.Members = append(out.Members, trace.Member{Name: m.Name, Value: value})
		}
	}
	return out
}
