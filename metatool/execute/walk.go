package execute

import (
	"context"
	"slices"

	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/trace"
)

// walk makes the calls of a step that walks a list, several at once. What comes of it is
// what comes of making them one after the other, but that calls behind the one that
// failed may have been made; they are in the record.
func (r *run) walk(ctx context.Context, i int, elements []trace.Value) *Failure {
	step, record := &r.tool.Steps[i], &r.out.Steps[i]
	var calls []CallRun
	var blocked *Failure // the first element without a call
	for _, element := range elements {
		r.scope.Element = &element
		one, f := r.prepare(i)
		if f != nil {
			blocked = f
			break
		}
		calls = append(calls, one)
	}
	r.scope.Element = nil
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	type made struct {
		CallRun
		code string
	}
	var failed *Failure
	for m := range par.Map(r.options.Parallel, slices.Values(calls), func(one CallRun) made {
		if ctx.Err() != nil {
			one.Err = ctx.Err()
			return made{one, CodeDeadline}
		}
		code := r.attempt(ctx, step, &one)
		return made{one, code}
	}) {
		switch {
		case m.Tries == 0 && failed != nil: // it was not made any more
			continue
		case m.Tries == 0:
			failed = &Failure{Step: i, Call: len(record.Calls), Code: m.code, Err: m.Err}
			continue
		case m.code == "":
			record.Result.Elems = append(record.Result.Elems, m.Result.Value)
		case r.options.SkipFailedReads && (m.code == CodeCallFailed || m.code == CodeNoAnswer):
			record.Result.Elems = append(record.Result.Elems, trace.Value{})
			record.Skipped++
			r.out.State = Partial
		case failed == nil:
			failed = &Failure{Step: i, Call: len(record.Calls), Code: m.code, Err: m.Err}
			stop()
		}
		record.Calls = append(record.Calls, m.CallRun)
	}
	if failed == nil && blocked != nil {
		blocked.Call = len(record.Calls)
		failed = blocked
	}
	if failed != nil {
		return failed
	}
	r.scope.Results = append(r.scope.Results, &record.Result)
	return nil
}
