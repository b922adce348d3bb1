package cmd

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/rules"
)

func newRules(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "rules",
		Short: "Check and work on rule files",
		Long: `Work on rule files: YAML (or JSON) that says which calls are alike, what they do
to the world, and which of them may change places.`,
		Example: "  awo rules check rules.yaml",
		GroupID: groupRules,
	}
	c.AddCommand(newRulesCheck(a))
	c.AddCommand(newRulesVerify(a))
	c.AddCommand(newRulesSuggest(a))
	return c
}

func newRulesCheck(a *app) *cobra.Command {
	return work(a, &cobra.Command{
		Use:   "check FILES...",
		Short: "Report everything that is wrong with rule files, all at once",
		Long: `Read rule files and the files they include, and report every mistake with its
place. Without a mistake nothing is printed and the exit code is 0; warnings
alone do not change it.`,
		Example: `  awo rules check rules.yaml
  awo rules check rules/*.yaml --format json
  awo rules check - < rules.yaml`,
		Args: someFiles,
	}, checkRules)
}

// rulesCheckJSON is the JSON of `awo rules check`.
type rulesCheckJSON struct {
	Schema   string             `json:"schema"`
	Files    []checkedRulesJSON `json:"files"`
	Problems problemsJSON       `json:"problems"` // of all files
}

type checkedRulesJSON struct {
	File     string        `json:"file"`
	Rules    int           `json:"rules"` // well-formed ones, those of included files too
	Problems []problemJSON `json:"problems"`
}

// problemJSON is a diag.Error for scripts. Its file may be an included one.
type problemJSON struct {
	diag.Pos
	Severity string      `json:"severity"`
	Code     string      `json:"code"`
	Message  string      `json:"message"`
	Notes    []diag.Note `json:"notes"`
}

func checkRules(j *job, _ struct{}, files []string) error {
	j.problems.unlimited = true // a person wrote each line of these files
	out := rulesCheckJSON{Schema: "awo.rules-check/v1", Files: []checkedRulesJSON{}}
	for _, file := range files {
		set, problems := j.readRules(file)
		checked := checkedRulesJSON{File: file, Problems: []problemJSON{}}
		if set != nil {
			checked.Rules = len(set.Rules)
		}
		for _, e := range problems {
			j.problems.add(e)
			checked.Problems = append(checked.Problems, problemJSON{
				Pos: e.Pos, Severity: e.Severity.String(), Code: e.Code, Message: e.Msg, Notes: append([]diag.Note{}, e.Notes...),
			})
		}
		out.Files = append(out.Files, checked)
	}
	all := j.problems.all()
	out.Problems = problemsJSON{Total: all.Total, ByCode: all.ByCode}
	if j.Format == report.FormatText {
		return nil // the problems have been printed, and without any there is nothing to say
	}
	return j.print(rulesCheckDocument(out), out)
}

func rulesCheckDocument(out rulesCheckJSON) *report.Document {
	table := report.NewTable("problems", "",
		report.Column{Key: "file"},
		report.Column{Key: "line", Align: report.Right},
		report.Column{Key: "col", Title: "column", Align: report.Right},
		report.Column{Key: "severity"},
		report.Column{Key: "code"},
		report.Column{Key: "message", Wrap: true})
	for _, f := range out.Files {
		for _, p := range f.Problems {
			table.Add(report.Name(p.File), report.Int(p.Line), report.Int(p.Col), report.Text(p.Severity), report.Text(p.Code), report.Text(p.Message))
		}
	}
	var d report.Document
	d.Add(table)
	return &d
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
		j.app.showLines(name, src)
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
