package cli

import (
	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/internal/filter"
	"github.com/awo-dev/awo/trace"
)

// AddExcludeTool adds --exclude-tool.
func AddExcludeTool(f *pflag.FlagSet) {
	f.StringSlice("exclude-tool", nil, "leave out calls of tools that match this `GLOB`; may be repeated")
}

// ExcludeTools returns what takes the calls of tools out of trajectories, as
// Intake.Exclude does; nil for no tools.
func ExcludeTools(globs []string) func(*trace.Trajectory) bool {
	if len(globs) == 0 {
		return nil
	}
	return func(t *trace.Trajectory) bool {
		t.DropCalls(func(c *trace.Call) bool { return filter.IsTool(c.Tool, globs) })
		return true
	}
}
