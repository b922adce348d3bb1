package emit

import (
	"encoding/json"

	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/trace"
)

// OpenAI emits the definitions as the members "tools" of requests to OpenAI's
// Chat Completions and Responses interfaces: in strict mode where the inputs can
// be said in it without saying something else, otherwise with the reason why not.
var OpenAI = Emitter{
	Name:  "metatools.openai.json",
	Doc:   "the meta-tools as functions of requests to OpenAI, strict where that can be",
	Needs: MetaTool,
	Emit: func(in Results) ([]File, error) {
		out := openAIJSON{Chat: []openAIChatJSON{}, Responses: []openAIFunctionJSON{}, NotStrict: []notStrictJSON{}}
		for _, t := range in.Tools {
			schema, reason := openAISchema(t)
			one := openAIFunctionJSON{
				Name: t.Name, Description: shortened(t.Description, openAIDescription), Parameters: schema.AppendCanonical(nil), Strict: reason == "",
			}
			out.Chat = append(out.Chat, openAIChatJSON{Type: "function", Function: one})
			one.Type = "function"
			out.Responses = append(out.Responses, one)
			if reason != "" {
				out.NotStrict = append(out.NotStrict, notStrictJSON{Name: t.Name, Reason: reason})
			}
		}
		f, err := jsonFile("metatools.openai.json", out)
		return []File{f}, err
	},
}

// openAIDescription is how many characters of a description are taken.
const openAIDescription = 1024

type openAIJSON struct {
	Chat      []openAIChatJSON     `json:"chat"`
	Responses []openAIFunctionJSON `json:"responses"`
	NotStrict []notStrictJSON      `json:"not_strict"`
}

type openAIChatJSON struct {
	Type     string             `json:"type"`
	Function openAIFunctionJSON `json:"function"`
}

type openAIFunctionJSON struct {
	Type        string          `json:"type,omitempty"` // for Responses
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"`
	Strict      bool            `json:"strict"`
}

type notStrictJSON struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// openAISchema returns the schema of a meta-tool's inputs for strict mode, or one
// for the other mode and the reason.
func openAISchema(t *bind.Definition) (schema trace.Value, reason string) {
	s := strict{}
	schema = s.root(t)
	if s.reason != "" {
		return plainDialect.root(t), s.reason
	}
	return schema, ""
}
