package findings_test

import (
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/findings"
	"github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/trace"
)

// TestCodingAgents: what a coding agent does is said in its user's words, with a line for its
// instructions; of other agents nothing is said so. The counts are by hand.
func TestCodingAgents(t *testing.T) {
	build := func(format string) []*trace.Trajectory {
		var list []*trace.Trajectory
		for range 3 {
			s := (&scripted.Run{}).User("fix it")
			s.Call("Read", `{"file_path":"a.go"}`, `"package a"`)
			s.Call("Read", `{"file_path":"a.go"}`, `"package a"`) // the same again
			s.Call("Bash(go test)", `{"command":"go test ./a"}`, `"ok"`)
			s.Call("Bash(go test)", `{"command":"go test ./b"}`, `"ok"`) // could have been one with the first
			s.Call("Bash(go test)", `{"command":"go test ./c"}`, `"Exit code: 1"`)
			s.Call("Bash(go test)", `{"command":"go test ./d"}`, `"ok"`) // after one that failed
			s.Call("Edit", `{"file_path":"a.go"}`, `"ok"`)
			s.Call("Bash(go test)", `{"command":"go test ./a"}`, `"ok"`) // after a change
			s.Call("Bash(go vet)", `{"command":"go vet ./a"}`, `"ok"`)
			s.T.Calls[4].Status, s.T.Calls[2].Status, s.T.Calls[3].Status = trace.StatusFailed, trace.StatusOK, trace.StatusOK
			s.T.Format = format
			usage(s, "gpt-4o")
			list = append(list, &s.T)
		}
		return list
	}
	list := found(build("claude-code"), findings.Options{})
	for _, want := range []struct {
		code         findings.Code
		tool         string
		count, of    int
		advice, line string
	}{
		{findings.Loop, "Read", 3, 6, "same Read call", "Do not read a file"},
		{findings.Tests, "Bash(go test)", 6, 15, "6 runs of `go test`", "with one call of `go test`"},
		{findings.Failures, "Bash(go test)", 3, 15, "`go test` fails", "narrowest test"},
	} {
		f := of(t, list, want.code, want.tool)
		if f.Count != want.count || f.Of != want.of || !strings.Contains(f.Advice, want.advice) || !strings.Contains(f.Line, want.line) {
			t.Errorf("%+v, want %+v", f, want)
		}
	}
	messages := build("messages") // of an agent that reads, and neither changes a file nor runs a command
	for _, one := range messages {
		one.DropCalls(func(c *trace.Call) bool { return c.Tool.Value() != "Read" })
	}
	if f := of(t, found(messages, findings.Options{}), findings.Loop, "Read"); f.Line != "" {
		t.Errorf("of messages: %+v", f)
	}
	if f := of(t, found(build("messages"), findings.Options{}), findings.Loop, "Read"); f.Line == "" {
		t.Errorf("of messages of a coding agent: %+v", f)
	}
	for _, f := range found(build("openai-chat"), findings.Options{}) {
		if f.Line != "" || f.Code == findings.Tests {
			t.Errorf("of no coding agent: %+v", f)
		}
	}
}
