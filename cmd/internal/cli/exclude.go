package cli

import (
	"slices"

	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/internal/shell"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// AddExcludeTool adds --exclude-tool.
func AddExcludeTool(f *pflag.FlagSet) {
	f.StringSlice("exclude-tool", nil, "leave out calls of tools that match this `GLOB`; may be repeated")
}

// IsExcluded reports whether a tool, or the tool that a shell command is of, matches one
// of the globs.
func IsExcluded(tool trace.Name, globs []string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		return rules.Glob(glob).Match(tool.Value()) || rules.Glob(glob).Match(shell.Base(tool.Value()))
	})
}

// ExcludeTools returns what takes the calls of tools out of trajectories, as
// Intake.Exclude does; nil for no tools.
func ExcludeTools(globs []string) func(*trace.Trajectory) bool {
	if len(globs) == 0 {
		return nil
	}
	return func(t *trace.Trajectory) bool {
		t.DropCalls(func(c *trace.Call) bool { return IsExcluded(c.Tool, globs) })
		return true
	}
}
