// Package jsonschema finds its way in JSON Schemas: what a reference leads to, which
// schemas together describe a value, and a schema with everything that it refers to
// put in place.
//
// Parsed schemas come in, and parts of them go out. Schemas are input like any other:
// they may be large, and refer to themselves. Everything here ends after a bounded
// number of steps, and what is beyond a bound is unknown. The package validates
// nothing and reads no file: references into other documents lead nowhere.
package jsonschema

import (
	"slices"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/trace"
)

// The bounds of what is followed.
const (
	MaxReferences   = 20  // in a row
	MaxAlternatives = 200 // schemas of one place
	maxPassed       = 200 // references on one way down
)

// combining are the keywords whose schemas describe the same value.
var combining = [...]string{"allOf", "anyOf", "oneOf"}

// Parts returns the schemas that allOf, anyOf and oneOf name, in this order.
func Parts(schema trace.Value) []trace.Value {
	var out []trace.Value
	for _, key := range combining {
		list, _ := schema.Lookup(key)
		out = append(out, list.Elems...)
	}
	return out
}

// Pointer follows a local reference: # alone is the root, and what stands behind it is
// a JSON Pointer (RFC 6901). It reports whether there is something.
func Pointer(root trace.Value, ref string) (trace.Value, bool) {
	path, local := strings.CutPrefix(ref, "#")
	if !local {
		return trace.Value{}, false
	}
	if path == "" {
		return root, true
	}
	path, local = strings.CutPrefix(path, "/")
	if !local {
		return trace.Value{}, false // an $anchor
	}
	at := root
	for name := range strings.SplitSeq(path, "/") {
		if strings.Contains(name, "~") {
			name = strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
		}
		if at.Kind == trace.Array {
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(at.Elems) {
				return trace.Value{}, false
			}
			at = at.Elems[i]
			continue
		}
		var ok bool
		if at, ok = at.Lookup(name); !ok {
			return trace.Value{}, false
		}
	}
	return at, true
}

// Reference returns what a schema refers to, if it does.
func Reference(schema trace.Value) (string, bool) {
	ref, ok := schema.Lookup("$ref")
	return ref.Text, ok && ref.Kind == trace.String
}

// Follow follows the references of a schema, beyond those that were passed on the way to
// it, until one refers to nothing more: for walks that go down into schemas which may
// hold themselves. It gives null for what leads nowhere or to where the walk came
// from, and what was passed then.
func Follow(root, schema trace.Value, passed []string) (trace.Value, []string) {
	for {
		ref, ok := Reference(schema)
		if !ok {
			return schema, passed
		}
		if slices.Contains(passed, ref) || len(passed) == maxPassed {
			return trace.Value{}, passed
		}
		passed = append(passed[:len(passed):len(passed)], ref)
		schema, _ = Pointer(root, ref)
	}
}

// Resolve follows the references of a schema until one refers to nothing more. It
// gives null for what leads nowhere, or back to itself.
func Resolve(root, schema trace.Value) trace.Value {
	for range MaxReferences {
		ref, ok := Reference(schema)
		if !ok {
			return schema
		}
		if schema, ok = Pointer(root, ref); !ok {
			break
		}
	}
	return trace.Value{}
}

// Alternatives returns the schemas that together make up some schemas: themselves, and
// what allOf, anyOf and oneOf of them name, resolved. At most MaxAlternatives are there.
func Alternatives(root trace.Value, schemas ...trace.Value) []trace.Value {
	var all []trace.Value
	queue := slices.Clone(schemas)
	for len(queue) > 0 && len(all) < MaxAlternatives {
		schema := Resolve(root, queue[0])
		queue = append(queue[1:], Parts(schema)...)
		all = append(all, schema)
	}
	return all
}

// Members returns the schemas of a member of the values that some schemas describe.
func Members(root trace.Value, name string, schemas ...trace.Value) []trace.Value {
	var found []trace.Value
	for _, schema := range Alternatives(root, schemas...) {
		properties, _ := schema.Lookup("properties")
		if member, ok := properties.Lookup(name); ok {
			found = append(found, member)
		}
	}
	return found
}

// Elements returns the schemas of the elements of lists that some schemas describe.
func Elements(root trace.Value, schemas ...trace.Value) []trace.Value {
	var found []trace.Value
	for _, schema := range Alternatives(root, schemas...) {
		if items, ok := schema.Lookup("items"); ok {
			found = append(found, items)
		}
	}
	return found
}

// Requires reports whether a schema requires a member.
func Requires(schema trace.Value, name string) bool {
	required, _ := schema.Lookup("required")
	return slices.ContainsFunc(required.Elems, func(e trace.Value) bool { return e.Kind == trace.String && e.Text == name })
}
