package findings

import (
	"fmt"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/shell"
	"github.com/awo-dev/awo/trace"
)

// What coding agents do has words of its own: their user reads files, commands and tests, can
// change neither the tools nor the system prompt, and can write a line for CLAUDE.md or AGENTS.md.

// writers change a file that has to be read before.
var writers = map[string]bool{
	"Edit": true, "MultiEdit": true, "NotebookEdit": true, "Write": true, "Update": true,
	"edit": true, "write": true, "replace": true, "write_file": true, "replace_in_file": true, "str_replace_editor": true, "apply_patch": true, "apply_diff": true,
}

// readers read a file or list what there is.
var readers = map[string]bool{
	"Read": true, "Glob": true, "Grep": true, "LS": true, "NotebookRead": true,
	"read": true, "view": true, "glob": true, "grep": true, "list": true, "read_file": true, "read_many_files": true, "list_directory": true, "list_files": true, "search_files": true,
	"cat": true, "head": true, "tail": true, "sed": true, "nl": true, "ls": true, "find": true, "rg": true, "wc": true, "tree": true,
}

// commandOf returns the command of a shell's call, such as mix test of Bash(mix test); false
// for other tools.
func commandOf(tool string) (command string, ok bool) {
	_, rest, ok := strings.Cut(tool, "(")
	command, closed := strings.CutSuffix(rest, ")")
	return command, ok && closed && command != ""
}

// isCoding reports whether a trajectory is a coding agent's. Messages may be anybody's: those
// that change a file or run a command are.
func isCoding(t *trace.Trajectory) bool {
	if !shell.IsAgent(t) || t.Format != "messages" {
		return shell.IsAgent(t)
	}
	return slices.ContainsFunc(t.Calls, func(c trace.Call) bool {
		_, isCommand := commandOf(c.Tool.Value())
		return isCommand || writers[c.Tool.Value()]
	})
}

// runsTests reports whether a tool is a command that runs tests.
func runsTests(tool string) bool {
	command, ok := commandOf(tool)
	if !ok {
		return false
	}
	for word := range strings.FieldsSeq(command) {
		switch word {
		case "test", "tests", "pytest", "unittest", "jest", "vitest", "mocha", "rspec", "phpunit", "ctest", "nextest", "tox":
			return true
		}
	}
	return false
}

// lookForTests finds turns that run tests right after a turn that ran others, both by the same
// command, where the first went well: one call could have run them all.
func (s *Seen) lookForTests(t *trace.Trajectory, repeats, retries []int) {
	index := map[trace.Name]int{}
	before := -1 // the call of the turn before, if it is the only one and ran tests
	for i := range t.Turns {
		turn := &t.Turns[i]
		if turn.NumCalls != 1 {
			before = -1
			continue
		}
		at := turn.FirstCall
		c := &t.Calls[at]
		if c.Origin != trace.OriginModel || !runsTests(c.Tool.Value()) {
			before = -1
			continue
		}
		if before >= 0 && !c.AfterUser && t.Calls[before].Tool == c.Tool && t.Calls[before].Status != trace.StatusFailed && repeats[at] < 0 && retries[at] < 0 {
			n, ok := index[c.Tool]
			if !ok {
				n = len(s.hits)
				index[c.Tool] = n
				s.hits = append(s.hits, hit{code: Tests, tool: c.Tool})
			}
			s.hits[n].count++
			s.hits[n].turns = append(s.hits[n].turns, i)
		}
		before = at
	}
}

// codingAdvice is advice for the user of a coding agent, and a line for the file of
// instructions that the agent reads, "" where none would help.
func (f *Finder) codingAdvice(out *Finding) (advice, line string) {
	name, isCommand := out.Tool, false
	if command, ok := commandOf(out.Tool); ok {
		name, isCommand = "`"+command+"`", true
	}
	tool := strings.Trim(name, "`")
	program, _, _ := strings.Cut(tool, " ")
	switch out.Code {
	case Loop:
		if readers[program] {
			return fmt.Sprintf("The agent repeats the same %s call %s although nothing changed, so it has the result in its context already.", name, times(out.Count)),
				"Do not read a file or list a folder again that you read in this session, unless it was changed since."
		}
		return fmt.Sprintf("The agent repeats the same %s call %s although nothing changed.", name, times(out.Count)),
			fmt.Sprintf("Do not repeat a call of %s while nothing has changed: its earlier result stays valid.", name)
	case Retry:
		return fmt.Sprintf("%s is called again unchanged %s after it failed; %s of these calls did not fail again.", name, times(out.Count), percent(float64(out.Recovered)/float64(out.Count))),
			fmt.Sprintf("When %s fails, change something before you call it again.", name)
	case Failures:
		return codingFailure(out, name, program, isCommand)
	case Tests:
		return fmt.Sprintf("The agent runs tests one by one: %s of %s come right after another one that went well.", counted(out.Count, "run"), name),
			fmt.Sprintf("Run all the tests that you need with one call of %s, and not one after the other.", name)
	case Batch:
		return f.batchAdvice(out, f.kinds[hitKey{code: Batch}]), "Make reads and searches that do not need each other's results in one turn, in parallel."
	case NoCache:
		return fmt.Sprintf("No prompt caching: %s read again, at the full price, what the turn before had sent. Look at the provider, proxy or gateway that the agent talks to: it does not cache, or does not say so.", counted(out.Count, "turn")), ""
	case BrokenCache:
		return fmt.Sprintf("Prompt caching is on, but %s read less than half of what a cache could hold. Pauses of over five minutes, and another model, MCP server or CLAUDE.md in the middle of a session, build it again.", counted(out.Count, "turn")), ""
	}
	return fmt.Sprintf("%s of all turns call nothing and answer nobody.", rate(out)), "Do not announce the next step in a turn of its own: say it together with the call."
}

func codingFailure(out *Finding, name, program string, isCommand bool) (advice, line string) {
	advice = fmt.Sprintf("%s fails in %s of its calls.", name, rate(out))
	switch {
	case runsTests(out.Tool):
		return advice + " Tests that fail are part of the work; each such run costs a turn that reads the whole context.",
			fmt.Sprintf("Before you run %s, finish the change and run the narrowest test that covers it.", name)
	case writers[program]:
		return advice, fmt.Sprintf("Read a file before you change it, and give %s the exact text from it.", name)
	case readers[program]:
		return advice, fmt.Sprintf("Look up a path before you give it to %s.", name)
	case isCommand:
		return advice, fmt.Sprintf("Before you run %s, check that it is installed here and takes these arguments.", name)
	}
	return advice, fmt.Sprintf("Check the arguments of %s against its description before you call it.", name)
}
