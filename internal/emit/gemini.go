package emit

import (
	"encoding/json"
)

// Gemini emits the definitions as the member "tools" of a request to Gemini, with
// inputs as JSON Schema (parametersJsonSchema) in the part that it takes.
var Gemini = Emitter{
	Name:  "metatools.gemini.json",
	Doc:   "the meta-tools as function declarations of a request to Gemini",
	Needs: MetaTool,
	Emit: func(in Results) ([]File, error) {
		one := geminiToolJSON{Functions: []geminiFunctionJSON{}}
		for _, t := range in.Tools {
			schema := geminiDialect.root(t).AppendCanonical(nil)
			one.Functions = append(one.Functions, geminiFunctionJSON{Name: t.Name, Description: t.Description, Parameters: schema})
		}
		f, err := jsonFile("metatools.gemini.json", geminiJSON{Tools: []geminiToolJSON{one}})
		return []File{f}, err
	},
}

type geminiJSON struct {
	Tools []geminiToolJSON `json:"tools"`
}

type geminiToolJSON struct {
	Functions []geminiFunctionJSON `json:"functionDeclarations"`
}

type geminiFunctionJSON struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parametersJsonSchema"`
}
