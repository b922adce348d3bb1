package compiled

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/internal/secret"
	"github.com/awo-dev/awo/metatool/execute"
	"github.com/awo-dev/awo/trace"
)

// ask asks the agent's user whether a call may be made. Anything but acceptance is a no.
func (r *running) ask(ctx context.Context, t *gateway.Tool, args trace.Value) error {
	shown := masked("", args).AppendCanonical(nil)
	text := fmt.Sprintf("%s, step %d of %d, wants to call %s with %s", r.o.tool.Name, r.step.Load()+1, len(r.o.tool.Steps), t.Shown, shown)
	params := append([]byte(`{"message":`), quoted(text)...)
	params = append(params, `,"requestedSchema":{"type":"object","properties":{}}}`...)
	answer, err := r.s.h.Ask(ctx, r.c.ID, "elicitation/create", params)
	if err != nil {
		if ctx.Err() != nil {
			return fmt.Errorf("%w: nobody answered in time", execute.ErrDenied)
		}
		return fmt.Errorf("%w: %w", execute.ErrDenied, err)
	}
	var said struct {
		Action string `json:"action"`
	}
	if json.Unmarshal(answer, &said) != nil || said.Action != "accept" {
		return execute.ErrDenied
	}
	return nil
}

// masked returns a value without what looks like a credential by its name or form.
func masked(name string, v trace.Value) trace.Value {
	switch v.Kind {
	case trace.Object:
		members := make([]trace.Member, len(v.Members))
		for i, m := range v.Members {
			members[i] = trace.Member{Name: m.Name, Value: masked(m.Name, m.Value)}
		}
		return trace.NewObject(members...)
	case trace.Array:
		elems := make([]trace.Value, len(v.Elems))
		for i, e := range v.Elems {
			elems[i] = masked(name, e)
		}
		return trace.Value{Kind: trace.Array, Elems: elems}
	case trace.String, trace.Number:
		if secret.LooksLike(name, v.Text) {
			return trace.NewString("(hidden)")
		}
	}
	return v
}

func quoted(s string) []byte { return jsonscan.AppendQuoted(nil, s) }
