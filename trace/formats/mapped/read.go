package mapped

import (
	"bytes"
	"cmp"
	"math"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
	"github.com/awo-dev/awo/trace/formats/internal/sessionlog"
)

// Name is the name of the format that a map without a name describes.
const Name = "map"

// Format returns the trace format that a map describes. Without "detect" it claims any
// JSON.
func (m *Map) Format() trace.Format {
	return trace.Format{
		Name:     cmp.Or(m.name, Name),
		Doc:      cmp.Or(m.doc, "What a map says (--map)."),
		Spec:     m.spec,
		Detect:   m.claims,
		Decode:   m.decode,
		Assemble: m.assemble,
	}
}

// claims reports whether the head of a file has what the map is for.
func (m *Map) claims(h trace.Head) trace.Match {
	if m.detect == nil {
		return trace.Match{OK: h.Container != trace.ContainerOther && len(h.Records) > 0}
	}
	for _, r := range h.Records {
		for _, c := range m.detect {
			if c.holds(r) {
				return trace.Match{OK: true}
			}
		}
	}
	return trace.Match{}
}

func (c condition) holds(r trace.HeadRecord) bool {
	for _, is := range c {
		head, value := r, []byte(nil)
		for i, name := range is.member {
			if name == "0" { // the first element
				value = firstElement(value)
				continue
			}
			if i > 0 {
				head = trace.NewHeadRecord(value, true)
			}
			value = head.Members[name]
		}
		if !is.holds(value) {
			return false
		}
	}
	return len(c) > 0
}

// firstElement returns what a list begins with, which may be cut short.
func firstElement(list []byte) []byte {
	if c := jsonscan.New(list); c.Array() && c.Element() {
		return list[c.Offset():]
	}
	return nil
}

func (is *memberIs) holds(value []byte) bool {
	if value == nil {
		return slices.Contains(is.values, "")
	}
	return matches(is.values, strings.Trim(string(value), `"`))
}

// matches reports whether a text is one of some, of which those that end in * are for
// all that begin so.
func matches(patterns []string, text string) bool {
	for _, p := range patterns {
		if head, ok := strings.CutSuffix(p, "*"); ok && strings.HasPrefix(text, head) || p != "" && p == text {
			return true
		}
	}
	return false
}

// decode finds the sessions, or the pieces of sessions, of a record.
func (m *Map) decode(r trace.Record) ([]trace.Fragment, error) {
	if err := build.CheckRecord(r); err != nil {
		return nil, err
	}
	var f finder
	records := [][]byte{r.Data}
	if m.at[fRecords] != nil {
		records = f.all(m.at[fRecords], r.Data)
	}
	var out []trace.Fragment
	for i, record := range records {
		f.forget()
		key, events := r.File, m.at[fEvents]
		switch id := f.text(m.at[fTrajectory], record); {
		case m.at[fWhole] != nil:
			key = r.Pos().String() + "#" + strconv.Itoa(i)
		case id != "":
			key += "#" + id
		case events != nil && f.first(events, record) != nil, m.at[fUser] != nil, m.at[fAnswer] != nil: // a session of its own
			key = r.Pos().String() + "#" + strconv.Itoa(i)
		case events != nil && m.at[fTrajectory] == nil:
			continue
		}
		out = append(out, trace.Fragment{Key: key, Data: record, Pos: r.Pos()})
	}
	if len(out) == 0 {
		return nil, diag.New(r.Pos(), build.CodeRecordShape, "the map finds nothing in this record")
	}
	return out, nil
}

// reading puts a trajectory together.
type reading struct {
	m *Map
	*sessionlog.Log
	finder
	turn string // that the last response is of, by what the map finds
}

func (m *Map) assemble(key string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
	r := &reading{m: m, Log: sessionlog.New("")}
	for i := range parts {
		r.record(parts[i].Data, i == 0)
	}
	t := r.Finish()
	t.Source = parts[0].Pos
	if t.ID == "" && m.name != "" && key == parts[0].Pos.File {
		t.ID, _, _ = strings.Cut(path.Base(filepath.ToSlash(key)), ".")
	}
	return []*trace.Trajectory{t}, nil
}

// record adds what a record says.
func (r *reading) record(v []byte, first bool) {
	m := r.m
	r.forget()
	r.header(&m.rule, v)
	if m.kinds == nil && (first || m.at[fEvents] != nil) {
		r.says(&m.rule, v)
	}
	events := [][]byte{v}
	if m.at[fEvents] != nil {
		events = r.all(m.at[fEvents], v)
	}
	for _, e := range events {
		if m.at[fEvents] != nil {
			r.forget()
		}
		r.event(e)
	}
	if answer := r.raw(m.at[fAnswer], v); !answer.IsEmpty() {
		r.Add([]build.Item{{Kind: build.ItemText, Value: answer, Opens: true}}, sessionlog.Said{})
		r.InTurn = false
	}
}

// header reads what a record says about its session.
func (r *reading) header(m *rule, v []byte) {
	t := r.Builder.Trajectory
	if whole := r.text(m.at[fWhole], v); whole != "" {
		t.ID, t.Session = cmp.Or(t.ID, whole), cmp.Or(t.Session, whole)
	}
	if t.Agent == "" && m.at[fAgent] != nil {
		for _, name := range r.all(m.at[fAgent], v) {
			if agent := sessionlog.Raw(name).Text(); agent != "user" {
				t.Agent = agent
				break
			}
		}
	}
	t.ID = cmp.Or(t.ID, r.text(m.at[fTrajectory], v))
	t.Task = cmp.Or(t.Task, r.text(m.at[fTask], v))
	t.Session = cmp.Or(t.Session, r.text(m.at[fSession], v))
	t.Parent.Trajectory = cmp.Or(t.Parent.Trajectory, r.text(m.at[fParent], v))
	if outcome := r.first(m.at[fOutcome], v); outcome != nil {
		t.Outcome = trace.OutcomeFailure
		if truth(outcome) {
			t.Outcome = trace.OutcomeSuccess
		}
	}
	if tools := build.InnerJSON(r.raw(m.at[fTools], v)); build.IsKind(tools, '[') {
		r.Messages.Tools = append(r.Messages.Tools, message.DefinitionsIn(r.Builder, tools)...)
	}
}

// says adds what the system and the user said.
func (r *reading) says(m *rule, v []byte) {
	s := sessionlog.Said{At: r.moment(m.at[fTime], v)}
	for i, kind := range []build.ItemKind{build.ItemSystem, build.ItemUser} {
		for _, found := range r.all(m.at[[2]field{fSystem, fUser}[i]], v) {
			if text := sessionlog.Raw(found); !text.IsEmpty() {
				r.Add([]build.Item{{Kind: kind, Value: text}}, s)
			}
		}
	}
}

// truth reports whether a value says yes: true, a number of at least 1, or a word for
// success.
func truth(v []byte) bool {
	c := jsonscan.New(v)
	if text, ok := c.Text(); ok {
		switch strings.ToLower(string(text)) {
		case "true", "yes", "ok", "success", "succeeded", "passed", "pass", "solved", "completed", "done", "1":
			return true
		}
		return false
	}
	n, err := strconv.ParseFloat(string(v), 64)
	return string(v) == "true" || err == nil && n >= 1
}

// ruleOf returns the rule of an event, nil if its kind is of no interest.
func (r *reading) ruleOf(e []byte) *rule {
	if r.m.kinds == nil {
		return &r.m.rule
	}
	kind := r.text(r.m.kind, e)
	for i := range r.m.kinds {
		if matches(r.m.kinds[i].kinds, kind) {
			return r.m.kinds[i].rule
		}
	}
	return nil
}

// who returns whose an event is.
func (r *reading) who(m *rule, e []byte) speaker {
	if m.at[fRole] != nil {
		role := r.text(m.at[fRole], e)
		if m.at[fRole][0].constant != nil {
			return speakerNames[role]
		}
		if who, ok := m.roles[role]; ok {
			return who
		}
		if who := guess(role); who != speakerUnknown {
			return who
		}
	}
	switch {
	case m.at[fCalls] == nil && r.first(m.at[fTool], e) != nil, m.at[fCalls] != nil && len(r.all(m.at[fCalls], e)) > 0:
		return speakerModel
	case m.at[fMessages] != nil:
		return speakerNobody
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
func (r *reading) event(e []byte) {
	m := r.ruleOf(e)
	if m == nil {
		return
	}
	who := r.who(m, e)
	if r.m.kinds != nil {
		if r.m.at[fEvents] == nil {
			r.header(m, e)
		}
		r.says(m, e)
	}
	s := sessionlog.Said{At: r.moment(m.at[fTime], e), End: r.moment(m.at[fEnd], e), Model: r.text(m.at[fModel], e)}
	s.Model = cmp.Or(s.Model, r.Model) // else the one that was asked
	s.Usage = r.usage(m, e)
	messages := r.all(m.at[fMessages], e)
	for _, known := range messages {
		items, _ := r.Messages.Read(sessionlog.Raw(known), false)
		switch r.text(m.at[fOrigin], e) {
		case "", "user", "human", "system_trigger":
		default: // a program spoke in the user's name
			for i := range items {
				if items[i].Kind == build.ItemUser {
					items[i].Kind = build.ItemSystem
				}
			}
		}
		r.Add(items, s)
	}
	text := r.said(m.at[fText], e)
	turns := r.Builder.Trajectory.Turns
	switch who {
	case speakerUser:
		r.Add([]build.Item{{Kind: build.ItemUser, Value: text}}, s)
	case speakerSystem:
		r.Add([]build.Item{{Kind: build.ItemSystem, Value: text}}, s)
	case speakerTool:
		r.result(m, e, text, s)
	case speakerModel:
		r.response(m, e, text, s)
	case speakerHeader:
		t := r.Builder.Trajectory
		t.Model = cmp.Or(t.Model, s.Model)
	case speakerAsk:
		r.Model = s.Model
	case speakerStep:
		r.InTurn = false
	case speakerCall:
		r.starts(m, e, s)
	case speakerCounts:
		if n := len(turns); n > 0 && s.Usage.Known && (r.InTurn || !turns[n-1].Usage.Known) {
			turns[n-1].Usage = s.Usage
			if !s.At.IsZero() && m.has["end"] {
				turns[n-1].End = s.End
			}
		}
	case speakerUnknown:
		r.Builder.Anomaly(build.CodeMessageRole, 1)
	}
	for _, answer := range r.all(m.at[fResults], e) {
		r.result(m, answer, trace.Raw{}, s)
	}
	for _, known := range r.all(m.at[fAfter], e) {
		items, _ := r.Messages.Read(sessionlog.Raw(known), false)
		if r.InTurn = false; slices.ContainsFunc(items, func(it build.Item) bool { return !it.Value.IsEmpty() }) {
			r.Add(items, s)
		}
	}
}

// response adds what the model said and called.
func (r *reading) response(m *rule, e []byte, text trace.Raw, s sessionlog.Said) {
	turn := r.text(m.at[fTurn], e)
	calls := [][]byte{e}
	if m.at[fCalls] != nil {
		calls = r.all(m.at[fCalls], e)
	} else if r.first(m.at[fTool], e) == nil {
		calls = nil
	}
	// Parts of a response that a step begins, or what comes after a result, or a text after one.
	constant := m.at[fTurn] != nil && m.at[fTurn][0].constant != nil
	joined := constant && (turn == "step" || r.InTurn && (!r.Answered || turn == "text" && text.IsEmpty()))
	same := r.InTurn && turn != "" && turn == r.turn && (!r.Answered || m.at[fResult] != nil)
	r.turn = turn
	var items []build.Item
	if thought := r.said(m.at[fThought], e); !thought.IsEmpty() {
		items = append(items, build.Item{Kind: build.ItemThought, Value: thought})
	}
	if !text.IsEmpty() || items == nil && calls == nil || !same && !joined {
		items = slices.Insert(items, 0, build.Item{Kind: build.ItemText, Value: text, Opens: !same && !joined})
	}
	made := len(items)
	for _, c := range calls {
		items = append(items, r.call(m, c))
	}
	if r.Started { // its calls began before it was noted
		items = slices.DeleteFunc(items, func(it build.Item) bool { return it.Kind == build.ItemCall && len(r.Calls(string(it.ID))) > 0 })
	}
	if piece := r.raw(m.at[fPiece], e); !piece.IsZero() {
		r.goOn(piece)
		return
	}
	if same {
		r.Answered = false
	}
	before := len(r.Builder.Trajectory.Calls)
	r.Add(items, s)
	r.Answered = r.Answered || constant && slices.ContainsFunc(items, func(it build.Item) bool { return it.Answered })
	if all := r.Builder.Trajectory.Calls; len(all)-before == len(calls) && len(items)-made == len(calls) {
		for i, c := range calls {
			if at := r.moment(m.at[fTime], c); !at.IsZero() {
				all[before+i].Start = at
			}
			all[before+i].End = r.moment(m.at[fEnd], c)
		}
	}
}

// call returns a call with the result that is beside it.
func (r *reading) call(m *rule, c []byte) build.Item {
	it := build.Item{Kind: build.ItemCall, ID: []byte(r.text(m.at[fID], c)), Tool: []byte(r.text(m.at[fTool], c)), Value: r.raw(m.at[fArguments], c)}
	if m.at[fAnswers] == nil && m.at[fResults] == nil {
		it.Result = r.raw(m.at[fResult], c)
		it.Answered = !it.Result.IsZero()
		it.Status, it.Err = r.ended(m, c, it.Answered)
	}
	r.Pieces = ""
	if m.at[fPiece] == nil && it.Value.Form == trace.FormString && r.m.pieces() && build.InnerJSON(it.Value) == nil {
		r.Pieces, it.Value = it.Value.Text(), trace.Raw{} // more of them comes
	}
	return it
}

// pieces reports whether arguments come in pieces.
func (m *Map) pieces() bool {
	return slices.ContainsFunc(m.kinds, func(k kindRule) bool { return k.rule.has["piece"] })
}

// goOn adds a piece to the arguments of the last call.
func (r *reading) goOn(piece trace.Raw) {
	if calls := r.Builder.Trajectory.Calls; len(calls) > 0 {
		r.Pieces += piece.Text()
		calls[len(calls)-1].Args = trace.TextOf(r.Pieces)
	}
}

// starts adds the start of a call, unless it is known already. A message of the model
// may tell of it later.
func (r *reading) starts(m *rule, e []byte, s sessionlog.Said) {
	it := r.call(m, e)
	t := r.Builder.Trajectory
	if known := r.Calls(string(it.ID)); len(known) > 0 {
		t.Calls[known[0]].Start = s.At
		return
	}
	if len(t.Turns) > 0 && !r.Spoken() {
		r.InTurn = true
	}
	starts := !r.InTurn
	r.Answered = false
	r.Add([]build.Item{it}, s)
	r.Started = starts
}

// result adds a result that is an event of its own.
func (r *reading) result(m *rule, e []byte, text trace.Raw, s sessionlog.Said) {
	it := build.Item{Kind: build.ItemResult, Value: r.raw(m.at[fResult], e), Tool: []byte(r.text(m.at[fTool], e))}
	if it.Value.IsZero() {
		it.Value = text
	}
	it.ID = []byte(cmp.Or(r.text(m.at[fAnswers], e), r.text(m.at[fID], e)))
	it.Status, it.Err = r.ended(m, e, true)
	r.Add([]build.Item{it}, s)
}

// ended reads whether a call failed.
func (r *reading) ended(m *rule, v []byte, answered bool) (status trace.Status, err trace.Raw) {
	if good := r.first(m.at[fOK], v); good != nil {
		status = build.StatusOf(truth(good))
	}
	if code := r.first(m.at[fExit], v); code != nil {
		status = build.StatusOf(string(code) == "0")
	}
	if m.at[fError] == nil {
		return status, err
	}
	switch failure := r.first(m.at[fError], v); {
	case failure == nil && r.stated(m.at[fError], v), bytes.Equal(failure, []byte("false")), bytes.Equal(failure, []byte("0")), len(failure) == 2:
		if status == trace.StatusUnknown && answered {
			status = trace.StatusOK
		}
	case failure != nil:
		status = trace.StatusFailed
		if failure[0] == '"' || failure[0] == '{' {
			err = sessionlog.Raw(failure)
		}
	}
	return status, err
}

// stated reports whether a path finds anything, null too.
func (r *reading) stated(p where, v []byte) bool { return len(r.all(p, v)) > 0 }

// usage reads the token counts of a response.
func (r *reading) usage(m *rule, e []byte) (u trace.Usage) {
	if m.counts != nil {
		if counts := r.first(m.at[fUsage], e); build.IsKind(counts, '{') {
			return build.ReadUsage(counts, m.counts)
		}
	}
	var total int64
	for i, into := range []*int64{&u.Input, &u.Output, &u.CachedInput, &u.CacheWrite, &u.Reasoning, &total} {
		n, err := strconv.ParseFloat(r.text(m.tokens[i], e), 64)
		if err == nil && n >= 0 && n < 1<<50 && n == math.Trunc(n) {
			*into, u.Known = int64(n), u.Known || i <= tokensCached
		}
	}
	build.SettleUsage(&u, total)
	return u
}

// moment reads a time: text, or seconds, milliseconds, microseconds or nanoseconds since
// 1970, which the size tells.
func (r *reading) moment(p where, v []byte) time.Time {
	if p == nil {
		return time.Time{}
	}
	text := r.text(p, v)
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
