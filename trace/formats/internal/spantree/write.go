package spantree

import (
	"cmp"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// trajectory puts a trajectory together.
func (d *dialogue) trajectory() *trace.Trajectory {
	b := d.r.b
	t := b.Trajectory
	t.Offset = -1
	d.fallback()
	d.r.write()
	t.Agent = d.name
	for _, run := range d.runs {
		if run.top != nil && run.top.Kind == SpanAgent {
			describe(t, run.top)
			d.r.define(run.top.definitions(b))
		}
	}
	for _, s := range d.r.spans {
		d.r.define(s.definitions(b))
		for _, other := range s.doubles {
			d.r.define(other.definitions(b))
		}
	}
	if t.Agent == "" && d.first != nil {
		t.Agent = d.first.Service
	}
	for i := range t.Turns {
		if t.Model == "" {
			t.Model = t.Turns[i].Model
		}
		if t.Turns[i].Model == t.Model {
			t.Turns[i].Model = ""
		}
	}
	for i := range t.Calls {
		// What a tool raised is its answer, if the model was told no other.
		if call := &t.Calls[i]; call.Status == trace.StatusFailed && !call.Error.IsZero() {
			call.HasResult = true
		}
	}
	return b.Finish()
}

// describe adds what the span of an agent says about its run. Task, trial and
// outcome are awo's own attributes.
func describe(t *trace.Trajectory, a *Span) {
	t.Model = cmp.Or(t.Model, a.model())
	t.Task = cmp.Or(t.Task, a.Text("awo.task"))
	t.Trial = cmp.Or(t.Trial, a.Text("awo.trial"))
	switch a.Text("awo.outcome") {
	case "success":
		t.Outcome = trace.OutcomeSuccess
	case "failure":
		t.Outcome = trace.OutcomeFailure
	}
	if t.Start.IsZero() || !a.Start.IsZero() && a.Start.Before(t.Start) {
		t.Start = a.Start
	}
	if a.End.After(t.End) {
		t.End = a.End
	}
}

// fallback takes from the spans around a trajectory what its own do not say: what
// the user asked, and what was answered last.
func (d *dialogue) fallback() {
	r := &d.r
	if len(r.turns) == 0 && len(r.all) == 0 {
		return
	}
	tops := d.tops()
	for _, top := range tops {
		if r.users > 0 {
			break
		}
		said := top.readOwn(d.joiner.messages)
		var asked []build.Item
		for _, it := range said.input {
			if it.Kind == build.ItemUser && !it.Value.IsEmpty() {
				asked = append(asked, it)
			}
		}
		if len(asked) == 0 {
			continue
		}
		r.users += len(asked)
		if len(r.turns) > 0 {
			r.turns[0].said = append(r.turns[0].said, asked...)
		} else {
			r.late = append(asked, r.late...)
		}
	}
	last := r.untold()
	if last == nil || len(last.calls) > 0 {
		return
	}
	for _, top := range tops {
		said := top.readOwn(d.joiner.messages)
		for i := len(said.output) - 1; i >= 0; i-- {
			if it := &said.output[i]; it.Kind == build.ItemText && !it.Value.IsEmpty() {
				last.text, last.told = it.Value, true
				return
			}
		}
	}
}

// tops returns the agents around a trajectory, the innermost first, and what is
// around them up to the call that began it.
func (d *dialogue) tops() (out []*Span) {
	from := d.first
	if from == nil {
		return nil
	}
	if from.Kind == SpanAgent {
		out = append(out, from)
	}
	for up := range d.joiner.up(from) {
		if up.Kind != SpanAgent || len(out) == nearLevels {
			return out
		}
		out = append(out, up)
	}
	return out
}

// write tells the builder all of it.
func (r *reader) write() {
	b := r.b
	say := func(items []build.Item) {
		for i := range items {
			role := trace.RoleUser
			if items[i].Kind == build.ItemSystem {
				role = trace.RoleSystem
			}
			b.Message(role, items[i].Value.OrAbsent())
		}
	}
	if len(r.turns) == 0 { // what was asked stands before calls of which no response is recorded
		say(r.late)
		r.late = nil
	}
	for _, c := range r.early {
		c.write(b.CallOutsideTurns(b.Text([]byte(c.id)), b.Names.Intern([]byte(c.tool)), c.args, c.origin))
	}
	for _, turn := range r.turns {
		say(turn.said)
		to := b.Turn()
		to.Text, to.Thought = turn.text, turn.thought
		if s := turn.span; s != nil {
			to.Model, to.Start, to.End = s.model(), s.Start, s.End
			to.Usage = turn.usage
		}
		for _, c := range turn.calls {
			c.write(b.Call(b.Text([]byte(c.id)), b.Names.Intern([]byte(c.tool)), c.args, c.origin))
		}
	}
	say(r.late)
}

// write tells what became of a call.
func (c *spanCall) write(to *trace.Call) {
	to.Result, to.HasResult, to.Status, to.Error = c.result, c.answered, c.status, c.err
	to.Start, to.End = c.start, c.end
}
