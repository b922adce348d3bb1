package gateway

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/awo-dev/awo/internal/jsonscan"
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
	if !ok {
		return http.StatusOK
	}
	switch e, failed := errors.AsType[*jsonrpc.Error](r.Error); {
	case failed && e.Code == jsonrpc.CodeMethodNotFound:
		return http.StatusNotFound
	case failed && slices.Contains([]int64{jsonrpc.CodeInvalidParams, codeHeader, codeVersion, -32021}, e.Code):
		return http.StatusBadRequest
	}
	return http.StatusOK
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

// paramHeader is an argument that requests over HTTP also have as a header, as the schema
// of a tool wants it (x-mcp-header).
type paramHeader struct {
	path   []string // below the arguments
	header string
}

// maxHeaders bounds what one schema can ask for.
const maxHeaders = 100

// headersOf returns the arguments of a tool that are headers too.
func headersOf(definition json.RawMessage) []paramHeader {
	return paramHeaders(member(definition, "inputSchema", "properties"), nil, nil)
}

func paramHeaders(properties json.RawMessage, path []string, out []paramHeader) []paramHeader {
	if len(path) > 20 {
		return out
	}
	for _, name := range keys(properties) {
		property := member(properties, name)
		here := append(path[:len(path):len(path)], name)
		if header := text(member(property, "x-mcp-header")); header != "" && len(out) < maxHeaders {
			out = append(out, paramHeader{here, "Mcp-Param-" + header})
		}
		if below := member(property, "properties"); below != nil {
			out = paramHeaders(below, here, out)
		}
	}
	return out
}

// primitive returns what a header has for an argument; false for what cannot be one:
// objects, arrays, null, and numbers that are no integers that every reader keeps.
func primitive(value json.RawMessage) (string, bool) {
	switch kindOf(value) {
	case jsonscan.String:
		return text(value), true
	case jsonscan.Number:
		f, err := strconv.ParseFloat(string(value), 64)
		if err != nil || f != math.Trunc(f) || math.Abs(f) >= 1<<53 {
			return "", false
		}
		return strconv.FormatInt(int64(f), 10), true
	case jsonscan.Bool:
		return string(value), true
	}
	return "", false
}

// How a header says what headers cannot have.
const (
	encodedPrefix = "=?base64?"
	encodedSuffix = "?="
)

// asHeader returns a text as the value of a header.
func asHeader(s string) string {
	plain := s == strings.TrimSpace(s) && !strings.HasPrefix(s, encodedPrefix)
	for _, c := range []byte(s) {
		plain = plain && c >= 0x20 && c < 0x7f
	}
	if plain {
		return s
	}
	return encodedPrefix + base64.StdEncoding.EncodeToString([]byte(s)) + encodedSuffix
}

// ofHeader returns the text that the value of a header stands for.
func ofHeader(s string) (string, bool) {
	inner, ok := strings.CutPrefix(s, encodedPrefix)
	if !ok {
		return s, true
	}
	if inner, ok = strings.CutSuffix(inner, encodedSuffix); !ok {
		return s, true
	}
	out, err := base64.StdEncoding.DecodeString(inner)
	return string(out), err == nil
}

// disagrees returns how the headers of a request differ from what it says itself, "" if
// they do not. definition is that of the tool that it calls.
func disagrees(h http.Header, method string, params, definition json.RawMessage) string {
	if got := h.Get("Mcp-Method"); got != method {
		return "the header Mcp-Method is not the method of the message"
	}
	if name := nameOf(method, params); name != "" {
		if got, ok := ofHeader(h.Get("Mcp-Name")); !ok || got != name {
			return "the header Mcp-Name is not the name in the message"
		}
	}
	if method != "tools/call" {
		return ""
	}
	for _, p := range headersOf(definition) {
		value := member(params, append([]string{"arguments"}, p.path...)...)
		given, has := h.Get(p.header), len(h.Values(p.header)) > 0
		if len(value) == 0 || string(value) == "null" {
			if has {
				return fmt.Sprintf("the header %s is of an argument that is not there", p.header)
			}
			continue
		}
		want, ok := primitive(value)
		got, decoded := ofHeader(given)
		if f, err := strconv.ParseFloat(got, 64); err == nil && kindOf(value) == jsonscan.Number && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			got = strconv.FormatInt(int64(f), 10)
		}
		if !ok || !has || !decoded || got != want {
			return fmt.Sprintf("the header %s is not the argument %s", p.header, strings.Join(p.path, "."))
		}
	}
	return ""
}
