package trace

import (
	"cmp"
	"slices"
	"strconv"
)

// joinSpans makes the trajectories of the spans of one conversation, or of one
// trace. Each agent has one: an agent below another, with responses or calls of
// its own, is a sub-agent; those side by side that have the same name are one.
func joinSpans(spans []*span, session, fallback string) []*Trajectory {
	repeated := 0
	byID := map[[2]string]*span{}
	kept := spans[:0:0]
	for _, s := range spans {
		key := [2]string{s.trace, s.id}
		if _, ok := byID[key]; ok && s.id != "" {
			repeated++
			continue
		}
		byID[key] = s
		kept = append(kept, s)
	}
	slices.SortStableFunc(kept, func(a, b *span) int { return a.start.Compare(b.start) })
	j := spanJoiner{byID: byID, above: map[*span]*span{}, owners: map[*span]*spanOwner{}, named: map[string]*spanOwner{}}
	for _, s := range kept {
		if s.kind != spanLink {
			j.above[s] = j.find(s)
		}
	}
	doubled := j.dropDoubled(kept)
	for _, s := range kept {
		switch s.kind {
		case spanChat, spanTool, spanMCP:
			o := j.owner(s)
			o.spans = append(o.spans, s)
		}
	}
	var out []*Trajectory
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
			o.t.Parent = Parent{Trajectory: o.parent.t.ID, Call: o.call}
		}
	}
	if len(out) > 0 {
		out[0].Oddities.AddN(CodeSpanRepeated, repeated)
		out[0].Oddities.AddN(CodeSpanDoubled, doubled)
	}
	return out
}

// spanJoiner divides spans among agents.
type spanJoiner struct {
	byID   map[[2]string]*span
	above  map[*span]*span // the next span upwards that means something
	owners map[*span]*spanOwner
	named  map[string]*spanOwner // agents that are below no other
	all    []*spanOwner
}

// spanOwner is an agent with its responses and calls by time.
type spanOwner struct {
	agents []*span // its runs; none if no span tells of it
	name   string
	spans  []*span
	parent *spanOwner
	call   string // the call of parent that started it
	above  map[*span]*span
	t      *Trajectory
}

func (o *spanOwner) id() string {
	if len(o.agents) > 0 {
		return o.agents[0].id
	}
	return o.name
}

// find returns the next span upwards that means something. What stands on a
// circle has none.
func (j *spanJoiner) find(s *span) *span {
	up := s
	for range deepest * 8 {
		next, ok := j.byID[[2]string{up.trace, up.parent}]
		if !ok || up.parent == "" || next == s {
			return nil
		}
		if up = next; up.kind != spanLink {
			return up
		}
	}
	return nil
}

// dropDoubled makes links of spans that tell again of a response or call that
// another tells of, and gives that one what it lacks.
func (j *spanJoiner) dropDoubled(spans []*span) (n int) {
	tools := map[string][]*span{} // by trace and name: those whose time may overlap
	for _, s := range spans {
		up := j.above[s]
		var same *span
		switch {
		case s.kind == spanChat && up != nil && up.kind == spanChat:
			same = up
		case s.kind == spanTool || s.kind == spanMCP:
			key := s.trace + " " + s.toolName()
			if up != nil && (up.kind == spanTool || up.kind == spanMCP) && sameCall(up, s) {
				same = up
			} else {
				list := tools[key]
				for len(list) > 0 && !list[0].end.After(s.start) && !list[0].start.Equal(s.start) {
					list = list[1:]
				}
				tools[key] = list
				for _, other := range list[:min(len(list), deepest)] {
					if (s.kind == spanMCP || other.kind == spanMCP) && sameCall(other, s) && j.above[other] != s {
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
		if same.kind == spanMCP && s.kind == spanTool {
			same.kind = spanTool
		}
		same.take(s)
		s.kind = spanLink
	}
	for _, s := range spans {
		up := j.above[s]
		for range deepest { // circles end here too
			if up == nil || up.kind != spanLink {
				break
			}
			up = j.above[up]
		}
		if up != nil && (up.kind == spanLink || up == s) {
			up = nil
		}
		j.above[s] = up
	}
	return n
}

// sameCall reports whether two spans can be of the same tool call.
func sameCall(a, b *span) bool {
	if x, y := a.callID(), b.callID(); x != "" && y != "" {
		return x == y
	}
	return a.toolName() == b.toolName()
}

// take gives a span the attributes of another that it lacks, and its failure.
func (s *span) take(other *span) {
	members := slices.Clone(s.attrs.Members)
	for _, m := range other.attrs.Members {
		if _, ok := s.attrs.Lookup(m.Name); !ok && m.Name != "gen_ai.operation.name" {
			members = append(members, m)
		}
	}
	s.attrs = Value{Kind: Object, Members: sortedMembers(members)}
	s.events = append(s.events[:len(s.events):len(s.events)], other.events...)
	if other.failed && !s.failed {
		s.failed, s.failure = true, other.failure
	}
}

// owner returns the agent that a span is of.
func (j *spanJoiner) owner(s *span) *spanOwner {
	up := j.above[s]
	for n := 0; up != nil && up.kind != spanAgent && n < deepest*8; n++ {
		up = j.above[up]
	}
	if up != nil && up.kind == spanAgent {
		return j.agent(up)
	}
	return j.root(s.agentName(), nil)
}

// root returns the agent of a name that is below no other. Without a name it is
// the first.
func (j *spanJoiner) root(name string, agent *span) *spanOwner {
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
func (j *spanJoiner) agent(s *span) *spanOwner {
	if o := j.owners[s]; o != nil {
		return o
	}
	j.owners[s] = &spanOwner{above: j.above} // ends circles
	up, call := j.above[s], ""
	for n := 0; up != nil && n < deepest*8; n++ {
		if (up.kind == spanTool || up.kind == spanMCP) && call == "" {
			call = up.callID()
		}
		if up.kind == spanAgent && up != s {
			if parent := j.owners[up]; parent != nil && len(parent.spans) > 0 {
				o := &spanOwner{name: s.agentName(), agents: []*span{s}, parent: parent, call: call, above: j.above}
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
func (o *spanOwner) trajectory() *Trajectory {
	b := newBuilder(len(o.spans) * 500)
	t := b.t
	t.Offset = -1
	r := spanReader{b: b, byID: map[string][]*spanCall{}, waits: map[string][]*spanCall{}, byTool: map[string][]*spanCall{}, above: o.above, turnOf: map[*span]int{}}
	for _, s := range o.spans {
		if s.kind == spanChat {
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
		if len(t.Tools) == 0 || s.kind == spanChat {
			addTools(b, s)
		}
	}
	if t.Agent == "" && len(o.spans) > 0 {
		t.Agent = o.spans[0].service
	}
	for i := range t.Turns {
		if t.Model == "" {
			t.Model = t.Turns[i].Model
		}
		if t.Turns[i].Model == t.Model {
			t.Turns[i].Model = ""
		}
	}
	return b.finish()
}

// describe adds what the span of an agent says about its run. Task, trial and
// outcome are awo's own attributes.
func (o *spanOwner) describe(t *Trajectory, b *builder, a *span) {
	t.Model = cmp.Or(t.Model, a.model())
	t.Task = cmp.Or(t.Task, a.text("awo.task"))
	t.Trial = cmp.Or(t.Trial, a.text("awo.trial"))
	switch a.text("awo.outcome") {
	case "success":
		t.Outcome = OutcomeSuccess
	case "failure":
		t.Outcome = OutcomeFailure
	}
	if t.Start.IsZero() || !a.start.IsZero() && a.start.Before(t.Start) {
		t.Start = a.start
	}
	if a.end.After(t.End) {
		t.End = a.end
	}
	addTools(b, a)
}

// addTools adds the definitions that a span lists and that are new.
func addTools(b *builder, s *span) {
	var definitions []Value
	if v, ok := s.attr("gen_ai.tool.definitions"); ok {
		v, _ = jsonIn(v)
		definitions = append(definitions, v.Elems...)
	}
	for _, v := range s.list("llm.tools") {
		schema := v.member("tool")
		if inner := schema.member("json_schema"); inner.Kind != Null {
			schema = inner
		}
		schema, _ = jsonIn(schema)
		definitions = append(definitions, schema)
	}
	for _, v := range s.list("llm.request.functions") {
		if parameters := v.member("parameters"); parameters.Kind == String {
			if inner, ok := jsonIn(parameters); ok {
				v = Value{Kind: Object, Members: slices.Clone(v.Members)}
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
	known := map[Name]bool{}
	for _, tool := range b.t.Tools {
		known[tool.Name] = true
	}
	for _, tool := range b.toolsOf(Value{Kind: Array, Elems: definitions}) {
		if !known[tool.Name] {
			known[tool.Name] = true
			b.t.Tools = append(b.t.Tools, tool)
		}
	}
}
