package mcp

import (
	"cmp"
	"maps"
	"strconv"
	"strings"
	"time"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/internal/build"
)

// mcpID is an id as one side of a connection counts them: 1 and "1" are two.
type mcpID struct {
	peer string // of a relay; "" for the agent's connection
	side string
	id   string
}

// mcpCall is a call of a session: the agent's, or one that a relay made for it.
type mcpCall struct {
	trace.Call
	made     []int // by the relay because of this call, in order
	asked    int   // number of the message with the request
	answered int   // and with the answer; 0 if there is none
	user     string
}

// mcpReader puts a session together.
type mcpReader struct {
	b       *build.Builder
	gap     time.Duration
	calls   []mcpCall
	agents  []int                             // the calls of the agent, in order
	waits   map[mcpID][]int                   // calls that wait for a response
	others  map[mcpID]int                     // requests of other kinds that wait, and how many
	halfway map[string]map[trace.Name]([]int) // calls that asked for more input, by peer
	latest  map[string]int                    // the agent's last call with an id
	tools   map[trace.Name]bool               // that the agent was offered
	user    string                            // what the last call said the user's message was
	n       int                               // messages so far
}

// mcpMessage is a message with what is told about it.
type mcpMessage struct {
	n       int
	peer    string
	side    string
	at      time.Time
	within  trace.Value
	message trace.Value

	by       string
	attached trace.Value
}

func assembleMCP(key string, parts []trace.Fragment, gap time.Duration) ([]*trace.Trajectory, error) {
	r := mcpReader{
		b: build.New(0), gap: gap, waits: map[mcpID][]int{}, others: map[mcpID]int{},
		halfway: map[string]map[trace.Name][]int{}, latest: map[string]int{}, tools: map[trace.Name]bool{},
	}
	t := r.b.Trajectory
	t.Offset = -1
	t.Session = strings.TrimPrefix(key, "session:")
	if t.Session == key {
		t.Session = ""
		t.ID = strings.TrimPrefix(key, "file:")
	} else {
		t.ID = t.Session
	}
	var deferred []mcpMessage
	for i := range parts {
		v, err := trace.ParseValue(parts[i].Data)
		if err != nil {
			continue // it was valid in its record
		}
		r.n++
		m := mcpMessage{n: r.n, side: v.Member("side").Text, within: v.Member("within"), message: v.Member("message"), by: v.Member("by").Text, attached: v.Member("attached")}
		m.at, _ = trace.ParseTime(v.Member("at").Text)
		if peer := v.Member("peer").Text; peer != agentPeer {
			m.peer = strings.TrimPrefix(peer, upstreamPeer)
		}
		if relay := v.Member("awo"); relay.Kind == trace.Object && t.Relay == nil {
			t.Relay = relayOf(relay)
			if cut := relay.Member("incomplete"); cut.Kind == trace.Bool && cut.Bool {
				r.b.Anomaly(trace.CodeRecordingCut, 1)
			}
		}
		switch {
		case m.message.Member("method").Kind == trace.String:
			r.request(m)
		case !r.response(m):
			deferred = append(deferred, m) // the other direction may be in a file behind
		}
	}
	for _, m := range deferred {
		if !r.response(m) && m.peer == "" {
			r.b.Anomaly(trace.CodeOrphanResult, 1)
		}
	}
	r.place()
	t = r.b.Finish()
	t.Source = parts[0].Pos
	if len(t.Calls) == 0 && len(t.Tools) == 0 {
		return nil, nil
	}
	return []*trace.Trajectory{t}, nil
}

// relayOf reads what a relay wrote of itself.
func relayOf(v trace.Value) *trace.Relay {
	names := func(v trace.Value) (out []string) {
		for _, e := range v.Elems {
			if name := cmp.Or(e.Text, e.Member("name", "id").Text); name != "" {
				out = append(out, name)
			}
		}
		return out
	}
	out := &trace.Relay{
		Version: v.Member("version").Text, Arm: v.Member("arm").Text, Unit: v.Member("unit").Text, UnitID: v.Member("unit_id").Text,
		MetaTools: names(v.Member("meta_tools")), Prefetch: names(v.Member("prefetch")),
	}
	out.Share, _ = strconv.ParseFloat(v.Member("share").Text, 64)
	out.Seed, _ = strconv.ParseUint(v.Member("seed").Text, 10, 64)
	return out
}

// restart forgets what the client of a connection waits for: it begins again. What the
// server asked may stand in another file and is kept.
func (r *mcpReader) restart(peer string) {
	begun := func(id mcpID) bool { return id.peer == peer && id.side == "client" }
	maps.DeleteFunc(r.waits, func(id mcpID, _ []int) bool { return begun(id) })
	maps.DeleteFunc(r.others, func(id mcpID, _ int) bool { return begun(id) })
	delete(r.halfway, peer)
	if peer == "" {
		clear(r.latest)
	}
}

// idOf returns the id of a message of a side.
func (m mcpMessage) idOf(side string) (mcpID, bool) {
	id := m.message.Member("id")
	return mcpID{m.peer, side, canonical(id)}, id.Kind == trace.String || id.Kind == trace.Number
}

func canonical(v trace.Value) string { return string(v.AppendCanonical(nil)) }

// fromServer reports whether a request is one that only servers make.
func fromServer(method string) bool {
	switch method {
	case "sampling/createMessage", "roots/list", "elicitation/create":
		return true
	}
	return false
}

func (r *mcpReader) request(m mcpMessage) {
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
		cancelled := mcpID{m.peer, "client", canonical(params.Member("requestId"))}
		if len(r.waits[cancelled]) > 0 && m.side != "server" && m.peer == "" {
			r.b.Anomaly(build.CodeCallCancelled, 1)
		}
		return
	case !ok:
		return
	case method == "initialize":
		r.restart(m.peer)
		if m.peer == "" {
			r.agent(params.Member("clientInfo"))
		}
	case method == "tools/call":
		if r.call(m, id, params) {
			return
		}
	}
	r.others[id]++
}

// agent keeps the name of the agent that says it first.
func (r *mcpReader) agent(info trace.Value) {
	r.b.Trajectory.Agent = cmp.Or(r.b.Trajectory.Agent, info.Member("name").Text)
}

// call adds a call. It returns false if the request is none that counts: it names no
// tool, or only passes on what the agent asked for.
func (r *mcpReader) call(m mcpMessage, id mcpID, params trace.Value) bool {
	name := params.Member("name")
	if name.Kind != trace.String || name.Text == "" {
		r.b.Anomaly(build.CodeCallUnnamed, 1)
		return false
	}
	tool := r.b.Names.Intern([]byte(name.Text))
	if params.Member("requestState").Kind != trace.Null || params.Member("inputResponses").Kind != trace.Null {
		if open := r.halfway[m.peer][tool]; len(open) > 0 { // the same call again, with what it asked for
			r.halfway[m.peer][tool] = open[1:]
			r.waits[id] = append(r.waits[id], open[0])
			return true
		}
	}
	c := mcpCall{asked: m.n, Call: trace.Call{ID: m.message.Member("id").Text, Tool: tool, Args: trace.JSONOf([]byte("{}")), Turn: -1, Start: m.at}}
	if v := params.Member("arguments"); v.Kind != trace.Null { // a call without arguments has none
		c.Args = build.RawOf(v)
	}
	n := len(r.calls)
	if m.peer == "" {
		meta := params.Member("_meta")
		r.agent(meta.Member("io.modelcontextprotocol/clientInfo"))
		c.ID = cmp.Or(meta.Member("claudecode/toolUseId").Text, c.ID)
		if user := userMessage(meta); user != "" && user != r.user {
			r.user, c.user = user, user
		}
		r.agents = append(r.agents, n)
		r.latest[canonical(m.message.Member("id"))] = n
	} else if !r.byRelay(m, &c, params, n) {
		return false
	}
	r.calls = append(r.calls, c)
	r.waits[id] = append(r.waits[id], n)
	return true
}

// userMessage returns the id of the user's message that the agent works on, "" if it does
// not say.
func userMessage(meta trace.Value) string {
	turn := meta.Member("x-codex-turn-metadata")
	if turn.Kind == trace.String {
		turn, _ = trace.ParseValue([]byte(turn.Text))
	}
	for _, v := range []trace.Value{meta.Member("turn_id"), turn.Member("turn_id"), meta.Member("vscode.requestId"), meta.Member("requestId")} {
		if (v.Kind == trace.String || v.Kind == trace.Number) && v.Text != "" {
			return v.Text
		}
	}
	return ""
}

// byRelay says of a call to a server what made it, and of which of the agent's calls it
// is part. It returns false for one that is the agent's own, passed on.
func (r *mcpReader) byRelay(m mcpMessage, c *mcpCall, params trace.Value, n int) bool {
	request, as := m.within, ""
	if m.within.Kind == trace.Object {
		request, as, c.By = m.within.Member("request", "id"), m.within.Member("as", "origin").Text, m.within.Member("by").Text
	}
	parent, known := r.latest[canonical(request)]
	if c.Origin = originOf(as); c.Origin == trace.OriginModel {
		// A request of nobody, or the same call one hop further, is passed on.
		if request.Kind == trace.Null || known && r.passes(m, &r.calls[parent], params) {
			return false
		}
		c.Origin = trace.OriginMetaTool
	}
	c.ID = m.peer + ":" + c.ID
	c.Tool = r.offered(m.peer, c.Tool)
	if !known && len(r.agents) > 0 {
		parent, known = r.agents[len(r.agents)-1], true
	}
	if known {
		if c.Origin == trace.OriginMetaTool && c.By == "" {
			c.By = r.calls[parent].Tool.Value()
		}
		r.calls[parent].made = append(r.calls[parent].made, n)
		return true
	}
	r.agents = append(r.agents, n) // nothing was called before it
	return true
}

// originOf returns who makes or answers calls under a name, OriginModel if nobody that is
// known.
func originOf(name string) trace.Origin {
	switch name {
	case "meta-tool":
		return trace.OriginMetaTool
	case "prefetch":
		return trace.OriginPrefetch
	case "inertial":
		return trace.OriginInertial
	}
	return trace.OriginModel
}

// passes reports whether a request to a server is the agent's call with the same
// arguments, under the name that the server gives the tool.
func (r *mcpReader) passes(m mcpMessage, c *mcpCall, params trace.Value) bool {
	name := params.Member("name").Text
	if tool := c.Tool.Value(); tool != name && tool != m.peer+"_"+name {
		return false
	}
	args, _ := c.ArgsValue()
	given := params.Member("arguments")
	return given.Equal(args) || given.Kind == trace.Null && len(args.Members) == 0
}

// offered returns the name under which the agent was offered the tool of a server.
func (r *mcpReader) offered(server string, tool trace.Name) trace.Name {
	if long := r.b.Names.Intern([]byte(server + "_" + tool.Value())); !r.tools[tool] && r.tools[long] {
		return long
	}
	return tool
}

// response adds a response. It returns false if nothing waits for it.
func (r *mcpReader) response(m mcpMessage) bool {
	result, failure := m.message.Member("result"), m.message.Member("error")
	if tools := result.Member("tools"); tools.Kind == trace.Array && m.peer == "" {
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
	waits := r.waits[call]
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
	r.waits[call] = waits[1:]
	c := &r.calls[waits[0]]
	if result.Member("resultType").Text == "input_required" {
		if r.halfway[m.peer] == nil {
			r.halfway[m.peer] = map[trace.Name][]int{}
		}
		r.halfway[m.peer][c.Tool] = append(r.halfway[m.peer][c.Tool], waits[0])
		return true
	}
	answer(&c.Call, result, failure)
	c.End, c.answered = m.at, m.n
	if m.peer == "" {
		c.AnsweredBy = originOf(m.by)
		if m.attached.Kind == trace.Array && len(m.attached.Elems) > 0 {
			c.Attached = trace.Raw{Data: m.attached.AppendCanonical(nil), Form: trace.FormParts}
		}
	}
	return true
}

// answer gives a call its result: what it says in a structure, else its content.
func answer(c *trace.Call, result, failure trace.Value) {
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
