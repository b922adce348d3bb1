package emit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

// What the emitted modules run: a meta-tool as a JSON value that is read in a few
// lines of any language, paths and templates already taken apart.

func list(elems ...trace.Value) trace.Value { return trace.Value{Kind: trace.Array, Elems: elems} }

func flag(b bool) trace.Value { return trace.Value{Kind: trace.Bool, Bool: b} }

func number(n int) trace.Value { return trace.Value{Kind: trace.Number, Text: fmt.Sprint(n)} }

func member(name string, v trace.Value) trace.Member { return trace.Member{Name: name, Value: v} }

// program returns a meta-tool as the modules read it.
func program(t *metatool.Tool) trace.Value {
	inputs, steps, returns := list(), list(), list()
	for i := range t.Inputs {
		in := &t.Inputs[i]
		inputs.Elems = append(inputs.Elems, trace.NewObject(
			member("name", trace.NewString(in.Name)), member("required", flag(in.Required)), member("types", texts(checkedTypes(in.Schema)))))
	}
	for i := range t.Steps {
		steps.Elems = append(steps.Elems, programStep(&t.Steps[i]))
	}
	for i := range t.Steps {
		if t.Output.Returns(i) {
			returns.Elems = append(returns.Elems, number(i))
		}
	}
	return trace.NewObject(member("name", trace.NewString(t.Name)), member("inputs", inputs), member("steps", steps), member("returns", returns))
}

// checkedTypes returns the types of which an input has to be, none if any will do:
// what package execute checks. A type that JSON Schema does not have allows all.
func checkedTypes(schema trace.Value) []string {
	types, _ := schema.Lookup("type")
	known := typesOf(schema)
	if types.Kind == trace.Array && slices.ContainsFunc(types.Elems, func(e trace.Value) bool { return !slices.Contains(known, e.Text) }) {
		return nil
	}
	return known
}

func programStep(s *metatool.Step) trace.Value {
	args, expect := list(), list()
	for i := range s.Args {
		a := &s.Args[i]
		args.Elems = append(args.Elems, list(trace.NewString(a.Name), flag(a.Optional), programBinding(&a.Binding), texts(checkedTypes(a.Schema))))
	}
	for _, e := range s.Expect {
		path, ok := programPath(e.Path)
		if !ok {
			path = list(list(trace.NewString("open"), trace.NewString(""))) // selects nothing
		}
		expect.Elems = append(expect.Elems, path)
	}
	var each trace.Value
	if s.Each != nil {
		each = programBinding(s.Each)
	}
	members := []trace.Member{
		member("tool", trace.NewString(s.Tool)), member("read_only", flag(s.ReadOnly)), member("idempotent", flag(s.Idempotent)),
		member("each", each), member("args", args), member("expect", expect),
	}
	if len(s.Instead) > 0 {
		members = append(members, member("instead", texts(s.Instead)))
	}
	return trace.NewObject(members...)
}

// nothing is a binding that gives no value.
func nothing() trace.Value {
	return trace.NewObject(member("kind", trace.NewString("step")), member("step", number(1<<30)), member("path", list()))
}

func programBinding(b *metatool.Binding) trace.Value {
	members := []trace.Member{member("kind", trace.NewString(b.Kind.String()))}
	switch b.Kind {
	case metatool.BindConst:
		if !ordinary(b.Const) {
			return nothing()
		}
		members = append(members, member("const", b.Const))
	case metatool.BindInput:
		members = append(members, member("input", trace.NewString(b.Input)))
	case metatool.BindStep, metatool.BindElement:
		path, ok := programPath(b.Path)
		if !ok || b.Kind == metatool.BindStep && b.Step < 0 {
			return nothing()
		}
		members = append(members, member("path", path))
		if b.Kind == metatool.BindStep {
			members = append(members, member("step", number(b.Step)))
		}
	case metatool.BindTemplate:
		parts := list()
		for i := range b.Parts {
			parts.Elems = append(parts.Elems, programBinding(&b.Parts[i]))
		}
		members = append(members, member("template", texts(strings.Split(b.Template, jsonpath.Hole))), member("parts", parts))
	}
	if b.Key != nil && (b.Kind == metatool.BindStep || b.Kind == metatool.BindElement) {
		members = append(members, member("key", programBinding(b.Key)))
	}
	switch b.Coerce {
	case metatool.CoerceString:
		members = append(members, member("coerce", trace.NewString("string")))
	case metatool.CoerceNumber:
		members = append(members, member("coerce", trace.NewString("number")))
	}
	return trace.NewObject(members...)
}

// programPath returns the steps of a path as lists, false if it holds a value
// that other languages cannot.
func programPath(p jsonpath.Path) (trace.Value, bool) {
	out := list()
	for _, s := range p {
		var one trace.Value
		switch {
		case s.Kind == jsonpath.Member:
			one = list(trace.NewString("member"), trace.NewString(s.Name))
		case s.Kind == jsonpath.Index:
			one = list(trace.NewString("index"), number(s.Index))
		case s.Kind == jsonpath.Each:
			one = list(trace.NewString("each"))
		case s.Open:
			one = list(trace.NewString("open"), trace.NewString(s.Name))
		case !ordinary(s.Value):
			return out, false
		default:
			one = list(trace.NewString("filter"), trace.NewString(s.Name), s.Value)
		}
		out.Elems = append(out.Elems, one)
	}
	return out, true
}

// maxDigits is how long numbers are that every runtime reads; Python's own limit
// is 4300.
const maxDigits = 4000

// ordinary reports whether all numbers in a value are finite doubles or integers of
// a length that every runtime reads.
func ordinary(v trace.Value) bool {
	if v.Kind == trace.Number && (len(v.Text) > maxDigits || strings.ContainsAny(v.Text, ".e") && !finite(v)) {
		return false
	}
	return !slices.ContainsFunc(v.Elems, func(e trace.Value) bool { return !ordinary(e) }) &&
		!slices.ContainsFunc(v.Members, func(m trace.Member) bool { return !ordinary(m.Value) })
}

// appendLiteral appends a text as a literal in single quotes that means the same in
// Python and TypeScript. Nothing but letters, digits, blanks and harmless signs
// stands for itself, so that it ends where it should whatever it is embedded in.
func appendLiteral(dst []byte, text string) []byte {
	dst = append(dst, '\'')
	for _, r := range text {
		switch {
		case r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune(" _-.,:;()[]{}=+|\"?!", r)):
			dst = append(dst, byte(r))
		case r == '\n':
			dst = append(dst, `\n`...)
		default:
			dst = appendUnits(dst, `\u`, r)
		}
	}
	return append(dst, '\'')
}

// appendUnits appends a character as escapes of its UTF-16 units. Python would take
// two halves for two characters, so in Python only JSON within a literal may hold
// those.
func appendUnits(dst []byte, escape string, r rune) []byte {
	if r < 0x10000 {
		return fmt.Appendf(dst, "%s%04x", escape, r)
	}
	r -= 0x10000
	return fmt.Appendf(dst, "%s%04x%s%04x", escape, 0xd800+r>>10, escape, 0xdc00+r&0x3ff)
}

// appendJSONLiteral appends a value as a literal that holds its JSON in plain ASCII.
func appendJSONLiteral(dst []byte, v trace.Value) []byte {
	dst = append(dst, '\'')
	for _, r := range string(v.AppendCanonical(nil)) {
		switch {
		case r == '\\': // JSON's own
			dst = append(dst, `\\`...)
		case r < utf8.RuneSelf && r >= ' ' && r != 0x7f && !strings.ContainsRune("'<>&`$/", r):
			dst = append(dst, byte(r))
		default:
			dst = appendUnits(dst, `\\u`, r)
		}
	}
	return append(dst, '\'')
}

var identifiers = regexp.MustCompile(`[A-Za-z_][A-Za-z0-9_]*`)

// namer gives out names that nothing else in a program has.
type namer struct{ taken map[string]bool }

// newNamer returns one for a program that has this text already, in a language with
// these words.
func newNamer(text, words string) *namer {
	n := &namer{taken: map[string]bool{}}
	for _, word := range append(identifiers.FindAllString(text, -1), strings.Fields(words)...) {
		n.taken[word] = true
	}
	return n
}

// of returns an identifier for a name, itself if that can be. With each of the
// endings it is one that nothing else has.
func (n *namer) of(name string, endings ...string) string {
	base := strings.Map(func(r rune) rune {
		if r == '_' || r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, name)
	if base == "" || unicode.IsDigit(rune(base[0])) {
		base = "_" + base
	}
	free := func(s string) bool {
		return !n.taken[s] && !slices.ContainsFunc(endings, func(e string) bool { return n.taken[s+e] })
	}
	unique := base
	for i := 2; !free(unique); i++ {
		unique = fmt.Sprintf("%s_%d", base, i)
	}
	n.taken[unique] = true
	for _, e := range endings {
		n.taken[unique+e] = true
	}
	return unique
}
