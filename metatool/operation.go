package metatool

import (
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/trace"
)

// ArgumentsSchema returns the JSON Schema of a tool's arguments that stands on
// its own, local references put in place; Null if no definition was recorded or
// it cannot be made to.
func ArgumentsSchema(d *merge.Definition) trace.Value {
	if d.Input.Kind != trace.Object {
		return trace.Value{}
	}
	in := inliner{definition: d}
	whole := in.inline(d.Input, 0)
	if in.failed {
		return trace.Value{}
	}
	return whole
}
