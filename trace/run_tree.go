package trace

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// runKind says what a runSpan stands for.
type runKind uint8

const (
	runOther runKind = iota
	runAgent
	runModel
	runTool
)

// runSpan is what platforms record of one step of a run: a response of a model
// with all that it was told, a call of a tool, or what holds others together.
type runSpan struct {
	id, parent string
	kind       runKind
	name       string
	order      string // sorts before the times, where a platform has its own order
	start, end time.Time

	input, output Raw
	callID        []byte
	tools         []ToolDef
	failed        bool
	status        Status
	err           Raw
	response      response
}

// runTree is the spans of one trace, in order.
type runTree struct {
	byID  map[string]*runSpan
	owner map[*runSpan]*runSpan // the sub-agent that a span is part of
}

// runDepth is how many spans above another are looked at.
const runDepth = 1000

// newRunTree sorts spans and finds out which belong to sub-agents: what has a
// model and is inside of a tool, or an agent inside of another that uses a model
// of its own.
func newRunTree(spans []*runSpan) *runTree {
	tree := &runTree{byID: map[string]*runSpan{}, owner: map[*runSpan]*runSpan{}}
	slices.SortStableFunc(spans, func(a, b *runSpan) int {
		return cmp.Or(cmp.Compare(a.order, b.order), a.start.Compare(b.start))
	})
	for _, s := range spans {
		if s.id != "" {
			tree.byID[s.id] = s
		}
	}
	bounds, speaks := map[*runSpan]bool{}, map[*runSpan]bool{}
	for _, s := range spans {
		if s.kind != runModel {
			continue
		}
		near := true
		for up := range tree.above(s) {
			switch {
			case up.kind == runTool:
				bounds[up] = true
			case up.kind == runAgent && near:
				speaks[up], near = true, false
			}
		}
	}
	for _, s := range spans {
		if !speaks[s] {
			continue
		}
		for up := range tree.above(s) {
			if up.kind == runTool {
				break
			}
			if speaks[up] {
				bounds[s] = true
				break
			}
		}
	}
	for _, s := range spans {
		for up := range tree.above(s) {
			if bounds[up] {
				tree.owner[s] = up
				break
			}
		}
	}
	return tree
}

// above yields the spans that a span is in, from the inside out.
func (t *runTree) above(s *runSpan) iter.Seq[*runSpan] {
	return func(yield func(*runSpan) bool) {
		for range runDepth {
			up, ok := t.byID[s.parent]
			if !ok || up == s || !yield(up) {
				return
			}
			s = up
		}
	}
}

// inTool reports whether a span is in a tool span of its own agent.
func (t *runTree) inTool(s *runSpan) bool {
	for up := range t.above(s) {
		if up == t.owner[s] {
			return false
		}
		if up.kind == runTool {
			return true
		}
	}
	return false
}

// agentRun is what one agent of a trace did.
type agentRun struct {
	owner *runSpan // nil for the main agent
	said  transcripts
	last  *transcript
	more  map[*transcript]*agentPart
}

// agentPart is what is noted about one trajectory of an agent.
type agentPart struct {
	first   *runSpan
	matched map[int]bool // calls that a span was found for
	from    int          // all calls before it are matched
	told    bool         // the last response says what it called
}

// joinRuns makes trajectories of the spans of a trace: one for each agent, and
// more where the responses of its models do not go on from each other. The first
// has the id of the trace, those of sub-agents have their span behind it.
func joinRuns(trace string, spans []*runSpan, odd *builder) []*Trajectory {
	tree := newRunTree(spans)
	var runs []*agentRun
	byOwner := map[*runSpan]*agentRun{}
	for _, s := range spans {
		if s.kind != runModel && s.kind != runTool {
			continue
		}
		owner := tree.owner[s]
		run, ok := byOwner[owner]
		if !ok {
			run = &agentRun{owner: owner, more: map[*transcript]*agentPart{}}
			byOwner[owner] = run
			runs = append(runs, run)
		}
		if s.kind == runModel {
			run.model(s, odd)
		} else {
			run.tool(s, tree.inTool(s))
		}
	}
	slices.SortStableFunc(runs, func(a, b *agentRun) int { // the main agent first
		rank := func(r *agentRun) int {
			if r.owner == nil {
				return 0
			}
			return 1
		}
		return cmp.Compare(rank(a), rank(b))
	})
	var out []*Trajectory
	for _, run := range runs {
		out = append(out, run.finish(trace, tree)...)
	}
	if len(out) == 0 { // nothing but what holds others together
		tr := newBuilder(0).finish()
		tr.ID, tr.Offset = trace, -1
		out = append(out, tr)
	}
	for code, n := range odd.t.Oddities.ByCode {
		out[0].Oddities.AddN(code, n)
	}
	return out
}

// model adds a response of a model.
func (r *agentRun) model(s *runSpan, odd *builder) {
	var items []item
	if text := instructionsOf(s.output); !text.isEmpty() {
		items = append(items, item{kind: itemSystem, value: text})
	}
	items = append(items, readMessages(odd, s.input, false)...)
	asked := len(items)
	from := itemHash{}
	if asked == 0 && r.last != nil { // nothing is recorded but that it was asked
		from = r.last.tip
	}
	if s.output.isEmpty() && s.failed {
		t, _ := r.said.add(from, items, asked, false, response{})
		r.use(t, s)
		t.b.odd(CodeResponseFailed, 1)
		return
	}
	items = append(items, readMessages(odd, s.output, true)...)
	s.response.start, s.response.end = s.start, s.end
	t, _ := r.said.add(from, items, asked, true, s.response)
	part := r.use(t, s)
	part.told = false
	for _, it := range items[asked:] {
		part.told = part.told || it.kind == itemCall || it.kind == itemText && !it.value.isEmpty()
	}
}

// use makes a trajectory the current one.
func (r *agentRun) use(t *transcript, s *runSpan) *agentPart {
	r.last = t
	part := r.more[t]
	if part == nil {
		part = &agentPart{first: s, matched: map[int]bool{}}
		r.more[t] = part
	}
	if len(s.tools) > 0 && len(t.b.t.Tools) == 0 {
		t.b.t.Tools = s.tools
	}
	return part
}

// tool adds what a span tells about a call; nested says that another tool made it.
// A call that the model did not ask for was made by the program around it.
func (r *agentRun) tool(s *runSpan, nested bool) {
	if r.last == nil {
		r.last = r.said.begin(itemHash{})
	}
	t := r.last
	part := r.use(t, s)
	i := -1
	if !nested {
		i = part.find(t.b.t.Calls, s)
	}
	if i < 0 {
		origin := OriginModel
		if nested || part.told {
			origin = OriginCode
		}
		i = len(t.b.t.Calls)
		t.b.call(string(s.callID), Intern(s.name), s.input, origin)
	}
	part.matched[i] = true
	call := &t.b.t.Calls[i]
	if call.Args.IsZero() {
		call.Args = s.input
	}
	call.Start, call.End = s.start, s.end
	if len(s.callID) == 0 {
		s.callID = []byte(call.ID) // sub-agents refer to it
	}
	if !call.HasResult && !s.output.IsZero() {
		t.b.answer(i, s.output)
		t.spans[call.ID]++
	}
	call.Status, call.Error = s.status, s.err
}

// find returns the index of the call that a span is about, -1 if it is about
// none: the oldest with its id, else with its name and arguments.
func (p *agentPart) find(calls []Call, s *runSpan) int {
	for p.matched[p.from] {
		p.from++
	}
	name := Intern(s.name)
	span := &Call{Args: s.input}
	_, readable := span.ArgsValue() // some keep what Python prints
	args := span.AppendCanonicalArgs(nil)
	best, grade := -1, 0
	for i := p.from; i < len(calls) && grade < 3; i++ {
		call := &calls[i]
		fit := 0
		switch {
		case p.matched[i]:
		case len(s.callID) > 0 && call.ID != "":
			if call.ID == string(s.callID) {
				fit = 3
			}
		case call.Tool != name:
		case bytes.Equal(call.AppendCanonicalArgs(nil), args):
			fit = 2
		case !readable || call.Args.IsZero():
			fit = 1
		}
		if fit > grade {
			best, grade = i, fit
		}
	}
	return best
}

// finish returns the trajectories of an agent.
func (r *agentRun) finish(trace string, tree *runTree) []*Trajectory {
	out := r.said.finish()
	for i, tr := range out {
		for i := range tr.Calls {
			// What a tool raised is its answer, if the model was told no other.
			if call := &tr.Calls[i]; call.Status == StatusFailed && !call.Error.IsZero() {
				call.HasResult = true
			}
		}
		first := r.more[r.said.all[i]].first
		tr.ID = trace
		if r.owner != nil {
			tr.ID += "/" + r.owner.id
		}
		if i > 0 {
			tr.ID += "/" + first.id
		}
		for up := range tree.above(first) {
			if up.kind == runAgent {
				tr.Agent = up.name
				break
			}
			if up == r.owner {
				break
			}
		}
		if r.owner == nil {
			continue
		}
		tr.Agent = cmp.Or(tr.Agent, r.owner.name)
		tr.Parent = Parent{Trajectory: trace, Call: string(r.owner.callID)}
		if outer := tree.owner[r.owner]; outer != nil {
			tr.Parent.Trajectory += "/" + outer.id
		}
	}
	return out
}

// instructionsOf returns the system prompt that an answer of the Responses
// interface repeats.
func instructionsOf(output Raw) (text Raw) {
	c := jsonscan.New(innerJSON(output))
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) == "instructions" {
			text = rawContent(&c)
		}
	}
	return text
}
