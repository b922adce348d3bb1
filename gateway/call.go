package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// offer is what is offered as tools: to the agent, and to the layer.
type offer struct {
	of     int64 // session.lists when it was made
	listed []json.RawMessage
	tools  map[string]*Tool // by the name that they are shown by
}

// offer returns what is offered now.
func (s *session) offer() *offer {
	s.offerMu.Lock()
	defer s.offerMu.Unlock()
	now := s.lists.Load()
	if s.offered != nil && s.offered.of == now {
		return s.offered
	}
	definitions, places := s.list("tools/list")
	o := &offer{of: now, listed: definitions, tools: map[string]*Tool{}}
	all := toolsOf(definitions, places)
	for _, t := range all {
		o.tools[t.Shown] = t
	}
	if s.layer != nil {
		complete := true
		for _, u := range s.ups {
			u.mu.Lock()
			complete = complete && u.reason == ""
			u.mu.Unlock()
		}
		o.listed = s.layer.Offer(all, complete)
	}
	s.offered = o
	return o
}

// toolsOf returns the tools that definitions are of, each once.
func toolsOf(definitions []json.RawMessage, places map[string]place) []*Tool {
	out := make([]*Tool, 0, len(definitions))
	seen := make(map[string]bool, len(definitions))
	for _, d := range definitions {
		shown := text(member(d, "name"))
		if seen[shown] {
			continue // a server lists it twice
		}
		seen[shown] = true
		p := places[shown]
		out = append(out, &Tool{Server: p.up.server.Name, Name: p.name, Shown: shown, Definition: d, ReadsOnly: p.up.server.ReadsOnly(p.name), up: p.up})
	}
	return out
}

// callTool deals with a call of a tool.
func (s *session) callTool(m *jsonrpc.Request) {
	c := &ToolCall{ID: m.ID, Name: text(member(m.Params, "name")), Params: m.Params}
	o := s.offer()
	c.Tool = o.tools[c.Name]
	var h Handling
	if s.layer != nil {
		h = s.layer.Handle(c)
	}
	recorded := m
	t, params := c.Tool, m.Params
	if h.To != nil {
		t, params = h.To, h.Params
		recorded = &jsonrpc.Request{ID: m.ID, Method: m.Method, Params: replaced(params, "name", quoted(t.Shown))}
	} else if h.Name != "" {
		recorded = &jsonrpc.Request{ID: m.ID, Method: m.Method, Params: h.Params}
	}
	s.rec.listed(m, o)
	s.rec.record("client", recorded, nil)
	switch {
	case h.Answer != nil:
		s.answer(m, h)
	case t == nil:
		s.refuse(m.ID, jsonrpc.CodeInvalidParams, "unknown tool "+strconv.Quote(c.Name)+s.missing())
	default:
		if h.To != nil || c.Name != t.Name {
			params = replaced(params, "name", quoted(t.Name))
		}
		s.pass(t.up, m, params, h)
	}
}

// answer answers a call in the place of servers.
func (s *session) answer(m *jsonrpc.Request, h Handling) {
	ctx, cancel := context.WithCancel(s.ctx)
	if !s.takeOff(m, flight{cancel: cancel}) {
		cancel()
		return
	}
	s.work.Go(func() {
		defer cancel()
		result, err := h.Answer(ctx)
		var blocks []json.RawMessage
		if err == nil && h.Attach != nil {
			blocks = h.Attach(ctx, result)
		}
		if !s.land(m.ID) || s.ctx.Err() != nil {
			return // nobody waits
		}
		response := &jsonrpc.Response{ID: m.ID, Result: result}
		if err == nil {
			s.sendWith(response, blocks, h.By)
			return
		}
		var refused *jsonrpc.Error
		if !errors.As(err, &refused) {
			refused = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
		}
		response.Result, response.Error = nil, refused
		s.rec.record("server", response, &note{by: h.By})
		s.deliver(response, m.ID)
	})
}

// attach answers a call with a server's result and what a layer attaches to it.
func (s *session) attach(m *jsonrpc.Request, result json.RawMessage, h Handling) {
	ctx, cancel := context.WithCancel(s.ctx)
	s.mu.Lock()
	f, waits := s.flights[m.ID]
	f.cancel = cancel
	if waits {
		s.flights[m.ID] = f
	}
	s.mu.Unlock()
	s.work.Go(func() {
		defer cancel()
		blocks := h.Attach(ctx, result)
		if s.land(m.ID) {
			s.sendWith(&jsonrpc.Response{ID: m.ID, Result: result}, blocks, "")
		}
	})
}

// sendWith sends a result with blocks behind those of its content, and records who
// answered. The recording has the result as it was, and the blocks beside it: else what
// is attached would be taken for what the tool answered.
func (s *session) sendWith(r *jsonrpc.Response, blocks []json.RawMessage, by string) {
	start, end, ok := span(r.Result, "content")
	if ok = ok && r.Result[start] == '['; !ok {
		blocks = nil
	}
	s.rec.record("server", r, &note{by: by, attached: blocks})
	if len(blocks) > 0 {
		content := append(elements(r.Result[start:end]), blocks...)
		whole := append(append(append([]byte{}, r.Result[:start]...), list(content)...), r.Result[end:]...)
		r = &jsonrpc.Response{ID: r.ID, Result: whole}
	}
	s.deliver(r, r.ID)
}

// missing says which servers are not there, and why: a tool may be unknown because of that.
func (s *session) missing() (out string) {
	for _, u := range s.ups {
		u.mu.Lock()
		if u.reason != "" {
			out += fmt.Sprintf("; server %s is not available: %s", u.server.Name, u.reason)
		}
		u.mu.Unlock()
	}
	return out
}
