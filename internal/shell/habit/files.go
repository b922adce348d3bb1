package habit

import (
	"encoding/json"
	"fmt"
	"strings"
)

// File is a file that a habit becomes.
type File struct {
	Name string // inside the folder of an agent's project, parts separated by slashes
	Data []byte
}

// Files writes habits down: scripts below scripts, slash commands, skills and hooks
// below claude, to be copied to .claude, where Claude Code reads them. The hooks are a file to
// be copied into settings.json, so that nothing runs that nobody looked at.
func Files(habits []Habit) []File {
	var out []File
	var hooks []any
	for i := range habits {
		h := &habits[i]
		switch h.Kind {
		case Script:
			out = append(out, File{"scripts/" + h.Name + ".sh", h.script()})
		case Command:
			out = append(out, File{"claude/commands/" + h.Name + ".md", h.command()})
		case Skill:
			out = append(out, File{"claude/skills/" + h.Name + "/SKILL.md", h.skill()})
		case Hook:
			hooks = append(hooks, map[string]any{
				"matcher": "Edit|Write|MultiEdit|NotebookEdit",
				"hooks":   []any{map[string]any{"type": "command", "command": h.lines[0]}},
			})
		}
	}
	if hooks != nil {
		data, err := json.MarshalIndent(map[string]any{"hooks": map[string]any{"PostToolUse": hooks}}, "", "  ")
		if err == nil {
			out = append(out, File{"claude/hooks.json", append(data, '\n')})
		}
	}
	return out
}

// evidence says where a habit was seen.
func (h *Habit) evidence() string {
	return fmt.Sprintf("Seen %d times, in %d of %d tasks.", h.Occurrences, h.Tasks, h.Of)
}

// script is the lines as they were recorded: each was read as bash, and stands on a line
// of its own. The first that fails ends it.
func (h *Habit) script() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "#!/usr/bin/env bash\n# %s Look at it before you run it.\nset -e\n\n", h.evidence())
	for _, line := range h.lines {
		b.WriteString(line + "\n")
	}
	return []byte(b.String())
}

// quoted returns a text as a scalar of YAML, which JSON's strings are.
func quoted(s string) string {
	data, _ := json.Marshal(s)
	return string(data)
}

// fence returns a line of backquotes that ends no block that the lines are in.
func fence(lines []string) string {
	mark := "```"
	for strings.Contains(strings.Join(lines, "\n"), mark) {
		mark += "`"
	}
	return mark
}

func (h *Habit) command() []byte {
	mark := fence(h.lines)
	return fmt.Appendf(nil, "---\ndescription: %s\n---\n\nRun this in the shell, and say what came of it:\n\n%sbash\n%s\n%s\n\n<!-- %s -->\n",
		quoted("Runs "+strings.Join(h.Steps, ", ")), mark, strings.Join(h.lines, "\n"), mark, h.evidence())
}

func (h *Habit) skill() []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "---\nname: %s\ndescription: %s\n---\n\n# %s\n\n", h.Name, quoted("Runs "+strings.Join(h.Steps, ", then ")+". Use it where these steps follow each other."), h.Name)
	fmt.Fprintf(&b, "%s The words behind the commands differ from task to task.\n\n", h.evidence())
	for i, step := range h.Steps {
		mark := fence([]string{step})[2:]
		fmt.Fprintf(&b, "%d. %s%s%s\n", i+1, mark, step, mark)
	}
	b.WriteString("\nStop where a step fails, and say which.\n")
	return []byte(b.String())
}
