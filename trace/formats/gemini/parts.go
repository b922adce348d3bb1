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
				if it, ok := readGeminiCall(&c, anomalies); ok {
					items = append(items, it)
				}
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

func readGeminiCall(c *jsonscan.Cursor, anomalies map[string]int) (it build.Item, ok bool) {
	it.Kind = build.ItemCall
	streamed := false
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "id":
			it.ID, _ = c.Text()
		case "name":
			it.Tool, _ = c.Text()
		case "args":
			it.Value = build.ReadArgs(c)
		case "partialArgs", "partial_args", "willContinue", "will_continue":
			streamed = true
		}
	}
	if streamed && it.Value.IsZero() {
		if len(it.Tool) == 0 {
			return it, false // a further piece
		}
		anomalies[build.CodeArgsStreamed]++
		return it, true
	}
	if it.Value.IsZero() { // a function without parameters
		it.Value = trace.JSONOf([]byte("{}"))
	}
	return it, true
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
	for i := range items {
		it := &items[i]
		if it.Kind == build.ItemCall && string(it.Tool) == "code_execution" && !it.Answered {
			it.Answered, it.Result = true, output
			switch string(outcome) {
			case "OUTCOME_OK":
				it.Status = trace.StatusOK
			case "OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED":
				it.Status = trace.StatusFailed
			}
			return
		}
	}
	anomalies[trace.CodeOrphanResult]++
}

// mergeTexts joins texts that stand side by side: answers come in pieces, and
// histories repeat them whole.
func mergeTexts(items []build.Item) []build.Item {
	out := items[:0]
	for _, it := range items {
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
