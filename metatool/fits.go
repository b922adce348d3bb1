package metatool

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/trace"
)

// Takes reports whether a value is of a type that the schema of the argument names.
func (a *Argument) Takes(v trace.Value) bool { return Fits(v, a.Schema) }

// IsGiven reports whether a binding's value is known before anything is called: it is
// always the same, an input, or made of such.
func (b *Binding) IsGiven() bool {
	switch b.Kind {
	case BindConst, BindInput:
		return true
	case BindTemplate:
		return !slices.ContainsFunc(b.Parts, func(p Binding) bool { return !p.IsGiven() })
	}
	return false
}

// ReadsElement reports whether a binding's value depends on the element that a step
// walks over.
func (b *Binding) ReadsElement() bool {
	return b.Kind == BindElement || b.Key != nil && b.Key.ReadsElement() ||
		slices.ContainsFunc(b.Parts, func(p Binding) bool { return p.ReadsElement() })
}

// Fits reports whether a value is of a type that a schema names. What else a
// schema says is for the tool that gets the value.
func Fits(v, schema trace.Value) bool {
	types := schema.Find("type")
	if types == nil {
		return true
	}
	if types.Kind == trace.String {
		return isType(&v, types.Text)
	}
	for i := range types.Elems {
		if isType(&v, types.Elems[i].Text) {
			return true
		}
	}
	return len(types.Elems) == 0
}

func isType(v *trace.Value, name string) bool {
	switch name {
	case "integer":
		return v.Kind == trace.Number && isInteger(v.Text)
	case "boolean":
		return v.Kind == trace.Bool
	case "null", "number", "string", "array", "object":
		return v.Kind.String() == name
	}
	return true // a type that JSON Schema does not have
}

// isInteger reports whether a number in canonical text is whole: 1.0 is, as JSON
// Schema has it.
func isInteger(text string) bool {
	if !strings.ContainsAny(text, ".e") {
		return true
	}
	f, err := strconv.ParseFloat(text, 64)
	return err == nil && f == math.Trunc(f)
}
