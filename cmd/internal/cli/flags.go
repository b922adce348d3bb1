package cli

import (
	"cmp"
	"fmt"
	"math"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/internal/filter"
	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/internal/shell"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Choice is the value of a flag that takes one of a few words.
type Choice struct {
	value   string
	Allowed []string // words, the default first
}

// NewChoice returns a choice whose default is the first of the allowed words.
func NewChoice(allowed ...string) *Choice {
	return &Choice{value: allowed[0], Allowed: allowed}
}

// String returns the word chosen.
func (c *Choice) String() string { return c.value }

// Set chooses a word.
func (c *Choice) Set(s string) error {
	if !slices.Contains(c.Allowed, s) {
		return fmt.Errorf("want %s", c.Want())
	}
	c.value = s
	return nil
}

// Type names the value in help texts.
func (c *Choice) Type() string { return strings.Join(c.Allowed, "|") }

// Want says in words what can be chosen.
func (c *Choice) Want() string {
	last := len(c.Allowed) - 1
	if last == 0 {
		return c.Allowed[0]
	}
	return strings.Join(c.Allowed[:last], ", ") + " or " + c.Allowed[last]
}

// Number is the value of a flag that takes a number within bounds.
type Number struct {
	text        string
	least, most float64
	whole       bool
	below       bool // most itself is too much
}

// Count defines a flag for a whole number that is at least so much.
func Count(f *pflag.FlagSet, name string, value, least int, usage string) {
	CountTo(f, name, value, least, math.MaxInt32, usage)
}

// CountTo is Count with a most.
func CountTo(f *pflag.FlagSet, name string, value, least, most int, usage string) {
	f.Var(&Number{text: strconv.Itoa(value), least: float64(least), most: float64(most), whole: true}, name, usage)
}

// Share defines a flag for a part of one; below says that one itself is too much.
func Share(f *pflag.FlagSet, name string, value float64, below bool, usage string) {
	f.Var(&Number{text: strconv.FormatFloat(value, 'g', -1, 64), most: 1, below: below}, name, usage)
}

// Amount defines a flag for a number that is not negative.
func Amount(f *pflag.FlagSet, name string, value float64, usage string) {
	f.Var(&Number{text: strconv.FormatFloat(value, 'g', -1, 64), most: math.MaxFloat64}, name, usage)
}

// String returns the number.
func (n *Number) String() string { return n.text }

// Set reads a number.
func (n *Number) Set(s string) error {
	v, err := strconv.ParseFloat(s, 64)
	if n.whole && err == nil {
		_, err = strconv.Atoi(s)
	}
	if err != nil || !(v >= n.least && v <= n.most) || n.below && v == n.most {
		return fmt.Errorf("want %s", n.Want())
	}
	n.text = s
	return nil
}

// Type names the value in help texts.
func (n *Number) Type() string {
	if n.whole {
		return "int"
	}
	return "float64"
}

// Want says in words what can be set.
func (n *Number) Want() string {
	kind, most := "a number", strconv.FormatFloat(n.most, 'g', -1, 64)
	if n.whole {
		kind = "a whole number"
	}
	switch {
	case n.most >= math.MaxInt32:
		return fmt.Sprintf("%s from %g on", kind, n.least)
	case n.below:
		return fmt.Sprintf("%s from %g to less than %s", kind, n.least, most)
	}
	return fmt.Sprintf("%s from %g to %s", kind, n.least, most)
}

// Size is the value of a flag that counts bytes, such as 64MiB.
type Size int64

// sizeUnits are what may follow the number, longest first.
var sizeUnits = []struct {
	name  string
	bytes int64
}{
	{"KiB", 1 << 10},
	{"MiB", 1 << 20},
	{"GiB", 1 << 30},
	{"KB", 1e3},
	{"MB", 1e6},
	{"GB", 1e9},
}

// String returns the size in the largest unit that divides it.
func (s *Size) String() string {
	n := int64(*s)
	for _, u := range []string{"GiB", "MiB", "KiB"} {
		for _, unit := range sizeUnits {
			if unit.name == u && n != 0 && n%unit.bytes == 0 {
				return strconv.FormatInt(n/unit.bytes, 10) + u
			}
		}
	}
	return strconv.FormatInt(n, 10)
}

// Set reads a size: a number, and a unit if it is not bytes.
func (s *Size) Set(text string) error {
	number, factor := strings.TrimSpace(text), int64(1)
	for _, unit := range sizeUnits {
		if rest, ok := strings.CutSuffix(number, unit.name); ok {
			number, factor = strings.TrimSpace(rest), unit.bytes
			break
		}
	}
	v, err := strconv.ParseFloat(number, 64)
	if err != nil || math.IsNaN(v) || v < 0 || v*float64(factor) >= math.MaxInt64 {
		return fmt.Errorf("want %s", wantSize)
	}
	*s = Size(v * float64(factor))
	return nil
}

const wantSize = "a size such as 500000, 64MiB or 1.5GB"

// Type names the value in help texts.
func (s *Size) Type() string { return "size" }

// UnmarshalText reads a size as Set does.
func (s *Size) UnmarshalText(text []byte) error { return s.Set(string(text)) }

// Wanted says in words what values a flag takes.
func Wanted(v pflag.Value) string {
	switch v := v.(type) {
	case *Choice:
		return v.Want()
	case *Number:
		return v.Want()
	case *Size:
		return wantSize
	}
	switch v.Type() {
	case "bool":
		return "true or false"
	case "int", "int64":
		return "a whole number"
	case "uint", "uint64":
		return "a whole number that is not negative"
	case "float64":
		return "a number"
	case "duration":
		return "a duration such as 30s or 5m"
	}
	return "a value"
}

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
var sessionFolder = regexp.MustCompile(`^(?:[0-9a-f]{8}-[0-9a-f-]{27}|subagents|sessions|\d{1,4}|chats|agent-transcripts|session-state|storage|message|part|session)$`)

// projectOf returns the project that a trajectory is of: the folder that the agent worked in,
// where that is recorded, else that of the file, as coding agents have one for each project,
// without folders of a session in it.
func projectOf(t *trace.Trajectory) string {
	worked := strings.TrimRight(t.Folder, `/\`)
	if name := worked[strings.LastIndexAny(worked, `/\`)+1:]; name != "" {
		return name
	}
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

// Parallel returns how many pieces of work run at once.
func (j *Job) Parallel() int { return cmp.Or(j.Workers, runtime.GOMAXPROCS(0)) }

// Each runs independent pieces of work on the job's workers.
func (j *Job) Each() func(n int, do func(i int)) {
	return func(n int, do func(i int)) {
		counts := !j.Progress.isStepping()
		for i := range par.Each(j.Parallel(), n, do) {
			if counts {
				j.Progress.Step("computing", i+1, n)
			}
		}
		if counts {
			j.Progress.Step("", 0, 0)
		}
	}
}
