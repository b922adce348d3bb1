package emit

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/bind"
)

//go:embed runtime/metatools.py
var pythonRuntime string

// Python emits a module that runs the meta-tools over a function of the user's that
// makes single calls: what package execute does, in Python. Names and values of the
// traces are in it only as JSON inside literals of plain ASCII.
var Python = Emitter{
	Name:  "metatools.py",
	Doc:   "a Python module that runs the meta-tools over a call_tool of the user's",
	Needs: MetaTool,
	Emit: func(in Results) ([]File, error) {
		return []File{module("metatools.py", pythonRuntime, in, 8, pythonWords, pythonStub)}, nil
	},
}

// module puts the meta-tools and functions for them into the text of a module.
func module(name, runtime string, in Results, indent int, words string, stub func([]byte, string, *bind.Definition) []byte) File {
	var tools, stubs []byte
	functions := newNamer(runtime, words)
	for i, t := range in.Tools {
		if i > 0 {
			tools = append(tools, '\n')
		}
		tools = append(tools, strings.Repeat(" ", indent)...)
		tools = append(appendJSONLiteral(tools, program(&t.Tool)), ',')
		stubs = stub(stubs, functions.of(t.Name, "_async"), t)
	}
	text, after, _ := strings.Cut(runtime, "@TOOLS@\n")
	if len(tools) > 0 {
		tools = append(tools, '\n')
	}
	return File{Name: name, Data: []byte(text + string(tools) + strings.Replace(after, "@STUBS@", string(stubs), 1))}
}

// pythonWords are those that no function or parameter can be called, or that the
// functions use.
const pythonWords = `False None True and as assert async await break class continue def del elif else except finally for from global if import in is
lambda nonlocal not or pass raise return try while with yield __debug__ __name__ __doc__ __file__ __builtins__ __import__ __build_class__`

// pythonStub appends two functions for a meta-tool, with its inputs as parameters.
func pythonStub(dst []byte, function string, t *bind.Definition) []byte {
	parameters := newNamer("call_tool options run run_async", pythonWords)
	var required, optional, given []string
	for i := range t.Inputs {
		in := &t.Inputs[i]
		p := parameters.of(in.Name)
		kind := typeNames(in, pythonTypes, " | ", "object")
		given = append(given, string(appendLiteral(nil, in.Name))+": "+p)
		if in.Required {
			required = append(required, p+": "+kind)
		} else {
			optional = append(optional, p+": "+kind+" | None = None")
		}
	}
	signature := "call_tool"
	if all := append(required, optional...); len(all) > 0 {
		signature += ", *, " + strings.Join(all, ", ")
	}
	for _, form := range []struct{ def, name, run string }{{"def ", function, "run"}, {"async def ", function + "_async", "await run_async"}} {
		dst = fmt.Appendf(dst, "\n\n%s%s(%s, **options) -> Outcome:\n    (\n", form.def, form.name, signature)
		for line := range strings.Lines(printableText(t.Description) + "\n") {
			dst = append(append(append(dst, "        "...), appendPythonLiteral(nil, line)...), '\n')
		}
		dst = fmt.Appendf(dst, "    )\n    return %s(%s, {%s}, call_tool, **options)\n", form.run, appendLiteral(nil, t.Name), strings.Join(given, ", "))
	}
	return dst
}

// appendPythonLiteral appends a text of any characters as a literal.
func appendPythonLiteral(dst []byte, text string) []byte {
	dst = append(dst, '\'')
	for _, r := range text {
		switch one := appendLiteral(nil, string(r)); {
		case r >= 0x10000:
			dst = fmt.Appendf(dst, `\U%08x`, r)
		default:
			dst = append(dst, one[1:len(one)-1]...)
		}
	}
	return append(dst, '\'')
}

var pythonTypes = map[string]string{
	"array": "list", "boolean": "bool", "integer": "int", "null": "None", "number": "float", "object": "dict", "string": "str",
}

// typeNames returns the types of an input in a language.
func typeNames(in *metatool.Input, names map[string]string, or, anything string) string {
	var out []string
	for _, t := range checkedTypes(in.Schema) {
		if !slices.Contains(out, names[t]) {
			out = append(out, names[t])
		}
	}
	if len(out) == 0 {
		return anything
	}
	return strings.Join(out, or)
}
