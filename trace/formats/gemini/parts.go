package gemini

import (
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// readGeminiParts reads the parts of a content.
func readGeminiParts(parts []byte, model bool, anomalies map[string]int) (items []build.Item) {
	said := build.ItemUser
	if model {
		said = build.ItemText
	}
	c := jsonscan.New(parts)
	for ok := c.Array(); ok && c.Element(); {
		if c.Kind() == jsonscan.String {
			items = append(items, build.Item{Kind: said, Value: build.ReadRaw(&c)})
			continue
		}
		if !c.Object() {
			anomalies[build.CodeMessageShape]++
			continue
		}
		var text trace.Raw
		thought := false
		for c.Member() {
			switch string(c.Key()) {
			case "text":
				text = build.ReadRaw(&c)
			case "thought":
				thought, _ = c.Bool()
			case "functionCall", "function_call":
				items = append(items, readGeminiCall(&c))
			case "functionResponse", "function_response":
				items = append(items, readGeminiResult(&c))
			case "executableCode", "executable_code":
				items = append(items, build.Item{Kind: build.ItemCall, Tool: []byte("code_execution"), Value: build.ReadArgs(&c)})
			case "codeExecutionResult", "code_execution_result":
				answerCode(items, &c, anomalies)
			}
		}
		switch {
		case text.IsZero():
		case thought:
			items = append(items, build.Item{Kind: build.ItemThought, Value: text})
		default:
			items = append(items, build.Item{Kind: said, Value: text})
		}
	}
	return items
}

// readGeminiCall reads a call, or a piece of one that is streamed.
func readGeminiCall(c *jsonscan.Cursor) (it build.Item) {
	it.Kind = build.ItemCall
	streamed, members := false, 0
	for ok := c.Object(); ok && c.Member(); {
		members++
		switch string(c.Key()) {
		case "id":
			it.ID, _ = c.Text()
		case "name":
			it.Tool, _ = c.Text()
		case "args":
			it.Value = build.ReadArgs(c)
		case "partialArgs", "partial_args":
			if streamed = true; c.Kind() == jsonscan.Array {
				it.Also = c.Raw()
			}
		case "willContinue", "will_continue":
			streamed = true
		}
	}
	if it.Value.IsZero() && (streamed || members == 0) {
		if it.Also == nil {
			it.Also = []byte("[]")
		}
		return it
	}
	if it.Value.IsZero() { // a function without parameters
		it.Value = trace.JSONOf([]byte("{}"))
	}
	return it
}

func readGeminiResult(c *jsonscan.Cursor) build.Item {
	it := build.Item{Kind: build.ItemResult}
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "id":
			it.ID, _ = c.Text()
		case "name":
			it.Tool, _ = c.Text()
		case "response":
			it.Value = build.ReadRaw(c)
		}
	}
	it.Value, it.Status, it.Err = message.GeminiResult(it.Value)
	return it
}

// answerCode gives the code that the model had run its result.
func answerCode(items []build.Item, c *jsonscan.Cursor, anomalies map[string]int) {
	var outcome []byte
	var output trace.Raw
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "outcome":
			outcome, _ = c.Text()
		case "output":
			output = build.ReadRaw(c)
		}
	}
	at := -1
	for i := range items {
		if it := &items[i]; it.Kind == build.ItemCall && string(it.Tool) == "code_execution" {
			if at = i; !it.Answered {
				break
			}
		}
	}
	if at >= 0 { // of several results of one run, each says more
		it := &items[at]
		if it.Answered {
			it.Result = trace.TextOf(string(output.AppendText(it.Result.AppendText(nil))))
		} else {
			it.Answered, it.Result = true, output
		}
		switch string(outcome) {
		case "OUTCOME_OK":
			it.Status = trace.StatusOK
		case "OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED":
			it.Status = trace.StatusFailed
		}
		return
	}
	anomalies[trace.CodeOrphanResult]++
}

// mergeTexts joins texts that stand side by side: answers come in pieces, and
// histories repeat them whole.
func mergeTexts(items []build.Item) []build.Item {
	out := items[:0]
	for _, it := range items {
		if joinPiece(out, &it) {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Kind == it.Kind && (it.Kind == build.ItemText || it.Kind == build.ItemThought || it.Kind == build.ItemUser) {
			before := &out[n-1].Value
			text := before.AppendText(nil)
			if it.Kind == build.ItemUser { // parts of their own, not pieces
				text = append(text, '\n')
			}
			*before = trace.Raw{Data: it.Value.AppendText(text), Form: trace.FormText}
			continue
		}
		out = append(out, it)
	}
	return out
}
