package compiled

import (
	"context"
	"encoding/json"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

// need is a path that a result must have for later steps.
type need struct{ path jsonpath.Path }

// needsOf returns the paths that the result of each call of a step must have: what it is
// expected to have, and what bindings of later steps read in it.
func needsOf(tool *metatool.Tool) [][]need {
	out := make([][]need, len(tool.Steps))
	var reads func(b *metatool.Binding)
	reads = func(b *metatool.Binding) {
		if b == nil {
			return
		}
		// What a filter is to find is not known before, and of a step that walks a list a
		// binding reads the array of all results.
		if b.Kind == metatool.BindStep && b.Step >= 0 && b.Step < len(out) && b.Key == nil && tool.Steps[b.Step].Each == nil {
			out[b.Step] = append(out[b.Step], need{b.Path})
		}
		reads(b.Key)
		for i := range b.Parts {
			reads(&b.Parts[i])
		}
	}
	for i := range tool.Steps {
		step := &tool.Steps[i]
		for _, e := range step.Expect {
			out[i] = append(out[i], need{e.Path})
		}
		reads(step.Each)
		for k := range step.Args {
			if !step.Args[k].Optional {
				reads(&step.Args[k].Binding)
			}
		}
	}
	return out
}

// result is what a server answered to a call.
type result struct {
	value  trace.Value // as awo reads it: structured, else the text
	failed bool
	others []json.RawMessage // blocks of content that are no text
}

// read reads a result as awo reads it in recordings: what is structured, else the text.
// Where that lacks what is needed and the other form has it, it is the other form.
func read(raw json.RawMessage, needs []need) (result, error) {
	whole, err := trace.ParseValue(raw)
	if err != nil {
		return result{}, err
	}
	var out result
	isError, _ := whole.Lookup("isError")
	out.failed = isError.Kind == trace.Bool && isError.Bool
	content, structured := whole.Member("content"), whole.Member("structuredContent")
	for _, block := range content.Elems {
		if kind := block.Member("type").Text; kind != "text" {
			out.others = append(out.others, block.AppendCanonical(nil))
		}
	}
	written := trace.Value{}
	if content.Kind == trace.Array {
		c := trace.Call{HasResult: true, Result: trace.Raw{Data: content.AppendCanonical(nil), Form: trace.FormParts}}
		written, _ = c.ResultValue()
	}
	switch {
	case structured.Kind == trace.Null && content.Kind == trace.Array:
		out.value = written
	case structured.Kind == trace.Null:
		out.value = whole
	case content.Kind == trace.Array && !has(structured, needs) && has(written, needs):
		out.value = written
	default:
		out.value = structured
	}
	return out, nil
}

func has(v trace.Value, needs []need) bool {
	for _, n := range needs {
		if !n.path.Selects(v) {
			return false
		}
	}
	return true
}

// textResult returns a result with one text, and other blocks behind it.
func textResult(text []byte, others []json.RawMessage, structured []byte, isError bool) json.RawMessage {
	out := append([]byte(`{"content":[{"type":"text","text":`), quoted(string(text))...)
	out = append(out, '}')
	for _, b := range others {
		out = append(append(out, ','), b...)
	}
	out = append(out, ']')
	if structured != nil {
		out = append(append(out, `,"structuredContent":`...), structured...)
	}
	if isError {
		out = append(out, `,"isError":true`...)
	}
	return append(out, '}')
}

// refusal answers a call with a sentence that says why it was not made.
func refusal(text string) func(context.Context) (json.RawMessage, error) {
	return func(context.Context) (json.RawMessage, error) { return textResult([]byte(text), nil, nil, true), nil }
}
