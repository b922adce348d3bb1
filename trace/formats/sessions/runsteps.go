package sessions

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// runStepMark tells a step of a run of OpenAI's Assistants.
var runStepMark = []byte(`"thread.run.step"`)

// isRunStep reports whether a record is a step of a run of OpenAI's Assistants.
func isRunStep(record []byte) bool { return text(record, "object") == "thread.run.step" }

// runSteps returns the steps in a page of them, {"object": "list", "data": [...]}, in
// the order in which they were made; pages begin with the newest. It returns nil for
// any other record.
func runSteps(record []byte) [][]byte {
	list := record
	if build.IsKind(record, '{') {
		list = member(record, "data")
	}
	if !build.IsKind(list, '[') || !bytes.Contains(list, runStepMark) {
		return nil
	}
	var steps [][]byte
	c := jsonscan.New(list)
	for ok := c.Array(); ok && c.Element(); {
		one := c.Raw()
		if !build.IsKind(one, '{') || !isRunStep(one) {
			return nil
		}
		steps = append(steps, one)
	}
	slices.SortStableFunc(steps, func(a, b []byte) int { return cmp.Compare(madeAt(a), madeAt(b)) })
	return steps
}

// madeAt returns when a step was made, in seconds since 1970.
func madeAt(step []byte) int64 {
	c := jsonscan.New(member(step, "created_at"))
	n, _ := c.Int()
	return n
}

// readRunStep adds a step of a run: calls with what they gave, or a message, whose text
// is kept elsewhere. Each is a turn.
func readRunStep(l *log, step []byte) {
	t := l.b.Trajectory
	t.ID, t.Session = cmp.Or(t.ID, text(step, "thread_id")), cmp.Or(t.Session, text(step, "thread_id"))
	s := said{at: moment(step, "created_at"), end: moment(step, "completed_at"), usage: build.ReadUsage(member(step, "usage"), &build.UsageChat)}
	l.inTurn = false
	if text(step, "type") != "tool_calls" {
		l.turn(s)
		l.answered = true
		return
	}
	status := trace.StatusUnknown
	switch text(step, "status") {
	case "completed":
		status = trace.StatusOK
	case "failed":
		status = trace.StatusFailed
	}
	c := jsonscan.New(member(step, "step_details", "tool_calls"))
	for ok := c.Array(); ok && c.Element(); {
		call := c.Raw()
		kind := text(call, "type")
		it := build.Item{Kind: build.ItemCall, ID: []byte(text(call, "id")), Tool: []byte(kind)}
		var output []byte
		switch kind {
		case "function":
			it.Tool, it.Value = []byte(text(call, "function", "name")), raw(member(call, "function", "arguments"))
			output = member(call, "function", "output")
		case "code_interpreter":
			if input := member(call, kind, "input"); input != nil {
				it.Value = trace.JSONOf(append(append([]byte(`{"input":`), input...), '}'))
			}
			output = member(call, kind, "outputs")
		default:
			output = member(call, kind, "results")
		}
		if output != nil && string(output) != "null" {
			it.Answered, it.Result, it.Status = true, raw(output), status
		}
		l.add([]build.Item{it}, s)
		s.usage = trace.Usage{} // of all calls of the step
	}
	l.answered = true
}
