package trace

import (
	"bytes"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// atifStep is a step with the members that are read.
type atifStep struct {
	source, model    []byte
	message, thought Raw
	time             time.Time
	usage            Usage
	calls            []atifCall
	results          []atifResult
	llmCalls         int64 // -1 if not recorded
	copied           bool

	// What awo wrote about the step.
	end         time.Time
	timeIsEnd   bool  // the timestamp is the end, there is no start
	placeholder bool  // the step stands for none
	turnUnknown bool  // the calls of the step belong to no recorded turn
	turn, call  int64 // of a message that came elsewhere; -1 if it came here
	form, think Form  // of message and reasoning_content, where not those of ATIF
}

// atifCall is an element of tool_calls.
type atifCall struct {
	id, name []byte
	args     Raw

	// What awo wrote about the call.
	ownID      []byte
	hasOwnID   bool
	argsAre    string // "", "missing", "value" or "raw"
	origin     Origin
	hasOrigin  bool
	status     Status
	err        Raw
	errForm    Form
	start, end time.Time
	context    []ContextValue
}

// atifResult is an element of the results of an observation.
type atifResult struct {
	id      []byte
	content Raw
	form    Form // as awo wrote it, where it is not that of ATIF
	started []string
}

// The members of a step that are read.
const (
	stepSource members = 1 << iota
	stepMessage
	stepThought
	stepModel
	stepTime
	stepMetrics
	stepCalls
	stepResults
	stepLLMCalls
	stepCopied
)

// readStep reads a step and adds it to the trajectory.
func (d *atifDecoder) readStep(c *jsonscan.Cursor) {
	b, s := d.b, &d.step
	*s = atifStep{calls: s.calls[:0], results: s.results[:0], llmCalls: -1, turn: -1, call: -1}
	if !c.Object() {
		b.odd(CodeMessageShape, 1)
		return
	}
	var seen members
	for c.Member() {
		switch string(c.Key()) {
		case "source":
			seen.note(b, stepSource)
			s.source, _ = c.Text()
		case "message":
			seen.note(b, stepMessage)
			s.message = rawContent(c).orAbsent()
		case "reasoning_content":
			seen.note(b, stepThought)
			s.thought = rawContent(c).orAbsent()
		case "model_name":
			seen.note(b, stepModel)
			s.model, _ = c.Text()
		case "timestamp":
			seen.note(b, stepTime)
			s.time = b.readTime(c)
		case "metrics":
			seen.note(b, stepMetrics)
			s.usage = readATIFMetrics(c)
		case "tool_calls":
			if seen.note(b, stepCalls) {
				s.calls = s.calls[:0]
			}
			for ok := c.Array(); ok && c.Element(); {
				d.readCall(c)
			}
		case "observation":
			if seen.note(b, stepResults) {
				s.results = s.results[:0]
			}
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) != "results" {
					continue
				}
				for ok := c.Array(); ok && c.Element(); {
					d.readResult(c)
				}
			}
		case "llm_call_count":
			seen.note(b, stepLLMCalls)
			if n, ok := c.Int(); ok {
				s.llmCalls = n
			}
		case "is_copied_context":
			seen.note(b, stepCopied)
			s.copied, _ = c.Bool()
		case "extra":
			eachOwn(c, func(key string) { d.ownStep(key, c) })
		}
	}
	s.message, s.thought = s.message.as(s.form), s.thought.as(s.think)
	d.addStep()
}

// ownStep reads what awo wrote about a step.
func (d *atifDecoder) ownStep(key string, c *jsonscan.Cursor) {
	s := &d.step
	switch key {
	case "end":
		s.end = d.b.readTime(c)
	case "timestamp":
		text, _ := c.Text()
		s.timeIsEnd = string(text) == "end"
	case "placeholder":
		s.placeholder, _ = c.Bool()
	case "turn":
		if text, ok := c.Text(); ok {
			s.turnUnknown = string(text) == "unknown"
		} else if n, ok := c.Int(); ok {
			s.turn = n
		}
	case "call":
		if n, ok := c.Int(); ok {
			s.call = n
		}
	case "message":
		s.form = readForm(c)
	case "reasoning_content":
		s.think = readForm(c)
	}
}

// readForm reads how a string that awo wrote is to be read.
func readForm(c *jsonscan.Cursor) Form {
	switch text, _ := c.Text(); string(text) {
	case "json":
		return FormJSON
	case "parts":
		return FormParts
	}
	return FormNone
}

// as returns a string that holds JSON, as awo writes what ATIF has no place for,
// in its own form. A string that holds none stays as it is.
func (r Raw) as(form Form) Raw {
	if form == FormNone || r.Form != FormString {
		return r
	}
	text := r.content()
	c := jsonscan.New(text)
	kind := c.Kind()
	if c.End() != nil || form == FormParts && kind != jsonscan.Array {
		return r
	}
	return Raw{Data: text, Form: form}
}

func (d *atifDecoder) readCall(c *jsonscan.Cursor) {
	if !c.Object() {
		d.b.odd(CodeMessageShape, 1)
		return
	}
	d.step.calls = append(d.step.calls, atifCall{})
	call := &d.step.calls[len(d.step.calls)-1]
	for c.Member() {
		switch string(c.Key()) {
		case "tool_call_id":
			call.id, _ = c.Text()
		case "function_name":
			call.name, _ = c.Text()
		case "arguments":
			call.args = rawArgs(c)
		case "extra":
			eachOwn(c, func(key string) { d.ownCall(call, key, c) })
		}
	}
	if call.err.Form != FormNone {
		call.err = call.err.as(call.errForm)
	}
	call.args = call.args.restored(call.argsAre)
}

// ownCall reads what awo wrote about a call.
func (d *atifDecoder) ownCall(call *atifCall, key string, c *jsonscan.Cursor) {
	switch key {
	case "id":
		call.ownID, call.hasOwnID = c.Text()
	case "args":
		text, _ := c.Text()
		call.argsAre = string(text)
	case "origin":
		text, _ := c.Text()
		for origin := OriginModel; origin <= OriginMetaTool; origin++ {
			if origin.String() == string(text) {
				call.origin, call.hasOrigin = origin, true
			}
		}
	case "status":
		switch text, _ := c.Text(); string(text) {
		case "ok":
			call.status = StatusOK
		case "failed":
			call.status = StatusFailed
		}
	case "error":
		call.err = rawValue(c)
	case "error_form":
		call.errForm = readForm(c)
	case "start":
		call.start = d.b.readTime(c)
	case "end":
		call.end = d.b.readTime(c)
	case "context":
		call.context = nil
		for ok := c.Array(); ok && c.Element(); {
			var v ContextValue
			for ok := c.Object(); ok && c.Member(); {
				switch string(c.Key()) {
				case "name":
					v.Name = d.b.readID(c)
				case "value":
					v.Value = d.b.readID(c)
				}
			}
			call.context = append(call.context, v)
		}
	}
}

// restored returns the arguments that awo wrote as an object because ATIF has no
// others.
func (r Raw) restored(are string) Raw {
	name := ""
	switch are {
	case "missing":
		return Raw{}
	case "value":
		name = "_value"
	case "raw":
		name = "_raw"
	default:
		return r
	}
	c := jsonscan.New(r.Data)
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) != name {
			continue
		}
		if are == "raw" {
			return rawArgs(&c)
		}
		return Raw{Data: c.Raw(), Form: FormJSON}
	}
	return r
}

func (d *atifDecoder) readResult(c *jsonscan.Cursor) {
	if !c.Object() {
		d.b.odd(CodeMessageShape, 1)
		return
	}
	var r atifResult
	for c.Member() {
		switch string(c.Key()) {
		case "source_call_id":
			r.id, _ = c.Text()
		case "content":
			r.content = rawContent(c)
		case "subagent_trajectory_ref":
			r.started = nil
			for ok := c.Array(); ok && c.Element(); {
				for ok := c.Object(); ok && c.Member(); {
					if string(c.Key()) == "trajectory_id" {
						r.started = append(r.started, d.b.readID(c))
					}
				}
			}
		case "extra":
			eachOwn(c, func(key string) {
				if key == "content" {
					r.form = readForm(c)
				}
			})
		}
	}
	r.content = r.content.as(r.form)
	d.step.results = append(d.step.results, r)
}

// readATIFMetrics reads the metrics of a step. The prompt includes what was
// cached; the rest is where the specification puts what providers count beside.
func readATIFMetrics(c *jsonscan.Cursor) (u Usage) {
	count := func(n *int64) {
		if v, ok := c.Int(); ok && v >= 0 {
			*n, u.Known = v, true
		}
	}
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "prompt_tokens":
			count(&u.Input)
		case "completion_tokens":
			count(&u.Output)
		case "cached_tokens":
			count(&u.CachedInput)
		case "cost_usd":
			if cost, ok := c.Float(); ok {
				u.CostUSD = &cost
			}
		case "extra":
			for ok := c.Object(); ok && c.Member(); {
				switch string(c.Key()) {
				case "reasoning_tokens":
					count(&u.Reasoning)
				case "cache_creation_input_tokens":
					count(&u.CacheWrite)
				}
			}
		}
	}
	return u
}

// addStep adds the step that was read last to the trajectory.
func (d *atifDecoder) addStep() {
	b, s := d.b, &d.step
	switch {
	case s.placeholder:
		return
	case s.copied:
		b.odd(CodeCopiedContext, 1)
		return
	}
	switch string(s.source) {
	case "user":
		d.addMessage(RoleUser)
	case "system":
		d.addMessage(RoleSystem)
		d.addResults(len(b.t.Calls), nil)
	case "agent":
		d.addTurn()
	case "":
		b.odd(CodeMessageShape, 1)
	default:
		b.odd(CodeMessageRole, 1)
	}
}

func (d *atifDecoder) addMessage(role Role) {
	s := &d.step
	m := d.b.message(role, s.message)
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
	b, s := d.b, &d.step
	outside := s.turnUnknown || s.llmCalls == 0
	if !outside {
		turn := b.turn()
		turn.Text, turn.Thought, turn.Usage = s.message, s.thought, s.usage
		turn.Start, turn.End = s.time, s.end
		if s.timeIsEnd {
			turn.Start, turn.End = time.Time{}, s.time
		}
		if len(s.model) > 0 && string(s.model) != b.t.Model {
			turn.Model = b.text(s.model)
		}
		if s.llmCalls > 1 {
			b.odd(CodeTurnAggregated, int(min(s.llmCalls-1, 1<<20)))
		}
	}
	first := len(b.t.Calls)
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
		b.odd(CodeCallUnnamed, 1)
		return false
	}
	id := call.id
	if call.hasOwnID {
		id = call.ownID
	}
	origin := call.origin
	if outside && !d.step.turnUnknown && !call.hasOrigin {
		origin = OriginCode
	}
	add := b.call
	if outside {
		add = b.callOutsideTurns
	}
	c := add(b.text(id), b.names.intern(call.name), call.args, origin)
	c.Status, c.Error, c.Context = call.status, call.err, call.context
	c.Start, c.End = call.start, call.end
	return true
}

// addResults gives the results of a step to its calls: those from the index
// first on, whose ids are written, in the step, as in the list.
func (d *atifDecoder) addResults(first int, written [][]byte) {
	b, s := d.b, &d.step
	ids := stepIDs{written: written}
	detached := 0
	for i := range s.results {
		r := &s.results[i]
		if len(r.id) == 0 {
			detached++
			continue
		}
		call := first + ids.indexOf(r.id, b.t.Calls[first:])
		if call < first {
			call = b.waiting.withID(b.t.Calls, r.id)
		}
		b.answer(call, r.content)
		d.noteStarted(r, call)
	}
	if detached == 0 {
		return
	}
	waiting := 0
	for i := first; i < len(b.t.Calls); i++ {
		if !b.t.Calls[i].HasResult {
			waiting++
		}
	}
	if waiting != detached {
		b.odd(CodeResultDetached, detached)
		return
	}
	call := first
	for i := range s.results {
		r := &s.results[i]
		if len(r.id) > 0 {
			continue
		}
		for b.t.Calls[call].HasResult {
			call++
		}
		b.answer(call, r.content)
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
func (s *stepIDs) indexOf(id []byte, calls []Call) int {
	if len(s.written) <= fewWaiting {
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
