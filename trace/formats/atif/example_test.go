package atif_test

import (
	"os"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/atif"
)

// A trajectory is written as ATIF, the normal form.
func ExampleAppend() {
	t := &trace.Trajectory{
		ID: "run-1", Agent: "clerk", Model: "m",
		Messages: []trace.Message{{Text: trace.TextOf("Hello")}},
		Turns:    []trace.Turn{{Text: trace.TextOf("Hello.")}},
	}
	line, err := atif.Append(nil, t)
	if err != nil {
		panic(err)
	}
	os.Stdout.Write(line)
	// Output:
	// {"schema_version":"ATIF-v1.7","trajectory_id":"run-1","agent":{"name":"clerk","version":"unknown","model_name":"m"},"steps":[{"step_id":1,"source":"user","message":"Hello"},{"step_id":2,"source":"agent","message":"Hello."}],"final_metrics":{"total_steps":2}}
}
