package evidence

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/awo-dev/awo/merge/internal/hash128"
	"github.com/awo-dev/awo/trace"
)

// Keep returns what rules can be tried on again and again of a trajectory: its calls
// with their arguments, and each result, of which no more than the first head bytes are
// kept, and then a hash of its value, which it also returns by call. Nothing of it refers
// to the record that t was read from.
func Keep(t *trace.Trajectory, head int) (kept *trace.Trajectory, results []hash128.Hash) {
	kept = &trace.Trajectory{ID: t.ID, Ref: t.Ref, Task: t.TaskKey(), Outcome: t.Outcome}
	results = make([]hash128.Hash, len(t.Calls))
	for i := range t.Calls {
		call := t.Calls[i]
		if call.HasResult {
			data := call.Result.Data
			if v, ok := call.ResultValue(); ok {
				data = v.AppendCanonical(nil)
			}
			results[i] = hash128.Of(data)
			if text := call.Result.Text(); len(text) <= head {
				call.Result.Data = bytes.Clone(call.Result.Data)
			} else {
				call.Result = trace.TextOf(fmt.Sprintf("%s%016x%016x", strings.ToValidUTF8(text[:head], ""), results[i].Hi, results[i].Lo))
			}
		}
		call.Args.Data = bytes.Clone(call.Args.Data)
		call.Error = trace.Raw{}
		kept.Calls = append(kept.Calls, call)
	}
	return kept, results
}
