package gateway

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

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
	return merged(s.ups, s.all(method), cmp.Or(map[string]string{"resources/list": "uri", "resources/templates/list": "uriTemplate"}[method], "name"))
}

// request deals with a request of the agent's once the session has begun.
func (s *session) request(m *jsonrpc.Request) {
	params := m.Params
	switch m.Method {
	case "tools/list":
		s.reply(m.ID, listResult("tools", s.offer().listed))
	case "prompts/list", "resources/list", "resources/templates/list":
		definitions, _ := s.list(m.Method)
		s.reply(m.ID, listResult(listMember[m.Method], definitions))
	case "tools/call":
		s.callTool(m)
	case "prompts/get":
		name := text(member(params, "name"))
		_, places := s.list("prompts/list")
		p, ok := places[name]
		if !ok {
			s.refuse(m.ID, jsonrpc.CodeInvalidParams, "unknown prompt "+strconv.Quote(name))
			return
		}
		if p.name != name {
			params = replaced(params, "name", quoted(p.name))
		}
		s.pass(p.up, m, params, Handling{})
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		uri := text(member(params, "uri"))
		if u := s.owner(uri); u != nil && u.without() && m.Method != "resources/read" {
			u.watch(uri, m.Method == "resources/subscribe")
			s.reply(m.ID, []byte(`{}`))
		} else if u != nil {
			s.pass(u, m, params, Handling{})
		} else {
			s.refuse(m.ID, -32002, "no server has resources")
		}
	case "completion/complete":
		s.complete(m)
	case "logging/setLevel":
		for _, u := range s.ups {
			if u.has("logging") && !u.without() {
				u.call(m.Method, params, func(*jsonrpc.Response) {})
			}
		}
		s.reply(m.ID, []byte(`{}`))
	default:
		if len(s.ups) == 1 {
			s.pass(s.ups[0], m, params, Handling{})
			return
		}
		s.refuse(m.ID, jsonrpc.CodeMethodNotFound, "there is no method "+strconv.Quote(m.Method))
	}
}

func listResult(name string, definitions []json.RawMessage) []byte {
	out := append(append([]byte(`{`), quoted(name)...), ':')
	return append(append(out, list(definitions)...), '}')
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
	s.pass(u, m, params, Handling{})
}

// takeOff notes a request of the agent's that is under way; false if its id is in use.
func (s *session) takeOff(m *jsonrpc.Request, f flight) bool {
	f.token = string(member(m.Params, "_meta", "progressToken"))
	s.mu.Lock()
	_, twice := s.flights[m.ID]
	if !twice {
		s.flights[m.ID] = f
	}
	s.mu.Unlock()
	if twice {
		s.refuse(m.ID, jsonrpc.CodeInvalidRequest, "a request with this id is in flight")
	}
	return !twice
}

// land forgets a request that is to be answered; false if it was cancelled.
func (s *session) land(id jsonrpc.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, waits := s.flights[id]
	delete(s.flights, id)
	if f.cancel != nil {
		f.cancel()
	}
	return waits
}

// pass sends a request on to a server, and its answer back.
func (s *session) pass(u *upstream, m *jsonrpc.Request, params json.RawMessage, h Handling) {
	if s.takeOff(m, flight{up: u}) {
		s.passOnceThere(u, m, params, h)
	}
}

// passOnceThere is pass for a request that is noted.
func (s *session) passOnceThere(u *upstream, m *jsonrpc.Request, params json.RawMessage, h Handling) {
	u.mu.Lock()
	ready, away, full := u.ready, true, u.waiting >= maxWaiting || u.reason == errFull.Error()
	select {
	case <-ready:
		away = false
	default:
		if !full {
			u.waiting++
		}
	}
	u.mu.Unlock()
	switch {
	case !away:
		s.passNow(u, m, params, h)
		return
	case full:
		s.notMade(u, m, h)
		return
	}
	// It is shown as it was before: the call waits until the server is there again.
	s.after(m, func(ctx context.Context) json.RawMessage {
		select {
		case <-ready:
			away = false
		case <-ctx.Done():
		}
		u.mu.Lock()
		u.waiting--
		u.mu.Unlock()
		return nil
	}, func() {
		if away {
			s.notMade(u, m, h)
		} else {
			s.passNow(u, m, params, h)
		}
	})
}

// notMade answers a request that the server is not there for.
func (s *session) notMade(u *upstream, m *jsonrpc.Request, h Handling) {
	if h.Ended != nil {
		h.Ended(true)
	}
	s.land(m.ID)
	u.mu.Lock()
	reason := cmp.Or(u.reason, "it does not read what it is sent")
	u.mu.Unlock()
	s.unanswered(m, fmt.Sprintf("The call was not made: the server %s is not available (%s).", u.server.Name, reason))
}

// after makes a call that was noted once wait returns, unless that answers it or it was
// cancelled by then.
func (s *session) after(m *jsonrpc.Request, wait func(ctx context.Context) (answer json.RawMessage), pass func()) {
	ctx, cancel := context.WithTimeout(s.ctx, startWait)
	s.mu.Lock()
	if f, in := s.flights[m.ID]; in {
		f.cancel = cancel
		s.flights[m.ID] = f
	}
	s.mu.Unlock()
	s.work.Go(func() {
		defer cancel()
		if answer := wait(ctx); answer != nil {
			if s.land(m.ID) {
				s.reply(m.ID, answer)
			}
			return
		}
		s.mu.Lock()
		f, waits := s.flights[m.ID]
		f.cancel = nil // it is the server that hears of a cancel from here on
		if waits {
			s.flights[m.ID] = f
		}
		s.mu.Unlock()
		if waits {
			pass()
		}
	})
}

// startWait is how long a call waits for a server that is starting, or starting again.
const startWait = time.Minute

// maxWaiting is how many calls wait for a server.
const maxWaiting = 64

// passNow is passOnceThere for a server that is there.
func (s *session) passNow(u *upstream, m *jsonrpc.Request, params json.RawMessage, h Handling) {
	ended := func(failed bool) {
		if h.Ended != nil {
			h.Ended(failed)
		}
	}
	id, ok := u.callFor(nil, m.ID, m.Method, params, func(r *jsonrpc.Response) {
		switch {
		case r == nil:
			ended(true)
			if s.land(m.ID) {
				s.unanswered(m, fmt.Sprintf("The server %s ended before it answered. The outcome is unknown: the call may have been made.", u.server.Name))
			}
		case r.Error == nil && h.Attach != nil && string(member(r.Result, "isError")) != "true" && !unfinished(r.Result):
			s.attach(m, r.Result, h)
		case isLost(r):
			ended(true)
			if s.land(m.ID) {
				s.unanswered(m, r.Error.Error())
			}
		default:
			ended(r.Error != nil || string(member(r.Result, "isError")) == "true")
			if s.land(m.ID) {
				s.send(&jsonrpc.Response{ID: m.ID, Result: r.Result, Error: r.Error}, m.ID)
			}
		}
	})
	if !ok {
		s.notMade(u, m, h)
		return
	}
	s.mu.Lock()
	if f, still := s.flights[m.ID]; still {
		f.id = id
		s.flights[m.ID] = f
	}
	s.mu.Unlock()
}

// isLost reports whether a response stands in a server's place.
func isLost(r *jsonrpc.Response) bool {
	_, is := errors.AsType[*lost](r.Error)
	return is
}

// unanswered answers in a server's place: a model reads the result of a call, and no
// errors of the protocol.
func (s *session) unanswered(m *jsonrpc.Request, why string) {
	if m.Method != "tools/call" {
		s.refuse(m.ID, jsonrpc.CodeInternalError, why)
		return
	}
	s.reply(m.ID, failedResult(why))
}

// failedResult is the result of a call that failed.
func failedResult(why string) []byte {
	return append(append([]byte(`{"content":[{"type":"text","text":`), quoted(why)...), `}],"isError":true}`...)
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
		s.held = slices.DeleteFunc(s.held, func(m *jsonrpc.Request) bool { return m.ID == id })
		s.mu.Unlock()
		s.over(id, nil)
		switch {
		case in && f.cancel != nil: // whoever answers in the place of servers cancels their calls
			f.cancel()
		case in && f.id != 0:
			f.up.cancel(f.id, m.Params)
		}
	default: // progress of what servers asked for, roots that changed: for whom, only they know
		for _, u := range s.ups {
			if !u.without() { // others ask anew each time
				u.send(&jsonrpc.Request{Method: m.Method, Params: m.Params})
			}
		}
	}
}

// idOf reads the id of a request as it stands in a message.
func idOf(raw []byte) (jsonrpc.ID, bool) {
	id, ok := readID(raw)
	return id, ok && id.IsValid()
}

// related returns the request of the agent's that what a server says belongs to: the one
// that a token of progress is of, else the newest at that server, which it has most likely
// to do with.
func (s *session) related(u *upstream, token []byte) (id jsonrpc.ID) {
	newest := int64(0)
	for downstream, f := range s.flights {
		if len(token) > 0 && f.token == string(token) {
			return downstream
		}
		if f.up == u && f.id >= newest {
			id, newest = downstream, f.id
		}
	}
	return id
}

// ambiguous reports whether a question of a server that sessions share may belong to more
// than one of them: no user is asked about the call of another. s.mu is held.
func (s *session) ambiguous(u *upstream) bool {
	a, ok := s.agent.(*stateless)
	if !ok || !a.inside {
		return false
	}
	calls := 0
	for _, f := range s.flights {
		if f.up == u {
			calls++
		}
	}
	return calls > 1
}

// question notes a question to the agent and returns its id; s.mu is held.
func (s *session) question(q question) string {
	s.last++
	id := "awo-" + strconv.Itoa(s.last)
	s.asked[id] = q
	return id
}

// ask asks the agent something that belongs to a request of its own.
func (s *session) ask(ctx context.Context, request jsonrpc.ID, method string, params json.RawMessage) (json.RawMessage, error) {
	answered := make(chan *jsonrpc.Response, 1)
	s.mu.Lock()
	if len(s.asked) >= maxAsked {
		s.mu.Unlock()
		return nil, errors.New("too many questions wait for the agent")
	}
	id := s.question(question{answer: answered})
	s.mu.Unlock()
	own, _ := jsonrpc.MakeID(id)
	s.send(&jsonrpc.Request{ID: own, Method: method, Params: params}, request)
	select {
	case r := <-answered:
		if r.Error != nil {
			return nil, r.Error
		}
		return r.Result, nil
	case <-s.ctx.Done():
		return nil, s.ctx.Err()
	case <-ctx.Done():
		s.mu.Lock()
		delete(s.asked, id)
		s.mu.Unlock()
		return nil, ctx.Err()
	}
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
		if s.ambiguous(u) {
			s.mu.Unlock()
			u.send(&jsonrpc.Response{ID: m.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the server is shared by sessions, and nobody can tell whose call this question belongs to"}})
			return
		}
		id := s.question(question{up: u, id: m.ID})
		related := s.related(u, nil)
		s.mu.Unlock()
		own, _ := jsonrpc.MakeID(id)
		s.send(&jsonrpc.Request{ID: own, Method: m.Method, Params: m.Params}, related)
		return
	}
	if kind := kindOfChange(m.Method); kind != "" {
		u.changed(kind+"/list", m)
		return
	}
	if m.Method == "notifications/subscriptions/acknowledged" {
		return // the subscription is the gateway's
	}
	params := m.Params
	s.mu.Lock()
	answered, related := s.answered, s.related(u, member(params, "progressToken"))
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
