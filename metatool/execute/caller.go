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

// ErrDenied is what a Caller returns if somebody who has to allow the call does not.
var ErrDenied = errors.New("the call was not allowed")

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
