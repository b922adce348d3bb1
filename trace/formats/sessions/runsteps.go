package sessions

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// runStepMark tells a step of a run of OpenAI's Assistants.
var runStepMark = []byte(`"thread.run.step"`)

// isRunStep reports whether a record is a step of a run of OpenAI's Assistants.
func isRunStep(record []byte) bool { return build.TextAt(record, "object") == "thread.run.step" }

// runSteps returns the steps in a page of them, {"object": "list", "data": [...]}, in
// the order in which they were made; pages begin with the newest. It returns nil for
// any other record.
func runSteps(record []byte) [][]byte {
	list := record
	if build.IsKind(record, '{') {
		list = build.MemberRaw(record, "data")
	}
	if !build.IsKind(list, '[') || !bytes.Contains(list, runStepMark) {
		return nil
	}
	var steps [][]byte
	for one := range build.Elements(list) {
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
	c := jsonscan.New(build.MemberRaw(step, "created_at"))
	n, _ := c.Int()
	return n
}

// readRunStep adds a step of a run: calls with what they gave, or a message, whose text
// is kept elsewhere. Each is a turn.
func readRunStep(l *log, step []byte) {
	t := l.Builder.Trajectory
	t.ID, t.Session = cmp.Or(t.ID, build.TextAt(step, "thread_id")), cmp.Or(t.Session, build.TextAt(step, "thread_id"))
	s := message.Said{At: build.MomentAt(step, "created_at"), End: build.MomentAt(step, "completed_at"), Usage: build.ReadUsage(build.MemberRaw(step, "usage"), &build.UsageChat)}
	l.InTurn = false
	if build.TextAt(step, "type") != "tool_calls" {
		l.Turn(s)
		l.Answered = true
		return
	}
	status := trace.StatusUnknown
	switch build.TextAt(step, "status") {
	case "completed":
		status = trace.StatusOK
	case "failed":
		status = trace.StatusFailed
	}
	for call := range build.Elements(build.MemberRaw(step, "step_details", "tool_calls")) {
		kind := build.TextAt(call, "type")
		it := build.Item{Kind: build.ItemCall, ID: []byte(build.TextAt(call, "id")), Tool: []byte(kind)}
		var output []byte
		switch kind {
		case "function":
			it.Tool, it.Value = []byte(build.TextAt(call, "function", "name")), build.Raw(build.MemberRaw(call, "function", "arguments"))
			output = build.MemberRaw(call, "function", "output")
		case "code_interpreter":
			if input := build.MemberRaw(call, kind, "input"); input != nil {
				it.Value = trace.JSONOf(append(append([]byte(`{"input":`), input...), '}'))
			}
			output = build.MemberRaw(call, kind, "outputs")
		default:
			output = build.MemberRaw(call, kind, "results")
		}
		if output != nil && string(output) != "null" {
			it.Answered, it.Result, it.Status = true, build.Raw(output), status
		}
		l.Add([]build.Item{it}, s)
		s.Usage = trace.Usage{} // of all calls of the step
	}
	l.Answered = true
}
