package emit

import (
	"slices"
	"strings"

	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/arazzo"
	"github.com/awo-dev/awo/trace"
)

// Arazzo emits the meta-tools as a description that can be run: package execute
// runs it, and so may any reader of Arazzo that knows the extensions. Arazzo has
// no description without a workflow, so without a meta-tool there is no file.
var Arazzo = Emitter{
	Name:  arazzo.File,
	Doc:   "the meta-tools as an Arazzo description that can be run",
	Needs: MetaTool,
	Emit: func(in Results) ([]File, error) {
		tools := make([]*metatool.Tool, len(in.Tools))
		for i, d := range in.Tools {
			tools[i] = &d.Tool
		}
		return []File{{Name: arazzo.File, Data: arazzo.Append(nil, tools)}}, nil
	},
}

// OpenAPI emits what the steps call: the companion of Arazzo.
var OpenAPI = Emitter{
	Name:  arazzo.OpenAPIFile,
	Doc:   "the tools that meta-tools call, as OpenAPI operations",
	Needs: MetaTool,
	Emit: func(in Results) ([]File, error) {
		used := map[string]bool{}
		for _, d := range in.Tools {
			for i := range d.Steps {
				used[d.Steps[i].Tool] = true
			}
		}
		var operations []arazzo.Operation
		for _, o := range in.Operations {
			if used[o.Name] {
				operations = append(operations, o)
				delete(used, o.Name)
			}
		}
		for name := range used {
			operations = append(operations, arazzo.Operation{Name: name})
		}
		slices.SortFunc(operations, func(a, b arazzo.Operation) int { return strings.Compare(a.Name, b.Name) })
		f, err := jsonFile(arazzo.OpenAPIFile, indented{arazzo.OpenAPI(operations)})
		return []File{f}, err
	},
}

// indented is a value of the traces inside a file of indented JSON.
type indented struct{ trace.Value }

// MarshalJSON returns the canonical form.
func (v indented) MarshalJSON() ([]byte, error) { return v.AppendCanonical(nil), nil }
