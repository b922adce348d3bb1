package spantree

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// runKind says what a runSpan stands for.
type runKind uint8

const (
	runOther runKind = iota
	RunAgent
	RunModel
	RunTool
)

// RunSpan is what platforms record of one step of a run: a response of a model
// with all that it was told, a call of a tool, or what holds others together.
type RunSpan struct {
	ID, Parent string
	Kind       runKind
	Name       string
	Order      string // sorts before the times, where a platform has its own order
	Start, End time.Time

	Input, Output trace.Raw
	CallID        []byte
	Tools         []trace.ToolDef
	Failed        bool
	Status        trace.Status
	Err           trace.Raw
	Response      build.Response
}

// runTree is the spans of one trace, in order.
type runTree struct {
	byID  map[string]*RunSpan
	owner map[*RunSpan]*RunSpan // the sub-agent that a span is part of
}

// runDepth is how many spans above another are looked at.
const runDepth = 1000

// newRunTree sorts spans and finds out which belong to sub-agents: what has a
// model and is inside of a tool, or an agent inside of another that uses a model
// of its own.
func newRunTree(spans []*RunSpan) *runTree {
	tree := &runTree{byID: map[string]*RunSpan{}, owner: map[*RunSpan]*RunSpan{}}
	slices.SortStableFunc(spans, func(a, b *RunSpan) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), a.Start.Compare(b.Start))
	})
	for _, s := range spans {
		if s.ID != "" {
			tree.byID[s.ID] = s
		}
	}
	bounds, speaks := map[*RunSpan]bool{}, map[*RunSpan]bool{}
	for _, s := range spans {
		if s.Kind != RunModel {
			continue
		}
		near := true
		for up := range tree.above(s) {
			switch {
			case up.Kind == RunTool:
				bounds[up] = true
			case up.Kind == RunAgent && near:
				speaks[up], near = true, false
			}
		}
	}
	for _, s := range spans {
		if !speaks[s] {
			continue
		}
		for up := range tree.above(s) {
			if up.Kind == RunTool {
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
func (t *runTree) above(s *RunSpan) iter.Seq[*RunSpan] {
	return func(yield func(*RunSpan) bool) {
		for range runDepth {
			up, ok := t.byID[s.Parent]
			if !ok || up == s || !yield(up) {
				return
			}
			s = up
		}
	}
}

// inTool reports whether a span is in a tool span of its own agent.
func (t *runTree) inTool(s *RunSpan) bool {
	for up := range t.above(s) {
		if up == t.owner[s] {
			return false
		}
		if up.Kind == RunTool {
			return true
		}
	}
	return false
}

// agentRun is what one agent of a trace did.
type agentRun struct {
	owner *RunSpan // nil for the main agent
	said  build.Transcripts
	last  *build.Transcript
	more  map[*build.Transcript]*agentPart
}

// agentPart is what is noted about one trajectory of an agent.
type agentPart struct {
	first   *RunSpan
	matched map[int]bool // calls that a span was found for
	from    int          // all calls before it are matched
	told    bool         // the last response says what it called
}

// JoinRuns makes trajectories of the spans of a trace: one for each agent, and
// more where the responses of its models do not go on from each other. The first
// has the id of the trace, those of sub-agents have their span behind it.
func JoinRuns(id string, spans []*RunSpan, odd *build.Builder) []*trace.Trajectory {
	tree := newRunTree(spans)
	var runs []*agentRun
	byOwner := map[*RunSpan]*agentRun{}
	for _, s := range spans {
		if s.Kind != RunModel && s.Kind != RunTool {
			continue
		}
		owner := tree.owner[s]
		run, ok := byOwner[owner]
		if !ok {
			run = &agentRun{owner: owner, more: map[*build.Transcript]*agentPart{}}
			byOwner[owner] = run
			runs = append(runs, run)
		}
		if s.Kind == RunModel {
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
	var out []*trace.Trajectory
	for _, run := range runs {
		out = append(out, run.finish(id, tree)...)
	}
	if len(out) == 0 { // nothing but what holds others together
		tr := build.New(0).Finish()
		tr.ID, tr.Offset = id, -1
		out = append(out, tr)
	}
	for code, n := range odd.Trajectory.Anomalies.ByCode {
		out[0].Anomalies.AddN(code, n)
	}
	return out
}

// model adds a response of a model.
func (r *agentRun) model(s *RunSpan, odd *build.Builder) {
	var items []build.Item
	if text := instructionsOf(s.Output); !text.IsEmpty() {
		items = append(items, build.Item{Kind: build.ItemSystem, Value: text})
	}
	items = append(items, ReadMessages(odd, s.Input, false)...)
	asked := len(items)
	from := build.ItemHash{}
	if asked == 0 && r.last != nil { // nothing is recorded but that it was asked
		from = r.last.Tip
	}
	if s.Output.IsEmpty() && s.Failed {
		t, _ := r.said.Add(from, items, asked, false, build.Response{})
		r.use(t, s)
		t.Builder.Anomaly(build.CodeResponseFailed, 1)
		return
	}
	items = append(items, ReadMessages(odd, s.Output, true)...)
	s.Response.Start, s.Response.End = s.Start, s.End
	t, _ := r.said.Add(from, items, asked, true, s.Response)
	part := r.use(t, s)
	part.told = false
	for _, it := range items[asked:] {
		part.told = part.told || it.Kind == build.ItemCall || it.Kind == build.ItemText && !it.Value.IsEmpty()
	}
}

// use makes a trajectory the current one.
func (r *agentRun) use(t *build.Transcript, s *RunSpan) *agentPart {
	r.last = t
	part := r.more[t]
	if part == nil {
		part = &agentPart{first: s, matched: map[int]bool{}}
		r.more[t] = part
	}
	if len(s.Tools) > 0 && len(t.Builder.Trajectory.Tools) == 0 {
		t.Builder.Trajectory.Tools = s.Tools
	}
	return part
}

// tool adds what a span tells about a call; nested says that another tool made it.
// A call that the model did not ask for was made by the program around it.
func (r *agentRun) tool(s *RunSpan, nested bool) {
	if r.last == nil {
		r.last = r.said.Begin(build.ItemHash{})
	}
	t := r.last
	part := r.use(t, s)
	i := -1
	if !nested {
		i = part.find(t.Builder.Trajectory.Calls, s)
	}
	if i < 0 {
		origin := trace.OriginModel
		if nested || part.told {
			origin = trace.OriginCode
		}
		i = len(t.Builder.Trajectory.Calls)
		t.Builder.Call(string(s.CallID), trace.Intern(s.Name), s.Input, origin)
	}
	part.matched[i] = true
	call := &t.Builder.Trajectory.Calls[i]
	if call.Args.IsZero() {
		call.Args = s.Input
	}
	call.Start, call.End = s.Start, s.End
	if len(s.CallID) == 0 {
		s.CallID = []byte(call.ID) // sub-agents refer to it
	}
	if !call.HasResult && !s.Output.IsZero() {
		t.Builder.Answer(i, s.Output)
		t.Spans[call.ID]++
	}
	call.Status, call.Error = s.Status, s.Err
}

// find returns the index of the call that a span is about, -1 if it is about
// none: the oldest with its id, else with its name and arguments.
func (p *agentPart) find(calls []trace.Call, s *RunSpan) int {
	for p.matched[p.from] {
		p.from++
	}
	name := trace.Intern(s.Name)
	span := &trace.Call{Args: s.Input}
	_, readable := span.ArgsValue() // some keep what Python prints
	args := span.AppendCanonicalArgs(nil)
	best, grade := -1, 0
	for i := p.from; i < len(calls) && grade < 3; i++ {
		call := &calls[i]
		fit := 0
		switch {
		case p.matched[i]:
		case len(s.CallID) > 0 && call.ID != "":
			if call.ID == string(s.CallID) {
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
func (r *agentRun) finish(id string, tree *runTree) []*trace.Trajectory {
	out := r.said.Finish()
	for i, tr := range out {
		for i := range tr.Calls {
			// What a tool raised is its answer, if the model was told no other.
			if call := &tr.Calls[i]; call.Status == trace.StatusFailed && !call.Error.IsZero() {
				call.HasResult = true
			}
		}
		first := r.more[r.said.All[i]].first
		tr.ID = id
		if r.owner != nil {
			tr.ID += "/" + r.owner.ID
		}
		if i > 0 {
			tr.ID += "/" + first.ID
		}
		for up := range tree.above(first) {
			if up.Kind == RunAgent {
				tr.Agent = up.Name
				break
			}
			if up == r.owner {
				break
			}
		}
		if r.owner == nil {
			continue
		}
		tr.Agent = cmp.Or(tr.Agent, r.owner.Name)
		tr.Parent = trace.Parent{Trajectory: id, Call: string(r.owner.CallID)}
		if outer := tree.owner[r.owner]; outer != nil {
			tr.Parent.Trajectory += "/" + outer.ID
		}
	}
	return out
}

// instructionsOf returns the system prompt that an answer of the Responses
// interface repeats.
func instructionsOf(output trace.Raw) (text trace.Raw) {
	c := jsonscan.New(InnerJSON(output))
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) == "instructions" {
			text = build.ReadContent(&c)
		}
	}
	return text
}
