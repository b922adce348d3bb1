package gateway

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
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

// kept are the methods whose results say how long they may be kept.
var kept = []string{"server/discover", "tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"}

// complete adds to a result what this version of the protocol wants, where the server does
// not say it.
func (a *stateless) complete(method string, result json.RawMessage) json.RawMessage {
	if a.inside || !isObject(result) {
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

// capabilityFor says what an agent must be able to for a question.
var capabilityFor = map[string]string{"elicitation/create": "elicitation", "sampling/createMessage": "sampling", "roots/list": "roots"}

// asking are the requests that may be answered with questions.
var asking = []string{"tools/call", "prompts/get", "resources/read"}

// question ends the answer that is under way with a question; a.mu is held.
func (a *stateless) question(e *errand, m *jsonrpc.Request) {
	switch can := capabilityFor[m.Method]; {
	case e == nil || !slices.Contains(asking, e.method):
		a.box.put(&jsonrpc.Response{ID: m.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "no request is under way that the client could be asked for"}})
	case can == "" || !isObject(member(e.can, can)):
		a.box.put(&jsonrpc.Response{ID: m.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "the client cannot be asked this"}})
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
			a.box.put(&jsonrpc.Response{ID: q.ID, Result: answer})
		}
		return isObject(answer)
	})
	if len(e.asked) > 0 {
		a.park(e)
	}
}

// subscription is what an agent wants to hear of.
type subscription struct {
	lists map[string]bool
	uris  []string
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

// maxWatched is how many resources one subscription is about at most.
const maxWatched = 1000

// listen begins a subscription; a.mu is held.
func (a *stateless) listen(e *errand, params json.RawMessage) {
	wanted := member(params, "notifications")
	if !isObject(wanted) {
		a.answer(e, &jsonrpc.Response{Error: &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "notifications is not an object"}})
		return
	}
	sub := &subscription{lists: map[string]bool{}}
	agreed := []byte(`{}`)
	for _, kind := range kinds {
		name := kind + "ListChanged"
		if string(member(wanted, name)) == "true" && string(member(a.said, "capabilities", kind, "listChanged")) == "true" {
			sub.lists[changeOf(kind)] = true
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
		a.box.put(&jsonrpc.Request{ID: numberID(a.last), Method: method, Params: append(append([]byte(`{"uri":`), quoted(uri)...), '}')})
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
