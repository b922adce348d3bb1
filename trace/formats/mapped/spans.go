package mapped

import (
	"cmp"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
	"github.com/awo-dev/awo/trace/formats/internal/spantree"
)

// mappedSpan is a span with what its records say of it, of which the later count.
type mappedSpan struct {
	spantree.Span
	role      speaker
	ended     trace.Status
	elsewhere bool
}

// spanReading reads the spans of a trace.
type spanReading struct {
	reading
	byID    map[string]*mappedSpan
	all     []*mappedSpan
	session string
}

// joinSpans makes the trajectories of the spans of a trace.
func (m *Map) joinSpans(key string, parts []trace.Fragment) []*trace.Trajectory {
	r := spanReading{reading: reading{m: m, Log: message.NewLog()}, byID: map[string]*mappedSpan{}}
	for i := range parts {
		r.document = parts[i].Data
		r.read(parts[i].Data, 0)
	}
	spans := make([]*spantree.Span, 0, len(r.all))
	for _, s := range r.all {
		s.Trace = key
		if up := r.byID[s.Parent]; up != nil && up.role == speakerCounts && s.role == speakerModel && !s.Tokens.Known {
			s.Tokens, up.Tokens = up.Tokens, trace.Usage{}
		}
		r.settle(s)
		spans = append(spans, &s.Span)
	}
	r.totalled()
	out := spantree.JoinPlatform(key, spans, r.Builder)
	r.Builder.Stated.Compare(out)
	for _, t := range out {
		t.Session, t.Source = r.session, parts[0].Pos
	}
	return out
}

// totalled takes the token counts of spans that add up those below them, of which the
// uppermost have all.
func (r *spanReading) totalled() {
	for _, s := range r.all {
		if s.role != speakerTotal {
			continue
		}
		up := r.byID[s.Parent]
		for n := 0; up != nil && up.role != speakerTotal && n < maxSpans; n++ {
			up = r.byID[up.Parent]
		}
		if up == nil || up.role != speakerTotal {
			r.Builder.Stated.Usage.Add(s.Tokens)
		}
	}
	for _, s := range r.all {
		if s.role == speakerTotal {
			s.Tokens = trace.Usage{}
		}
	}
}

// maxSpans is how deep spans stand inside of each other in a record at most.
const maxSpans = 64

// read reads a span, or more of one, and those inside of it.
func (r *spanReading) read(v []byte, depth int) {
	m := r.ruleOf(v)
	if m == nil {
		m = &r.m.rule
	}
	r.forget()
	r.session = cmp.Or(r.text(m.at[fSession], v), r.session)
	id := r.text(m.at[fSpan], v)
	r.totals(m, v)
	if role := r.who(m, v); role != speakerHeader {
		s, known := r.byID[id]
		if !known || id == "" {
			s = &mappedSpan{}
			r.byID[id] = s
			r.all = append(r.all, s)
		} else if r.m.has["again"] { // sent again: the last counts
			r.Builder.Anomaly(build.CodeRecordRepeated, 1)
			*s = mappedSpan{}
		}
		if role != speakerUnknown {
			s.role = role
		}
		r.fill(s, m, v)
	}
	for _, inner := range r.finder.all(m.at[fWithin], v) {
		if depth < maxSpans {
			r.read(inner, depth+1)
		}
	}
}

// fill adds what a record says of a span.
func (r *spanReading) fill(s *mappedSpan, m *rule, v []byte) {
	for _, text := range []struct {
		to *string
		p  where
	}{
		{&s.ID, m.at[fSpan]},
		{&s.Parent, m.at[fAbove]},
		{&s.Span.Order, m.at[fOrder]},
		{&s.Name, m.at[fTitle]},
		{&s.ModelName, m.at[fModel]},
		{&s.Tool, m.at[fTool]},
		{&s.Agent, m.at[fAgent]},
	} {
		*text.to = cmp.Or(r.text(text.p, v), *text.to)
	}
	if id := r.text(m.at[fID], v); id != "" {
		s.Called = []byte(id)
	}
	if at := r.moment(m.at[fTime], v); !at.IsZero() {
		s.Start = at
	}
	if at := r.moment(m.at[fEnd], v); !at.IsZero() {
		s.End = at
	}
	for p, to := range map[field]*trace.Raw{fInput: &s.Input, fOutput: &s.Output} {
		if value := r.raw(m.at[p], v); !value.IsZero() && (to.IsZero() || string(value.Data) != "{}") {
			*to = value
		}
	}
	if failure := r.raw(m.at[fError], v); !failure.IsEmpty() {
		s.Failure = failure
	}
	if end := m.ends.of(r.text(m.at[fStatus], v)); end != nil {
		s.ended, s.Failed = end.status, end.status == trace.StatusFailed
		if s.ended == trace.StatusUnknown {
			s.ended = notEnded
		}
	}
	s.elsewhere = s.elsewhere || r.first(m.at[fElsewhere], v) != nil
	u := r.usage(m, v)
	if u.CostUSD != nil && *u.CostUSD > 0 {
		s.Cost = u.CostUSD
	}
	if u.CostUSD = nil; u.Known && u.Input+u.Output > 0 {
		s.Tokens = u
	}
	if tools := build.InnerJSON(r.raw(m.at[fTools], v)); tools != nil {
		s.Tools = r.Builder.Definitions(tools)
	}
	if attributes := r.raw(m.at[fAttributes], v); !attributes.IsZero() {
		if v, err := trace.ParseValue(build.InnerJSON(attributes)); err == nil && v.Kind == trace.Object {
			s.SetAttrs(v)
		}
	}
}

// notEnded is that a call has not ended, as its span says.
const notEnded = trace.Status(255)

// settle decides what a span is when all of it is known.
func (r *spanReading) settle(s *mappedSpan) {
	if s.elsewhere && (s.Input.IsZero() || s.Output.IsZero()) {
		r.Builder.Anomaly(build.CodeContentStored, 1)
	}
	if s.Failed = s.Failed || !s.Failure.IsEmpty(); s.Failed {
		s.Status = trace.StatusFailed
		if message := build.MemberRaw(s.Failure.Data, "message"); s.Failure.Form == trace.FormJSON && build.IsKind(message, '"') {
			s.Failure = trace.Raw{Data: message, Form: trace.FormString}
		}
	} else if s.ended == trace.StatusOK || s.ended == trace.StatusUnknown && !s.End.IsZero() {
		s.Status = trace.StatusOK
	}
	if string(s.Output.Data) == "{}" {
		s.Output = trace.Raw{}
	}
	switch s.role {
	case speakerModel:
		s.Platform = spantree.SpanModel
	case speakerTool:
		s.Platform = spantree.SpanTool
	case speakerAgent:
		s.Platform = spantree.SpanAgent
	}
	if s.role == speakerMaybe && s.Tool != "" {
		s.Platform = spantree.SpanTool
	}
	if s.Classify(); s.role != speakerMaybe || s.Kind != spantree.SpanLink {
		return
	}
	var out message.ToolOutput
	if out.Read(s.Output); out.IsTool { // it gave back a tool's message
		s.Kind = spantree.SpanTool
	} else {
		s.Unsure = true
	}
}
