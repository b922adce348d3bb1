package encode

import (
	"strconv"

	"github.com/awo-dev/awo/testdata/gen/office"
)

// ATIF appends a run as one line of the Agent Trajectory Interchange Format,
// version 1.7. What that format has no place for stands under extra.awo: of the
// trajectory, task, trial and outcome; of a step, when the response was
// complete; of a call, its status and when it began and ended.
func ATIF(dst []byte, r *office.Run) []byte {
	dst = append(dst, `{"schema_version":"ATIF-v1.7"`...)
	dst = appendMember(dst, "session_id", r.ID)
	dst = appendMember(dst, "trajectory_id", r.ID)
	dst = append(dst, `,"agent":{"name":`...)
	dst = appendText(dst, r.Agent.Name)
	dst = appendMember(dst, "version", r.Agent.Version)
	dst = appendMember(dst, "model_name", r.Agent.Model)
	dst = append(dst, `,"tool_definitions":`...)
	dst = appendTools(dst, r.Tools, true)
	dst = append(dst, `},"steps":[{"step_id":1,"timestamp":`...)
	dst = appendTime(dst, r.Start)
	dst = appendMember(dst, "source", "system")
	dst = appendMember(dst, "message", r.System)
	dst = append(dst, '}')
	var input, output, cached int
	for i := range r.Events {
		dst = append(dst, `,{"step_id":`...)
		dst = strconv.AppendInt(dst, int64(i+2), 10)
		if u := r.Events[i].User; u != nil {
			dst = append(dst, `,"timestamp":`...)
			dst = appendTime(dst, u.Time)
			dst = appendMember(dst, "source", "user")
			dst = appendMember(dst, "message", u.Text)
		} else {
			t := r.Events[i].Turn
			dst = appendATIFTurn(dst, t)
			input, output, cached = input+t.Usage.Input, output+t.Usage.Output, cached+t.Usage.Cached
		}
		dst = append(dst, '}')
	}
	dst = append(dst, `],"final_metrics":{"total_steps":`...)
	dst = strconv.AppendInt(dst, int64(len(r.Events)+1), 10)
	dst = appendNumber(dst, "total_prompt_tokens", input)
	dst = appendNumber(dst, "total_completion_tokens", output)
	dst = appendNumber(dst, "total_cached_tokens", cached)
	dst = append(dst, `},"extra":{"awo":{"task":`...)
	dst = appendText(dst, r.Task)
	dst = appendMember(dst, "trial", strconv.Itoa(r.Trial))
	dst = appendMember(dst, "outcome", outcome(r))
	return append(dst, '}', '}', '}', '\n')
}

func outcome(r *office.Run) string {
	if r.Solved {
		return "success"
	}
	return "failure"
}

func appendATIFTurn(dst []byte, t *office.Turn) []byte {
	dst = append(dst, `,"timestamp":`...)
	dst = appendTime(dst, t.Start)
	dst = appendMember(dst, "source", "agent")
	dst = appendMember(dst, "message", t.Text)
	if t.Thought != "" {
		dst = appendMember(dst, "reasoning_content", t.Thought)
	}
	if len(t.Calls) > 0 {
		dst = appendATIFCalls(dst, t.Calls)
	}
	dst = append(dst, `,"metrics":{"prompt_tokens":`...)
	dst = strconv.AppendInt(dst, int64(t.Usage.Input), 10)
	dst = appendNumber(dst, "completion_tokens", t.Usage.Output)
	dst = appendNumber(dst, "cached_tokens", t.Usage.Cached)
	if t.Usage.CacheWrite > 0 || t.Usage.Reasoning > 0 {
		dst = append(dst, `,"extra":{`...)
		if t.Usage.CacheWrite > 0 {
			dst = append(dst, `"cache_creation_input_tokens":`...)
			dst = strconv.AppendInt(dst, int64(t.Usage.CacheWrite), 10)
		}
		if t.Usage.Reasoning > 0 {
			if t.Usage.CacheWrite > 0 {
				dst = append(dst, ',')
			}
			dst = append(dst, `"reasoning_tokens":`...)
			dst = strconv.AppendInt(dst, int64(t.Usage.Reasoning), 10)
		}
		dst = append(dst, '}')
	}
	dst = append(dst, `},"llm_call_count":1,"extra":{"awo":{"end":`...)
	dst = appendTime(dst, t.End)
	return append(dst, '}', '}')
}

func appendATIFCalls(dst []byte, calls []office.Call) []byte {
	results := 0
	dst = append(dst, `,"tool_calls":[`...)
	for i := range calls {
		if i > 0 {
			dst = append(dst, ',')
		}
		c := &calls[i]
		dst = append(dst, `{"tool_call_id":`...)
		dst = appendText(dst, c.ID)
		dst = appendMember(dst, "function_name", c.Tool.Name)
		dst = append(dst, `,"arguments":`...)
		dst = c.Args.Value().AppendJSON(dst)
		if c.HasResult {
			results++
			dst = append(dst, `,"extra":{"awo":{"status":`...)
			dst = appendText(dst, c.Status())
			dst = append(dst, `,"start":`...)
			dst = appendTime(dst, c.Start)
			dst = append(dst, `,"end":`...)
			dst = appendTime(dst, c.End)
			dst = append(dst, '}', '}')
		}
		dst = append(dst, '}')
	}
	dst = append(dst, ']')
	if results == 0 {
		return dst
	}
	dst = append(dst, `,"observation":{"results":[`...)
	for i := range calls {
		c := &calls[i]
		if !c.HasResult {
			continue
		}
		dst = append(dst, `{"source_call_id":`...)
		dst = appendText(dst, c.ID)
		dst = append(dst, `,"content":`...)
		dst = appendResult(dst, c)
		dst = append(dst, '}', ',')
	}
	dst[len(dst)-1] = ']'
	return append(dst, '}')
}
