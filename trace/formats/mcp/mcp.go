// Package mcp reads the messages between a client and a server of the Model Context
// Protocol.
//
// A line comes in as a fragment; the calls of a session are joined from them. No
// model takes part in these messages, so turns are not recorded. It is O(session).
package mcp

import (
	"cmp"
	"maps"
	"path/filepath"
	"strings"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// Format reads logs of the Model Context Protocol: its JSON-RPC messages, one
// a line (or a batch), bare or in an object of the logger's with the time, the
// direction and the session. A connection is a trajectory: that of a session, or
// of a file; two files that differ by .client and .server in their names are the
// directions of one.
//
// The protocol knows tool calls and no model: calls are in no turn. A response
// answers the oldest request of the other side with its id. IDs begin again with
// every initialize; both sides count their own.
var Format = trace.Format{
	Name:     "mcp",
	Doc:      "Logs of the Model Context Protocol: JSON-RPC messages, bare or wrapped.",
	Spec:     "https://modelcontextprotocol.io/specification",
	Detect:   detectMCP,
	Decode:   decodeMCP,
	Assemble: assembleMCP,
}

func detectMCP(h trace.Head) trace.Match {
	for _, r := range h.Records {
		if strings.Trim(string(r.Members["jsonrpc"]), `"`) == "2.0" {
			return trace.Match{OK: true}
		}
		for _, name := range []string{"message", "data", "payload", "body", "msg"} {
			if inner, ok := r.Members[name]; ok && build.HasMember(inner, "jsonrpc") {
				return trace.Match{OK: true}
			}
			if inner := r.Members[name]; strings.HasPrefix(string(inner), `"{\"jsonrpc\"`) {
				return trace.Match{OK: true}
			}
		}
		if len(r.Raw) > 0 && r.Raw[0] == '[' {
			c := jsonscan.New(r.Raw)
			if c.Array() && c.Element() && build.HasMember(r.Raw[c.Offset():], "jsonrpc") {
				return trace.Match{OK: true}
			}
		}
		if r.Has("method", "params") {
			return trace.Match{Lacks: `the messages have no "jsonrpc"`}
		}
	}
	return trace.Match{}
}

// mcpLine is what a logger says about the message in it.
type mcpLine struct {
	at            []byte
	side, session string
	messages      [][]byte
}

// readMCPLine reads a line.
func readMCPLine(data []byte) (l mcpLine) {
	c := jsonscan.New(data)
	if c.Kind() == jsonscan.Array {
		for ok := c.Array(); ok && c.Element(); {
			l.messages = append(l.messages, c.Raw())
		}
		return l
	}
	bare := false
	var wrapped []byte
	for ok := c.Object(); ok && c.Member(); {
		switch string(c.Key()) {
		case "jsonrpc":
			bare = true
		case "timestamp", "time", "ts":
			l.at, _ = c.Text()
		case "direction", "dir", "from", "sender", "source":
			text, _ := c.Text()
			l.side = mcpSide(string(text))
		case "sessionId", "session_id", "mcpSessionId", "connectionId", "connection_id", "connection", "session":
			text, _ := c.Text()
			l.session = cmp.Or(string(text), l.session)
		case "message", "data", "payload", "body", "msg":
			if c.Kind() == jsonscan.String {
				wrapped, _ = c.Text()
			} else {
				wrapped = c.Raw()
			}
		}
	}
	switch {
	case bare:
		return mcpLine{messages: [][]byte{data}}
	case wrapped != nil && trace.ArgsStateOf(wrapped) == trace.ArgsObject:
		l.messages = [][]byte{wrapped}
	case wrapped != nil:
		in := jsonscan.New(wrapped)
		for ok := in.Array(); ok && in.Element(); {
			l.messages = append(l.messages, in.Raw())
		}
		if in.End() != nil {
			l.messages = nil
		}
	}
	return l
}

// mcpSide returns who sends in a direction, "" if its name does not say.
func mcpSide(direction string) string {
	d := strings.ToLower(direction)
	switch {
	case strings.HasPrefix(d, "client"), d == "send", d == "sent", d == "out", d == "outgoing", d == "outbound", d == "request", d == "->", d == ">":
		return "client"
	case strings.HasPrefix(d, "server"), d == "recv", d == "receive", d == "received", d == "in", d == "incoming", d == "inbound", d == "response", d == "<-", d == "<":
		return "server"
	}
	return ""
}

func decodeMCP(r trace.Record) ([]trace.Fragment, error) {
	c := jsonscan.New(r.Data)
	c.Skip()
	if err := c.End(); err != nil {
		return nil, trace.ScanError(r, err)
	}
	l := readMCPLine(r.Data)
	name := trace.UnpackedName(r.File)
	name = strings.TrimSuffix(name, filepath.Ext(name))
	for _, side := range []string{"client", "server"} {
		if base, ok := strings.CutSuffix(name, "."+side); ok {
			name, l.side = base, cmp.Or(l.side, side)
			break
		}
	}
	key := "file:" + name
	if l.session != "" {
		key = "session:" + l.session
	}
	order := int64(0)
	if at, ok := trace.ParseTime(l.at); ok {
		order = at.UnixMicro()
	}
	var out []trace.Fragment
	for _, message := range l.messages {
		if !build.HasMember(message, "jsonrpc") {
			continue
		}
		part := jsonscan.AppendQuoted([]byte(`{"at":`), l.at)
		part = jsonscan.AppendQuoted(append(part, `,"side":`...), l.side)
		part = append(append(append(part, `,"message":`...), message...), '}')
		out = append(out, trace.Fragment{Key: key, Order: order, Data: part, Pos: r.Pos()})
	}
	if len(out) == 0 {
		return build.New(0).FinishRecord(r, &c, "this record holds no JSON-RPC message")
	}
	return out, nil
}

// mcpID is an id as one side counts them: 1 and "1" are two.
type mcpID struct {
	side string
	id   string
}

// mcpReader puts a connection together.
type mcpReader struct {
	b       *build.Builder
	calls   map[mcpID][]int // that wait for a response
	others  map[mcpID]int   // requests of other kinds that wait, and how many
	tools   map[trace.Name]bool
	halfway []int // calls that asked for more input
}

// mcpMessage is a message with what is told about it.
type mcpMessage struct {
	side    string
	at      time.Time
	message trace.Value
}

func assembleMCP(key string, parts []trace.Fragment) ([]*trace.Trajectory, error) {
	r := mcpReader{b: build.New(0), others: map[mcpID]int{}, tools: map[trace.Name]bool{}}
	t := r.b.Trajectory
	t.Offset = -1
	t.Session = strings.TrimPrefix(key, "session:")
	if t.Session == key {
		t.Session = ""
		t.ID = strings.TrimPrefix(key, "file:")
	} else {
		t.ID = t.Session
	}
	r.restart()
	var deferred []mcpMessage
	for i := range parts {
		v, err := trace.ParseValue(parts[i].Data)
		if err != nil {
			continue // it was valid in its record
		}
		m := mcpMessage{side: v.Member("side").Text, message: v.Member("message")}
		m.at, _ = trace.ParseTime(v.Member("at").Text)
		switch {
		case m.message.Member("method").Kind == trace.String:
			r.request(m)
		case !r.response(m):
			deferred = append(deferred, m) // the other direction may be in a file behind
		}
	}
	for _, m := range deferred {
		if !r.response(m) {
			r.b.Anomaly(trace.CodeOrphanResult, 1)
		}
	}
	t = r.b.Finish()
	t.Source = parts[0].Pos
	if len(t.Calls) == 0 && len(t.Tools) == 0 {
		return nil, nil
	}
	return []*trace.Trajectory{t}, nil
}

// restart forgets what the client waits for: a connection begins. What the server
// asked may stand in another file and is kept.
func (r *mcpReader) restart() {
	r.calls, r.halfway = map[mcpID][]int{}, nil
	maps.DeleteFunc(r.others, func(id mcpID, _ int) bool { return id.side == "client" })
}

// idOf returns the id of a message of a side.
func (m mcpMessage) idOf(side string) (mcpID, bool) {
	id := m.message.Member("id")
	return mcpID{side, string(id.AppendCanonical(nil))}, id.Kind == trace.String || id.Kind == trace.Number
}

// fromServer reports whether a request is one that only servers make.
func fromServer(method string) bool {
	switch method {
	case "sampling/createMessage", "roots/list", "elicitation/create":
		return true
	}
	return false
}

func (r *mcpReader) request(m mcpMessage) {
	b := r.b
	method, params := m.message.Member("method").Text, m.message.Member("params")
	side := m.side
	switch {
	case fromServer(method):
		side = "server"
	case method != "ping":
		side = "client"
	}
	id, ok := m.idOf(side)
	switch {
	case method == "notifications/cancelled":
		cancelled := mcpID{"client", string(params.Member("requestId").AppendCanonical(nil))}
		if len(r.calls[cancelled]) > 0 && m.side != "server" {
			b.Anomaly(build.CodeCallCancelled, 1)
		}
		return
	case !ok:
		return
	case method == "initialize":
		r.restart()
		b.Trajectory.Agent = cmp.Or(b.Trajectory.Agent, params.Member("clientInfo").Member("name").Text)
	case method == "tools/call":
		name := params.Member("name")
		if name.Kind != trace.String || name.Text == "" {
			b.Anomaly(build.CodeCallUnnamed, 1)
			break
		}
		tool := b.Names.Intern([]byte(name.Text))
		if params.Member("requestState").Kind != trace.Null || params.Member("inputResponses").Kind != trace.Null {
			for i, call := range r.halfway { // the same call again, with what it asked for
				if b.Trajectory.Calls[call].Tool == tool {
					r.halfway = append(r.halfway[:i:i], r.halfway[i+1:]...)
					r.calls[id] = append(r.calls[id], call)
					return
				}
			}
		}
		args := trace.JSONOf([]byte("{}")) // a call without arguments has none
		if v := params.Member("arguments"); v.Kind != trace.Null {
			args = build.RawOf(v)
		}
		r.calls[id] = append(r.calls[id], len(b.Trajectory.Calls))
		text := m.message.Member("id").Text
		b.CallOutsideTurns(b.Text([]byte(text)), tool, args, trace.OriginModel).Start = m.at
		return
	}
	r.others[id]++
}

// response adds a response. It returns false if nothing waits for it.
func (r *mcpReader) response(m mcpMessage) bool {
	result, failure := m.message.Member("result"), m.message.Member("error")
	if tools := result.Member("tools"); tools.Kind == trace.Array {
		for _, tool := range r.b.ToolsOf(tools) {
			if !r.tools[tool.Name] {
				r.tools[tool.Name] = true
				r.b.Trajectory.Tools = append(r.b.Trajectory.Tools, tool)
			}
		}
	}
	call, ok := m.idOf("client")
	if !ok {
		return true // an error about something that was no request
	}
	// The requests that it can answer are those of the other side.
	others := []string{"client", "server", ""}
	switch m.side {
	case "client":
		others = []string{"server", ""}
	case "server":
		others = []string{"client", ""}
	}
	waits := r.calls[call]
	if m.side == "client" {
		waits = nil
	}
	isResult := failure.Kind != trace.Null || result.Member("content", "structuredContent", "isError", "resultType").Kind != trace.Null
	if len(waits) == 0 || !isResult {
		for _, side := range others {
			id, _ := m.idOf(side)
			if r.others[id] > 0 {
				r.others[id]--
				return true
			}
		}
	}
	if len(waits) == 0 {
		return false
	}
	if result.Member("resultType").Text == "input_required" {
		r.calls[call] = waits[1:]
		r.halfway = append(r.halfway, waits[0])
		return true
	}
	r.calls[call] = waits[1:]
	r.answer(&r.b.Trajectory.Calls[waits[0]], result, failure)
	r.b.Trajectory.Calls[waits[0]].End = m.at
	return true
}

// answer gives a call its result: what it says in a structure, else its content.
func (r *mcpReader) answer(c *trace.Call, result, failure trace.Value) {
	c.HasResult = true
	if failure.Kind != trace.Null {
		c.Status, c.Error = trace.StatusFailed, build.RawOf(failure.Member("message"))
		return
	}
	c.Status = trace.StatusOK
	if failed := result.Member("isError"); failed.Kind == trace.Bool && failed.Bool {
		c.Status = trace.StatusFailed
	}
	if structured := result.Member("structuredContent"); structured.Kind != trace.Null {
		c.Result = build.RawOf(structured)
	} else if content := result.Member("content"); content.Kind == trace.Array {
		c.Result = trace.Raw{Data: content.AppendCanonical(nil), Form: trace.FormParts}
	} else {
		c.Result = build.RawOf(result)
	}
}
