package execute

import "github.com/awo-dev/awo/trace"

// record is a trajectory whose arguments and results are read once, however many meta-tools
// are looked for and replayed in it. It belongs to one goroutine.
type record struct {
	t       *trace.Trajectory
	args    []trace.Value // by call, where read says so
	read    []bool
	results []*Result // by call, once they were asked for
}

func newRecord(t *trace.Trajectory) *record { return &record{t: t} }

// arguments returns what trace.Call.ArgsValue says of a call.
func (r *record) arguments(call int) *trace.Value {
	if r.args == nil {
		r.args, r.read = make([]trace.Value, len(r.t.Calls)), make([]bool, len(r.t.Calls))
	}
	if !r.read[call] {
		r.args[call], _ = r.t.Calls[call].ArgsValue()
		r.read[call] = true
	}
	return &r.args[call]
}

// result returns the recorded result of a call.
func (r *record) result(call int) *Result {
	if r.results == nil {
		r.results = make([]*Result, len(r.t.Calls))
	}
	if r.results[call] == nil {
		result := resultOf(&r.t.Calls[call])
		r.results[call] = &result
	}
	return r.results[call]
}
