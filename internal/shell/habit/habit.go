// Package habit finds what coding agents run in a shell over and over, and writes it
// down as what such agents can be given: a script, a slash command, a skill, a hook.
//
// In come trajectories, one by one; out come habits with their evidence, and files. A
// line is written only if it is the same in several tasks and holds no credential; what
// differs between tasks is left out. It keeps the lines that it has seen, bounded.
//
// Nothing says that an agent that is given one uses it: what it saves is an upper bound.
package habit

import (
	"cmp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/internal/secret"
	"github.com/awo-dev/awo/internal/shell"
	"github.com/awo-dev/awo/trace"
)

// Kind is what a habit can become.
type Kind string

// The kinds.
const (
	Script  Kind = "script"  // lines that are run one after the other, the same in several tasks
	Command Kind = "command" // a line, or several, that is run first after the user spoke: a slash command
	Skill   Kind = "skill"   // steps whose words differ from task to task
	Hook    Kind = "hook"    // a line that follows edits of files
)

// Habit is something that agents do over and over.
type Habit struct {
	Kind        Kind     `json:"kind"`
	Name        string   `json:"name"`
	Steps       []string `json:"steps"` // what is run, by the names of the programs
	Tasks       int      `json:"tasks"` // in how many tasks it occurs
	Of          int      `json:"of"`    // of how many that run commands
	Occurrences int      `json:"occurrences"`
	Share       float64  `json:"share"`       // Hook: of the places where files were edited and a command followed
	Places      int      `json:"places"`      // Hook: these places
	TurnsSaved  int      `json:"turns_saved"` // at most

	lines []string // what is run, word for word; nil for a Skill
}

// The bounds of a habit.
const (
	MinTasks  = 3   // tasks that it occurs in at least
	maxSteps  = 6   // of a script
	maxLine   = 300 // bytes of a line that is written
	maxKnown  = 100_000
	hookShare = 0.5 // of the edits that a command follows, those that this one does
	maxHabits = 12  // of each kind
)

// editors are the tools of coding agents that change files.
var editors = map[string]bool{
	"edit": true, "write": true, "multiedit": true, "notebookedit": true, "applypatch": true, "strreplace": true, "strreplaceeditor": true, "strreplacebasededittool": true,
	"writefile": true, "editfile": true, "replaceinfile": true, "writetofile": true, "applydiff": true, "replace": true, "create": true, "createfile": true, "insertedit": true, "patch": true,
	"searchreplace": true, "editnotebook": true,
}

func isEditor(name string) bool {
	return editors[strings.NewReplacer("_", "", "-", "", ".", "").Replace(strings.ToLower(name))]
}

// Finder collects what is run.
type Finder struct {
	exact map[string]*count // lines, by line breaks
	named map[string]*count // names, by line breaks
	first map[string]*count // lines run first after the user spoke
	hooks map[string]*count
	edits int // places where files were edited and a command followed
	tasks map[string]int32
}

// count is how often something occurs, and in which tasks.
type count struct {
	occurrences int
	tasks       map[int32]struct{}
	turns       int
}

// New returns a Finder.
func New() *Finder {
	return &Finder{exact: map[string]*count{}, named: map[string]*count{}, first: map[string]*count{}, hooks: map[string]*count{}, tasks: map[string]int32{}}
}

// command is a call of a shell.
type command struct {
	line, name string // "" for a line that is not to be written
	turn       int
}

// Add collects what a trajectory runs.
func (f *Finder) Add(t *trace.Trajectory) {
	var run []command
	task, edited := int32(-1), false
	flush := func() {
		f.sequences(run, task)
		run = run[:0]
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		if c.Origin != trace.OriginModel {
			continue
		}
		if c.AfterUser {
			flush()
			edited = false
		}
		tool := shell.Base(c.Tool.Value())
		if !shell.IsTool(tool) {
			flush()
			edited = edited || isEditor(tool)
			continue
		}
		line := shell.LineOf(c)
		name := shell.Name(line)
		if name == "" {
			flush()
			edited = false
			continue
		}
		if task < 0 {
			task = f.task(t.TaskKey())
		}
		one := command{line: writable(line), name: name, turn: c.Turn}
		if edited {
			f.edits++
			if one.line != "" {
				add(f.hooks, one.line, task, 1)
			}
			edited = false
		}
		if one.line != "" && (i == 0 || c.AfterUser) {
			add(f.first, one.line, task, 1)
		}
		run = append(run, one)
	}
	flush()
}

func (f *Finder) task(key string) int32 {
	n, ok := f.tasks[key]
	if !ok {
		n = int32(len(f.tasks))
		f.tasks[key] = n
	}
	return n
}

// writable returns a line as it may be written, "" if it may not: one line that is not
// too long and holds no credential.
func writable(line string) string {
	line = strings.TrimSpace(line)
	if len(line) > maxLine || strings.ContainsFunc(line, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return ""
	}
	commands, ok := shell.Split(line)
	if !ok {
		return ""
	}
	for _, c := range commands {
		for i, word := range c.Words {
			before := ""
			if i > 0 {
				before = c.Words[i-1]
			}
			name, value, _ := strings.Cut(word, "=")
			if secret.HasForm(word) || secret.LooksLike(strings.TrimLeft(before, "-"), word) || value != "" && secret.LooksLike(strings.TrimLeft(name, "-"), value) {
				return ""
			}
		}
	}
	for _, word := range strings.Fields(line) { // what is set before a command
		name, value, _ := strings.Cut(word, "=")
		if secret.HasForm(word) || value != "" && secret.LooksLike(name, strings.Trim(value, `'"`)) {
			return ""
		}
	}
	return line
}

func add(to map[string]*count, key string, task int32, turns int) {
	c := to[key]
	if c == nil {
		if len(to) >= maxKnown {
			return
		}
		c = &count{tasks: map[int32]struct{}{}}
		to[key] = c
	}
	c.occurrences++
	c.turns += turns
	c.tasks[task] = struct{}{}
}

// sequences counts every sequence of commands that stand one behind the other.
func (f *Finder) sequences(run []command, task int32) {
	for i := range run {
		var lines, names []string
		turns, fixed := 0, true
		for j := i; j < len(run) && j-i < maxSteps; j++ {
			if j == i || run[j].turn != run[j-1].turn {
				turns++
			}
			fixed = fixed && run[j].line != ""
			lines, names = append(lines, run[j].line), append(names, run[j].name)
			if len(names) < 2 {
				continue
			}
			if fixed {
				add(f.exact, strings.Join(lines, "\n"), task, turns-1)
			}
			if len(names) > 2 {
				add(f.named, strings.Join(names, "\n"), task, turns-1)
			}
		}
	}
}

// Habits returns what was found, the most saving of each kind first.
func (f *Finder) Habits() []Habit {
	var out []Habit
	names := map[string]bool{}
	take := func(kind Kind, from map[string]*count, keep func(*Habit, *count) bool) {
		var found []Habit
		for key, c := range from {
			if len(c.tasks) < MinTasks {
				continue
			}
			h := Habit{Kind: kind, Tasks: len(c.tasks), Of: len(f.tasks), Occurrences: c.occurrences, TurnsSaved: c.turns}
			lines := strings.Split(key, "\n")
			if kind == Skill {
				h.Steps = lines
			} else {
				h.lines = lines
				for _, line := range lines {
					h.Steps = append(h.Steps, shell.Name(line))
				}
			}
			if keep(&h, c) {
				found = append(found, h)
			}
		}
		slices.SortFunc(found, func(a, b Habit) int {
			return cmp.Or(cmp.Compare(b.worth(), a.worth()), cmp.Compare(len(b.Steps), len(a.Steps)), slices.Compare(a.Steps, b.Steps), slices.Compare(a.lines, b.lines))
		})
		var taken []Habit
		for _, h := range found {
			if len(taken) == maxHabits {
				break
			}
			if !slices.ContainsFunc(append(slices.Clone(out), taken...), func(other Habit) bool { return other.covers(&h) }) {
				taken = append(taken, h)
			}
		}
		out = append(out, taken...)
	}
	take(Script, f.exact, func(h *Habit, _ *count) bool { return varied(h.Steps) && h.TurnsSaved > 0 })
	take(Skill, f.named, func(h *Habit, _ *count) bool { return varied(h.Steps) && h.TurnsSaved > 0 })
	take(Command, f.first, func(h *Habit, _ *count) bool { h.TurnsSaved = 0; return !trivial(h.Steps[0]) })
	take(Hook, f.hooks, func(h *Habit, c *count) bool {
		h.Places, h.TurnsSaved = f.edits, c.occurrences
		h.Share = float64(c.occurrences) / float64(max(f.edits, 1))
		return h.Share >= hookShare && harmless(h.Steps[0])
	})
	for i := range out {
		out[i].Name = uniqueName(out[i].Steps, names)
	}
	return out
}

// worth orders habits of a kind.
func (h *Habit) worth() int { return max(h.TurnsSaved, h.Occurrences) }

// covers reports whether a habit has the steps of another in it.
func (h *Habit) covers(other *Habit) bool {
	if h.Kind != other.Kind && !(h.Kind == Script && other.Kind == Skill) {
		return false
	}
	mine, theirs := h.lines, other.lines
	if mine == nil || theirs == nil {
		mine, theirs = h.Steps, other.Steps
	}
	short, long := theirs, mine
	if len(short) > len(long) {
		short, long = long, short
	}
	return strings.Contains("\n"+strings.Join(long, "\n")+"\n", "\n"+strings.Join(short, "\n")+"\n")
}

// varied reports whether steps are not one thing over and over.
func varied(steps []string) bool {
	different := slices.Compact(slices.Sorted(slices.Values(steps)))
	return len(different) > 1 && slices.ContainsFunc(different, func(s string) bool { return !trivial(s) })
}

// trivial reports whether a command only looks around.
func trivial(name string) bool {
	switch program, _, _ := strings.Cut(name, " "); program {
	case "ls", "cat", "pwd", "cd", "echo", "head", "tail", "grep", "rg", "find", "which", "wc", "sed", "mkdir", "sleep":
		return !strings.Contains(name, "&&")
	}
	return false
}

// harmful are words of commands that no hook may run by itself.
var harmful = []string{"push", "deploy", "publish", "rm", "delete", "reset", "commit", "checkout", "apply", "install", "kill", "pkill", "mv", "destroy", "release", "drop", "curl", "wget", "ssh", "merge", "rebase", "restart", "stop"}

func harmless(name string) bool {
	return !slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return r == ' ' || r == ':' || r == '-' || r == '_' }), func(w string) bool { return slices.Contains(harmful, w) })
}

// uniqueName returns a name for a file: lower-case letters, digits and hyphens.
func uniqueName(steps []string, taken map[string]bool) string {
	clean := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return '-'
	}
	parts := strings.FieldsFunc(strings.Map(clean, strings.Join(steps, "-")), func(r rune) bool { return r == '-' })
	parts = slices.Compact(parts)
	name := ""
	for _, p := range parts {
		if len(name)+len(p) > 40 {
			break
		}
		name = strings.TrimPrefix(name+"-"+p, "-")
	}
	name = cmp.Or(name, "commands")
	base := name
	for n := 2; taken[name]; n++ {
		name = base + "-" + string(rune('0'+n%10))
		if n > 9 {
			name = base + strings.Repeat("-x", n-9)
		}
	}
	taken[name] = true
	return name
}
