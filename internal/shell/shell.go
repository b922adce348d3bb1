// Package shell reads the command lines that agents run: which programs a line calls,
// so that calls of a shell can be told apart as tools are.
//
// In comes the text of a line, out go its commands and a short name for all of it. The
// language is that of bash (mvdan.cc/sh). What cannot be parsed, or is longer than
// MaxLine, has no name. It keeps nothing in memory but the names it has worked out,
// bounded, and never runs anything.
package shell

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/trace"
	"mvdan.cc/sh/v3/syntax"
)

// MaxLine is how long a command line may be to be read, in bytes.
const MaxLine = 16 << 10

// The bounds of a line.
const (
	maxCommands = 64 // that are looked at
	maxNested   = 3  // sh -c inside of sh -c
	maxNamed    = 3  // commands in a name
)

// Command is a program that a line runs.
type Command struct {
	Program string   // without its folder
	Sub     string   // git status: status; "" if the program has none
	Words   []string // the other words, those that hold a variable or a substitution as they are written
	Fixed   bool     // no word holds a variable, a substitution, a pattern or a redirection
}

// Name returns the program with its subcommand.
func (c *Command) Name() string {
	if c.Sub == "" {
		return c.Program
	}
	return c.Program + " " + c.Sub
}

// tools are the names under which agents have a shell, in lower case and without
// separators.
var tools = map[string]bool{
	"bash": true, "shell": true, "executebash": true, "executecommand": true, "runcommand": true, "runshellcommand": true,
	"runterminalcmd": true, "runterminalcommand": true, "runinterminal": true, "terminal": true, "execcommand": true, "localshell": true, "localshellcall": true,
	"execute": true, "developershell": true, "shellcommand": true, "exec": true, "containerexec": true,
}

// IsTool reports whether a tool of this name runs command lines.
func IsTool(name string) bool {
	return tools[strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r == '.' || r == ' ' {
			return -1
		}
		return r
	}, strings.ToLower(name))]
}

// Arguments are the names of the argument that holds the line.
var Arguments = []string{"command", "cmd", "script", "commandLine"}

// Split returns the programs that a line runs, in their order, and false if it is too
// long or no shell can read it. Programs that only prepare others (cd, export, sudo,
// env, timeout, sh -c) are left out or passed through; what stands in substitutions is
// not looked at.
func Split(line string) ([]Command, bool) { return split(line, 0) }

func split(line string, depth int) ([]Command, bool) {
	if len(line) > MaxLine || depth > maxNested || strings.TrimSpace(line) == "" {
		return nil, false
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return nil, false
	}
	r := reader{depth: depth}
	for _, s := range file.Stmts {
		r.stmt(s)
	}
	if r.lost || len(r.commands) == 0 {
		return nil, false
	}
	return r.commands, true
}

// reader collects the commands of a line.
type reader struct {
	commands []Command
	depth    int
	lost     bool // a program whose name is not known, or too many
	piped    bool // behind a pipe
}

func (r *reader) stmt(s *syntax.Stmt) {
	if s == nil || r.lost {
		return
	}
	r.command(s.Cmd, len(s.Redirs) > 0)
}

func (r *reader) stmts(list []*syntax.Stmt) {
	for _, s := range list {
		r.stmt(s)
	}
}

func (r *reader) command(c syntax.Command, redirected bool) {
	switch c := c.(type) {
	case *syntax.CallExpr:
		r.call(c.Args, redirected)
	case *syntax.BinaryCmd:
		r.stmt(c.X)
		if c.Op == syntax.Pipe || c.Op == syntax.PipeAll {
			before := r.piped
			r.piped = true
			r.stmt(c.Y)
			r.piped = before
		} else {
			r.stmt(c.Y)
		}
	case *syntax.Block:
		r.stmts(c.Stmts)
	case *syntax.Subshell:
		r.stmts(c.Stmts)
	case *syntax.IfClause:
		for c != nil {
			r.stmts(c.Cond)
			r.stmts(c.Then)
			c = c.Else
		}
	case *syntax.WhileClause:
		r.stmts(c.Cond)
		r.stmts(c.Do)
	case *syntax.ForClause:
		r.stmts(c.Do)
	case *syntax.CaseClause:
		for _, item := range c.Items {
			r.stmts(item.Stmts)
		}
	case *syntax.TimeClause:
		r.stmt(c.Stmt)
	case *syntax.DeclClause, *syntax.TestClause, *syntax.ArithmCmd, *syntax.LetClause, nil:
	default: // a function: what it does is not known before it is called
		r.lost = true
	}
}

// word returns the text of a word, and whether it has nothing but text in it.
func word(w *syntax.Word) (text string, fixed bool) {
	var b strings.Builder
	fixed = true
	var parts func([]syntax.WordPart)
	parts = func(list []syntax.WordPart) {
		for _, p := range list {
			switch p := p.(type) {
			case *syntax.Lit:
				b.WriteString(unescape(p.Value))
				fixed = fixed && (p.Value == "[" || !strings.ContainsAny(p.Value, "*?["))
			case *syntax.SglQuoted:
				b.WriteString(p.Value)
			case *syntax.DblQuoted:
				parts(p.Parts)
			default:
				fixed = false
				_ = syntax.NewPrinter().Print(&b, p)
			}
		}
	}
	parts(w.Parts)
	return b.String(), fixed
}

// unescape takes the backslashes out of a literal.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			i++
			if s[i] == '\n' {
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// program is what a program may be called to be named.
var program = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.+-]{0,39}$`)

// subcommand is what the subcommand of a program looks like.
var subcommand = regexp.MustCompile(`^[a-z][a-z0-9]*(?:[:_-][a-z0-9]+)*$`)

// wrappers run the command that follows, behind options, and so many words of their own.
var wrappers = map[string]int{
	"sudo": 0, "env": 0, "time": 0, "nohup": 0, "nice": 0, "command": 0, "exec": 0, "stdbuf": 0, "timeout": 1, "gtimeout": 1, "xargs": 0, "builtin": 0, "ionice": 0, "caffeinate": 0, "rtk": 0,
}

// silent are programs that say nothing of what a line does if it does something else.
var silent = map[string]bool{
	"cd": true, "pushd": true, "popd": true, "export": true, "set": true, "source": true, ".": true, "true": true, "false": true, ":": true,
	"sleep": true, "echo": true, "printf": true, "unset": true, "wait": true, "exit": true, "test": true, "[": true, "shopt": true, "ulimit": true, "clear": true,
}

// filters are programs that only change what is shown of the output of another.
var filters = map[string]bool{
	"head": true, "tail": true, "grep": true, "egrep": true, "fgrep": true, "rg": true, "wc": true, "sort": true, "uniq": true, "cut": true, "tr": true, "sed": true,
	"awk": true, "jq": true, "less": true, "more": true, "cat": true, "column": true, "nl": true, "fold": true, "tac": true, "rev": true, "tee": true, "yq": true,
}

// valued are the options of programs that take the next word, before a subcommand.
var valued = map[string][]string{
	"git": {"-C", "-c", "--git-dir", "--work-tree"}, "kubectl": {"-n", "--namespace", "--context", "--kubeconfig"}, "docker": {"-H", "--context", "--host"},
	"npm": {"--prefix", "-w", "--workspace"}, "pnpm": {"-C", "--dir", "--filter", "-F"}, "yarn": {"--cwd"}, "gh": {"-R", "--repo"}, "helm": {"-n", "--namespace"},
	"go": {"-C"}, "sudo": {"-u", "-g"}, "env": {"-u", "-C"}, "nice": {"-n"}, "timeout": {"-s", "-k"}, "xargs": {"-n", "-I", "-P", "-L", "-d"}, "aws": {"--profile", "--region"},
}

// levels are the programs with subcommands, and how many words those have.
var levels = map[string]int{
	"git": 1, "npm": 1, "pnpm": 1, "yarn": 1, "bun": 1, "deno": 1, "go": 1, "cargo": 1, "rustup": 1, "docker": 1, "podman": 1, "docker-compose": 1, "kubectl": 1,
	"helm": 1, "gh": 2, "glab": 2, "pip": 1, "pip3": 1, "uv": 1, "poetry": 1, "conda": 1, "brew": 1, "apt": 1, "apt-get": 1, "dnf": 1, "yum": 1, "apk": 1, "systemctl": 1,
	"terraform": 1, "tofu": 1, "aws": 2, "gcloud": 3, "az": 2, "dotnet": 1, "mvn": 1, "gradle": 1, "gradlew": 1, "mvnw": 1, "bundle": 1, "rails": 1, "mix": 1, "make": 1, "just": 1, "task": 1,
	"npx": 1, "bunx": 1, "pnpx": 1, "uvx": 1, "composer": 1, "php": 0, "swift": 1, "flutter": 1, "dart": 1, "bazel": 1, "nx": 1, "turbo": 1, "heroku": 1, "fly": 1, "vercel": 1, "supabase": 1,
}

// runs are subcommands that name what they run: npm run test, docker compose up.
var runs = map[string]bool{"run": true, "exec": true, "compose": true, "tool": true, "mod": true, "dlx": true, "stash": true, "remote": true, "worktree": true, "submodule": true}

// shells run a line that they are given.
var shells = map[string]bool{"sh": true, "bash": true, "zsh": true, "dash": true}

// call adds what the words of a call run.
func (r *reader) call(args []*syntax.Word, redirected bool) {
	if len(args) == 0 {
		return // only sets variables
	}
	var words []string
	var fixed []bool
	for _, a := range args {
		text, ok := word(a)
		words, fixed = append(words, text), append(fixed, ok)
	}
	for {
		if !fixed[0] {
			r.lost = true
			return
		}
		own, wraps := wrappers[path.Base(words[0])]
		if !wraps {
			break
		}
		i := skipOptions(path.Base(words[0]), words, 1)
		for i < len(words) && strings.Contains(words[i], "=") && !strings.HasPrefix(words[i], "-") {
			i++ // env A=b
		}
		if i += own; i >= len(words) {
			break
		}
		words, fixed = words[i:], fixed[i:]
	}
	name := path.Base(words[0])
	if len(words) > 2 && shells[name] && words[1] == "-c" || len(words) > 2 && shells[name] && words[1] == "-lc" {
		inner, ok := split(words[2], r.depth+1)
		if !ok || !fixed[2] {
			r.lost = true
			return
		}
		for _, c := range inner {
			r.add(c)
		}
		return
	}
	if !program.MatchString(name) && !silent[name] {
		r.lost = true
		return
	}
	c := Command{Program: name, Words: words[1:], Fixed: !redirected && !slices.Contains(fixed, false)}
	if n := levels[name]; n > 0 {
		var sub []string
		for i := skipOptions(name, words, 1); i < len(words) && len(sub) < n && fixed[i] && subcommand.MatchString(words[i]); i++ {
			if sub = append(sub, words[i]); runs[words[i]] && len(sub) == n {
				n++
			}
			if i+1 < len(words) && strings.HasPrefix(words[i+1], "-") {
				break
			}
		}
		c.Sub = strings.Join(sub, " ")
		if i := slices.Index(c.Words, firstOf(sub)); i >= 0 {
			c.Words = slices.Delete(slices.Clone(c.Words), i, min(i+len(sub), len(c.Words)))
		}
	}
	if (name == "python" || name == "python3") && len(words) > 2 && words[1] == "-m" && subcommand.MatchString(words[2]) {
		c.Sub, c.Words = "-m "+words[2], words[3:]
	}
	r.add(c)
}

func firstOf(list []string) string {
	if len(list) == 0 {
		return "\x00"
	}
	return list[0]
}

func (r *reader) add(c Command) {
	if r.piped && filters[c.Program] && len(r.commands) > 0 {
		return
	}
	if r.commands = append(r.commands, c); len(r.commands) > maxCommands {
		r.lost = true
	}
}

// skipOptions returns the first word from i on that is no option of a program.
func skipOptions(program string, words []string, i int) int {
	for i < len(words) && strings.HasPrefix(words[i], "-") {
		if slices.Contains(valued[program], words[i]) {
			i++
		}
		i++
	}
	return min(i, len(words))
}

// Name returns a short name for what a line runs, such as "git add && git commit": its
// programs in their order without those that only prepare or filter, the first three
// of them. It is "" for a line without a name.
func Name(line string) string {
	commands, ok := Split(line)
	if !ok {
		return ""
	}
	var names []string
	for _, only := range []bool{true, false} { // what is silent counts if there is nothing else
		for i := range commands {
			name := commands[i].Name()
			if only && silent[commands[i].Program] || len(names) > 0 && names[len(names)-1] == name {
				continue
			}
			names = append(names, name)
		}
		if names != nil {
			break
		}
	}
	if len(names) > maxNamed {
		names = append(names[:maxNamed], "…")
	}
	return strings.Join(names, " && ")
}

// ToolName returns the name of a call of a shell by what it runs: Bash(git status).
func ToolName(tool, name string) string { return tool + "(" + name + ")" }

// Base returns the tool that a name by ToolName is of, and the name itself if it is
// none.
func Base(name string) string {
	if tool, rest, ok := strings.Cut(name, "("); ok && strings.HasSuffix(rest, ")") && IsTool(tool) {
		return tool
	}
	return name
}

// LineOf returns the command line that a call of a shell runs, "" if it has none.
func LineOf(c *trace.Call) string {
	if c.Args.IsZero() {
		return ""
	}
	args, ok := c.ArgsValue()
	if !ok {
		return ""
	}
	for _, name := range Arguments {
		v, found := args.Lookup(name)
		if !found {
			continue
		}
		if v.Kind == trace.String {
			return v.Text
		}
		if n := len(v.Elems); n > 0 && v.Kind == trace.Array { // ["bash", "-lc", "ls"], or words
			if n == 3 && shells[path.Base(v.Elems[0].Text)] && strings.HasPrefix(v.Elems[1].Text, "-") {
				return v.Elems[2].Text
			}
			var words []string
			for _, e := range v.Elems {
				quoted, err := syntax.Quote(e.Text, syntax.LangBash)
				if e.Kind != trace.String || err != nil {
					return ""
				}
				words = append(words, quoted)
			}
			return strings.Join(words, " ")
		}
	}
	return ""
}

// agents are the formats and the names of coding agents, whose shells are told apart by
// default.
var agents = map[string]bool{
	"claude-code": true, "codex": true, "opencode": true, "gemini-cli": true, "copilot-cli": true, "vscode-copilot": true, "kimi": true, "openhands": true, "openhands-v0": true, "swe-agent": true,
	"copilot": true, "copilot-chat": true, "messages": true,
}

// IsAgent reports whether a trajectory is a coding agent's.
func IsAgent(t *trace.Trajectory) bool { return agents[t.Format] || agents[t.Agent] }

// Splitter tells the calls of a shell apart by what they run. It is not safe for
// concurrent use.
type Splitter struct {
	names map[string]string // by line; bounded
	All   bool              // also of trajectories that are no coding agent's
	Keep  func(tool string) bool
}

// maxNames is how many lines a Splitter remembers.
const maxNames = 1 << 14

// Split gives the calls of shells in t names that say what they run: Bash(git status).
// A definition of the shell counts for each of them. What has no name keeps the shell's.
func (s *Splitter) Split(t *trace.Trajectory) {
	if !s.All && !IsAgent(t) {
		return
	}
	var found map[trace.Name][]trace.Name // the names of a shell, in their order
	for i := range t.Calls {
		c := &t.Calls[i]
		tool := c.Tool.Value()
		if !IsTool(tool) || s.Keep != nil && s.Keep(tool) {
			continue
		}
		line := LineOf(c)
		name, known := s.names[line]
		if !known {
			name = Name(line)
			if s.names == nil || len(s.names) >= maxNames {
				s.names = map[string]string{}
			}
			s.names[line] = name
		}
		if name == "" {
			continue
		}
		split := trace.Intern([]byte(ToolName(tool, name)))
		if found == nil {
			found = map[trace.Name][]trace.Name{}
		}
		if !slices.Contains(found[c.Tool], split) {
			found[c.Tool] = append(found[c.Tool], split)
		}
		c.Tool = split
	}
	if found == nil {
		return
	}
	tools := slices.Clone(t.Tools)
	for _, def := range t.Tools {
		for _, name := range found[def.Name] {
			def.Name = name
			tools = append(tools, def)
		}
	}
	t.Tools = tools
}

// IsAgentName reports whether a name is that of a coding agent itself.
func IsAgentName(name string) bool { return agents[name] }
