package trace

import (
	"bytes"
	"strings"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// find returns the last call with an id.
func (d *codexDecoder) find(id []byte) *Call {
	if i, ok := d.calls[string(id)]; ok && len(id) > 0 {
		return &d.b.t.Calls[i]
	}
	return nil
}

// statusOfMCP reads the result of an MCP tool: {"Ok": {..., "isError": true}} or
// {"Err": ...}.
func statusOfMCP(result Raw) Status {
	if result.Form != FormJSON {
		return StatusUnknown
	}
	status := StatusUnknown
	c := jsonscan.New(result.Data)
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "Err":
			status = StatusFailed
		case "Ok":
			status = StatusOK
			for ok := c.Object(); ok && c.Member(); {
				if key := string(c.Key()); key == "isError" || key == "is_error" {
					if failed, _ := c.Bool(); failed {
						status = StatusFailed
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
		d.b.odd(CodeCallUnnamed, 1)
		return
	}
	id := it.callID
	if len(id) == 0 {
		id = it.id
	}
	call := d.b.call(d.b.text(id), d.b.names.intern(name), it.args, OriginModel)
	call.Start = l.at
	d.calls[call.ID] = len(d.b.t.Calls) - 1
	if !builtIn {
		return
	}
	call.HasResult, call.Result = !it.output.IsZero() || it.status == "completed" || it.status == "failed", it.output
	switch it.status {
	case "completed":
		call.Status, call.End = StatusOK, l.at
	case "failed":
		call.Status, call.End = StatusFailed, l.at
	}
}

// output adds the result of a call.
func (d *codexDecoder) output(l *codexLine) {
	d.inTurn = false
	it := &l.item
	result, status := codexOutput(it.output)
	call := d.b.result(it.callID, result)
	if call == nil {
		return
	}
	call.End = l.at
	if call.Status == StatusUnknown {
		call.Status = status
	}
}

// codexOutput returns what a call returned and how it ended, if that can be told:
// by an object {content, success}, by {"output", "metadata": {"exit_code"}}, or by
// the lines before the output of a command.
func codexOutput(output Raw) (Raw, Status) {
	if output.Form == FormJSON {
		status := StatusUnknown
		result := output
		c := jsonscan.New(output.Data)
		for ok := c.Object(); ok && c.Member(); {
			switch string(c.Key()) {
			case "content":
				result = rawContent(&c)
			case "success":
				if ok, is := c.Bool(); is {
					status = statusOf(ok)
				}
			}
		}
		return result, status
	}
	text := output.content()
	c := jsonscan.New(text)
	status := StatusUnknown
	for ok := c.Object(); ok && c.Member(); {
		if string(c.Key()) != "metadata" {
			continue
		}
		for ok := c.Object(); ok && c.Member(); {
			if string(c.Key()) == "exit_code" {
				if code, ok := c.Int(); ok {
					status = statusOf(code == 0)
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
func statusOfHeader(text []byte) Status {
	n := 0
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if n++; n > 8 || string(line) == "Output:" {
			break
		}
		for _, beginning := range []string{"Process exited with code ", "Exit code: "} {
			if code, ok := bytes.CutPrefix(line, []byte(beginning)); ok {
				return statusOf(string(code) == "0")
			}
		}
	}
	return StatusUnknown
}
