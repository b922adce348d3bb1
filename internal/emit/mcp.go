package emit

import (
	"encoding/json"

	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/trace"
)

// MCP emits the definitions as the result of the Model Context Protocol's
// tools/list: a server that can run the steps may offer them as they are.
var MCP = Emitter{
	Name:  "metatools.mcp.json",
	Doc:   "the meta-tools as a tool list of the Model Context Protocol",
	Needs: MetaTool,
	Emit: func(in Results) ([]File, error) {
		out := mcpJSON{Tools: []mcpToolJSON{}}
		for _, t := range in.Tools {
			tool := mcpToolJSON{
				Name: t.Name, Description: t.Description, InputSchema: inputSchema(t), Annotations: annotationsOf(t),
				Meta: map[string]mcpMetaJSON{"dev.awo/metatool": {Steps: stepNames(t)}},
			}
			// Servers have to return what they announce: every answer fits.
			if kind, _ := t.Output.Schema.Lookup("type"); kind.Kind == trace.String && kind.Text == "object" {
				tool.OutputSchema = plainDialect.clean(t.Output.Schema, 1).AppendCanonical(nil)
			}
			out.Tools = append(out.Tools, tool)
		}
		f, err := jsonFile("metatools.mcp.json", out)
		return []File{f}, err
	},
}

type mcpJSON struct {
	Tools []mcpToolJSON `json:"tools"`
}

type mcpToolJSON struct {
	Name         string                 `json:"name"`
	Description  string                 `json:"description"`
	InputSchema  json.RawMessage        `json:"inputSchema"`
	OutputSchema json.RawMessage        `json:"outputSchema,omitempty"`
	Annotations  annotationsJSON        `json:"annotations"`
	Meta         map[string]mcpMetaJSON `json:"_meta"`
}

// mcpMetaJSON keeps what the protocol has no place for, under a vendor's key.
type mcpMetaJSON struct {
	Steps []string `json:"steps"` // names of the tools that are called
}

func stepNames(t *bind.Definition) []string {
	names := []string{}
	for _, s := range t.Steps {
		names = append(names, s.Tool)
	}
	return names
}
