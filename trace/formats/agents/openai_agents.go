// Package agents reads what frameworks for agents record: the traces of the OpenAI
// Agents SDK (OpenAIAgents) and the events of Anthropic's managed agents
// (ManagedAgents).
//
// A record comes in and fragments of trajectories go out. It is O(record), and
// O(session) where one is joined.
package agents

import (
	"bytes"
	"cmp"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/spantree"
)

// OpenAIAgents reads the traces of OpenAI's Agents SDK as it sends them:
// {"data": [{"object": "trace"}, {"object": "trace.span"}]}, or those objects one a
// line. The spans of a trace become a trajectory, wherever they stand.
//
// A response span names a response and holds nothing of it: its turn has no text
// and no usage, and what was called is known from the function spans alone. A
// generation span has both. Functions failed if their span has an error. Agents
// that take over from each other are one trajectory; one that runs inside of a
// tool is a sub-agent.
var OpenAIAgents = trace.Format{
	Name:     "openai-agents",
	Doc:      "Traces of the OpenAI Agents SDK, as it sends them.",
	Spec:     "https://openai.github.io/openai-agents-python/tracing/",
	Detect:   detectOpenAIAgents,
	Decode:   decodeOpenAIAgents,
	Assemble: assembleOpenAIAgents,
}

func decodeOpenAIAgents(r trace.Record) ([]trace.Fragment, error) {
	if err := build.CheckRecord(r); err != nil {
		return nil, err
	}
	var out []trace.Fragment
	use := func(_ string, raw []byte) {
		key := string(build.MemberText(raw, "trace_id"))
		if string(build.MemberText(raw, "object")) == "trace" {
			key = string(build.MemberText(raw, "id"))
		}
		if key != "" {
			out = append(out, trace.Fragment{Key: key, Data: raw, Pos: r.Pos()})
		}
	}
	if !build.EachObject(r.Data, use, "data") {
		use("", r.Data)
	}
	if len(out) == 0 {
		return nil, diag.New(r.Pos(), build.CodeRecordShape, `this record has no trace and no span with a "trace_id"`)
	}
	return out, nil
}

func assembleOpenAIAgents(key string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
	anomalies := build.New(0)
	var spans []*spantree.Span
	byID := map[string]int{}
	session := ""
	for i := range parts {
		raw := parts[i].Data
		if string(build.MemberText(raw, "object")) == "trace" {
			session = cmp.Or(string(build.MemberText(raw, "group_id")), session)
			continue
		}
		s := readAgentsSpan(anomalies, raw)
		if at, ok := byID[s.ID]; ok && s.ID != "" { // sent again: the last counts
			spans[at] = s
			anomalies.Anomaly(build.CodeRecordRepeated, 1)
			continue
		}
		byID[s.ID] = len(spans)
		spans = append(spans, s)
	}
	out := spantree.JoinPlatform(key, spans, anomalies)
	for _, t := range out {
		t.Session, t.Source = session, parts[0].Pos
	}
	return out, nil
}

// readAgentsSpan reads a span.
func readAgentsSpan(b *build.Builder, raw []byte) *spantree.Span {
	s := &spantree.Span{Trace: string(build.MemberText(raw, "trace_id"))}
	text := func(dst *string, c *jsonscan.Cursor) {
		t, _ := c.Text()
		*dst = string(t)
	}
	c := jsonscan.New(raw)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "id":
			text(&s.ID, &c)
		case "parent_id":
			text(&s.Parent, &c)
		case "started_at":
			s.Start = b.ReadTime(&c)
		case "ended_at":
			s.End = b.ReadTime(&c)
		case "error":
			s.Failure = build.ReadRaw(&c)
		case "span_data":
			readAgentsData(s, &c)
		}
	}
	if s.Failed = !s.Failure.IsZero(); s.Failed {
		s.Status = trace.StatusFailed
		if message := build.MemberRaw(s.Failure.Data, "message"); s.Failure.Form == trace.FormJSON && len(message) > 0 && message[0] == '"' {
			s.Failure = trace.Raw{Data: message, Form: trace.FormString}
		}
	} else if !s.End.IsZero() {
		s.Status = trace.StatusOK
	}
	s.Kind = s.Platform
	return s
}

// readAgentsData reads what a span is about.
func readAgentsData(s *spantree.Span, c *jsonscan.Cursor) {
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "type":
			switch kind, _ := c.Text(); string(kind) {
			case "function":
				s.Platform = spantree.SpanTool
			case "response", "generation":
				s.Platform = spantree.SpanModel
			case "agent":
				s.Platform = spantree.SpanAgent
			}
		case "name":
			name, _ := c.Text()
			s.Name = string(name)
		case "input":
			s.Input = build.ReadRaw(c)
		case "output":
			s.Output = build.ReadRaw(c)
		case "model":
			model, _ := c.Text()
			s.ModelName = string(model)
		case "usage":
			s.Tokens = build.ReadUsage(c.Raw(), &build.UsageResponses, &build.UsageChat)
		}
	}
}

func detectOpenAIAgents(h trace.Head) trace.Match {
	for _, r := range h.Records {
		list := bytes.TrimLeft(r.Members["data"], " \t\r\n[")
		if isAgentsObject(r.Members) || len(list) > 0 && isAgentsObject(trace.NewHeadRecord(list, false).Members) {
			return trace.Match{OK: true}
		}
	}
	return trace.Match{}
}

func isAgentsObject(members map[string][]byte) bool {
	switch string(members["object"]) {
	case `"trace"`:
		_, ok := members["id"]
		return ok
	case `"trace.span"`:
		return true
	}
	return false
}
