package message

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// elementTools are the tools that Cline, Roo Code and Kilo Code have the model call by
// an element of the tool's name with an element for each argument:
//
//	<read_file>
//	<path>main.go</path>
//	</read_file>
//
// Only these names are calls, because any text may hold elements.
var elementTools = func() map[string]bool {
	known := map[string]bool{}
	for _, name := range strings.Fields(`access_mcp_resource apply_diff ask_followup_question attempt_completion
		browser_action codebase_search condense delete_file edit_file execute_command fetch_instructions
		focus_chain generate_image insert_content list_code_definition_names list_files load_mcp_documentation
		new_rule new_task plan_mode_respond plan_mode_response read_file replace_in_file report_bug run_slash_command
		search_and_replace search_files simple_read_file switch_mode update_todo_list use_mcp_tool
		web_fetch web_search write_to_file`) {
		known[name] = true
	}
	return known
}()

// longArguments are those that may hold elements themselves: they end with the last
// end of an element of their name.
var longArguments = map[string]bool{"content": true, "diff": true, "result": true, "args": true, "arguments": true, "response": true, "command": true}

// openTag is the start of an element without attributes.
var openTag = regexp.MustCompile(`<([a-z][a-z0-9_]*)>`)

// elementCalls returns the calls that a text has as elements, behind the text itself.
func elementCalls(said []byte) (items []build.Item) {
	if bytes.IndexByte(said, '<') < 0 {
		return nil
	}
	start, at := len(said), 0
	for at < len(said) {
		found := openTag.FindSubmatchIndex(said[at:])
		if found == nil {
			break
		}
		from, name := at+found[0], string(said[at+found[2]:at+found[3]])
		at += found[1]
		if !elementTools[name] || from > 0 && said[from-1] != '\n' && len(bytes.TrimSpace(said[:from])) > 0 && said[from-1] != '>' {
			continue
		}
		body, rest, closed := bytes.Cut(said[at:], []byte("</"+name+">"))
		if !closed && openTag.Find(body) == nil {
			continue // the name of a tool in a sentence
		}
		start = min(start, from)
		items = append(items, elementCall(name, elementArguments(body)))
		at = len(said) - len(rest)
		if !closed {
			break
		}
	}
	if items == nil {
		return nil
	}
	return append([]build.Item{{Kind: build.ItemText, Value: trace.TextOf(string(bytes.TrimSpace(said[:start])))}}, items...)
}

// elementArgument is an argument with its text.
type elementArgument struct {
	name, text string
}

// elementArguments returns the arguments in the body of a call.
func elementArguments(body []byte) (out []elementArgument) {
	for {
		found := openTag.FindSubmatchIndex(body)
		if found == nil {
			return out
		}
		name := string(body[found[2]:found[3]])
		body = body[found[1]:]
		tag := []byte("</" + name + ">")
		end := bytes.Index(body, tag)
		if longArguments[name] {
			end = bytes.LastIndex(body, tag)
		}
		if end < 0 {
			return append(out, elementArgument{name, strings.TrimSpace(string(body))})
		}
		out = append(out, elementArgument{name, strings.Trim(string(body[:end]), "\n")})
		body = body[end+len(tag):]
	}
}

// elementCall returns a call. One that goes to a server of MCP is a call of that
// server's tool.
func elementCall(name string, args []elementArgument) build.Item {
	it := build.Item{Kind: build.ItemCall, Tool: []byte(name)}
	object, server, tool := []byte{'{'}, "", ""
	var inner []byte
	for i, a := range args {
		switch a.name {
		case "server_name":
			server = strings.TrimSpace(a.text)
		case "tool_name":
			tool = strings.TrimSpace(a.text)
		case "arguments":
			inner = build.InnerJSON(trace.TextOf(a.text))
		}
		if i > 0 {
			object = append(object, ',')
		}
		object = jsonscan.AppendQuoted(append(jsonscan.AppendQuoted(object, a.name), ':'), a.text)
	}
	it.Value = trace.JSONOf(append(object, '}'))
	if name == "use_mcp_tool" && server != "" && tool != "" {
		it.Tool = []byte("mcp__" + server + "__" + tool)
		if it.Value = trace.JSONOf([]byte("{}")); inner != nil {
			it.Value = trace.JSONOf(inner)
		}
	}
	return it
}

// elementTag begins what the program answers to such a call.
var elementTag = regexp.MustCompile(`(?s)^\[([a-z_]+)(?: for .*?)?\] Result:\s*`)

// partResults returns the results that parts of a message of the user are, as Cline and
// Roo Code write them beside calls that are no elements: a part for each, and behind
// them what the program tells the model. It returns nil if the first part is none.
func (m *Reader) partResults(parts []byte) (out []build.Item) {
	open := false // the last result has nothing but its head
	for one := range build.Elements(parts) {
		text := build.Raw(build.MemberRaw(one, "text"))
		said := bytes.TrimSpace(text.Content())
		found := elementTag.FindSubmatchIndex(said)
		switch {
		case found != nil && (m.called[string(said[found[2]:found[3]])] || elementTools[string(said[found[2]:found[3]])] || string(said[found[2]:found[3]]) == "subagents"):
			tool := said[found[2]:found[3]]
			if !m.called[string(tool)] {
				tool = nil // the oldest that waits
			}
			rest := said[found[1]:]
			out = append(out, build.Item{Kind: build.ItemResult, Tool: tool, Value: trace.TextOf(string(rest))})
			open = len(rest) == 0
		case len(out) == 0:
			return nil
		case open:
			out[len(out)-1].Value, open = trace.TextOf(string(said)), false
		case bytes.HasPrefix(said, []byte("<feedback>")), bytes.HasPrefix(said, []byte("<user_message>")):
			out = append(out, build.Item{Kind: build.ItemUser, Value: text})
		}
	}
	for i := range out {
		denied(&out[i])
	}
	return out
}

// denied notes that a call was not allowed, or failed, where its result says so.
func denied(it *build.Item) {
	text := it.Value.Content()
	if it.Kind == build.ItemResult && (bytes.HasPrefix(text, []byte("The user denied this operation")) || bytes.HasPrefix(text, []byte("The tool execution failed"))) {
		it.Status, it.Err = trace.StatusFailed, it.Value
	}
}

// elementResult returns the result that a text of the user is.
func elementResult(said []byte) (build.Item, bool) {
	found := elementTag.FindSubmatchIndex(said)
	if found == nil || !elementTools[string(said[found[2]:found[3]])] {
		return build.Item{}, false
	}
	rest := said[found[1]:]
	if end := bytes.LastIndex(rest, []byte("<environment_details>")); end >= 0 {
		rest = rest[:end]
	}
	rest = bytes.TrimSpace(rest)
	it := build.Item{Kind: build.ItemResult, Value: trace.TextOf(string(rest))}
	denied(&it)
	return it, true
}
