package trace_test

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/trace"
)

// Two runs in OpenAI's chat format are read from standard input. The line between
// them is no JSON: it costs itself, and reading goes on.
func ExampleOpen() {
	input := strings.NewReader(`{"messages":[{"role":"user","content":"Who is u1?"},{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"get_user","arguments":"{\"id\":\"u1\"}"}}]},{"role":"tool","tool_call_id":"1","content":"{\"name\":\"Ann\"}"}]}
{"messages":
{"messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hello."}]}
`)
	r, err := trace.Open([]string{"-"}, trace.Options{Stdin: input})
	if err != nil {
		panic(err)
	}
	defer r.Close()
	for t, err := range r.All() {
		if problem, ok := errors.AsType[*diag.Error](err); ok {
			fmt.Println(problem.Code)
			continue
		} else if err != nil {
			panic(err)
		}
		fmt.Println(t.Format, "turns:", len(t.Turns))
		for _, call := range t.Calls {
			arguments, _ := call.ArgsValue()
			user, _ := arguments.Lookup("id")
			fmt.Println(call.Tool.Value(), user.Text)
		}
	}
	// Output:
	// openai-chat turns: 1
	// get_user u1
	// json-truncated
	// openai-chat turns: 1
}

// A trajectory is written as ATIF, the normal form.
func ExampleAppendATIF() {
	t := &trace.Trajectory{
		ID: "run-1", Agent: "clerk", Model: "m",
		Messages: []trace.Message{{Text: trace.TextOf("Hello")}},
		Turns:    []trace.Turn{{Text: trace.TextOf("Hello.")}},
	}
	line, err := trace.AppendATIF(nil, t)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(line)
	// Output:
	// {"schema_version":"ATIF-v1.7","trajectory_id":"run-1","agent":{"name":"clerk","version":"unknown","model_name":"m"},"steps":[{"step_id":1,"source":"user","message":"Hello"},{"step_id":2,"source":"agent","message":"Hello."}],"final_metrics":{"total_steps":2}}
}
