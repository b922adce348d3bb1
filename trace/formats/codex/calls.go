package codex

import (
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
	"github.com/awo-dev/awo/trace/formats/internal/message"
)

// find returns the last call with an id.
func (d *codexDecoder) find(id []byte) *trace.Call {
	if i, ok := d.calls[string(id)]; ok && len(id) > 0 {
		return &d.b.Trajectory.Calls[i]
	}
	return nil
}

// statusOfMCP reads the result of an MCP tool: {"Ok": {..., "isError": true}} or
// {"Err": ...}.
func statusOfMCP(result trace.Raw) trace.Status {
	if result.Form != trace.FormJSON {
		return trace.StatusUnknown
	}
	status := trace.StatusUnknown
	c := jsonscan.New(result.Data)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "Err":
			status = trace.StatusFailed
		case "Ok":
			status = trace.StatusOK
			for ok := c.Object(); ok && c.Member(); {
				if key := string(c.Key()); key == "isError" || key == "is_error" {
					if failed, _ := c.Bool(); failed {
						status = trace.StatusFailed
					}
				}
			}
		}
	}
	return status
}

// call adds a call. Calls that the interface answers itself have no output of
// their own, but say how they ended.
func (d *codexDecoder) call(l *codexLine) {
	it := &l.item
	name := it.name
	builtIn := it.kind == "web_search_call" || it.kind == "image_generation_call"
	if len(name) == 0 && it.kind != "function_call" && it.kind != "custom_tool_call" {
		name = []byte(strings.TrimSuffix(it.kind, "_call"))
	}
	d.turn(l.at)
	if len(name) == 0 {
		d.b.Anomaly(build.CodeCallUnnamed, 1)
		return
	}
	id := it.callID
	if len(id) == 0 {
		id = it.id
	}
	add := d.b.Call
	if it.kind == "custom_tool_call" {
		add = d.b.TextCall
	}
	call := add(d.b.Text(id), d.b.Names.Intern(name), it.args, trace.OriginModel)
	call.Start = l.at
	d.calls[call.ID] = len(d.b.Trajectory.Calls) - 1
	if !builtIn {
		return
	}
	call.HasResult, call.Result = !it.output.IsZero() || it.status == "completed" || it.status == "failed", it.output
	switch it.status {
	case "completed":
		call.Status, call.End = trace.StatusOK, l.at
	case "failed":
		call.Status, call.End = trace.StatusFailed, l.at
	}
}

// output adds the result of a call.
func (d *codexDecoder) output(l *codexLine) {
	d.inTurn = false
	it := &l.item
	result, status := codexOutput(it.output)
	var call *trace.Call
	if hosted, ok := strings.CutSuffix(it.kind, "_output"); ok && len(it.callID) == 0 {
		call = d.b.NamedResult([]byte(strings.TrimSuffix(hosted, "_call")), result)
	} else {
		call = d.b.Result(it.callID, result)
	}
	if call == nil {
		return
	}
	call.End = l.at
	if call.Status == trace.StatusUnknown {
		call.Status = status
	}
}

// codexOutput returns what a call returned and how it ended, if an object {content,
// success} says so.
func codexOutput(output trace.Raw) (trace.Raw, trace.Status) {
	status := trace.StatusUnknown
	if output = message.AsResult(output); output.Form != trace.FormJSON {
		return output, status
	}
	result := output
	c := jsonscan.New(output.Data)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "content":
			result = build.ReadContent(&c)
		case "success":
			if ok, is := c.Bool(); is {
				status = build.StatusOf(ok)
			}
		}
	}
	return result, status
}

// ran notes what an event tells of the end of a call: how it ended, and what it put out,
// which counts where no output was recorded.
func (d *codexDecoder) ran(l *codexLine) {
	it := &l.item
	call := d.find(it.callID)
	if call == nil {
		return
	}
	status := it.state
	if it.kind == "mcp_tool_call_end" {
		status = statusOfMCP(it.output)
	}
	if status != trace.StatusUnknown {
		call.Status = status
	}
	if it.kind != "mcp_tool_call_end" && !it.printed.IsZero() {
		d.printed[d.calls[call.ID]] = l
	}
}

// fill gives the calls without an output what events told that they put out.
func (d *codexDecoder) fill() {
	for i, l := range d.printed {
		if call := &d.b.Trajectory.Calls[i]; !call.HasResult {
			call.HasResult, call.Result, call.End = true, l.item.printed, l.at
		}
	}
}
