package serve

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// statelessVersion is the version of the protocol that has no sessions: each request says by
// itself who asks.
const statelessVersion = "2026-07-28"

// What a request or a result of that version says in its _meta.
const (
	metaPrefix       = "io.modelcontextprotocol/"
	metaVersion      = metaPrefix + "protocolVersion"
	metaClient       = metaPrefix + "clientInfo"
	metaCapabilities = metaPrefix + "clientCapabilities"
	metaLogLevel     = metaPrefix + "logLevel"
	metaServer       = metaPrefix + "serverInfo"
	metaSubscription = metaPrefix + "subscriptionId"
)

// Errors that came with it.
const (
	codeHeader  = -32020 // headers and message disagree
	codeVersion = -32022 // a version that is not spoken here
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
	idle   *time.Timer     // over HTTP
	gone   chan struct{}
	wake   chan struct{}   // has room for one
	ready  chan struct{}   // closed when introduction is there
	said   json.RawMessage // the result of initialize
	s      *session

	mu      sync.Mutex
	prefix  string            // of what names a request that waits here: servers have states of their own, which pass
	queue   []jsonrpc.Message // for the session
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

// subscription is what an agent wants to hear of.
type subscription struct {
	lists map[string]bool
	uris  []string
}

func newStateless(g *Gateway, who string, shared bool) *stateless {
	server := append([]byte(`{"name":"awo","version":`), quoted(g.options.Version)...)
	return &stateless{
		g: g, who: who, server: append(server, '}'), shared: shared, gone: make(chan struct{}), wake: make(chan struct{}, 1), ready: make(chan struct{}),
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
	for {
		a.mu.Lock()
		if len(a.queue) > 0 {
			m := a.queue[0]
			a.queue = a.queue[1:]
			a.mu.Unlock()
			return m, nil
		}
		a.mu.Unlock()
		select {
		case <-a.wake:
		case <-a.gone:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
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

// hand queues a message for the session; a.mu is held.
func (a *stateless) hand(m jsonrpc.Message) {
	a.queue = append(a.queue, m)
	select {
	case a.wake <- struct{}{}:
	default:
	}
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
	a.hand(&jsonrpc.Request{ID: numberID(0), Method: "initialize", Params: begin})
}

// checked returns what is wrong with what a request says of itself, nil if nothing is.
func checked(params json.RawMessage) *jsonrpc.Error {
	meta := member(params, "_meta")
	version := member(meta, metaVersion)
	switch client := member(meta, metaClient); {
	case text(version) == "":
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "_meta has no " + metaVersion}
	case text(version) != statelessVersion:
		supported, _ := json.Marshal(append([]string{statelessVersion}, versions...)) // texts
		return &jsonrpc.Error{
			Code: codeVersion, Message: "this version of the protocol is not spoken here",
			Data: append(append(append(append([]byte(`{"supported":`), supported...), `,"requested":`...), version...), '}'),
		}
	case !isObject(member(meta, metaCapabilities)):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "_meta has no object " + metaCapabilities}
	case len(client) > 0 && (!isObject(client) || text(member(client, "name")) == ""):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: metaClient + " in _meta is no object with a name"}
	}
	return nil
}

// removed are requests that the protocol without sessions has no more.
var removed = []string{"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"}

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
		a.hand(&jsonrpc.Request{ID: numberID(e.own), Method: m.Method, Params: params})
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
		a.hand(&jsonrpc.Response{ID: q.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "nobody answered"}})
	}
	e.asked = nil
	if sub := a.heard[e]; sub != nil {
		delete(a.heard, e)
		a.unwatch(sub.uris)
		return
	}
	a.hand(&jsonrpc.Request{Method: "notifications/cancelled", Params: append(append([]byte(`{"requestId":`), quotedNumber(e.own)...), '}')})
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

// kept are the methods whose results say how long they may be kept.
var kept = []string{"server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"}

// complete adds to a result what this version of the protocol wants, where the server does
// not say it.
func (a *stateless) complete(method string, result json.RawMessage) json.RawMessage {
	if !isObject(result) {
		return result
	}
	add := func(name, value string) {
		if member(result, name) == nil {
			result = with(result, name, []byte(value))
		}
	}
	add("resultType", `"complete"`)
	if slices.Contains(kept, method) && text(member(result, "resultType")) == "complete" {
		add("ttlMs", "0")
		add("cacheScope", `"private"`)
	}
	if meta := member(result, "_meta"); meta == nil || isObject(meta) && member(meta, metaServer) == nil {
		if meta == nil {
			meta = []byte(`{}`)
		}
		result = with(result, "_meta", with(meta, metaServer, a.server))
	}
	return result
}

// tagged returns parameters or a result with the id of a subscription.
func tagged(params json.RawMessage, id jsonrpc.ID) json.RawMessage {
	own := appendID(nil, id)
	meta := member(params, "_meta")
	if !isObject(meta) {
		meta = []byte(`{}`)
	}
	if !isObject(params) {
		params = []byte(`{}`)
	}
	return with(params, "_meta", with(meta, metaSubscription, own))
}

// listChanges are the notifications that an agent subscribes to, by what it says.
var listChanges = map[string]string{
	"toolsListChanged": "notifications/tools/list_changed", "promptsListChanged": "notifications/prompts/list_changed", "resourcesListChanged": "notifications/resources/list_changed",
}

// maxWatched is how many resources one subscription is about at most.
const maxWatched = 1000

// listen begins a subscription; a.mu is held.
func (a *stateless) listen(e *errand, params json.RawMessage) {
	wanted := member(params, "notifications")
	if !isObject(wanted) {
		a.answer(e, &jsonrpc.Response{Error: &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "what is there to be notified of: notifications is no object"}})
		return
	}
	sub := &subscription{lists: map[string]bool{}}
	agreed := []byte(`{}`)
	for _, name := range []string{"toolsListChanged", "promptsListChanged", "resourcesListChanged"} {
		of := strings.TrimSuffix(name, "ListChanged")
		if string(member(wanted, name)) == "true" && string(member(a.said, "capabilities", of, "listChanged")) == "true" {
			sub.lists[listChanges[name]] = true
			agreed = with(agreed, name, []byte("true"))
		}
	}
	if uris := elements(member(wanted, "resourceSubscriptions")); len(uris) > 0 && string(member(a.said, "capabilities", "resources", "subscribe")) == "true" {
		uris = uris[:min(len(uris), maxWatched)]
		for _, uri := range uris {
			sub.uris = append(sub.uris, text(uri))
		}
		a.watch("resources/subscribe", sub.uris)
		agreed = with(agreed, "resourceSubscriptions", list(uris))
	}
	about := tagged(append(append([]byte(`{"notifications":`), agreed...), '}'), e.id)
	e.put(&jsonrpc.Request{Method: "notifications/subscriptions/acknowledged", Params: about}, false)
	if len(sub.lists) == 0 && len(sub.uris) == 0 {
		a.answer(e, &jsonrpc.Response{Result: tagged(nil, e.id)})
		return
	}
	a.heard[e] = sub
}

// watch tells servers of resources that somebody wants to hear of, or does not any more;
// a.mu is held.
func (a *stateless) watch(method string, uris []string) {
	for _, uri := range uris {
		a.last++
		a.hand(&jsonrpc.Request{ID: numberID(a.last), Method: method, Params: append(append([]byte(`{"uri":`), quoted(uri)...), '}')})
	}
}

// unwatch is watch for resources that nobody else watches; a.mu is held.
func (a *stateless) unwatch(uris []string) {
	a.watch("resources/unsubscribe", slices.DeleteFunc(slices.Clone(uris), func(uri string) bool {
		for _, other := range a.heard {
			if slices.Contains(other.uris, uri) {
				return true
			}
		}
		return false
	}))
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

// capabilityFor says what an agent must be able to for a question.
var capabilityFor = map[string]string{"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}

// asking are the requests that may be answered with questions.
var asking = []string{"tools/call", "prompts/get", "resources/read"}

// question ends the answer that is under way with a question; a.mu is held.
func (a *stateless) question(e *errand, m *jsonrpc.Request) {
	switch can := capabilityFor[m.Method]; {
	case e == nil || !slices.Contains(asking, e.method):
		a.hand(&jsonrpc.Response{ID: m.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "no request is under way that the client could be asked for"}})
	case can == "" || !isObject(member(e.can, can)):
		a.hand(&jsonrpc.Response{ID: m.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "the client cannot be asked this"}})
	default:
		e.asked = append(e.asked, m)
		if e.state == "" {
			a.park(e)
		}
	}
}

// park answers a request with the questions that it waits for; a.mu is held.
func (a *stateless) park(e *errand) {
	state := a.prefix + rand.Text()
	e.state, a.parked[state] = state, e
	e.timeout = time.AfterFunc(parkedFor, func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		if a.parked[state] == e && !a.closed {
			a.drop(e)
		}
	})
	requests := []byte(`{}`)
	for _, q := range e.asked {
		ask := append(append([]byte(`{"method":`), quoted(q.Method)...), `,"params":`...)
		if len(q.Params) == 0 {
			ask = append(ask, `{}`...)
		}
		requests = with(requests, fmt.Sprint(q.ID.Raw()), append(append(ask, q.Params...), '}'))
	}
	result := append(append([]byte(`{"resultType":"input_required","inputRequests":`), requests...), `,"requestState":`...)
	result = append(append(result, quoted(state)...), '}')
	e.put(&jsonrpc.Response{ID: e.id, Result: a.complete(e.method, result)}, true)
}

// resume goes on with a request that was parked; a.mu is held.
func (a *stateless) resume(e *errand, m *jsonrpc.Request, put func(jsonrpc.Message, bool)) {
	e.timeout.Stop()
	delete(a.parked, e.state)
	e.state, e.id, e.put = "", m.ID, put
	e.can = member(m.Params, "_meta", metaCapabilities)
	if e.answer != nil {
		a.answer(e, e.answer)
		return
	}
	answers := member(m.Params, "inputResponses")
	e.asked = slices.DeleteFunc(e.asked, func(q *jsonrpc.Request) bool {
		answer := member(answers, fmt.Sprint(q.ID.Raw()))
		if isObject(answer) {
			a.hand(&jsonrpc.Response{ID: q.ID, Result: answer})
		}
		return isObject(answer)
	})
	if len(e.asked) > 0 {
		a.park(e)
	}
}

// levels are what is logged, from everything to next to nothing.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// notify passes on what a server says by itself to those whom it is for; a.mu is held.
func (a *stateless) notify(e *errand, m *jsonrpc.Request) {
	params := m.Params
	switch m.Method {
	case "notifications/tools/list_changed", "notifications/prompts/list_changed", "notifications/resources/list_changed", "notifications/resources/updated":
		uri := text(member(params, "uri"))
		for e, sub := range a.heard {
			if sub.lists[m.Method] || uri != "" && slices.Contains(sub.uris, uri) {
				e.put(&jsonrpc.Request{Method: m.Method, Params: tagged(params, e.id)}, false)
			}
		}
		return
	case "notifications/cancelled": // of a question
		id := text(member(params, "requestId"))
		for _, e := range a.errands {
			e.asked = slices.DeleteFunc(e.asked, func(q *jsonrpc.Request) bool { return q.ID.Raw() == id })
		}
		return
	case "notifications/progress":
		if e == nil || len(e.token) == 0 {
			return
		}
		params = with(params, "progressToken", e.token)
	case "notifications/message":
		if e == nil || e.level == "" || slices.Index(levels, text(member(params, "level"))) < slices.Index(levels, e.level) {
			return // it was not asked for
		}
	}
	if e != nil && e.state == "" {
		e.put(&jsonrpc.Request{Method: m.Method, Params: params}, false)
	}
}
