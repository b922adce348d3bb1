package execute

import (
	"context"
	"errors"

	"github.com/awo-dev/awo/trace"
)

// Caller makes one call of a tool.
type Caller interface {
	// Call calls a tool with an object of arguments. An error says that the call
	// could not be made or was not answered; a tool that answers with a failure
	// is a Result with StatusFailed.
	Call(ctx context.Context, tool string, args trace.Value) (Result, error)
}

// CallerFunc is a function that is a Caller.
type CallerFunc func(ctx context.Context, tool string, args trace.Value) (Result, error)

// Call calls f.
func (f CallerFunc) Call(ctx context.Context, tool string, args trace.Value) (Result, error) {
	return f(ctx, tool, args)
}

// Result is what a call returned. Text that is no JSON is a string.
type Result struct {
	Value  trace.Value
	Status trace.Status // unknown where the caller cannot tell; only failed ends a run
}

// ErrNotRecorded is the error of Recordings for calls that were not made in the
// trajectory, or to which no answer was recorded.
var ErrNotRecorded = errors.New("the recordings hold no answer to this call")

// Recordings answer calls from a recorded trajectory: a call of the same tool
// with the same arguments answers what it did then. Of several such calls each
// is used once, in their order, from the one numbered From on; when these are
// used up, what the newest of all answered is repeated.
//
// A Recordings belongs to one run.
type Recordings struct {
	from int
	*answers
	used map[string]int // how many of them from `from` on were used
}

// answers are what a trajectory recorded. Runs may share them one after the
// other.
type answers struct {
	calls   []trace.Call
	byKey   map[string][]int // tool and arguments -> calls with a result
	results []*Result        // by call, once they were asked for
}

// NewRecordings returns the recordings of t as they are seen by a run that
// stands in for its calls from the one numbered from on.
func NewRecordings(t *trace.Trajectory, from int) *Recordings {
	return newAnswers(t).since(from)
}

func newAnswers(t *trace.Trajectory) *answers {
	a := &answers{calls: t.Calls, byKey: make(map[string][]int, len(t.Calls)), results: make([]*Result, len(t.Calls))}
	var key []byte
	for i := range t.Calls {
		c := &t.Calls[i]
		if !c.HasResult {
			continue
		}
		key = append(append(key[:0], c.Tool.Value()...), 0)
		key = c.AppendCanonicalArgs(key)
		a.byKey[string(key)] = append(a.byKey[string(key)], i)
	}
	return a
}

// since returns the recordings as a run sees them that stands in for the calls
// from one on.
func (a *answers) since(call int) *Recordings {
	return &Recordings{from: call, answers: a, used: map[string]int{}}
}

// result returns the recorded result of a call.
func (a *answers) result(call int) Result {
	if a.results[call] == nil {
		r := resultOf(&a.calls[call])
		a.results[call] = &r
	}
	return *a.results[call]
}

// Call answers what the trajectory recorded.
func (r *Recordings) Call(_ context.Context, tool string, args trace.Value) (Result, error) {
	key := string(args.AppendCanonical(append([]byte(tool), 0)))
	same := r.byKey[key]
	if len(same) == 0 {
		return Result{}, ErrNotRecorded
	}
	use, skip := same[len(same)-1], r.used[key]
	for _, i := range same {
		if i < r.from {
			continue
		}
		if skip == 0 {
			use = i
			r.used[key]++
			break
		}
		skip--
	}
	return r.result(use), nil
}

// resultOf returns the recorded result of a call.
func resultOf(c *trace.Call) Result {
	out := Result{Status: c.Status}
	if v, ok := c.ResultValue(); ok {
		out.Value = v
	} else {
		out.Value = trace.Value{Kind: trace.String, Text: c.Result.Text()}
	}
	return out
}
