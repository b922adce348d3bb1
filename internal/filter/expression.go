package filter

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
)

// Expression is a compiled condition on a trajectory, in the language of
// github.com/expr-lang/expr.
type Expression struct {
	source  string
	program *vm.Program
}

// facts are the names that an expression may use. Tools and the functions are
// worked out only when asked for.
type facts struct {
	ID      string  `expr:"id"`
	Task    string  `expr:"task"`
	Trial   string  `expr:"trial"`
	Session string  `expr:"session"`
	Agent   string  `expr:"agent"`
	Model   string  `expr:"model"`
	Outcome string  `expr:"outcome"`
	Score   float64 `expr:"score"`
	Reward  float64 `expr:"reward"` // the same
	Format  string  `expr:"format"`
	Source  string  `expr:"source"`
	Parent  string  `expr:"parent"`

	Time         time.Time `expr:"time"`
	Calls        int       `expr:"calls"`
	Turns        int       `expr:"turns"`
	UserMessages int       `expr:"user_messages"`
	Failed       int       `expr:"failed"`

	Tools func() []string                        `expr:"tools"`
	Tool  func(pattern string) bool              `expr:"tool"`
	Count func(pattern string) int               `expr:"count"`
	Glob  func(text string, pattern string) bool `expr:"glob"`
}

// Names documents what an expression may use, for help texts.
func Names() [][2]string {
	return [][2]string{
		{"id, task, trial, session, parent", "text, empty where not recorded"},
		{"agent, model, format", "text; model also matches a model named only by turns"},
		{"outcome", `"success", "failure" or "unknown"`},
		{"score, reward", "the recorded reward; not a number (score != score) where there is none"},
		{"source", "the file name"},
		{"time", `the first recorded time: time >= date("2026-03-01")`},
		{"calls, turns, user_messages, failed", "counts"},
		{"tools()", `the tools called: "search" in tools()`},
		{`tool("book_*"), count("get_*")`, "whether, and how many times, such a tool is called"},
		{`glob(model, "gpt-*")`, "`*` stands for any run of characters"},
	}
}

// Compile parses and checks an expression that must be true or false, the value of a flag.
// The error is a *diag.Error positioned inside it.
func Compile(flag, source string) (*Expression, error) {
	program, err := expr.Compile(source, expr.Env(facts{}), expr.AsBool(), expr.MaxNodes(1000), expr.Timezone("UTC"))
	if err != nil {
		pos := diag.Pos{File: flag}
		problem := &file.Error{}
		if errors.As(err, &problem) {
			pos.Line, pos.Col = max(problem.Line, 1), problem.Column+1
			return nil, diag.New(pos, "where-invalid", "%s", problem.Message)
		}
		return nil, diag.New(pos, "where-invalid", "the expression is not valid")
	}
	return &Expression{source: source, program: program}, nil
}

// String returns the source of the expression.
func (e *Expression) String() string { return e.source }

// Holds evaluates the expression on t.
func (e *Expression) Holds(t *trace.Trajectory) (bool, error) {
	out, err := expr.Run(e.program, factsOf(t))
	if err != nil {
		return false, diag.New(t.Source, "where-failed", "the condition %q cannot be evaluated on this trajectory", e.source)
	}
	holds, ok := out.(bool)
	if !ok {
		return false, fmt.Errorf("filter: expression %q gave %T instead of a bool", e.source, out)
	}
	return holds, nil
}

func factsOf(t *trace.Trajectory) facts {
	f := facts{
		ID: t.ID, Task: t.Task, Trial: t.Trial, Session: t.Session, Agent: t.Agent, Model: t.Model,
		Outcome: t.Outcome.String(), Score: math.NaN(), Format: t.Format, Source: t.Source.File, Parent: t.Parent.Trajectory,
		Time: t.Started(), Calls: len(t.Calls), Turns: len(t.Turns),
		Tools: func() []string { return toolNames(t) },
		Tool:  func(pattern string) bool { return countTools(t, pattern) > 0 },
		Count: func(pattern string) int { return countTools(t, pattern) },
		Glob:  glob,
	}
	if t.Score != nil {
		f.Score = *t.Score
	}
	f.Reward = f.Score
	for i := range t.Turns {
		if f.Model != "" {
			break
		}
		f.Model = t.Turns[i].Model
	}
	for range t.UserMessages() {
		f.UserMessages++
	}
	for i := range t.Calls {
		if t.Calls[i].Status == trace.StatusFailed {
			f.Failed++
		}
	}
	return f
}

func toolNames(t *trace.Trajectory) []string {
	names := make([]string, 0, len(t.Calls))
	for i := range t.Calls {
		names = append(names, t.Calls[i].Tool.Value())
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func countTools(t *trace.Trajectory, pattern string) int {
	n := 0
	for i := range t.Calls {
		if glob(t.Calls[i].Tool.Value(), pattern) {
			n++
		}
	}
	return n
}

// glob reports whether text matches pattern, as in rules.
func glob(text, pattern string) bool { return rules.Glob(pattern).Match(text) }

// ParseTime reads a --since or --until bound: a date, or a time as in RFC 3339,
// with or without seconds and zone (UTC then). There is no "today": the same
// command must give the same result on any day.
func ParseTime(text string) (time.Time, error) {
	for _, layout := range []string{time.DateOnly, time.RFC3339Nano, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateTime, "2006-01-02 15:04"} {
		if at, err := time.Parse(layout, text); err == nil {
			return at.UTC(), nil
		}
	}
	return time.Time{}, fmt.Errorf("%q is no date (2026-03-01) or time (2026-03-01T12:00:00Z)", text)
}
