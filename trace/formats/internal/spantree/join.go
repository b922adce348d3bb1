package spantree

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Join makes the trajectories of the spans of one conversation, or of one
// trace. Each agent has one: an agent below another, with responses or calls of
// its own, is a sub-agent; those side by side that have the same name are one.
func Join(spans []*Span, session, fallback string) []*trace.Trajectory {
	repeated := 0
	byID := map[[2]string]*Span{}
	kept := spans[:0:0]
	for _, s := range spans {
		key := [2]string{s.Trace, s.ID}
		if _, ok := byID[key]; ok && s.ID != "" {
			repeated++
			continue
		}
		byID[key] = s
		kept = append(kept, s)
	}
	slices.SortStableFunc(kept, func(a, b *Span) int { return a.Start.Compare(b.Start) })
	j := spanJoiner{byID: byID, above: map[*Span]*Span{}, owners: map[*Span]*spanOwner{}, named: map[string]*spanOwner{}}
	for _, s := range kept {
		if s.Kind != SpanLink {
			j.above[s] = j.find(s)
		}
	}
	doubled := j.dropDoubled(kept)
	for _, s := range kept {
		switch s.Kind {
		case SpanChat, SpanTool, SpanMCP:
			o := j.owner(s)
			o.spans = append(o.spans, s)
		}
	}
	var out []*trace.Trajectory
	for i, o := range j.all {
		t := o.trajectory()
		if t.Session = session; len(o.spans) > 0 && o.spans[0].conversation != "" {
			t.Session = o.spans[0].conversation
		}
		if t.ID = fallback; i > 0 {
			t.ID = fallback + "/" + cmp.Or(o.id(), strconv.Itoa(i))
		}
		o.t = t
		out = append(out, t)
	}
	for _, o := range j.all {
		if o.parent != nil {
			o.t.Parent = trace.Parent{Trajectory: o.parent.t.ID, Call: o.call}
		}
	}
	if len(out) > 0 {
		out[0].Anomalies.AddN(build.CodeSpanRepeated, repeated)
		out[0].Anomalies.AddN(build.CodeSpanDoubled, doubled)
	}
	return out
}

// spanJoiner divides spans among agents.
type spanJoiner struct {
	byID   map[[2]string]*Span
	above  map[*Span]*Span // the next span upwards that means something
	owners map[*Span]*spanOwner
	named  map[string]*spanOwner // agents that are below no other
	all    []*spanOwner
}

// spanOwner is an agent with its responses and calls by time.
type spanOwner struct {
	agents []*Span // its runs; none if no span tells of it
	name   string
	spans  []*Span
	parent *spanOwner
	call   string // the call of parent that started it
	above  map[*Span]*Span
	t      *trace.Trajectory
}

func (o *spanOwner) id() string {
	if len(o.agents) > 0 {
		return o.agents[0].ID
	}
	return o.name
}

// find returns the next span upwards that means something. What stands on a
// circle has none.
func (j *spanJoiner) find(s *Span) *Span {
	up := s
	for range deepest * 8 {
		next, ok := j.byID[[2]string{up.Trace, up.Parent}]
		if !ok || up.Parent == "" || next == s {
			return nil
		}
		if up = next; up.Kind != SpanLink {
			return up
		}
	}
	return nil
}

// dropDoubled makes links of spans that tell again of a response or call that
// another tells of, and gives that one what it lacks.
func (j *spanJoiner) dropDoubled(spans []*Span) (n int) {
	tools := map[string][]*Span{} // by trace and name: those whose time may overlap
	for _, s := range spans {
		up := j.above[s]
		var same *Span
		switch {
		case s.Kind == SpanChat && up != nil && up.Kind == SpanChat:
			same = up
		case s.Kind == SpanTool || s.Kind == SpanMCP:
			key := s.Trace + " " + s.toolName()
			if up != nil && (up.Kind == SpanTool || up.Kind == SpanMCP) && sameCall(up, s) {
				same = up
			} else {
				list := tools[key]
				for len(list) > 0 && !list[0].End.After(s.Start) && !list[0].Start.Equal(s.Start) {
					list = list[1:]
				}
				tools[key] = list
				for _, other := range list[:min(len(list), deepest)] {
					if (s.Kind == SpanMCP || other.Kind == SpanMCP) && sameCall(other, s) && j.above[other] != s {
						same = other
						break
					}
				}
			}
			if same == nil {
				tools[key] = append(tools[key], s)
			}
		}
		if same == nil {
			continue
		}
		n++
		// A call's own span is better than that of the protocol below or above it.
		if same.Kind == SpanMCP && s.Kind == SpanTool {
			same.Kind = SpanTool
		}
		same.Take(s)
		s.Kind = SpanLink
	}
	for _, s := range spans {
		up := j.above[s]
		for range deepest { // circles end here too
			if up == nil || up.Kind != SpanLink {
				break
			}
			up = j.above[up]
		}
		if up != nil && (up.Kind == SpanLink || up == s) {
			up = nil
		}
		j.above[s] = up
	}
	return n
}

// sameCall reports whether two spans can be of the same tool call.
func sameCall(a, b *Span) bool {
	if x, y := a.callID(), b.callID(); x != "" && y != "" {
		return x == y
	}
	return a.toolName() == b.toolName()
}

// Take gives a span the attributes of another that it lacks, and its failure.
func (s *Span) Take(other *Span) {
	members := slices.Clone(s.Attrs.Members)
	for _, m := range other.Attrs.Members {
		if _, ok := s.Attrs.Lookup(m.Name); !ok && m.Name != "gen_ai.operation.name" {
			members = append(members, m)
		}
	}
	s.Attrs = trace.Value{Kind: trace.Object, Members: trace.SortedMembers(members)}
	s.Events = append(s.Events[:len(s.Events):len(s.Events)], other.Events...)
	if other.Failed && !s.Failed {
		s.Failed, s.Failure = true, other.Failure
	}
}

// owner returns the agent that a span is of.
func (j *spanJoiner) owner(s *Span) *spanOwner {
	up := j.above[s]
	for n := 0; up != nil && up.Kind != SpanAgent && n < deepest*8; n++ {
		up = j.above[up]
	}
	if up != nil && up.Kind == SpanAgent {
		return j.agent(up)
	}
	return j.root(s.agentName(), nil)
}

// root returns the agent of a name that is below no other. Without a name it is
// the first.
func (j *spanJoiner) root(name string, agent *Span) *spanOwner {
	o := j.named[name]
	if o == nil && (name == "" || j.named[""] != nil && len(j.named) == 1) {
		for _, first := range j.all {
			if first.parent == nil {
				o = first
				break
			}
		}
	}
	if o == nil {
		o = &spanOwner{name: name, above: j.above}
		j.all = append(j.all, o)
	}
	if o.name == "" {
		o.name = name
	}
	j.named[name] = o
	if agent != nil {
		o.agents = append(o.agents, agent)
	}
	return o
}

// agent returns the agent of a span. One inside another that has said and called
// nothing of its own so far, as a wrapper, is on the level of that.
func (j *spanJoiner) agent(s *Span) *spanOwner {
	if o := j.owners[s]; o != nil {
		return o
	}
	j.owners[s] = &spanOwner{above: j.above} // ends circles
	up, call := j.above[s], ""
	for n := 0; up != nil && n < deepest*8; n++ {
		if (up.Kind == SpanTool || up.Kind == SpanMCP) && call == "" {
			call = up.callID()
		}
		if up.Kind == SpanAgent && up != s {
			if parent := j.owners[up]; parent != nil && len(parent.spans) > 0 {
				o := &spanOwner{name: s.agentName(), agents: []*Span{s}, parent: parent, call: call, above: j.above}
				j.all = append(j.all, o)
				j.owners[s] = o
				return o
			}
		}
		up = j.above[up]
	}
	o := j.root(s.agentName(), s)
	j.owners[s] = o
	return o
}

// trajectory puts the trajectory of an agent together.
func (o *spanOwner) trajectory() *trace.Trajectory {
	b := build.New(len(o.spans) * 500)
	t := b.Trajectory
	t.Offset = -1
	r := spanReader{b: b, byID: map[string][]*spanCall{}, waits: map[string][]*spanCall{}, byTool: map[string][]*spanCall{}, above: o.above, turnOf: map[*Span]int{}}
	for _, s := range o.spans {
		if s.Kind == SpanChat {
			r.chat(s)
		} else {
			r.tool(s)
		}
	}
	r.write()
	t.Agent = o.name
	for _, a := range o.agents {
		o.describe(t, b, a)
	}
	for _, s := range o.spans {
		if t.Agent == "" {
			t.Agent = s.agentName()
		}
		if len(t.Tools) == 0 || s.Kind == SpanChat {
			addTools(b, s)
		}
	}
	if t.Agent == "" && len(o.spans) > 0 {
		t.Agent = o.spans[0].Service
	}
	for i := range t.Turns {
		if t.Model == "" {
			t.Model = t.Turns[i].Model
		}
		if t.Turns[i].Model == t.Model {
			t.Turns[i].Model = ""
		}
	}
	return b.Finish()
}

// describe adds what the span of an agent says about its run. Task, trial and
// outcome are awo's own attributes.
func (o *spanOwner) describe(t *trace.Trajectory, b *build.Builder, a *Span) {
	t.Model = cmp.Or(t.Model, a.model())
	t.Task = cmp.Or(t.Task, a.text("awo.task"))
	t.Trial = cmp.Or(t.Trial, a.text("awo.trial"))
	switch a.text("awo.outcome") {
	case "success":
		t.Outcome = trace.OutcomeSuccess
	case "failure":
		t.Outcome = trace.OutcomeFailure
	}
	if t.Start.IsZero() || !a.Start.IsZero() && a.Start.Before(t.Start) {
		t.Start = a.Start
	}
	if a.End.After(t.End) {
		t.End = a.End
	}
	addTools(b, a)
}

// addTools adds the definitions that a span lists and that are new.
func addTools(b *build.Builder, s *Span) {
	var definitions []trace.Value
	if v, ok := s.Attr("gen_ai.tool.definitions"); ok {
		v, _ = build.JSONIn(v)
		definitions = append(definitions, v.Elems...)
	}
	for _, v := range s.list("llm.tools") {
		schema := v.Member("tool")
		if inner := schema.Member("json_schema"); inner.Kind != trace.Null {
			schema = inner
		}
		schema, _ = build.JSONIn(schema)
		definitions = append(definitions, schema)
	}
	for _, v := range s.list("llm.request.functions") {
		if parameters := v.Member("parameters"); parameters.Kind == trace.String {
			if inner, ok := build.JSONIn(parameters); ok {
				v = trace.Value{Kind: trace.Object, Members: slices.Clone(v.Members)}
				for i := range v.Members {
					if v.Members[i].Name == "parameters" {
						v.Members[i].Value = inner
					}
				}
			}
		}
		definitions = append(definitions, v)
	}
	if len(definitions) == 0 {
		return
	}
	known := map[trace.Name]bool{}
	for _, tool := range b.Trajectory.Tools {
		known[tool.Name] = true
	}
	for _, tool := range b.ToolsOf(trace.Value{Kind: trace.Array, Elems: definitions}) {
		if !known[tool.Name] {
			known[tool.Name] = true
			b.Trajectory.Tools = append(b.Trajectory.Tools, tool)
		}
	}
}
