package emit

import (
	"encoding/json"

	"github.com/awo-dev/awo/metatool"
)

// MetaTools emits what was found as JSON: every meta-tool with its steps, which
// input each argument is, and what it rests on.
var MetaTools = Emitter{
	Name: "metatools.json",
	Doc:  "the meta-tools: steps, inputs and what they rest on",
	Emit: func(in Results) ([]File, error) {
		out := metaToolsJSON{Schema: "awo.metatools/v1", MetaTools: []metaToolJSON{}}
		for _, t := range in.Tools {
			m := metaToolJSON{
				Name: t.Name, Description: t.Description, Steps: []stepJSON{}, InputSchema: inputSchema(t), Annotations: annotationsOf(t),
				Support: t.Candidate.Support, Occurrences: len(t.Candidate.Occurrences), TurnsSaved: t.Candidate.TurnsSaved,
			}
			for i, s := range t.Steps {
				step := stepJSON{Tool: s.Tool, Label: in.Names.Label(t.Candidate.Labels[i]), Arguments: []argumentJSON{}}
				for _, input := range t.Inputs {
					if input.Step == i {
						step.Arguments = append(step.Arguments, argumentJSON{Name: input.Argument, Input: input.Name})
					}
				}
				m.Steps = append(m.Steps, step)
			}
			out.MetaTools = append(out.MetaTools, m)
		}
		f, err := jsonFile("metatools.json", out)
		return []File{f}, err
	},
}

type metaToolsJSON struct {
	Schema    string         `json:"schema"`
	MetaTools []metaToolJSON `json:"meta_tools"`
}

type metaToolJSON struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Steps       []stepJSON      `json:"steps"`
	InputSchema json.RawMessage `json:"input_schema"`
	Annotations annotationsJSON `json:"annotations"`
	Support     int             `json:"support"`     // trajectories that it occurs in
	Occurrences int             `json:"occurrences"` // in them
	TurnsSaved  int             `json:"turns_saved"` // at most, in order of extraction
}

type stepJSON struct {
	Tool      string         `json:"tool"`
	Label     string         `json:"label"`
	Arguments []argumentJSON `json:"arguments"`
}

type argumentJSON struct {
	Name  string `json:"name"`
	Input string `json:"input"`
}

type annotationsJSON struct {
	ReadOnlyHint    bool `json:"readOnlyHint"`
	DestructiveHint bool `json:"destructiveHint"`
	IdempotentHint  bool `json:"idempotentHint"`
	OpenWorldHint   bool `json:"openWorldHint"`
}

func annotationsOf(t *metatool.Definition) annotationsJSON {
	return annotationsJSON{t.Annotations.ReadOnly, t.Annotations.Destructive, t.Annotations.Idempotent, t.Annotations.OpenWorld}
}

func inputSchema(t *metatool.Definition) json.RawMessage { return t.InputSchema().AppendCanonical(nil) }
