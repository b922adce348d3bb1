package compiled

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/internal/toolname"
	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/trace"
)

// attachedMember is the member of the text that is attached to an answer.
const attachedMember = "read_ahead"

// Bounds of what a session prefetches.
const (
	maxAttached = 64 << 10 // bytes that are attached to one answer
	maxUnderWay = 128      // reads in flight
	maxWatched  = 128      // reads that were not attached, to see whether the agent makes them
	aheadLimit  = 30 * time.Second
	horizon     = 10 // calls of the agent after which a watched read counts as not used
)

// Ahead are rules of reads ahead, with what their traces promise.
type Ahead struct {
	Set      *prefetch.Set
	Promised []float64 // P(use) of each rule, at least
}

// ahead is the prefetching of one session. A prefetched result exists only as an attachment
// of the answer that led to it: a call of the agent goes to the server, because whoever asks
// wants the state of now. Only where the same read is in flight, both wait for it.
type ahead struct {
	s      *session
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup
	slots  chan struct{} // one for each read under way
	runs   *prefetch.Sessions
	shared bool // several clients are one session: what one of them did says nothing of another

	mu      sync.Mutex
	run     *prefetch.Session
	rules   *Ahead
	sources map[string]bool
	tools   map[string]*gateway.Tool // by what traces call them
	traced  map[[2]string]string     // and the other way, by server and name there
	usable  []bool                   // of each rule
	reads   map[string]bool          // tools that are known to only read
	done    []Done                   // for the predictor; nil without one
	guessed map[string]bool          // calls that were predicted since something changed
	flight  map[string]*reading      // reads under way that are not stale
	watched []watch                  // the oldest first
	calls   int                      // of the agent
}

// reading is a read ahead of the agent.
type reading struct {
	prefetch.Read
	tool *gateway.Tool
	over chan struct{}   // closed when it was answered, or will not be
	raw  json.RawMessage // then; nil if there is no answer

	value trace.Value
	ok    bool // value is its answer
	stale bool // something changed since it was begun
	held  bool // it is not attached, to see whether the agent asks for it
}

// watch is a read that was made and not attached: whether the agent makes it says whether
// the rule keeps its promise.
type watch struct {
	key   string
	rule  int
	since int // ahead.calls then
}

func newAhead(s *session) *ahead {
	rules := s.l.a.Ahead
	if rules == nil {
		rules = &Ahead{Set: &prefetch.Set{}}
	}
	a := &ahead{
		s: s, rules: rules, runs: prefetch.NewSessions(rules.Set), shared: s.h.Shared(), slots: make(chan struct{}, parallel),
		sources: map[string]bool{}, reads: map[string]bool{}, guessed: map[string]bool{}, flight: map[string]*reading{},
	}
	a.run = a.runs.Session()
	a.usable = make([]bool, len(a.rules.Set.Rules))
	for i := range a.rules.Set.Rules {
		a.sources[a.rules.Set.Rules[i].Source.Tool] = true
	}
	a.ctx, a.cancel = context.WithCancel(context.Background())
	return a
}

func (a *ahead) close() {
	a.cancel()
	a.work.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	a.unwatch(len(a.watched))
}

// verdicts says which rules can be followed with the tools that there are.
func (r *Ahead) verdicts(n *names) []Verdict {
	out := make([]Verdict, len(r.Set.Rules))
	for i := range r.Set.Rules {
		rule := &r.Set.Rules[i]
		out[i] = Verdict{Name: rule.ID}
		if rule.Source.Tool != "" { // messages of the user are not seen here: values in earlier calls stand for them
			if _, why := n.find(rule.Source.Tool); why != "" {
				out[i].Reason = why
				continue
			}
		}
		t, why := n.find(rule.Target.Tool)
		if why == "" {
			why = unfit(rule, definitionOf(t))
		}
		out[i].Reason, out[i].Offered = why, why == ""
	}
	return out
}

// unfit returns why a rule's reads cannot be made of a tool as it is now, "" if they can.
func unfit(rule *prefetch.Rule, l live) string {
	if l.effect() != toolname.Reads {
		return "neither the server of " + rule.Target.Tool + " nor the configuration (\"awo\": {\"reads\": [...]}) says that it only reads"
	}
	schema := referred(l.parsed.Member("inputSchema"))
	given := map[string]bool{}
	if rule.Target.Argument != "" {
		given[rule.Target.Argument] = true
	}
	for i := range rule.Source.Slots {
		given[rule.Source.Slots[i].Argument] = true
	}
	for _, o := range rule.Target.Others {
		given[o.Argument] = true
	}
	properties, ok := schema.Lookup("properties")
	if !ok {
		return ""
	}
	for name := range given {
		if _, ok := properties.Lookup(name); !ok {
			return rule.Target.Tool + " has no such argument any more"
		}
	}
	for _, r := range schema.Member("required").Elems {
		if !given[r.Text] {
			return rule.Target.Tool + " requires another argument now"
		}
	}
	return ""
}

// use takes the tools that there are.
func (a *ahead) use(n *names) []Verdict {
	verdicts := a.rules.verdicts(n)
	for i, v := range verdicts {
		if a.s.h.Disabled(v.Name) {
			verdicts[i] = Verdict{Name: v.Name, Reason: switchedOff}
		}
	}
	tools, traced := map[string]*gateway.Tool{}, map[[2]string]string{}
	know := func(name string) {
		if t, _ := n.find(name); t != nil {
			tools[name] = t
			traced[[2]string{t.Server, t.Name}] = name
		}
	}
	reads := map[string]bool{}
	for _, name := range a.rules.Set.Reads {
		know(name)
		reads[name] = true
	}
	if p := a.s.l.o.Predict; p != nil {
		for _, name := range p.Tools() {
			know(name)
		}
		for name, t := range tools {
			reads[name] = reads[name] || definitionOf(t).effect() == toolname.Reads
		}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tools, a.traced, a.reads = tools, traced, reads
	for i, v := range verdicts {
		a.usable[i] = v.Offered
	}
	return verdicts
}

// named returns a call as rules know it; a.mu is held.
func (a *ahead) named(t *gateway.Tool, arguments trace.Value) prefetch.Call {
	name, ok := a.traced[[2]string{t.Server, t.Name}]
	if !ok {
		name = "\x00" + t.Shown // no rule's, and not known to only read
	}
	return prefetch.Call{Tool: name, Arguments: arguments}
}

// begun notes a call of a meta-tool's step.
func (a *ahead) begun(t *gateway.Tool, arguments trace.Value) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begin(a.named(t, arguments))
}

// begin notes a call before it is answered; a.mu is held.
func (a *ahead) begin(c prefetch.Call) {
	a.run.Begin(c)
	if !a.reads[c.Tool] {
		a.changed()
	}
	a.calls++
	n := 0
	for n < len(a.watched) && a.calls-a.watched[n].since > horizon {
		n++
	}
	a.unwatch(n)
}

// changed notes that something may have changed that reads go by: those in flight are
// stale, and what was watched for is not asked for any more; a.mu is held.
func (a *ahead) changed() {
	for _, r := range a.flight {
		r.stale = true
	}
	clear(a.flight)
	clear(a.guessed)
	a.unwatch(len(a.watched))
}

// unwatch counts the oldest n watched reads as not used; a.mu is held.
func (a *ahead) unwatch(n int) {
	for _, w := range a.watched[:n] {
		a.s.l.judge(a.s, w.rule, false)
	}
	a.watched = slices.Delete(a.watched, 0, n)
}

// handle says what becomes of a call of the agent's.
func (a *ahead) handle(c *gateway.ToolCall) (h gateway.Handling) {
	arguments, err := trace.ParseValue(c.Arguments())
	if err != nil {
		return h
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	call := a.named(c.Tool, arguments)
	key := call.Key()
	if i := slices.IndexFunc(a.watched, func(w watch) bool { return w.key == key }); i >= 0 {
		a.s.l.judge(a.s, a.watched[i].rule, true)
		a.watched = slices.Delete(a.watched, i, i+1)
	}
	if r := a.flight[key]; r != nil && !a.shared {
		h.By, h.Answer = r.as(), func(ctx context.Context) (json.RawMessage, error) { return a.join(ctx, c, r) }
	}
	a.begin(call)
	if a.sources[call.Tool] || a.sources[""] || a.s.l.o.Predict != nil {
		h.Attach = func(ctx context.Context, result json.RawMessage) []json.RawMessage {
			return a.follow(ctx, c, call, result)
		}
	}
	h.Ended = func(failed bool) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.run.Answered(prefetch.Answer{Call: call, Failed: failed})
		a.note(Done{Tool: call.Tool, Arguments: arguments, Failed: failed})
	}
	return h
}

// join waits for a read that the agent asks for while it is in flight. If nothing comes of
// it, the call is made.
func (a *ahead) join(ctx context.Context, c *gateway.ToolCall, r *reading) (json.RawMessage, error) {
	select {
	case <-r.over:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if r.raw != nil {
		return r.raw, nil
	}
	return a.s.h.Call(ctx, a.within(c, r), r.tool, c.Arguments())
}

// batch is the reads because of one answer.
type batch struct {
	request *gateway.ToolCall
	run     *prefetch.Session
	reads   []*reading
	open    int
	done    chan struct{}
	sent    bool // the answer is on its way: what comes now is attached to nothing
}

// follow makes the reads that an answer leads to, and returns what came in time.
func (a *ahead) follow(ctx context.Context, c *gateway.ToolCall, call prefetch.Call, raw json.RawMessage) []json.RawMessage {
	got, err := read(raw, nil)
	if err != nil {
		return nil
	}
	b := &batch{request: c, run: a.run, open: 1, done: make(chan struct{})}
	a.mu.Lock()
	if a.shared {
		b.run = a.runs.Session()
		b.run.Begin(call)
	}
	a.start(b, append(b.run.Passed(call), b.run.Answered(prefetch.Answer{Call: call, Result: got.value})...))
	a.note(Done{Tool: call.Tool, Arguments: call.Arguments, Result: got.value})
	a.predict(b)
	a.end(b)
	none := len(b.reads) == 0
	a.mu.Unlock()
	if none {
		return nil
	}
	timer := time.NewTimer(a.s.l.o.Wait)
	defer timer.Stop()
	select {
	case <-b.done:
	case <-timer.C:
	case <-ctx.Done():
		return nil
	}
	return a.attach(b)
}

// start makes reads; a.mu is held.
func (a *ahead) start(b *batch, reads []prefetch.Read) {
	for _, r := range reads {
		switch t := a.tools[r.Tool]; {
		case t == nil || t.Ask || !a.usable[r.Rule] || a.s.l.off(r.Rule) || a.ctx.Err() != nil || len(a.flight) >= maxUnderWay:
			b.run.Lost(r)
		default:
			a.launch(b, &reading{Read: r, tool: t, held: !a.shared && len(a.watched) < maxWatched && a.s.l.hold(r.Rule)})
		}
	}
}

// launch makes one read; a.mu is held.
func (a *ahead) launch(b *batch, r *reading) {
	r.over = make(chan struct{})
	a.flight[r.Key()] = r
	b.reads = append(b.reads, r)
	b.open++
	a.work.Go(func() { a.read(b, r) })
}

// end counts a read of a batch that has ended; a.mu is held.
func (a *ahead) end(b *batch) {
	if b.open--; b.open == 0 {
		close(b.done)
	}
}

// read makes one read, and those that its answer leads to.
func (a *ahead) read(b *batch, r *reading) {
	raw, got, ok := a.call(b, r)
	a.mu.Lock()
	defer a.mu.Unlock()
	defer a.end(b)
	if a.flight[r.Key()] == r {
		delete(a.flight, r.Key())
	}
	r.raw = raw
	close(r.over)
	switch _, _, fresh := b.run.Has(r.Call); {
	case !ok:
		b.run.Lost(r.Read)
	case r.stale || b.sent:
	case r.Rule == predicted:
		r.value, r.ok = got.value, true
		a.note(Done{Tool: r.Tool, Arguments: r.Arguments, Result: got.value, Inertial: true})
	case fresh: // the agent did not ask in the meantime
		if r.value, r.ok = got.value, !r.held; r.held {
			a.watched = append(a.watched, watch{r.Key(), r.Rule, a.calls})
		}
		a.start(b, b.run.Got(r.Read, got.value))
	}
}

func (a *ahead) call(b *batch, r *reading) (raw json.RawMessage, got result, ok bool) {
	ctx, cancel := context.WithTimeout(a.ctx, aheadLimit)
	defer cancel()
	select {
	case a.slots <- struct{}{}:
		defer func() { <-a.slots }()
	case <-ctx.Done():
		return nil, got, false
	}
	raw, err := a.s.h.Call(ctx, a.within(b.request, r), r.tool, r.Arguments.AppendCanonical(nil))
	if err != nil {
		return nil, got, false
	}
	got, err = read(raw, nil)
	return raw, got, err == nil && !got.failed
}

// within says in recordings why a read is made.
func (a *ahead) within(c *gateway.ToolCall, r *reading) gateway.Within {
	by := "snapshot"
	if r.Rule != predicted {
		by = a.rules.Set.Rules[r.Rule].ID
	}
	return gateway.Within{Request: c.ID, As: r.as(), By: by}
}

// attach returns the block with what came in time, nil if nothing did.
func (a *ahead) attach(b *batch) []json.RawMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	b.sent = true
	text := append([]byte(`{"`), attachedMember+`":[`...)
	n := 0
	for _, r := range b.reads {
		if !r.ok || r.stale {
			continue
		}
		one := append([]byte(`{"tool":`), quoted(r.tool.Shown)...)
		one = r.Arguments.AppendCanonical(append(one, `,"arguments":`...))
		one = append(r.value.AppendCanonical(append(one, `,"result":`...)), '}')
		if len(text)+len(one) > maxAttached {
			continue
		}
		if n++; n > 1 {
			text = append(text, ',')
		}
		text = append(text, one...)
		if r.Rule != predicted {
			a.s.l.o.Metrics.Count("rule", a.rules.Set.Rules[r.Rule].ID, "attached")
		}
	}
	if n == 0 {
		return nil
	}
	block := append([]byte(`{"type":"text","text":`), quoted(string(append(text, `]}`...)))...)
	return []json.RawMessage{append(block, '}')}
}
