package trace

import (
	"bytes"
	"encoding/hex"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// formatGemini reads what goes to Gemini's generateContent and comes from it, in
// the layouts in which it is kept:
//
//	{"contents": [...], "tools": [...]}     a request
//	[{"role": ..., "parts": [...]}, ...]    contents alone, also under "history"
//	{"request": {...}, "response": ...}     a log of requests, with the answers
//	{"candidates": [...]}                   an answer, or an array of its pieces
//
// Requests repeat what was said before; it is counted once. Answers without their
// requests, and contents that stand alone on their lines, go on with the
// trajectory of the one before. Results mostly have no
// id and answer the oldest call of their function; they failed if they have an
// "error" and went well if they have an "output". Both spellings of names are
// read, functionCall and function_call.
//
// It keeps the records of a conversation.
var formatGemini = Format{
	Name:     "gemini",
	Doc:      "Gemini contents: requests, responses, bare lists of contents, and logs of requests with responses.",
	Spec:     "https://ai.google.dev/api/generate-content",
	Detect:   detectGemini,
	Decode:   decodeGemini,
	Assemble: assembleGemini,
}

// CodeArgsStreamed is the oddity of a call whose arguments came in pieces that
// were not put together: they are missing.
const CodeArgsStreamed = "args-streamed"

func decodeGemini(r Record) ([]Fragment, error) {
	c := jsonscan.New(r.Data)
	g := readGeminiRecord(&c)
	if err := c.End(); err != nil {
		return nil, scanError(r, err)
	}
	if len(g.items) == 0 && !g.answered {
		return nil, nil
	}
	return []Fragment{{Key: g.key(r.File), Data: r.Data, Pos: r.Pos()}}, nil
}

// key returns what the records of a conversation have in common: the file, and
// of requests what the user said first.
func (g *geminiRecord) key(file string) string {
	if !g.request {
		return file
	}
	var hash itemHash
	for i := range g.items[:g.answer] {
		if kind := g.items[i].kind; kind != itemUser && kind != itemSystem {
			break
		}
		hash, _ = g.items[i].next(hash)
	}
	return file + "#" + hex.EncodeToString(hash[:])
}

// geminiRecord is a record with what is read of it.
type geminiRecord struct {
	items    []item // those of the answer behind the others
	answer   int    // where the answer begins
	answered bool
	request  bool // there are contents, so that the record stands for itself
	response response
	tools    []byte
	system   Raw
	odd      map[string]int
}

func readGeminiRecord(c *jsonscan.Cursor) *geminiRecord {
	g := &geminiRecord{odd: map[string]int{}}
	var answer geminiAnswer
	switch c.Kind() {
	case jsonscan.Array:
		for c.Array(); c.Element(); {
			g.element(c, &answer)
		}
		g.request = !answer.some
	case jsonscan.Object:
		g.object(c, &answer, true)
	}
	g.answer = len(g.items)
	if !g.system.isEmpty() {
		g.items = append([]item{{kind: itemSystem, value: g.system}}, g.items...)
		g.answer++
	}
	if answer.some {
		g.items = append(g.items, mergeTexts(answer.items)...)
		g.answered, g.response = true, answer.response
	}
	if g.response.model == "" {
		g.response.model = answer.response.model
	}
	return g
}

// element reads an element of an array: a content, or a piece of an answer.
func (g *geminiRecord) element(c *jsonscan.Cursor, answer *geminiAnswer) {
	if !c.Object() {
		g.odd[CodeMessageShape]++
		return
	}
	g.members(c, answer, false)
}

func (g *geminiRecord) object(c *jsonscan.Cursor, answer *geminiAnswer, outer bool) {
	if c.Object() {
		g.members(c, answer, outer)
	}
}

// members reads a request, an answer, a content, or a pair of a request and an
// answer; outer says that it may be a pair.
func (g *geminiRecord) members(c *jsonscan.Cursor, answer *geminiAnswer, outer bool) {
	var role, parts []byte
	var usage, stamp, candidates []byte
	for c.Member() {
		switch string(c.Key()) {
		case "contents", "history":
			g.contents(c)
		case "systemInstruction", "system_instruction":
			g.system = readGeminiText(c)
		case "tools":
			g.tools = c.Raw()
		case "config": // as the SDK writes requests
			for ok := c.Object(); ok && c.Member(); {
				switch string(c.Key()) {
				case "systemInstruction", "system_instruction":
					g.system = readGeminiText(c)
				case "tools":
					g.tools = c.Raw()
				}
			}
		case "model":
			if model, ok := c.Text(); ok && g.response.model == "" {
				g.response.model = strings.TrimPrefix(string(model), "models/")
			}
		case "request", "body":
			if outer {
				g.object(c, answer, false)
			}
		case "response":
			switch {
			case !outer:
			case c.Kind() == jsonscan.Array:
				for c.Array(); c.Element(); {
					g.object(c, answer, false)
				}
			default:
				g.object(c, answer, false)
			}
		case "role":
			role, _ = c.Text()
		case "parts":
			parts = c.Raw()
		case "candidates":
			candidates = c.Raw()
		case "usageMetadata", "usage_metadata":
			usage = c.Raw()
		case "modelVersion", "model_version":
			if model, ok := c.Text(); ok {
				answer.response.model = string(model)
			}
		case "createTime", "create_time":
			stamp, _ = c.Text()
		}
	}
	if parts != nil {
		g.content(role, parts)
	}
	if candidates == nil && usage == nil {
		return
	}
	answer.some = true
	if candidates != nil {
		scan := jsonscan.New(candidates)
		answer.candidates(&scan, g)
	}
	if usage != nil {
		scan := jsonscan.New(usage)
		if u := readGeminiUsage(&scan); u.Known {
			answer.response.usage = u
		}
	}
	if len(stamp) > 0 {
		at, bad := parseStamp(stamp)
		if bad {
			g.odd[CodeTimeInvalid]++
		}
		answer.response.end = at
	}
}

// contents reads a list of contents, one content, or a text.
func (g *geminiRecord) contents(c *jsonscan.Cursor) {
	g.request = true
	switch c.Kind() {
	case jsonscan.String:
		g.items = append(g.items, item{kind: itemUser, value: rawValue(c)})
	case jsonscan.Object:
		g.oneContent(c)
	case jsonscan.Array:
		for c.Array(); c.Element(); {
			g.oneContent(c)
		}
	}
}

func (g *geminiRecord) oneContent(c *jsonscan.Cursor) {
	if !c.Object() {
		g.odd[CodeMessageShape]++
		return
	}
	var role, parts []byte
	for c.Member() {
		switch string(c.Key()) {
		case "role":
			role, _ = c.Text()
		case "parts":
			parts = c.Raw()
		}
	}
	g.content(role, parts)
}

// content adds a content of the history.
func (g *geminiRecord) content(role, parts []byte) {
	model := string(role) == "model"
	switch string(role) {
	case "model", "user", "function", "tool", "":
	case "system":
		g.items = append(g.items, item{kind: itemSystem, value: Raw{Data: parts, Form: FormParts}})
		return
	default:
		g.odd[CodeMessageRole]++
		return
	}
	items := mergeTexts(readGeminiParts(parts, model, g.odd))
	for i := range items {
		items[i].opens = i == 0 && model
	}
	g.items = append(g.items, items...)
}

// readGeminiText reads a system instruction: a text, a content, or parts.
func readGeminiText(c *jsonscan.Cursor) (text Raw) {
	if c.Kind() != jsonscan.Object {
		return rawContent(c)
	}
	whole := c.Raw()
	scan := jsonscan.New(whole)
	for ok := scan.Object(); ok && scan.Member(); {
		switch string(scan.Key()) {
		case "parts":
			text = rawContent(&scan)
		case "text":
			text = rawValue(&scan)
		}
	}
	return text
}

// readGeminiParts reads the parts of a content.
func readGeminiParts(parts []byte, model bool, odd map[string]int) (items []item) {
	said := itemUser
	if model {
		said = itemText
	}
	c := jsonscan.New(parts)
	for ok := c.Array(); ok && c.Element(); {
		if c.Kind() == jsonscan.String {
			items = append(items, item{kind: said, value: rawValue(&c)})
			continue
		}
		if !c.Object() {
			odd[CodeMessageShape]++
			continue
		}
		var text Raw
		thought := false
		for c.Member() {
			switch string(c.Key()) {
			case "text":
				text = rawValue(&c)
			case "thought":
				thought, _ = c.Bool()
			case "functionCall", "function_call":
				if it, ok := readGeminiCall(&c, odd); ok {
					items = append(items, it)
				}
			case "functionResponse", "function_response":
				items = append(items, readGeminiResult(&c))
			case "executableCode", "executable_code":
				items = append(items, item{kind: itemCall, tool: []byte("code_execution"), value: rawArgs(&c)})
			case "codeExecutionResult", "code_execution_result":
				answerCode(items, &c, odd)
			}
		}
		switch {
		case text.IsZero():
		case thought:
			items = append(items, item{kind: itemThought, value: text})
		default:
			items = append(items, item{kind: said, value: text})
		}
	}
	return items
}

func readGeminiCall(c *jsonscan.Cursor, odd map[string]int) (it item, ok bool) {
	it.kind = itemCall
	streamed := false
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "id":
			it.id, _ = c.Text()
		case "name":
			it.tool, _ = c.Text()
		case "args":
			it.value = rawArgs(c)
		case "partialArgs", "partial_args", "willContinue", "will_continue":
			streamed = true
		}
	}
	if streamed && it.value.IsZero() {
		if len(it.tool) == 0 {
			return it, false // a further piece
		}
		odd[CodeArgsStreamed]++
		return it, true
	}
	if it.value.IsZero() { // a function without parameters
		it.value = JSONOf([]byte("{}"))
	}
	return it, true
}

func readGeminiResult(c *jsonscan.Cursor) item {
	it := item{kind: itemResult}
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "id":
			it.id, _ = c.Text()
		case "name":
			it.tool, _ = c.Text()
		case "response":
			it.value = rawValue(c)
		}
	}
	it.value, it.status, it.err = geminiResult(it.value)
	return it
}

// geminiResult returns what a function returned, how it ended and with which
// error: the documented members are "output" and "error"; a lone "result" is
// what libraries write for a value that is no object.
func geminiResult(whole Raw) (result Raw, status Status, failure Raw) {
	result = whole
	if whole.Form != FormJSON {
		return result, StatusUnknown, Raw{}
	}
	var output, lone Raw
	members := 0
	c := jsonscan.New(whole.Data)
	for ok := c.Object(); ok && c.Member(); {
		members++
		switch string(c.Key()) {
		case "output":
			output = rawValue(&c)
		case "result":
			lone = rawValue(&c)
		case "error":
			failure = rawValue(&c)
		}
	}
	switch {
	case !failure.isEmpty():
		return result, StatusFailed, failure
	case !output.IsZero() && members == 1:
		return output, StatusOK, Raw{}
	case !output.IsZero():
		return result, StatusOK, Raw{}
	case !lone.IsZero() && members == 1:
		return lone, StatusUnknown, Raw{}
	}
	return result, StatusUnknown, Raw{}
}

// answerCode gives the code that the model had run its result.
func answerCode(items []item, c *jsonscan.Cursor, odd map[string]int) {
	var outcome []byte
	var output Raw
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "outcome":
			outcome, _ = c.Text()
		case "output":
			output = rawValue(c)
		}
	}
	for i := range items {
		it := &items[i]
		if it.kind == itemCall && string(it.tool) == "code_execution" && !it.answered {
			it.answered, it.result = true, output
			switch string(outcome) {
			case "OUTCOME_OK":
				it.status = StatusOK
			case "OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED":
				it.status = StatusFailed
			}
			return
		}
	}
	odd[CodeOrphanResult]++
}

// mergeTexts joins texts that stand side by side: answers come in pieces, and
// histories repeat them whole.
func mergeTexts(items []item) []item {
	out := items[:0]
	for _, it := range items {
		if n := len(out); n > 0 && out[n-1].kind == it.kind && (it.kind == itemText || it.kind == itemThought || it.kind == itemUser) {
			before := &out[n-1].value
			text := before.AppendText(nil)
			if it.kind == itemUser { // parts of their own, not pieces
				text = append(text, '\n')
			}
			*before = Raw{Data: it.value.AppendText(text), Form: FormText}
			continue
		}
		out = append(out, it)
	}
	return out
}

// geminiAnswer is an answer, put together from its pieces.
type geminiAnswer struct {
	some     bool
	items    []item
	response response
}

// candidates reads the first of several answers.
func (a *geminiAnswer) candidates(c *jsonscan.Cursor, g *geminiRecord) {
	first := true
	for ok := c.Array(); ok && c.Element(); {
		if !first {
			g.odd[CodeChoiceIgnored]++
			continue
		}
		first = false
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) != "content" {
				continue
			}
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) == "parts" {
					a.items = append(a.items, readGeminiParts(c.Raw(), true, g.odd)...)
				}
			}
		}
	}
}

// readGeminiUsage reads token counts, where the output excludes what was thought
// and the input what tools of the interface added.
func readGeminiUsage(c *jsonscan.Cursor) (u Usage) {
	var tool int64
	count := func(n *int64) {
		if v, ok := c.Int(); ok && v >= 0 && v < 1<<50 {
			*n, u.Known = v, true
		}
	}
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "promptTokenCount", "prompt_token_count", "input":
			count(&u.Input)
		case "candidatesTokenCount", "candidates_token_count", "output":
			count(&u.Output)
		case "thoughtsTokenCount", "thoughts_token_count", "thoughts":
			count(&u.Reasoning)
		case "cachedContentTokenCount", "cached_content_token_count", "cached":
			count(&u.CachedInput)
		case "toolUsePromptTokenCount", "tool_use_prompt_token_count", "tool":
			count(&tool)
		}
	}
	u.Input += tool
	u.Output += u.Reasoning
	return u
}

// readGeminiTools reads the functions that a request offers.
func readGeminiTools(b *builder, data []byte) []ToolDef {
	var tools []ToolDef
	c := jsonscan.New(data)
	for ok := c.Array(); ok && c.Element(); {
		for ok := c.Object(); ok && c.Member(); {
			if key := string(c.Key()); key != "functionDeclarations" && key != "function_declarations" {
				continue
			}
			for ok := c.Array(); ok && c.Element(); {
				if !c.Object() {
					b.odd(CodeMessageShape, 1)
					continue
				}
				var tool ToolDef
				var name []byte
				for c.Member() {
					switch string(c.Key()) {
					case "name":
						name, _ = c.Text()
					case "description":
						tool.Description = rawValue(&c)
					case "parameters", "parametersJsonSchema", "parameters_json_schema":
						tool.Input = rawValue(&c)
					case "response", "responseJsonSchema", "response_json_schema":
						tool.Output = rawValue(&c)
					}
				}
				if len(name) == 0 {
					b.odd(CodeCallUnnamed, 1)
					continue
				}
				tool.Name = b.names.intern(name)
				tools = append(tools, tool)
			}
		}
	}
	return tools
}

func assembleGemini(_ string, parts []Fragment) ([]*Trajectory, error) {
	var s transcripts
	var tip itemHash
	source := map[*transcript]Fragment{}
	for i := range parts {
		c := jsonscan.New(parts[i].Data)
		g := readGeminiRecord(&c)
		from := itemHash{}
		if !g.request {
			from = tip
		}
		t, end := s.add(from, g.items, g.answer, g.answered, g.response)
		tip = end
		if _, ok := source[t]; !ok {
			source[t] = parts[i]
		}
		told(t.b, g)
		t.b.odd(CodeLoneSurrogate, c.LoneSurrogates())
	}
	out := s.finish()
	for i, t := range s.all {
		out[i].Source = source[t].Pos
	}
	return out, nil
}

// told adds what a record says besides its items.
func told(b *builder, g *geminiRecord) {
	if g.tools != nil && len(b.t.Tools) == 0 {
		b.t.Tools = readGeminiTools(b, g.tools)
	}
	if b.t.Model == "" {
		b.t.Model = g.response.model
	}
	for _, code := range []string{CodeMessageShape, CodeMessageRole, CodeArgsStreamed, CodeOrphanResult, CodeChoiceIgnored, CodeTimeInvalid} {
		b.odd(code, g.odd[code])
	}
}

func detectGemini(h Head) Match {
	if len(h.Records) == 0 {
		return Match{}
	}
	r := h.Records[0]
	if r.Has("role", "parts") && isKind(r.Members["parts"], '[') {
		return Match{OK: true, Whole: h.Container == ContainerArray}
	}
	lacks := ""
	for _, r := range h.Records {
		members := r.Members
		if inner := members["request"]; isKind(inner, '{') {
			members = newHeadRecord(inner, r.Truncated).Members
		}
		for _, name := range []string{"contents", "history"} {
			value := members[name]
			if !isKind(value, '[') && !isKind(value, '{') {
				continue
			}
			if holdsParts(value) {
				return Match{OK: true}
			}
			if name == "contents" {
				lacks = `"contents" has no "parts"`
			}
		}
		answer := r.Members["response"]
		if answer == nil {
			answer = r.Raw
		}
		if isKind(answer, '[') {
			answer = bytes.TrimLeft(answer[1:], " \t\r\n")
		}
		if isKind(answer, '{') {
			inner := newHeadRecord(answer, r.Truncated).Members
			if isKind(inner["candidates"], '[') && (holdsParts(inner["candidates"]) || inner["usageMetadata"] != nil || inner["usage_metadata"] != nil) {
				return Match{OK: true}
			}
		}
		if isKind(r.Raw, '[') && holdsParts(r.Raw) {
			return Match{OK: true}
		}
	}
	return Match{Lacks: lacks}
}

// isKind reports whether a text begins with the first byte of a kind of value.
func isKind(text []byte, first byte) bool { return len(text) > 0 && text[0] == first }

// holdsParts reports whether a list of contents or candidates, or one content,
// has one with parts.
func holdsParts(text []byte) bool {
	c := jsonscan.New(text)
	found := false
	content := func() {
		for ok := c.Object(); ok && c.Member(); {
			switch string(c.Key()) {
			case "parts":
				found = found || c.Kind() == jsonscan.Array
			case "content":
				for ok := c.Object(); ok && c.Member(); {
					found = found || string(c.Key()) == "parts"
				}
			}
		}
	}
	if c.Kind() == jsonscan.Object {
		content()
		return found
	}
	for ok := c.Array(); ok && c.Element(); {
		content()
	}
	return found
}
