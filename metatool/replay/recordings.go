package replay

import (
	"context"
	"errors"
	"slices"

	"github.com/awo-dev/awo/metatool/execute"
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
}

// answers are what a trajectory recorded. Runs may share them one after the
// other.
type answers struct {
	record *record
	groups map[string]*answerGroup // by tool and arguments
	used   []*answerGroup          // by the run
}

// answerGroup is calls with a result, the same in tool and arguments.
type answerGroup struct {
	calls []int
	used  int // by the run: how many of them from its first call on
}

// NewRecordings returns the recordings of t as they are seen by a run that
// stands in for its calls from the one numbered from on.
func NewRecordings(t *trace.Trajectory, from int) *Recordings {
	r := newAnswers(newRecord(t)).from(from)
	return &r
}

func newAnswers(r *record) *answers {
	a := &answers{record: r, groups: map[string]*answerGroup{}}
	for i := range r.t.Calls {
		c := &r.t.Calls[i]
		if !c.HasResult {
			continue
		}
		key := callKey(c.Tool.Value(), r.arguments(i))
		if a.groups[key] == nil {
			a.groups[key] = &answerGroup{}
		}
		a.groups[key].calls = append(a.groups[key].calls, i)
	}
	return a
}

func callKey(tool string, args *trace.Value) string {
	return string(args.AppendCanonical(append([]byte(tool), 0)))
}

// from returns the recordings as a run sees them that stands in for the calls
// from one on.
func (a *answers) from(call int) Recordings {
	for _, group := range a.used {
		group.used = 0
	}
	a.used = a.used[:0]
	return Recordings{from: call, answers: a}
}

// Call answers what the trajectory recorded.
func (r *Recordings) Call(_ context.Context, tool string, args trace.Value) (execute.Result, error) {
	group := r.groups[callKey(tool, &args)]
	if group == nil {
		return execute.Result{}, ErrNotRecorded
	}
	same := group.calls
	use := same[len(same)-1]
	first, _ := slices.BinarySearch(same, r.from)
	if next := first + group.used; next < len(same) {
		use = same[next]
		group.used++
		r.answers.used = append(r.answers.used, group)
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
