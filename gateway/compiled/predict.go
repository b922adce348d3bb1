package compiled

import (
	"slices"

	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/internal/toolname"
	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/trace"
)

// predicted stands for a rule where a snapshot said that a read comes next.
const predicted = -1

// maxDone is how many calls a predictor is told of, the latest ones.
const maxDone = 64

// Done is a call of a session, as a Predictor is told of it.
type Done struct {
	Tool              string // as traces call it; unknown to them begins with a NUL
	Arguments, Result trace.Value
	Failed            bool
	Inertial          bool // the gateway made it because it was predicted
}

// Predictor says which call usually comes next. It is used by several sessions at once.
type Predictor interface {
	// Tools returns the tools that it knows.
	Tools() []string

	// Next returns the call to make after those that were made, if it is worth making
	// without being asked for, and one that only reads.
	Next(done []Done) (tool string, arguments trace.Value, ok bool)
}

// as says what a read ahead is in recordings.
func (r *reading) as() string {
	if r.Rule == predicted {
		return gateway.AsInertial
	}
	return gateway.AsPrefetch
}

// note keeps a call for the predictor; a.mu is held.
func (a *ahead) note(d Done) {
	if a.s.l.o.Predict == nil || a.shared {
		return
	}
	if a.done = append(a.done, d); len(a.done) > maxDone {
		a.done = slices.Delete(a.done, 0, len(a.done)-maxDone)
	}
}

// predict makes the read that is predicted, unless a rule has made it; a.mu is held.
func (a *ahead) predict(b *batch) {
	p := a.s.l.o.Predict
	if p == nil || a.shared || a.ctx.Err() != nil || len(a.flight) >= maxUnderWay {
		return
	}
	tool, arguments, ok := p.Next(slices.Clone(a.done))
	t := a.tools[tool]
	if !ok || t == nil || t.Ask || definitionOf(t).effect() != toolname.Reads {
		return
	}
	c := prefetch.Call{Tool: tool, Arguments: arguments}
	if _, _, is := a.run.Has(c); is || a.guessed[c.Key()] {
		return
	}
	a.guessed[c.Key()] = true
	a.launch(b, &reading{Read: prefetch.Read{Call: c, Rule: predicted, Level: 2}, tool: t})
}
