package message

import (
	"bytes"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// partKind says what a part of a message is.
type partKind uint8

const (
	partUnknown partKind = iota
	partText
	partThought
	partCall
	partResult
	partRetry // what a framework tells the model about a call that failed
	partPrompt
	partUser
	partOther // something that is known to be no text: an image
	partMark  // something about the conversation: where a step begins
)

// partKinds are the types of parts in lower case and without separators.
var partKinds = map[string]partKind{
	"text": partText, "inputtext": partText, "outputtext": partText, "refusal": partText, "markdown": partText,
	"thinking": partThought, "reasoning": partThought, "redactedthinking": partThought, "think": partThought, "thought": partThought,
	"toolcall": partCall, "tooluse": partCall, "functioncall": partCall, "servertooluse": partCall, "mcptooluse": partCall,
	"servertoolcall": partCall, "toolrequest": partCall, "toolinvocation": partCall, "tool": partCall, "dynamictool": partCall,
	"frontendtoolrequest": partCall, "builtintoolcall": partCall, "toolcallrequest": partCall,
	"toolresult": partResult, "toolcallresponse": partResult, "functionresponse": partResult, "toolreturn": partResult,
	"toolresponse": partResult, "functionresult": partResult, "toolcallresult": partResult, "builtintoolreturn": partResult,
	"functioncalloutput": partResult, "servertoolcallresponse": partResult,
	"functioncallcontent": partCall, "functionresultcontent": partResult, "textcontent": partText, "reasoningcontent": partThought, "textreasoningcontent": partThought,
	"retryprompt": partRetry, "systemprompt": partPrompt, "userprompt": partUser,
	"image": partOther, "imageurl": partOther, "inputimage": partOther, "inputaudio": partOther, "audio": partOther, "file": partOther,
	"inputfile": partOther, "document": partOther, "video": partOther, "blob": partOther, "uri": partOther, "resource": partOther, "stepstart": partMark,
	"stepfinish": partMark, "snapshot": partMark, "patch": partMark, "sourceurl": partOther, "sourcedocument": partOther,
	"containerupload": partOther, "citation": partOther, "compaction": partMark, "retry": partMark, "agent": partMark, "subtask": partMark,
}

// messagePart is an element of the content of a message with what is read of it. Calls
// and results have the same members in all their forms, or one that holds them.
type messagePart struct {
	typ           []byte
	id, callID    []byte
	name          []byte
	server        []byte // of an MCP tool that the interface itself called
	plugin        []byte // that the tool is a function of
	text          []byte // a string token
	args          trace.Raw
	result        trace.Raw
	failure       trace.Raw
	status        string
	failed        bool
	succeeded     bool // a flag or an exit code says so
	thought       bool // Gemini's mark of a thought
	origin        trace.Origin
	hasRole       bool
	calls, answer bool // a member says that it is a call, or a result
	code          bool // Gemini's code execution
	media         bool // Gemini's image, or file
	nested        int
	members       int // that are not null
}

// kind returns what a part is.
func (p *messagePart) kind() partKind {
	switch {
	case p.answer:
		return partResult
	case p.calls:
		return partCall
	case p.media:
		return partOther
	}
	plain := plainRole(p.typ[bytes.LastIndexByte(p.typ, '.')+1:]) // without the names that its class is in
	kind, ok := partKinds[plain]
	switch {
	case ok:
	case strings.HasSuffix(plain, "toolresult"):
		kind = partResult
	case strings.HasSuffix(plain, "tooluse"):
		kind = partCall
	case strings.HasPrefix(plain, "tool") && len(p.callID) > 0: // "tool-getWeather", of the AI SDK
		kind = partCall
	case plain == "function" && len(p.name) > 0:
		kind = partCall
	case len(p.typ) == 0 && len(p.name) > 0 && len(p.callID) > 0 && p.result.IsZero(): // {toolCallId, toolName, input}
		kind = partCall
	case len(p.typ) == 0 && len(p.name) > 0 && len(p.callID) > 0:
		kind = partResult
	case len(p.typ) == 0 && p.text != nil && p.thought:
		kind = partThought
	case len(p.typ) == 0 && p.text != nil:
		kind = partText
	case len(p.typ) == 0 && len(p.name) > 0 && !p.args.IsZero() && p.result.IsZero():
		kind = partCall
	case p.members == 0: // nothing was said in it
		kind = partMark
	}
	return kind
}

func (p *messagePart) isCall() bool   { return p.kind() == partCall }
func (p *messagePart) isResult() bool { return p.kind() == partResult }

// read reads the members of a part.
func (p *messagePart) read(object []byte) {
	c := jsonscan.New(object)
	for ok := c.Object(); ok && c.Member(); {
		p.member(&c)
	}
}

// inside reads the members of an object that a member of the part is.
func (p *messagePart) inside(c *jsonscan.Cursor) bool {
	if c.Kind() != jsonscan.Object || p.nested > messageNesting {
		return false
	}
	p.nested++
	p.read(c.Raw())
	p.nested--
	return true
}

func (p *messagePart) member(c *jsonscan.Cursor) {
	if c.Kind() == jsonscan.Null && string(c.Key()) != "arguments" && string(c.Key()) != "args" {
		return // libraries write all members that there can be
	}
	p.members++
	switch key := string(c.Key()); key {
	case "type", "part_kind", "kind", "block_type", "content_type", "$type":
		if text, ok := c.Text(); ok && (len(p.typ) == 0 || key == "part_kind") {
			p.typ = text
		}
	case "role", "from":
		p.hasRole = true
	case "id", "Id":
		if id := ownID(c); len(id) > 0 {
			p.id = id
		}
	case "call_id", "callId", "callID", "tool_call_id", "toolCallId", "toolUseId", "tool_use_id", "tool_call_ids", "CallId", "tool_id":
		if id := ownID(c); len(id) > 0 {
			p.callID = id
		}
	case "name", "toolName", "tool_name", "function_name", "functionName", "FunctionName":
		if text, ok := c.Text(); ok {
			p.name = text
		}
	case "PluginName", "plugin_name":
		p.plugin, _ = c.Text()
	case "tool":
		if text, ok := c.Text(); ok && len(p.name) == 0 {
			p.name = text
		}
	case "server_name":
		p.server, _ = c.Text()
	case "text", "thinking", "refusal", "Text":
		if token := c.Token(); token != nil {
			p.text = token
		}
	case "value":
		p.value(c)
	case "content":
		p.content(c)
	case "reasoning", "think":
		if token := c.Token(); token != nil {
			p.text = token
		}
	case "thought":
		p.thought, _ = c.Bool()
	case "inlineData", "inline_data", "fileData", "file_data":
		p.media = true
	case "thoughtSignature", "thought_signature": // says nothing alone
		p.members--
	case "arguments", "args", "input", "parameters", "params", "tool_input", "rawInput", "Arguments", "input_parameters", "tool_args":
		if args := build.ReadArgs(c); !args.IsZero() && (p.args.IsZero() || string(p.args.Data) == "null") {
			p.args = args
		}
	case "toolResult":
		whole := c.Raw()
		in := jsonscan.New(whole)
		if build.HasMember(whole, "toolUseId") { // Bedrock's
			p.answer = p.inside(&in) || p.answer
		} else if p.result.IsZero() {
			p.result = build.ReadContent(&in)
		}
	case "response", "result", "output", "rawOutput", "Result":
		if p.result.IsZero() {
			p.result = build.ReadContent(c)
		}
	case "error", "errorText", "error_text":
		if failure := build.ReadRaw(c); !failure.IsEmpty() && string(failure.Data) != "false" {
			p.failure = failure
		}
	case "is_error", "isError":
		var stated bool
		p.failed, stated = c.Bool()
		p.succeeded = stated && !p.failed
	case "status", "outcome":
		if text, ok := c.Text(); ok {
			p.status = string(text)
		}
	case "state":
		if text, ok := c.Text(); ok {
			p.status = string(text)
		} else {
			p.inside(c)
		}
	case "metadata":
		for ok := c.Object(); ok && c.Member(); {
			if key := string(c.Key()); key == "exit_code" || key == "exit" && p.nested > 0 { // of the state of an opencode call
				if code, ok := c.Int(); ok {
					p.failed, p.succeeded = p.failed || code != 0, code == 0
				}
			}
		}
	case "caller":
		p.origin = callerOrigin(c)
	case "function", "custom":
		if text, ok := c.Text(); ok {
			if len(p.name) == 0 {
				p.name = text
			}
		} else if p.inside(c) {
			p.calls = len(p.name) > 0
		}
	case "tool_call", "toolCall", "functionCall", "function_call", "toolInvocation", "tool_use", "toolUse", "call":
		p.calls = p.inside(c) || p.calls
	case "functionResponse", "function_response", "toolResponse", "tool_result", "toolresult", "tool_response", "tool_call_result":
		p.answer = p.inside(c) || p.answer
	case "origin": // the call of a result, as Haystack writes it
		if p.nested > 0 {
			p.inside(c)
		}
	case "message_content":
		p.inside(c)
	case "executableCode", "executable_code":
		p.name, p.args, p.calls, p.code = []byte("code_execution"), build.ReadArgs(c), true, true
	case "codeExecutionResult", "code_execution_result":
		p.answer, p.code = p.inside(c), true
	}
}

// value reads a member "value": the text of a part, or what a call or its result
// is wrapped in.
func (p *messagePart) value(c *jsonscan.Cursor) {
	if token := c.Token(); token != nil {
		p.text = token
		return
	}
	switch partKinds[plainRole(p.typ)] {
	case partCall, partUnknown:
		p.inside(c)
	default:
		p.result = build.ReadContent(c)
	}
}

// content reads a member "content": the text of a part, or the content of a result.
func (p *messagePart) content(c *jsonscan.Cursor) {
	content := build.ReadContent(c)
	if content.Form == trace.FormString && p.text == nil {
		p.text = content.Data
	}
	if p.result.IsZero() {
		p.result = content
	}
}

// call returns the call that a part is.
func (p *messagePart) call() build.Item {
	it := build.Item{Kind: build.ItemCall, ID: p.callID, Tool: p.name, Value: p.args, Origin: p.origin}
	if len(it.ID) == 0 {
		it.ID = p.id
	}
	if len(p.server) > 0 && len(p.name) > 0 {
		it.Tool = append(append(append([]byte{}, p.server...), "__"...), p.name...)
	}
	if len(p.plugin) > 0 && len(p.name) > 0 {
		it.Tool = append(append(append([]byte{}, p.plugin...), '-'), p.name...)
	}
	if len(it.Tool) == 0 && strings.HasPrefix(string(p.typ), "tool-") {
		it.Tool = p.typ[len("tool-"):]
	}
	if it.Value.IsZero() && p.calls && p.nested == 0 && len(p.id) == 0 && p.geminiCall() {
		it.Value = trace.JSONOf([]byte("{}")) // a function without parameters
	}
	if !p.result.IsZero() || !p.failure.IsZero() { // the call and its result are one part
		it.Answered, it.Result = true, AsResult(p.result)
		it.Status, it.Err = p.ended()
	}
	return it
}

// geminiCall reports whether the part is a call as Gemini writes it, who leaves
// out arguments that there are none of.
func (p *messagePart) geminiCall() bool { return len(p.typ) == 0 && len(p.name) > 0 }

// ended returns how a call ended.
func (p *messagePart) ended() (trace.Status, trace.Raw) {
	switch strings.ToLower(p.status) {
	case "error", "failed", "failure", "output-error", "rejected", "cancelled", "canceled", "denied":
		p.failed = true
	}
	switch {
	case p.failed || !p.failure.IsZero():
		return trace.StatusFailed, p.failure
	case p.status != "":
		switch strings.ToLower(p.status) {
		case "completed", "success", "ok", "done", "output-available", "succeeded":
			return trace.StatusOK, trace.Raw{}
		}
	}
	if p.succeeded {
		return trace.StatusOK, trace.Raw{}
	}
	return trace.StatusUnknown, trace.Raw{}
}

// resultItem returns the result that a part is.
func (p *messagePart) resultItem() build.Item {
	it := build.Item{Kind: build.ItemResult, ID: p.callID, Tool: p.name, Value: p.result}
	if len(it.ID) == 0 {
		it.ID = p.id
	}
	if it.Value.IsZero() && p.text != nil {
		it.Value = trace.Raw{Data: p.text, Form: trace.FormString}
	}
	it.Value = AsResult(it.Value)
	it.Status, it.Err = p.ended()
	switch {
	case p.answer && it.Status == trace.StatusUnknown && it.Value.Form == trace.FormJSON: // Gemini's
		it.Value, it.Status, it.Err = GeminiResult(it.Value)
	case strings.HasSuffix(string(p.typ), "tool_result") && it.Status == trace.StatusUnknown: // Anthropic's have a mark of failure
		it.Status = trace.StatusOK
		if isErrorContent(it.Value) {
			it.Status = trace.StatusFailed
		}
	}
	it.Value = wrappedResult(it.Value)
	if value := build.InnerJSON(it.Value); it.Value.Form == trace.FormJSON && build.IsKind(value, '{') {
		if content, ok := protocolResult(value); ok {
			if string(build.MemberRaw(value, "isError")) == "true" {
				it.Status = trace.StatusFailed
			}
			it.Value = content
		}
	}
	return it
}

// protocolResult returns the content of a result as MCP's protocol writes it:
// {"content": [...], "isError"}, with nothing but what the protocol has beside it.
func protocolResult(object []byte) (content trace.Raw, ok bool) {
	marked := false
	c := jsonscan.New(object)
	for is := c.Object(); is && c.Member(); {
		switch string(c.Key()) {
		case "content":
			content = build.ReadContent(&c)
			ok = content.Form == trace.FormParts
		case "isError", "resultType", "structuredContent":
			marked = true
		case "_meta":
		default:
			return trace.Raw{}, false
		}
	}
	return AsResult(content), ok && marked
}

// wrappedResult returns the value inside of a result that a library has put into
// an object: {"type": "function_result", "call_id", "result"} or {"type": "text",
// "value"}.
func wrappedResult(result trace.Raw) trace.Raw {
	text := build.InnerJSON(result)
	if text == nil || text[0] != '{' {
		return result
	}
	var kind []byte
	var inner trace.Raw
	members := 0
	c := jsonscan.New(text)
	for ok := c.Object(); ok && c.Member(); {
		members++
		switch string(c.Key()) {
		case "type":
			kind, _ = c.Text()
		case "result", "value":
			inner = build.ReadContent(&c)
		}
	}
	switch string(kind) {
	case "function_result", "tool_result":
		if !inner.IsZero() {
			return AsResult(inner)
		}
	case "":
		if status := build.MemberText(text, "status"); members == 2 && !inner.IsZero() && (string(status) == "success" || string(status) == "error") { // goose
			return AsResult(inner)
		}
	case "text", "json", "content", "error-text", "error-json":
		if !inner.IsZero() && members == 2 {
			return AsResult(inner)
		}
	}
	return result
}

// AsResult returns a content as a result: a list without texts is one of values.
func AsResult(r trace.Raw) trace.Raw {
	if r.Form == trace.FormParts && r.TextLen() == 0 {
		r.Form = trace.FormJSON
	}
	return r
}
