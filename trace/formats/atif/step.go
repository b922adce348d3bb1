package atif

import (
	"bytes"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// atifStep is a step with the members that are read.
type atifStep struct {
	source, model    []byte
	message, thought trace.Raw
	time             time.Time
	usage            trace.Usage
	calls            []atifCall
	own              []atifOwn // of the calls
	results          []atifResult
	llmCalls         int64 // -1 if not recorded
	copied           bool

	// What awo wrote about the step.
	end         time.Time
	timeIsEnd   bool       // the timestamp is the end, there is no start
	placeholder bool       // the step stands for none
	turnUnknown bool       // the calls of the step belong to no recorded turn
	continued   int        // see trace.Turn
	turn, call  int64      // of a message that came elsewhere; -1 if it came here
	form, think trace.Form // of message and reasoning_content, where not those of ATIF
}

// atifCall is an element of tool_calls.
type atifCall struct {
	id, name []byte
	args     trace.Raw
	own      int // 1 + index into atifStep.own, 0 if awo wrote nothing about the call
}

// atifOwn is what awo wrote about a call.
type atifOwn struct {
	id         []byte
	hasID      bool
	args       string // "", "missing", "value" or "raw"
	restored   bool   // and the arguments are as they were before awo wrote them
	origin     trace.Origin
	hasOrigin  bool
	by         string
	answeredBy trace.Origin
	status     trace.Status
	err        trace.Raw
	errForm    trace.Form
	start, end time.Time
	context    []trace.ContextValue
}

// atifResult is an element of the results of an observation.
type atifResult struct {
	id      []byte
	content trace.Raw
	form    trace.Form // as awo wrote it, where it is not that of ATIF
	started []string
}

// readStep reads a step and adds it to the trajectory.
func (d *atifDecoder) readStep(c *jsonscan.Cursor) {
	b, s := d.b, d.step
	*s = atifStep{calls: s.calls[:0], own: s.own[:0], results: s.results[:0], llmCalls: -1, turn: -1, call: -1}
	if !c.Object() {
		b.Anomaly(build.CodeMessageShape, 1)
		return
	}
	var seen build.Members
	for c.Member() {
		switch string(c.Key()) {
		case "source":
			seen.Note(b, "source")
			s.source, _ = c.Text()
		case "message":
			seen.Note(b, "message")
			s.message = build.ReadContent(c).OrAbsent()
		case "reasoning_content":
			seen.Note(b, "reasoning_content")
			s.thought = build.ReadContent(c).OrAbsent()
		case "model_name":
			seen.Note(b, "model_name")
			s.model, _ = c.Text()
		case "timestamp":
			seen.Note(b, "timestamp")
			s.time = b.ReadTime(c)
		case "metrics":
			seen.Note(b, "metrics")
			s.usage = build.UsageATIF.Read(c)
		case "tool_calls":
			if seen.Note(b, "tool_calls") {
				s.calls = s.calls[:0]
			}
			for ok := c.Array(); ok && c.Element(); {
				d.readCall(c)
			}
		case "observation":
			if seen.Note(b, "observation") {
				s.results = s.results[:0]
			}
			for ok := c.Object(); ok && c.Member(); {
				if string(c.Key()) != "results" {
					continue
				}
				for ok := c.Array(); ok && c.Element(); {
					d.readResult(c)
				}
			}
		case "llm_call_count":
			seen.Note(b, "llm_call_count")
			if n, ok := c.Int(); ok {
				s.llmCalls = n
			}
		case "is_copied_context":
			seen.Note(b, "is_copied_context")
			s.copied, _ = c.Bool()
		case "extra":
			build.EachOwn(c, func(key string) { d.ownStep(key, c) })
		}
	}
	s.message, s.thought = asForm(s.message, s.form), asForm(s.thought, s.think)
	d.addStep()
}

// ownStep reads what awo wrote about a step.
func (d *atifDecoder) ownStep(key string, c *jsonscan.Cursor) {
	s := d.step
	switch key {
	case "end":
		s.end = d.b.ReadTime(c)
	case "timestamp":
		text, _ := c.Text()
		s.timeIsEnd = string(text) == "end"
	case "placeholder":
		s.placeholder, _ = c.Bool()
	case "turn":
		if text, ok := c.Text(); ok {
			s.turnUnknown = string(text) == "unknown"
		} else if n, ok := c.Int(); ok {
			s.turn = n
		}
	case "call":
		if n, ok := c.Int(); ok {
			s.call = n
		}
	case "continued":
		if n, ok := c.Int(); ok {
			s.continued = int(min(max(n, 0), 1<<20))
		}
	case "message":
		s.form = readForm(c)
	case "reasoning_content":
		s.think = readForm(c)
	}
}

// readForm reads how a string that awo wrote is to be read.
func readForm(c *jsonscan.Cursor) trace.Form {
	switch text, _ := c.Text(); string(text) {
	case "json":
		return trace.FormJSON
	case "parts":
		return trace.FormParts
	}
	return trace.FormNone
}

// as returns a string that holds JSON, as awo writes what ATIF has no place for,
// in its own form. A string that holds none stays as it is.
func asForm(r trace.Raw, form trace.Form) trace.Raw {
	if form == trace.FormNone || r.Form != trace.FormString {
		return r
	}
	text := r.Content()
	c := jsonscan.New(text)
	kind := c.Kind()
	if c.End() != nil || form == trace.FormParts && kind != jsonscan.Array {
		return r
	}
	return trace.Raw{Data: text, Form: form}
}

func (d *atifDecoder) readCall(c *jsonscan.Cursor) {
	if !c.Object() {
		d.b.Anomaly(build.CodeMessageShape, 1)
		return
	}
	d.step.calls = append(d.step.calls, atifCall{})
	call := &d.step.calls[len(d.step.calls)-1]
	for c.Member() {
		switch string(c.Key()) {
		case "tool_call_id":
			call.id, _ = c.Text()
		case "function_name":
			call.name, _ = c.Text()
		case "arguments":
			call.args = build.ReadArgs(c)
		case "extra":
			build.EachOwn(c, func(key string) {
				if call.own == 0 {
					d.step.own = append(d.step.own, atifOwn{})
					call.own = len(d.step.own)
				}
				d.ownCall(&d.step.own[call.own-1], key, c)
			})
		}
	}
	if call.own > 0 {
		own := &d.step.own[call.own-1]
		own.err = asForm(own.err, own.errForm)
		if args := restored(call.args, own.args); !bytes.Equal(args.Data, call.args.Data) {
			call.args, own.restored = args, true
		}
	}
}

// ownCall reads what awo wrote about a own.
func (d *atifDecoder) ownCall(own *atifOwn, key string, c *jsonscan.Cursor) {
	switch key {
	case "id":
		own.id, own.hasID = c.Text()
	case "args":
		text, _ := c.Text()
		own.args = string(text)
	case "origin":
		own.origin, own.hasOrigin = readOrigin(c)
	case "answered_by":
		own.answeredBy, _ = readOrigin(c)
	case "by":
		own.by = d.b.ReadID(c)
	case "status":
		switch text, _ := c.Text(); string(text) {
		case "ok":
			own.status = trace.StatusOK
		case "failed":
			own.status = trace.StatusFailed
		}
	case "error":
		own.err = build.ReadRaw(c)
	case "error_form":
		own.errForm = readForm(c)
	case "start":
		own.start = d.b.ReadTime(c)
	case "end":
		own.end = d.b.ReadTime(c)
	case "context":
		own.context = nil
		for ok := c.Array(); ok && c.Element(); {
			var v trace.ContextValue
			for ok := c.Object(); ok && c.Member(); {
				switch string(c.Key()) {
				case "name":
					v.Name = d.b.ReadID(c)
				case "value":
					v.Value = d.b.ReadID(c)
				}
			}
			own.context = append(own.context, v)
		}
	}
}

// readOrigin reads the name of an origin; false if there is none of it.
func readOrigin(c *jsonscan.Cursor) (trace.Origin, bool) {
	text, _ := c.Text()
	for origin := trace.OriginModel; origin <= trace.OriginPrefetch; origin++ {
		if origin.String() == string(text) {
			return origin, true
		}
	}
	return trace.OriginModel, false
}

// restored returns the arguments that awo wrote as an object because ATIF has no
// others.
func restored(r trace.Raw, are string) trace.Raw {
	name := ""
	switch are {
	case "missing":
		return trace.Raw{}
	case "value":
		name = "_value"
	case "raw":
		name = "_raw"
	default:
		return r
	}
	c := jsonscan.New(r.Data)
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) != name {
			continue
		}
		if are == "raw" {
			return build.ReadArgs(&c)
		}
		return trace.Raw{Data: c.Raw(), Form: trace.FormJSON}
	}
	return r
}

func (d *atifDecoder) readResult(c *jsonscan.Cursor) {
	if !c.Object() {
		d.b.Anomaly(build.CodeMessageShape, 1)
		return
	}
	var r atifResult
	for c.Member() {
		switch string(c.Key()) {
		case "source_call_id":
			r.id, _ = c.Text()
		case "content":
			r.content = build.ReadContent(c)
		case "subagent_trajectory_ref":
			r.started = nil
			for ok := c.Array(); ok && c.Element(); {
				for ok := c.Object(); ok && c.Member(); {
					if string(c.Key()) == "trajectory_id" {
						r.started = append(r.started, d.b.ReadID(c))
					}
				}
			}
		case "extra":
			build.EachOwn(c, func(key string) {
				if key == "content" {
					r.form = readForm(c)
				}
			})
		}
	}
	r.content = asForm(r.content, r.form)
	d.step.results = append(d.step.results, r)
}
