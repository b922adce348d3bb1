package replay

import (
	"context"
	"errors"
	"slices"

	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
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
	byHash map[uint64]int32 // of tool and arguments -> the first group with it
	groups []answerGroup
	used   []int32 // the groups that the run has used
}

// answerGroup is calls with a result, the same in tool and arguments.
type answerGroup struct {
	calls []int
	used  int   // by the run: how many of them from its first call on
	next  int32 // with the same hash, -1 for none
}

// NewRecordings returns the recordings of t as they are seen by a run that
// stands in for its calls from the one numbered from on.
func NewRecordings(t *trace.Trajectory, from int) *Recordings {
	r := newAnswers(newRecord(t)).from(from)
	return &r
}

func newAnswers(r *record) *answers {
	n := 0
	for i := range r.t.Calls {
		if r.t.Calls[i].HasResult {
			n++
		}
	}
	a := &answers{record: r, byHash: make(map[uint64]int32, n), groups: make([]answerGroup, 0, n)}
	room := make([]int, n) // for the first call of each group
	for i := range r.t.Calls {
		c := &r.t.Calls[i]
		if !c.HasResult {
			continue
		}
		args := r.arguments(i)
		hash := callHash(c.Tool.Value(), args)
		group, first := a.group(hash, c.Tool.Value(), args)
		if group < 0 {
			at := len(a.groups)
			a.groups = append(a.groups, answerGroup{calls: room[at : at : at+1], next: first})
			a.byHash[hash], group = int32(at), int32(at)
		}
		a.groups[group].calls = append(a.groups[group].calls, i)
	}
	return a
}

func callHash(tool string, args *trace.Value) uint64 {
	return jsonvalue.HashMember(0, tool, jsonvalue.Hash(args))
}

// group returns the group of calls with a tool and arguments, -1 for none, and the first
// group with their hash.
func (a *answers) group(hash uint64, tool string, args *trace.Value) (group, first int32) {
	first, is := a.byHash[hash]
	if !is {
		return -1, -1
	}
	for group = first; group >= 0; group = a.groups[group].next {
		one := a.groups[group].calls[0]
		if a.record.t.Calls[one].Tool.Value() == tool && a.record.arguments(one).Equal(*args) {
			break
		}
	}
	return group, first
}

// from returns the recordings as a run sees them that stands in for the calls
// from one on.
func (a *answers) from(call int) Recordings {
	for _, group := range a.used {
		a.groups[group].used = 0
	}
	a.used = a.used[:0]
	return Recordings{from: call, answers: a}
}

// Call answers what the trajectory recorded.
func (r *Recordings) Call(_ context.Context, tool string, args trace.Value) (execute.Result, error) {
	at, _ := r.group(callHash(tool, &args), tool, &args)
	if at < 0 {
		return execute.Result{}, ErrNotRecorded
	}
	group := &r.groups[at]
	same := group.calls
	use := same[len(same)-1]
	first, _ := slices.BinarySearch(same, r.from)
	if next := first + group.used; next < len(same) {
		use = same[next]
		group.used++
		r.answers.used = append(r.answers.used, at)
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
