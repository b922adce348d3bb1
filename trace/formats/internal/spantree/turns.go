package spantree

import (
	"slices"
	"time"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// spanReader puts the responses and calls of an agent in order. What a request
// repeats is recognised by its position and content; a call, which both the
// response and the span of the tool tell of, by its id while neither has told of
// it before, else by its tool.
type spanReader struct {
	b        *build.Builder
	messages spanMessages
	turns    []*spanTurn
	early    []*spanCall            // before any response
	late     []build.Item           // said after the last response
	byID     map[string][]*spanCall // by id, for spans
	waits    map[string][]*spanCall // by id, those that no message has the result of
	all      []*spanCall
	byTool   map[string][]*spanCall // those that no span has told of yet
	views    [][]build.ItemHash     // the latest requests with their responses, the last used last
	system   map[string]bool
	above    map[*Span]*Span
	turnOf   map[*Span]int
}

// spanTurn is a model response with what was said before it.
type spanTurn struct {
	said          []build.Item
	text, thought trace.Raw
	calls         []*spanCall
	span          *Span // nil if only a later request tells of it
	told          bool  // its content is known
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

// chat adds a model response.
func (r *spanReader) chat(s *Span) {
	input, output := s.conversationOf(&r.messages)
	news, changed := r.news(input)
	if changed {
		r.b.Anomaly(build.CodeHistoryChanged, 1)
	}
	r.add(news)
	usage, apart := s.usage()
	if s.Failed && len(output) == 0 && usage.Output == 0 {
		r.b.Anomaly(build.CodeResponseFailed, 1)
		r.remember(input, nil)
		return
	}
	if apart {
		r.b.Anomaly(build.CodeCachedApart, 1)
	}
	turn := &spanTurn{said: r.late, span: s, told: output != nil}
	r.late = nil
	r.turnOf[s] = len(r.turns)
	r.turns = append(r.turns, turn)
	r.say(turn, output)
	r.remember(input, output)
}

// say adds items of the model to a turn.
func (r *spanReader) say(turn *spanTurn, items []build.Item) {
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
		}
	}
}

// listed adds a call that a message has, unless a span of this response's has
// told of it.
func (r *spanReader) listed(turn *spanTurn, it *build.Item) {
	if len(it.Tool) == 0 {
		r.b.Anomaly(build.CodeCallUnnamed, 1)
		return
	}
	for _, c := range turn.calls {
		if !c.listed && c.tool == string(it.Tool) && (c.id == string(it.ID) || c.id == "" || len(it.ID) == 0) {
			c.listed = true
			if c.args.IsZero() {
				c.args = it.Value
			}
			if c.id == "" && len(it.ID) > 0 {
				c.id = string(it.ID)
				r.index(c)
			}
			return
		}
	}
	c := &spanCall{id: string(it.ID), tool: string(it.Tool), args: it.Value, listed: true}
	turn.calls = append(turn.calls, c)
	r.index(c)
	r.all = append(r.all, c)
	r.byTool[c.tool] = append(r.byTool[c.tool], c)
}

// add adds what a request says that was not said before.
func (r *spanReader) add(items []build.Item) {
	var turn *spanTurn
	for i := range items {
		it := &items[i]
		switch it.Kind {
		case build.ItemUser:
			turn = nil
			r.late = append(r.late, *it)
		case build.ItemSystem:
			if r.system == nil {
				r.system = map[string]bool{}
			}
			if text := it.Value.Text(); !r.system[text] {
				r.system[text] = true
				r.late = append(r.late, *it)
			}
		case build.ItemResult:
			turn = nil
			r.result(it)
		default:
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
func (r *spanReader) untold() *spanTurn {
	if n := len(r.turns); n > 0 && !r.turns[n-1].told {
		return r.turns[n-1]
	}
	return nil
}

// result adds a result that a request has: of the oldest call with its id that
// waits, else of the oldest that has no id, or is asked for by its tool.
func (r *spanReader) result(it *build.Item) {
	c := r.waiting(string(it.ID), string(it.Tool))
	if c == nil {
		r.b.Anomaly(trace.CodeOrphanResult, 1)
		return
	}
	c.resulted, c.answered = true, true
	if c.result.IsZero() {
		c.result = it.Value
	}
	if it.Status != trace.StatusUnknown {
		c.status = it.Status
	}
}

// waiting returns the call that a result with an id, or of a tool, is of.
func (r *spanReader) waiting(id, tool string) *spanCall {
	if id != "" {
		list := dropCalls(r.waits[id], func(c *spanCall) bool { return c.resulted })
		r.waits[id] = list
		if len(list) > 0 {
			return list[0]
		}
	}
	r.all = dropCalls(r.all, func(c *spanCall) bool { return c.resulted })
	for _, c := range r.all {
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
func (r *spanReader) index(c *spanCall) {
	if c.id != "" {
		r.byID[c.id] = append(r.byID[c.id], c)
		r.waits[c.id] = append(r.waits[c.id], c)
	}
}

// tool adds what the span of a call says.
func (r *spanReader) tool(s *Span) {
	name := s.toolName()
	if name == "" {
		r.b.Anomaly(build.CodeCallUnnamed, 1)
		return
	}
	c := r.known(s, name)
	if c == nil {
		c = &spanCall{id: s.callID(), tool: name}
		if up := r.above[s]; up != nil && (up.Kind == SpanTool || up.Kind == SpanMCP) {
			c.origin = trace.OriginCode
		}
		r.place(s, c)
		r.index(c)
		r.all = append(r.all, c)
	}
	c.spanned = true
	c.start, c.end = s.Start, s.End
	if args := s.args(); !args.IsZero() && c.args.IsZero() {
		c.args = args
	}
	if result := s.result(); !result.IsZero() {
		c.result, c.answered = result, true
	}
	c.answered = c.answered || !s.End.IsZero() || s.Failed
	switch {
	case s.Failed:
		c.status = trace.StatusFailed
		if s.Failure != "" {
			c.err = trace.TextOf(s.Failure)
		}
	case c.answered && c.status == trace.StatusUnknown:
		c.status = trace.StatusOK
	}
}

// known returns the call that a span is of, nil if no message told of it.
func (r *spanReader) known(s *Span, name string) *spanCall {
	id := s.callID()
	spanned := func(c *spanCall) bool { return c.spanned }
	if id != "" {
		r.byID[id] = dropCalls(r.byID[id], spanned)
		for _, c := range r.byID[id] {
			if !c.spanned && c.tool == name {
				return c
			}
		}
	}
	list := dropCalls(r.byTool[name], spanned)
	r.byTool[name] = list
	for _, c := range list {
		if !c.spanned && (c.id == "" || id == "") {
			return c
		}
	}
	return nil
}

// place adds a call that only its span tells of to the response above it, else
// to the latest that ended before the call began, else to the latest.
func (r *spanReader) place(s *Span, c *spanCall) {
	if up := r.above[s]; up != nil && up.Kind == SpanChat {
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

// news returns what a request says that was not said before; changed is true if
// it does not go on from what was.
func (r *spanReader) news(input []build.Item) (news []build.Item, changed bool) {
	if len(r.views) == 0 {
		return input, false
	}
	var hashes []build.ItemHash
	var at []int // the item of a hash
	for i := range input {
		if h, ok := input[i].Next(build.ItemHash{}); ok {
			hashes, at = append(hashes, h), append(at, i)
		} else if input[i].Kind == build.ItemSystem {
			news = append(news, input[i])
		}
	}
	best, length := 0, -1
	for i, view := range r.views {
		n := 0
		for n < len(view) && n < len(hashes) && view[n] == hashes[n] {
			n++
		}
		if n >= length {
			best, length = i, n
		}
	}
	view := r.views[best]
	r.views = append(slices.Delete(r.views, best, best+1), view)
	behind := func(n int) []build.Item { // from the n-th hash
		if n >= len(hashes) {
			return news
		}
		for _, it := range input[at[n]:] {
			if it.Kind != build.ItemSystem {
				news = append(news, it)
			}
		}
		return news
	}
	switch {
	case len(hashes) == 0:
		return news, false
	case length == len(view) || length == len(hashes):
		return behind(length), false
	}
	// The last that both have; what the model said right behind it is what it
	// said there, in other words.
	where := map[build.ItemHash]int{}
	for i, h := range hashes {
		where[h] = i
	}
	for back := 1; back <= min(len(view), deepest); back++ {
		i, ok := where[view[len(view)-back]]
		if !ok {
			continue
		}
		for i++; i < len(hashes) && back > 1 && input[at[i]].Kind.OfModel(); i++ {
		}
		return behind(i), true
	}
	// Nothing: a request of its own, or one that has lost its beginning.
	last := -1
	for i := range hashes {
		switch it := &input[at[i]]; {
		case it.Kind == build.ItemResult:
			if list := r.waits[string(it.ID)]; len(list) > 0 && !list[len(list)-1].resulted {
				r.result(it)
			}
			last = i
		case it.Kind.OfModel():
			last = i
		}
	}
	return behind(last + 1), last >= 0
}

// remember keeps what was said in a request and its response, in place of the
// request that it goes on from.
func (r *spanReader) remember(input, output []build.Item) {
	var view []build.ItemHash
	for _, items := range [][]build.Item{input, output} {
		for i := range items {
			if h, ok := items[i].Next(build.ItemHash{}); ok {
				view = append(view, h)
			}
		}
	}
	if len(view) == 0 {
		return
	}
	if n := len(r.views); n > 0 && r.views[n-1][0] == view[0] {
		r.views[n-1] = view
		return
	}
	if r.views = append(r.views, view); len(r.views) > maxViews {
		r.views = slices.Delete(r.views, 0, 1)
	}
}

// write tells the builder all of it.
func (r *spanReader) write() {
	b := r.b
	for _, c := range r.early {
		c.write(b.CallOutsideTurns(b.Text([]byte(c.id)), b.Names.Intern([]byte(c.tool)), c.args, c.origin))
	}
	say := func(items []build.Item) {
		for i := range items {
			role := trace.RoleUser
			if items[i].Kind == build.ItemSystem {
				role = trace.RoleSystem
			}
			b.Message(role, items[i].Value.OrAbsent())
		}
	}
	for _, turn := range r.turns {
		say(turn.said)
		to := b.Turn()
		to.Text, to.Thought = turn.text, turn.thought
		if s := turn.span; s != nil {
			to.Model, to.Start, to.End = s.model(), s.Start, s.End
			to.Usage, _ = s.usage()
		}
		for _, c := range turn.calls {
			c.write(b.Call(b.Text([]byte(c.id)), b.Names.Intern([]byte(c.tool)), c.args, c.origin))
		}
	}
	say(r.late)
}

// write tells what became of a call.
func (c *spanCall) write(to *trace.Call) {
	to.Result, to.HasResult, to.Status, to.Error = c.result, c.answered, c.status, c.err
	to.Start, to.End = c.start, c.end
}
