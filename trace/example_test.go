package trace_test

import (
	"errors"
	"fmt"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
)

// Two runs in OpenAI's chat format are read from standard input. The line between
// them is no JSON: it costs itself, and reading goes on.
func ExampleOpen() {
	input := strings.NewReader(`{"messages":[{"role":"user","content":"Who is u1?"},{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"get_user","arguments":"{\"id\":\"u1\"}"}}]},{"role":"tool","tool_call_id":"1","content":"{\"name\":\"Ann\"}"}]}
{"messages":
{"messages":[{"role":"user","content":"Hello"},{"role":"assistant","content":"Hello."}]}
`)
	r, err := trace.Open([]string{"-"}, trace.Options{Stdin: input, Formats: formats.All})
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
