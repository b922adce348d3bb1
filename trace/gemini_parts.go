package trace

import "github.com/awo-dev/awo/internal/jsonscan"

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
