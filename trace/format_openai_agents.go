package trace

import (
	"bytes"
	"cmp"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonscan"
)

// formatOpenAIAgents reads the traces of OpenAI's Agents SDK as it sends them:
// {"data": [{"object": "trace"}, {"object": "trace.span"}]}, or those objects one a
// line. The spans of a trace become a trajectory, wherever they stand.
//
// A response span names a response and holds nothing of it: its turn has no text
// and no usage, and what was called is known from the function spans alone. A
// generation span has both. Functions failed if their span has an error. Agents
// that take over from each other are one trajectory; one that runs inside of a
// tool is a sub-agent.
var formatOpenAIAgents = Format{
	Name:     "openai-agents",
	Doc:      "Traces of the OpenAI Agents SDK, as it sends them.",
	Spec:     "https://openai.github.io/openai-agents-python/tracing/",
	Detect:   detectOpenAIAgents,
	Decode:   decodeOpenAIAgents,
	Assemble: assembleOpenAIAgents,
}

func decodeOpenAIAgents(r Record) ([]Fragment, error) {
	if err := checkRecord(r); err != nil {
		return nil, err
	}
	var out []Fragment
	use := func(_ string, raw []byte) {
		key := string(memberText(raw, "trace_id"))
		if string(memberText(raw, "object")) == "trace" {
			key = string(memberText(raw, "id"))
		}
		if key != "" {
			out = append(out, Fragment{Key: key, Data: raw, Pos: r.Pos()})
		}
	}
	if !eachObject(r.Data, use, "data") {
		use("", r.Data)
	}
	if len(out) == 0 {
		return nil, diag.New(r.Pos(), CodeRecordShape, `this record has no trace and no span with a "trace_id"`)
	}
	return out, nil
}

func assembleOpenAIAgents(key string, parts []Fragment) ([]*Trajectory, error) {
	odd := newBuilder(0)
	var spans []*runSpan
	byID := map[string]int{}
	session := ""
	for i := range parts {
		raw := parts[i].Data
		if string(memberText(raw, "object")) == "trace" {
			session = cmp.Or(string(memberText(raw, "group_id")), session)
			continue
		}
		s := readAgentsSpan(odd, raw)
		if at, ok := byID[s.id]; ok && s.id != "" { // sent again: the last counts
			spans[at] = s
			odd.odd(CodeRecordRepeated, 1)
			continue
		}
		byID[s.id] = len(spans)
		spans = append(spans, s)
	}
	out := joinRuns(key, spans, odd)
	for _, t := range out {
		t.Session, t.Source = session, parts[0].Pos
	}
	return out, nil
}

// readAgentsSpan reads a span.
func readAgentsSpan(b *builder, raw []byte) *runSpan {
	s := &runSpan{}
	text := func(dst *string, c *jsonscan.Cursor) {
		t, _ := c.Text()
		*dst = string(t)
	}
	c := jsonscan.New(raw)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "id":
			text(&s.id, &c)
		case "parent_id":
			text(&s.parent, &c)
		case "started_at":
			s.start = b.readTime(&c)
		case "ended_at":
			s.end = b.readTime(&c)
		case "error":
			s.err = rawValue(&c)
		case "span_data":
			readAgentsData(s, &c)
		}
	}
	if s.failed = !s.err.IsZero(); s.failed {
		s.status = StatusFailed
		if message := memberRaw(s.err.Data, "message"); s.err.Form == FormJSON && len(message) > 0 && message[0] == '"' {
			s.err = Raw{Data: message, Form: FormString}
		}
	} else if !s.end.IsZero() {
		s.status = StatusOK
	}
	return s
}

// readAgentsData reads what a span is about.
func readAgentsData(s *runSpan, c *jsonscan.Cursor) {
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "type":
			switch kind, _ := c.Text(); string(kind) {
			case "function":
				s.kind = runTool
			case "response", "generation":
				s.kind = runModel
			case "agent":
				s.kind = runAgent
			}
		case "name":
			name, _ := c.Text()
			s.name = string(name)
		case "input":
			s.input = rawValue(c)
		case "output":
			s.output = rawValue(c)
		case "model":
			model, _ := c.Text()
			s.response.model = string(model)
		case "usage":
			raw := c.Raw()
			in := jsonscan.New(raw)
			if s.response.usage = readResponsesUsage(&in); !s.response.usage.Known {
				in = jsonscan.New(raw)
				s.response.usage = readUsage(&in)
			}
		}
	}
}

func detectOpenAIAgents(h Head) Match {
	for _, r := range h.Records {
		list := bytes.TrimLeft(r.Members["data"], " \t\r\n[")
		if isAgentsObject(r.Members) || len(list) > 0 && isAgentsObject(newHeadRecord(list, false).Members) {
			return Match{OK: true}
		}
	}
	return Match{}
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
