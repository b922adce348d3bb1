package encode

import (
	"strconv"

	"github.com/awo-dev/awo/testdata/gen/office"
	"github.com/awo-dev/awo/testdata/gen/world"
)

// Chat appends a run as one line of OpenAI chat messages with the tools that
// were offered, as for fine-tuning. The format has no place for ids, outcomes,
// times, usage or an error flag.
func Chat(dst []byte, r *office.Run) []byte {
	dst = append(dst, `{"messages":[`...)
	dst = appendSystem(dst, r)
	for i := range r.Events {
		dst = appendEvent(dst, &r.Events[i])
	}
	dst = append(dst, `],"tools":`...)
	dst = appendTools(dst, r.Tools, false)
	return append(dst, '}', '\n')
}

// ChatLog appends a run as one line a turn: the request with all messages so
// far, and the response with its usage. The task is in the request's metadata.
// Results of the last turn of a run that broke off are in no request, and so
// are lost.
func ChatLog(dst []byte, r *office.Run) []byte {
	var tools, history []byte
	tools = appendTools(tools, r.Tools, false)
	history = appendSystem(history, r)
	turn := 0
	for i := range r.Events {
		if t := r.Events[i].Turn; t != nil {
			dst = append(dst, `{"request":{"model":`...)
			dst = appendText(dst, r.Agent.Model)
			dst = append(dst, `,"messages":[`...)
			dst = append(dst, history...)
			dst = append(dst, `],"tools":`...)
			dst = append(dst, tools...)
			dst = append(dst, `,"metadata":{"conversation_id":`...)
			dst = appendText(dst, r.ID)
			dst = appendMember(dst, "task_id", r.Task)
			dst = appendMember(dst, "trial", strconv.Itoa(r.Trial))
			dst = append(dst, `}},"response":`...)
			dst = appendResponse(dst, r, t, turn)
			dst = append(dst, '}', '\n')
			turn++
		}
		history = appendEvent(history, &r.Events[i])
	}
	return dst
}

func appendSystem(dst []byte, r *office.Run) []byte {
	dst = append(dst, `{"role":"system","content":`...)
	dst = appendText(dst, r.System)
	return append(dst, '}')
}

// appendEvent appends the messages of an event, each after a comma.
func appendEvent(dst []byte, e *office.Event) []byte {
	if e.User != nil {
		dst = append(dst, `,{"role":"user","content":`...)
		dst = appendText(dst, e.User.Text)
		return append(dst, '}')
	}
	dst = append(dst, ',')
	dst = appendAssistant(dst, e.Turn)
	for i := range e.Turn.Calls {
		c := &e.Turn.Calls[i]
		if !c.HasResult {
			continue
		}
		dst = append(dst, `,{"role":"tool","tool_call_id":`...)
		dst = appendText(dst, c.ID)
		dst = append(dst, `,"content":`...)
		dst = appendResult(dst, c)
		dst = append(dst, '}')
	}
	return dst
}

func appendAssistant(dst []byte, t *office.Turn) []byte {
	dst = append(dst, `{"role":"assistant","content":`...)
	if t.Text == "" {
		dst = append(dst, "null"...)
	} else {
		dst = appendText(dst, t.Text)
	}
	if len(t.Calls) > 0 {
		dst = append(dst, `,"tool_calls":[`...)
		for i := range t.Calls {
			if i > 0 {
				dst = append(dst, ',')
			}
			c := &t.Calls[i]
			dst = append(dst, `{"id":`...)
			dst = appendText(dst, c.ID)
			dst = append(dst, `,"type":"function","function":{"name":`...)
			dst = appendText(dst, c.Tool.Name)
			dst = append(dst, `,"arguments":`...)
			dst = appendQuoted(dst, c.Args.Value())
			dst = append(dst, '}', '}')
		}
		dst = append(dst, ']')
	}
	return append(dst, '}')
}

func appendResponse(dst []byte, r *office.Run, t *office.Turn, turn int) []byte {
	dst = append(dst, `{"id":"chatcmpl-`...)
	dst = append(dst, world.Token(world.Mix(uint64(t.Start.UnixMilli())^world.Mix(uint64(r.Index*64+turn))), world.Base62, 29)...)
	dst = append(dst, `","object":"chat.completion","created":`...)
	dst = strconv.AppendInt(dst, t.End.Unix(), 10)
	dst = appendMember(dst, "model", r.Agent.Model)
	dst = append(dst, `,"choices":[{"index":0,"message":`...)
	dst = appendAssistant(dst, t)
	dst = append(dst, `,"logprobs":null,"finish_reason":`...)
	if len(t.Calls) > 0 {
		dst = append(dst, `"tool_calls"`...)
	} else {
		dst = append(dst, `"stop"`...)
	}
	u := t.Usage
	dst = append(dst, `}],"usage":{"prompt_tokens":`...)
	dst = strconv.AppendInt(dst, int64(u.Input), 10)
	dst = appendNumber(dst, "completion_tokens", u.Output)
	dst = appendNumber(dst, "total_tokens", u.Input+u.Output)
	dst = append(dst, `,"prompt_tokens_details":{"cached_tokens":`...)
	dst = strconv.AppendInt(dst, int64(u.Cached), 10)
	dst = append(dst, `},"completion_tokens_details":{"reasoning_tokens":`...)
	dst = strconv.AppendInt(dst, int64(u.Reasoning), 10)
	return append(dst, '}', '}', '}')
}
