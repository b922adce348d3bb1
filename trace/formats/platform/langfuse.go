package platform

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
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
			if name == "data" && depth == 0 {
				read(one, depth+1)
				return
			}
			add(one, of)
		}, "observations", "batch", "data")
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
	spantree.RunSpan
	typ, level, model string
	tool              string // what its attributes say is the tool
	usage             trace.Usage

	cost *float64
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
	called := map[string]bool{}
	for _, o := range all {
		if o.typ == "GENERATION" {
			for _, it := range spantree.ReadMessages(build.New(0), o.Output, true) {
				if it.Kind == build.ItemCall {
					called[string(it.Tool)] = true
				}
			}
		}
	}
	spans := make([]*spantree.RunSpan, 0, len(all))
	for _, o := range all {
		o.finish(anomalies, called)
		spans = append(spans, &o.RunSpan)
	}
	out := spantree.JoinRuns(key, spans, anomalies)
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
			value(&o.Err, &c)
		case "input":
			value(&o.Input, &c)
		case "output":
			value(&o.Output, &c)
		case "model", "providedModelName":
			text(&o.model, &c)
		case "usage", "usageDetails":
			o.readUsage(&c)
		case "totalCost":
			o.cost = readCost(&c, o.cost)
		case "costDetails":
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) == "total" {
					o.cost = readCost(&c, o.cost)
				}
			}
		case "metadata":
			v := build.ReadRaw(&c)
			o.readMetadata(spantree.InnerJSON(v))
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
	o.usage = u
}

// readMetadata reads what the attributes of an observation say about its tool.
func (o *observation) readMetadata(metadata []byte) {
	c := jsonscan.New(metadata)
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) != "attributes" {
			continue
		}
		for ok := c.Object(); ok && c.Member(); {
			switch string(c.Key()) {
			case "gen_ai.tool.name", "tool.name":
				if text, ok := c.Text(); ok {
					o.tool = string(text)
				}
			case "gen_ai.tool.call.id":
				o.CallID, _ = c.Text()
			}
		}
	}
}

// finish turns what was read into a span; called are the tools that models called.
func (o *observation) finish(b *build.Builder, called map[string]bool) {
	o.Failed = o.level == "ERROR"
	switch {
	case o.Failed:
		o.Status = trace.StatusFailed
	case !o.End.IsZero():
		o.Status = trace.StatusOK
	}
	if !o.Failed {
		o.Err = trace.Raw{}
	}
	var m toolOutput
	if o.typ == "SPAN" || o.typ == "TOOL" {
		m.read(o.Output)
	}
	switch {
	case o.typ == "GENERATION":
		o.Kind = spantree.RunModel
		o.usage.CostUSD = o.cost
		o.Response = build.Response{Usage: o.usage, Model: o.model}
		if o.Tools = spantree.ReadRunTools(b, o.Input); len(o.Tools) == 0 && bytes.HasPrefix(spantree.InnerJSON(o.Output), []byte("{")) {
			o.Tools = spantree.ReadRunTools(b, o.Output)
		}
	case o.typ == "AGENT":
		o.Kind = spantree.RunAgent
	case o.typ == "TOOL", o.typ == "SPAN" && (m.isTool || o.tool != "" || called[o.Name]):
		o.Kind = spantree.RunTool
		o.Name = cmp.Or(o.tool, o.Name)
		var id []byte
		o.Input, id = runToolInput(o.Input)
		o.Output = m.content
		for _, known := range [][]byte{id, m.callID} {
			if len(known) > 0 {
				o.CallID = known
			}
		}
		if m.failed {
			o.Failed, o.Status = true, trace.StatusFailed
		}
	}
}

func detectLangfuse(h trace.Head) trace.Match {
	lacks := ""
	for _, r := range h.Records {
		if r.Has("trace", "observations") || r.Has("observations", "projectId") || isObservation(r.Members) {
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
			lacks = `the observations have no "trace" beside them`
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
