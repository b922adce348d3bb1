package cmd

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/rules"
)

// addRules defines the flag --rules.
func addRules(flags *pflag.FlagSet) {
	flags.String("rules", "", "`FILE` with the rules that say which calls and states are alike")
}

// rules reads the rule file of a command; "" means no rules. Warnings are
// reported, mistakes are the error.
func (j *job) rules(file string) (*rules.Set, error) {
	if file == "" {
		return nil, nil
	}
	set, problems := j.readRules(file)
	if problems.Err() != nil {
		return nil, problems
	}
	for _, warning := range problems {
		j.problems.add(warning)
	}
	return set, nil
}

// readRules reads a rule file, "-" for the standard input, and what it includes.
// Problems show the lines of all these files.
func (j *job) readRules(file string) (*rules.Set, diag.List) {
	src, err := j.readFile(file)
	if err != nil {
		return nil, diag.List{fileProblem(file, err)}
	}
	options := rules.Options{Load: func(name string) ([]byte, error) { return j.readFile(filepath.FromSlash(name)) }}
	return options.Check(file, src)
}

// readFile reads a rule file, whose lines problems may show.
func (j *job) readFile(name string) (src []byte, err error) {
	if name == "-" {
		src, err = io.ReadAll(&j.stdin)
	} else {
		src, err = os.ReadFile(name)
	}
	if err == nil {
		j.showLines(name, src)
		j.ruleFiles = append(j.ruleFiles, name)
	}
	return src, err
}

// fileProblem describes a file that could not be read.
func fileProblem(name string, err error) *diag.Error {
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
