package spantree

import (
	"cmp"
	"iter"
	"slices"

	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// agentRun is the spans right below an agent, or below a call in which a model is
// used without an agent.
type agentRun struct {
	top    *Span     // the agent, or the call; nil for what is below neither
	outer  *agentRun // the run that top is part of
	speaks bool      // it has responses of its own, or messages of the agent itself
	calls  bool      // it has calls of its own
	inTool bool      // a call is between this run and the outer one
	place  *agentRun // see scope; nil if that was not asked for
	circle bool      // its outer run is being looked for
	d      *dialogue
}

// dialogue is a trajectory while it is put together.
type dialogue struct {
	joiner *joiner
	runs   []*agentRun
	name   string // of its agent
	parent *dialogue
	first  *Span // of its responses and calls
	r      reader
	t      *trace.Trajectory
}

// id returns what tells the trajectory of an agent apart from others.
func (d *dialogue) id() string {
	for _, run := range d.runs {
		if run.top != nil {
			return run.top.ID
		}
	}
	if d.name == "" && d.first != nil {
		return d.first.ID
	}
	return d.name
}

// callAbove returns the id of the call that the agent was started by.
func (d *dialogue) callAbove() string {
	for _, run := range d.runs {
		if run.top == nil {
			continue
		}
		if run.top.Kind == SpanTool || run.top.Kind == SpanMCP {
			return run.top.callID()
		}
		for up := range d.joiner.up(run.top) {
			if up.Kind == SpanTool || up.Kind == SpanMCP {
				return up.callID()
			}
		}
	}
	return ""
}

// divide gives every response and call to a trajectory.
func (j *joiner) divide() {
	j.root = &agentRun{}
	users := map[*Span]bool{} // calls in which a model is used
	for _, s := range j.spans {
		if s.Kind != SpanModel {
			continue
		}
		for up := s.above; up != nil && !up.passed; up = up.above {
			up.passed = true // what is above it is seen to as well
			if up.Kind == SpanTool || up.Kind == SpanMCP {
				users[up] = true
			}
		}
	}
	runOf := map[*Span]*agentRun{}
	for _, s := range j.spans {
		if s.Kind != SpanModel && s.Kind != SpanTool && s.Kind != SpanMCP {
			continue
		}
		run := j.run(s, users)
		runOf[s] = run
		if s.Kind == SpanModel {
			run.speaks = true
		} else {
			run.calls = true
		}
	}
	j.selfTold(users)
	for _, s := range j.spans {
		switch s.Kind {
		case SpanModel:
			run := runOf[s]
			d := j.dialogueOf(run, s)
			d.add(run, s)
			d.r.response(s)
		case SpanTool, SpanMCP:
			run := runOf[s]
			d := j.dialogueOf(run, s)
			d.add(run, s)
			d.r.tool(s)
		case SpanLink:
			if s.ran != nil {
				s.above = j.find(s)
				if d := j.dialogueFor(j.run(s, users)); d != nil {
					d.r.results(s.ran)
				}
			}
		case SpanAgent:
			if run := j.runs[s]; run != nil && run.speaks && s.said != nil {
				d := j.dialogueOf(run, s)
				d.add(run, s)
				d.r.responses(s)
			}
		}
	}
	j.order()
}

// run returns the run that a span is part of.
func (j *joiner) run(s *Span, users map[*Span]bool) *agentRun {
	if s.within == nil {
		found := j.findRun(s, users)
		if found == nil { // for now: an agent is below itself
			return j.root
		}
		s.within = found
	}
	return s.within
}

// findRun returns the run that a span is part of, nil if the span above it that begins
// the run is being looked at. Of the spans on the way it notes the same.
func (j *joiner) findRun(s *Span, users map[*Span]bool) *agentRun {
	var way []*Span
	found := j.root
	for up := range j.up(s) {
		if up.Kind != SpanAgent && !users[up] {
			if up.within != nil {
				found = up.within
				break
			}
			way = append(way, up)
			continue
		}
		run := j.runs[up]
		if run == nil {
			run = &agentRun{top: up, circle: true}
			j.runs[up] = run
			run.outer = j.run(up, users)
			run.circle = false
			run.inTool = up.Kind != SpanAgent
			for between := range j.up(up) {
				if run.inTool || between == run.outer.top && between.Kind == SpanAgent {
					break
				}
				run.inTool = between.Kind == SpanTool || between.Kind == SpanMCP
			}
		}
		if run.circle {
			return nil
		}
		found = run
		break
	}
	for _, up := range way {
		up.within = found
	}
	return found
}

// selfTold finds agents that use no model that is recorded, and have said
// themselves what was answered: in messages of a response, or, where nothing is recorded
// but the outermost agent, as what it gave back.
func (j *joiner) selfTold(users map[*Span]bool) {
	uses := map[*Span]bool{} // agents that a model is recorded below of
	alone := true
	for _, s := range j.spans {
		alone = alone && (s.Kind == SpanLink || s.Kind == SpanAgent)
		if s.Kind != SpanModel {
			continue
		}
		for up := range j.up(s) {
			if up.Kind != SpanAgent || uses[up] {
				break
			}
			uses[up] = true
		}
	}
	for _, s := range j.spans {
		if s.Kind != SpanAgent || uses[s] {
			continue
		}
		if _, ok := s.Attribute("llm.output_messages"); !ok && s.list("llm.output_messages") == nil && (!alone || s.above != nil) {
			continue
		}
		if said := s.read(j.messages); len(said.output) == 0 {
			s.said = nil
			continue
		}
		run := j.runs[s]
		if run == nil {
			run = &agentRun{top: s, outer: j.run(s, users)}
			j.runs[s] = run
		}
		run.speaks = true
	}
}

// scope returns the innermost run around a run that a call began, or the outermost:
// agents in it may be one.
func (r *agentRun) scope() *agentRun {
	var way []*agentRun
	for r.place == nil && r.outer != nil && !r.inTool {
		way = append(way, r)
		r = r.outer
	}
	if r.place == nil {
		r.place = r
	}
	for _, inner := range way {
		inner.place = r.place
	}
	return r.place
}

// outward yields the runs around a run, from the inside out.
func (r *agentRun) outward() iter.Seq[*agentRun] {
	return func(yield func(*agentRun) bool) {
		for n := 0; r.outer != nil && n < bounds.Levels; n++ {
			if r = r.outer; !yield(r) {
				return
			}
		}
	}
}

// around returns the trajectory that a run is inside of, nil if that has none yet.
func (r *agentRun) around() *dialogue {
	for up := range r.outward() {
		if up.d != nil {
			return up.d
		}
	}
	return nil
}

// dialogueOf returns the trajectory that a run is part of, which its first span
// decides.
func (j *joiner) dialogueOf(run *agentRun, first *Span) *dialogue {
	if run.d != nil {
		return run.d
	}
	if run.d = j.joined(run, first); run.d != nil {
		run.d.runs = append(run.d.runs, run)
		return run.d
	}
	d := &dialogue{joiner: j, first: first, runs: []*agentRun{run}}
	d.r = newReader(j)
	run.d = d
	for up, n := run, 0; up != nil && d.parent == nil && n < bounds.Levels; up, n = up.outer, n+1 {
		if up.inTool || up != run && up.speaks && up.top != nil {
			outer := up
			if up.inTool {
				outer = up.outer
			}
			d.parent = j.dialogueFor(outer)
		}
	}
	if d.parent == d {
		d.parent = nil
	}
	j.dialogues = append(j.dialogues, d)
	j.placed[run.scope()] = append(j.placed[run.scope()], d)
	return d
}

// dialogueFor returns the trajectory of a run that another is inside of, or of the
// next one around it that has one.
func (j *joiner) dialogueFor(run *agentRun) *dialogue {
	for up, n := run, 0; up != nil && n < bounds.Levels; up, n = up.outer, n+1 {
		if up.d != nil {
			return up.d
		}
		if up.speaks || up.calls {
			return j.dialogueOf(up, up.firstSpan(j))
		}
		if same := j.placed[up.scope()]; len(same) > 0 {
			return same[0]
		}
	}
	return nil
}

// firstSpan returns what stands for a run before any of its spans is read.
func (r *agentRun) firstSpan(j *joiner) *Span {
	if r.top != nil {
		return r.top
	}
	return j.spans[0]
}

// joined returns the trajectory that a run goes on with, nil if it has one of its
// own.
func (j *joiner) joined(run *agentRun, first *Span) *dialogue {
	same := j.placed[run.scope()] // in the same place, the latest last
	if len(same) == 0 {
		return nil
	}
	if first.Kind != SpanModel && first.said == nil { // a call says nothing of a history
		if run.outer != nil && !run.inTool && run.outer.d != nil {
			return run.outer.d
		}
		return same[len(same)-1]
	}
	said := first.read(j.messages)
	latest := same[max(0, len(same)-bounds.Siblings):]
	j.crowded += len(same) - len(latest)
	for _, d := range slices.Backward(latest) {
		if d.r.goesOn(said) {
			return d
		}
	}
	nested := false
	for up := range run.outward() {
		if run.inTool || nested {
			break
		}
		nested = up.speaks && up.top != nil
		if up.inTool {
			break
		}
	}
	name := run.name(first)
	own := "" // the system prompt of an agent without a name
	if name == "" && run.top != nil && run.top.Kind == SpanAgent && run.outer != nil && run.outer.top != nil {
		own = systemOf(said.input)
	}
	if !nested {
		for _, d := range same[:min(len(same), bounds.Siblings)] {
			if own != "" && len(d.r.system) > 0 && !d.r.system[own] {
				continue
			}
			if name == "" || d.name == "" || d.name == name {
				return d
			}
		}
	}
	if hasHistory(said.input) {
		if !nested && systemOf(said.input) == "" {
			return same[0]
		}
		if nested && systemOf(said.input) == "" && name == "" {
			return run.around()
		}
		return nil
	}
	if nested {
		return nil
	}
	return same[0]
}

// hasHistory reports whether a request says what was said before.
func hasHistory(items []build.Item) bool {
	for i := range items {
		if items[i].Kind != build.ItemSystem {
			return true
		}
	}
	return false
}

// systemOf returns the first system prompt of a request.
func systemOf(items []build.Item) string {
	for i := range items {
		if items[i].Kind == build.ItemSystem {
			return items[i].Value.Text()
		}
	}
	return ""
}

// name returns the name of the agent of a run.
func (r *agentRun) name(first *Span) string {
	if r.top != nil && r.top.holds && r.outer != nil && r.outer.top != nil && !r.inTool {
		return cmp.Or(r.outer.top.agentName(), first.agentName())
	}
	if r.top != nil && r.top.Kind == SpanAgent {
		return cmp.Or(r.top.agentName(), first.agentName())
	}
	return first.agentName()
}

// add notes that a span is part of the trajectory.
func (d *dialogue) add(run *agentRun, s *Span) {
	d.r.spans = append(d.r.spans, s)
	if d.name == "" {
		if d.name = run.name(s); d.name == "" && run.top != nil && run.top.Kind != SpanAgent {
			d.name = run.top.toolName() // a model that is used below a call
		}
	}
}

// order brings trajectories into the order of their first spans, each behind the
// one that it is a part of.
func (j *joiner) order() {
	var out []*dialogue
	done := map[*dialogue]bool{}
	var add func(d *dialogue, depth int)
	add = func(d *dialogue, depth int) {
		if d == nil || done[d] || depth > deepest {
			return
		}
		done[d] = true
		add(d.parent, depth+1)
		out = append(out, d)
	}
	for _, d := range j.dialogues {
		add(d, 0)
	}
	j.dialogues = out
}
