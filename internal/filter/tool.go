package filter

import (
	"slices"

	"github.com/awo-dev/awo/internal/shell"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// IsTool reports whether a tool, or the tool that a shell command is of, matches one of
// the globs.
func IsTool(tool trace.Name, globs []string) bool {
	return slices.ContainsFunc(globs, func(glob string) bool {
		return rules.Glob(glob).Match(tool.Value()) || rules.Glob(glob).Match(shell.Base(tool.Value()))
	})
}
