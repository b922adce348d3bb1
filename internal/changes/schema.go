package changes

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/trace"
)

// fit says how what one schema allows compares with another.
type fit uint8

const (
	same fit = iota
	widened
	narrowed // or so different that it must be taken for that
)

// silent are keywords that allow and forbid nothing.
var silent = []string{"description", "title", "default", "examples", "example", "deprecated", "$comment", "readOnly", "writeOnly", "$schema", "$id"}

// types are those of JSON Schema.
var types = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

// maxDepth bounds how deep schemas are compared; deeper parts must be equal.
const maxDepth = 32

// compareSchemas says whether what was allowed still is. It compares types,
// enumerations, properties and items; any other keyword that is new or differs is
// taken for narrower, and one that is gone for wider.
func compareSchemas(before, after trace.Value, depth int) fit {
	if before.Equal(after) {
		return same
	}
	if depth > maxDepth || before.Kind != trace.Object || after.Kind != trace.Object {
		return narrowed
	}
	out := same
	add := func(f fit) { out = max(out, f) }
	add(compareSets(typesOf(before), typesOf(after)))
	add(compareEnums(before, after))
	for _, name := range names(before, after) {
		a, had := before.Lookup(name)
		b, has := after.Lookup(name)
		switch {
		case name == "type" || name == "enum" || name == "const" || slices.Contains(silent, name) || had && has && a.Equal(b):
		case name == "properties":
			add(compareProperties(before, after, depth))
		case name == "required":
			add(compareRequired(before, after))
		case name == "items" && had && has:
			add(compareSchemas(a, b, depth+1))
		case !has:
			add(widened)
		default:
			add(narrowed)
		}
	}
	return out
}

// names returns the names of the members of both, sorted.
func names(a, b trace.Value) []string {
	var all []string
	for _, m := range slices.Concat(a.Members, b.Members) {
		all = append(all, m.Name)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// typesOf returns the types that a schema allows.
func typesOf(schema trace.Value) []string {
	t, ok := schema.Lookup("type")
	if !ok {
		return types
	}
	var list []string
	for _, e := range append([]trace.Value{t}, t.Elems...) {
		if e.Kind == trace.String {
			list = append(list, e.Text)
			if e.Text == "number" {
				list = append(list, "integer")
			}
		}
	}
	return list
}

// compareSets compares two sets of allowed things.
func compareSets(before, after []string) fit {
	for _, t := range before {
		if !slices.Contains(after, t) {
			return narrowed
		}
	}
	for _, t := range after {
		if !slices.Contains(before, t) {
			return widened
		}
	}
	return same
}

// compareEnums compares the values that schemas list.
func compareEnums(before, after trace.Value) fit {
	a, limited := listed(before)
	b, limits := listed(after)
	switch {
	case !limited && !limits:
		return same
	case !limited:
		return narrowed
	case !limits:
		return widened
	}
	return compareSets(a, b)
}

// listed returns the values of enum or const, in canonical text.
func listed(schema trace.Value) ([]string, bool) {
	if v, ok := schema.Lookup("const"); ok {
		return []string{string(v.AppendCanonical(nil))}, true
	}
	enum, ok := schema.Lookup("enum")
	var list []string
	for _, e := range enum.Elems {
		list = append(list, string(e.AppendCanonical(nil)))
	}
	return list, ok
}

// compareProperties compares the properties that both name, and takes one that
// is no longer named for forbidden if the schema says that no others are allowed.
func compareProperties(before, after trace.Value, depth int) fit {
	a, _ := before.Lookup("properties")
	b, _ := after.Lookup("properties")
	open := func(schema trace.Value) bool {
		v, ok := schema.Lookup("additionalProperties")
		return !ok || v.Kind == trace.Bool && v.Bool
	}
	out := same
	for _, name := range names(a, b) {
		x, had := a.Lookup(name)
		y, has := b.Lookup(name)
		switch {
		case had && has:
			out = max(out, compareSchemas(x, y, depth+1))
		case had && !open(after):
			out = narrowed
		default:
			out = max(out, widened)
		}
	}
	return out
}

func compareRequired(before, after trace.Value) fit {
	return compareSets(requiredOf(after), requiredOf(before)) // what must be there allows less
}

func requiredOf(schema trace.Value) []string {
	v, _ := schema.Lookup("required")
	var list []string
	for _, e := range v.Elems {
		if e.Kind == trace.String {
			list = append(list, e.Text)
		}
	}
	return list
}

// typeWords names the types of a schema for people; "anything" if it names none.
func typeWords(schema trace.Value) string {
	if _, ok := schema.Lookup("type"); !ok {
		return "anything"
	}
	list := slices.DeleteFunc(typesOf(schema), func(t string) bool { return !slices.Contains(types, t) })
	slices.Sort(list)
	if list = slices.Compact(list); slices.Contains(list, "number") {
		list = slices.DeleteFunc(list, func(t string) bool { return t == "integer" })
	}
	return strings.Join(list, " or ")
}
