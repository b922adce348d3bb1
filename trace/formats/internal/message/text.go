package message

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// text reads messages that are kept as text: what Python prints of them, lines
// that begin with a role, or one message without a role.
func (m *Reader) text(raw trace.Raw, answer bool, depth int) {
	text := raw.Content()
	if depth <= messageNesting {
		if inner := build.InnerJSON(raw); inner != nil && (depth == 0 || isMessageJSON(inner)) {
			in := jsonscan.New(inner)
			m.value(&in, answer, depth+1)
			return
		}
		if MayBePython(text) {
			if value, ok := PythonJSON(text); ok && isMessageJSON(value) {
				in := jsonscan.New(value)
				m.value(&in, answer, depth+1)
				m.form = FormLines
				return
			}
		}
	}
	if !answer {
		if lines := roleLines(text); lines != nil {
			for i := range lines {
				m.message(&lines[i], answer)
			}
			m.form = FormLines
			return
		}
	}
	role := "user"
	if answer {
		role = "assistant"
	}
	before := m.form
	m.message(&anyMessage{role: []byte(role), content: raw}, answer)
	m.form = max(before, FormText)
}

// isMessageJSON reports whether a value is, or holds, messages or parts of them.
func isMessageJSON(value []byte) bool {
	c := jsonscan.New(value)
	if c.Kind() == jsonscan.Array {
		if isContentList(value) {
			return true
		}
		if !c.Array() || !c.Element() {
			return false
		}
		if c.Kind() == jsonscan.String {
			text, _ := c.Text()
			return MayBePython(text)
		}
		value = c.Raw()
	}
	a := readAnyMessage(value)
	var p messagePart
	p.read(value)
	return len(a.role) > 0 && speakerOf(a.role) != speakerUnknown || a.class != nil || p.isCall() || p.isResult() ||
		a.isItem() || a.wrapped != nil && bytes.HasPrefix(bytes.TrimSpace(a.wrapped), []byte("["))
}

// roleLine is a line that begins what somebody said.
var roleLine = regexp.MustCompile(`^(?i:(system|developer|user|human|assistant|ai|model|tool|function)) ?: ?(?s:(.*))$`)

// roleLines divides a text in which lines begin with a role into messages. It
// returns nil if the first line names none.
func roleLines(text []byte) (out []anyMessage) {
	first, _, _ := bytes.Cut(text, []byte{'\n'})
	if !roleLine.Match(first) {
		return nil
	}
	var said []byte
	end := func() {
		if n := len(out); n > 0 {
			said = bytes.TrimRight(said, "\n")
			if isEmptyText(said) {
				said = nil
			}
			out[n-1].content = trace.TextOf(string(said))
		}
	}
	for line := range bytes.Lines(text) {
		found := roleLine.FindSubmatch(line)
		if found == nil {
			said = append(said, line...)
			continue
		}
		end()
		out = append(out, anyMessage{role: bytes.ToLower(found[1])})
		said = append([]byte(nil), found[2]...)
	}
	end()
	return out
}

// textCalls reads a text of the model that says what it calls, in one of the ways
// in which frameworks ask for it. It returns false if it calls nothing.
func (m *Reader) textCalls(text trace.Raw) ([]build.Item, bool) {
	said := text.Content()
	if inner := build.InnerJSON(text); inner != nil {
		if calls := jsonCalls(inner); calls != nil {
			return calls, true
		}
		return nil, false
	}
	if items := smolCalls(said); items != nil {
		return items, true
	}
	if items := taggedCalls(said); items != nil {
		return items, true
	}
	if items := elementCalls(said); items != nil {
		return items, true
	}
	if bytes.Contains(said, []byte("<details")) {
		if items := detailItems(string(said)); items != nil {
			return items, true
		}
	}
	if items := reactCalls(said); items != nil {
		return items, true
	}
	if items := pythonicCalls(said); items != nil {
		return items, true
	}
	return nil, false
}

// plainText returns the text of parts as one, and what is none as it is.
func plainText(r trace.Raw) trace.Raw {
	if r.Form != trace.FormParts {
		return r
	}
	return trace.TextOf(string(r.AppendText(nil)))
}

// jsonCalls returns the calls of a text that is JSON: one, or a list.
func jsonCalls(value []byte) []build.Item {
	isCall := func(raw []byte) bool {
		var p messagePart
		p.read(raw)
		return p.calls && len(p.name) > 0 || p.isCall() && len(p.name) > 0 && len(p.callID) > 0
	}
	c := jsonscan.New(value)
	switch c.Kind() {
	case jsonscan.Object:
		if !isCall(value) {
			return nil
		}
	case jsonscan.Array:
		n := 0
		for ok := c.Array(); ok && c.Element(); {
			n++
			if raw := c.Raw(); len(raw) == 0 || raw[0] != '{' || !isCall(raw) {
				return nil
			}
		}
		if n == 0 {
			return nil
		}
	}
	var r contentRead
	r.calls(value)
	return r.items
}

// Calls in tags: <tool_call>{"name", "arguments"}</tool_call> as open models are
// trained to write, and <function=name><parameter=x>...</parameter></function>.
var (
	toolCallTag  = regexp.MustCompile(`(?s)<tool_call>\s*(\{.*?\})\s*(?:</tool_call>|$)`)
	functionTag  = regexp.MustCompile(`(?s)<function=([^>\s]+)>(.*?)(?:</function>|$)`)
	parameterTag = regexp.MustCompile(`(?s)<parameter=([^>\s]+)>\n?(.*?)\n?</parameter>`)
	responseTag  = regexp.MustCompile(`(?s)^\s*<tool_response>\s*(.*?)\s*(?:</tool_response>|$)`)
	executionTag = regexp.MustCompile(`(?s)^(?:OBSERVATION:\s*)?EXECUTION RESULT of \[([^\]\s]+)\]:\s*(.*)$`)
)

// taggedCalls returns the calls that a text has in tags, behind the text itself.
func taggedCalls(said []byte) (items []build.Item) {
	if bytes.IndexByte(said, '<') < 0 {
		return nil
	}
	start := len(said)
	for _, at := range toolCallTag.FindAllSubmatchIndex(said, -1) {
		value := build.InnerJSON(trace.TextOf(string(said[at[2]:at[3]])))
		if value == nil {
			value, _ = PythonJSON(said[at[2]:at[3]])
		}
		if value == nil {
			continue
		}
		var p messagePart
		p.read(value)
		if len(p.name) == 0 {
			continue
		}
		start = min(start, at[0])
		items = append(items, p.call())
	}
	for _, at := range functionTag.FindAllSubmatchIndex(said, -1) {
		start = min(start, at[0])
		args := []byte{'{'}
		for i, p := range parameterTag.FindAllSubmatch(said[at[4]:at[5]], -1) {
			if i > 0 {
				args = append(args, ',')
			}
			args = jsonscan.AppendQuoted(args, p[1])
			args = jsonscan.AppendQuoted(append(args, ':'), p[2])
		}
		items = append(items, build.Item{Kind: build.ItemCall, Tool: said[at[2]:at[3]], Value: trace.JSONOf(append(args, '}'))})
	}
	if items == nil {
		return nil
	}
	return append([]build.Item{{Kind: build.ItemText, Value: trace.TextOf(string(bytes.TrimSpace(said[:start])))}}, items...)
}

// textResults returns the results that a text of the user is, if calls stand in the
// text of the model.
func (m *Reader) textResults(text trace.Raw) (out []build.Item) {
	if text.IsEmpty() {
		return nil
	}
	said := bytes.TrimSpace(text.Content())
	for found := responseTag.FindSubmatchIndex(said); found != nil; found = responseTag.FindSubmatchIndex(said) {
		out = append(out, build.Item{Kind: build.ItemResult, Value: trace.TextOf(string(said[found[2]:found[3]]))})
		said = said[found[1]:]
	}
	if out != nil {
		return out
	}
	if found := executionTag.FindSubmatch(said); found != nil {
		return []build.Item{{Kind: build.ItemResult, Tool: found[1], Value: trace.TextOf(string(found[2]))}}
	}
	if len(m.called) == 0 {
		return nil
	}
	if it, ok := elementResult(said); ok {
		return []build.Item{it}
	}
	if id, rest, ok := smolResult(said); ok {
		return []build.Item{{Kind: build.ItemResult, ID: id, Value: rest}}
	}
	for _, observed := range []string{"Observation:", "OBSERVATION:"} {
		if rest, ok := bytes.CutPrefix(said, []byte(observed)); ok {
			return []build.Item{{Kind: build.ItemResult, Value: trace.TextOf(string(bytes.TrimSpace(rest)))}}
		}
	}
	return nil
}

// smolID begins a result as smolagents writes it.
var smolID = regexp.MustCompile(`(?s)^Call id: (\S+)\n(?:Observation:\s*)?(.*)$`)

// callingTools begins the message in which smolagents tells the model its calls again.
var callingTools = []byte("Calling tools:")

// smolCalls returns the calls that smolagents tells the model again that it made, in a
// message of their own: they are part of the response before it.
func smolCalls(said []byte) []build.Item {
	rest, ok := bytes.CutPrefix(bytes.TrimSpace(said), callingTools)
	if !ok {
		return nil
	}
	rest = bytes.TrimSpace(rest)
	value := build.InnerJSON(trace.TextOf(string(rest)))
	if value == nil && MayBePython(rest) {
		value, _ = PythonJSON(rest)
	}
	if value == nil {
		return nil
	}
	return jsonCalls(value)
}

// smolResult returns the id and the text of such a result.
func smolResult(text []byte) (id []byte, rest trace.Raw, ok bool) {
	if found := smolID.FindSubmatch(text); found != nil {
		return found[1], trace.TextOf(string(found[2])), true
	}
	return nil, trace.Raw{}, false
}

// reactKeys are what begins the lines of a text in which the model thinks and
// acts, by what they begin.
var reactKeys = map[string]byte{
	"thought": 't', "action": 'a', "function name": 'a', "tool name": 'a', "action input": 'i', "function input": 'i',
	"tool input": 'i', "observation": 'o', "function output": 'o', "tool output": 'o', "final answer": 'f',
	"function caption": 'c', "function state": 'c',
}

// reactPiece is a key with what stands behind it.
type reactPiece struct {
	key  byte
	at   int // of the line
	text string
}

// reactPieces divides a text at its keys. What stands before the first has none.
func reactPieces(text string) (pieces []reactPiece) {
	offset := 0
	pieces = append(pieces, reactPiece{})
	for line := range strings.Lines(text) {
		head, rest, ok := strings.Cut(line, ":")
		key := reactKeys[strings.ToLower(strings.Trim(head, " *#\t"))]
		if ok && key != 0 && len(head) < 30 {
			pieces = append(pieces, reactPiece{key: key, at: offset, text: strings.TrimLeft(rest, " *")})
		} else {
			pieces[len(pieces)-1].text += line
		}
		offset += len(line)
	}
	return pieces
}

// reactCalls returns what a text says in which the model writes down its calls:
// "Action:" and "Action Input:", or what else they are called. Where results stand
// in it too, what follows one is a response of its own.
func reactCalls(said []byte) (items []build.Item) {
	text := string(said)
	pieces := reactPieces(text)
	from, found := 0, false
	for i := 0; i < len(pieces); i++ {
		if pieces[i].key != 'a' {
			continue
		}
		next := i + 1
		for next < len(pieces) && pieces[next].key == 'c' {
			next++
		}
		if next == len(pieces) || pieces[next].key != 'i' {
			continue
		}
		tool := strings.Trim(strings.TrimSpace(pieces[i].text), "`*\"'[]")
		if tool == "" || strings.ContainsAny(tool, "\n,") {
			continue
		}
		items = append(items, build.Item{Kind: build.ItemText, Value: trace.TextOf(strings.TrimSpace(text[from:pieces[i].at])), Opens: found})
		items = append(items, build.Item{Kind: build.ItemCall, Tool: []byte(tool), Value: reactArgs(pieces[next].text)})
		found, from = true, len(text)
		if i = next; i+1 < len(pieces) {
			from = pieces[i+1].at
			if pieces[i+1].key == 'o' {
				i++
				items = append(items, build.Item{Kind: build.ItemResult, Tool: []byte(tool), Value: trace.TextOf(strings.TrimSpace(pieces[i].text))})
				if from = len(text); i+1 < len(pieces) {
					from = pieces[i+1].at
				}
			}
		}
	}
	if rest := strings.TrimSpace(text[from:]); found && rest != "" {
		items = append(items, build.Item{Kind: build.ItemText, Value: trace.TextOf(rest), Opens: items[len(items)-1].Kind == build.ItemResult})
	}
	return items
}

// reactArgs returns arguments that stand in a text: an object, or the one input of
// the tool.
func reactArgs(text string) trace.Raw {
	text = strings.TrimSpace(text)
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(text, "```json"), "```"), "```"))
	if value := build.InnerJSON(trace.TextOf(text)); value != nil && value[0] == '{' {
		return trace.JSONOf(value)
	}
	if MayBePython([]byte(text)) {
		if value, ok := PythonJSON([]byte(text)); ok && value[0] == '{' {
			return trace.JSONOf(value)
		}
	}
	return trace.JSONOf(append(jsonscan.AppendQuoted([]byte(`{"input":`), strings.Trim(text, `"`)), '}'))
}

// scratchpad is where the question stands, and behind it what was thought and done
// so far, in a prompt that has both in one text.
var scratchpad = regexp.MustCompile(`(?s)\bBegin!.*?\n\s*(?:Question|New input|Input):[^\n]*\n(Thought:.*)$`)

// bashBlock is the one command in a text of the model.
var bashBlock = regexp.MustCompile("(?s)```(?:bash|sh|shell|mswea_bash_command)\\s*\n(.*?)\n?```")

// joinTextTurns reads what only shows when several messages are seen: a prompt that
// holds what was done so far, and commands that the model writes into a block,
// whose output the next message is.
func joinTextTurns(items []build.Item) []build.Item {
	changed := false
	for i := range items {
		if items[i].Kind == build.ItemUser && items[i].Value.Form != trace.FormParts {
			text := items[i].Value.Content()
			changed = changed || bytes.HasPrefix(text, []byte("<returncode>")) || bytes.Contains(text, []byte("Begin!"))
		}
	}
	if !changed {
		return items
	}
	var out []build.Item
	for _, it := range items {
		if it.Kind != build.ItemUser || it.Value.Form == trace.FormParts {
			out = append(out, it)
			continue
		}
		text := it.Value.Content()
		if found := scratchpad.FindSubmatchIndex(text); found != nil {
			if rounds := reactCalls(text[found[2]:]); rounds != nil {
				rounds[0].Opens = true
				out = append(append(out, build.Item{Kind: build.ItemUser, Value: trace.TextOf(string(bytes.TrimSpace(text[:found[2]])))}), rounds...)
				continue
			}
			it = build.Item{Kind: build.ItemUser, Value: trace.TextOf(string(bytes.TrimSpace(text[:found[2]])))}
		}
		if n := len(out); bytes.HasPrefix(text, []byte("<returncode>")) && n > 0 && out[n-1].Kind == build.ItemText {
			if found := bashBlock.FindAllSubmatch(out[n-1].Value.Content(), -1); len(found) == 1 {
				args := append(jsonscan.AppendQuoted([]byte(`{"command":`), found[0][1]), '}')
				result := build.Item{Kind: build.ItemResult, Value: it.Value, Status: trace.StatusFailed}
				if bytes.HasPrefix(text, []byte("<returncode>0<")) {
					result.Status = trace.StatusOK
				}
				out = append(out, build.Item{Kind: build.ItemCall, Tool: []byte("bash"), Value: trace.JSONOf(args)}, result)
				continue
			}
		}
		out = append(out, it)
	}
	return out
}
