package emit_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/metatool/execute"
	"github.com/awo-dev/awo/trace"
)

func pathOf(t testing.TB, text string) jsonpath.Path {
	t.Helper()
	p, err := jsonpath.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// everyBinding is a meta-tool with an argument of every kind. Its name and those of
// its inputs mean something in every language.
func everyBinding(t testing.TB) *bind.Definition {
	step := func(path string) metatool.Binding {
		return metatool.Binding{Kind: metatool.BindStep, Path: pathOf(t, path)}
	}
	key := metatool.Binding{Kind: metatool.BindInput, Input: "from"}
	chosen := step("$.list[?@.name == ?].id")
	chosen.Key = &key
	text, count := step("$.count"), step("$.digits")
	text.Coerce, count.Coerce = metatool.CoerceString, metatool.CoerceNumber
	d := &bind.Definition{Candidate: &candidate.Candidate{}}
	d.Tool = metatool.Tool{
		Name: "class", Description: "It's a \"class\"; */ </script> ''' \\ \u2028 end.",
		Inputs: []metatool.Input{
			{Name: "from", Required: true, Schema: parsed(`{"type":"string"}`)},
			{Name: "call_tool", Schema: parsed(`{"type":["integer","boolean"]}`)},
		},
		Steps: []metatool.Step{
			{Tool: "find", ReadOnly: true, Instead: []string{"look", "it's"}, Expect: []metatool.Expectation{{Path: pathOf(t, "$.list[*].id")}}, Args: []metatool.Argument{
				{Name: "limit", Optional: true, Binding: metatool.Binding{Kind: metatool.BindInput, Input: "call_tool"}},
			}},
			{Tool: "read it's", ReadOnly: true, Each: &metatool.Binding{Kind: metatool.BindStep, Path: pathOf(t, "$.list[*]")}, Args: []metatool.Argument{
				{Name: "id", Binding: metatool.Binding{Kind: metatool.BindElement, Path: pathOf(t, "$.id")}},
			}},
			{Tool: "write", Args: []metatool.Argument{
				{Name: "big", Binding: step("$.big")},
				{Name: "chosen", Binding: chosen},
				{Name: "count", Binding: count},
				{Name: "fixed", Binding: metatool.Binding{Kind: metatool.BindConst, Const: parsed(`{"__proto__":[true,null,1.5,"'''"]}`)}},
				{Name: "inner", Binding: step("$.wrapped.x[1]")},
				{Name: "text", Binding: text},
				{Name: "words", Binding: metatool.Binding{Kind: metatool.BindTemplate, Template: "Re: " + jsonpath.Hole + " (" + jsonpath.Hole + ")", Parts: []metatool.Binding{key, step("$.count")}}},
			}},
		},
		Output: metatool.Output{Steps: []int{1, 2}},
	}
	return d
}

const found = `{"list":[{"id":1,"name":"a"},{"id":2,"name":"b"},{"id":1.0,"name":"a"}],"count":7.0,"digits":" 12345678901234567890 ","big":98765432109876543210,"wrapped":"\n{\"x\":[0,\"in\"]}"}`

const wrote = `"write"{"big":98765432109876543210,"chosen":2,"count":12345678901234567890,"fixed":{"__proto__":[true,null,1.5,"'''"]},"inner":"in","text":"7","words":"Re: b (7)"}`

// TestModulesEveryBinding passes a value through every kind of binding.
func TestModulesEveryBinding(t *testing.T) {
	tool := everyBinding(t)
	all := programs(t, []*bind.Definition{tool})
	server := answers{{value: parsed(found)}, {value: parsed(`"r"`)}, {value: parsed(`"s"`)}, {value: parsed(`{"ok":true}`)}}
	for _, inputs := range []string{`{"from":"b"}`, `{"from":"b","call_tool":null}`, `{"from":"b","call_tool":true}`, `{"from":"b","call_tool":7.0}`, `{"from":"a","call_tool":7.5}`, `{}`} {
		s := session{tool: tool, inputs: parsed(inputs), caller: server.caller}
		outcome, _ := s.compare(t, all)
		_, calls := s.want(t)
		if !strings.Contains(inputs, `"b"`) {
			continue
		}
		if stateOf(t, outcome) != string(execute.Done) || len(calls) != 4 || calls[3] != wrote || calls[1] != `"read it's"{"id":1}` {
			t.Errorf("%s: %s\n%s", inputs, strings.Join(calls, "\n"), outcome)
		}
	}
}

const pythonUse = `
import asyncio, json, sys
sys.path.insert(0, sys.argv[1])
import metatools

found = json.loads(sys.argv[2])
def call_tool(name, args):
    return found if name == "find" else {"n": name}

assert metatools.names() == ["class"]
out = metatools.class_2(call_tool, from_2="b", call_tool_2=None)
assert out.state == "done" and [list(step) for step in out.value()] == [["read it's"], ["write"]], out.as_dict()
assert json.loads(out.text()) == out.as_dict() == {"results": out.value()}
assert "</script>" in metatools.class_2.__doc__ and "'''" in metatools.class_2.__doc__
json.dumps(out.as_dict())

async def later(name, args):
    return call_tool(name, args)
out = asyncio.run(metatools.class_2_async(later, from_2="b"))
assert out.state == "done"

try:
    metatools.run("class", {"from": "b"}, later)
    raise SystemExit("an asynchronous call_tool was taken")
except TypeError:
    pass

def broken(name, args):
    if name == "write":
        raise OSError("gone")
    return call_tool(name, args)
out = metatools.class_2(broken, from_2="b")
assert out.state == "handed-back" and "failure" in out.as_dict() and not out.safe_to_retry and out.failure["code"] == "no-answer", out.as_dict()
assert [s["tool"] for s in out.steps] == ["find", "read it's", "write"] and out.failure["message"] == "OSError: gone"
try:
    out.value()
    raise SystemExit("what was handed back has a value")
except metatools.HandedBack as back:
    assert back.outcome is out

for odd in (float("nan"), {1: 2}, {"a": object()}, 10**5000):
    out = metatools.class_2(lambda name, args: odd, from_2="b")
    assert out.failure["code"] == "no-answer" and out.steps[0]["calls"][0]["tries"] == 2, out.as_dict()
assert metatools.class_2(call_tool, from_2="b", seconds=-1).failure["code"] == "deadline"
assert metatools.class_2(call_tool, from_2=True).failure["code"] == "bad-input"
assert metatools.class_2(call_tool, from_2="b", call_tool_2="x").failure["argument"] == "call_tool"
`

const nodeUse = `
import { pathToFileURL } from "node:url";
const m = await import(pathToFileURL(process.argv[2]).href);
const found = m.parse(process.argv[3]);
const check = (ok, what) => { if (!ok) { console.error(what); process.exit(1); } };
const callTool = (name, args) => (name === "find" ? found : { n: name });

check(m.names().join() === "class", "names");
let out = await m.class_2(callTool, { from: "b", call_tool: undefined });
check(out.state === "done" && m.answer(out).results.map((step) => Object.keys(step).join()).join() === "read it's,write", m.text(out));
check(m.text(out) === m.stringify(m.answer(out)), "the text is not that of the answer");
check(m.stringify(out).includes('"big":98765432109876543210'), "a large number is not exact");
out = await m.class_2(async (name, args) => { if (name === "write") throw new Error("gone"); return callTool(name, args); }, { from: "b" });
check(out.state === "handed-back" && "failure" in m.answer(out) && !out.safe_to_retry && out.failure.code === "no-answer", m.stringify(out));
check(out.failure.message === "Error: gone" && out.steps.length === 3, m.stringify(out));
const cycle = {};
cycle.cycle = cycle;
for (const odd of [NaN, cycle, () => 1, new Map()]) {
  out = await m.class_2(() => odd, { from: "b" });
  check(out.failure.code === "no-answer" && out.steps[0].calls[0].tries === 2, "an odd answer: " + m.stringify(out));
}
check((await m.class_2(callTool, { from: "b" }, { signal: AbortSignal.abort() })).failure.code === "deadline", "aborted");
check(Object.getPrototypeOf({}).polluted === undefined, "polluted");
let refused = false;
try { await m.run("toString", {}, callTool); } catch { refused = true; }
check(refused, "an unknown name");
`

// TestModulesInUse uses the modules as their readers would.
func TestModulesInUse(t *testing.T) {
	in := emit.Results{Tools: []*bind.Definition{everyBinding(t)}}
	for _, use := range []struct {
		emitter       emit.Emitter
		command, flag string
		script        string
	}{
		{emit.Python, "python3", "-c", pythonUse},
		{emit.TypeScript, "node", "--input-type=module", nodeUse},
	} {
		t.Run(use.command, func(t *testing.T) {
			command, err := exec.LookPath(use.command)
			if err != nil {
				t.Skipf("%s is not installed", use.command)
			}
			files, err := use.emitter.Emit(in)
			if err != nil {
				t.Fatal(err)
			}
			folder := t.TempDir()
			args := []string{use.flag, use.script, folder, found}
			if err := os.WriteFile(filepath.Join(folder, files[0].Name), files[0].Data, 0o666); err != nil {
				t.Fatal(err)
			}
			if use.command == "node" {
				module, script := filepath.Join(folder, "m.mjs"), filepath.Join(folder, "use.mjs")
				for name, text := range map[string]string{module: withoutTypes(t, string(files[0].Data)), script: use.script} {
					if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				args = []string{script, module, found}
			}
			c := exec.CommandContext(t.Context(), command, args...)
			c.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
			if out, err := c.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// TestSkill holds the skill to the rules of Agent Skills: a name, a description of
// at most 1024 characters without tags; and what was found stands in it as text.
func TestSkill(t *testing.T) {
	hostile := schemaTool(trace.NewObject(trace.Member{Name: "description", Value: trace.NewString("a | b\n| c | <img src=x> [x](http://x) `x` www.x.org")}))
	hostile.Name = "__tool__"
	hostile.Description = "# head\n- item\n1. item\n---\n> quote\n<script>x</script>\n[x](javascript:x) ![x](http://x) **b** ~~s~~ &amp; $x$ {{x}}\n```\ncode"
	tools := []*bind.Definition{hostile}
	for i := range 100 {
		one := *hostile
		one.Name = "a_rather_long_name_of_a_meta_tool_" + strings.Repeat("x", i%10)
		tools = append(tools, &one)
	}
	files, err := emit.Skill.Emit(emit.Results{Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	text := string(files[0].Data)
	front := regexp.MustCompile(`\A---\nname: ([a-z0-9-]{1,64})\ndescription: ([^\n]+)\n---\n`).FindStringSubmatch(text)
	if front == nil || utf8.RuneCountInString(front[2]) > 1024 || strings.ContainsAny(front[2], "<>#:\"'{}[]&*!|%@`") {
		t.Fatalf("the front matter is wrong: %.1200s", text)
	}
	_, section, _ := strings.Cut(text, "\n## How to call them\n")
	_, section, _ = strings.Cut(section, "\n## ")
	section, _, _ = strings.Cut(section, "\n## ")
	want := "\\_\\_tool\\_\\_\n\n\\# head\\\n\\- item\\\n1\\. item\\\n\\---\\\n&gt; quote\\\n&lt;script&gt;x&lt;/script&gt;\\\n" +
		"\\[x\\](javascript:x) !\\[x\\](http\\://x) \\*\\*b\\*\\* \\~\\~s\\~\\~ \\&amp; \\$x\\$ \\{\\{x\\}\\}\\\n\\`\\`\\`\\\ncode\n"
	if !strings.HasPrefix(section, want) {
		t.Errorf("the section is\n%s\nwant\n%s", section, want)
	}
	if row := "| in_0 | yes | any | a \\| b \\| c \\| &lt;img src=x&gt; \\[x\\](http\\://x) \\`x\\` www\\.x.org |"; !strings.Contains(section, row) {
		t.Errorf("the section has no row\n%s\n%s", row, section)
	}
}
