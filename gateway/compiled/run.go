package compiled

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/metatool/execute"
	"github.com/awo-dev/awo/trace"
)

// parallel is how many calls that the gateway makes itself are under way at once for one
// request.
const parallel = 4

// maxAnswer is how long the text of an answer may be, in bytes.
const maxAnswer = 8 << 20

// run answers a call of a meta-tool.
func (s *session) run(c *gateway.ToolCall, o *offered) gateway.Handling {
	return gateway.Handling{By: gateway.AsMetaTool, Answer: func(ctx context.Context) (json.RawMessage, error) {
		inputs, err := trace.ParseValue(c.Arguments())
		if err != nil {
			inputs = trace.Value{} // run then says that the inputs are bad
		}
		r := &running{s: s, c: c, o: o, others: map[string][]json.RawMessage{}}
		limited, cancel := context.WithTimeout(ctx, s.l.o.Deadline)
		defer cancel()
		outcome := execute.Run(limited, o.tool, inputs, r, execute.Options{MaxCalls: s.l.o.MaxCalls, Parallel: parallel, Begin: r.begin})
		strange := outcome.Failure != nil && (outcome.Failure.Code == execute.CodeUnexpected || outcome.Failure.Code == execute.CodeNothingBound)
		if s.l.ended(o.tool.Name, outcome.Failure == nil, strange) {
			s.h.Log().Warn("meta-tool withdrawn until it is compiled again", "name", o.tool.Name, "reason", fmt.Sprintf("%d times in a row results were not what they were", strikes), "code", outcome.Failure.Code)
		}
		if outcome.Failure != nil {
			s.l.o.Metrics.Count("meta-tool", o.tool.Name, "handed-back")
			s.h.Log().Info("meta-tool handed back", "name", o.tool.Name, "step", outcome.Failure.Step+1, "code", outcome.Failure.Code)
			return textResult(r.handedBack(outcome), r.blocks(outcome), nil, true), nil
		}
		s.l.o.Metrics.Count("meta-tool", o.tool.Name, "complete")
		answer := outcome.Answer(o.tool, execute.AnswerOptions{MaxBytes: maxAnswer})
		if choices := took(o.tool, outcome); choices.Elems != nil {
			answer = trace.NewObject(append(answer.Members, trace.Member{Name: "took", Value: choices})...)
		}
		text := answer.AppendCanonical(nil)
		var structured []byte
		if s.l.o.Schemas && len(text) > 0 && text[0] == '{' {
			structured = text
		}
		return textResult(text, r.blocks(outcome), structured, false), nil
	}}
}

// running is a meta-tool under way. It is the execute.Caller of its calls.
type running struct {
	s    *session
	c    *gateway.ToolCall
	o    *offered
	step atomic.Int64

	mu     sync.Mutex
	others map[string][]json.RawMessage // blocks that are no text, by step and arguments
}

// begin notes that a step begins, and tells the agent how many are done.
func (r *running) begin(step int) {
	r.step.Store(int64(step))
	token := r.c.ProgressToken()
	if token == nil {
		return
	}
	params := fmt.Appendf(nil, `{"progressToken":%s,"progress":%d,"total":%d,"message":%s}`, token, step, len(r.o.tool.Steps), quoted(r.o.tool.Steps[step].Tool))
	r.s.h.Tell(r.c.ID, "notifications/progress", params)
}

// Call implements execute.Caller.
func (r *running) Call(ctx context.Context, tool string, args trace.Value) (execute.Result, error) {
	step := int(r.step.Load())
	t := r.o.steps[tool]
	arguments := args.AppendCanonical(nil)
	if t.Ask || !r.o.tool.Steps[step].ReadOnly && r.s.l.o.Writes == WritesAsk {
		if err := r.ask(ctx, t, arguments); err != nil {
			return execute.Result{}, err
		}
	}
	if r.s.ahead != nil {
		r.s.ahead.begun(t, args)
	}
	ctx, cancel := context.WithTimeout(ctx, r.s.l.timeout(t.Server))
	defer cancel()
	raw, err := r.s.h.Call(ctx, gateway.Within{Request: r.c.ID, As: gateway.AsMetaTool, By: r.o.tool.Name}, t, arguments)
	if refused, ok := errors.AsType[*gateway.Refusal](err); ok {
		return execute.Result{Value: trace.NewString(refused.Message), Status: trace.StatusFailed}, nil
	}
	if err != nil {
		return execute.Result{}, err
	}
	got, err := read(raw, r.o.needs[step])
	if err != nil {
		return execute.Result{}, err
	}
	if len(got.others) > 0 {
		r.mu.Lock()
		r.others[key(step, arguments)] = got.others
		r.mu.Unlock()
	}
	out := execute.Result{Value: got.value, Status: trace.StatusOK}
	if got.failed {
		out.Status = trace.StatusFailed
	}
	return out, nil
}

func key(step int, arguments []byte) string { return fmt.Sprintf("%d %s", step, arguments) }

// timeout returns how long a call of a server's tool may take.
func (l *Layer) timeout(server string) time.Duration {
	for i := range l.o.Servers {
		if s := &l.o.Servers[i]; s.Name == server && s.Timeout > 0 {
			return s.Timeout
		}
	}
	return l.o.Timeout
}

// blocks returns the blocks that are no text, in the order of the calls.
func (r *running) blocks(o *execute.Outcome) (out []json.RawMessage) {
	for i := range o.Steps {
		for k := range o.Steps[i].Calls {
			at := key(o.Steps[i].Step, o.Steps[i].Calls[k].Args.AppendCanonical(nil))
			out = append(out, r.others[at]...)
			delete(r.others, at)
		}
	}
	return out
}

// unknownOutcome is said of a call that nobody knows the outcome of.
const unknownOutcome = "outcome unknown, may have been made"

// handedBack says to the model what was done and what was not.
func (r *running) handedBack(o *execute.Outcome) []byte {
	f := o.Failure
	var b strings.Builder
	tool := r.o.tool
	if f.Step < 0 {
		fmt.Fprintf(&b, "Handed back before the first step: %s", f.Code)
		if f.Argument != "" {
			fmt.Fprintf(&b, " (%s)", f.Argument)
		}
		b.WriteString(". No call was made.")
		return []byte(b.String())
	}
	fmt.Fprintf(&b, "Handed back at step %d of %d (%s): %s", f.Step+1, len(tool.Steps), tool.Steps[f.Step].Tool, f.Code)
	if f.Argument != "" {
		fmt.Fprintf(&b, " (argument %s)", f.Argument)
	}
	if o.Retry {
		b.WriteString(". It is safe to call it again.")
	} else {
		b.WriteString(". It is not safe to call it again: what is listed below as done would be done twice. Go on with single calls.")
	}
	made := 0
	for i := range o.Steps {
		for k := range o.Steps[i].Calls {
			c := &o.Steps[i].Calls[k]
			if c.Tries == 0 {
				continue
			}
			if made++; made == 1 {
				b.WriteString("\nCalls made:")
			}
			fmt.Fprintf(&b, "\n%d. %s %s: ", made, tool.Steps[o.Steps[i].Step].Tool, c.Args.AppendCanonical(nil))
			switch {
			case errors.Is(c.Err, execute.ErrDenied):
				b.WriteString("not allowed, not made")
			case errors.Is(c.Err, gateway.ErrNotMade):
				b.WriteString("not made, the server is not available")
			case c.Err != nil:
				b.WriteString(unknownOutcome)
			case c.Result.Status == trace.StatusFailed:
				b.WriteString("failed: ")
				b.Write(c.Result.Value.AppendCanonical(nil))
			default:
				b.Write(c.Result.Value.AppendCanonical(nil))
			}
			if b.Len() > maxAnswer {
				b.WriteString("\nWhat follows is left out: it is too long.")
				return []byte(b.String())
			}
		}
	}
	if made == 0 {
		b.WriteString("\nNo call was made.")
	}
	return []byte(b.String())
}
