package emit

import (
	_ "embed"
	"fmt"
	"strings"

	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/prefetch/stored"
	"github.com/awo-dev/awo/trace"
)

// Prefetch emits the prefetch rules, if there are any.
var Prefetch = Emitter{
	Name: stored.Name,
	Doc:  "prefetch rules: which reads usually follow from an answer, and what that rests on",
	Emit: func(in Results) ([]File, error) {
		if !in.readsAhead() {
			return nil, nil
		}
		data, err := in.Prefetch.Encode()
		return []File{{Name: stored.Name, Data: data}}, err
	},
}

//go:embed runtime/prefetch.py
var prefetchPython string

// PrefetchPython emits a module that reads ahead: what package prefetch does, in Python.
var PrefetchPython = Emitter{
	Name: "prefetch.py",
	Doc:  "a Python module that reads ahead for a call_tool of the user's",
	Emit: func(in Results) ([]File, error) {
		shared, err := shared(pythonRuntime, [2]string{"def _content(", "def _bindable("}, [2]string{"def _select(", "def _is_type("})
		if err != nil {
			return nil, err
		}
		return in.prefetchModule("prefetch.py", prefetchPython, "    ", shared)
	},
}

//go:embed runtime/prefetch.ts
var prefetchTypeScript string

// PrefetchTypeScript emits a module that reads ahead: what package prefetch does, in
// TypeScript.
var PrefetchTypeScript = Emitter{
	Name: "prefetch.ts",
	Doc:  "a TypeScript module that reads ahead for a callTool of the user's",
	Emit: func(in Results) ([]File, error) {
		shared, err := shared(typeScriptRuntime, [2]string{"/** content returns", "/** bindable returns"}, [2]string{"/** select returns", "const isType:"})
		if err != nil {
			return nil, err
		}
		return in.prefetchModule("prefetch.ts", prefetchTypeScript, "  ", shared)
	},
}

// shared returns the parts of a runtime that both kinds of modules hold.
func shared(runtime string, marks ...[2]string) (string, error) {
	out := ""
	for _, m := range marks {
		part, err := between(runtime, m[0], m[1])
		if err != nil {
			return "", err
		}
		out += part
	}
	return out, nil
}

// between returns the part of a text from one mark to another: what modules share of
// reading JSON is written once. A mark that is not there once is an error, and no module.
func between(text, from, to string) (string, error) {
	if strings.Count(text, from) != 1 || strings.Count(text, to) != 1 {
		return "", fmt.Errorf("%q or %q is not there once: what modules share is not found", from, to)
	}
	_, after, _ := strings.Cut(text, from)
	part, _, found := strings.Cut(after, to)
	if !found {
		return "", fmt.Errorf("%q stands before %q: what modules share is not found", to, from)
	}
	return from + part, nil
}

// readsAhead reports whether there are prefetch rules.
func (in *Results) readsAhead() bool { return in.Prefetch != nil && len(in.Prefetch.Set.Rules) > 0 }

// prefetchModule puts rules into the text of a module. Names and values of the traces
// are in it only as JSON inside literals of plain ASCII.
func (in *Results) prefetchModule(name, runtime, indent, shared string) ([]File, error) {
	if !in.readsAhead() {
		return nil, nil
	}
	set := &in.Prefetch.Set
	reads := trace.Value{Kind: trace.Array}
	for _, tool := range set.Reads {
		reads.Elems = append(reads.Elems, trace.NewString(tool))
	}
	var rules []string
	for i := range set.Rules {
		rule, ok := prefetchProgram(&set.Rules[i])
		if !ok {
			continue // a constant that other languages cannot hold
		}
		rules = append(rules, indent+string(appendJSONLiteral(nil, rule))+",")
	}
	return []File{{Name: name, Data: []byte(strings.NewReplacer(
		"@SHARED@\n", shared,
		"@READS@", indent+string(appendJSONLiteral(nil, reads)),
		"@RULES@", strings.Join(rules, "\n"),
	).Replace(runtime))}}, nil
}

// prefetchProgram returns a rule as modules read it, false if they cannot.
func prefetchProgram(r *prefetch.Rule) (trace.Value, bool) {
	element, value := r.Source.Split()
	elements, ok := programPath(element)
	inside, also := programPath(value)
	ok = ok && also
	others := list()
	for i := range r.Target.Others {
		o := &r.Target.Others[i]
		given := o.Constant
		if o.Origin == prefetch.FromConstant {
			ok = ok && ordinary(given)
		} else if given, also = programPath(o.Path); !also {
			ok = false
		}
		others.Elems = append(others.Elems, list(trace.NewString(o.Argument), trace.NewString(string(o.Origin)), given))
	}
	pattern, slots := "", list()
	if r.Source.Kind == prefetch.KindUser {
		text, err := prefetch.Pattern(r.Source.Slots)
		if err != nil {
			return trace.Value{}, false
		}
		pattern = text
		for i := range r.Source.Slots {
			s := &r.Source.Slots[i]
			slots.Elems = append(slots.Elems, trace.NewObject(
				member("argument", trace.NewString(s.Argument)), member("number", trace.Value{Kind: trace.Bool, Bool: s.Number}), member("not", texts(s.Not)),
			))
		}
	}
	return trace.NewObject(
		member("kind", trace.NewString(r.Source.Kind.String())), member("pattern", trace.NewString(pattern)), member("slots", slots), member("trust", texts(r.Source.Trust)),
		member("alone", trace.Value{Kind: trace.Bool, Bool: r.When.Alone}),
		member("source", trace.NewString(r.Source.Tool)), member("list", elements), member("value", inside),
		member("target", trace.NewString(r.Target.Tool)), member("argument", trace.NewString(r.Target.Argument)), member("others", others),
		member("turn", trace.NewString(string(r.When.Turn))), member("last", trace.NewString(string(r.When.Last))),
		member("most", number(r.MaxElements)), member("depth", number(r.Depth)),
	), ok
}
