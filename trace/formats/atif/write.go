package atif

import (
	"cmp"
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
	w := atifWriter{t: t, dst: append(dst, '{')}
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
	return append(w.dst, '\n'), nil
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
	t    *trace.Trajectory
	dst  []byte
	own  []byte // members of the object "awo" of what is being written
	step int    // steps so far
}

func (w *atifWriter) key(name string)   { w.dst = appendKey(w.dst, name) }
func (w *atifWriter) open(bracket byte) { w.dst = append(appendComma(w.dst), bracket) }
func (w *atifWriter) close(b byte)      { w.dst = append(w.dst, b) }

func (w *atifWriter) text(name, value string) {
	w.dst = jsonscan.AppendQuoted(appendKey(w.dst, name), value)
}

func (w *atifWriter) textIfAny(name, value string) {
	if value != "" {
		w.text(name, value)
	}
}

func (w *atifWriter) ownText(name, value string) {
	w.own = jsonscan.AppendQuoted(appendKey(w.own, name), value)
}

func (w *atifWriter) ownTextIfAny(name, value string) {
	if value != "" {
		w.ownText(name, value)
	}
}

func (w *atifWriter) ownTrue(name string) { w.own = append(appendKey(w.own, name), "true"...) }

func (w *atifWriter) ownInt(name string, n int) {
	w.own = strconv.AppendInt(appendKey(w.own, name), int64(n), 10)
}

func (w *atifWriter) ownTime(name string, at time.Time) {
	if isWritable(at) {
		w.own = appendTime(appendKey(w.own, name), at)
	}
}

// extra writes what has been collected in own, if there is any.
func (w *atifWriter) extra() {
	if len(w.own) == 0 {
		return
	}
	w.key("extra")
	w.dst = append(append(append(w.dst, `{"awo":{`...), w.own...), "}}"...)
	w.own = w.own[:0]
}

// appendKey appends the name of a member, behind a comma if it is not the first.
func appendKey(dst []byte, name string) []byte {
	return append(jsonscan.AppendQuoted(appendComma(dst), name), ':')
}

// appendComma appends a comma if a value stands at the end of dst.
func appendComma(dst []byte) []byte {
	if n := len(dst); n > 0 && dst[n-1] != '{' && dst[n-1] != '[' && dst[n-1] != ':' {
		return append(dst, ',')
	}
	return dst
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
		w.ownTrue("unnamed")
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
	w.dst = appendMember(w.dst, "description", tool.Description)
	w.dst = appendMember(w.dst, "parameters", tool.Input)
	w.close('}')
	w.own = appendMember(w.own, "output", tool.Output)
	w.own = appendMember(w.own, "annotations", tool.Annotations)
	if tool.Deferred {
		w.ownTrue("deferred")
	}
	w.extra()
	w.close('}')
}

// appendMember appends a member whose value may be any JSON, if it is recorded.
func appendMember(dst []byte, name string, value trace.Raw) []byte {
	if value.IsZero() {
		return dst
	}
	dst = appendKey(dst, name)
	if value.Form == trace.FormText {
		return jsonscan.AppendQuoted(dst, value.Data)
	}
	return jsonscan.AppendCompact(dst, value.Data)
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
		w.count("total_prompt_tokens", sum.Input)
		w.count("total_completion_tokens", sum.Output)
		w.count("total_cached_tokens", sum.CachedInput)
	}
	if sum.CostUSD != nil && isFinite(*sum.CostUSD) {
		w.key("total_cost_usd")
		w.dst = trace.AppendFloat(w.dst, *sum.CostUSD)
	}
	w.count("total_steps", int64(w.step))
	w.close('}')
}

func (w *atifWriter) count(name string, n int64) {
	w.dst = strconv.AppendInt(appendKey(w.dst, name), n, 10)
}

func (w *atifWriter) trajectoryExtra() {
	t := w.t
	w.ownTextIfAny("task", t.Task)
	w.ownTextIfAny("trial", t.Trial)
	if t.Outcome != trace.OutcomeUnknown {
		w.ownText("outcome", t.Outcome.String())
	}
	if t.Score != nil && isFinite(*t.Score) {
		w.own = trace.AppendFloat(appendKey(w.own, "score"), *t.Score)
	}
	w.ownTime("start", t.Start)
	w.ownTime("end", t.End)
	if t.Parent != (trace.Parent{}) {
		w.own = append(appendKey(w.own, "parent"), '{')
		w.ownTextIfAny("trajectory", t.Parent.Trajectory)
		w.ownTextIfAny("call", t.Parent.Call)
		w.own = append(w.own, '}')
	}
	if len(t.Anomalies.ByCode) > 0 {
		w.own = append(appendKey(w.own, "anomalies"), '{')
		codes := make([]string, 0, len(t.Anomalies.ByCode))
		for code := range t.Anomalies.ByCode {
			codes = append(codes, code)
		}
		slices.Sort(codes)
		for _, code := range codes {
			w.ownInt(code, t.Anomalies.ByCode[code])
		}
		w.own = append(w.own, '}')
	}
	w.extra()
}
