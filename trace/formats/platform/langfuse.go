package platform

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
	"github.com/awo-dev/awo/trace/formats/internal/spantree"
)

// Langfuse reads traces of Langfuse: exports {"trace", "observations"},
// pages of its interface {"data": [...]}, observations one a line, and the
// batches of ingestion. The observations of a trace become a trajectory, wherever
// they stand; those with the same id are one, what is not null in the later
// counting.
//
// A GENERATION is a turn, whose input repeats what was said; a TOOL is a call.
// Before tools had a type they were spans: a SPAN is a call if it has a tool's
// name, gave back a tool's message, or has the name of a tool that a generation
// called. An observation that ended with another level than ERROR was a success.
var Langfuse = trace.Format{
	Name:     "langfuse",
	Doc:      "Langfuse traces: exports, pages and rows of observations, and batches of ingestion.",
	Spec:     "https://api.reference.langfuse.com",
	Detect:   detectLangfuse,
	Decode:   decodeLangfuse,
	Assemble: assembleLangfuse,
}

func decodeLangfuse(r trace.Record) ([]trace.Fragment, error) {
	if err := build.CheckRecord(r); err != nil {
		return nil, err
	}
	var out []trace.Fragment
	traces := map[string]string{} // of observations, for updates that do not name it
	add := func(raw []byte, of string) {
		body := raw
		if inner := build.MemberRaw(raw, "body"); len(inner) > 0 {
			body = inner
		}
		id := string(build.MemberText(body, "id"))
		key := cmp.Or(string(build.MemberText(body, "traceId")), traces[id], of)
		if kind := build.MemberText(raw, "type"); key == "" && (len(body) == len(raw) || string(kind) == "trace-create") {
			key = id
		}
		if key = cmp.Or(key, id); key == "" {
			return
		}
		traces[id] = key
		out = append(out, trace.Fragment{Key: key, Data: raw, Pos: r.Pos()})
	}
	var read func(raw []byte, depth int)
	read = func(raw []byte, depth int) {
		of := ""
		if inner := build.MemberRaw(raw, "trace"); len(inner) > 0 && inner[0] == '{' {
			of = string(build.MemberText(inner, "id"))
			add(inner, of)
		} else if build.HasMember(raw, "observations") {
			of = string(build.MemberText(raw, "id"))
		}
		found := build.EachObject(raw, func(name string, one []byte) {
			switch {
			case name == "data" && depth == 0:
				read(one, depth+1)
			case name == "traces":
				add(one, string(build.MemberText(one, "id")))
			default:
				add(one, of)
			}
		}, "traces", "observations", "batch", "data")
		if !found {
			add(raw, "")
		}
	}
	read(r.Data, 0)
	if len(out) == 0 {
		return nil, diag.New(r.Pos(), build.CodeRecordShape, `this record has no observation with an "id" or a "traceId"`)
	}
	return out, nil
}

// observation is an observation as far as it was read.
type observation struct {
	spantree.Span
	typ, level string
	kind       spantree.Kind // by its metadata
}

func assembleLangfuse(key string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
	anomalies := build.New(0)
	byID := map[string]*observation{}
	var all []*observation
	session := ""
	for i := range parts {
		raw, typ := parts[i].Data, ""
		if body := build.MemberRaw(raw, "body"); len(body) > 0 && body[0] == '{' {
			event, _, _ := strings.Cut(string(build.MemberText(raw, "type")), "-")
			raw, typ = body, strings.ToUpper(event)
			if typ == "SCORE" || typ == "SDK" {
				continue
			}
		}
		session = cmp.Or(string(build.MemberText(raw, "sessionId")), session)
		id := string(build.MemberText(raw, "id"))
		if typ == "TRACE" || id == key && build.MemberText(raw, "traceId") == nil {
			continue
		}
		o, ok := byID[id]
		if !ok || id == "" {
			o = &observation{}
			byID[id] = o
			all = append(all, o)
		}
		if typ != "" && typ != "OBSERVATION" {
			o.typ = typ
		}
		o.read(anomalies, raw)
	}
	spans := make([]*spantree.Span, 0, len(all))
	for _, o := range all {
		o.Trace = key
		o.finish()
		spans = append(spans, &o.Span)
	}
	out := spantree.JoinPlatform(key, spans, anomalies)
	for _, t := range out {
		t.Session, t.Source = session, parts[0].Pos
	}
	return out, nil
}

// read reads an observation, or more about one.
func (o *observation) read(b *build.Builder, raw []byte) {
	text := func(dst *string, c *jsonscan.Cursor) {
		if s, ok := c.Text(); ok && len(s) > 0 {
			*dst = string(s)
		}
	}
	value := func(dst *trace.Raw, c *jsonscan.Cursor) {
		if v := build.ReadRaw(c); !v.IsZero() {
			*dst = v
		}
	}
	c := jsonscan.New(raw)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "id":
			text(&o.ID, &c)
		case "type":
			text(&o.typ, &c)
		case "parentObservationId":
			text(&o.Parent, &c)
		case "name":
			text(&o.Name, &c)
		case "startTime":
			if at := b.ReadTime(&c); !at.IsZero() {
				o.Start = at
			}
		case "endTime":
			if at := b.ReadTime(&c); !at.IsZero() {
				o.End = at
			}
		case "level":
			text(&o.level, &c)
		case "statusMessage":
			value(&o.Failure, &c)
		case "input":
			value(&o.Input, &c)
		case "output":
			value(&o.Output, &c)
		case "model", "providedModelName":
			text(&o.ModelName, &c)
		case "usage", "usageDetails":
			o.readUsage(&c)
		case "totalCost":
			o.Cost = readCost(&c, o.Cost)
		case "costDetails":
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) == "total" {
					o.Cost = readCost(&c, o.Cost)
				}
			}
		case "metadata":
			v := build.ReadRaw(&c)
			o.readMetadata(build.InnerJSON(v))
		}
	}
}

// readUsage reads token counts. Details are counted in the whole by some
// integrations and apart by others, which the total tells.
func (o *observation) readUsage(c *jsonscan.Cursor) {
	var u trace.Usage
	var in, out, total int64
	for ok := c.Object(); ok && c.Member(); {
		key := string(c.Key())
		n, ok := c.Int()
		if !ok || n < 0 {
			continue
		}
		switch key {
		case "input", "promptTokens", "prompt_tokens", "input_tokens":
			u.Input, u.Known = n, true
		case "output", "completionTokens", "completion_tokens", "output_tokens":
			u.Output, u.Known = n, true
		case "total", "totalTokens", "total_tokens":
			total = n
		default:
			switch {
			case strings.Contains(key, "cache_read"), strings.Contains(key, "cached"):
				u.CachedInput = n
			case strings.Contains(key, "cache_creation"), strings.Contains(key, "cache_write"):
				u.CacheWrite = n
			case strings.Contains(key, "reasoning"):
				u.Reasoning = n
			}
			switch {
			case strings.HasPrefix(key, "input_"), strings.HasPrefix(key, "prompt_"), strings.HasPrefix(key, "cache_"):
				in += n
			case strings.HasPrefix(key, "output_"), strings.HasPrefix(key, "completion_"):
				out += n
			}
		}
	}
	if !u.Known {
		return
	}
	if in+out > 0 && total == u.Input+u.Output+in+out {
		u.Input += in
		u.Output += out
	}
	o.Tokens = u
}

// readMetadata reads the attributes that an observation has from the span that it
// was made of.
func (o *observation) readMetadata(metadata []byte) {
	c := jsonscan.New(metadata)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "attributes":
		case "spanType": // Mastra's
			if kind, ok := c.Text(); ok {
				o.kind = mastraKinds[string(kind)]
			}
			continue
		case "tool_name":
			if name, ok := c.Text(); ok {
				o.Tool = string(name)
			}
			continue
		case "tool_id", "tool_call_id":
			if id, ok := c.Text(); ok {
				o.Called = id
			}
			continue
		default:
			continue
		}
		if text := build.InnerJSON(build.ReadRaw(&c)); text != nil {
			if v, err := trace.ParseValue(text); err == nil && v.Kind == trace.Object {
				o.SetAttrs(v)
			}
		}
	}
}

// langfuseKinds are the types of observations that mean something.
var langfuseKinds = map[string]spantree.Kind{"GENERATION": spantree.SpanModel, "AGENT": spantree.SpanAgent, "TOOL": spantree.SpanTool}

// mastraKinds are the types of spans that Mastra's exporter puts into the metadata.
var mastraKinds = map[string]spantree.Kind{
	"agent_run": spantree.SpanAgent, "tool_call": spantree.SpanTool, "mcp_tool_call": spantree.SpanTool,
	"llm_generation": spantree.SpanModel, "model_generation": spantree.SpanModel, "llm_step": spantree.SpanModel, "model_step": spantree.SpanModel,
}

// finish turns what was read into a span.
func (o *observation) finish() {
	o.Failed = o.level == "ERROR"
	switch {
	case o.Failed:
		o.Status = trace.StatusFailed
	case !o.End.IsZero():
		o.Status = trace.StatusOK
	}
	if !o.Failed {
		o.Failure = trace.Raw{}
	}
	if o.Platform = langfuseKinds[o.typ]; o.Platform == spantree.SpanLink {
		o.Platform = o.kind
	}
	if o.Platform == spantree.SpanLink && o.Tool != "" && o.typ == "SPAN" {
		o.Platform = spantree.SpanTool
	}
	o.Classify()
	if o.Kind != spantree.SpanLink || o.typ != "SPAN" {
		return
	}
	// Before tools had a type they were spans.
	var m message.ToolOutput
	if m.Read(o.Output); m.IsTool {
		o.Kind = spantree.SpanTool
		return
	}
	o.Unsure = true
}

func detectLangfuse(h trace.Head) trace.Match {
	lacks := ""
	for _, r := range h.Records {
		if r.Has("trace", "observations") || r.Has("traces", "observations") || r.Has("observations", "projectId") || isObservation(r.Members) {
			return trace.Match{OK: true}
		}
		for _, name := range []string{"data", "batch"} {
			list := bytes.TrimLeft(r.Members[name], " \t\r\n[")
			if len(list) == 0 {
				continue
			}
			members := trace.NewHeadRecord(list, false).Members
			_, body := members["body"]
			kind := string(members["type"])
			if name == "data" && isObservation(members) || body && (strings.Contains(kind, "-create") || strings.Contains(kind, "-update")) {
				return trace.Match{OK: true}
			}
		}
		if r.Has("observations") {
			lacks = `the observations have no "trace" next to them`
		}
	}
	return trace.Match{Lacks: lacks}
}

func isObservation(members map[string][]byte) bool {
	for _, name := range []string{"traceId", "type", "startTime"} {
		if _, ok := members[name]; !ok {
			return false
		}
	}
	_, span := members["spanId"]
	return !span
}
