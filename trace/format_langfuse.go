package trace

import (
	"bytes"
	"cmp"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonscan"
)

// formatLangfuse reads traces of Langfuse: exports {"trace", "observations"},
// pages of its interface {"data": [...]}, observations one a line, and the
// batches of ingestion. The observations of a trace become a trajectory, wherever
// they stand; those with the same id are one, what is not null in the later
// counting.
//
// A GENERATION is a turn, whose input repeats what was said; a TOOL is a call.
// Before tools had a type they were spans: a SPAN is a call if it has a tool's
// name, gave back a tool's message, or has the name of a tool that a generation
// called. An observation that ended with another level than ERROR was a success.
var formatLangfuse = Format{
	Name:     "langfuse",
	Doc:      "Langfuse traces: exports, pages and rows of observations, and batches of ingestion.",
	Spec:     "https://api.reference.langfuse.com",
	Detect:   detectLangfuse,
	Decode:   decodeLangfuse,
	Assemble: assembleLangfuse,
}

func decodeLangfuse(r Record) ([]Fragment, error) {
	if err := checkRecord(r); err != nil {
		return nil, err
	}
	var out []Fragment
	traces := map[string]string{} // of observations, for updates that do not name it
	add := func(raw []byte, trace string) {
		body := raw
		if inner := memberRaw(raw, "body"); len(inner) > 0 {
			body = inner
		}
		id := string(memberText(body, "id"))
		key := cmp.Or(string(memberText(body, "traceId")), traces[id], trace)
		if kind := memberText(raw, "type"); key == "" && (len(body) == len(raw) || string(kind) == "trace-create") {
			key = id
		}
		if key = cmp.Or(key, id); key == "" {
			return
		}
		traces[id] = key
		out = append(out, Fragment{Key: key, Data: raw, Pos: r.Pos()})
	}
	var read func(raw []byte, depth int)
	read = func(raw []byte, depth int) {
		trace := ""
		if inner := memberRaw(raw, "trace"); len(inner) > 0 && inner[0] == '{' {
			trace = string(memberText(inner, "id"))
			add(inner, trace)
		} else if hasMember(raw, "observations") {
			trace = string(memberText(raw, "id"))
		}
		found := eachObject(raw, func(name string, one []byte) {
			if name == "data" && depth == 0 {
				read(one, depth+1)
				return
			}
			add(one, trace)
		}, "observations", "batch", "data")
		if !found {
			add(raw, "")
		}
	}
	read(r.Data, 0)
	if len(out) == 0 {
		return nil, diag.New(r.Pos(), CodeRecordShape, `this record has no observation with an "id" or a "traceId"`)
	}
	return out, nil
}

// observation is an observation as far as it was read.
type observation struct {
	runSpan
	typ, level, model string
	tool              string // what its attributes say is the tool
	usage             Usage

	cost *float64
}

func assembleLangfuse(key string, parts []Fragment) ([]*Trajectory, error) {
	odd := newBuilder(0)
	byID := map[string]*observation{}
	var all []*observation
	session := ""
	for i := range parts {
		raw, typ := parts[i].Data, ""
		if body := memberRaw(raw, "body"); len(body) > 0 && body[0] == '{' {
			event, _, _ := strings.Cut(string(memberText(raw, "type")), "-")
			raw, typ = body, strings.ToUpper(event)
			if typ == "SCORE" || typ == "SDK" {
				continue
			}
		}
		session = cmp.Or(string(memberText(raw, "sessionId")), session)
		id := string(memberText(raw, "id"))
		if typ == "TRACE" || id == key && memberText(raw, "traceId") == nil {
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
		o.read(odd, raw)
	}
	called := map[string]bool{}
	for _, o := range all {
		if o.typ == "GENERATION" {
			for _, it := range readMessages(newBuilder(0), o.output, true) {
				if it.kind == itemCall {
					called[string(it.tool)] = true
				}
			}
		}
	}
	spans := make([]*runSpan, 0, len(all))
	for _, o := range all {
		o.finish(odd, called)
		spans = append(spans, &o.runSpan)
	}
	out := joinRuns(key, spans, odd)
	for _, t := range out {
		t.Session, t.Source = session, parts[0].Pos
	}
	return out, nil
}

// read reads an observation, or more about one.
func (o *observation) read(b *builder, raw []byte) {
	text := func(dst *string, c *jsonscan.Cursor) {
		if s, ok := c.Text(); ok && len(s) > 0 {
			*dst = string(s)
		}
	}
	value := func(dst *Raw, c *jsonscan.Cursor) {
		if v := rawValue(c); !v.IsZero() {
			*dst = v
		}
	}
	c := jsonscan.New(raw)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "id":
			text(&o.id, &c)
		case "type":
			text(&o.typ, &c)
		case "parentObservationId":
			text(&o.parent, &c)
		case "name":
			text(&o.name, &c)
		case "startTime":
			if at := b.readTime(&c); !at.IsZero() {
				o.start = at
			}
		case "endTime":
			if at := b.readTime(&c); !at.IsZero() {
				o.end = at
			}
		case "level":
			text(&o.level, &c)
		case "statusMessage":
			value(&o.err, &c)
		case "input":
			value(&o.input, &c)
		case "output":
			value(&o.output, &c)
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
			v := rawValue(&c)
			o.readMetadata(innerJSON(v))
		}
	}
}

// readUsage reads token counts. Details are counted in the whole by some
// integrations and apart by others, which the total tells.
func (o *observation) readUsage(c *jsonscan.Cursor) {
	var u Usage
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
				o.callID, _ = c.Text()
			}
		}
	}
}

// finish turns what was read into a span; called are the tools that models called.
func (o *observation) finish(b *builder, called map[string]bool) {
	o.failed = o.level == "ERROR"
	switch {
	case o.failed:
		o.status = StatusFailed
	case !o.end.IsZero():
		o.status = StatusOK
	}
	if !o.failed {
		o.err = Raw{}
	}
	var m toolOutput
	if o.typ == "SPAN" || o.typ == "TOOL" {
		m.read(o.output)
	}
	switch {
	case o.typ == "GENERATION":
		o.kind = runModel
		o.usage.CostUSD = o.cost
		o.response = response{usage: o.usage, model: o.model}
		if o.tools = readRunTools(b, o.input); len(o.tools) == 0 && bytes.HasPrefix(innerJSON(o.output), []byte("{")) {
			o.tools = readRunTools(b, o.output)
		}
	case o.typ == "AGENT":
		o.kind = runAgent
	case o.typ == "TOOL", o.typ == "SPAN" && (m.isTool || o.tool != "" || called[o.name]):
		o.kind = runTool
		o.name = cmp.Or(o.tool, o.name)
		var id []byte
		o.input, id = runToolInput(o.input)
		o.output = m.content
		for _, known := range [][]byte{id, m.callID} {
			if len(known) > 0 {
				o.callID = known
			}
		}
		if m.failed {
			o.failed, o.status = true, StatusFailed
		}
	}
}

func detectLangfuse(h Head) Match {
	lacks := ""
	for _, r := range h.Records {
		if r.Has("trace", "observations") || r.Has("observations", "projectId") || isObservation(r.Members) {
			return Match{OK: true}
		}
		for _, name := range []string{"data", "batch"} {
			list := bytes.TrimLeft(r.Members[name], " \t\r\n[")
			if len(list) == 0 {
				continue
			}
			members := newHeadRecord(list, false).Members
			_, body := members["body"]
			kind := string(members["type"])
			if name == "data" && isObservation(members) || body && (strings.Contains(kind, "-create") || strings.Contains(kind, "-update")) {
				return Match{OK: true}
			}
		}
		if r.Has("observations") {
			lacks = `the observations have no "trace" beside them`
		}
	}
	return Match{Lacks: lacks}
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
