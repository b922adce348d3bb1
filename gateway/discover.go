package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// discoverWait is how long a server has to say whether it speaks the protocol without
// sessions. Older ones may not answer before initialize.
const discoverWait = 2 * time.Second

// maxRounds is how often one call may be answered with questions.
const maxRounds = 10

// without reports whether the server speaks the protocol without sessions.
func (u *upstream) without() bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.stateless
}

// agree agrees on a protocol: that of the agent if the server speaks it, else the other.
func (u *upstream) agree(ctx context.Context, c conn) (result json.RawMessage, err error) {
	if u.s.era() != "" {
		if result, err = u.discover(ctx, c); err == nil || ctx.Err() != nil {
			return result, err
		}
		return u.initialize(ctx, c)
	}
	result, err = u.initialize(ctx, c)
	var refused *jsonrpc.Error
	if !errors.As(err, &refused) {
		return result, err
	}
	if found, fails := u.discover(ctx, c); fails == nil {
		return found, nil
	}
	return nil, err
}

// initialize begins a session with the server.
func (u *upstream) initialize(ctx context.Context, c conn) (json.RawMessage, error) {
	result, err := u.ask(ctx, "initialize", u.s.initialize)
	if err != nil {
		return nil, fmt.Errorf("initialize: %w", err)
	}
	if !isObject(result) {
		return nil, errors.New("initialize: the answer is no object")
	}
	if version := text(member(result, "protocolVersion")); version != "" {
		if r, isRemote := c.(*remote); isRemote {
			r.agreed(version)
		}
	}
	if !u.send(&jsonrpc.Request{Method: "notifications/initialized"}) {
		return nil, errDown
	}
	return result, nil
}

// discover asks the server what it is, in the protocol without sessions. The result is in
// the form of that of initialize.
func (u *upstream) discover(ctx context.Context, c conn) (result json.RawMessage, err error) {
	use := func(is bool) {
		u.mu.Lock()
		u.stateless = is
		u.mu.Unlock()
		if r, isRemote := c.(*remote); isRemote {
			r.stateless.Store(is)
		}
	}
	use(true)
	defer func() { use(err == nil) }()
	limit := discoverWait
	if _, is := c.(*joined); is { // it speaks it, and its server may be starting
		limit = startWait
	}
	wait, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	found, err := u.ask(wait, "server/discover", json.RawMessage(`{}`))
	if err != nil {
		return nil, fmt.Errorf("server/discover: %w", err)
	}
	if !slices.ContainsFunc(elements(member(found, "supportedVersions")), func(v json.RawMessage) bool { return text(v) == statelessVersion }) || !isObject(member(found, "capabilities")) {
		return nil, errors.New("server/discover: the server does not speak version " + statelessVersion)
	}
	result = with([]byte(`{"protocolVersion":"`+statelessVersion+`"}`), "capabilities", member(found, "capabilities"))
	if about := member(found, "_meta", metaServer); len(about) > 0 {
		result = with(result, "serverInfo", about)
	}
	if said := member(found, "instructions"); len(said) > 0 {
		result = with(result, "instructions", said)
	}
	return result, nil
}

// subscribe asks for word of lists that change, from a server without sessions.
func (u *upstream) subscribe() {
	wanted := []byte(`{}`)
	for _, kind := range kinds {
		if u.has(kind, "listChanged") {
			wanted = with(wanted, kind+"ListChanged", []byte("true"))
		}
	}
	if string(wanted) != `{}` {
		u.call("subscriptions/listen", append(append([]byte(`{"notifications":`), wanted...), '}'), func(*jsonrpc.Response) {})
	}
}

// watch begins to ask for word of a resource, or ends that.
func (u *upstream) watch(uri string, on bool) {
	u.mu.Lock()
	id, watched := u.watched[uri]
	delete(u.watched, uri)
	u.mu.Unlock()
	if watched {
		u.cancel(id, nil)
	}
	if !on {
		return
	}
	wanted := append(append([]byte(`{"notifications":{"resourceSubscriptions":[`), quoted(uri)...), `]}}`...)
	if id, ok := u.call("subscriptions/listen", wanted, func(*jsonrpc.Response) {}); ok {
		u.mu.Lock()
		u.watched[uri] = id
		u.mu.Unlock()
	}
}

// unfinished reports whether a result asks for more.
func unfinished(result json.RawMessage) bool {
	return text(member(result, "resultType")) == "input_required"
}

// hop returns parameters as the server wants them: who asks is said in each request or in
// none. raw reports whether the agent said so itself, and understands what comes back.
func (u *upstream) hop(params json.RawMessage) (out json.RawMessage, raw bool) {
	meta := member(params, "_meta")
	raw = isObject(meta) && len(member(meta, metaVersion)) > 0
	switch {
	case u.stateless == raw:
		return params, raw
	case raw:
		if meta = without(meta, metaPrefix); string(meta) == `{}` {
			return without(params, "_meta"), true
		}
		return replaced(params, "_meta", meta), true
	}
	if !isObject(meta) {
		meta = []byte(`{}`)
	}
	if !isObject(params) {
		params = []byte(`{}`)
	}
	meta = with(meta, metaVersion, []byte(`"`+statelessVersion+`"`))
	for name, from := range map[string]string{metaCapabilities: "capabilities", metaClient: "clientInfo"} {
		if v := member(u.s.initialize, from); isObject(v) {
			meta = with(meta, name, v)
		} else if name == metaCapabilities {
			meta = with(meta, name, []byte(`{}`))
		}
	}
	return with(params, "_meta", meta), false
}

// inquire asks the agent what a result asks for, and makes the call again.
func (u *upstream) inquire(w *Within, of jsonrpc.ID, round int, method string, params, result json.RawMessage, first int64, answer func(*jsonrpc.Response)) {
	failed := func(why string) {
		answer(&jsonrpc.Response{Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: why}})
	}
	if round >= maxRounds {
		failed(fmt.Sprintf("server %s asked %d times for one call", u.server.Name, maxRounds))
		return
	}
	u.s.work.Go(func() {
		answers := []byte(`{}`)
		for _, key := range keys(member(result, "inputRequests")) {
			q := member(result, "inputRequests", key)
			said, err := u.s.ask(u.s.ctx, of, text(member(q, "method")), member(q, "params"))
			if err != nil {
				failed(fmt.Sprintf("server %s asked for what the client does not answer: %v", u.server.Name, err))
				return
			}
			answers = with(answers, key, said)
		}
		again := params
		if string(answers) != `{}` {
			again = with(again, "inputResponses", answers)
		}
		if state := member(result, "requestState"); len(state) > 0 {
			again = with(again, "requestState", state)
		}
		id, ok := u.round(w, of, round+1, method, again, first, func(r *jsonrpc.Response) {
			u.mu.Lock()
			delete(u.again, first)
			u.mu.Unlock()
			answer(r)
		})
		if !ok {
			answer(nil)
			return
		}
		u.mu.Lock()
		u.again[first] = id
		u.mu.Unlock()
	})
}

// definition returns how the server lists a tool, nil if it does not.
func (u *upstream) definition(name string) json.RawMessage {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, d := range u.lists["tools/list"] {
		if text(member(d, "name")) == name {
			return d
		}
	}
	return nil
}
