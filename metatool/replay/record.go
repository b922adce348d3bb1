package replay

import (
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/uses"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool/execute"
	"github.com/awo-dev/awo/trace"
)

// record is a trajectory whose arguments and results are read once, however many meta-tools
// are looked for and replayed in it. It belongs to one goroutine.
type record struct {
	t       *trace.Trajectory
	args    []trace.Value // by call, where read says so
	read    []bool
	results []*execute.Result // by call, once they were asked for
	reader  trace.ValueReader
	flow    *dataflow.Flow // of t; nil where it was not collected
	repeats []int          // by call, once they were asked for
	words   *uses.Uses     // once they were asked for
}

// repeatsUnder returns which calls repeat earlier ones under rules.
func (r *record) repeatsUnder(marks []merge.Mark) []int {
	if r.repeats == nil {
		r.repeats = merge.Repeats(r.t, marks)
	}
	return r.repeats
}

func newRecord(t *trace.Trajectory) *record { return &record{t: t} }

// arguments returns what trace.Call.ArgsValue says of a call.
func (r *record) arguments(call int) *trace.Value {
	if r.args == nil {
		r.args, r.read = make([]trace.Value, len(r.t.Calls)), make([]bool, len(r.t.Calls))
	}
	if !r.read[call] {
		r.read[call] = true
		r.args[call], _ = r.reader.Args(&r.t.Calls[call])
	}
	return &r.args[call]
}

// result returns the recorded result of a call.
func (r *record) result(call int) *execute.Result {
	if r.results == nil {
		r.results = make([]*execute.Result, len(r.t.Calls))
	}
	if r.results[call] == nil {
		r.results[call] = resultOf(&r.t.Calls[call], &r.reader)
	}
	return r.results[call]
}

// values are those of a record, for who looks for them.
type values struct{ *record }

// Arguments returns what trace.Call.ArgsValue says of a call.
func (v values) Arguments(call int) *trace.Value { return v.arguments(call) }

// Result returns what a call returned.
func (v values) Result(call int) *trace.Value { return &v.result(call).Value }
