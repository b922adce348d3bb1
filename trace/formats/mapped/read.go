package mapped

import (
	"bytes"
	"cmp"
	"fmt"
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
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
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
	f := trace.Format{
		Name:     cmp.Or(m.name, Name),
		Doc:      cmp.Or(m.doc, "What a map says (--map)."),
		Spec:     m.spec,
		Detect:   m.claims,
		Decode:   m.decode,
		Assemble: m.assemble,
		Archive:  m.hook.Archive,
	}
	if m.split != "" {
		f.Split = trace.SplitMember(m.split, m.around)
	}
	return f
}

// around returns the members that stand in a document before its records, as far as paths
// lead there.
func (m *Map) around(before []trace.DocumentMember) any {
	document := []byte{'{'}
	for _, member := range before {
		if !slices.Contains(m.outer, member.Name) {
			continue
		}
		if c := jsonscan.New(member.Value.Data); c.End() != nil {
			continue
		}
		if len(document) > 1 {
			document = append(document, ',')
		}
		document = append(append(jsonscan.AppendQuoted(document, member.Name), ':'), member.Value.Data...)
	}
	return append(document, '}')
}

// claims reports whether the head of a file has what the map is for.
func (m *Map) claims(h trace.Head) trace.Match {
	if m.detect == nil {
		return trace.Match{OK: h.Container != trace.ContainerOther && len(h.Records) > 0}
	}
	lacks := ""
	for _, r := range h.Records {
		i := slices.IndexFunc(m.detect, func(c condition) bool { return !(c.lacks != "" && r.Truncated) && c.holds(r) })
		if i >= 0 && m.detect[i].lacks == "" {
			return trace.Match{OK: true}
		} else if i >= 0 {
			lacks = m.detect[i].lacks
		}
	}
	return trace.Match{Lacks: lacks}
}

func (c *condition) holds(r trace.HeadRecord) bool {
	for i := range c.members {
		is := &c.members[i]
		head, value := r, []byte(nil)
		for i, name := range is.member {
			if name == "0" { // the first element
				if i == 0 {
					value = r.Raw
				}
				value = firstElement(value)
				continue
			}
			if name == "*" && i == 0 && len(r.Keys) > 0 { // the first member
				name = r.Keys[0]
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
	return len(c.members) > 0
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

// matches reports whether a text is one of some. A * at the end of one is for all that begin
// so, at its beginning for all that end so, and at both for all that contain it.
func matches(patterns []string, text string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		head, open := strings.CutSuffix(p, "*")
		tail, begins := strings.CutPrefix(head, "*")
		switch {
		case open && begins:
			return strings.Contains(text, tail)
		case open:
			return strings.HasPrefix(text, head)
		case begins:
			return strings.HasSuffix(text, tail)
		}
		return p != "" && p == text
	})
}

// decode finds the sessions, or the pieces of sessions, of a record.
func (m *Map) decode(r trace.Record) ([]trace.Fragment, error) {
	f := finder{document: r.Data, file: r.File}
	whole := jsonscan.New(r.Data)
	if whole.Kind() == jsonscan.Object {
		f.openAt(&whole, r.Data)
	}
	if err := whole.End(); err != nil {
		return nil, trace.ScanError(r, err)
	}
	records := [][]byte{r.Data}
	switch {
	case m.split != "":
		f.document, _ = r.Shared.([]byte)
	case m.hook.Divide != nil:
		records = m.hook.Divide(r.Data)
	case m.at[fRecords] != nil:
		records = f.all(m.at[fRecords], r.Data)
	}
	var out []trace.Fragment
	for i, record := range records {
		f.leave(record)
		if m.at[fSpan] != nil {
			if id := f.text(m.at[fTrajectory], record); id != "" {
				out = append(out, trace.Fragment{Key: id, Data: record, Pos: r.Pos()})
			}
			continue
		}
		part := trace.Fragment{Key: r.File, Data: record, Pos: r.Pos()}
		events := m.at[fEvents]
		switch id := f.text(m.at[fTrajectory], record); {
		case m.at[fWhole] == nil && id != "":
			part.Key += "#" + id
			if m.join == "session" { // wherever its records stand
				part.Key = id
			} else if m.at[fTrajectory][0].folder != "" {
				part.Key = path.Dir(filepath.ToSlash(r.File)) + "#" + id
			}
		case m.at[fWhole] != nil && m.hook.Read == nil && events != nil && !f.lists(events, record):
			continue
		case m.join == "file":
		case m.at[fWhole] != nil, f.holds(events, record) || events != nil && build.IsKind(record, '['), m.at[fUser] != nil, m.at[fAnswer] != nil: // a session of its own
			if part = (trace.Fragment{Trajectory: m.read(f, [][]byte{record})}); part.Trajectory == nil {
				continue
			}
			part.Trajectory.Anomalies.AddN(build.CodeLoneSurrogate, whole.LoneSurrogates())
			if m.unnamed == "position" && part.Trajectory.ID == "" {
				part.Trajectory.ID = r.Pos().String()
				if i > 0 {
					part.Trajectory.ID += "#" + strconv.Itoa(i)
				}
			}
		case events != nil && m.at[fTrajectory] == nil && len(events[len(events)-1].steps) > 0:
			continue
		}
		part.Order = f.order(m.at[fOrder], record)
		out = append(out, part)
	}
	if len(out) == 0 && (records == nil || m.hook.Divide == nil) { // a hook may leave records out
		return nil, diag.New(r.Pos(), build.CodeRecordShape, "%s", m.missing())
	}
	return out, nil
}

// missing says what a record lacks in which the map finds nothing.
func (m *Map) missing() string {
	p := m.at[fEvents]
	for len(p) > 0 && p[0].both != nil {
		p = p[0].both
	}
	if len(p) > 0 && len(p[0].steps) == 2 && p[0].steps[1].Kind == jsonpath.Each && p[0].steps[0].Kind == jsonpath.Member {
		return fmt.Sprintf("this record has no list %q", p[0].steps[0].Name)
	}
	return "the map finds nothing in this record"
}

// reading puts a trajectory together.
type reading struct {
	m *Map
	*sessionlog.Log
	finder
	turn  string // that the last response is of, by what the map finds
	asked bool   // the user has spoken

	kept    map[string][]byte // events that count as they are told last, by id
	order   []string          // their ids
	current string            // the last of the branch that counts
	seen    map[string]bool   // events that count once

	responses map[string]int // turns of which more may be told, by the id of the response
	unnamed   []int          // those without
	noted     map[string]int // calls of an id of which was told

	began time.Time    // when the response began whose step was noted
	total trace.Usage  // tokens of the session so far
	added *trace.Usage // since the last response
}

// keep notes an event, which replaces one with its id, or takes others back.
func (r *reading) keep(e []byte) {
	if back := r.first(r.m.at[fRewind], e); back != nil {
		at := max(slices.Index(r.order, textOf(back)), 0) // an unknown one takes back all
		for _, gone := range r.order[at:] {
			delete(r.kept, gone)
		}
		r.Builder.Anomaly(build.CodeBranchAbandoned, len(r.order)-at)
		r.order = r.order[:at]
		return
	}
	if r.ruleOf(e) == nil {
		return
	}
	id := r.text(r.m.at[fAgain], e)
	if id == "" {
		id = "\x00" + strconv.Itoa(len(r.order)) // no recorded id
	}
	if r.kept == nil {
		r.kept = map[string][]byte{}
	}
	if _, ok := r.kept[id]; !ok {
		r.order = append(r.order, id)
	}
	r.kept[id] = e
}

// settled returns the events that were kept and count, in order.
func (r *reading) settled() (events [][]byte) {
	if r.m.at[fFollows] == nil {
		for _, id := range r.order {
			events = append(events, r.kept[id])
		}
		return events
	}
	id := r.current
	if n := len(r.order); n > 0 && r.kept[id] == nil {
		id = r.order[n-1]
	}
	for r.kept[id] != nil {
		e := r.kept[id]
		events = append(events, e)
		delete(r.kept, id) // circles end
		r.forget()
		id = r.text(r.m.at[fFollows], e)
	}
	slices.Reverse(events)
	return events
}

func (m *Map) assemble(key string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
	if m.at[fSpan] != nil {
		return m.joinSpans(key, parts), nil
	}
	records := make([][]byte, len(parts))
	lone := 0
	for i := range parts {
		records[i] = parts[i].Data
		if bytes.Contains(records[i], []byte(`\ud`)) || bytes.Contains(records[i], []byte(`\uD`)) {
			c := jsonscan.New(records[i])
			c.Skip()
			lone += c.LoneSurrogates()
		}
	}
	t := m.read(finder{file: parts[0].Pos.File}, records)
	if t == nil {
		return nil, nil
	}
	t.Source = parts[0].Pos
	t.Anomalies.AddN(build.CodeLoneSurrogate, lone)
	if m.unnamed == "session" {
		t.ID = cmp.Or(t.ID, t.Session)
	}
	if t.ID == "" && m.name != "" && (m.unnamed == "" || m.unnamed == "position") && key == parts[0].Pos.File {
		t.ID, _, _ = strings.Cut(path.Base(filepath.ToSlash(key)), ".")
	}
	return []*trace.Trajectory{t}, nil
}

// read puts the trajectory of a session together from its records.
func (m *Map) read(f finder, records [][]byte) *trace.Trajectory {
	r := &reading{m: m, Log: sessionlog.New(""), finder: f}
	f.outer = nil
	if m.hook.Read != nil {
		if records = m.hook.Read(r.Builder, records); records == nil {
			return nil
		}
	}
	for i, record := range records {
		if f.document == nil {
			r.document, r.outer = record, nil
		}
		r.attachments = r.first(m.at[fAttachments], record)
		r.record(record, i == 0)
	}
	for _, e := range r.settled() {
		r.forget()
		r.event(e, 0)
	}
	if r.added != nil {
		r.Builder.Anomaly(build.CodeUsageUnplaced, 1)
	}
	return r.Finish()
}

// record adds what a record says.
func (r *reading) record(v []byte, first bool) {
	m := r.m
	r.leave(v)
	r.header(&m.rule, v)
	if m.kinds == nil && first || m.at[fEvents] != nil {
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
		if m.at[fAgain] != nil {
			r.keep(e)
		} else {
			r.event(e, 0)
		}
	}
	r.current = cmp.Or(r.text(m.at[fCurrent], v), r.current)
	if answer := r.raw(m.at[fAnswer], v); !answer.IsEmpty() {
		r.Add([]build.Item{{Kind: build.ItemText, Value: answer, Opens: true}}, sessionlog.Said{})
		r.InTurn = false
	}
}

// header reads what a record says about its session.
func (r *reading) header(m *rule, v []byte) {
	t := r.Builder.Trajectory
	t.ID = cmp.Or(t.ID, r.text(m.at[fWhole], v))
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
	t.Trial = cmp.Or(t.Trial, r.text(m.at[fTrial], v))
	if m == &r.m.rule && m.at[fEvents] != nil {
		t.Model = cmp.Or(t.Model, r.text(m.at[fModel], v))
	}
	if at := r.moment(m.at[fStarted], v); !at.IsZero() {
		t.Start = at
	}
	if at := r.moment(m.at[fEnded], v); !at.IsZero() {
		t.End = at
	}
	if scores := r.all(m.at[fScore], v); len(scores) == 1 { // of several it is not said which counts
		c := jsonscan.New(scores[0])
		if n, ok := c.Float(); ok {
			t.Score = &n
			t.Outcome = outcomeOf(n)
		}
	}
	if m.outcomes != nil {
		t.Outcome = trace.OutcomeUnknown
		all := r.all(m.at[fOutcome], v)
		if word := m.outcomes.of(textOf(slices.Concat(all...))); word != nil && len(all) == 1 {
			t.Outcome = outcomes[word.status]
		}
	} else if outcome := r.first(m.at[fOutcome], v); outcome != nil {
		t.Outcome = trace.OutcomeFailure
		if truth(outcome) {
			t.Outcome = trace.OutcomeSuccess
		}
	}
	for _, tools := range r.all(m.at[fTools], v) {
		if !build.IsKind(tools, '[') && len(m.at[fTools][0].steps) > 0 && !m.at[fTools][0].steps.One() {
			tools = append(append([]byte{'['}, tools...), ']')
		}
		list := message.DefinitionsIn(build.New(0), build.InnerJSON(sessionlog.Raw(tools))) // what has no name there is no anomaly of a call
		if t.Tools == nil {
			t.Tools = list
		} else { // of which only those that are new count
			r.Messages.Tools = append(r.Messages.Tools, list...)
		}
	}
}

// outcomes are what statuses mean as outcomes.
var outcomes = map[trace.Status]trace.Outcome{trace.StatusOK: trace.OutcomeSuccess, trace.StatusFailed: trace.OutcomeFailure}

// outcomeOf returns the outcome of a score: 1 is success, within the tolerance of
// benchmarks' own evaluation, and less is failure.
func outcomeOf(score float64) trace.Outcome {
	const tolerance = 1e-6
	switch {
	case score < 1-tolerance:
		return trace.OutcomeFailure
	case score <= 1+tolerance:
		return trace.OutcomeSuccess
	}
	return trace.OutcomeUnknown
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
	if kind == "" {
		return nil
	}
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
		if who, ok := m.roles["*"]; ok { // any other
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

// maxWithin is how deep events stand inside of each other at most.
const maxWithin = 8

// event adds what an event says, or the events inside of it.
func (r *reading) event(e []byte, depth int) {
	if build.IsKind(e, '[') && depth < maxWithin { // several
		for c := jsonscan.New(e); c.Array() && c.Element(); {
			for ok := true; ok; ok = c.Element() {
				r.event(c.Raw(), depth+1)
			}
		}
		return
	}
	r.index++
	m := r.ruleOf(e)
	if m == nil {
		return
	}
	if inner := r.all(m.at[fWithin], e); len(inner) > 0 && depth < maxWithin {
		for _, one := range inner {
			r.event(one, depth+1)
		}
		return
	}
	if code := r.text(m.at[fAnomaly], e); code != "" {
		r.Builder.Anomaly(code, 1)
	}
	if id := r.text(m.at[fOnce], e); id != "" {
		if r.seen[id] {
			r.Builder.Anomaly(build.CodeLineCopied, 1)
			return
		}
		if r.seen == nil {
			r.seen = map[string]bool{}
		}
		r.seen[id] = true
	}
	who := r.who(m, e)
	if who == speakerFirst {
		if who = speakerUser; r.asked || len(r.Builder.Trajectory.Turns) > 0 {
			who = speakerModel
		}
	}
	if r.m.kinds != nil && who != speakerStep {
		if r.m.at[fEvents] == nil || who == speakerHeader {
			r.header(m, e)
		}
		r.says(m, e)
	}
	s := sessionlog.Said{At: r.moment(m.at[fTime], e), End: r.moment(m.at[fEnd], e), Model: r.text(m.at[fModel], e)}
	s.Model = cmp.Or(s.Model, r.Model) // else the one that was asked
	s.Usage = r.usage(m, e)
	if model := who == speakerModel && m.at[fRole] != nil; r.known(m, e, model, s) && model {
		return
	}
	text := r.said(m.at[fText], e)
	turns := r.Builder.Trajectory.Turns
	switch who {
	case speakerUser:
		if text.IsEmpty() && m.at[fCalls] != nil && r.first(m.at[fCalls], e) != nil {
			return // the user used a tool of its own and said nothing
		}
		if t := r.Builder.Trajectory; m.at[fUnasked] != nil && !r.asked && len(t.Calls) == 0 {
			r.Builder.DropTurns()
		}
		r.asked = true
		r.Add([]build.Item{{Kind: build.ItemUser, Value: text}}, s)
	case speakerSystem:
		r.Add([]build.Item{{Kind: build.ItemSystem, Value: text}}, s)
	case speakerTool:
		r.result(m, e, text, s)
	case speakerModel:
		r.response(m, e, text, s)
	case speakerNote:
		r.note(m, e, s)
	case speakerAround:
		r.around(m, e, text, s)
	case speakerHeader:
		t := r.Builder.Trajectory
		t.Model = cmp.Or(t.Model, s.Model)
	case speakerAsk:
		r.Model = s.Model
	case speakerStep, speakerBreak:
		r.InTurn = false
		r.began = r.moment(m.at[fStarted], e)
	case speakerDone:
		if failed, _ := r.ended(m, e, true); r.InTurn || failed != trace.StatusFailed {
			if !r.InTurn {
				r.Turn(sessionlog.Said{At: r.began})
			}
			all := r.Builder.Trajectory.Turns
			all[len(all)-1].Usage, all[len(all)-1].End = s.Usage, s.End
		}
		r.InTurn, r.began = false, time.Time{}
	case speakerTotal:
		r.Builder.Trajectory.Model = cmp.Or(s.Model, r.Builder.Trajectory.Model)
		r.counted(m, e)
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

// counted reads the token counts of the session so far: what was added counts for the next
// response.
func (r *reading) counted(m *rule, e []byte) {
	var total, others trace.Usage
	for _, counts := range r.all(m.at[fUsage], e) {
		total.Add(build.ReadUsage(counts, m.counts))
	}
	for _, counts := range r.all(m.at[fLess], e) {
		others.Add(build.ReadUsage(counts, m.counts))
	}
	total = minus(total, others)
	added := minus(total, r.total)
	if !total.Known || (added == trace.Usage{Known: true}) {
		return
	}
	if r.added != nil {
		r.Builder.Anomaly(build.CodeUsageUnplaced, 1)
	}
	r.total, r.added = total, &added
	if min(added.Input, added.CachedInput, added.CacheWrite, added.Output, added.Reasoning) < 0 { // counted from 0 again
		r.added = nil
		r.Builder.Anomaly(build.CodeUsageUnplaced, 1)
	}
}

// minus returns token counts without others.
func minus(u, others trace.Usage) trace.Usage {
	out := trace.Usage{
		Known: u.Known, Input: u.Input - others.Input, CachedInput: u.CachedInput - others.CachedInput,
		CacheWrite: u.CacheWrite - others.CacheWrite, Output: u.Output - others.Output, Reasoning: u.Reasoning - others.Reasoning,
	}
	if u.CostUSD != nil {
		cost := *u.CostUSD
		if others.CostUSD != nil {
			cost -= *others.CostUSD
		}
		if cost > 0 {
			out.CostUSD = &cost
		}
	}
	return out
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
	if id := r.text(m.at[fResponse], e); m.at[fResponse] != nil {
		turn, same, joined = id, id != "" && id == r.turn && len(r.Builder.Trajectory.Turns) > 0, false
		r.InTurn = r.InTurn || same
	}
	r.turn = turn
	var items []build.Item
	if thought := r.thought(m, e); !thought.IsEmpty() && !(same && r.thinks(thought)) {
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
	t := r.Builder.Trajectory
	before, turns := len(t.Calls), len(t.Turns)
	r.Add(items, s)
	if n := len(t.Turns); n > 0 {
		last := &t.Turns[n-1]
		if n > turns {
			r.opened(last)
			r.remember(m, turn, n-1)
		} else if !s.End.IsZero() {
			last.End = s.End
		}
	}
	r.Answered = r.Answered || constant && slices.ContainsFunc(items, func(it build.Item) bool { return it.Answered })
	if all := t.Calls; len(all)-before == len(calls) && len(items)-made == len(calls) {
		for i, c := range calls {
			for _, p := range []where{m.at[fTime], m.at[fCalled]} {
				if at := r.moment(p, c); !at.IsZero() {
					all[before+i].Start = at
				}
			}
			all[before+i].End = r.moment(m.at[fEnd], c)
		}
	}
}

// remember notes the id of the response that a turn is.
func (r *reading) remember(m *rule, id string, turn int) {
	if m.at[fResponse] == nil {
		return
	}
	if r.responses == nil {
		r.responses = map[string]int{}
	}
	if _, ok := r.responses[id]; id == "" {
		r.unnamed = append(r.unnamed, turn)
	} else if !ok {
		r.responses[id] = turn
	}
}

// opened notes in a turn that has begun what was known of it before.
func (r *reading) opened(turn *trace.Turn) {
	if !r.began.IsZero() {
		turn.Start = r.began
	}
	if r.added != nil {
		turn.Usage, r.added = *r.added, nil
	}
}

// thought returns what the model thought, which may be several objects.
func (r *reading) thought(m *rule, e []byte) (thought trace.Raw) {
	if m.at[fThoughts] == nil {
		return r.said(m.at[fThought], e)
	}
	for _, one := range r.all(m.at[fThoughts], e) {
		if text := r.said(m.at[fThought], one); !text.IsEmpty() {
			thought = build.JoinTexts(thought, text)
		}
	}
	return thought
}

// thinks reports whether the last turn has a thought already, which some write next to
// each call.
func (r *reading) thinks(thought trace.Raw) bool {
	all := r.Builder.Trajectory.Turns
	return len(all) > 0 && all[len(all)-1].Thought.Text() == thought.Text()
}

// call returns a call with the result that is beside it.
func (r *reading) call(m *rule, c []byte) build.Item {
	r.bound = r.first(m.at[fID], c)
	it := build.Item{Kind: build.ItemCall, ID: []byte(r.text(m.at[fID], c)), Tool: []byte(r.text(m.at[fTool], c)), Value: r.arguments(m, c)}
	if line := strings.TrimSpace(r.text(m.at[fCommand], c)); line != "" {
		it.Value = trace.JSONOf(append(jsonscan.AppendQuoted([]byte(`{"command":`), r.text(m.at[fCommand], c)), '}'))
		if len(it.Tool) == 0 {
			it.Tool = []byte(strings.Fields(line)[0])
		}
	}
	if m.at[fAnswers] == nil && m.at[fResults] == nil {
		it.Result = r.returned(m, c)
		it.Answered = !it.Result.IsZero()
		it.Status, it.Err = r.ended(m, c, it.Answered)
		it.Answered = it.Answered || m.at[fStatus] != nil && it.Status != trace.StatusUnknown
	}
	r.Pieces = ""
	if m.at[fPiece] == nil && it.Value.Form == trace.FormString && r.m.pieces() && build.InnerJSON(it.Value) == nil {
		r.Pieces, it.Value = it.Value.Text(), trace.Raw{} // more of them comes
	}
	return it
}

// arguments returns the arguments of a call, without those that are the program's own: the
// call has them as members, too.
func (r *reading) arguments(m *rule, c []byte) trace.Raw {
	found := r.first(m.at[fArguments], c)
	if found == nil {
		return trace.Raw{}
	}
	scan := jsonscan.New(found)
	args := build.ReadArgs(&scan)
	if m.at[fDrop] == nil {
		return args
	}
	v, err := trace.ParseValue(args.Content())
	if err != nil || v.Kind != trace.Object {
		return args
	}
	n := len(v.Members)
	for name := range strings.SplitSeq(r.text(m.at[fDrop], c), " ") {
		if r.member(c, name) != nil {
			v.Members = slices.DeleteFunc(v.Members, func(m trace.Member) bool { return m.Name == name })
		}
	}
	if len(v.Members) == n {
		return args
	}
	return trace.JSONOf(v.AppendCanonical(nil))
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

// known adds what stands in a known form of messages, and reports whether there is any. Of
// several responses in one event the last has its token counts.
func (r *reading) known(m *rule, e []byte, model bool, s sessionlog.Said) bool {
	var items []build.Item
	found := r.all(m.at[fMessages], e)
	for _, one := range found {
		read, _ := r.Messages.Read(sessionlog.Raw(one), model)
		items = append(items, read...)
	}
	if len(found) == 0 {
		return false
	}
	switch r.text(m.at[fOrigin], e) {
	case "", "user", "human", "system_trigger":
	default: // a program spoke in the user's name
		for i := range items {
			if items[i].Kind == build.ItemUser {
				items[i].Kind = build.ItemSystem
			}
		}
	}
	t := r.Builder.Trajectory
	usage, before := s.Usage, len(t.Turns)
	s.Usage = trace.Usage{}
	if !model {
		r.Add(items, s)
	} else {
		r.InTurn = false
		for i := range items {
			if i > 0 && items[i-1].Kind == build.ItemResult && items[i].Kind != build.ItemResult {
				r.InTurn = false // the model was asked again
			}
			items[i].Opens = false
			r.Add(items[i:i+1], s)
		}
	}
	if n := len(t.Turns); n > before {
		t.Turns[n-1].Usage = usage
	}
	return true
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
	it := build.Item{Kind: build.ItemResult, Value: r.returned(m, e), Tool: []byte(r.text(m.at[fTool], e))}
	if it.Value.IsZero() {
		it.Value = text
	}
	it.ID = []byte(cmp.Or(r.text(m.at[fAnswers], e), r.text(m.at[fID], e)))
	it.Status, it.Err = r.ended(m, e, true)
	r.Add([]build.Item{it}, s)
}

// of returns what a status word means, nil if that is not known.
func (rules statusRules) of(word string) *statusRule {
	for i := range rules {
		if word != "" && matches(rules[i].values, word) {
			return &rules[i]
		}
	}
	return nil
}

// note adds what is told later of a response, by its id, or of the next without one; or of
// a call.
func (r *reading) note(m *rule, e []byte, s sessionlog.Said) {
	t := r.Builder.Trajectory
	if m.at[fResponse] == nil {
		id := r.text(m.at[fID], e)
		known := r.Calls(id)
		if r.noted == nil {
			r.noted = map[string]int{}
		}
		if r.noted[id] >= len(known) {
			return
		}
		c := &t.Calls[known[r.noted[id]]]
		r.noted[id]++
		c.Start, c.End = s.At, s.End
		if status, _ := r.ended(m, e, false); status != trace.StatusUnknown {
			c.Status = status
		}
		return
	}
	id := r.text(m.at[fResponse], e)
	n, ok := r.responses[id]
	switch {
	case id == "" && !s.Usage.Known: // no response came of it
		return
	case ok:
		delete(r.responses, id)
	case len(r.unnamed) > 0:
		n, r.unnamed = r.unnamed[0], r.unnamed[1:]
	default:
		r.Builder.Anomaly(build.CodeResponseElsewhere, 1)
		return
	}
	t.Turns[n].Start, t.Turns[n].End, t.Turns[n].Usage = s.At, s.End, s.Usage
}

// returned returns a result, which may be the parts of a message.
func (r *reading) returned(m *rule, v []byte) trace.Raw {
	found := r.first(m.at[fResult], v)
	if found == nil {
		return trace.Raw{}
	}
	c := jsonscan.New(r.attached(found))
	return message.AsResult(build.ReadContent(&c))
}

// around adds what stands around the model: what the first call of the last response that
// has no result gave back, else what the user asked, or what the program said later.
func (r *reading) around(m *rule, e []byte, text trace.Raw, s sessionlog.Said) {
	t := r.Builder.Trajectory
	first := 0
	if n := len(t.Turns); n > 0 {
		first = t.Turns[n-1].FirstCall
	}
	for i := first; i < len(t.Calls); i++ {
		if c := &t.Calls[i]; !c.HasResult {
			r.Builder.Answer(i, text)
			c.Status, c.Error = r.ended(m, e, true)
			r.Answered = true
			return
		}
	}
	if len(t.Turns) > 0 {
		r.Add([]build.Item{{Kind: build.ItemSystem, Value: text}}, s)
	} else {
		r.Add([]build.Item{{Kind: build.ItemUser, Value: text}}, s)
	}
}

// ended reads whether a call failed.
func (r *reading) ended(m *rule, v []byte, answered bool) (status trace.Status, err trace.Raw) {
	if good := r.first(m.at[fOK], v); good != nil {
		status = build.StatusOf(truth(good))
	}
	if end := m.ends.of(r.text(m.at[fStatus], v)); end != nil {
		status = end.status
		if end.cancelled {
			r.Builder.Anomaly(build.CodeCallCancelled, 1)
		}
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

// order returns the place of a record in its session: a number, or a time.
func (f *finder) order(p where, v []byte) int64 {
	if p == nil {
		return 0
	}
	text := f.text(p, v)
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	at, _ := trace.ParseTime([]byte(text))
	return at.UnixNano()
}

// stated reports whether a path finds anything, null too.
func (r *reading) stated(p where, v []byte) bool { return len(r.all(p, v)) > 0 }

// usage reads the token counts of a response.
func (r *reading) usage(m *rule, e []byte) (u trace.Usage) {
	if m.counts != nil {
		if counts := r.first(m.at[fUsage], e); build.IsKind(counts, '{') {
			if m.counts == anyForm {
				return message.AnyUsage(counts)
			}
			u = build.ReadUsage(counts, m.counts)
			r.cost(&u, m, e)
			return u
		}
	}
	var total int64
	for i, into := range []*int64{&u.Input, &u.Output, &u.CachedInput, &u.CacheWrite, &u.Reasoning, &total} {
		if m.tokens[i] == nil {
			continue
		}
		n, err := strconv.ParseFloat(r.text(m.tokens[i], e), 64)
		if err == nil && n >= 0 && n < 1<<50 && n == math.Trunc(n) {
			*into, u.Known = int64(n), u.Known || i <= tokensCached
		}
	}
	build.SettleUsage(&u, total)
	r.cost(&u, m, e)
	return u
}

// cost reads what a response cost, in USD.
func (r *reading) cost(u *trace.Usage, m *rule, e []byte) {
	if m.tokens[tokensCost] == nil {
		return
	}
	if cost, err := strconv.ParseFloat(r.text(m.tokens[tokensCost], e), 64); err == nil {
		u.CostUSD = &cost
	}
}

// moment reads a time: text, or a number since 1970 of at least some days of seconds.
func (r *reading) moment(p where, v []byte) time.Time {
	if p == nil {
		return time.Time{}
	}
	at := build.Moment([]byte(r.text(p, v)))
	if at.Unix() < 1e6 && at.Year() == 1970 {
		return time.Time{} // a place in a list, and no time
	}
	return at
}
