package filter

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/trace"
)

// CallExpression is a compiled condition on a call, in the language of Expression.
type CallExpression struct{ program *vm.Program }

// callFacts are the names that a condition on a call may use.
type callFacts struct {
	Tool      string    `expr:"tool"`
	Status    string    `expr:"status"`
	Origin    string    `expr:"origin"`
	Turn      int       `expr:"turn"`
	Call      int       `expr:"call"`
	Parallel  int       `expr:"parallel"`
	AfterUser bool      `expr:"after_user"`
	HasResult bool      `expr:"has_result"`
	Bytes     int       `expr:"result_bytes"`
	Seconds   float64   `expr:"seconds"`
	Time      time.Time `expr:"time"`
	Before    string    `expr:"before"`
	After     string    `expr:"after"`

	ID      string `expr:"id"`
	Task    string `expr:"task"`
	Agent   string `expr:"agent"`
	Model   string `expr:"model"`
	Outcome string `expr:"outcome"`

	Glob func(text string, pattern string) bool `expr:"glob"`
}

// CallNames documents what a condition on a call may use, for help texts.
func CallNames() [][2]string {
	return [][2]string{
		{"tool, before, after", "the tool, and those of the calls right before and after, empty where there is none"},
		{"status", `"ok", "failed" or "unknown"`},
		{"origin", `"model", "code", "inertial" or "meta-tool"`},
		{"turn, call", "numbers from 1; turn is 0 where it is not recorded"},
		{"parallel", "how many calls the turn made"},
		{"after_user, has_result", "yes or no"},
		{"result_bytes, seconds", "numbers; seconds is not a number (seconds != seconds) where it is not recorded"},
		{"time", `the recorded time: time >= date("2026-03-01")`},
		{"id, task, agent, model, outcome", "of the trajectory, as for --where"},
		{`glob(tool, "get_*")`, "`*` stands for any run of characters"},
	}
}

// CompileCall parses and checks a condition on a call. The error is a *diag.Error
// positioned inside it; flag is what it calls the source.
func CompileCall(flag, source string) (*CallExpression, error) {
	program, err := expr.Compile(source, expr.Env(callFacts{}), expr.AsBool(), expr.MaxNodes(1000), expr.Timezone("UTC"))
	if err == nil {
		return &CallExpression{program}, nil
	}
	pos := diag.Pos{File: flag}
	problem := &file.Error{}
	if errors.As(err, &problem) {
		pos.Line, pos.Col = max(problem.Line, 1), problem.Column+1
		return nil, diag.New(pos, "find-invalid", "%s", problem.Message)
	}
	return nil, diag.New(pos, "find-invalid", "the expression is not valid")
}

// Holds evaluates the condition on call i of t.
func (e *CallExpression) Holds(t *trace.Trajectory, i int) (bool, error) {
	out, err := expr.Run(e.program, callFactsOf(t, i))
	if err != nil {
		return false, diag.New(t.Source, "find-failed", "the --find expression cannot be evaluated on a call of this trajectory")
	}
	holds, ok := out.(bool)
	if !ok {
		return false, fmt.Errorf("filter: the condition gave %T instead of a bool", out)
	}
	return holds, nil
}

func callFactsOf(t *trace.Trajectory, i int) callFacts {
	c := &t.Calls[i]
	f := callFacts{
		Tool: c.Tool.Value(), Status: c.Status.String(), Origin: c.Origin.String(), Turn: c.Turn + 1, Call: i + 1,
		AfterUser: c.AfterUser, HasResult: c.HasResult, Bytes: c.Result.TextLen(), Seconds: math.NaN(), Time: c.Start,
		ID: t.ID, Task: t.Task, Agent: t.Agent, Model: t.Model, Outcome: t.Outcome.String(), Glob: glob,
	}
	if c.Turn >= 0 && c.Turn < len(t.Turns) {
		turn := &t.Turns[c.Turn]
		f.Parallel = turn.NumCalls
		if turn.Model != "" {
			f.Model = turn.Model
		}
	}
	if !c.Start.IsZero() && !c.End.IsZero() {
		f.Seconds = c.End.Sub(c.Start).Seconds()
	}
	if i > 0 {
		f.Before = t.Calls[i-1].Tool.Value()
	}
	if i+1 < len(t.Calls) {
		f.After = t.Calls[i+1].Tool.Value()
	}
	return f
}
