package spantree

import (
	"bytes"
	"cmp"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// Join makes the trajectories of the spans of one trace, or of the traces of
// one conversation, whatever format they are from. The rules, in their order:
//
//  1. A span that stands twice counts once: the one that says more, such as its end. Spans are in the order of their format,
//     else of their times.
//  2. What a span is, its attributes say, and else its format (conventions.go). A
//     span without a type that has the name of a tool that a model called is a call.
//     Spans for the start and the end of a step are one.
//  3. A response inside of a response, with no call between, is the same one: its
//     messages are those that keep more apart, its tokens those of the response
//     itself, else of the inner span. With several inside it is what holds them
//     together. A call that the protocol of a tool server tells of again is one call.
//  4. One trace is one trajectory. A sub-agent is what uses a model below a call,
//     and an agent that uses a model with a history of its own: one that neither
//     goes on with what another has said, nor has that one's name.
//  5. Requests repeat what was said before, or hold only what is new; both go on with
//     the trajectory. Where a request rewrites the history the trajectory goes on
//     all the same, and only the end of the request is new.
//  6. The span of a call is that of the call with its id; else of one with its name
//     and arguments; else of one with its name. One that no response tells of belongs
//     to the last response before it. It is made by code only inside of another call.
//
// session is the conversation, and fallback the id of the first trajectory.
func Join(spans []*Span, session, fallback string) []*trace.Trajectory {
	j := newJoiner(spans)
	doubled := j.dropDoubled()
	j.divide()
	var out []*trace.Trajectory
	for i, d := range j.dialogues {
		t := d.trajectory()
		if t.Session = session; d.first != nil && d.first.conversation != "" {
			t.Session = d.first.conversation
		}
		if t.ID = fallback; i > 0 {
			t.ID = fallback + "/" + cmp.Or(d.id(), strconv.Itoa(i))
		}
		d.t = t
		out = append(out, t)
	}
	for _, d := range j.dialogues {
		if d.parent != nil {
			d.t.Parent = trace.Parent{Trajectory: d.parent.t.ID, Call: d.callAbove()}
		}
	}
	if len(out) > 0 {
		out[0].Anomalies.AddN(build.CodeSpanRepeated, j.repeated)
		out[0].Anomalies.AddN(build.CodeSpanDoubled, doubled)
		for code, n := range j.odd.Trajectory.Anomalies.ByCode {
			out[0].Anomalies.AddN(code, n)
		}
		out[0].LeaveOut(bounds.LevelsBound, j.deep)
		out[0].LeaveOut(bounds.SiblingsBound, j.crowded)
		out[0].LeaveOut(bounds.DoublesBound, j.told)
	}
	return out
}

// joiner makes trajectories of spans.
type joiner struct {
	odd      *build.Builder // anomalies of messages
	messages *message.Reader
	spans    []*Span // each once, in order
	repeated int
	byID     map[[2]string]*Span
	deep     int // spans that stand below more than bounds.Levels others
	told     int // spans that tell again of what bounds.Doubles others have told
	crowded  int // comparisons with older siblings that were left out

	runs      map[*Span]*agentRun
	root      *agentRun
	dialogues []*dialogue
	placed    map[*agentRun][]*dialogue // by scope, in their order
}

func newJoiner(spans []*Span) *joiner {
	j := &joiner{odd: build.New(0), byID: map[[2]string]*Span{}, runs: map[*Span]*agentRun{}, placed: map[*agentRun][]*dialogue{}}
	j.messages = message.NewReader(j.odd)
	for _, s := range spans {
		key := [2]string{s.Trace, s.ID}
		if known, ok := j.byID[key]; ok && s.ID != "" {
			j.repeated++
			if s.completes(known) {
				*known = *s
			}
			continue
		}
		j.byID[key] = s
		j.spans = append(j.spans, s)
	}
	slices.SortStableFunc(j.spans, func(a, b *Span) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), a.Start.Compare(b.Start))
	})
	j.findCalls()
	j.findRunners()
	j.joinSteps()
	for _, s := range j.spans {
		if s.Kind != SpanLink {
			s.above = j.find(s)
		}
	}
	return j
}

// completes reports whether a span says more than another with its id: some write a span
// when it starts and again when it ends.
func (s *Span) completes(known *Span) bool {
	if s.End.IsZero() != known.End.IsZero() {
		return known.End.IsZero()
	}
	return len(s.Attrs.Members) > len(known.Attrs.Members)
}

// findCalls makes calls of spans without a type that have the name of a tool that a
// model called.
func (j *joiner) findCalls() {
	unsure := false
	for _, s := range j.spans {
		unsure = unsure || s.Unsure && s.Kind == SpanLink
	}
	if !unsure {
		return
	}
	called := map[string]bool{}
	for _, s := range j.spans {
		if s.Kind != SpanModel {
			continue
		}
		for _, it := range s.read(j.messages).output {
			if it.Kind == build.ItemCall {
				called[string(it.Tool)] = true
			}
		}
		s.said = nil // of two spans of one response each is read again
	}
	for _, s := range j.spans {
		if s.Unsure && s.Kind == SpanLink && (called[s.toolName()] || namedTool(s.Name) != "") {
			s.Kind = SpanTool
		}
	}
}

// findRunners makes links of spans of tools that only run calls of the model: they were
// given the calls in messages and gave back several results, which it keeps.
func (j *joiner) findRunners() {
	for _, s := range j.spans {
		if s.Kind != SpanTool || s.Platform != SpanTool || s.callID() != "" || s.Text("gen_ai.tool.name", "tool.name") != "" ||
			!bytes.Contains(build.InnerJSON(s.Input), []byte(`"messages"`)) {
			continue
		}
		asked, _ := j.messages.Read(s.Input, false)
		if !slices.ContainsFunc(asked, func(it build.Item) bool { return it.Kind == build.ItemCall }) {
			continue
		}
		s.Kind = SpanLink
		given, _ := j.messages.Read(s.Output, false)
		for _, it := range given {
			if it.Kind == build.ItemResult && len(it.ID) > 0 {
				s.ran = append(s.ran, it)
			}
		}
	}
}

// joinSteps makes one span of those that stand for the events of a step. What they
// say is said by the first of them that is not an agent's.
func (j *joiner) joinSteps() {
	open := map[string]*Span{}
	for _, s := range j.spans {
		step, event := s.stepOf()
		if step == "" {
			continue
		}
		key := s.Trace + " " + step
		switch {
		case event == "start":
			open[key] = s
		case s.Kind == SpanModel || s.Kind == SpanTool:
			if first := open[key]; first != nil {
				first.Take(s)
				if !first.End.IsZero() && !s.End.IsZero() && s.Kind == SpanTool && event == "success" {
					first.Input, first.Output = orRaw(first.Input, s.Input), orRaw(first.Output, s.Output)
				}
				s.Kind, s.aboutItself = SpanLink, true
			}
		case s.Kind == SpanAgent:
			s.Kind, s.aboutItself = SpanLink, true
		}
	}
}

func orRaw(a, b trace.Raw) trace.Raw {
	if a.IsEmpty() {
		return b
	}
	return a
}

// up yields the spans above another that mean something, from the inside out.
// Circles end.
func (j *joiner) up(s *Span) iter.Seq[*Span] {
	return func(yield func(*Span) bool) {
		for range bounds.Levels {
			up := s.above
			if up == nil || up == s || !yield(up) {
				return
			}
			s = up
		}
		j.deep++
	}
}

// find returns the next span upwards that means something. What stands on a
// circle has none. Of links on the way it notes what is above them, so that each is
// passed once.
func (j *joiner) find(s *Span) *Span {
	var links []*Span
	var found *Span
	for up := s; up.Parent != ""; {
		next := j.byID[[2]string{up.Trace, up.Parent}]
		if next == nil {
			break
		}
		if next.Kind != SpanLink {
			found = next
			break
		}
		if next.sought { // or this is a circle of links
			found = next.past
			break
		}
		next.sought = true
		links, up = append(links, next), next
	}
	for _, link := range links {
		link.past = found
	}
	if found == s {
		return nil
	}
	return found
}

// toolAbove returns the attribute tool.name of the next span upwards that has one:
// the call of a tool may stand in a step that says which it is.
func (j *joiner) toolAbove(s *Span) string {
	if s.Text("tool.name", "gen_ai.tool.name") != "" || s.Tool != "" {
		return ""
	}
	if step, _ := s.stepOf(); step == "" {
		return ""
	}
	up, ok := j.byID[[2]string{s.Trace, s.Parent}]
	if !ok || s.Parent == "" {
		return ""
	}
	return strings.TrimSpace(up.Text("tool.name"))
}

// JoinPlatform joins the spans of a trace of a platform, whose id the first
// trajectory has. odd is what was odd when the spans were read.
func JoinPlatform(trace string, spans []*Span, odd *build.Builder) []*trace.Trajectory {
	out := Join(spans, "", trace)
	if len(out) == 0 {
		t := build.New(0).Finish()
		t.ID, t.Offset = trace, -1
		out = append(out, t)
	}
	for code, n := range odd.Trajectory.Anomalies.ByCode {
		out[0].Anomalies.AddN(code, n)
	}
	return out
}
