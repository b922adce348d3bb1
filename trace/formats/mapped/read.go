package mapped

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/awo-dev/awo/dataflow/jsonpath"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Name is the name of the format that a map describes.
const Name = "map"

// Format returns the trace format that a map describes. It claims any JSON.
func (m *Map) Format() trace.Format {
	return trace.Format{
		Name: Name,
		Doc:  "What a map says (--map).",
		Detect: func(h trace.Head) trace.Match {
			return trace.Match{OK: h.Container != trace.ContainerOther && len(h.Records) > 0}
		},
		Decode:   m.decode,
		Assemble: m.assemble,
	}
}

// decode finds the sessions, or the pieces of sessions, of a record.
func (m *Map) decode(r trace.Record) ([]trace.Fragment, error) {
	if err := build.CheckRecord(r); err != nil {
		return nil, err
	}
	whole, err := trace.ParseValue(r.Data)
	if err != nil {
		return nil, trace.ScanError(r, err)
	}
	records := []trace.Value{whole}
	if m.records != nil {
		records = m.records.Eval(whole)
	}
	var out []trace.Fragment
	for i, record := range records {
		key := r.File
		switch id := scalar(m.trajectory, record); {
		case id != "":
			key += "#" + id
		case m.events != nil || m.user != nil || m.answer != nil: // a session of its own
			key = r.Pos().String() + "#" + strconv.Itoa(i)
		}
		if m.events != nil && !m.events.Selects(record) && m.trajectory == nil {
			continue
		}
		out = append(out, trace.Fragment{Key: key, Data: record.AppendCanonical(nil), Pos: r.Pos()})
	}
	if len(out) == 0 {
		return nil, diag.New(r.Pos(), build.CodeRecordShape, "the map finds nothing in this record")
	}
	return out, nil
}

// scalar returns the text of what a path finds if it is a text or a number.
func scalar(p jsonpath.Path, v trace.Value) string {
	if p == nil {
		return ""
	}
	found := p.Eval(v)
	if len(found) == 0 || found[0].Kind != trace.String && found[0].Kind != trace.Number {
		return ""
	}
	return found[0].Text
}

// first returns the first value that a path finds, null if there is none.
func first(p jsonpath.Path, v trace.Value) trace.Value {
	if p == nil {
		return trace.Value{}
	}
	if found := p.Eval(v); len(found) > 0 {
		return found[0]
	}
	return trace.Value{}
}

// reading puts a trajectory together.
type reading struct {
	m        *Map
	b        *build.Builder
	turn     string // that the last response is of, by what the map finds
	inTurn   bool
	answered bool // a call of the last response has its result
	byID     map[string]bool
}

func (m *Map) assemble(key string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
	b := build.New(0)
	t := b.Trajectory
	t.Offset, t.Source = -1, parts[0].Pos
	r := &reading{m: m, b: b, byID: map[string]bool{}}
	for i := range parts {
		record, err := trace.ParseValue(parts[i].Data)
		if err != nil {
			return nil, diag.New(parts[i].Pos, build.CodeRecordShape, "this record cannot be read")
		}
		r.record(record, i == 0)
	}
	for i := range t.Turns {
		if t.Model == "" {
			t.Model = t.Turns[i].Model
		}
	}
	build.ClearTurnModels(t)
	return []*trace.Trajectory{b.Finish()}, nil
}

// record adds what a record says.
func (r *reading) record(v trace.Value, first bool) {
	m, t := r.m, r.b.Trajectory
	if t.ID == "" {
		t.ID = scalar(m.trajectory, v)
	}
	if t.Task == "" {
		t.Task = scalar(m.task, v)
	}
	if t.Session == "" {
		t.Session = scalar(m.session, v)
	}
	r.outcome(v)
	if first || m.events != nil {
		r.says(m.system, v, trace.RoleSystem)
		r.says(m.user, v, trace.RoleUser)
	}
	events := []trace.Value{v}
	if m.events != nil {
		events = m.events.Eval(v)
	}
	for _, e := range events {
		r.event(e)
	}
	if m.answer != nil {
		if text := one(m.answer, v); !text.IsEmpty() {
			r.b.Turn().Text = text
			r.inTurn = false
		}
	}
}

// outcome reads how the run ended.
func (r *reading) outcome(v trace.Value) {
	switch found := first(r.m.outcome, v); {
	case r.m.outcome == nil, found.Kind == trace.Null:
	case truth(found):
		r.b.Trajectory.Outcome = trace.OutcomeSuccess
	default:
		r.b.Trajectory.Outcome = trace.OutcomeFailure
	}
}

// truth reports whether a value says yes: true, a number of at least 1, or a word for
// success.
func truth(v trace.Value) bool {
	switch v.Kind {
	case trace.Bool:
		return v.Bool
	case trace.Number:
		n, err := strconv.ParseFloat(v.Text, 64)
		return err == nil && n >= 1
	case trace.String:
		switch strings.ToLower(v.Text) {
		case "true", "yes", "ok", "success", "succeeded", "passed", "pass", "solved", "completed", "done", "1":
			return true
		}
	}
	return false
}

// one returns what a path finds as a text.
func one(p jsonpath.Path, v trace.Value) trace.Raw { return build.RawOf(first(p, v)) }

func (r *reading) says(p jsonpath.Path, v trace.Value, role trace.Role) {
	if p == nil {
		return
	}
	for _, found := range p.Eval(v) {
		if text := build.RawOf(found); !text.IsEmpty() {
			r.b.Message(role, text)
			r.inTurn = false
		}
	}
}

// who returns whose an event is.
func (m *Map) who(e trace.Value) speaker {
	if m.role != nil {
		role := scalar(m.role, e)
		if who, ok := m.roles[role]; ok {
			return who
		}
		if who := guess(role); who != speakerUnknown {
			return who
		}
	}
	if m.calls == nil && m.tool.Selects(e) || m.calls != nil && m.calls.Selects(e) {
		return speakerModel
	}
	return speakerUnknown
}

// usualRoles are words in the names of roles, the more telling first.
var usualRoles = []struct {
	who   speaker
	words []string
}{
	{speakerTool, []string{"result", "results", "observation", "response", "output", "environment", "env"}},
	{speakerModel, []string{"assistant", "agent", "model", "bot", "gpt", "llm", "ai", "call", "action", "invocation"}},
	{speakerUser, []string{"user", "human", "customer", "client", "question"}},
	{speakerSystem, []string{"system", "developer", "instruction", "instructions"}},
	{speakerTool, []string{"tool", "function"}},
}

// guess returns whose an event with a role is, by the words in it. A response that is
// the model's and not a tool's says so.
func guess(role string) speaker {
	found := map[string]bool{}
	for word := range strings.FieldsFuncSeq(strings.ToLower(camel.ReplaceAllString(role, "${1}_${2}")), func(r rune) bool { return !unicode.IsLetter(r) }) {
		found[word] = true
	}
	if (found["response"] || found["output"]) && (found["assistant"] || found["model"] || found["agent"] || found["llm"] || found["ai"] || found["bot"]) {
		return speakerModel
	}
	for _, usual := range usualRoles {
		if slices.ContainsFunc(usual.words, func(word string) bool { return found[word] }) {
			return usual.who
		}
	}
	return speakerUnknown
}

// camel is where a word begins inside of a name.
var camel = regexp.MustCompile(`(\p{Ll})(\p{Lu})`)

// event adds what an event says.
func (r *reading) event(e trace.Value) {
	m, b := r.m, r.b
	text := one(m.text, e)
	switch m.who(e) {
	case speakerUser:
		b.Message(trace.RoleUser, text).Time = at(m.started, e)
		r.inTurn = false
	case speakerSystem:
		b.Message(trace.RoleSystem, text).Time = at(m.started, e)
	case speakerTool:
		r.result(e, text)
	case speakerModel:
		r.response(e, text)
	case speakerUnknown:
		b.Anomaly(build.CodeMessageRole, 1)
	}
}

// response adds what the model said and called.
func (r *reading) response(e trace.Value, text trace.Raw) {
	m, b := r.m, r.b
	turn := scalar(m.turn, e)
	calls := []trace.Value{e}
	if m.calls != nil {
		calls = m.calls.Eval(e)
	} else if !m.tool.Selects(e) {
		calls = nil
	}
	same := r.inTurn && turn != "" && turn == r.turn
	if same && r.answered && m.result == nil {
		same = false // what the model says after a result is another response
	}
	if !same {
		t := b.Turn()
		t.Start, t.End, t.Model = at(m.started, e), at(m.ended, e), scalar(m.model, e)
		r.inTurn, r.turn, r.answered = true, turn, false
	}
	t := &b.Trajectory.Turns[len(b.Trajectory.Turns)-1]
	if !text.IsEmpty() {
		t.Text = build.JoinTexts(t.Text, text)
	}
	if thought := one(m.thought, e); !thought.IsEmpty() {
		t.Thought = build.JoinTexts(t.Thought, thought)
	}
	if u := m.usage(e); u.Known && !t.Usage.Known {
		t.Usage = u
	}
	for _, c := range calls {
		tool := scalar(m.tool, c)
		if tool == "" {
			b.Anomaly(build.CodeCallUnnamed, 1)
			continue
		}
		id := scalar(m.id, c)
		call := b.Call(id, trace.Intern([]byte(tool)), m.args(c), trace.OriginModel)
		r.byID[id] = id != "" || r.byID[id]
		call.Start, call.End = at(m.started, c), at(m.ended, c)
		if m.result != nil && m.result.Selects(c) {
			if result := first(m.result, c); result.Kind != trace.Null {
				call.Result, call.HasResult = build.RawOf(result), true
			}
		}
		r.ended(call, c)
	}
}

// args returns the arguments of a call: what the path finds, those of a tool without
// any if it finds nothing where others have some.
func (m *Map) args(c trace.Value) trace.Raw {
	if m.arguments == nil {
		return trace.Raw{}
	}
	return build.RawOf(first(m.arguments, c))
}

// result adds a result that is an event of its own.
func (r *reading) result(e trace.Value, text trace.Raw) {
	m, b := r.m, r.b
	value := one(m.result, e)
	if value.IsZero() {
		value = text
	}
	id := scalar(m.answers, e)
	if id == "" {
		id = scalar(m.id, e)
	}
	var call *trace.Call
	if id != "" && r.byID[id] {
		call = b.Result([]byte(id), value)
	} else {
		call = b.NamedResult([]byte(scalar(m.tool, e)), value)
	}
	if call != nil {
		r.answered = true
		if call.End.IsZero() {
			call.End = at(m.started, e)
		}
		r.ended(call, e)
	}
}

// ended reads whether a call failed.
func (r *reading) ended(call *trace.Call, v trace.Value) {
	m := r.m
	if m.good != nil {
		if found := first(m.good, v); found.Kind != trace.Null {
			call.Status = trace.StatusFailed
			if truth(found) {
				call.Status = trace.StatusOK
			}
		}
	}
	if m.failure == nil || !m.failure.Selects(v) {
		return
	}
	switch found := first(m.failure, v); {
	case found.Kind == trace.Null, found.Kind == trace.Bool && !found.Bool, found.Kind == trace.Number && found.Text == "0",
		found.Kind == trace.String && found.Text == "", found.Kind == trace.Array && len(found.Elems) == 0, found.Kind == trace.Object && len(found.Members) == 0:
		if call.Status == trace.StatusUnknown && call.HasResult {
			call.Status = trace.StatusOK
		}
	default:
		call.Status = trace.StatusFailed
		if found.Kind == trace.String || found.Kind == trace.Object {
			call.Error = build.RawOf(found)
		}
	}
}

// usage reads the token counts of a response.
func (m *Map) usage(e trace.Value) (u trace.Usage) {
	for i, into := range []*int64{&u.Input, &u.Output, &u.CachedInput} {
		n, err := strconv.ParseFloat(scalar(m.tokens[i], e), 64)
		if err == nil && n >= 0 && n < 1<<50 && n == math.Trunc(n) {
			*into, u.Known = int64(n), true
		}
	}
	return u
}

// at reads a time: text, or seconds, milliseconds, microseconds or nanoseconds since
// 1970, which the size tells.
func at(p jsonpath.Path, v trace.Value) time.Time {
	text := scalar(p, v)
	if text == "" {
		return time.Time{}
	}
	if t, ok := trace.ParseTime([]byte(text)); ok {
		return t
	}
	n, err := strconv.ParseFloat(text, 64)
	switch {
	case err != nil || !(n > 1e6) || n > 9e18:
		return time.Time{}
	case n > 1e17:
		return time.Unix(0, int64(n)).UTC()
	case n > 1e14:
		return time.UnixMicro(int64(n)).UTC()
	case n > 1e11:
		return time.UnixMilli(int64(n)).UTC()
	}
	return time.UnixMicro(int64(n * 1e6)).UTC()
}
