package export

import (
	"bufio"
	"encoding/json"
	"strconv"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
)

// chatLines writes a trajectory a line as messages and tools of OpenAI's chat API, as
// for fine-tuning. The format has no place for ids, outcomes, times, usage or failures,
// and none for calls that the model did not decide on.
type chatLines struct {
	w    *bufio.Writer
	left Lost
}

type chatMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	Reasoning string          `json:"reasoning_content,omitempty"`
	Calls     []chatCall      `json:"tool_calls,omitempty"`
	CallID    string          `json:"tool_call_id,omitempty"`
}

type chatCall struct {
	ID       string       `json:"id"`
	Type     string       `json:"type"`
	Function chatFunction `json:"function"`
}

type chatFunction struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

type chatTool struct {
	Type     string         `json:"type"`
	Function chatDefinition `json:"function"`
}

type chatDefinition struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
}

type chatLine struct {
	Messages []chatMessage `json:"messages"`
	Tools    []chatTool    `json:"tools,omitempty"`
}

func (c *chatLines) lost() Lost   { return c.left }
func (c *chatLines) begin() error { return nil }
func (c *chatLines) end() error   { return nil }

func (c *chatLines) add(t *trace.Trajectory) error {
	line := chatLine{Messages: []chatMessage{}}
	ids := newCallIDs(t)
	for _, it := range items(t) {
		if it.message != nil {
			role := "user"
			if it.message.Role == trace.RoleSystem {
				role = "system"
			}
			line.Messages = append(line.Messages, chatMessage{Role: role, Content: content(it.message.Text)})
			continue
		}
		said := chatMessage{Role: "assistant", Content: json.RawMessage("null")}
		if it.turn != nil {
			said.Reasoning = it.turn.Thought.Text()
			if !it.turn.Text.IsZero() {
				said.Content = content(it.turn.Text)
			}
		}
		var results []chatMessage
		for i := range it.calls {
			call := &it.calls[i]
			if call.Origin != trace.OriginModel {
				c.left.OtherCalls++
				continue
			}
			id := ids.of(call)
			said.Calls = append(said.Calls, chatCall{id, "function", chatFunction{call.Tool.Value(), arguments(call.Args)}})
			if call.HasResult {
				results = append(results, chatMessage{Role: "tool", CallID: id, Content: content(call.Result)})
			}
		}
		if it.turn == nil && len(said.Calls) == 0 {
			continue
		}
		line.Messages = append(append(line.Messages, said), results...)
	}
	for i := range t.Tools {
		tool := &t.Tools[i]
		line.Tools = append(line.Tools, chatTool{"function", chatDefinition{tool.Name.Value(), tool.Description.Text(), rawJSON(tool.Input)}})
	}
	return writeLine(c.w, line)
}

// writeLine writes v as JSON and ends the line.
func writeLine(w *bufio.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

// content returns a text as a JSON string, content parts as they are, and other JSON as
// a string that holds it.
func content(r trace.Raw) json.RawMessage {
	if r.Form == trace.FormParts {
		return jsonscan.AppendCompact(nil, r.Data)
	}
	return jsonscan.AppendQuoted(nil, trace.ValidText(r.Content()))
}

// rawJSON returns JSON as it is, and nothing for what is none.
func rawJSON(r trace.Raw) json.RawMessage {
	if r.Form != trace.FormJSON {
		return nil
	}
	return jsonscan.AppendCompact(nil, r.Data)
}

// arguments returns the text of arguments, "" where they are not recorded.
func arguments(r trace.Raw) string {
	if r.Form == trace.FormJSON {
		return string(jsonscan.AppendCompact(nil, r.Data))
	}
	return trace.ValidText(r.Content())
}

// callIDs gives every call of a trajectory an id of its own: the recorded one, unless
// there is none or it was given before.
type callIDs struct {
	given map[string]bool
	ids   map[*trace.Call]string
}

func newCallIDs(t *trace.Trajectory) *callIDs {
	c := &callIDs{given: map[string]bool{}, ids: map[*trace.Call]string{}}
	recorded := map[string]bool{}
	for i := range t.Calls {
		recorded[t.Calls[i].ID] = true
	}
	for i := range t.Calls {
		id := t.Calls[i].ID
		for n := i + 1; id == "" || c.given[id]; n++ {
			if id = "call_" + strconv.Itoa(n); recorded[id] {
				id = ""
			}
		}
		c.given[id] = true
		c.ids[&t.Calls[i]] = id
	}
	return c
}

func (c *callIDs) of(call *trace.Call) string { return c.ids[call] }
