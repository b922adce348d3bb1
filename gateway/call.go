package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/awo-dev/awo/internal/secret"
	"github.com/awo-dev/awo/trace"
)

// offer is what is offered as tools: to the agent, and to the layer.
type offer struct {
	of     int64 // session.lists when it was made
	listed []json.RawMessage
	tools  map[string]*Tool // by the name that they are shown by, also those that are refused
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
	offered := s.permitted(all)
	for _, t := range all {
		o.tools[t.Shown] = t
	}
	if len(offered) < len(all) {
		o.listed = slices.DeleteFunc(definitions, func(d json.RawMessage) bool { return o.tools[text(member(d, "name"))].Refused != "" })
	}
	if s.layer != nil {
		complete := true
		for _, u := range s.ups {
			u.mu.Lock()
			complete = complete && u.reason == ""
			u.mu.Unlock()
		}
		o.listed = s.layer.Offer(offered, complete)
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
	o, refused := s.offer(), ""
	if c.Tool = o.tools[c.Name]; c.Tool != nil && c.Tool.Refused != "" {
		c.Tool, refused = nil, c.Tool.Refused
	}
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
		s.concerns(m.ID, "awo", c.Name)
		s.answer(m, h)
	case t == nil && refused != "":
		s.reply(m.ID, failedResult("The call was not made: "+refused+"."))
	case t == nil:
		s.refuse(m.ID, jsonrpc.CodeInvalidParams, "unknown tool "+strconv.Quote(c.Name)+s.missing())
	default:
		if h.To != nil || c.Name != t.Name {
			params = replaced(params, "name", quoted(t.Name))
		}
		s.concerns(m.ID, t.Server, t.Name)
		if !t.Ask {
			s.pass(t.up, m, params, h)
		} else if s.takeOff(m, flight{up: t.up}) {
			s.after(m, func(ctx context.Context) json.RawMessage {
				if err := (&Host{s}).Allowed(ctx, m.ID, "The model", t, member(params, "arguments")); err != nil {
					if h.Ended != nil {
						h.Ended(true)
					}
					return failedResult("The call was not made: " + err.Error() + ".")
				}
				return nil
			}, func() { s.passOnceThere(t.up, m, params, h) })
		}
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

// Allowed asks the agent's user with elicitation whether a tool may be called for a request;
// who says what wants to call it. Anything but acceptance is an error. The question shows
// the arguments without what looks like a credential.
func (h *Host) Allowed(ctx context.Context, request jsonrpc.ID, who string, t *Tool, arguments json.RawMessage) error {
	if !h.Can("elicitation") {
		return errors.New("the user is to be asked, and the client cannot ask (elicitation)")
	}
	if v, err := trace.ParseValue(arguments); err == nil {
		arguments = masked("", v).AppendCanonical(nil)
	}
	params := append([]byte(`{"message":`), quoted(fmt.Sprintf("%s wants to call %s with %s", who, t.Shown, arguments))...)
	answer, err := h.s.ask(ctx, request, "elicitation/create", append(params, `,"requestedSchema":{"type":"object","properties":{}}}`...))
	switch {
	case ctx.Err() != nil:
		return errors.New("nobody answered in time")
	case err != nil:
		return err
	case text(member(answer, "action")) != "accept":
		return errors.New("the user did not allow it")
	}
	return nil
}

// masked returns a value without what looks like a credential by its name or form.
func masked(name string, v trace.Value) trace.Value {
	switch v.Kind {
	case trace.Object:
		members := make([]trace.Member, len(v.Members))
		for i, m := range v.Members {
			members[i] = trace.Member{Name: m.Name, Value: masked(m.Name, m.Value)}
		}
		return trace.NewObject(members...)
	case trace.Array:
		elems := make([]trace.Value, len(v.Elems))
		for i, e := range v.Elems {
			elems[i] = masked(name, e)
		}
		return trace.Value{Kind: trace.Array, Elems: elems}
	case trace.String, trace.Number:
		if secret.LooksLike(name, v.Text) {
			return trace.NewString("(hidden)")
		}
	}
	return v
}
