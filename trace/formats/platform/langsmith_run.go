package platform

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/spantree"
)

// langSmithRun is a run as far as it was read.
type langSmithRun struct {
	spantree.RunSpan
	runType, state  string
	session         string
	inputs, outputs trace.Raw
	model           string
	tokens          trace.Usage
	cost            *float64
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
			*dst, r.tokens.Known = n, true
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
			value(&r.Err, &c)
		case "inputs":
			value(&r.inputs, &c)
		case "outputs":
			value(&r.outputs, &c)
		case "inputs_s3_urls", "outputs_s3_urls":
			r.stored = r.stored || c.Kind() == jsonscan.Object
		case "prompt_tokens":
			count(&r.tokens.Input, &c)
		case "completion_tokens":
			count(&r.tokens.Output, &c)
		case "total_cost":
			r.cost = readCost(&c, r.cost)
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
						r.model = string(text)
					}
				}
			}
		case "invocation_params":
			for ok := c.Object(); ok && c.Member(); {
				switch string(c.Key()) {
				case "tools", "functions":
					r.Tools = b.ReadNewTools(c)
				case "model", "model_name":
					if text, ok := c.Text(); ok && r.model == "" {
						r.model = string(text)
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
	r.Failed = r.state == "error" || !r.Err.IsEmpty()
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
		r.Kind = spantree.RunModel
		r.finishModel(b)
	case "tool":
		r.Kind = spantree.RunTool
		r.finishTool()
	}
}

func (r *langSmithRun) finishModel(b *build.Builder) {
	usage, model := findUsage(r.outputs.Data)
	if !usage.Known {
		usage = r.tokens
	}
	usage.CostUSD = r.cost
	r.Response = build.Response{Usage: usage, Model: cmp.Or(model, r.model)}
	if len(r.Tools) == 0 {
		r.Tools = spantree.ReadRunTools(b, r.Input)
	}
}

func (r *langSmithRun) finishTool() {
	r.Input, r.CallID = runToolInput(r.inputs)
	out := r.outputs
	if inner, ok := build.OnlyMember(out.Data, "output"); ok {
		out = inner
	}
	var m toolOutput
	m.read(out)
	r.Output = m.content
	if len(m.callID) > 0 {
		r.CallID = m.callID
	}
	if m.failed {
		r.Failed, r.Status = true, trace.StatusFailed
	}
}

// runToolInput returns the arguments of a tool, and the id of the call if they have
// it: LangChain gives tools the text of the arguments, or the whole call.
func runToolInput(inputs trace.Raw) (args trace.Raw, id []byte) {
	if inner, ok := build.OnlyMember(inputs.Data, "input"); ok {
		inputs = inner
	}
	text := spantree.InnerJSON(inputs)
	if text == nil {
		return inputs, nil
	}
	c := jsonscan.New(text)
	var kind []byte
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "type":
			kind, _ = c.Text()
		case "id":
			id, _ = c.Text()
		case "args":
			args = build.ReadArgs(&c)
		}
	}
	if string(kind) == "tool_call" && !args.IsZero() {
		return args, id
	}
	return inputs, nil
}

// toolOutput is what a tool gave back, taken out of a LangChain message.
type toolOutput struct {
	content trace.Raw
	callID  []byte
	failed  bool
	isTool  bool // it was in a message
}

func (m *toolOutput) read(out trace.Raw) {
	m.content = out
	text := spantree.InnerJSON(out)
	if text == nil || text[0] != '{' {
		return
	}
	said := spantree.ReadAnyMessage(text)
	if !said.Kwargs.IsZero() && string(said.Class) == "tool" {
		said = spantree.ReadAnyMessage(said.Kwargs.Data)
		said.Role = []byte("tool")
	}
	if len(said.CallID) == 0 || string(said.Role) != "tool" {
		return
	}
	m.content, m.callID, m.failed, m.isTool = said.Content, said.CallID, string(said.Status) == "error", true
	m.content = spantree.AsResult(m.content)
}

// findUsage looks for token counts and the model in what a model gave back.
func findUsage(data []byte) (u trace.Usage, model string) {
	var walk func(c *jsonscan.Cursor, depth int)
	walk = func(c *jsonscan.Cursor, depth int) {
		if depth > 2*spantree.MessageNesting {
			c.Skip()
			return
		}
		if c.Array() {
			for c.Element() {
				walk(c, depth+1)
			}
			return
		}
		for ok := c.Object(); ok && c.Member(); {
			switch string(c.Key()) {
			case "usage_metadata":
				if v := build.UsageLangChain.Read(c); v.Known {
					u = v
				}
			case "usage", "token_usage", "tokenUsage":
				if v := build.ReadUsage(c.Raw(), &build.UsageChat, &build.UsageResponses); v.Known && !u.Known {
					u = v
				}
			case "model", "model_name":
				if text, ok := c.Text(); ok && model == "" {
					model = string(text)
				}
			case "generations", "message", "kwargs", "llm_output", "response_metadata", "output":
				walk(c, depth+1)
			}
		}
	}
	c := jsonscan.New(data)
	walk(&c, 0)
	return u, model
}
