package dataflow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/trace"
)

// script writes a trajectory by hand, line by line.
type script struct{ t trace.Trajectory }

func run(id string) *script {
	return &script{trace.Trajectory{ID: id}}
}

func (s *script) say(role trace.Role, text string) *script {
	s.t.Messages = append(s.t.Messages, trace.Message{Role: role, Text: trace.TextOf(text), Turn: len(s.t.Turns), Call: len(s.t.Calls)})
	return s
}

func (s *script) user(text string) *script   { return s.say(trace.RoleUser, text) }
func (s *script) system(text string) *script { return s.say(trace.RoleSystem, text) }

// call is a tool call with its result; a result of "" is none.
type call struct{ tool, args, result string }

// turn adds one response of the model with calls that run in parallel.
func (s *script) turn(calls ...call) *script {
	s.t.Turns = append(s.t.Turns, trace.Turn{FirstCall: len(s.t.Calls), NumCalls: len(calls)})
	for _, c := range calls {
		one := trace.Call{Tool: trace.Intern(c.tool), Turn: len(s.t.Turns) - 1, Args: trace.JSONOf([]byte(c.args))}
		if c.result != "" {
			one.Result, one.HasResult = trace.TextOf(c.result), true
		}
		s.t.Calls = append(s.t.Calls, one)
	}
	return s
}

func (s *script) call(tool, args, result string) *script { return s.turn(call{tool, args, result}) }

func (s *script) flow() *dataflow.Flow {
	var c dataflow.Collector
	return c.Collect(&s.t)
}

// sourcesOf writes the sources of an argument, best first: "relation slot@call", with
// positions and templates.
func sourcesOf(t *testing.T, f *dataflow.Flow, call int, param string) []string {
	t.Helper()
	for i := range f.Uses {
		u := &f.Uses[i]
		if u.Call != call || f.Slots[u.Param].Param() != param {
			continue
		}
		list := []string{}
		for j := range u.Sources {
			list = append(list, sourceText(f, &u.Sources[j]))
		}
		return list
	}
	t.Fatalf("call %d has no argument %s", call, param)
	return nil
}

func sourceText(f *dataflow.Flow, s *dataflow.Source) string {
	text := fmt.Sprintf("%v %v@%d", s.Relation, f.Slots[s.Slot], s.Call)
	if s.Positions != nil {
		text += fmt.Sprint(s.Positions)
	}
	if s.Calls != 1 {
		text += fmt.Sprintf(" x%d", s.Calls)
	}
	if s.Template != "" {
		text += fmt.Sprintf(" %q/%d", strings.ReplaceAll(s.Template, jsonpath.Hole, "{}"), s.Part)
	}
	return text
}

// failer is what *testing.T and *rapid.T have in common.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func value(t failer, text string) trace.Value {
	t.Helper()
	v, err := trace.ParseValue([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}
