package gateway

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// without deals with a message of the protocol without sessions.
func (h *Handler) without(w http.ResponseWriter, r *http.Request, who string, m *jsonrpc.Request) {
	if m == nil || !m.IsCall() {
		w.WriteHeader(http.StatusAccepted) // nothing waits for it: who cancels, goes
		return
	}
	f := newFlow()
	put := func(message jsonrpc.Message, last bool) {
		f.put(piece{data: encode(message), last: last, status: statusOf(message)})
	}
	refuse := func(e *jsonrpc.Error) {
		put(&jsonrpc.Response{ID: m.ID, Error: e}, true)
		f.send(w, r, nil, false)
	}
	header := r.Header.Get("Mcp-Protocol-Version")
	switch e := checked(m.Params); {
	case header == "":
		refuse(&jsonrpc.Error{Code: codeHeader, Message: "a request with " + metaVersion + " needs the header Mcp-Protocol-Version"})
		return
	case e != nil && e.Code != codeVersion:
		refuse(e)
		return
	case header != text(member(m.Params, "_meta", metaVersion)):
		refuse(&jsonrpc.Error{Code: codeHeader, Message: "the header Mcp-Protocol-Version is not the version in the message"})
		return
	case e != nil:
		refuse(e)
		return
	}
	a := h.together(who)
	if a == nil {
		w.Header().Set("Retry-After", "60")
		http.Error(w, "too many sessions", http.StatusServiceUnavailable)
		return
	}
	unhurried(w)
	var definition []byte
	if m.Method == "tools/call" { // whose arguments may be headers too
		a.mu.Lock()
		a.once(m.Params, func() {})
		a.mu.Unlock()
		select {
		case <-a.ready:
			if t := a.s.offer().tools[nameOf(m.Method, m.Params)]; t != nil {
				definition = t.Definition
			}
		case <-a.gone:
		case <-r.Context().Done():
		}
	}
	if why := disagrees(r.Header, m.Method, m.Params, definition); why != "" {
		refuse(&jsonrpc.Error{Code: codeHeader, Message: why})
		return
	}
	cancel := a.receive(m, put)
	defer cancel() // of nothing, if it was answered
	if !f.send(w, r, a.gone, false) {
		http.Error(w, "awo ends", http.StatusServiceUnavailable)
	}
}

// statusOf returns the status of HTTP that an answer has where there are no sessions.
func statusOf(m jsonrpc.Message) int {
	r, ok := m.(*jsonrpc.Response)
	if e, failed := errors.AsType[*jsonrpc.Error](errorOf(r, ok)); failed {
		switch {
		case e.Code == jsonrpc.CodeMethodNotFound:
			return http.StatusNotFound
		case slices.Contains([]int64{jsonrpc.CodeInvalidParams, codeHeader, codeVersion, -32021}, e.Code):
			return http.StatusBadRequest
		}
	}
	return http.StatusOK
}

func errorOf(r *jsonrpc.Response, ok bool) error {
	if !ok {
		return nil
	}
	return r.Error
}

// together returns the agent that all requests of a token share, nil if there are too many
// sessions.
func (h *Handler) together(who string) *stateless {
	// Requests are of one session until the setup is replaced: then another one begins, and
	// this one ends when nothing is under way in it.
	key := fmt.Sprintf("%p\n%s", h.g.now.Load(), who)
	if h.g.options.Experiment.Unit == UnitDay { // a session is in one arm
		key += "\n" + time.Now().UTC().Format(time.DateOnly)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if a := h.shared[key]; a != nil {
		a.idle.Reset(h.o.Idle)
		return a
	}
	if len(h.sessions)+len(h.shared) >= h.o.MaxSessions || h.ctx.Err() != nil {
		return nil
	}
	a := newStateless(h.g, who, true)
	h.shared[key] = a
	a.idle = time.AfterFunc(h.o.Idle, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		if a.busy() {
			a.idle.Reset(h.o.Idle)
			return
		}
		delete(h.shared, key)
		_ = a.Close() // always nil
	})
	h.work.Go(func() {
		if err := h.g.Serve(h.ctx, a); err != nil {
			h.g.log.Warn("session ended", "reason", err)
		}
		a.idle.Stop()
		h.mu.Lock()
		if h.shared[key] == a {
			delete(h.shared, key)
		}
		h.mu.Unlock()
	})
	return a
}

// busy reports whether something is under way.
func (a *stateless) busy() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.errands) > 0
}
