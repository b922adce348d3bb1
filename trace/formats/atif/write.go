package atif

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
)

// CodeNotWritable is the problem of a trajectory that contradicts itself, so that
// no document can be written of it.
const CodeNotWritable = "trajectory-inconsistent"

// Append appends t as one line, a document of ATIF 1.7 with a newline at its
// end. The same trajectory gives the same bytes. What the format has no place for
// is in a member "awo" of its objects "extra":
//
//	extra                    task, trial, outcome, score, start, end, parent {trajectory, call},
//	                         anomalies {code: count}
//	agent.extra              unnamed (the name, which ATIF requires, is not recorded)
//	step.extra               end (of a turn), timestamp "end" (a turn without a start), turn and call
//	                         (where a message stands that came inside a turn), turn "unknown" (calls
//	                         whose turn is not recorded), placeholder (ATIF requires a step),
//	                         message and reasoning_content (their form: "json" or "parts" in a string)
//	tool_calls[].extra       id (where the recorded one is empty or repeats in its step), args ("raw",
//	                         "value" or "missing": not recorded as an object), status, origin, by,
//	                         answered_by, error, error_form, start, end, context [{name, value}]
//	results[].extra          content (its form: "json" or "parts" in a string)
//	tool_definitions[].extra output, annotations
//
// Reading the line back gives the same trajectory, but for
//
//   - Source, Offset, Format and Ref, which say where it was read, and Relay and
//     Attached, which only recordings of a relay have;
//   - white space in JSON, and arguments that were an object in a string, which
//     come back as the object;
//   - empty texts of messages and turns, which come back absent;
//   - bytes that are no valid UTF-8, numbers that are no finite ones, and times
//     outside the years 1 to 9999;
//   - an ID that is empty, where there is a Session;
//   - AfterUser, where a caller has set it to something else than the messages
//     say.
//
// The error is a *diag.Error with the code trajectory-inconsistent: turns that do
// not divide the calls among them in order. dst is then returned as it was.
func Append(dst []byte, t *trace.Trajectory) ([]byte, error) {
	if err := checkTurns(t); err != nil {
		return dst, err
	}
	w := atifWriter{t: t, members: append(dst, '{')}
	w.text("schema_version", "ATIF-v1.7")
	w.textIfAny("session_id", t.Session)
	w.textIfAny("trajectory_id", t.ID)
	w.agent()
	w.key("steps")
	w.open('[')
	w.steps()
	w.close(']')
	w.finalMetrics()
	w.textIfAny("continued_trajectory_ref", t.Continued)
	w.trajectoryExtra()
	w.close('}')
	return append(w.members, '\n'), nil
}

// checkTurns returns an error if the calls of the turns are not those that name
// them.
func checkTurns(t *trace.Trajectory) error {
	bad := func(what string, i int) error {
		return diag.New(t.Source, CodeNotWritable, "%s %d does not fit the others of the trajectory", what, i+1)
	}
	next := 0
	for k := range t.Turns {
		turn := &t.Turns[k]
		if turn.FirstCall < next || turn.NumCalls < 0 || turn.NumCalls > len(t.Calls)-turn.FirstCall {
			return bad("turn", k)
		}
		for i := next; i < turn.FirstCall+turn.NumCalls; i++ {
			if want := k; i < turn.FirstCall && t.Calls[i].Turn != -1 || i >= turn.FirstCall && t.Calls[i].Turn != want {
				return bad("call", i)
			}
		}
		next = turn.FirstCall + turn.NumCalls
	}
	for i := next; i < len(t.Calls); i++ {
		if t.Calls[i].Turn != -1 {
			return bad("call", i)
		}
	}
	return nil
}

// atifWriter writes one document.
type atifWriter struct {
	t       *trace.Trajectory
	members         // of what is being written
	own     members // of its object "awo"
	step    int     // steps so far
}

// members are those of objects that are being written.
type members []byte

// key writes the name of a member, behind a comma if it is not the first.
func (m *members) key(name string) {
	m.comma()
	*m = append(jsonscan.AppendQuoted(*m, name), ':')
}

// comma writes a comma if a value stands at the end.
func (m *members) comma() {
	if n := len(*m); n > 0 && !slices.Contains([]byte("{[:"), (*m)[n-1]) {
		*m = append(*m, ',')
	}
}

func (m *members) open(bracket byte) {
	m.comma()
	*m = append(*m, bracket)
}

func (m *members) close(bracket byte) { *m = append(*m, bracket) }

func (m *members) text(name, value string) {
	m.key(name)
	*m = jsonscan.AppendQuoted(*m, value)
}

func (m *members) textIfAny(name, value string) {
	if value != "" {
		m.text(name, value)
	}
}

func (m *members) isTrue(name string) {
	m.key(name)
	*m = append(*m, "true"...)
}

func (m *members) int(name string, n int64) {
	m.key(name)
	*m = strconv.AppendInt(*m, n, 10)
}

// number writes a number that is recorded and finite.
func (m *members) number(name string, n *float64) {
	if n != nil && isFinite(*n) {
		m.key(name)
		*m = trace.AppendFloat(*m, *n)
	}
}

// time writes a time in UTC, if it can be written.
func (m *members) time(name string, at time.Time) {
	if isWritable(at) {
		m.key(name)
		*m = appendTime(*m, at)
	}
}

// value writes any JSON, if it is recorded.
func (m *members) value(name string, value trace.Raw) {
	if value.IsZero() {
		return
	}
	m.key(name)
	if value.Form == trace.FormText {
		*m = jsonscan.AppendQuoted(*m, value.Data)
	} else {
		*m = jsonscan.AppendCompact(*m, value.Data)
	}
}

// content writes a text, and returns the form of what had to be put into a string.
func (m *members) content(name string, r trace.Raw, parts bool) (form string) {
	m.key(name)
	*m, form = appendContent(*m, r, parts)
	return form
}

// extra writes what has been collected in own, if there is any.
func (w *atifWriter) extra() {
	if len(w.own) == 0 {
		return
	}
	w.key("extra")
	w.members = append(append(append(w.members, `{"awo":{`...), w.own...), "}}"...)
	w.own = w.own[:0]
}

// isWritable reports whether a time is recorded and can be written.
func isWritable(at time.Time) bool {
	return !at.IsZero() && at.UTC().Year() >= 1 && at.UTC().Year() <= 9999
}

// appendTime appends a time in UTC with as many digits as it has: none, 6 or 9,
// which all readers of ISO 8601 know.
func appendTime(dst []byte, at time.Time) []byte {
	layout := `"2006-01-02T15:04:05.000000000Z"`
	switch at.Nanosecond() % 1000 {
	case 0:
		layout = `"2006-01-02T15:04:05.000000Z"`
		if at.Nanosecond() == 0 {
			layout = `"2006-01-02T15:04:05Z"`
		}
	}
	return at.UTC().AppendFormat(dst, layout)
}

func isFinite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

func (w *atifWriter) agent() {
	t := w.t
	w.key("agent")
	w.open('{')
	w.text("name", cmp.Or(t.Agent, "unknown"))
	w.text("version", "unknown")
	w.textIfAny("model_name", t.Model)
	if len(t.Tools) > 0 {
		w.key("tool_definitions")
		w.open('[')
		for i := range t.Tools {
			w.tool(&t.Tools[i])
		}
		w.close(']')
	}
	if t.Agent == "" {
		w.own.isTrue("unnamed")
	}
	w.extra()
	w.close('}')
}

func (w *atifWriter) tool(tool *trace.ToolDef) {
	w.open('{')
	w.text("type", "function")
	w.key("function")
	w.open('{')
	w.text("name", tool.Name.Value())
	w.value("description", tool.Description)
	w.value("parameters", tool.Input)
	w.close('}')
	w.own.value("output", tool.Output)
	w.own.value("annotations", tool.Annotations)
	if tool.Deferred {
		w.own.isTrue("deferred")
	}
	w.extra()
	w.close('}')
}

// finalMetrics writes the sums over the steps.
func (w *atifWriter) finalMetrics() {
	var sum trace.Usage
	for i := range w.t.Turns {
		sum.Add(w.t.Turns[i].Usage)
	}
	w.key("final_metrics")
	w.open('{')
	if sum.Known {
		w.int("total_prompt_tokens", sum.Input)
		w.int("total_completion_tokens", sum.Output)
		w.int("total_cached_tokens", sum.CachedInput)
	}
	w.number("total_cost_usd", sum.CostUSD)
	w.int("total_steps", int64(w.step))
	w.close('}')
}

func (w *atifWriter) trajectoryExtra() {
	t := w.t
	w.own.textIfAny("task", t.Task)
	w.own.textIfAny("trial", t.Trial)
	if t.Outcome != trace.OutcomeUnknown {
		w.own.text("outcome", t.Outcome.String())
	}
	w.own.number("score", t.Score)
	w.own.time("start", t.Start)
	w.own.time("end", t.End)
	if t.Parent != (trace.Parent{}) {
		w.own.key("parent")
		w.own.open('{')
		w.own.textIfAny("trajectory", t.Parent.Trajectory)
		w.own.textIfAny("call", t.Parent.Call)
		w.own.close('}')
	}
	if len(t.Anomalies.ByCode) > 0 {
		w.own.key("anomalies")
		w.own.open('{')
		for _, code := range slices.Sorted(maps.Keys(t.Anomalies.ByCode)) {
			w.own.int(code, int64(t.Anomalies.ByCode[code]))
		}
		w.own.close('}')
	}
	w.extra()
}
