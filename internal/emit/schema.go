package emit

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/trace"
)

// dialect is the part of JSON Schema that a provider takes. What a schema says
// beyond it is left out, which lets more values pass; the tools that are called
// check theirs anyway.
type dialect struct {
	keywords []string       // beside type, description, enum, properties, required, items and anyOf
	property *regexp.Regexp // what names of properties have to match; nil for any
	texts    bool           // enum holds texts and numbers only
}

// The dialects. Names of properties as Anthropic's interface reports them when it
// refuses some; Gemini's as in its reference of FunctionDeclaration.
var (
	anthropicDialect = dialect{
		keywords: []string{
			"const", "default", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
			"minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties", "additionalProperties", "oneOf",
		},
		property: regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`),
	}
	geminiDialect = dialect{
		keywords: []string{"minimum", "maximum", "minItems", "maxItems", "additionalProperties"},
		property: regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`),
		texts:    true,
	}
	plainDialect = dialect{keywords: []string{
		"const", "default", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
		"minItems", "maxItems", "uniqueItems", "additionalProperties", "oneOf",
	}}
)

// schemaDepth bounds how deep a schema is followed; below it anything goes.
const schemaDepth = 20

// jsonTypes are the types that JSON Schema has.
var jsonTypes = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

// root returns the schema of a meta-tool's inputs in a dialect: an object whose
// properties are the inputs.
func (d *dialect) root(t *bind.Definition) trace.Value {
	whole := t.InputSchema()
	properties, _ := whole.Lookup("properties")
	kept := make([]trace.Member, 0, len(properties.Members))
	for _, m := range properties.Members {
		kept = append(kept, trace.Member{Name: m.Name, Value: d.clean(m.Value, 1)})
	}
	return withMember(whole, "properties", trace.NewObject(kept...))
}

// clean returns what a schema says in the dialect. It takes any value: what is
// no schema allows everything.
func (d *dialect) clean(v trace.Value, depth int) trace.Value {
	out := trace.Value{Kind: trace.Object}
	if v.Kind != trace.Object || depth > schemaDepth {
		return out
	}
	set := func(name string, value trace.Value) {
		out.Members = append(out.Members, trace.Member{Name: name, Value: value})
	}
	types := typesOf(v)
	switch len(types) {
	case 0:
	case 1:
		set("type", trace.NewString(types[0]))
	default:
		set("type", texts(types))
	}
	if text, ok := v.Lookup("description"); ok && text.Kind == trace.String {
		set("description", text)
	}
	if list, ok := v.Lookup("enum"); ok {
		if kept, ok := d.enum(list); ok {
			set("enum", kept)
		}
	}
	for _, name := range d.keywords {
		if value, ok := v.Lookup(name); ok && wellFormed(name, value) {
			set(name, value)
		}
	}
	d.cleanObject(v, types, depth, set) // the last word on a member counts
	if len(types) == 0 || slices.Contains(types, "array") {
		items, ok := v.Lookup("items")
		if ok || slices.Contains(types, "array") { // some providers refuse arrays of nothing
			set("items", d.clean(items, depth+1))
		}
	}
	for _, name := range []string{"anyOf", "oneOf"} {
		if list, ok := v.Lookup(name); ok && list.Kind == trace.Array && len(list.Elems) > 0 {
			if name == "oneOf" && !slices.Contains(d.keywords, name) {
				if _, both := v.Lookup("anyOf"); both {
					continue
				}
				name = "anyOf"
			}
			branches := trace.Value{Kind: trace.Array}
			for _, e := range list.Elems {
				branches.Elems = append(branches.Elems, d.clean(e, depth+1))
			}
			set(name, branches)
		}
	}
	return trace.NewObject(out.Members...)
}

// cleanObject sets what a schema says of members. Where a name is none for the
// provider, nothing is said of any member.
func (d *dialect) cleanObject(v trace.Value, types []string, depth int, set func(string, trace.Value)) {
	properties, ok := v.Lookup("properties")
	if !ok || properties.Kind != trace.Object || len(types) > 0 && !slices.Contains(types, "object") {
		return
	}
	kept := make([]trace.Member, 0, len(properties.Members))
	for _, m := range properties.Members {
		if d.property != nil && !d.property.MatchString(m.Name) {
			set("additionalProperties", trace.Value{Kind: trace.Bool, Bool: true})
			return
		}
		kept = append(kept, trace.Member{Name: m.Name, Value: d.clean(m.Value, depth+1)})
	}
	set("properties", trace.NewObject(kept...))
	if required := requiredOf(v); len(required) > 0 {
		set("required", texts(required))
	}
	if closed, ok := v.Lookup("additionalProperties"); ok && closed.Kind == trace.Object {
		set("additionalProperties", d.clean(closed, depth+1))
	}
}

// enum returns the values of an enumeration, each once, and false if there are
// none or the provider, or any reader, does not take one of them.
func (d *dialect) enum(list trace.Value) (trace.Value, bool) {
	out := trace.Value{Kind: trace.Array}
	for _, e := range list.Elems {
		if !ordinary(e) || d.texts && e.Kind != trace.String && e.Kind != trace.Number {
			return out, false
		}
		if !slices.ContainsFunc(out.Elems, e.Equal) {
			out.Elems = append(out.Elems, e)
		}
	}
	return out, len(out.Elems) > 0
}

// wellFormed reports whether the value of a keyword is one that the keyword can
// have, and that does not stand for itself elsewhere.
func wellFormed(name string, v trace.Value) bool {
	switch name {
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum":
		return finite(v)
	case "multipleOf":
		return finite(v) && v.Text[0] != '-' && v.Text != "0" && v.Text != "0.0"
	case "minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties":
		n, err := strconv.ParseUint(v.Text, 10, 31)
		return v.Kind == trace.Number && err == nil && n < math.MaxInt32
	case "uniqueItems", "additionalProperties":
		return v.Kind == trace.Bool
	case "format":
		return v.Kind == trace.String
	case "const", "default":
		return ordinary(v)
	}
	return false
}

func finite(v trace.Value) bool {
	f, err := strconv.ParseFloat(v.Text, 64)
	return v.Kind == trace.Number && err == nil && !math.IsInf(f, 0)
}

// typesOf returns the types that a schema names, each once, without what is no
// type.
func typesOf(v trace.Value) []string {
	types, _ := v.Lookup("type")
	if types.Kind == trace.String {
		types.Elems = []trace.Value{types}
	}
	var out []string
	for _, e := range types.Elems {
		if e.Kind == trace.String && slices.Contains(jsonTypes, e.Text) && !slices.Contains(out, e.Text) {
			out = append(out, e.Text)
		}
	}
	return out
}

// requiredOf returns the properties that a schema wants, each once, as far as it
// has them.
func requiredOf(v trace.Value) []string {
	required, _ := v.Lookup("required")
	properties, _ := v.Lookup("properties")
	var out []string
	for _, e := range required.Elems {
		if _, known := properties.Lookup(e.Text); known && e.Kind == trace.String && !slices.Contains(out, e.Text) {
			out = append(out, e.Text)
		}
	}
	return out
}

func texts(list []string) trace.Value {
	out := trace.Value{Kind: trace.Array}
	for _, s := range list {
		out.Elems = append(out.Elems, trace.NewString(s))
	}
	return out
}

// withMember returns an object with a member set.
func withMember(v trace.Value, name string, member trace.Value) trace.Value {
	return trace.NewObject(append(slices.Clone(v.Members), trace.Member{Name: name, Value: member})...)
}

// shortened returns at most so many characters of a text.
func shortened(text string, limit int) string {
	if utf8.RuneCountInString(text) <= limit {
		return text
	}
	return string([]rune(text)[:limit-1]) + "…"
}
