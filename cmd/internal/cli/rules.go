package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/summary/count"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace/completeness"
)

// addRules defines the flag --rules.
func addRules(flags *pflag.FlagSet) {
	flags.String("rules", "", "`FILE` with the rules that say which calls and states are alike")
}

// Rules reads the rule file of a command; "" means no rules. Warnings are
// reported, mistakes are the error. Traces opened later have the statuses that the
// rules read from their results.
func (j *Job) Rules(file string) (*rules.Set, error) {
	if file == "" {
		return nil, nil
	}
	set, problems := j.ReadRules(file)
	if problems.Err() != nil {
		return nil, problems
	}
	for _, warning := range problems {
		j.Problems.Add(warning)
	}
	j.rules, j.rulesFile = set, file
	return set, nil
}

// CountedRules returns the rules that Rules has read as texts, for summaries; nil for
// none.
func (j *Job) CountedRules() *count.Rules {
	if j.rules == nil {
		return nil
	}
	return &count.Rules{File: j.rulesFile, Texts: j.ruleTexts}
}

// ReadRules reads a rule file, "-" for the standard input, and what it includes.
// Problems show the lines of all these files.
func (j *Job) ReadRules(file string) (*rules.Set, diag.List) {
	src, err := j.ReadFile(file)
	if err != nil {
		return nil, diag.List{FileProblem(file, err)}
	}
	j.ruleTexts = map[string]string{file: string(src)}
	options := rules.Options{Load: func(name string) ([]byte, error) {
		src, err := j.ReadFile(filepath.FromSlash(name))
		if err == nil {
			j.ruleTexts[name] = string(src)
		}
		return src, err
	}}
	return options.Check(file, src)
}

// ReadFile reads a file of rules, "-" for the standard input: problems may show its
// lines, and manifests name it among the rules.
func (j *Job) ReadFile(name string) (src []byte, err error) { return j.ReadAs("rules", name) }

// ReadAs reads a file as ReadFile does; role is what manifests call it.
func (j *Job) ReadAs(role, name string) (src []byte, err error) {
	if name == "-" {
		src, err = readSmall(&j.stdin)
	} else {
		src, err = ReadSmall(name)
	}
	if err == nil {
		j.ShowLines(name, src)
		j.sources = append(j.sources, sourceFile{role, name})
	}
	return src, err
}

// MaxFile is how large a file may be that is no trace, such as rules, prices, settings, a
// map or a catalogue: it is read into memory whole.
const MaxFile = 64 << 20

// ReadSmall reads a file that is no trace: a regular one, because a pipe or device could keep
// a command waiting for ever, or one that a shell has opened for the command.
func ReadSmall(name string) ([]byte, error) {
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() && !isOpened(name) {
		return nil, errors.New("it is neither a file nor a folder")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readSmall(f)
}

// isOpened reports whether a name is that of a file that is open already, as shells name what
// a command prints.
func isOpened(name string) bool {
	return name == "/dev/stdin" || strings.HasPrefix(name, "/dev/fd/") || strings.HasPrefix(name, "/proc/self/fd/")
}

func readSmall(in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, MaxFile+1))
	if err == nil && len(data) > MaxFile {
		return nil, fmt.Errorf("it has more than %d MiB", MaxFile>>20)
	}
	return data, err
}

// FileProblem describes a file that could not be read.
func FileProblem(name string, err error) *diag.Error {
	e := diag.New(diag.Pos{File: name}, "file-missing", "there is no such file")
	if !errors.Is(err, fs.ErrNotExist) {
		reason := err
		if path, ok := errors.AsType[*fs.PathError](err); ok {
			reason = path.Err // without the name, which the position says
		}
		e = diag.New(diag.Pos{File: name}, "file-unreadable", "the file cannot be read: %s", reason)
	}
	e.Err = err
	return e
}

// doubtTools warns of rules of the file itself that name a tool which no call has, where
// another name is spelt nearly so; once, however often the traces are read. Included
// files are left out: many share them, for tools that these traces lack. So are sets that
// rename calls, because their rules may name what they rename to.
func (j *Job) doubtTools(y *completeness.Tally) {
	if j.rules == nil || j.toolsDoubted || y.Calls == 0 {
		return
	}
	j.toolsDoubted = true
	if slices.ContainsFunc(j.rules.Rules, func(r *rules.Rule) bool { return r.Kind == rules.KindRename }) {
		return
	}
	tools := y.ToolNames()
	for _, r := range j.rules.Rules {
		if r.Pos.File != j.rules.File {
			continue
		}
		if found := MisspeltTools(r, tools); len(found) > 0 {
			j.Problems.Add(diag.Warn(r.FieldPos("match"), "rule-tool-unknown", "%s", strings.Join(found, "; ")))
		}
	}
}

// MisspeltTools asks of the names and beginnings of names that the rule lists, and
// no call has, whether another one was meant.
func MisspeltTools(r *rules.Rule, tools []string) []string {
	var found []string
	for _, g := range r.Match.Tools {
		if slices.ContainsFunc(tools, g.Match) {
			continue
		}
		written, star := strings.CutSuffix(g.String(), "*")
		if strings.Contains(written, "*") {
			continue
		}
		near := tools
		if star {
			near = nil
			for _, tool := range tools {
				near = append(near, tool[:min(len(tool), len(written))])
			}
		}
		if meant := diag.Nearest(written, near); meant != "" {
			if star {
				meant += "*"
			}
			found = append(found, fmt.Sprintf("no call in the traces is named `%s`: did you mean `%s`?", g, meant))
		}
	}
	return found
}
