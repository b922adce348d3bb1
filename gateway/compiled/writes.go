package compiled

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/metatool/execute"
)

// ask asks the agent's user whether a call may be made. Anything but acceptance is a no.
func (r *running) ask(ctx context.Context, t *gateway.Tool, arguments json.RawMessage) error {
	who := fmt.Sprintf("%s, step %d of %d,", r.o.tool.Name, r.step.Load()+1, len(r.o.tool.Steps))
	if err := r.s.h.Allowed(ctx, r.c.ID, who, t, arguments); err != nil {
		return fmt.Errorf("%w: %w", execute.ErrDenied, err)
	}
	return nil
}

func quoted(s string) []byte { return jsonscan.AppendQuoted(nil, s) }
