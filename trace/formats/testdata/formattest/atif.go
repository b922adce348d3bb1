package formattest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/trace"
)

// atifMembers are the members that ATIF 1.7 allows by kind of object, those that
// it requires first, before the bar. Its reference implementation refuses others.
var atifMembers = map[string]string{
	"trajectory":  "schema_version agent steps | session_id trajectory_id notes final_metrics continued_trajectory_ref extra subagent_trajectories",
	"agent":       "name version | model_name tool_definitions extra",
	"step":        "step_id source message | timestamp observation extra llm_call_count is_copied_context",
	"agent step":  "step_id source message | timestamp observation extra llm_call_count is_copied_context model_name reasoning_effort reasoning_content tool_calls metrics",
	"call":        "tool_call_id function_name arguments | extra",
	"observation": "results |",
	"result":      "| source_call_id content subagent_trajectory_ref extra",
	"metrics":     "| prompt_tokens completion_tokens cached_tokens cost_usd prompt_token_ids completion_token_ids logprobs extra",
	"final":       "| total_prompt_tokens total_completion_tokens total_cached_tokens total_cost_usd total_steps extra",
}

// checkATIF checks a line against the rules of ATIF 1.7.
func checkATIF(line []byte) error {
	if !bytes.HasSuffix(line, []byte("}\n")) || bytes.Count(line, []byte("\n")) != 1 {
		return fmt.Errorf("not one line")
	}
	var doc map[string]any
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		return err
	}
	if doc["schema_version"] != "ATIF-v1.7" {
		return fmt.Errorf("schema_version %v", doc["schema_version"])
	}
	for _, object := range []struct {
		kind  string
		value any
	}{{"trajectory", doc}, {"agent", doc["agent"]}, {"final", doc["final_metrics"]}} {
		if err := checkMembers(object.kind, object.value); err != nil {
			return err
		}
	}
	steps, ok := doc["steps"].([]any)
	if !ok || len(steps) == 0 {
		return fmt.Errorf("no steps")
	}
	for i, step := range steps {
		if err := checkATIFStep(i, step); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
	}
	return nil
}

func checkMembers(kind string, value any) error {
	object, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("%s is %T", kind, value)
	}
	required, optional, _ := strings.Cut(atifMembers[kind], "|")
	for _, name := range strings.Fields(required) {
		if object[name] == nil {
			return fmt.Errorf("%s has no %s", kind, name)
		}
	}
	for name := range object {
		if !slices.Contains(strings.Fields(required+" "+optional), name) {
			return fmt.Errorf("%s has %s", kind, name)
		}
	}
	if extra, ok := object["extra"].(map[string]any); ok {
		for name, value := range extra {
			own, ok := value.(map[string]any)
			if name == "awo" && (!ok || len(own) == 0) {
				return fmt.Errorf("%s has an extra without anything", kind)
			}
		}
	}
	return nil
}

func checkATIFStep(i int, value any) error {
	step, ok := value.(map[string]any)
	if !ok {
		return fmt.Errorf("is %T", value)
	}
	kind := "step"
	if step["source"] == "agent" {
		kind = "agent step"
	} else if step["source"] != "user" && step["source"] != "system" {
		return fmt.Errorf("source %v", step["source"])
	}
	if err := checkMembers(kind, step); err != nil {
		return err
	}
	if step["step_id"] != json.Number(strconv.Itoa(i+1)) {
		return fmt.Errorf("step_id %v", step["step_id"])
	}
	if err := checkContent(step["message"]); err != nil {
		return err
	}
	if at, ok := step["timestamp"].(string); ok {
		if _, ok := trace.ParseTime(at); !ok {
			return fmt.Errorf("timestamp %v", at)
		}
	}
	if thought, ok := step["reasoning_content"]; ok {
		if _, ok := thought.(string); !ok {
			return fmt.Errorf("reasoning_content is %T", thought)
		}
	}
	if step["llm_call_count"] == json.Number("0") && (step["metrics"] != nil || step["reasoning_content"] != nil) {
		return fmt.Errorf("no model was asked, but there are metrics or thoughts")
	}
	ids := map[string]bool{}
	for _, call := range elementsOf(step["tool_calls"]) {
		if err := checkMembers("call", call); err != nil {
			return err
		}
		call := call.(map[string]any)
		id, _ := call["tool_call_id"].(string)
		if _, ok := call["arguments"].(map[string]any); !ok || id == "" || ids[id] {
			return fmt.Errorf("call %q with arguments %T", id, call["arguments"])
		}
		ids[id] = true
	}
	if step["observation"] == nil {
		return nil
	}
	if err := checkMembers("observation", step["observation"]); err != nil {
		return err
	}
	for _, result := range elementsOf(step["observation"].(map[string]any)["results"]) {
		if err := checkMembers("result", result); err != nil {
			return err
		}
		result := result.(map[string]any)
		if id, _ := result["source_call_id"].(string); !ids[id] {
			return fmt.Errorf("result of %q", id)
		}
		if content, ok := result["content"]; ok {
			if err := checkContent(content); err != nil {
				return err
			}
		}
	}
	return nil
}

func elementsOf(value any) []any {
	l, _ := value.([]any)
	return l
}

// checkContent checks a string or an array of content parts.
func checkContent(value any) error {
	if _, ok := value.(string); ok {
		return nil
	}
	parts, ok := value.([]any)
	if !ok {
		return fmt.Errorf("content is %T", value)
	}
	for _, part := range parts {
		object, _ := part.(map[string]any)
		_, text := object["text"].(string)
		source, image := object["source"].(map[string]any)
		media, _ := source["media_type"].(string)
		switch {
		case len(object) == 2 && object["type"] == "text" && text:
		case len(object) == 2 && object["type"] == "image" && image && len(source) == 2 && strings.HasPrefix(media, "image/"):
		default:
			return fmt.Errorf("content part %v", part)
		}
	}
	return nil
}
