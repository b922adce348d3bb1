package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/awo-dev/awo/trace"
)

// client speaks MCP in lines. It is for one goroutine.
type client struct {
	in    io.Writer
	lines chan []byte
	next  int

	offered []trace.Value // definitions of tools, once it has begun
}

// patience is how long an answer may take.
const patience = time.Minute

type call struct {
	tool string
	args trace.Value
}

type answer struct {
	text     string
	failed   bool
	attached []trace.Value // what was read ahead
}

func newClient(in io.Writer, out io.Reader) *client {
	c := &client{in: in, lines: make(chan []byte, 64)}
	go func() {
		defer close(c.lines)
		r := bufio.NewReader(out)
		for {
			line, err := r.ReadBytes('\n')
			if len(line) > 0 {
				c.lines <- line
			}
			if err != nil {
				return
			}
		}
	}()
	return c
}

// send sends a request and returns its id, or a notification.
func (c *client) send(method string, params any, notify bool) (int, error) {
	message := map[string]any{"jsonrpc": "2.0", "method": method}
	if params != nil {
		message["params"] = params
	}
	if !notify {
		c.next++
		message["id"] = c.next
	}
	data, err := json.Marshal(message)
	if err != nil {
		return 0, err
	}
	_, err = c.in.Write(append(data, '\n'))
	return c.next, err
}

// await returns the results of requests, by id.
func (c *client) await(ids ...int) (map[int]trace.Value, error) {
	out := map[int]trace.Value{}
	waits := map[string]int{}
	for _, id := range ids {
		waits[strconv.Itoa(id)] = id
	}
	limit := time.After(patience)
	for len(out) < len(ids) {
		select {
		case line, open := <-c.lines:
			if !open {
				return nil, errors.New("awo has ended")
			}
			v, err := trace.ParseValue(line)
			if err != nil {
				return nil, err
			}
			id, ok := waits[v.Member("id").Text]
			if !ok || v.Member("method").Kind != trace.Null {
				continue
			}
			if e := v.Member("error"); e.Kind != trace.Null {
				out[id] = trace.NewObject(trace.Member{Name: "isError", Value: trace.Value{Kind: trace.Bool, Bool: true}})
				continue
			}
			out[id] = v.Member("result")
		case <-limit:
			return nil, errors.New("no answer within a minute")
		}
	}
	return out, nil
}

// begin begins the session and returns the names of the tools that are offered.
func (c *client) begin(name string) ([]string, error) {
	id, err := c.send("initialize", map[string]any{
		"protocolVersion": "2025-06-18", "capabilities": map[string]any{}, "clientInfo": map[string]string{"name": name, "version": "1"},
	}, false)
	if err == nil {
		_, err = c.await(id)
	}
	if err == nil {
		_, err = c.send("notifications/initialized", nil, true)
	}
	if err == nil {
		id, err = c.send("tools/list", map[string]any{}, false)
	}
	if err != nil {
		return nil, err
	}
	got, err := c.await(id)
	if err != nil {
		return nil, err
	}
	var names []string
	c.offered = got[id].Member("tools").Elems
	for _, t := range c.offered {
		names = append(names, t.Member("name").Text)
	}
	return names, nil
}

// call makes calls at once.
func (c *client) call(calls []call) ([]answer, error) {
	var ids []int
	for _, one := range calls {
		id, err := c.send("tools/call", map[string]any{"name": one.tool, "arguments": json.RawMessage(one.args.AppendCanonical(nil))}, false)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	got, err := c.await(ids...)
	if err != nil {
		return nil, err
	}
	out := make([]answer, len(calls))
	for i, id := range ids {
		result := got[id]
		out[i].failed = result.Member("isError").Bool
		content := result.Member("content").Elems
		for _, block := range content {
			out[i].text += block.Member("text").Text + "\n"
		}
		for _, block := range content[min(1, len(content)):] {
			if v, err := trace.ParseValue([]byte(block.Member("text").Text)); err == nil {
				out[i].attached = append(out[i].attached, v.Member("read_ahead").Elems...)
			}
		}
	}
	return out, nil
}
