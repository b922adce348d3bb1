package emit

import (
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/trace"
)

// strict writes schemas for OpenAI's strict mode, in which every object names all
// of its members and wants them all. What narrows a value only (bounds, formats,
// patterns) is left out, because not every model takes it; what strict mode cannot
// say without refusing values that the tool takes is the reason to do without.
type strict struct {
	reason     string // of the first thing that cannot be said, "" if all can
	at         string // the input that is written
	properties int
	enums      int // values
	characters int // of names and enumerated texts
}

// Limits of strict mode, as its documentation gives them; of the depth the limit
// that all models have had.
const (
	strictDepth      = 5
	strictProperties = 100
	strictEnums      = 500
	strictCharacters = 15000
)

// fail notes why a schema cannot be strict.
func (s *strict) fail(format string, args ...any) trace.Value {
	if s.reason == "" {
		s.reason = fmt.Sprintf("the input %s ", s.at) + fmt.Sprintf(format, args...)
	}
	return trace.Value{Kind: trace.Object}
}

// root returns the schema of the inputs. Those that need not be given may be
// null, which every runner takes for not given.
func (s *strict) root(t *bind.Definition) trace.Value {
	var properties []trace.Member
	var names []string
	for i := range t.Inputs {
		in := &t.Inputs[i]
		s.at = in.Name
		schema := s.schema(in.Schema, 2)
		if !in.Required {
			schema = nullable(schema)
		}
		s.name(in.Name)
		properties = append(properties, trace.Member{Name: in.Name, Value: schema})
		names = append(names, in.Name)
	}
	slices.Sort(names)
	s.limits()
	return closedObject(properties, names, nil)
}

func (s *strict) limits() {
	switch {
	case s.properties > strictProperties:
		s.fail("is one of more than %d properties in all", strictProperties)
	case s.enums > strictEnums:
		s.fail("is one of those with more than %d enumerated values in all", strictEnums)
	case s.characters > strictCharacters:
		s.fail("is one of those with more than %d characters of names and enumerated values in all", strictCharacters)
	}
}

func (s *strict) name(name string) {
	s.properties++
	s.characters += utf8.RuneCountInString(name)
}

// closedObject returns the schema of an object with just these members.
func closedObject(properties []trace.Member, required []string, description *trace.Value) trace.Value {
	members := []trace.Member{
		{Name: "type", Value: trace.NewString("object")},
		{Name: "properties", Value: trace.NewObject(properties...)},
		{Name: "required", Value: texts(required)},
		{Name: "additionalProperties", Value: trace.Value{Kind: trace.Bool}},
	}
	if description != nil {
		members = append(members, trace.Member{Name: "description", Value: *description})
	}
	return trace.NewObject(members...)
}

// refused are keywords that allow or forbid what strict mode has no words for.
var refused = []string{"allOf", "not", "if", "$ref", "$dynamicRef", "patternProperties", "propertyNames", "dependentRequired", "dependentSchemas", "prefixItems", "contains", "unevaluatedProperties"}

// schema returns a schema in strict mode. depth is that of the objects and lists
// around it.
func (s *strict) schema(v trace.Value, depth int) trace.Value {
	if v.Kind != trace.Object {
		return s.fail("has a schema that says nothing")
	}
	for _, name := range refused {
		if _, ok := v.Lookup(name); ok {
			return s.fail("has a schema with %s", name)
		}
	}
	var out []trace.Member
	if text, ok := v.Lookup("description"); ok && text.Kind == trace.String {
		out = append(out, trace.Member{Name: "description", Value: text})
	}
	branches, several := v.Lookup("anyOf")
	if !several {
		branches, several = v.Lookup("oneOf")
	}
	if several {
		return s.anyOf(v, branches, out, depth)
	}
	types := typesOf(v)
	if values, ok := enumerated(v); ok {
		return s.enum(values, types, out)
	}
	if len(types) == 0 {
		return s.fail("may be of any type")
	}
	if !slices.Contains(types, "object") && !slices.Contains(types, "array") {
		return trace.NewObject(append(out, trace.Member{Name: "type", Value: typeValue(types)})...)
	}
	if len(types) == 1 {
		return s.container(v, types[0], out, depth)
	}
	alternatives := trace.Value{Kind: trace.Array}
	for _, one := range types {
		if one == "object" || one == "array" {
			alternatives.Elems = append(alternatives.Elems, s.container(v, one, nil, depth))
			continue
		}
		alternatives.Elems = append(alternatives.Elems, trace.NewObject(trace.Member{Name: "type", Value: trace.NewString(one)}))
	}
	return trace.NewObject(append(out, trace.Member{Name: "anyOf", Value: alternatives})...)
}

// anyOf returns a schema of several alternatives. What stands beside them would
// have to hold too.
func (s *strict) anyOf(v, branches trace.Value, out []trace.Member, depth int) trace.Value {
	for _, name := range []string{"type", "enum", "const", "properties", "items"} {
		if _, ok := v.Lookup(name); ok {
			return s.fail("has a schema with %s next to alternatives", name)
		}
	}
	_, any1 := v.Lookup("anyOf")
	_, one := v.Lookup("oneOf")
	if branches.Kind != trace.Array || len(branches.Elems) == 0 || any1 && one {
		return s.fail("has a schema with alternatives that are none")
	}
	list := trace.Value{Kind: trace.Array}
	for _, b := range branches.Elems {
		list.Elems = append(list.Elems, s.schema(b, depth))
	}
	return trace.NewObject(append(out, trace.Member{Name: "anyOf", Value: list})...)
}

// enumerated returns the values that a schema lists.
func enumerated(v trace.Value) ([]trace.Value, bool) {
	if one, ok := v.Lookup("const"); ok {
		return []trace.Value{one}, true
	}
	list, ok := v.Lookup("enum")
	var values []trace.Value
	for _, e := range list.Elems {
		if !slices.ContainsFunc(values, e.Equal) {
			values = append(values, e)
		}
	}
	return values, ok && list.Kind == trace.Array && len(values) > 0
}

// enum returns an enumeration of scalars, with the types that its values have.
func (s *strict) enum(values []trace.Value, types []string, out []trace.Member) trace.Value {
	var have []string
	for _, v := range values {
		if !ordinary(v) {
			return s.fail("is one of several numbers of which one is too large")
		}
		kind := v.Kind.String()
		switch v.Kind {
		case trace.Array, trace.Object:
			return s.fail("is one of several values that are no scalars")
		case trace.Bool:
			kind = "boolean"
		}
		whole := !slices.Contains(types, "number") && slices.Contains(types, "integer")
		if kind == "number" && whole {
			kind = "integer"
		}
		if !slices.Contains(have, kind) {
			have = append(have, kind)
		}
		s.enums++
		s.characters += utf8.RuneCountInString(v.Text)
	}
	list := trace.Value{Kind: trace.Array, Elems: values}
	return trace.NewObject(append(out, trace.Member{Name: "type", Value: typeValue(have)}, trace.Member{Name: "enum", Value: list})...)
}

// container returns the schema of an object or array.
func (s *strict) container(v trace.Value, kind string, out []trace.Member, depth int) trace.Value {
	if depth >= strictDepth {
		return s.fail("is nested deeper than %d levels", strictDepth)
	}
	if kind == "array" {
		items, ok := v.Lookup("items")
		if !ok {
			return s.fail("holds a list of anything")
		}
		return trace.NewObject(append(out,
			trace.Member{Name: "type", Value: trace.NewString("array")}, trace.Member{Name: "items", Value: s.schema(items, depth+1)})...)
	}
	properties, _ := v.Lookup("properties")
	if others, ok := v.Lookup("additionalProperties"); properties.Kind != trace.Object || len(properties.Members) == 0 || ok && (others.Kind != trace.Bool || others.Bool) {
		return s.fail("holds an object with members of any name")
	}
	required := requiredOf(v)
	var members []trace.Member
	var names []string
	for _, m := range properties.Members {
		if !slices.Contains(required, m.Name) {
			return s.fail("holds an object with members that may be left out")
		}
		s.name(m.Name)
		members = append(members, trace.Member{Name: m.Name, Value: s.schema(m.Value, depth+1)})
		names = append(names, m.Name)
	}
	object := closedObject(members, names, nil)
	return trace.NewObject(append(object.Members, out...)...)
}

func typeValue(types []string) trace.Value {
	if len(types) == 1 {
		return trace.NewString(types[0])
	}
	return texts(types)
}

// nullable returns a strict schema that takes null too.
func nullable(v trace.Value) trace.Value {
	null := trace.NewObject(trace.Member{Name: "type", Value: trace.NewString("null")})
	if list, ok := v.Lookup("anyOf"); ok {
		if slices.ContainsFunc(list.Elems, func(e trace.Value) bool { return slices.Contains(typesOf(e), "null") }) {
			return v
		}
		list.Elems = append(slices.Clone(list.Elems), null)
		return withMember(v, "anyOf", list)
	}
	types := typesOf(v)
	if slices.Contains(types, "null") || len(types) == 0 {
		return v
	}
	if list, ok := v.Lookup("enum"); ok {
		list.Elems = append(slices.Clone(list.Elems), trace.Value{})
		v = withMember(v, "enum", list)
	}
	return withMember(v, "type", texts(append(types, "null")))
}
