package compiled

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/awo-dev/awo/internal/toolname"
	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/serve"
	"github.com/awo-dev/awo/trace"
)

// attachedMember is the member of the text that is attached to an answer.
const attachedMember = "read_ahead"

// Bounds of what a session reads ahead.
const (
	maxAttached = 64 << 10 // bytes that are attached to one answer
	maxKept     = 128      // answers that wait to be asked for
	maxKeptSize = 8 << 20  // bytes of them
	aheadLimit  = 30 * time.Second
	horizon     = 10 // calls of the agent after which what was read ahead counts as not used
)

// Ahead are rules of reads ahead, with what their traces promise.
type Ahead struct {
	Set      *prefetch.Set
	Promised []float64 // P(use) of each rule, at least
}

// ahead is the reading ahead of one session.
type ahead struct {
	s      *session
	ctx    context.Context
	cancel context.CancelFunc
	work   sync.WaitGroup
	slots  chan struct{} // one for each read under way

	mu      sync.Mutex
	run     *prefetch.Session
	rules   *Ahead
	sources map[string]bool
	tools   map[string]*serve.Tool // by what traces call them
	traced  map[[2]string]string   // and the other way, by server and name there
	usable  []bool                 // of each rule
	reads   map[string]bool        // tools that are known to only read
	done    []Done                 // for the predictor; nil without one
	kept    map[string]*kept
	order   []*kept // the oldest first
	size    int
	calls   int // of the agent
}

// kept is a read ahead of the agent.
type kept struct {
	prefetch.Read
	tool     *serve.Tool
	result   json.RawMessage // nil until it is answered
	value    trace.Value
	held     bool // it is not attached, to see whether it is asked for
	attached bool
	since    int // ahead.calls when it was made
}

func newAhead(s *session) *ahead {
	rules := s.l.a.Ahead
	if rules == nil {
		rules = &Ahead{Set: &prefetch.Set{}}
	}
	a := &ahead{s: s, rules: rules, run: prefetch.NewSession(rules.Set), slots: make(chan struct{}, parallel), kept: map[string]*kept{}, sources: map[string]bool{}, reads: map[string]bool{}}
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
	a.forget()
}

// verdicts says which rules can be followed with the tools that there are.
func (r *Ahead) verdicts(n *names) []Verdict {
	out := make([]Verdict, len(r.Set.Rules))
	for i := range r.Set.Rules {
		rule := &r.Set.Rules[i]
		out[i] = Verdict{Name: rule.ID}
		if _, why := n.find(rule.Source.Tool); why != "" {
			out[i].Reason = why
			continue
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
	if l.effect() == toolname.Writes {
		return "the server of " + rule.Target.Tool + " does not say that it only reads"
	}
	schema := referred(l.parsed.Member("inputSchema"))
	given := map[string]bool{rule.Target.Argument: true}
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
	tools, traced := map[string]*serve.Tool{}, map[[2]string]string{}
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
func (a *ahead) named(t *serve.Tool, arguments trace.Value) prefetch.Call {
	name, ok := a.traced[[2]string{t.Server, t.Name}]
	if !ok {
		name = "\x00" + t.Shown // no rule's, and not known to only read
	}
	return prefetch.Call{Tool: name, Arguments: arguments}
}

// begun notes a call of a meta-tool's step.
func (a *ahead) begun(t *serve.Tool, arguments trace.Value) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.begin(a.named(t, arguments))
}

// begin notes a call before it is answered; a.mu is held.
func (a *ahead) begin(c prefetch.Call) {
	if a.run.Begin(c) > 0 || !a.reads[c.Tool] {
		a.forget()
	}
	a.calls++
	for len(a.order) > 0 && a.calls-a.order[0].since > horizon {
		a.drop(a.order[0], false)
	}
}

// forget drops all that is kept; a.mu is held.
func (a *ahead) forget() {
	for len(a.order) > 0 {
		a.drop(a.order[0], false)
	}
}

// drop ends the keeping of a read, which was asked for or not; a.mu is held.
func (a *ahead) drop(k *kept, used bool) {
	for i, o := range a.order {
		if o == k {
			a.order = append(a.order[:i], a.order[i+1:]...)
			break
		}
	}
	if a.kept[k.Key()] == k {
		delete(a.kept, k.Key())
		a.run.Lost(k.Read)
	}
	a.size -= len(k.result)
	if (k.result != nil || used) && !k.attached && k.Rule != predicted { // the agent did not know of it
		a.s.l.judge(a.s, k.Rule, used)
	}
}

// handle says what becomes of a call of the agent's.
func (a *ahead) handle(c *serve.ToolCall) (h serve.Handling) {
	arguments, err := trace.ParseValue(c.Arguments())
	if err != nil {
		return h
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	call := a.named(c.Tool, arguments)
	k := a.kept[call.Key()]
	if _, _, is := a.run.Take(call); k != nil && (is || k.Rule == predicted) {
		if result := k.result; result != nil {
			h.By = k.as()
			h.Answer = func(context.Context) (json.RawMessage, error) { return result, nil }
		}
		a.drop(k, true)
	}
	a.begin(call)
	if a.sources[call.Tool] || a.s.l.o.Predict != nil {
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

// batch is the reads because of one answer.
type batch struct {
	request *serve.ToolCall
	reads   []*kept
	open    int
	done    chan struct{}
}

// follow makes the reads that an answer leads to, and returns what came in time.
func (a *ahead) follow(ctx context.Context, c *serve.ToolCall, call prefetch.Call, raw json.RawMessage) []json.RawMessage {
	got, err := read(raw, nil)
	if err != nil {
		return nil
	}
	b := &batch{request: c, open: 1, done: make(chan struct{})}
	a.mu.Lock()
	a.start(b, a.run.Answered(prefetch.Answer{Call: call, Result: got.value}))
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
		t := a.tools[r.Tool]
		if t == nil || !a.usable[r.Rule] || a.s.l.off(r.Rule) || a.ctx.Err() != nil {
			a.run.Lost(r)
			continue
		}
		a.launch(b, &kept{Read: r, tool: t, since: a.calls, held: a.s.l.hold(r.Rule)})
	}
}

// launch makes one read; a.mu is held.
func (a *ahead) launch(b *batch, k *kept) {
	for len(a.order) > 0 && (len(a.order) >= maxKept || a.size > maxKeptSize) {
		a.drop(a.order[0], false)
	}
	a.kept[k.Key()], a.order = k, append(a.order, k)
	b.reads = append(b.reads, k)
	b.open++
	a.work.Go(func() { a.read(b, k) })
}

// end counts a read of a batch that has ended; a.mu is held.
func (a *ahead) end(b *batch) {
	if b.open--; b.open == 0 {
		close(b.done)
	}
}

// read makes one read, and those that its answer leads to.
func (a *ahead) read(b *batch, k *kept) {
	raw, got, ok := a.call(b, k)
	a.mu.Lock()
	defer a.mu.Unlock()
	defer a.end(b)
	switch _, _, fresh := a.run.Has(k.Call); {
	case !ok:
		a.drop(k, false)
	case (fresh || k.Rule == predicted) && a.kept[k.Key()] == k: // nothing made it stale, and nobody asked in the meantime
		k.result, k.value = raw, got.value
		a.size += len(raw)
		if k.Rule == predicted {
			a.note(Done{Tool: k.Tool, Arguments: k.Arguments, Result: got.value, Inertial: true})
			return
		}
		a.start(b, a.run.Got(k.Read, got.value))
	}
}

func (a *ahead) call(b *batch, k *kept) (raw json.RawMessage, got result, ok bool) {
	ctx, cancel := context.WithTimeout(a.ctx, aheadLimit)
	defer cancel()
	select {
	case a.slots <- struct{}{}:
		defer func() { <-a.slots }()
	case <-ctx.Done():
		return nil, got, false
	}
	by := "snapshot"
	if k.Rule != predicted {
		by = a.rules.Set.Rules[k.Rule].ID
	}
	raw, err := a.s.h.Call(ctx, serve.Within{Request: b.request.ID, As: k.as(), By: by}, k.tool, k.Arguments.AppendCanonical(nil))
	if err != nil {
		return nil, got, false
	}
	got, err = read(raw, nil)
	return raw, got, err == nil && !got.failed
}

// attach returns the block with what came in time, nil if nothing did.
func (a *ahead) attach(b *batch) []json.RawMessage {
	a.mu.Lock()
	defer a.mu.Unlock()
	text := append([]byte(`{"`), attachedMember+`":[`...)
	n := 0
	for _, k := range b.reads {
		if k.result == nil || k.held || a.kept[k.Key()] != k {
			continue
		}
		one := append([]byte(`{"tool":`), quoted(k.tool.Shown)...)
		one = k.Arguments.AppendCanonical(append(one, `,"arguments":`...))
		one = append(k.value.AppendCanonical(append(one, `,"result":`...)), '}')
		if len(text)+len(one) > maxAttached {
			continue // it is kept for a call that asks for it
		}
		if n++; n > 1 {
			text = append(text, ',')
		}
		text = append(text, one...)
		k.attached = true
	}
	if n == 0 {
		return nil
	}
	block := append([]byte(`{"type":"text","text":`), quoted(string(append(text, `]}`...)))...)
	return []json.RawMessage{append(block, '}')}
}
