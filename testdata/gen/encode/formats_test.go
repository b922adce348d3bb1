package encode_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/awo-dev/awo/testdata/gen/encode"
	"github.com/awo-dev/awo/testdata/gen/office"
)

// told is a run as a format tells it, a line an event: what the user said, what
// the model answered and called, what the tools returned.
type told []string

// tell returns a run as every format should tell it. Formats without an error
// flag leave the status out.
func tell(r *office.Run, status bool) told {
	t := told{"system " + r.System}
	for _, e := range r.Events {
		if e.User != nil {
			t = append(t, "user "+e.User.Text)
			continue
		}
		t = append(t, "turn "+e.Turn.Text)
		for _, c := range e.Turn.Calls {
			t = append(t, "call "+c.ID+" "+c.Tool.Name+" "+canonical(c.Args.Value().AppendJSON(nil)))
		}
		for _, c := range e.Turn.Calls {
			if c.HasResult {
				line := "result " + c.ID + " " + c.Result.Text()
				if status {
					line += " " + c.Status()
				}
				t = append(t, line)
			}
		}
	}
	return t
}

// canonical sorts the members of an object.
func canonical(object []byte) string {
	var v map[string]any
	d := json.NewDecoder(bytes.NewReader(object))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return err.Error()
	}
	b, err := json.Marshal(v)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func (t told) compare(test *testing.T, r *office.Run, format string, status bool) {
	test.Helper()
	want := tell(r, status)
	for i := range max(len(t), len(want)) {
		got, expected := "nothing", "nothing"
		if i < len(t) {
			got = t[i]
		}
		if i < len(want) {
			expected = want[i]
		}
		if got != expected {
			test.Fatalf("%s in %s, event %d:\n got %s\nwant %s", r.ID, format, i, got, expected)
		}
	}
}

func TestATIFTellsTheRun(t *testing.T) {
	for _, r := range runs(t) {
		var a atifTrajectory
		strict(t, encode.ATIF(nil, r), &a)
		var got told
		for _, s := range a.Steps {
			if s.Source != "agent" {
				got = append(got, s.Source+" "+*s.Message)
				continue
			}
			got = append(got, "turn "+*s.Message)
			status := make(map[string]string)
			for _, c := range s.ToolCalls {
				status[c.ToolCallID] = c.Extra.Awo.Status
				args, err := json.Marshal(c.Arguments)
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, "call "+c.ToolCallID+" "+c.FunctionName+" "+string(args))
			}
			if s.Observation == nil {
				continue
			}
			for _, x := range s.Observation.Results {
				got = append(got, "result "+x.SourceCallID+" "+x.Content+" "+status[x.SourceCallID])
			}
		}
		got.compare(t, r, "atif", true)
		want := map[string]any{"awo": map[string]any{"task": r.Task, "trial": strconv.Itoa(r.Trial), "outcome": map[bool]string{true: "success", false: "failure"}[r.Solved]}}
		if fmt.Sprint(a.Extra) != fmt.Sprint(want) || a.SessionID != r.ID {
			t.Errorf("%s: extra is %v", a.SessionID, a.Extra)
		}
	}
}

// The subset of OpenAI's chat completions that is written.
type (
	chatMessage struct {
		Role       string     `json:"role"`
		Content    *string    `json:"content"`
		ToolCalls  []chatCall `json:"tool_calls"`
		ToolCallID string     `json:"tool_call_id"`
	}
	chatCall struct {
		ID       string `json:"id"`
		Type     string `json:"type"`
		Function struct {
			Name      string `json:"name"`
			Arguments string `json:"arguments"`
		} `json:"function"`
	}
	chatTool struct {
		Type     string          `json:"type"`
		Function json.RawMessage `json:"function"`
	}
)

func (m chatMessage) tell() told {
	content := ""
	if m.Content != nil {
		content = *m.Content
	}
	switch m.Role {
	case "assistant":
		t := told{"turn " + content}
		for _, c := range m.ToolCalls {
			t = append(t, "call "+c.ID+" "+c.Function.Name+" "+canonical([]byte(c.Function.Arguments)))
		}
		return t
	case "tool":
		return told{"result " + m.ToolCallID + " " + content}
	}
	return told{m.Role + " " + content}
}

func TestChatTellsTheRun(t *testing.T) {
	for _, r := range runs(t) {
		var line struct {
			Messages []chatMessage `json:"messages"`
			Tools    []chatTool    `json:"tools"`
		}
		strict(t, encode.Chat(nil, r), &line)
		var got told
		for _, m := range line.Messages {
			got = append(got, m.tell()...)
		}
		got.compare(t, r, "chat", false)
		if len(line.Tools) != len(r.Tools) {
			t.Errorf("%s: %d tools", r.ID, len(line.Tools))
		}
	}
}

func TestChatLogTellsTheRun(t *testing.T) {
	type usage struct {
		Prompt     int            `json:"prompt_tokens"`
		Completion int            `json:"completion_tokens"`
		Total      int            `json:"total_tokens"`
		Details    map[string]int `json:"prompt_tokens_details"`
		Output     map[string]int `json:"completion_tokens_details"`
	}
	type pair struct {
		Request struct {
			Model    string            `json:"model"`
			Messages []chatMessage     `json:"messages"`
			Tools    []chatTool        `json:"tools"`
			Metadata map[string]string `json:"metadata"`
		} `json:"request"`
		Response struct {
			ID, Object, Model string
			Created           int64
			Choices           []struct {
				Index        int         `json:"index"`
				Message      chatMessage `json:"message"`
				Logprobs     any         `json:"logprobs"`
				FinishReason string      `json:"finish_reason"`
			}
			Usage usage
		} `json:"response"`
	}
	ids := make(map[string]bool)
	for _, r := range runs(t) {
		lines := bytes.Split(bytes.TrimSpace(encode.ChatLog(nil, r)), []byte("\n"))
		turns := r.Turns()
		if len(lines) != len(turns) {
			t.Fatalf("%s: %d lines of %d turns", r.ID, len(lines), len(turns))
		}
		whole := tell(r, false)
		for i, line := range lines {
			var p pair
			strict(t, line, &p)
			var got told
			for _, m := range p.Request.Messages {
				got = append(got, m.tell()...)
			}
			got = append(got, p.Response.Choices[0].Message.tell()...)
			if !slices.Equal(got, whole[:len(got)]) {
				t.Fatalf("%s: turn %d tells another story", r.ID, i)
			}
			u := turns[i].Usage
			want := usage{u.Input, u.Output, u.Input + u.Output, map[string]int{"cached_tokens": u.Cached}, map[string]int{"reasoning_tokens": u.Reasoning}}
			if fmt.Sprint(p.Response.Usage) != fmt.Sprint(want) {
				t.Errorf("%s: usage is %v, not %v", r.ID, p.Response.Usage, want)
			}
			if ids[p.Response.ID] || p.Request.Metadata["task_id"] != r.Task || p.Request.Metadata["conversation_id"] != r.ID {
				t.Errorf("%s: response %s, metadata %v", r.ID, p.Response.ID, p.Request.Metadata)
			}
			ids[p.Response.ID] = true
		}
	}
}
