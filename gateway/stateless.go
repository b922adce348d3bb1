package gateway

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Bounds of what agents without sessions leave here.
const (
	maxErrands = 1000             // requests under way
	parkedFor  = 10 * time.Minute // how long a request waits for answers to its questions
)

// stateless is the agent of a session whose requests are of the protocol without
// sessions. It begins the session by itself. Requests of several clients share it: each
// gets an id and a token of progress of its own. A question to the agent ends the answer
// that is under way: the agent asks again with what it was asked for, and is then given
// what its first request led to.
type stateless struct {
	g      *Gateway
	who    string
	server json.RawMessage // what is said of the gateway
	shared bool            // by clients that may differ in what they can
	inside bool            // these clients are sessions of this program, whose agents get results as they are
	idle   *time.Timer     // over HTTP
	gone   chan struct{}
	box    *queue[jsonrpc.Message] // for the session
	ready  chan struct{}           // closed when introduction is there
	said   json.RawMessage         // the result of initialize
	s      *session

	mu      sync.Mutex
	prefix  string // of what names a request that waits here: servers have states of their own, which pass
	begun   bool
	closed  bool
	after   []func() // once it is ready
	last    int64
	errands map[int64]*errand
	parked  map[string]*errand
	heard   map[*errand]*subscription
}

// errand is a request of an agent's, and those that it is made again with.
type errand struct {
	own     int64 // its id in the session
	id      jsonrpc.ID
	method  string
	name    string          // of what is called or read
	token   json.RawMessage // of progress
	can     json.RawMessage // capabilities
	level   string          // of what the agent wants logged, "" for nothing
	put     func(m jsonrpc.Message, last bool)
	asked   []*jsonrpc.Request // not answered yet
	state   string             // under which it is parked, "" if it is not
	answer  *jsonrpc.Response  // that came while it was parked
	timeout *time.Timer        // of parking
}

func newStateless(g *Gateway, who string, shared bool) *stateless {
	server := append([]byte(`{"name":"awo","version":`), quoted(g.options.Version)...)
	return &stateless{
		g: g, who: who, server: append(server, '}'), shared: shared, gone: make(chan struct{}), box: newQueue[jsonrpc.Message](), ready: make(chan struct{}),
		prefix: "awo-" + rand.Text() + "-", errands: map[int64]*errand{}, parked: map[string]*errand{}, heard: map[*errand]*subscription{},
	}
}

// isStateless reports whether a message is a request of the protocol without sessions.
func isStateless(params json.RawMessage) bool {
	return text(member(params, "_meta", metaVersion)) >= statelessVersion
}

// Identity implements Identified.
func (a *stateless) Identity() string { return a.who }

// era says which protocol the agent speaks.
func (a *stateless) era() string { return statelessVersion }

// of implements serves.
func (a *stateless) of(s *session) { a.s = s }

// Read implements Agent.
func (a *stateless) Read(ctx context.Context) (jsonrpc.Message, error) {
	return a.box.next(ctx, a.gone)
}

// Close implements Agent.
func (a *stateless) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return nil
	}
	a.closed = true
	for _, e := range a.parked {
		e.timeout.Stop()
	}
	for e := range a.heard { // the agent is told that nothing more comes
		e.put(&jsonrpc.Response{ID: e.id, Result: a.complete(e.method, tagged(json.RawMessage(`{}`), e.id))}, true)
	}
	clear(a.heard)
	close(a.gone)
	return nil
}

// once calls f when the session has begun, which the first call does; a.mu is held.
func (a *stateless) once(params json.RawMessage, f func()) {
	select {
	case <-a.ready:
		f()
		return
	default:
	}
	a.after = append(a.after, f)
	if a.begun {
		return
	}
	a.begun = true
	can := member(params, "_meta", metaCapabilities)
	if a.shared || len(can) == 0 {
		can = []byte(`{"elicitation":{"form":{},"url":{}},"sampling":{},"roots":{}}`)
	}
	client := member(params, "_meta", metaClient)
	if a.shared {
		client = a.server // one of several is not all of them
	} else if len(client) == 0 {
		client = []byte(`{"name":"unknown","version":""}`)
	}
	begin := append([]byte(`{"protocolVersion":"`+versions[0]+`","capabilities":`), can...)
	begin = append(append(append(begin, `,"clientInfo":`...), client...), '}')
	a.box.put(&jsonrpc.Request{ID: numberID(0), Method: "initialize", Params: begin})
}

// nameOf returns what a request calls, gets or reads.
func nameOf(method string, params json.RawMessage) string {
	switch method {
	case "tools/call", "prompts/get":
		return text(member(params, "name"))
	case "resources/read":
		return text(member(params, "uri"))
	}
	return ""
}

// receive takes a request; put is called with what belongs to it, last with its answer. It
// returns what cancels the request.
func (a *stateless) receive(m *jsonrpc.Request, put func(m jsonrpc.Message, last bool)) (cancel func()) {
	refuse := func(e *jsonrpc.Error) { put(&jsonrpc.Response{ID: m.ID, Error: e}, true) }
	if e := checked(m.Params); e != nil {
		refuse(e)
		return func() {}
	}
	if slices.Contains(removed, m.Method) {
		refuse(&jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "there is no method " + string(quoted(m.Method)) + " in version " + statelessVersion})
		return func() {}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if state := text(member(m.Params, "requestState")); strings.HasPrefix(state, a.prefix) {
		e := a.parked[state]
		if e == nil || e.method != m.Method || e.name != nameOf(m.Method, m.Params) {
			refuse(&jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "the request that this state belongs to does not wait any more"})
			return func() {}
		}
		a.resume(e, m, put)
		return func() { a.cancel(e) }
	}
	if len(a.errands) >= maxErrands || a.closed {
		refuse(&jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "too many requests are under way"})
		return func() {}
	}
	a.last++
	e := &errand{
		own: a.last, id: m.ID, method: m.Method, name: nameOf(m.Method, m.Params), put: put,
		can: member(m.Params, "_meta", metaCapabilities), level: text(member(m.Params, "_meta", metaLogLevel)), token: member(m.Params, "_meta", "progressToken"),
	}
	a.errands[e.own] = e
	a.once(m.Params, func() { a.begin(e, m) })
	return func() { a.cancel(e) }
}

// begin hands a request to the session, or answers it; a.mu is held.
func (a *stateless) begin(e *errand, m *jsonrpc.Request) {
	if a.errands[e.own] != e {
		return // it was cancelled
	}
	switch m.Method {
	case "server/discover":
		supported, _ := json.Marshal(append([]string{statelessVersion}, versions...)) // texts
		out := append(append([]byte(`{"supportedVersions":`), supported...), `,"capabilities":`...)
		out = append(out, member(a.said, "capabilities")...)
		if said := member(a.said, "instructions"); len(said) > 0 {
			out = append(append(out, `,"instructions":`...), said...)
		}
		a.answer(e, &jsonrpc.Response{Result: append(out, '}')})
	case "subscriptions/listen":
		a.listen(e, m.Params)
	default:
		params := m.Params
		if len(e.token) > 0 {
			params = with(params, "_meta", with(member(params, "_meta"), "progressToken", quotedNumber(e.own)))
		}
		a.box.put(&jsonrpc.Request{ID: numberID(e.own), Method: m.Method, Params: params})
	}
}

// cancel ends a request whose agent does not wait any more.
func (a *stateless) cancel(e *errand) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if e.state == "" && a.errands[e.own] == e { // neither parked nor answered
		a.drop(e)
	}
}

// drop forgets a request that is under way; a.mu is held.
func (a *stateless) drop(e *errand) {
	delete(a.errands, e.own)
	delete(a.parked, e.state)
	for _, q := range e.asked { // whoever asked is told
		a.box.put(&jsonrpc.Response{ID: q.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "nobody answered"}})
	}
	e.asked = nil
	if sub := a.heard[e]; sub != nil {
		delete(a.heard, e)
		a.unwatch(sub.uris)
		return
	}
	a.box.put(&jsonrpc.Request{Method: "notifications/cancelled", Params: append(append([]byte(`{"requestId":`), quotedNumber(e.own)...), '}')})
}

// answer sends what a request led to; a.mu is held.
func (a *stateless) answer(e *errand, r *jsonrpc.Response) {
	delete(a.errands, e.own)
	if e.state != "" { // the agent gets it when it comes back
		e.answer = r
		return
	}
	out := &jsonrpc.Response{ID: e.id, Error: r.Error}
	if r.Error == nil {
		out.Result = a.complete(e.method, r.Result)
	}
	e.put(out, true)
}

// Send implements Agent.
func (a *stateless) Send(message jsonrpc.Message, related jsonrpc.ID) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.closed {
		return io.ErrClosedPipe
	}
	switch m := message.(type) {
	case *jsonrpc.Response:
		switch e := a.errands[number(m.ID)]; {
		case m.ID == numberID(0):
			a.said = m.Result
			close(a.ready)
			for _, f := range a.after {
				f()
			}
			a.after = nil
		case e != nil: // else it was cancelled, or is of all agents
			a.answer(e, m)
		}
	case *jsonrpc.Request:
		if m.IsCall() {
			a.question(a.errands[number(related)], m)
		} else {
			a.notify(a.errands[number(related)], m)
		}
	}
	return nil
}

// number returns an id that was made here, 0 for others.
func number(id jsonrpc.ID) int64 {
	n, _ := id.Raw().(int64)
	return n
}
