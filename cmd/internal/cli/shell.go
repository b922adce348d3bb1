package cli

import (
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/internal/shell"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// addShell defines the flag --shell.
func addShell(flags *pflag.FlagSet) {
	flags.Var(NewChoice("auto", "split", "whole"), "shell", "tell calls of a shell apart by what they run, as Bash(git status); auto does it for coding agents, unless a rule is about the shell")
}

// Splitter returns what tells calls of a shell apart by --shell, nil for nothing. With auto,
// shells that rules speak of stay whole: the rules say already what is alike.
func (j *Job) Splitter(set *rules.Set) *shell.Splitter {
	choice := j.Shell
	if choice == "whole" {
		return nil
	}
	s := &shell.Splitter{All: choice == "split"}
	if choice == "auto" && set != nil {
		s.Keep = func(tool string) bool {
			for _, rule := range set.Rules {
				for _, glob := range rule.Match.Tools {
					if glob != "*" && glob.Match(tool) {
						return true
					}
				}
			}
			return false
		}
	}
	return s
}

// GroupNames are the groups of trajectories that a coding agent's folder makes, for
// --by.
var GroupNames = []string{"project", "session", "subagent", "server"}

// GroupOf returns the function that names the group of a trajectory, nil if by is none
// of GroupNames.
func GroupOf(by string) func(*trace.Trajectory) string {
	switch by {
	case "project":
		return projectOf
	case "session":
		return func(t *trace.Trajectory) string {
			if t.Session != "" {
				return t.Session
			}
			if t.Parent.Trajectory != "" {
				return t.Parent.Trajectory
			}
			return t.ID
		}
	case "subagent":
		return func(t *trace.Trajectory) string {
			switch {
			case t.Parent.Trajectory == "":
				return "(main)"
			case t.Agent != "" && !shell.IsAgentName(t.Agent):
				return t.Agent
			}
			return "(sub-agent)"
		}
	case "server":
		return serverOf
	}
	return nil
}

// sessionFolder is the name of a folder for one session, or for those of a day.
var sessionFolder = regexp.MustCompile(`^(?:[0-9a-f]{8}-[0-9a-f-]{27}|subagents|sessions|\d{1,4}|chats|storage|message|part|session)$`)

// projectOf returns the project that a trajectory is of: the folder of its file, as
// coding agents have one for each project, without folders of a session in it.
func projectOf(t *trace.Trajectory) string {
	folder := path.Dir(filepath.ToSlash(t.Source.File))
	for sessionFolder.MatchString(path.Base(folder)) && path.Dir(folder) != folder {
		folder = path.Dir(folder)
	}
	if name := path.Base(folder); name != "." && name != "/" {
		return name
	}
	return "(no folder)"
}

// serverOf returns the MCP server that most calls of a trajectory go to.
func serverOf(t *trace.Trajectory) string {
	counts := map[string]int{}
	for i := range t.Calls {
		server := "(built in)"
		if rest, ok := strings.CutPrefix(t.Calls[i].Tool.Value(), "mcp__"); ok {
			server, _, _ = strings.Cut(rest, "__")
		}
		counts[server]++
	}
	best := ""
	for server, n := range counts {
		if best == "" || n > counts[best] || n == counts[best] && server < best {
			best = server
		}
	}
	if best == "" {
		return "(no calls)"
	}
	return best
}
