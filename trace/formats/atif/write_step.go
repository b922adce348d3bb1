package atif

import (
	"strconv"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
)

// steps writes what was said and done in order: before each turn the messages and
// the calls outside turns that came before it.
func (w *atifWriter) steps() {
	t := w.t
	message, call := 0, 0
	for turn := 0; ; turn++ {
		end := len(t.Calls)
		if turn < len(t.Turns) {
			end = t.Turns[turn].FirstCall
		}
		for {
			// A message goes where it came, one between the calls of a turn behind it.
			for message < len(t.Messages) && t.Messages[message].Turn <= turn && t.Messages[message].Call <= call {
				w.message(&t.Messages[message], turn, call)
				message++
			}
			if call == end {
				break
			}
			upTo := end
			if message < len(t.Messages) && t.Messages[message].Turn <= turn {
				upTo = min(upTo, t.Messages[message].Call)
			}
			call = w.callsOutside(call, upTo)
		}
		if turn >= len(t.Turns) {
			break
		}
		// One between the beginning of a turn and its first call goes before it:
		// the call came after it.
		for message < len(t.Messages) && t.Messages[message].Turn == turn+1 &&
			t.Messages[message].Call == call && t.Turns[turn].NumCalls > 0 {
			w.message(&t.Messages[message], turn, call)
			message++
		}
		w.turn(&t.Turns[turn])
		call += t.Turns[turn].NumCalls
	}
	for ; message < len(t.Messages); message++ {
		w.message(&t.Messages[message], len(t.Turns), len(t.Calls))
	}
	if w.step == 0 {
		w.openStep("system", time.Time{})
		w.text("message", "")
		w.own.isTrue("placeholder")
		w.closeStep()
	}
}

func (w *atifWriter) openStep(source string, at time.Time) {
	w.step++
	w.open('{')
	w.int("step_id", int64(w.step))
	w.time("timestamp", at)
	w.text("source", source)
}

func (w *atifWriter) closeStep() {
	w.extra()
	w.close('}')
}

// message writes a step for a message, at a place where so many turns and calls
// came before it.
func (w *atifWriter) message(m *trace.Message, turns, calls int) {
	source := "user"
	if m.Role == trace.RoleSystem {
		source = "system"
	}
	w.openStep(source, m.Time)
	w.content("message", m.Text, true)
	if m.Turn != turns {
		w.own.int("turn", int64(m.Turn))
	}
	if m.Call != calls {
		w.own.int("call", int64(m.Call))
	}
	w.closeStep()
}

// turn writes the step of a turn.
func (w *atifWriter) turn(turn *trace.Turn) {
	at := turn.Start
	if !isWritable(turn.Start) && isWritable(turn.End) {
		at = turn.End
		w.own.text("timestamp", "end")
	} else {
		w.own.time("end", turn.End)
	}
	if turn.Continued > 0 {
		w.own.int("continued", int64(turn.Continued))
	}
	w.openStep("agent", at)
	w.textIfAny("model_name", turn.Model)
	w.content("message", turn.Text, true)
	if !turn.Thought.IsEmpty() {
		w.content("reasoning_content", turn.Thought, false)
	}
	w.calls(turn.FirstCall, turn.FirstCall+turn.NumCalls)
	w.metrics(&turn.Usage)
	w.closeStep()
}

// callsOutside writes a step for the calls from first on, but no further than to
// end, that are in no turn, or whose turn is not recorded, and returns the index
// behind them.
func (w *atifWriter) callsOutside(first, end int) int {
	unknown := w.t.Calls[first].Origin == trace.OriginModel
	last := first + 1
	for last < end && !unknown && w.t.Calls[last].Origin != trace.OriginModel {
		last++
	}
	w.openStep("agent", time.Time{})
	w.text("message", "")
	w.calls(first, last)
	if unknown {
		w.own.text("turn", "unknown")
	} else {
		w.int("llm_call_count", 0)
	}
	w.closeStep()
	return last
}

// calls writes the calls of a step and their results.
func (w *atifWriter) calls(first, end int) {
	if first == end {
		return
	}
	// What awo says about the step comes behind what it says about the calls.
	own := w.own
	w.own = nil
	ids := w.callIDs(first, end)
	results := false
	w.key("tool_calls")
	w.open('[')
	for i := first; i < end; i++ {
		w.call(i, ids[i-first])
		results = results || w.t.Calls[i].HasResult
	}
	w.close(']')
	if results {
		w.key("observation")
		w.open('{')
		w.key("results")
		w.open('[')
		for i := first; i < end; i++ {
			if call := &w.t.Calls[i]; call.HasResult {
				w.open('{')
				w.text("source_call_id", ids[i-first])
				if !call.Result.IsZero() {
					w.content("content", call.Result, true)
				}
				w.extra()
				w.close('}')
			}
		}
		w.close(']')
		w.close('}')
	}
	w.own = own
}

// callIDs returns ids for the calls of a step that are not empty and differ: the
// recorded ones where those do.
func (w *atifWriter) callIDs(first, end int) []string {
	ids := make([]string, end-first)
	taken := make(map[string]bool, end-first)
	for i := first; i < end; i++ {
		if id := w.t.Calls[i].ID; id != "" && !taken[id] {
			ids[i-first] = id
			taken[id] = true
		}
	}
	n := first
	for i := range ids {
		for ; ids[i] == ""; n++ {
			if id := "call_" + strconv.Itoa(n); !taken[id] {
				ids[i] = id
			}
		}
	}
	return ids
}

func (w *atifWriter) call(i int, id string) {
	call := &w.t.Calls[i]
	w.open('{')
	w.text("tool_call_id", id)
	w.text("function_name", call.Tool.Value())
	w.key("arguments")
	w.args(call)
	if id != call.ID {
		w.own.text("id", call.ID)
	}
	if call.Status != trace.StatusUnknown {
		w.own.text("status", call.Status.String())
	}
	if call.Origin != trace.OriginModel && (call.Turn >= 0 || call.Origin != trace.OriginCode) {
		w.own.text("origin", call.Origin.String())
	}
	w.own.textIfAny("by", call.By)
	if call.AnsweredBy != trace.OriginModel {
		w.own.text("answered_by", call.AnsweredBy.String())
	}
	if !call.Error.IsZero() {
		w.own.textIfAny("error_form", w.own.content("error", call.Error, false))
	}
	w.own.time("start", call.Start)
	w.own.time("end", call.End)
	if len(call.Context) > 0 {
		w.own.key("context")
		w.own.open('[')
		for _, v := range call.Context {
			w.own.open('{')
			w.own.text("name", v.Name)
			w.own.text("value", v.Value)
			w.own.close('}')
		}
		w.own.close(']')
	}
	w.extra()
	w.close('}')
}

// args writes the arguments of a call, as an object in any case.
func (w *atifWriter) args(call *trace.Call) {
	var room [512]byte
	text, state := call.Args.ArgsText(room[:0])
	switch state {
	case trace.ArgsObject:
		w.members = jsonscan.AppendCompact(w.members, text)
	case trace.ArgsMissing:
		w.members = append(w.members, "{}"...)
		w.own.text("args", "missing")
	case trace.ArgsJSON:
		w.members = append(jsonscan.AppendCompact(append(w.members, `{"_value":`...), text), '}')
		w.own.text("args", "value")
	case trace.ArgsRaw:
		w.members = append(jsonscan.AppendQuoted(append(w.members, `{"_raw":`...), text), '}')
		w.own.text("args", "raw")
	}
}

// content writes a text, and its form if ATIF has no place for it; parts says
// that it may be an array of content parts.
func (w *atifWriter) content(name string, r trace.Raw, parts bool) {
	w.own.textIfAny(name, w.members.content(name, r, parts))
}

// appendContent appends a text as a string, or as an array of content parts if
// that is allowed and ATIF has such parts. It returns the form of what it had to
// put into a string: "json", "parts" or "".
func appendContent(dst []byte, r trace.Raw, parts bool) ([]byte, string) {
	switch r.Form {
	case trace.FormNone:
		return append(dst, `""`...), ""
	case trace.FormString:
		return append(dst, r.Data...), ""
	case trace.FormText:
		return jsonscan.AppendQuoted(dst, r.Data), ""
	}
	form := "json"
	if r.Form == trace.FormParts {
		if parts && isATIFParts(r.Data) {
			return jsonscan.AppendCompact(dst, r.Data), ""
		}
		form = "parts"
	}
	return jsonscan.AppendQuoted(dst, jsonscan.AppendCompact(nil, r.Data)), form
}

// isATIFParts reports whether all content parts are texts or images as ATIF
// defines them.
func isATIFParts(parts []byte) bool {
	c := jsonscan.New(parts)
	ok := c.Array()
	for ok && c.Element() {
		var kind string
		text, source, other := false, false, false
		for entered := c.Object(); entered && c.Member(); {
			switch string(c.Key()) {
			case "type":
				s, _ := c.Text()
				kind = string(s)
			case "text":
				text = c.Kind() == jsonscan.String
			case "source":
				source = isATIFImage(&c)
			default:
				other = true
			}
		}
		ok = !other && (kind == "text" && text && !source || kind == "image" && source && !text)
	}
	return ok && c.End() == nil
}

func isATIFImage(c *jsonscan.Cursor) bool {
	media, path, other := false, false, false
	for entered := c.Object(); entered && c.Member(); {
		switch string(c.Key()) {
		case "media_type":
			s, _ := c.Text()
			switch string(s) {
			case "image/jpeg", "image/png", "image/gif", "image/webp":
				media = true
			}
		case "path":
			path = c.Kind() == jsonscan.String
		default:
			other = true
		}
	}
	return media && path && !other
}

// metrics writes the usage of a turn.
func (w *atifWriter) metrics(u *trace.Usage) {
	if !u.Known && (u.CostUSD == nil || !isFinite(*u.CostUSD)) {
		return
	}
	w.key("metrics")
	w.open('{')
	if u.Known {
		w.int("prompt_tokens", u.Input)
		w.int("completion_tokens", u.Output)
		w.int("cached_tokens", u.CachedInput)
	}
	w.number("cost_usd", u.CostUSD)
	if u.Reasoning != 0 || u.CacheWrite != 0 {
		w.key("extra")
		w.open('{')
		if u.Reasoning != 0 {
			w.int("reasoning_tokens", u.Reasoning)
		}
		if u.CacheWrite != 0 {
			w.int("cache_creation_input_tokens", u.CacheWrite)
		}
		w.close('}')
	}
	w.close('}')
}
