package codex

import (
	"bytes"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
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
	call := d.b.Call(d.b.Text(id), d.b.Names.Intern(name), it.args, trace.OriginModel)
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
	call := d.b.Result(it.callID, result)
	if call == nil {
		return
	}
	call.End = l.at
	if call.Status == trace.StatusUnknown {
		call.Status = status
	}
}

// codexOutput returns what a call returned and how it ended, if that can be told:
// by an object {content, success}, by {"output", "metadata": {"exit_code"}}, or by
// the lines before the output of a command.
func codexOutput(output trace.Raw) (trace.Raw, trace.Status) {
	if output.Form == trace.FormJSON {
		status := trace.StatusUnknown
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
	text := output.Content()
	c := jsonscan.New(text)
	status := trace.StatusUnknown
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) != "metadata" {
			continue
		}
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) == "exit_code" {
				if code, ok := c.Int(); ok {
					status = build.StatusOf(code == 0)
				}
			}
		}
	}
	if c.End() == nil {
		return output, status
	}
	return output, statusOfHeader(text)
}

// statusOfHeader reads the exit code in the lines that stand before the output of
// a command.
func statusOfHeader(text []byte) trace.Status {
	n := 0
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if n++; n > 8 || string(line) == "Output:" {
			break
		}
		for _, beginning := range []string{"Process exited with code ", "Exit code: "} {
			if code, ok := bytes.CutPrefix(line, []byte(beginning)); ok {
				return build.StatusOf(string(code) == "0")
			}
		}
	}
	return trace.StatusUnknown
}
