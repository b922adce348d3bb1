package gateway

import (
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

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
