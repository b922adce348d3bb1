package emit

import (
	"encoding/json"
)

// Anthropic emits the definitions as the member "tools" of a request to the
// Messages interface. Of a schema only what it takes is written.
var Anthropic = Emitter{
	Name:  "metatools.anthropic.json",
	Doc:   "the meta-tools as tools of a request to Anthropic's Messages interface",
	Needs: MetaTool,
	Emit: func(in Results) ([]File, error) {
		out := anthropicJSON{Tools: []anthropicToolJSON{}}
		for _, t := range in.Tools {
			schema := anthropicDialect.root(t).AppendCanonical(nil)
			out.Tools = append(out.Tools, anthropicToolJSON{Name: t.Name, Description: t.Description, InputSchema: schema})
		}
		f, err := jsonFile("metatools.anthropic.json", out)
		return []File{f}, err
	},
}

type anthropicJSON struct {
	Tools []anthropicToolJSON `json:"tools"`
}

type anthropicToolJSON struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"input_schema"`
}
