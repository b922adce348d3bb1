package spantree

import (
	"cmp"
	"time"

	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// reader puts the responses and calls of a trajectory in order. What a request
// repeats is recognised by its position and content; a call, which both the
// response and the span of the tool tell of, by its id, its arguments, or its tool.
type reader struct {
	j       *joiner
	b       *build.Builder
	turns   []*spanTurn
	early   []*spanCall            // before any response
	late    []build.Item           // said after the last response
	byID    map[string][]*spanCall // by id, for spans
	waits   map[string][]*spanCall // by id, those that no message has the result of
	all     []*spanCall
	byTool  map[string][]*spanCall  // those that no span has told of yet
	views   [][]build.ItemHash      // the latest requests with their responses, the last used last
	model   map[build.ItemHash]bool // what the model has said here, and what it was answered
	system  map[string]bool
	defined map[trace.Name]bool // tools that have a definition
	turnOf  map[*Span]int
	users   int     // messages of the user
	spans   []*Span // that it was put together from
}

// spanTurn is a model response with what was said before it.
type spanTurn struct {
	said          []build.Item
	text, thought trace.Raw
	calls         []*spanCall
	span          *Span // nil if only a later request tells of it
	usage         trace.Usage
	told          bool // its content is known
}

// spanCall is a tool call.
type spanCall struct {
	id, tool        string
	args            trace.Raw
	result          trace.Raw
	answered        bool
	status          trace.Status
	err             trace.Raw
	origin          trace.Origin
	start, end      time.Time
	spanned, listed bool // told by a span, by messages
	resulted        bool // its result was told by messages
}

// maxViews is how many requests are compared with: threads of an agent may take
// turns.
const maxViews = 8

// nearLevels is how many spans above a call are looked at for its response, and
// nearCalls how many calls of its tool that wait are compared with it by arguments.
const (
	nearLevels = 64
	nearCalls  = 64
)

func newReader(j *joiner) reader {
	return reader{
		j: j, b: j.odd.Another(), byID: map[string][]*spanCall{}, waits: map[string][]*spanCall{}, byTool: map[string][]*spanCall{},
		model: map[build.ItemHash]bool{}, system: map[string]bool{}, turnOf: map[*Span]int{},
	}
}

// response adds a model response.
func (r *reader) response(s *Span) {
	said := s.read(r.j.messages)
	news, changed := r.news(said.input)
	if changed {
		r.b.Anomaly(build.CodeHistoryChanged, 1)
	}
	r.add(news)
	usage, apart := s.usage()
	if s.Failed && len(said.output) == 0 && usage.Output == 0 {
		r.b.Anomaly(build.CodeResponseFailed, 1)
		r.remember(said.input, nil)
		return
	}
	if apart {
		r.b.Anomaly(build.CodeCachedApart, 1)
	}
	turn := &spanTurn{said: r.late, span: s, usage: usage, told: said.answered}
	r.late = nil
	r.turnOf[s] = len(r.turns)
	r.turns = append(r.turns, turn)
	r.say(turn, said.output)
	r.remember(said.input, said.output)
}

// responses adds what an agent says that was answered to it: messages one behind
// the other, of which those belong to one response that come before a text that
// follows calls.
func (r *reader) responses(s *Span) {
	said := s.said
	r.add(said.input)
	var turn *spanTurn
	for i := range said.output {
		it := said.output[i]
		if it.Kind == build.ItemText && it.Value.IsEmpty() {
			continue
		}
		if it.Kind == build.ItemResult {
			r.result(&it)
			turn = nil
			continue
		}
		if turn == nil || it.Kind != build.ItemCall && len(turn.calls) > 0 {
			turn = &spanTurn{said: r.late, told: true}
			r.late = nil
			r.turns = append(r.turns, turn)
		}
		r.say(turn, said.output[i:i+1])
	}
	if n := len(r.turns); n == 1 { // else the tokens are those of several
		r.turns[0].span = s
		r.turns[0].usage, _ = s.usage()
	}
	r.remember(said.input, said.output)
}

// say adds items of the model to a turn.
func (r *reader) say(turn *spanTurn, items []build.Item) {
	for i := range items {
		it := &items[i]
		switch it.Kind {
		case build.ItemText:
			if text := it.Value.OrAbsent(); !text.IsZero() {
				turn.text = build.JoinTexts(turn.text, text)
			}
		case build.ItemThought:
			if thought := it.Value.OrAbsent(); !thought.IsZero() {
				turn.thought = build.JoinTexts(turn.thought, thought)
			}
		case build.ItemCall:
			r.listed(turn, it)
		case build.ItemResult:
			r.result(it)
		}
	}
}

// listed adds a call that a message has, unless a span of this response's has
// told of it.
func (r *reader) listed(turn *spanTurn, it *build.Item) {
	if len(it.Tool) == 0 {
		r.b.Anomaly(build.CodeCallUnnamed, 1)
		return
	}
	for _, c := range turn.calls[:min(len(turn.calls), bounds.Siblings)] {
		if !c.listed && c.tool == string(it.Tool) && (c.id == string(it.ID) || c.id == "" || len(it.ID) == 0) {
			c.listed = true
			if !it.Value.IsZero() { // what the model asked for, and not what became of it
				c.args = it.Value
			}
			if c.id == "" && len(it.ID) > 0 {
				c.id = string(it.ID)
				r.index(c)
			}
			return
		}
	}
	c := &spanCall{id: string(it.ID), tool: string(it.Tool), args: it.Value, listed: true, origin: it.Origin}
	if it.Answered {
		c.answered, c.resulted, c.result, c.status, c.err = true, true, it.Result, it.Status, it.Err
	}
	turn.calls = append(turn.calls, c)
	r.index(c)
	r.all = append(r.all, c)
	r.byTool[c.tool] = append(r.byTool[c.tool], c)
}

// add adds what a request says that was not said before.
func (r *reader) add(items []build.Item) {
	var turn *spanTurn
	answered := false // a result stands before it
	for i := range items {
		it := &items[i]
		switch it.Kind {
		case build.ItemUser:
			turn = nil
			if it.Copied && len(r.turns) > 0 { // said here already
				continue
			}
			r.users++
			r.late = append(r.late, *it)
		case build.ItemSystem:
			if text := it.Value.Text(); text != "" && !r.system[text] {
				r.system[text] = true
				r.late = append(r.late, *it)
			}
		case build.ItemResult:
			turn, answered = nil, true
			r.result(it)
		default:
			if turn == nil && it.Kind == build.ItemCall && !it.Opens && !answered && len(r.late) == 0 && len(r.turns) > 0 {
				turn = r.turns[len(r.turns)-1] // its text was told by the response
			}
			if turn == nil || it.Opens {
				if turn = r.untold(); turn == nil {
					turn = &spanTurn{said: r.late}
					r.late = nil
					r.turns = append(r.turns, turn)
				}
				turn.told = true
			}
			r.say(turn, items[i:i+1])
		}
	}
}

// untold returns the last turn, if its span did not say what the response was.
func (r *reader) untold() *spanTurn {
	if n := len(r.turns); n > 0 && !r.turns[n-1].told {
		return r.turns[n-1]
	}
	return nil
}

// result adds a result that a request has: of the oldest call with its id that
// waits, else of the oldest that has no id, or is asked for by its tool.
func (r *reader) result(it *build.Item) {
	c := r.waiting(string(it.ID), string(it.Tool))
	if c == nil {
		r.b.Anomaly(trace.CodeOrphanResult, 1)
		return
	}
	c.resulted, c.answered = true, true
	if c.result.IsZero() || isEmptyObject(c.result) {
		c.result = it.Value
	}
	if it.Status != trace.StatusUnknown {
		c.status = it.Status
	}
	if c.err.IsZero() {
		c.err = it.Err
	}
}

// results adds results of calls that wait for them, which requests may tell again.
func (r *reader) results(items []build.Item) {
	for i := range items {
		it := &items[i]
		if list := r.waits[string(it.ID)]; len(list) > 0 && !list[len(list)-1].answered {
			c := list[len(list)-1]
			c.answered, c.result, c.status, c.err = true, it.Value, it.Status, it.Err
		}
	}
}

// isEmptyObject reports whether a result is {}, which some write where they record
// none.
func isEmptyObject(r trace.Raw) bool {
	text := build.InnerJSON(r)
	return len(text) == 2 && text[0] == '{'
}

// waiting returns the call that a result with an id, or of a tool, is of.
func (r *reader) waiting(id, tool string) *spanCall {
	if id != "" {
		list := dropCalls(r.waits[id], func(c *spanCall) bool { return c.resulted })
		r.waits[id] = list
		if len(list) > 0 {
			return list[0]
		}
	}
	r.all = dropCalls(r.all, func(c *spanCall) bool { return c.resulted })
	for _, c := range r.all[:min(len(r.all), bounds.Siblings)] {
		if !c.resulted && (id == "" || c.id == "") && (tool == "" || c.tool == tool) {
			return c
		}
	}
	return nil
}

// dropCalls returns a list without the calls at its beginning that are done.
func dropCalls(list []*spanCall, done func(*spanCall) bool) []*spanCall {
	for len(list) > 0 && done(list[0]) {
		list = list[1:]
	}
	return list
}

// index makes a call known by its id.
func (r *reader) index(c *spanCall) {
	if c.id != "" {
		r.byID[c.id] = append(r.byID[c.id], c)
		r.waits[c.id] = append(r.waits[c.id], c)
	}
}

// tool adds what the span of a call says.
func (r *reader) tool(s *Span) {
	name := cmp.Or(r.j.toolAbove(s), s.toolName())
	if name == "" {
		r.b.Anomaly(build.CodeCallUnnamed, 1)
		return
	}
	args, id := s.args()
	output := s.result()
	if s.callID() == "" {
		s.Called = id
		if len(s.Called) == 0 {
			s.Called = output.CallID
		}
	}
	inner := r.above(s) != nil
	var c *spanCall
	if !inner || s.callID() != "" {
		c = r.known(s, name, args)
	}
	if c == nil {
		c = &spanCall{id: s.callID(), tool: name}
		if inner {
			c.origin = trace.OriginCode
		}
		r.place(s, c)
		r.index(c)
		r.all = append(r.all, c)
	}
	if s.callID() == "" { // sub-agents refer to it
		s.Called = []byte(c.id)
	}
	c.spanned = true
	c.start, c.end = s.Start, s.End
	if !args.IsZero() && c.args.IsZero() {
		c.args = args
	}
	if result := output.Content; !result.IsZero() && (c.result.IsZero() || !isEmptyObject(result)) {
		c.result, c.answered = result, true
	}
	c.answered = c.answered || s.Platform == SpanLink && (!s.End.IsZero() || s.Failed)
	switch {
	case s.Failed || output.Failed:
		c.status = trace.StatusFailed
		if !s.Failure.IsEmpty() {
			c.err = s.Failure
		}
	case s.Status != trace.StatusUnknown:
		c.status = s.Status
	case c.answered && c.status == trace.StatusUnknown && s.Platform == SpanLink:
		c.status = trace.StatusOK
	}
}

// above returns the call of the same agent that the span of a call is inside of.
func (r *reader) above(s *Span) *Span {
	if up := s.above; up != nil && (up.Kind == SpanTool || up.Kind == SpanMCP) {
		if run := r.j.runs[up]; run == nil || !run.speaks {
			return up
		}
	}
	return nil
}

// known returns the call that a span is of, nil if no message told of it: that with
// its id, else of those of its tool that no span has told of one with its
// arguments, else of the oldest of the latest response.
func (r *reader) known(s *Span, name string, args trace.Raw) *spanCall {
	id := s.callID()
	spanned := func(c *spanCall) bool { return c.spanned }
	if id != "" {
		r.byID[id] = dropCalls(r.byID[id], spanned)
		for _, c := range r.byID[id][:min(len(r.byID[id]), bounds.Siblings)] {
			if !c.spanned && (c.tool == name || c.listed) {
				return c
			}
		}
	}
	list := dropCalls(r.byTool[name], spanned)
	r.byTool[name] = list
	var wanted []byte
	if !args.IsZero() && len(list) > 1 {
		wanted = (&trace.Call{Args: args}).AppendCanonicalArgs(nil)
	}
	var first *spanCall
	for _, c := range list[:min(len(list), nearCalls)] {
		if c.spanned || c.id != "" && id != "" {
			continue
		}
		if first == nil {
			first = c
		}
		if wanted == nil {
			break
		}
		if string((&trace.Call{Args: c.args}).AppendCanonicalArgs(nil)) == string(wanted) {
			return c
		}
	}
	return first
}

// place adds a call that only its span tells of to the response above it, else
// to the latest that ended before the call began, else to the latest.
func (r *reader) place(s *Span, c *spanCall) {
	levels := 0
	for up := range r.j.up(s) {
		if levels++; levels > nearLevels {
			break
		}
		if turn, ok := r.turnOf[up]; ok {
			r.turns[turn].calls = append(r.turns[turn].calls, c)
			return
		}
	}
	for i := len(r.turns) - 1; i >= max(0, len(r.turns)-maxViews); i-- {
		if of := r.turns[i].span; of != nil && !of.End.IsZero() && !of.End.After(s.Start) {
			r.turns[i].calls = append(r.turns[i].calls, c)
			return
		}
	}
	if len(r.turns) == 0 {
		r.early = append(r.early, c)
		return
	}
	last := r.turns[len(r.turns)-1]
	last.calls = append(last.calls, c)
}
