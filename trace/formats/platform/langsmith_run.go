package platform

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
	"github.com/awo-dev/awo/trace/formats/internal/spantree"
)

// langSmithRun is a run as far as it was read.
type langSmithRun struct {
	spantree.Span
	runType, state  string
	session         string
	inputs, outputs trace.Raw
	stored          bool // inputs or outputs are kept elsewhere
}

// read reads a run, or more about one.
func (r *langSmithRun) read(b *build.Builder, raw []byte) {
	text := func(dst *string, c *jsonscan.Cursor) {
		if s, ok := c.Text(); ok && len(s) > 0 {
			*dst = string(s)
		}
	}
	value := func(dst *trace.Raw, c *jsonscan.Cursor) {
		if v := build.ReadRaw(c); !v.IsZero() && (dst.IsZero() || string(v.Data) != "{}") {
			*dst = v
		}
	}
	count := func(dst *int64, c *jsonscan.Cursor) {
		if n, ok := c.Int(); ok && n > 0 {
			*dst, r.Tokens.Known = n, true
		}
	}
	c := jsonscan.New(raw)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "id":
			text(&r.ID, &c)
		case "parent_run_id":
			text(&r.Parent, &c)
		case "run_type":
			text(&r.runType, &c)
		case "name":
			text(&r.Name, &c)
		case "dotted_order":
			text(&r.Order, &c)
		case "status":
			text(&r.state, &c)
		case "start_time":
			if at := build.ReadMoment(b, &c); !at.IsZero() {
				r.Start = at
			}
		case "end_time":
			if at := build.ReadMoment(b, &c); !at.IsZero() {
				r.End = at
			}
		case "error":
			value(&r.Failure, &c)
		case "inputs":
			value(&r.inputs, &c)
		case "outputs":
			value(&r.outputs, &c)
		case "inputs_s3_urls", "outputs_s3_urls":
			r.stored = r.stored || c.Kind() == jsonscan.Object
		case "prompt_tokens":
			count(&r.Tokens.Input, &c)
		case "completion_tokens":
			count(&r.Tokens.Output, &c)
		case "total_cost":
			r.Cost = readCost(&c, r.Cost)
		case "extra":
			r.readExtra(b, &c)
		}
	}
}

// readCost reads an amount that is a number or text; before is kept if it is none.
func readCost(c *jsonscan.Cursor, before *float64) *float64 {
	cost, ok := c.Float()
	if text, isText := c.Text(); isText {
		v, err := strconv.ParseFloat(string(text), 64)
		cost, ok = v, err == nil
	}
	if !ok || !(cost > 0) || cost > 1e12 {
		return before
	}
	return &cost
}

// readExtra reads what is noted about a run: its model and its conversation.
func (r *langSmithRun) readExtra(b *build.Builder, c *jsonscan.Cursor) {
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "metadata":
			for ok := c.Object(); ok && c.Member(); {
				switch string(c.Key()) {
				case "session_id", "thread_id", "conversation_id":
					if text, ok := c.Text(); ok && r.session == "" {
						r.session = string(text)
					}
				case "ls_model_name":
					if text, ok := c.Text(); ok {
						r.ModelName = string(text)
					}
				}
			}
		case "invocation_params":
			for ok := c.Object(); ok && c.Member(); {
				switch string(c.Key()) {
				case "tools", "functions":
					r.Tools = b.ReadNewTools(c)
				case "model", "model_name":
					if text, ok := c.Text(); ok && r.ModelName == "" {
						r.ModelName = string(text)
					}
				}
			}
		}
	}
}

// finish turns what was read into a span.
func (r *langSmithRun) finish(b *build.Builder) {
	if up := strings.Split(r.Order, "."); r.Parent == "" && len(up) > 1 {
		if segment := up[len(up)-2]; len(segment) > 36 {
			r.Parent = segment[len(segment)-36:]
		}
	}
	r.Failed = r.state == "error" || !r.Failure.IsEmpty()
	switch {
	case r.Failed:
		r.Status = trace.StatusFailed
	case r.state == "success", r.state == "" && !r.End.IsZero():
		r.Status = trace.StatusOK
	}
	if r.stored && (r.inputs.IsZero() || r.outputs.IsZero()) {
		b.Anomaly(build.CodeContentStored, 1)
	}
	r.Input, r.Output = r.inputs, r.outputs
	if string(r.Output.Data) == "{}" {
		r.Output = trace.Raw{}
	}
	switch r.runType {
	case "llm":
		r.Kind = spantree.SpanModel
		usage, model := message.FindUsage(r.outputs.Data)
		if usage.Known {
			r.Tokens = usage
		}
		r.ModelName = cmp.Or(model, r.ModelName)
	case "tool":
		r.Kind = spantree.SpanTool
	}
	r.Platform = r.Kind
}
