package mapped

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// reading puts a trajectory together.
type reading struct {
	m *Map
	*message.Log
	finder
	turn  string // that the last response is of, by what the map finds
	asked bool   // the user has spoken

	kept    map[string][]byte // events that count as they are told last, by id
	order   []string          // their ids
	current string            // the last of the branch that counts
	retold  retelling
	seen    map[string]bool // events that count once

	responses map[string]int // turns of which more may be told, by the id of the response
	unnamed   []int          // those without
	noted     map[string]int // calls of an id of which was told

	began time.Time    // when the response began whose step was noted
	total trace.Usage  // tokens of the session so far
	added *trace.Usage // since the last response
}

// read puts the trajectory of a session together from its records.
func (m *Map) read(f finder, records [][]byte) *trace.Trajectory {
	r := &reading{m: m, Log: message.NewLog(), finder: f}
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
	for _, e := range r.all(m.at[fRestated], v) {
		r.forget()
		id := r.text(m.at[fAgain], e)
		if rule := r.ruleOf(e); rule != nil && r.kept[id] == nil && !r.retold.copies(id, r.telling(rule, e)) && r.who(rule, e) == speakerSystem {
			r.keep(e)
		}
	}
	r.current = cmp.Or(r.text(m.at[fCurrent], v), r.current)
	if answer := r.raw(m.at[fAnswer], v); !answer.IsEmpty() {
		r.Add([]build.Item{{Kind: build.ItemText, Value: answer, Opens: true}}, message.Said{})
		r.InTurn = false
	}
}

// keep notes an event, which replaces one with its id, or takes others back.
func (r *reading) keep(e []byte) {
	if back := r.first(r.m.at[fRewind], e); back != nil {
		at := max(slices.Index(r.order, cmp.Or(r.retold.of[textOf(back)], textOf(back))), 0) // an unknown one takes back all
		for _, gone := range r.order[at:] {
			delete(r.kept, gone)
		}
		r.Builder.Anomaly(build.CodeBranchAbandoned, len(r.order)-at)
		r.order = r.order[:at]
		return
	}
	rule := r.ruleOf(e)
	id := r.text(r.m.at[fAgain], e)
	if rule == nil || r.retold.of[id] != "" {
		return
	}
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
	if r.m.at[fRestated] != nil {
		r.retold.note(id, r.telling(rule, e))
	}
}

// settled returns the events that were kept and count, in order: the last branch alone
// where events say which they follow.
func (r *reading) settled() (events [][]byte) {
	if r.m.at[fFollows] == nil {
		if r.m.at[fRestated] != nil {
			all := len(r.order)
			r.order = r.retold.once(r.order)
			r.Builder.Anomaly(build.CodeLineCopied, all-len(r.order))
		}
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

// header reads what a record says about its session.
func (r *reading) header(m *rule, v []byte) {
	t := r.Builder.Trajectory
	t.ID = cmp.Or(t.ID, r.text(m.at[fWhole], v))
	if t.Agent == "" && m.at[fAgent] != nil {
		for _, name := range r.all(m.at[fAgent], v) {
			if agent := build.Raw(name).Text(); agent != "user" {
				t.Agent = agent
				break
			}
		}
	}
	t.ID = cmp.Or(t.ID, r.text(m.at[fTrajectory], v))
	t.Task = cmp.Or(t.Task, r.text(m.at[fTask], v))
	t.Session = cmp.Or(t.Session, r.text(m.at[fSession], v))
	t.Folder = cmp.Or(t.Folder, r.text(m.at[fFolder], v))
	call := r.text(m.at[fParentCall], v)
	if m.at[fParentCall] == nil || call != "" { // a path to the call says which have a parent
		t.Parent.Trajectory = cmp.Or(t.Parent.Trajectory, r.text(m.at[fParent], v))
		t.Parent.Call = cmp.Or(t.Parent.Call, call)
	}
	if call != "" {
		t.Session = cmp.Or(t.Session, t.Parent.Trajectory)
	}
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
	r.totals(m, v)
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
		list := build.New(0).Definitions(build.InnerJSON(build.Raw(tools))) // what has no name there is no anomaly of a call
		if t.Tools == nil {
			t.Tools = list
		} else { // of which only those that are new count
			r.Messages.Tools = append(r.Messages.Tools, list...)
		}
	}
}

// totals reads the sums and counts that a session states about itself.
func (r *reading) totals(m *rule, v []byte) {
	stated := &r.Builder.Stated
	for _, counts := range r.all(m.at[fTotalUsage], v) {
		stated.Usage.Add(build.ReadUsage(counts, m.counts))
	}
	if cost, err := strconv.ParseFloat(r.text(m.at[fTotalCost], v), 64); err == nil {
		stated.Usage.CostUSD = &cost
	}
	for p, to := range map[field]*int{fTotalTurns: &stated.Turns, fTotalCalls: &stated.Calls} {
		if n, err := strconv.Atoi(r.text(m.at[p], v)); err == nil {
			*to = n
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
	s := message.Said{At: r.moment(m.at[fTime], v)}
	for i, kind := range []build.ItemKind{build.ItemSystem, build.ItemUser} {
		for _, found := range r.all(m.at[[2]field{fSystem, fUser}[i]], v) {
			if text := build.Raw(found); !text.IsEmpty() {
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
	s := message.Said{At: r.moment(m.at[fTime], e), End: r.moment(m.at[fEnd], e), Model: r.text(m.at[fModel], e)}
	s.Model = cmp.Or(s.Model, r.Model) // else the one that was asked
	s.Usage = r.usage(m, e)
	if model := who == speakerModel && m.at[fRole] != nil; r.known(m, e, model, s) && model {
		return
	}
	text := r.said(m.at[fText], e)
	turns := r.Builder.Trajectory.Turns
	switch who {
	case speakerUser:
		if text.TextLen() == 0 && m.at[fCalls] != nil && r.first(m.at[fCalls], e) != nil {
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
	case speakerGuess:
		r.predicted(m, e, s)
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
				r.Turn(message.Said{At: r.began})
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
		r.Builder.Unread(build.CodeMessageRole, "role", []byte(r.text(m.at[fRole], e)))
	}
	for _, answer := range r.all(m.at[fResults], e) {
		r.result(m, answer, trace.Raw{}, s)
	}
	for _, known := range r.all(m.at[fAfter], e) {
		items, _ := r.Messages.Read(build.Raw(known), false)
		if r.InTurn = false; slices.ContainsFunc(items, func(it build.Item) bool { return !it.Value.IsEmpty() }) {
			r.Add(items, s)
		}
	}
}
