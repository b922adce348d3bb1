package compiled

import (
	"cmp"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/arazzo"
	"github.com/awo-dev/awo/trace"
)

// Writes says which meta-tools that do not only read are offered.
type Writes string

// The choices.
const (
	WritesNone   Writes = "none"   // not offered
	WritesAsk    Writes = "ask"    // offered; whoever uses the agent is asked before each write
	WritesClient Writes = "client" // offered, marked so that the client asks
)

// Options say what is offered and how it is run. The zero value is the default.
type Options struct {
	Servers  []gateway.Server // for aliases and time limits
	Writes   Writes           // "" is WritesNone
	Returned bool             // answers have only the results that the artefacts say are returned
	Schemas  bool             // results are structured too, and definitions have outputSchema
	Mark     bool             // meta-tools and pinned tools are marked as always loaded
	Hide     []string         // tools that are not listed

	Lazy        Lazy        // "" is LazyOff
	Pin         []string    // tools that are listed however
	Subset      []string    // of all tools these are listed; nil is all. With Lazy they are pinned
	Definitions Definitions // what tool_register answers where it agrees with the server

	Log     *slog.Logger     // nil logs nothing
	Metrics *gateway.Metrics // nil counts nothing

	Memory string // folder for what is seen of rules, for later sessions; "" keeps nothing
	Seed   uint64 // by which reads are kept back; 0 is another one each time

	Search Searcher // of LazySearch

	Predict Predictor // reads that no rule covers; nil predicts nothing

	Timeout  time.Duration // of a step; 0 is a minute
	Deadline time.Duration // of a meta-tool; 0 is 5 minutes
	MaxCalls int           // of a meta-tool; 0 is 100
	Wait     time.Duration // how long an answer waits for what is attached to it; 0 is 150 ms
}

// strikes is how many failures in a row, of which repeating is no way out, withdraw a
// meta-tool.
const strikes = 3

// Layer offers artefacts. It is shared by all sessions of a gateway.
type Layer struct {
	a *Artefacts
	o Options

	mu        sync.Mutex
	open      map[*session]bool
	failed    map[string]int // of each meta-tool, in a row
	withdrawn map[string]bool
	judges    []judge // of each rule
}

// New returns a layer.
func New(a *Artefacts, o Options) *Layer {
	o.Timeout = cmp.Or(o.Timeout, time.Minute)
	o.Deadline = cmp.Or(o.Deadline, 5*time.Minute)
	o.Wait = cmp.Or(o.Wait, 150*time.Millisecond)
	o.Writes, o.Lazy = cmp.Or(o.Writes, WritesNone), cmp.Or(o.Lazy, LazyOff)
	o.Seed = cmp.Or(o.Seed, rand.Uint64())
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	l := &Layer{a: a, o: o, open: map[*session]bool{}, failed: map[string]int{}, withdrawn: map[string]bool{}}
	if a.Ahead != nil {
		l.judges = make([]judge, len(a.Ahead.Set.Rules))
		l.recallUses()
	}
	l.recallStrikes()
	return l
}

// About implements gateway.Layer.
func (l *Layer) About() map[string]any {
	tools, rules, files := []string{}, []string{}, map[string]string{}
	for _, t := range l.a.Tools {
		tools = append(tools, t.Name)
	}
	if l.a.Ahead != nil {
		for i := range l.a.Ahead.Set.Rules {
			rules = append(rules, l.a.Ahead.Set.Rules[i].ID)
		}
	}
	for _, f := range l.a.Files {
		files[f.Name] = f.SHA256
	}
	return map[string]any{"meta_tools": tools, "prefetch": rules, "artefacts": files}
}

// Open implements gateway.Layer.
func (l *Layer) Open(h *gateway.Host) gateway.LayerSession {
	s := &session{l: l, h: h, said: map[string]string{}, list: listing{registered: map[string]bool{}}}
	if l.a.Ahead != nil || l.o.Predict != nil {
		s.ahead = newAhead(s)
	}
	l.mu.Lock()
	l.open[s] = true
	l.mu.Unlock()
	return s
}

// session is the layer's part of a session.
type session struct {
	l     *Layer
	h     *gateway.Host
	ahead *ahead // nil without rules

	mu    sync.Mutex
	tools map[string]*offered // by name
	list  listing
	said  map[string]string // why what is not offered is not, by name
}

// offered is a meta-tool with the tools that its steps call.
type offered struct {
	tool  *metatool.Tool
	steps map[string]*gateway.Tool // by what traces call them
	needs [][]need                 // of each step
}

// Verdict says what became of a meta-tool or a rule.
type Verdict struct {
	Name    string `json:"name"`
	Offered bool   `json:"offered"`
	Reason  string `json:"reason,omitempty"`  // why it is not
	Warning string `json:"warning,omitempty"` // what is not known of it
	Policy  bool   `json:"policy,omitempty"`  // it is not offered because of options, not of what changed
}

// Verdicts says what of the artefacts can be offered in front of tools: meta-tools, and
// rules of reads ahead.
func (l *Layer) Verdicts(tools []*gateway.Tool, asks bool) (metaTools, rules []Verdict) {
	n := newNames(tools, l.o.Servers)
	for _, tool := range l.a.Tools {
		_, v := l.fit(tool, n, tools, asks)
		metaTools = append(metaTools, v)
	}
	if l.a.Ahead != nil {
		rules = l.a.Ahead.verdicts(n)
	}
	return metaTools, rules
}

// Unknown returns why tools that options name are not there: those that are hidden, and
// those that are pinned or in an allow-list.
func (l *Layer) Unknown(tools []*gateway.Tool) (hidden, listed []string) {
	n := newNames(tools, l.o.Servers)
	unknown := func(names []string) (out []string) {
		for _, name := range names {
			if _, why := n.find(name); why != "" && !slices.Contains(out, why) {
				out = append(out, why)
			}
		}
		return out
	}
	return unknown(l.o.Hide), unknown(slices.Concat(l.o.Pin, l.o.Subset))
}

// fit finds out whether a meta-tool can be offered. asks says whether the agent's user can
// be asked.
func (l *Layer) fit(tool *metatool.Tool, n *names, tools []*gateway.Tool, asks bool) (*offered, Verdict) {
	v := Verdict{Name: tool.Name}
	if slices.ContainsFunc(tools, func(t *gateway.Tool) bool { return t.Shown == tool.Name }) {
		v.Reason = "a server has a tool of this name"
		return nil, v
	}
	o := &offered{tool: l.runnable(tool), steps: map[string]*gateway.Tool{}}
	now, writes := map[string]live{}, false
	for i := range tool.Steps {
		step := &tool.Steps[i]
		writes = writes || !step.ReadOnly
		t, why := n.find(step.Tool)
		if t == nil {
			v.Reason = why
			return nil, v
		}
		o.steps[step.Tool], now[step.Tool] = t, definitionOf(t)
	}
	if v.Reason, v.Warning = l.drifted(tool, now); v.Reason != "" {
		return nil, v
	}
	switch {
	case writes && l.o.Writes == WritesNone:
		v.Reason = "it does not only read, and writes are not allowed (--writes)"
	case writes && l.o.Writes == WritesAsk && !asks:
		v.Reason = "it does not only read, and the client cannot ask its user (elicitation)"
	default:
		l.mu.Lock()
		gone := l.withdrawn[tool.Name]
		l.mu.Unlock()
		if gone {
			v.Reason = fmt.Sprintf("withdrawn until it is compiled again: it failed %d times in a row because results are not what they were", strikes)
		}
	}
	if v.Reason != "" {
		v.Policy = true
		return nil, v
	}
	o.needs = needsOf(tool)
	v.Offered = true
	return o, v
}

// butCalls matches what a description says of results that are not returned.
var butCalls = regexp.MustCompile(`(?m)^(Returns the result of each) but calls? [0-9]+(?:(?:, | and )[0-9]+)*\.`)

// runnable returns the meta-tool as it is run: writes are never repeated.
func (l *Layer) runnable(tool *metatool.Tool) *metatool.Tool {
	t := *tool
	t.Steps = slices.Clone(tool.Steps)
	for i := range t.Steps {
		t.Steps[i].Idempotent = t.Steps[i].ReadOnly
	}
	if !l.o.Returned {
		t.Output.Steps = nil // all
		t.Description = butCalls.ReplaceAllString(t.Description, "$1.")
	}
	return &t
}

// switchedOff is why what a policy disables is not offered.
const switchedOff = "it is switched off (disabled)"

// Offer implements gateway.LayerSession.
func (s *session) Offer(tools []*gateway.Tool, complete bool) []json.RawMessage {
	n := newNames(tools, s.l.o.Servers)
	out := s.shown(tools, n, complete)
	now := map[string]*offered{}
	asks := s.h.Can("elicitation")
	for _, tool := range s.l.a.Tools {
		o, v := s.l.fit(tool, n, tools, asks)
		if s.h.Disabled(tool.Name) {
			o, v = nil, Verdict{Name: tool.Name, Reason: switchedOff}
		}
		if o != nil {
			now[tool.Name] = o
			out = append(out, s.l.definition(o))
		}
		s.say("meta-tool", v, complete)
	}
	if s.ahead != nil {
		for _, v := range s.ahead.use(n) {
			s.say("prefetch rule", v, complete)
		}
	}
	s.mu.Lock()
	s.tools = now
	s.mu.Unlock()
	return append(out, s.lazyTools(func(name string) bool {
		return now[name] != nil || slices.ContainsFunc(tools, func(t *gateway.Tool) bool { return t.Shown == name })
	})...)
}

// say logs what became of a meta-tool or a rule, once. While servers are still starting a
// missing tool is nothing to speak of.
func (s *session) say(what string, v Verdict, complete bool) {
	if !complete {
		return
	}
	text := v.Reason
	if v.Offered {
		text = v.Warning
	}
	s.mu.Lock()
	before, known := s.said[what+v.Name]
	s.said[what+v.Name] = text
	s.mu.Unlock()
	switch {
	case known && before == text, !known && text == "":
	case !v.Offered:
		s.h.Log().Warn(what+" not offered", "name", v.Name, "reason", text)
	case text != "":
		s.h.Log().Info(what+" offered unchecked", "name", v.Name, "reason", text)
	default:
		s.h.Log().Info(what+" offered again", "name", v.Name)
	}
}

// Handle implements gateway.LayerSession.
func (s *session) Handle(c *gateway.ToolCall) gateway.Handling {
	if c.Tool != nil {
		if h, refused := s.unregistered(c.Name, c.Tool); refused {
			return h
		}
		if s.ahead != nil {
			return s.ahead.handle(c)
		}
		return gateway.Handling{}
	}
	s.mu.Lock()
	o := s.tools[c.Name]
	s.mu.Unlock()
	if o != nil {
		return s.run(c, o)
	}
	if h, ok := s.stands(c); ok {
		return h
	}
	if slices.ContainsFunc(s.l.a.Tools, func(t *metatool.Tool) bool { return t.Name == c.Name }) {
		return gateway.Handling{By: "awo", Answer: refusal("The tool " + c.Name + " is not offered any more. Make its calls one by one.")}
	}
	return gateway.Handling{}
}

// Instructions implements gateway.LayerSession.
func (s *session) Instructions() string {
	if s.ahead == nil {
		return ""
	}
	return "A result may end with a text {\"" + attachedMember + "\": [{\"tool\", \"arguments\", \"result\"}]}: calls that usually come next and only read, made already. They need not be made again."
}

// Close implements gateway.LayerSession.
func (s *session) Close() {
	s.l.mu.Lock()
	delete(s.l.open, s)
	s.l.mu.Unlock()
	if s.ahead != nil {
		s.ahead.close()
	}
}

// strike counts a run that failed because results are not what they were, or one that did
// not after others had; l.mu is held.
func (l *Layer) strike(name string, strange bool) {
	if l.failed[name]++; !strange {
		l.failed[name] = 0
	}
}

// recallStrikes counts what earlier sessions have seen: a session on standard streams is a
// program of its own.
func (l *Layer) recallStrikes() {
	l.recall(arazzo.File, func(line string) {
		var name string
		var strange bool
		if n, _ := fmt.Sscanf(line, "%q %t\n", &name, &strange); n == 2 {
			l.strike(name, strange)
			l.withdrawn[name] = l.withdrawn[name] || l.failed[name] >= strikes
		}
	})
}

// ended counts how a run of a meta-tool ended. One that fails again and again because
// results are not what they were is withdrawn in all sessions.
func (l *Layer) ended(name string, done, strange bool) (withdrawn bool) {
	l.mu.Lock()
	switch {
	case done && l.failed[name] > 0, strange:
		l.strike(name, strange)
		if err := l.remember(arazzo.File, fmt.Sprintf("%q %t", name, strange)); err != nil {
			l.o.Log.Info("a failure of a meta-tool is not kept", "reason", err)
		}
	}
	withdrawn = l.failed[name] >= strikes && !l.withdrawn[name]
	var open []*session
	if withdrawn {
		l.withdrawn[name] = true
		for s := range l.open {
			open = append(open, s)
		}
	}
	l.mu.Unlock()
	for _, s := range open {
		s.h.Changed()
	}
	return withdrawn
}

// definition returns how a meta-tool is listed.
func (l *Layer) definition(o *offered) json.RawMessage {
	t := o.tool
	out := append([]byte(`{"name":`), quoted(t.Name)...)
	out = append(append(out, `,"description":`...), quoted(t.Description)...)
	schema := t.InputSchema()
	out = schema.AppendCanonical(append(out, `,"inputSchema":`...))
	if l.o.Schemas && t.Output.Schema.Kind == trace.Object {
		out = t.Output.Schema.AppendCanonical(append(out, `,"outputSchema":`...))
	}
	a, writes := t.Annotations, !readsOnly(t)
	if writes {
		a.ReadOnly, a.Destructive = false, a.Destructive || l.o.Writes == WritesClient
	}
	out = fmt.Appendf(out, `,"annotations":{"readOnlyHint":%t,"destructiveHint":%t,"idempotentHint":%t,"openWorldHint":%t}`, a.ReadOnly, a.Destructive, a.Idempotent, a.OpenWorld)
	var marks []string
	if l.o.Mark {
		marks = append(marks, `"anthropic/alwaysLoad":true`)
	}
	if writes && l.o.Writes == WritesClient {
		marks = append(marks, `"anthropic/requiresUserInteraction":true`)
	}
	for i, m := range marks {
		out = append(append(out, []string{`,"_meta":{`, `,`}[min(i, 1)]...), m...)
	}
	if marks != nil {
		out = append(out, '}')
	}
	return append(out, '}')
}

func readsOnly(t *metatool.Tool) bool {
	return !slices.ContainsFunc(t.Steps, func(s metatool.Step) bool { return !s.ReadOnly })
}
