package emit

import (
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/trace"
)

// Skill emits instructions for agents that read Agent Skills: when to use which
// meta-tool, and how to call the modules. Without a meta-tool there is no file.
var Skill = Emitter{
	Name:  "SKILL.md",
	Doc:   "an Agent Skill that says when to use which meta-tool and how to call the modules",
	Needs: MetaTool,
	Emit: func(in Results) ([]File, error) {
		b := fmt.Appendf(nil, "---\nname: meta-tools\ndescription: %s\n---\n\n", skillDescription(in.Tools))
		b = fmt.Appendf(b, skillIntroduction, example(in.Tools[0], "None"), example(in.Tools[0], "null"))
		for _, t := range in.Tools {
			b = appendSkill(b, t)
		}
		return []File{{Name: "SKILL.md", Data: b}}, nil
	},
}

// The text of an Agent Skill's description has at most so many characters; it may
// not hold tags.
const skillLimit = 1024

// skillDescription says what the skill is for. It holds names of meta-tools only,
// which are plain in YAML.
func skillDescription(tools []*bind.Definition) string {
	text := "Makes sequences of tool calls that recur as one call each. Use it before making several of these calls one after the other. Meta-tools - "
	for i, t := range tools {
		part := t.Name
		if i > 0 {
			part = ", " + part
		}
		if len(text)+len(part) > skillLimit-len(", and others.") {
			return text + ", and others."
		}
		text += part
	}
	return text + "."
}

const skillIntroduction = `# Meta-tools

Each meta-tool below stands for calls that are often made one after the other. One
call of a meta-tool makes them all and passes results on, without a turn between
them. Use one when its description fits and all of its required inputs are known;
otherwise make the single calls. In programs that you write (code mode), import them:
README.md says how.

## How to call them

Where the meta-tools are offered as tools, call them like any other tool. In code,
use the modules beside this file, which run them over a function that makes one
call of a real tool. ` + "`" + `text` + "`" + ` gives the answer as JSON:

` + "```python" + `
import metatools
answer = metatools.run(%s, call_tool).text()
` + "```" + `

` + "```ts" + `
import { run, text } from "./metatools.js";
const answer = text(await run(%s, callTool));
` + "```" + `

Leave out an input that is not required, or give null for it. The answer says what
happened:

- ` + "`results`" + ` holds what the calls returned, in their order, each under its tool's name. Of
  a step that is made for each element of a list it is a list of ` + "`for`" + `, the element, and
  ` + "`result`" + `. ` + "`omitted`" + ` says which results stand whole within others.
- No ` + "`state`" + `: every call was made and none failed.
- ` + "`state`" + ` is ` + "`partial`" + `: some reads failed; their results are null.
- ` + "`state`" + ` is ` + "`handed-back`" + `: it ended early. ` + "`failure`" + ` names the step, the tool, the code and
  the argument; ` + "`results`" + ` holds what was done before. Continue from there with single calls.
  Run it again only if ` + "`safe_to_retry`" + ` is true: otherwise something may have been written.
`

// example returns the arguments of a call of a meta-tool, with a blank for each
// required input.
func example(t *bind.Definition, null string) string {
	var inputs []string
	for i := range t.Inputs {
		if t.Inputs[i].Required {
			inputs = append(inputs, fmt.Sprintf("%q: %s", t.Inputs[i].Name, blank(&t.Inputs[i], null)))
		}
	}
	return fmt.Sprintf("%q, {%s}", t.Name, strings.Join(inputs, ", "))
}

func blank(in *metatool.Input, null string) string {
	types := checkedTypes(in.Schema)
	switch {
	case slices.Contains(types, "string") || len(types) == 0:
		return `"..."`
	case slices.Contains(types, "integer") || slices.Contains(types, "number"):
		return "0"
	case slices.Contains(types, "array"):
		return "[]"
	case slices.Contains(types, "object"):
		return "{}"
	}
	return null
}

// appendSkill appends the section of a meta-tool.
func appendSkill(dst []byte, t *bind.Definition) []byte {
	dst = fmt.Appendf(dst, "\n## %s\n\n%s\n", markdown(t.Name), markdown(t.Description))
	switch {
	case t.Annotations.ReadOnly:
		dst = append(dst, "\nIt only reads.\n"...)
	case t.Annotations.Idempotent:
		dst = append(dst, "\nIt may change something; doing it twice changes no more than once.\n"...)
	default:
		dst = append(dst, "\nIt may change something: do not run it again unless `safe_to_retry` is true.\n"...)
	}
	if len(t.Inputs) == 0 {
		return append(dst, "\nIt takes no inputs.\n"...)
	}
	dst = append(dst, "\n| input | required | type | meaning |\n|---|---|---|---|\n"...)
	for i := range t.Inputs {
		in := &t.Inputs[i]
		required, kind, meaning := "no", strings.Join(checkedTypes(in.Schema), " or "), ""
		if in.Required {
			required = "yes"
		}
		if kind == "" {
			kind = "any"
		}
		if text, ok := in.Schema.Lookup("description"); ok && text.Kind == trace.String {
			meaning = cell(shortened(strings.Join(strings.Fields(text.Text), " "), 200))
		}
		dst = fmt.Appendf(dst, "| %s | %s | %s | %s |\n", cell(in.Name), required, kind, meaning)
	}
	return dst
}

// markdown returns a text that is shown as it is: no sign in it means anything to
// Markdown or HTML, and lines stay lines.
func markdown(text string) string {
	var lines []string
	for line := range strings.SplitSeq(strings.TrimSpace(printableText(text)), "\n") {
		lines = append(lines, inert(strings.TrimSpace(line)))
	}
	return strings.Join(lines, "\\\n")
}

// cell is the same in a table, where everything is one line.
func cell(text string) string {
	return inert(strings.Join(strings.Fields(printableText(text)), " "))
}

// inert escapes a line, braces too: some who publish Markdown fill in templates first.
func inert(line string) string {
	return strings.NewReplacer("{", `\{`, "}", `\}`).Replace(report.EscapeMarkdown(line))
}

// Readme emits ten lines about giving the modules to agents that write programs.
var Readme = Emitter{
	Name:  "README.md",
	Doc:   "how to give the modules to agents that write programs (code mode)",
	Needs: MetaTool,
	Emit: func(in Results) ([]File, error) {
		name := in.Tools[0].Name // plain, as those of inputs need not be
		return []File{{Name: "README.md", Data: fmt.Appendf(nil, readme, name, name)}}, nil
	},
}

const readme = `# Meta-tools in programs

For agents that write programs (code mode): a meta-tool is a function there. SKILL.md says which one to use when.

- **Anthropic, programmatic tool calling**: upload metatools.py with the Files API, give it to the container (` + "`container_upload`" + `), and
  list the code execution tool in ` + "`allowed_callers`" + ` of all tools that the meta-tools call. Programs then run
  ` + "`import metatools; outcome = await metatools.run_async(%q, inputs, lambda name, args: globals()[name](**args))`" + `
- **Cloudflare, code mode**: add each meta-tool to the tools of ` + "`createCodeTool`" + `, with its schema from metatools.mcp.json and
  ` + "`execute: (inputs) => run(NAME, inputs, callTool)`" + ` of metatools.ts. Programs then call ` + "`codemode.NAME(inputs)`" + `; here the first is
  ` + "`run(%q, inputs, callTool)`" + `. Print ` + "`outcome.text()`, or `text(outcome)`" + `: a model sees what its program prints.
`
