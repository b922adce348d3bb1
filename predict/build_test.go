package predict

import (
	"fmt"
	"strings"
	"testing"

	"github.com/awo-dev/awo/trace"
)

// trajectoryOf builds a trajectory from turns: "a" calls the tool a, "a!" a call
// that fails, "a+b" two calls in one turn, "." answers, and ">text" is a message
// of the user.
func trajectoryOf(task string, parts ...string) *trace.Trajectory {
	t := &trace.Trajectory{ID: task, Task: task}
	for _, part := range parts {
		if text, ok := strings.CutPrefix(part, ">"); ok {
			t.Messages = append(t.Messages, trace.Message{Text: trace.TextOf(text), Turn: len(t.Turns), Call: len(t.Calls)})
			continue
		}
		turn := trace.Turn{FirstCall: len(t.Calls)}
		if part != "." {
			for _, name := range strings.Split(part, "+") {
				name, failed := strings.CutSuffix(name, "!")
				name, args, _ := strings.Cut(name, "=")
				args, result, _ := strings.Cut(args, "=")
				c := trace.Call{Tool: trace.Intern(name), Turn: len(t.Turns), Status: trace.StatusOK, HasResult: true, Args: trace.JSONOf([]byte("{}"))}
				if args != "" {
					c.Args = trace.JSONOf([]byte(args))
				}
				if result != "" {
					c.Result = trace.JSONOf([]byte(result))
				}
				if failed {
					c.Status = trace.StatusFailed
				}
				t.Calls = append(t.Calls, c)
				turn.NumCalls++
			}
		}
		t.Turns = append(t.Turns, turn)
	}
	return t
}

func runOf(t *trace.Trajectory) *Run {
	var c Observer
	return NewRun(t, c.Observe(t, nil))
}

func graphOf(order int, trajectories ...*trace.Trajectory) *Graph {
	g := NewGraph(order)
	for _, t := range trajectories {
		g.Add(runOf(t).Observation)
	}
	return g
}

func names(tools ...string) []trace.Name {
	var out []trace.Name
	for _, t := range tools {
		out = append(out, trace.Intern(t))
	}
	return out
}

// print writes everything that a model holds.
func (m *Model) print() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%+v\n", m.Info)
	for s := range m.tools {
		t := &m.tools[s]
		fmt.Fprintf(&b, "%s %q %+v %d %+v\n", nameText(t.Name), t.Description, t.Counts, t.Calls, t.Params)
		for _, r := range m.rules[s] {
			fmt.Fprintf(&b, "  %s %v %s %s %v\n", r.Param, r.Side, nameText(r.From), r.Path, r.Uses)
		}
	}
	fmt.Fprintln(&b, m.childFrom, m.childState, m.cellFrom, m.cellNext, m.cellShare, m.cellScore, m.backoff)
	return b.String()
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if d := got - want; d > 1e-12 || d < -1e-12 {
		t.Errorf("%s is %.15g, want %.15g", what, got, want)
	}
}

// rank returns the likeliest outcomes after calls in a state, at most n of them.
func (p *Predictor) rank(s State, calls []trace.Name, n int) []uint32 {
	p.model.Distribution(p.model.ContextOf(s, calls), p.p)
	return p.top(n)
}
