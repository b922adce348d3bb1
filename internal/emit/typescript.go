package emit

import (
	_ "embed"
	"fmt"
	"strings"
	"unicode"

	"github.com/awo-dev/awo/metatool/bind"
)

//go:embed runtime/metatools.ts
var typeScriptRuntime string

// TypeScript emits a module that runs the meta-tools over a function of the user's
// that makes single calls: what package execute does, in TypeScript.
var TypeScript = Emitter{
	Name:  "metatools.ts",
	Doc:   "a TypeScript module that runs the meta-tools over a callTool of the user's",
	Needs: MetaTool,
	Emit: func(in Results) ([]File, error) {
		return []File{module("metatools.ts", typeScriptRuntime, in, 2, typeScriptWords, typeScriptStub)}, nil
	},
}

// typeScriptWords are those that no constant of a module can be called, or that
// would hide what the runtime uses.
const typeScriptWords = `abstract any arguments as async await bigint boolean break case catch class const continue debugger declare default delete
do else enum eval export extends false finally for from function get if implements import in infer instanceof interface is keyof let module
namespace never new null number object of package private protected public readonly require return set static string super switch symbol this
throw true try type typeof undefined unknown var void while with yield globalThis NaN Infinity Array Object String Number Boolean Symbol BigInt
Map Set JSON Math Reflect RegExp Promise Error TypeError exports __proto__ constructor`

// typeScriptStub appends a function for a meta-tool.
func typeScriptStub(dst []byte, function string, t *bind.Definition) []byte {
	var members []string
	for i := range t.Inputs {
		in := &t.Inputs[i]
		mark, null := "", ""
		if !in.Required {
			mark, null = "?", " | null"
		}
		members = append(members, string(appendLiteral(nil, in.Name))+mark+": "+typeNames(in, typeScriptTypes, " | ", "Json")+null)
	}
	inputs := "{}"
	if len(members) > 0 {
		inputs = "{ " + strings.Join(members, "; ") + " }"
	}
	dst = append(dst, "\n/**\n"...)
	for line := range strings.Lines(printableText(t.Description)) {
		line = strings.ReplaceAll(strings.TrimRight(line, "\n"), "*/", "* /")
		dst = append(dst, strings.TrimRight(" * "+line, " ")+"\n"...)
	}
	return fmt.Appendf(dst, " */\nexport const %s: (callTool: CallTool, inputs: %s, options?: Options) => Promise<Outcome> = (callTool, inputs, options) =>\n  run(%s, inputs, callTool, options);\n",
		function, inputs, appendLiteral(nil, t.Name))
}

var typeScriptTypes = map[string]string{
	"array": "Json[]", "boolean": "boolean", "integer": "number | bigint", "null": "null", "number": "number | bigint",
	"object": "{ [name: string]: Json }", "string": "string",
}

// printableText returns a text with a blank for everything that cannot be seen, but
// for the ends of lines.
func printableText(text string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
}
