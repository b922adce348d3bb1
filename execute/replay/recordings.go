package replay

import (
	"context"
	"errors"

	"github.com/awo-dev/awo/execute"
	"github.com/awo-dev/awo/trace"
)

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
	used map[int32]int // by group: how many of them from `from` on were used
}

// answers are what a trajectory recorded. Runs may share them one after the
// other.
type answers struct {
	record *record
	byKey  map[string]int32 // tool and arguments -> group
	groups [][]int          // calls with a result, the same in tool and arguments
	key    []byte
}

// NewRecordings returns the recordings of t as they are seen by a run that
// stands in for its calls from the one numbered from on.
func NewRecordings(t *trace.Trajectory, from int) *Recordings {
	return newAnswers(newRecord(t)).from(from)
}

func newAnswers(r *record) *answers {
	a := &answers{record: r, byKey: make(map[string]int32, len(r.t.Calls))}
	for i := range r.t.Calls {
		c := &r.t.Calls[i]
		if !c.HasResult {
			continue
		}
		a.key = c.AppendCanonicalArgs(append(append(a.key[:0], c.Tool.Value()...), 0))
		group, ok := a.byKey[string(a.key)]
		if !ok {
			group = int32(len(a.groups))
			a.byKey[string(a.key)] = group
			a.groups = append(a.groups, nil)
		}
		a.groups[group] = append(a.groups[group], i)
	}
	return a
}

// from returns the recordings as a run sees them that stands in for the calls
// from one on.
func (a *answers) from(call int) *Recordings {
	return &Recordings{from: call, answers: a}
}

// Call answers what the trajectory recorded.
func (r *Recordings) Call(_ context.Context, tool string, args trace.Value) (execute.Result, error) {
	r.key = args.AppendCanonical(append(append(r.key[:0], tool...), 0))
	group, ok := r.byKey[string(r.key)]
	if !ok {
		return execute.Result{}, ErrNotRecorded
	}
	same := r.groups[group]
	use, skip := same[len(same)-1], r.used[group]
	for _, i := range same {
		if i < r.from {
			continue
		}
		if skip == 0 {
			use = i
			if r.used == nil {
				r.used = map[int32]int{}
			}
			r.used[group]++
			break
		}
		skip--
	}
	return *r.record.result(use), nil
}

// resultOf returns the recorded result of a call.
func resultOf(c *trace.Call, r *trace.ValueReader) *execute.Result {
	out := &execute.Result{Status: c.Status}
	if v, ok := r.Result(c); ok {
		out.Value = v
	} else {
		out.Value = trace.Value{Kind: trace.String, Text: c.Result.Text()}
	}
	return out
}
