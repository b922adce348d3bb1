package serve

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// maxAsked is how many questions of servers may wait for the agent.
const maxAsked = 1000

// all returns a list of all servers.
func (s *session) all(method string) [][]json.RawMessage {
	out := make([][]json.RawMessage, len(s.ups))
	for i, u := range s.ups {
		u.mu.Lock()
		out[i] = u.lists[method]
		u.mu.Unlock()
	}
	return out
}

// list returns what a list of all servers is, and where its names lead.
func (s *session) list(method string) ([]json.RawMessage, map[string]place) {
	lists := s.all(method)
	switch method {
	case "resources/list":
		return resources(s.ups, lists, "uri")
	case "resources/templates/list":
		return resources(s.ups, lists, "uriTemplate")
	}
	return merged(s.ups, lists)
}

// request deals with a request of the agent's once the session has begun.
func (s *session) request(m *jsonrpc.Request) {
	params := m.Params
	switch m.Method {
	case "tools/list", "prompts/list", "resources/list", "resources/templates/list":
		definitions, _ := s.list(m.Method)
		s.reply(m.ID, listResult(listMember[m.Method], definitions))
	case "tools/call", "prompts/get":
		method, what := "tools/list", "tool"
		if m.Method == "prompts/get" {
			method, what = "prompts/list", "prompt"
		}
		name := text(member(params, "name"))
		_, places := s.list(method)
		p, ok := places[name]
		if !ok {
			s.refuse(m.ID, jsonrpc.CodeInvalidParams, fmt.Sprintf("unknown %s %s", what, strconv.Quote(name)))
			return
		}
		if p.name != name {
			params = replaced(params, "name", quoted(p.name))
		}
		s.pass(p.up, m, params)
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		uri := text(member(params, "uri"))
		if u := s.owner(uri); u != nil {
			s.pass(u, m, params)
		} else {
			s.refuse(m.ID, -32002, "no server has resources")
		}
	case "completion/complete":
		s.complete(m)
	case "logging/setLevel":
		for _, u := range s.ups {
			if u.has("logging") {
				u.call(m.Method, params, func(*jsonrpc.Response) {})
			}
		}
		s.reply(m.ID, []byte(`{}`))
	default:
		if len(s.ups) == 1 {
			s.pass(s.ups[0], m, params)
			return
		}
		s.refuse(m.ID, jsonrpc.CodeMethodNotFound, "there is no method "+strconv.Quote(m.Method))
	}
}

func listResult(name string, definitions []json.RawMessage) []byte {
	out := append(append([]byte(`{`), quoted(name)...), ":["...)
	for i, d := range definitions {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, d...)
	}
	return append(out, "]}"...)
}

// owner returns the server that has a resource: that which lists it, else the first
// with a template for it, else the first with resources at all.
func (s *session) owner(uri string) *upstream {
	_, places := s.list("resources/list")
	if p, ok := places[uri]; ok {
		return p.up
	}
	for i, templates := range s.all("resources/templates/list") {
		for _, t := range templates {
			if underTemplate(uri, text(member(t, "uriTemplate"))) {
				return s.ups[i]
			}
		}
	}
	for _, u := range s.ups {
		if u.has("resources") {
			return u
		}
	}
	return nil
}

func (s *session) complete(m *jsonrpc.Request) {
	ref := member(m.Params, "ref")
	params := m.Params
	var u *upstream
	if uri := text(member(ref, "uri")); uri != "" {
		_, places := s.list("resources/templates/list")
		if u = places[uri].up; u == nil {
			u = s.owner(uri)
		}
	} else {
		name := text(member(ref, "name"))
		_, places := s.list("prompts/list")
		if p := places[name]; p.up != nil {
			u = p.up
			if p.name != name {
				params = replaced(params, "ref", replaced(ref, "name", quoted(p.name)))
			}
		}
	}
	if u == nil {
		s.refuse(m.ID, jsonrpc.CodeInvalidParams, "no server completes this")
		return
	}
	s.pass(u, m, params)
}

// pass sends a request on to a server, and its answer back.
func (s *session) pass(u *upstream, m *jsonrpc.Request, params json.RawMessage) {
	s.mu.Lock()
	if _, twice := s.flights[m.ID]; twice {
		s.mu.Unlock()
		s.refuse(m.ID, jsonrpc.CodeInvalidRequest, "a request with this id is in flight")
		return
	}
	s.flights[m.ID] = flight{up: u}
	s.mu.Unlock()
	id, ok := u.call(m.Method, params, func(r *jsonrpc.Response) {
		s.mu.Lock()
		_, waits := s.flights[m.ID]
		delete(s.flights, m.ID)
		s.mu.Unlock()
		switch {
		case !waits: // cancelled
		case r != nil:
			s.send(&jsonrpc.Response{ID: m.ID, Result: r.Result, Error: r.Error}, m.ID)
		default:
			s.unanswered(m, fmt.Sprintf("The server %s ended before it answered. The outcome is unknown: the call may have been made.", u.server.Name))
		}
	})
	if !ok {
		s.mu.Lock()
		delete(s.flights, m.ID)
		s.mu.Unlock()
		u.mu.Lock()
		reason := u.reason
		u.mu.Unlock()
		if reason == "" {
			reason = "it does not read what it is sent"
		}
		s.unanswered(m, fmt.Sprintf("The call was not made: the server %s is not available (%s).", u.server.Name, reason))
		return
	}
	s.mu.Lock()
	if f, still := s.flights[m.ID]; still {
		f.id = id
		s.flights[m.ID] = f
	}
	s.mu.Unlock()
}

// unanswered answers in a server's place: a model reads the result of a call, and no
// errors of the protocol.
func (s *session) unanswered(m *jsonrpc.Request, why string) {
	if m.Method != "tools/call" {
		s.refuse(m.ID, jsonrpc.CodeInternalError, why)
		return
	}
	s.reply(m.ID, append(append([]byte(`{"content":[{"type":"text","text":`), quoted(why)...), `}],"isError":true}`...))
}

// notified deals with a notification of the agent's.
func (s *session) notified(m *jsonrpc.Request) {
	switch m.Method {
	case "notifications/initialized": // servers got theirs
	case "notifications/cancelled":
		id, ok := idOf(member(m.Params, "requestId"))
		if !ok {
			return
		}
		s.mu.Lock()
		f, in := s.flights[id]
		delete(s.flights, id)
		s.mu.Unlock()
		if in && f.id != 0 {
			f.up.cancel(f.id, m.Params)
		}
	default: // progress of what servers asked for, roots that changed: for whom, only they know
		for _, u := range s.ups {
			u.send(&jsonrpc.Request{Method: m.Method, Params: m.Params})
		}
	}
}

// idOf reads the id of a request as it stands in a message.
func idOf(raw []byte) (jsonrpc.ID, bool) {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return jsonrpc.ID{}, false
	}
	id, err := jsonrpc.MakeID(v)
	return id, err == nil && id.IsValid()
}

// related returns the agent's newest request at a server: what the server says now has
// most likely to do with it.
func (s *session) related(u *upstream) (id jsonrpc.ID) {
	newest := int64(0)
	for downstream, f := range s.flights {
		if f.up == u && f.id >= newest {
			id, newest = downstream, f.id
		}
	}
	return id
}

// fromServer deals with a request or notification of a server's.
func (s *session) fromServer(u *upstream, m *jsonrpc.Request) {
	if m.IsCall() {
		if m.Method == "ping" {
			u.send(&jsonrpc.Response{ID: m.ID, Result: json.RawMessage(`{}`)})
			return
		}
		s.mu.Lock()
		if !s.answered || len(s.asked) >= maxAsked {
			s.mu.Unlock()
			u.send(&jsonrpc.Response{ID: m.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the client cannot be asked now"}})
			return
		}
		s.last++
		id := "awo-" + strconv.Itoa(s.last)
		s.asked[id] = question{u, m.ID}
		related := s.related(u)
		s.mu.Unlock()
		own, _ := jsonrpc.MakeID(id)
		s.send(&jsonrpc.Request{ID: own, Method: m.Method, Params: m.Params}, related)
		return
	}
	if method := changes[m.Method]; method != "" {
		u.changed(method, m)
		return
	}
	params := m.Params
	s.mu.Lock()
	answered, related := s.answered, s.related(u)
	if m.Method == "notifications/cancelled" {
		id, _ := idOf(member(params, "requestId"))
		for own, q := range s.asked {
			if q.up == u && q.id == id {
				params = replaced(params, "requestId", quoted(own))
				delete(s.asked, own)
			}
		}
	}
	s.mu.Unlock()
	if answered {
		s.send(&jsonrpc.Request{Method: m.Method, Params: params}, related)
	}
}
