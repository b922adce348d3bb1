package atif

import (
	"bytes"
	"time"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// addStep adds the step that was read last to the trajectory.
func (d *atifDecoder) addStep() {
	b, s := d.b, d.step
	switch {
	case s.placeholder:
		return
	case s.copied:
		b.Anomaly(build.CodeCopiedContext, 1)
		return
	}
	switch string(s.source) {
	case "user":
		d.addMessage(trace.RoleUser)
	case "system":
		d.addMessage(trace.RoleSystem)
		d.addResults(len(b.Trajectory.Calls), nil)
	case "agent":
		d.addTurn()
	case "":
		b.Anomaly(build.CodeMessageShape, 1)
	default:
		b.Anomaly(build.CodeMessageRole, 1)
	}
}

func (d *atifDecoder) addMessage(role trace.Role) {
	s := d.step
	m := d.b.Message(role, s.message)
	m.Time = s.time
	if s.turn >= 0 && s.turn <= int64(m.Turn)+1 {
		m.Turn = int(s.turn)
	}
	if s.call >= 0 && s.call <= int64(m.Call) {
		m.Call = int(s.call)
	}
}

// addTurn adds an agent step, which is a turn unless no model was asked, with
// its calls and their results.
func (d *atifDecoder) addTurn() {
	b, s := d.b, d.step
	outside := s.turnUnknown || s.llmCalls == 0
	if !outside {
		turn := b.Turn()
		turn.Text, turn.Thought, turn.Usage = s.message, s.thought, s.usage
		turn.Start, turn.End, turn.Continued = s.time, s.end, s.continued
		if s.timeIsEnd {
			turn.Start, turn.End = time.Time{}, s.time
		}
		if len(s.model) > 0 && string(s.model) != b.Trajectory.Model {
			turn.Model = b.Text(s.model)
		}
		if s.llmCalls > 1 {
			b.Anomaly(build.CodeTurnAggregated, int(min(s.llmCalls-1, 1<<20)))
		}
	}
	first := len(b.Trajectory.Calls)
	written := make([][]byte, 0, len(s.calls))
	for i := range s.calls {
		if d.addCall(&s.calls[i], outside) {
			written = append(written, s.calls[i].id)
		}
	}
	d.addResults(first, written)
}

// addCall adds a call of a step. It returns false if it is left out.
func (d *atifDecoder) addCall(call *atifCall, outside bool) bool {
	b := d.b
	if len(call.name) == 0 {
		b.Anomaly(build.CodeCallUnnamed, 1)
		return false
	}
	var own atifOwn
	if call.own > 0 {
		own = d.step.own[call.own-1]
	}
	id := call.id
	if own.hasID {
		id = own.id
	}
	origin := own.origin
	if outside && !d.step.turnUnknown && !own.hasOrigin {
		origin = trace.OriginCode
	}
	add := b.Call
	switch {
	case outside:
		add = b.CallOutsideTurns
	case own.restored: // whether they should be objects is among the anomalies
		add = b.TextCall
	}
	c := add(b.Text(id), b.Names.Intern(call.name), call.args, origin)
	c.Status, c.Error, c.Context, c.By, c.AnsweredBy = own.status, own.err, own.context, own.by, own.answeredBy
	c.Start, c.End = own.start, own.end
	return true
}

// addResults gives the results of a step to its calls: those from the index
// first on, whose ids are written, in the step, as in the list.
func (d *atifDecoder) addResults(first int, written [][]byte) {
	b, s := d.b, d.step
	ids := stepIDs{written: written}
	detached := 0
	for i := range s.results {
		r := &s.results[i]
		if len(r.id) == 0 {
			detached++
			continue
		}
		call := first + ids.indexOf(r.id, b.Trajectory.Calls[first:])
		if call < first {
			call = b.Waiting.WithID(b.Trajectory.Calls, r.id)
		}
		b.Answer(call, r.content)
		d.noteStarted(r, call)
	}
	if detached == 0 {
		return
	}
	waiting := 0
	for i := first; i < len(b.Trajectory.Calls); i++ {
		if !b.Trajectory.Calls[i].HasResult {
			waiting++
		}
	}
	if waiting != detached {
		b.Anomaly(build.CodeResultDetached, detached)
		return
	}
	call := first
	for i := range s.results {
		r := &s.results[i]
		if len(r.id) > 0 {
			continue
		}
		for b.Trajectory.Calls[call].HasResult {
			call++
		}
		b.Answer(call, r.content)
		d.noteStarted(r, call)
	}
}

// noteStarted notes the sub-agents that a result refers to.
func (d *atifDecoder) noteStarted(r *atifResult, call int) {
	if call < 0 {
		return
	}
	for _, id := range r.started {
		d.started = append(d.started, startedBy{trajectory: id, call: call})
	}
}

// stepIDs finds the calls of a step by the ids that are written in it.
type stepIDs struct {
	written [][]byte
	many    map[string][]int
}

// indexOf returns the index of the oldest of the calls that waits for a result
// and has an id, -1 if there is none.
func (s *stepIDs) indexOf(id []byte, calls []trace.Call) int {
	if len(s.written) <= build.FewWaiting {
		for i, w := range s.written {
			if bytes.Equal(w, id) && !calls[i].HasResult {
				return i
			}
		}
		return -1
	}
	if s.many == nil {
		s.many = make(map[string][]int, len(s.written))
		for i, w := range s.written {
			s.many[string(w)] = append(s.many[string(w)], i)
		}
	}
	waiting := s.many[string(id)]
	for len(waiting) > 0 && calls[waiting[0]].HasResult {
		waiting = waiting[1:]
	}
	s.many[string(id)] = waiting
	if len(waiting) == 0 {
		return -1
	}
	return waiting[0]
}
