package emit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/metatool/execute"
	"github.com/awo-dev/awo/trace"
)

// breakers are texts that some language takes for something else.
var breakers = []string{
	"", " ", "'", "\"", "\\", "\\'", "'''", `"""`, "`", "${x}", "\n", "\r\n", "\u2028", "\u2029", "\x00", "\x1b[2J", "\u202e", "\ufeff", "\U0001F600", "\uffff",
	"</script>", "<!--", "-->", "*/", "/*", "//", "#", "# -*- coding: latin-1 -*-", "%s", "{0}", "{{", "\\u0027", "\\x27", "\\N{APOSTROPHE}", "__proto__",
	"constructor", "toString", "hasOwnProperty", "toJSON", "then", "length", "@TOOLS@", "@STUBS@", "$&", "$1", "\u0085x\u00a0", "\x1cx", "' + exit() + '",
	"'); process.exit(1); ('", "\ufffd",
}

// members are few, so that paths find what results hold.
var members = []string{"a", "b", "__proto__", "\U0001F600", "\uffff", "it's"}

func anyText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.SampledFrom(breakers), rapid.String(), rapid.SampledFrom([]string{"x", "y", "5", " 7.0 ", "1e3", "-0", "12345678901234567890"}))
}

var numbers = []string{
	"0", "-0", "-0.0", "1", "1.0", "-1", "7", "7.0", "1e3", "1000", "0.5", "1e-4", "1e-5", "1.5e-7", "123456.789", "9007199254740991", "9007199254740993",
	"12345678901234567890", "1e15", "1e16", "10000000000000000", "1.5e16", "1e20", "1e21", "1.5e300", "5e-324", "1152921504606846976.0",
}

func anyValue(depth int) *rapid.Generator[trace.Value] {
	return rapid.Custom(func(t *rapid.T) trace.Value {
		switch n := rapid.IntRange(0, 8).Draw(t, "kind"); {
		case n == 0:
			return rapid.SampledFrom([]trace.Value{{}, {Kind: trace.Bool}, {Kind: trace.Bool, Bool: true}}).Draw(t, "word")
		case n <= 2:
			return parsed(rapid.SampledFrom(numbers).Draw(t, "number"))
		case n == 3 || depth == 0:
			return trace.NewString(anyText().Draw(t, "text"))
		case n == 4: // JSON in a text, in blanks, perhaps broken
			text := string(anyValue(depth-1).Draw(t, "inner").AppendCanonical(nil))
			wrap := rapid.SampledFrom([]string{"@", " @\n", "\u00a0@\u3000", "\x1c@", "@]", "[@]", `["\ud800",@]`, `{"a":@,"a":@}`}).Draw(t, "wrap")
			return trace.NewString(strings.ReplaceAll(wrap, "@", text))
		case n <= 6:
			return trace.Value{Kind: trace.Array, Elems: rapid.SliceOfN(anyValue(depth-1), 0, 3).Draw(t, "elems")}
		}
		var list []trace.Member
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(members), 0, 4, rapid.ID).Draw(t, "names") {
			list = append(list, trace.Member{Name: name, Value: anyValue(depth-1).Draw(t, "member")})
		}
		return trace.NewObject(list...)
	})
}

func parsed(text string) trace.Value {
	v, err := trace.ParseValue([]byte(text))
	if err != nil {
		panic(err)
	}
	return v
}

func anyPath(open bool) *rapid.Generator[jsonpath.Path] {
	return rapid.Custom(func(t *rapid.T) jsonpath.Path {
		path := jsonpath.Path{}
		for range rapid.IntRange(0, 2).Draw(t, "steps") {
			switch rapid.IntRange(0, 3).Draw(t, "step") {
			case 0, 1:
				path = append(path, jsonpath.Step{Kind: jsonpath.Member, Name: rapid.SampledFrom(members).Draw(t, "name")})
			case 2:
				path = append(path, jsonpath.Step{Kind: jsonpath.Index, Index: rapid.IntRange(0, 2).Draw(t, "index")})
			default:
				path = append(path, jsonpath.Step{Kind: jsonpath.Each})
			}
		}
		if open || rapid.IntRange(0, 3).Draw(t, "filter") == 0 {
			filter := jsonpath.Step{Kind: jsonpath.Filter, Name: rapid.SampledFrom(members).Draw(t, "key"), Open: open}
			if !open {
				filter.Value = anyValue(0).Draw(t, "value")
			}
			path = append(path, filter)
			if rapid.Bool().Draw(t, "behind") {
				path = append(path, jsonpath.Step{Kind: jsonpath.Member, Name: rapid.SampledFrom(members).Draw(t, "name")})
			}
		}
		return path
	})
}

func anyBinding(tool *metatool.Tool, step, depth int) *rapid.Generator[metatool.Binding] {
	return rapid.Custom(func(t *rapid.T) metatool.Binding {
		b := metatool.Binding{Coerce: metatool.Coercion(max(0, rapid.IntRange(-3, 2).Draw(t, "coerce")))}
		switch n := rapid.IntRange(0, 6).Draw(t, "binding"); {
		case n == 1 && len(tool.Inputs) > 0:
			b.Kind, b.Input = metatool.BindInput, tool.Inputs[rapid.IntRange(0, len(tool.Inputs)-1).Draw(t, "input")].Name
		case n >= 2 && n <= 4 && step > 0:
			b.Kind, b.Step = metatool.BindStep, rapid.IntRange(0, step-1).Draw(t, "from")
			keyed := depth > 0 && rapid.Bool().Draw(t, "keyed")
			b.Path = anyPath(keyed).Draw(t, "path")
			if keyed {
				key := anyBinding(tool, step, depth-1).Draw(t, "key")
				b.Key = &key
			}
		case n == 5:
			b.Kind, b.Path = metatool.BindElement, anyPath(false).Draw(t, "path")
		case n == 6 && depth > 0:
			b.Kind = metatool.BindTemplate
			b.Parts = rapid.SliceOfN(anyBinding(tool, step, depth-1), 1, 2).Draw(t, "parts")
			pieces := rapid.SliceOfN(anyText(), len(b.Parts)+1, len(b.Parts)+1).Draw(t, "pieces")
			for i := range pieces {
				pieces[i] = strings.ReplaceAll(pieces[i], jsonpath.Hole, "")
			}
			b.Template = strings.Join(pieces, jsonpath.Hole)
		default:
			b.Const = anyValue(1).Draw(t, "const")
		}
		return b
	})
}

// awkward are names that mean something in a language or in the modules.
var awkward = []string{
	"class", "None", "await", "run", "run_async", "_engine", "list", "str", "default", "function", "metaTools", "parse", "call_tool", "options", "__debug__",
	"print", "Outcome", "callTool", "constructor", "__proto__", "names", "self", "json", "eval", "arguments", "any", "a-b",
}

// anyTool is a meta-tool as it could be, with names and values as they should not.
func anyTool(name string) *rapid.Generator[*bind.Definition] {
	return rapid.Custom(func(t *rapid.T) *bind.Definition {
		d := &bind.Definition{Candidate: &candidate.Candidate{}}
		tool := &d.Tool
		tool.Name, tool.Description = name, anyText().Draw(t, "description")+anyText().Draw(t, "more")
		identifier := rapid.OneOf(rapid.SampledFrom(awkward[:len(awkward)-1]), rapid.StringMatching(`[A-Za-z_][A-Za-z0-9_]{0,9}`))
		for _, name := range rapid.SliceOfNDistinct(identifier, 0, 3, rapid.ID).Draw(t, "inputs") {
			schema := rapid.SampledFrom([]string{`{}`, `{}`, `{}`, `{"type":"string"}`, `{"type":["string","integer"]}`, `{"type":"number"}`, `{"type":"odd"}`, `{"type":["array",7]}`, `true`})
			tool.Inputs = append(tool.Inputs, metatool.Input{Name: name, Required: rapid.Bool().Draw(t, "required"), Schema: parsed(schema.Draw(t, "schema"))})
		}
		easy := rapid.Bool().Draw(t, "easy") // gets further
		for i := range rapid.IntRange(1, 4).Draw(t, "steps") {
			step := metatool.Step{
				Tool: anyText().Draw(t, "tool"), ReadOnly: easy || rapid.Bool().Draw(t, "reads"), Idempotent: rapid.Bool().Draw(t, "idempotent"),
				Instead: rapid.SliceOfN(anyText(), 0, 2).Draw(t, "instead"),
			}
			switch {
			case i > 0 && rapid.IntRange(0, 2).Draw(t, "each") == 0:
				step.Each = &metatool.Binding{Kind: metatool.BindStep, Step: rapid.IntRange(0, i-1).Draw(t, "list"), Path: jsonpath.Path{{Kind: jsonpath.Each}}}
				if rapid.Bool().Draw(t, "inside") {
					step.Each.Path = append(anyPath(false).Draw(t, "path"), step.Each.Path...)
				}
			case rapid.IntRange(0, 5).Draw(t, "list") == 0:
				b := anyBinding(tool, i, 1).Draw(t, "each")
				step.Each = &b
			}
			for _, arg := range rapid.SliceOfNDistinct(rapid.OneOf(anyText(), rapid.SampledFrom(members)), 0, 3, rapid.ID).Draw(t, "args") {
				step.Args = append(step.Args, metatool.Argument{
					Name: arg, Binding: anyBinding(tool, i, 2).Draw(t, "binding"), Optional: easy || rapid.IntRange(0, 3).Draw(t, "optional") > 0,
				})
			}
			slices.SortFunc(step.Args, func(a, b metatool.Argument) int { return strings.Compare(a.Name, b.Name) })
			if !easy && rapid.IntRange(0, 3).Draw(t, "expects") == 0 {
				step.Expect = []metatool.Expectation{{Path: anyPath(false).Draw(t, "expect")}}
			}
			tool.Steps = append(tool.Steps, step)
		}
		for i := range tool.Steps {
			if rapid.Bool().Draw(t, "returned") {
				tool.Output.Steps = append(tool.Output.Steps, i)
			}
		}
		return d
	})
}

// answers is a tool server that answers by turns.
type answers []answer

type answer struct {
	value  trace.Value
	failed bool
	err    error
}

func (a answers) caller() execute.Caller {
	next := 0
	return execute.CallerFunc(func(context.Context, string, trace.Value) (execute.Result, error) {
		one := a[next%len(a)]
		next++
		out := execute.Result{Value: one.value, Status: trace.StatusOK}
		if one.failed {
			out.Status = trace.StatusFailed
		}
		if one.err != nil {
			return execute.Result{}, one.err
		}
		return out, nil
	})
}

func anyAnswers() *rapid.Generator[answers] {
	return rapid.Custom(func(t *rapid.T) answers {
		out := answers{}
		luck := rapid.SampledFrom([]int{4, 14, 14}).Draw(t, "luck")
		for range rapid.IntRange(1, 6).Draw(t, "answers") {
			one := answer{value: anyValue(3).Draw(t, "answer")}
			if rapid.IntRange(0, 2).Draw(t, "list") == 0 {
				one.value = trace.Value{Kind: trace.Array, Elems: rapid.SliceOfN(anyValue(2), 0, 4).Draw(t, "elements")}
			}
			if len(out) == 0 && luck == 4 { // a list, and then trouble with its elements
				out = append(out, answer{value: trace.Value{Kind: trace.Array, Elems: []trace.Value{parsed("1"), parsed("1.0"), parsed("2"), parsed(`"3"`)}}})
			}
			switch rapid.IntRange(0, luck).Draw(t, "ends") {
			case 0:
				one.failed = true
			case 1:
				one.err = errors.New("broken")
			case 2:
				one.err = context.DeadlineExceeded
			}
			out = append(out, one)
		}
		return out
	})
}

// anySession runs a tool with inputs that mostly fit.
func anySession(tool *bind.Definition) *rapid.Generator[*session] {
	return rapid.Custom(func(t *rapid.T) *session {
		var inputs []trace.Member
		for i := range tool.Inputs {
			switch n := rapid.IntRange(0, 9).Draw(t, "given"); {
			case n == 0:
			case n == 1:
				inputs = append(inputs, trace.Member{Name: tool.Inputs[i].Name})
			default:
				v := anyValue(2).Draw(t, "input")
				switch types, _ := tool.Inputs[i].Schema.Lookup("type"); {
				case n == 2:
				case types.Text == "string" || types.Kind == trace.Array:
					v = trace.NewString(anyText().Draw(t, "text"))
				case types.Text == "number":
					v = parsed(rapid.SampledFrom(numbers).Draw(t, "number"))
				}
				inputs = append(inputs, trace.Member{Name: tool.Inputs[i].Name, Value: v})
			}
		}
		if rapid.IntRange(0, 30).Draw(t, "unknown") == 0 {
			inputs = append(inputs, trace.Member{Name: anyText().Draw(t, "name")})
		}
		return &session{
			tool: tool, inputs: trace.NewObject(inputs...), caller: anyAnswers().Draw(t, "answers").caller,
			options: execute.Options{
				MaxCalls: rapid.SampledFrom([]int{0, 0, 0, 2, 5}).Draw(t, "max"), Retries: rapid.IntRange(-1, 2).Draw(t, "retries"), SkipFailedReads: rapid.Bool().Draw(t, "skip"),
			},
		}
	})
}

// TestModulesAndHostileTools runs the emitted modules with meta-tools, inputs and
// answers that are as odd as they can be.
func TestModulesAndHostileTools(t *testing.T) {
	var tools []*bind.Definition
	for i := range 400 {
		name := fmt.Sprintf("tool_%d", i)
		if i < len(awkward) {
			name = awkward[i]
		}
		tools = append(tools, anyTool(name).Example(i))
	}
	all := programs(t, tools)
	states := map[string]int{}
	for i, tool := range tools {
		for j := range 8 {
			s := anySession(tool).Example(i*100 + j)
			want, same := s.compare(t, all)
			if !same {
				t.Fatalf("example %d of tool %d", j, i)
			}
			states[stateOf(t, want)]++
			states[codeOf(t, want)]++
		}
	}
	t.Log(states)
	for _, end := range []string{
		string(execute.Done), string(execute.Partial), execute.CodeBadInput, execute.CodeNothingBound, execute.CodeCallFailed, execute.CodeNoAnswer,
		execute.CodeDeadline, execute.CodeUnexpected, execute.CodeTooManyCalls,
	} {
		if states[end] < 10 {
			t.Errorf("only %d runs end as %s", states[end], end)
		}
	}
}

func codeOf(t *testing.T, outcome string) string {
	t.Helper()
	failure, _ := parsed(outcome).Lookup("failure")
	code, _ := failure.Lookup("code")
	return code.Text
}
