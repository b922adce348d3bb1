package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"io"
	"math"
	"mime"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// HTTPOptions say who is let in. The zero value lets in who is on this machine and not in
// a browser.
type HTTPOptions struct {
	Hosts       []string      // that requests may name besides loopback ones, with or without a port
	Origins     []string      // of browsers that are let in
	Tokens      []Token       // one of which requests must bear; none asks for none
	Idle        time.Duration // after which a session without a request ends; 0 is 30 minutes
	MaxSessions int           // at once; 0 is 32
}

// Token lets its bearer in.
type Token struct{ Name, Value string }

// Handler serves agents over streamable HTTP. Each session is an agent.
type Handler struct {
	g        *Gateway
	o        HTTPOptions
	ctx      context.Context
	mu       sync.Mutex
	sessions map[string]*visitor
	shared   map[string]*stateless // by whose token the requests have, and the unit of an experiment
	work     sync.WaitGroup
}

// Handler returns a handler whose sessions end with ctx; Wait, called once, waits for that.
func (g *Gateway) Handler(ctx context.Context, o HTTPOptions) *Handler {
	o.Idle, o.MaxSessions = cmp.Or(o.Idle, 30*time.Minute), cmp.Or(o.MaxSessions, 32)
	g.hold(1)
	return &Handler{g: g, o: o, ctx: ctx, sessions: map[string]*visitor{}, shared: map[string]*stateless{}}
}

// Wait waits for all sessions to have ended.
func (h *Handler) Wait() {
	h.work.Wait()
	h.g.hold(-1)
}

// ServeHTTP implements http.Handler.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	who, in := h.bearer(r)
	switch {
	case !h.host(r.Host):
		http.Error(w, "unknown host", http.StatusForbidden)
		return
	case !h.origin(r):
		http.Error(w, "this origin is not let in", http.StatusForbidden)
		return
	case !in:
		w.Header().Set("WWW-Authenticate", "Bearer")
		http.Error(w, "a token is needed", http.StatusUnauthorized)
		return
	}
	switch without := r.Header.Get("Mcp-Protocol-Version") >= statelessVersion; {
	case r.Method == http.MethodPost:
		h.post(w, r, who)
	case without:
		w.Header().Set("Allow", "POST")
		http.Error(w, "only POST where there are no sessions", http.StatusMethodNotAllowed)
	default:
		h.session(w, r, who)
	}
}

// session deals with requests about a session that are no messages.
func (h *Handler) session(w http.ResponseWriter, r *http.Request, who string) {
	switch r.Method {
	case http.MethodGet:
		if v := h.find(w, r, who); v != nil {
			v.listen(w, r)
		}
	case http.MethodDelete:
		if v := h.find(w, r, who); v != nil {
			_ = v.Close() // always nil
			w.WriteHeader(http.StatusNoContent)
		}
	default:
		w.Header().Set("Allow", "GET, POST, DELETE")
		http.Error(w, "only GET, POST and DELETE", http.StatusMethodNotAllowed)
	}
}

// host reports whether requests for a host are answered: a page of another host whose
// name leads here is kept out by that.
func (h *Handler) host(host string) bool {
	name := host
	if only, _, err := net.SplitHostPort(host); err == nil {
		name = only
	}
	if slices.ContainsFunc(h.o.Hosts, func(is string) bool { return strings.EqualFold(is, host) || strings.EqualFold(is, name) }) {
		return true
	}
	ip := net.ParseIP(strings.Trim(name, "[]"))
	return name == "localhost" || ip != nil && ip.IsLoopback()
}

// origin reports whether a request comes from no page, or from one that is let in: a page
// of this very address could only have come from here, where there are none.
func (h *Handler) origin(r *http.Request) bool {
	from := r.Header.Get("Origin")
	return from == "" || from == "http://"+r.Host || r.TLS != nil && from == "https://"+r.Host || slices.Contains(h.o.Origins, from)
}

// bearer returns whose token a request has, and whether it is let in. It takes as long for
// every token of a length.
func (h *Handler) bearer(r *http.Request) (name string, ok bool) {
	if len(h.o.Tokens) == 0 {
		return "", true
	}
	scheme, given, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	ok = ok && strings.EqualFold(scheme, "Bearer")
	sum := sha256.Sum256([]byte(given))
	found := -1
	for i, t := range h.o.Tokens {
		want := sha256.Sum256([]byte(t.Value))
		found = subtle.ConstantTimeSelect(subtle.ConstantTimeCompare(sum[:], want[:]), i, found)
	}
	if !ok || found < 0 {
		return "", false
	}
	return h.o.Tokens[found].Name, true
}

func mediaType(h http.Header) string {
	t, _, _ := mime.ParseMediaType(h.Get("Content-Type"))
	return t
}

// find returns the session that a request names, if it is the bearer's.
func (h *Handler) find(w http.ResponseWriter, r *http.Request, who string) *visitor {
	id := r.Header.Get("Mcp-Session-Id")
	if id == "" {
		http.Error(w, "a session is needed: begin with initialize", http.StatusBadRequest)
		return nil
	}
	if v := r.Header.Get("Mcp-Protocol-Version"); v != "" && !slices.Contains(versions, v) {
		http.Error(w, "this version of the protocol is not spoken here", http.StatusBadRequest)
		return nil
	}
	h.mu.Lock()
	v := h.sessions[id]
	h.mu.Unlock()
	if v == nil || v.who != who {
		http.Error(w, "there is no such session", http.StatusNotFound)
		return nil
	}
	v.idle.Reset(h.o.Idle)
	return v
}

func (h *Handler) post(w http.ResponseWriter, r *http.Request, who string) {
	if mediaType(r.Header) != "application/json" {
		http.Error(w, "messages are application/json", http.StatusUnsupportedMediaType)
		return
	}
	accept := strings.Join(r.Header.Values("Accept"), ",")
	if !strings.Contains(accept, "*/*") && (!strings.Contains(accept, "application/json") || !strings.Contains(accept, "text/event-stream")) {
		http.Error(w, "Accept must have application/json and text/event-stream", http.StatusNotAcceptable)
		return
	}
	limit := h.g.options.MaxMessage
	data, err := io.ReadAll(http.MaxBytesReader(w, r.Body, int64(limit)))
	if err != nil {
		http.Error(w, (&tooLongError{limit}).Error(), http.StatusRequestEntityTooLarge)
		return
	}
	message, err := decode(data)
	if err != nil {
		http.Error(w, "this is no JSON-RPC message", http.StatusBadRequest)
		return
	}
	request, _ := message.(*jsonrpc.Request)
	if r.Header.Get("Mcp-Protocol-Version") >= statelessVersion || request != nil && isStateless(request.Params) {
		h.without(w, r, who, request)
		return
	}
	var v *visitor
	if request != nil && request.Method == "initialize" && r.Header.Get("Mcp-Session-Id") == "" {
		v = h.open(w, who)
	} else {
		v = h.find(w, r, who)
	}
	switch {
	case v == nil:
	case request != nil && request.IsCall():
		v.call(w, r, request)
	case v.take(r.Context(), message):
		w.WriteHeader(http.StatusAccepted)
	default:
		http.Error(w, "the session has ended", http.StatusNotFound)
	}
}

// open begins a session.
func (h *Handler) open(w http.ResponseWriter, who string) *visitor {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.sessions)+len(h.shared) >= h.o.MaxSessions || h.ctx.Err() != nil {
		w.Header().Set("Retry-After", "60")
		http.Error(w, "too many sessions", http.StatusServiceUnavailable)
		return nil
	}
	v := &visitor{id: rand.Text(), who: who, in: make(chan jsonrpc.Message), gone: make(chan struct{}), flows: map[jsonrpc.ID]*flow{}, own: newFlow()}
	v.idle = time.AfterFunc(h.o.Idle, func() { _ = v.Close() })
	h.sessions[v.id] = v
	h.work.Go(func() {
		if err := h.g.Serve(h.ctx, v); err != nil {
			h.g.log.Warn("session ended", "reason", err)
		}
		h.mu.Lock()
		delete(h.sessions, v.id)
		h.mu.Unlock()
	})
	return v
}

// visitor is an agent over HTTP.
type visitor struct {
	id   string
	who  string // whose token it came with
	in   chan jsonrpc.Message
	idle *time.Timer

	mu    sync.Mutex
	gone  chan struct{}
	flows map[jsonrpc.ID]*flow // by the request that they answer
	own   *flow                // what belongs to no request
}

// flow is what is to be sent on one response of HTTP.
type flow struct{ *queue[piece] }

type piece struct {
	data   []byte
	last   bool // the answer
	status int  // of HTTP, if nothing comes before it; 0 is 200
}

// maxFlow is how many messages wait for an agent that does not listen.
const maxFlow = 1000

func newFlow() *flow { return &flow{newQueue[piece]()} }

// Identity implements Identified.
func (v *visitor) Identity() string { return v.who }

// Read implements Agent.
func (v *visitor) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case m := <-v.in:
		return m, nil
	case <-v.gone:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Close implements Agent.
func (v *visitor) Close() error {
	v.idle.Stop()
	v.mu.Lock()
	defer v.mu.Unlock()
	select {
	case <-v.gone:
	default:
		close(v.gone)
	}
	return nil
}

// Send implements Agent.
func (v *visitor) Send(message jsonrpc.Message, related jsonrpc.ID) error {
	response, answers := message.(*jsonrpc.Response)
	v.mu.Lock()
	f := v.flows[related]
	if answers {
		f = v.flows[response.ID]
		delete(v.flows, response.ID)
	}
	v.mu.Unlock()
	switch {
	case f == nil && answers:
		return errors.New("nobody waits for the answer")
	case f == nil:
		f = v.own
	}
	most := maxFlow
	if answers {
		most = math.MaxInt
	}
	if !f.putUpTo(most, piece{data: encode(message), last: answers}) {
		return errors.New("too many messages wait")
	}
	return nil
}

func (v *visitor) take(ctx context.Context, m jsonrpc.Message) bool {
	select {
	case v.in <- m:
		return true
	case <-v.gone:
	case <-ctx.Done():
	}
	return false
}

// call hands a request over and sends what answers it: as JSON if nothing else belongs to
// it, else as a stream.
func (v *visitor) call(w http.ResponseWriter, r *http.Request, request *jsonrpc.Request) {
	f := newFlow()
	v.mu.Lock()
	_, twice := v.flows[request.ID]
	if !twice {
		v.flows[request.ID] = f
	}
	v.mu.Unlock()
	if twice {
		http.Error(w, "a request with this id is in flight", http.StatusBadRequest)
		return
	}
	defer func() { // the agent may have gone without its answer
		v.mu.Lock()
		if v.flows[request.ID] == f {
			delete(v.flows, request.ID)
		}
		v.mu.Unlock()
	}()
	unhurried(w)
	w.Header().Set("Mcp-Session-Id", v.id)
	if !v.take(r.Context(), request) {
		http.Error(w, "the session has ended", http.StatusNotFound)
		return
	}
	if !f.send(w, r, v.gone, false) {
		http.Error(w, "the session has ended", http.StatusNotFound)
	}
}

// send sends what comes, until the answer was sent, the agent has gone or gone is closed.
// It returns false if nothing was sent because of that.
func (f *flow) send(w http.ResponseWriter, r *http.Request, gone <-chan struct{}, streaming bool) bool {
	for ended := false; ; {
		select {
		case <-f.wake:
		case <-gone:
			ended = true // but for what was said at the end
		case <-r.Context().Done():
			return true
		}
		for p, more := f.take(); more; p, more = f.take() {
			if p.last && !streaming {
				w.Header().Set("Content-Type", "application/json")
				w.Header().Set("Content-Length", strconv.Itoa(len(p.data)))
				w.WriteHeader(cmp.Or(p.status, http.StatusOK))
				_, _ = w.Write(p.data) // who went without waiting is gone
				return true
			}
			if !streaming {
				beginStream(w)
				streaming = true
			}
			if !sendEvent(w, p.data) || p.last {
				return true
			}
		}
		if ended {
			return streaming
		}
	}
}

// listen sends what belongs to no request.
func (v *visitor) listen(w http.ResponseWriter, r *http.Request) {
	if accept := strings.Join(r.Header.Values("Accept"), ","); !strings.Contains(accept, "text/event-stream") && !strings.Contains(accept, "*/*") {
		http.Error(w, "Accept must have text/event-stream", http.StatusNotAcceptable)
		return
	}
	unhurried(w)
	w.Header().Set("Mcp-Session-Id", v.id)
	beginStream(w)
	v.own.send(w, r, v.gone, true)
}

// unhurried lifts the time limit for reading a request, which else ends its context.
func unhurried(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{}) // a writer that cannot has no limit
}

func beginStream(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-cache, no-transform")
	w.WriteHeader(http.StatusOK)
	_ = http.NewResponseController(w).Flush() // of a writer that cannot, the agent waits longer
}

// sendEvent sends one message; false if the agent is gone.
func sendEvent(w http.ResponseWriter, data []byte) bool {
	out := append(append([]byte("event: message\ndata: "), data...), "\n\n"...)
	if _, err := w.Write(out); err != nil {
		return false
	}
	return http.NewResponseController(w).Flush() == nil
}
