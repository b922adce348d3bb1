package gateway

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

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
		a.answer(e, &jsonrpc.Response{Error: &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "notifications is not an object"}})
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
