package cli

import (
	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/internal/filter"
	"github.com/awo-dev/awo/trace"
)

// addExcludeTool adds --exclude-tool.
func addExcludeTool(f *pflag.FlagSet) {
	f.StringSlice("exclude-tool", nil, "leave out calls of tools that match this `GLOB`; may be repeated")
}

// ExcludeTools returns what takes the calls of --exclude-tool out of trajectories, as
// Intake.Exclude does; nil for no tools.
func (j *Job) ExcludeTools() func(*trace.Trajectory) bool {
	globs := j.ExcludeTool
	if len(globs) == 0 {
		return nil
	}
	return func(t *trace.Trajectory) bool {
		t.DropCalls(func(c *trace.Call) bool { return filter.IsTool(c.Tool, globs) })
		return true
	}
}
