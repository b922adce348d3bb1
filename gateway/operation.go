package gateway

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics counts what gateways do, for Prometheus. A nil one counts nothing.
type Metrics struct {
	registry  *prometheus.Registry
	calls     *prometheus.HistogramVec
	restarts  *prometheus.CounterVec
	artefacts *prometheus.CounterVec
}

// NewMetrics returns metrics of which nothing is counted yet.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		calls: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "awo_call_seconds", Help: "Requests of agents by server (awo: answered by the gateway) and outcome, and how long they took.",
			Buckets: []float64{.001, .003, .01, .03, .1, .3, 1, 3, 10, 30, 100},
		}, []string{"server", "method", "outcome"}),
		restarts:  prometheus.NewCounterVec(prometheus.CounterOpts{Name: "awo_server_ends_total", Help: "Connections to servers that ended, or could not be made, and are made again."}, []string{"server"}),
		artefacts: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "awo_artefact_events_total", Help: "What became of meta-tools (complete, handed-back), of prefetch rules (attached; used and unused of the reads that were not), and of lazy tools (registered, unregistered: refused)."}, []string{"kind", "name", "event"}),
	}
	m.registry.MustRegister(m.calls, m.restarts, m.artefacts)
	return m
}

// Count counts an event of a meta-tool, a rule or a tool that is not listed.
func (m *Metrics) Count(kind, name, event string) {
	if m != nil {
		m.artefacts.WithLabelValues(kind, name, event).Inc()
	}
}

func (m *Metrics) ended(server string) {
	if m != nil {
		m.restarts.WithLabelValues(server).Inc()
	}
}

// Metrics returns what the gateway counts with.
func (g *Gateway) Metrics() *Metrics { return g.options.Metrics }

// observed is a request of an agent's under way, for metrics and the access log.
type observed struct {
	method, name, server string
	began                time.Time
}

// maxObserved bounds what is kept of requests that nothing answers.
const maxObserved = 10_000

// observe notes that a request begins. What is called is known later: of unknown names,
// which may be anything, nothing is kept.
func (s *session) observe(m *jsonrpc.Request) {
	if s.g.options.Metrics == nil && s.g.options.Access == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.seen == nil {
		s.seen = map[jsonrpc.ID]*observed{}
	}
	if _, known := methods[m.Method]; known && len(s.seen) < maxObserved {
		s.seen[m.ID] = &observed{method: m.Method, server: "awo", began: time.Now()}
	}
}

// methods are the requests that are observed.
var methods = map[string]bool{"initialize": true, "tools/list": true, "tools/call": true, "prompts/get": true, "resources/read": true, "completion/complete": true}

// concerns says what an observed request calls.
func (s *session) concerns(id jsonrpc.ID, server, name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if o := s.seen[id]; o != nil {
		o.server, o.name = server, name
	}
}

// over notes that a request was answered, or is not to be (a nil response).
func (s *session) over(id jsonrpc.ID, r *jsonrpc.Response) {
	s.mu.Lock()
	o := s.seen[id]
	delete(s.seen, id)
	s.mu.Unlock()
	if o == nil {
		return
	}
	outcome := "ok"
	switch {
	case r == nil:
		outcome = "cancelled"
	case r.Error != nil:
		outcome = "error"
	case string(member(r.Result, "isError")) == "true":
		outcome = "failed"
	}
	took := time.Since(o.began)
	if m := s.g.options.Metrics; m != nil {
		m.calls.WithLabelValues(o.server, o.method, outcome).Observe(took.Seconds())
	}
	if log := s.g.options.Access; log != nil {
		log.Info("call", "session", s.id, "client", s.client(), "method", o.method, "server", o.server, "name", o.name, "ms", float64(took.Microseconds())/1000, "outcome", outcome)
	}
}

// client returns whose token the agent has, "" for nobody's.
func (s *session) client() string {
	if a, ok := s.agent.(Identified); ok {
		return a.Identity()
	}
	return ""
}

// status is what Admin says of a gateway.
type status struct {
	Version  string         `json:"version"`
	Ready    bool           `json:"ready"`
	Policy   *Policy        `json:"policy"`
	Layer    map[string]any `json:"artefacts,omitempty"`
	Sessions []sessionState `json:"sessions"`
}

type sessionState struct {
	ID      string    `json:"id"`
	Client  string    `json:"client,omitempty"`
	Began   time.Time `json:"began"`
	Arm     string    `json:"arm"`
	Servers []State   `json:"servers"`
}

// status returns how things are. A gateway is ready unless a server is missing in every
// session that there is.
func (g *Gateway) status() status {
	now := g.now.Load()
	out := status{Version: g.options.Version, Ready: true, Policy: g.Policy(), Sessions: []sessionState{}}
	if now.layer != nil {
		out.Layer = now.layer.About()
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	there := map[string]bool{}
	for s := range g.open {
		one := sessionState{ID: s.id, Client: s.client(), Began: s.began, Arm: s.arm}
		for _, u := range s.ups {
			state := u.state()
			there[state.Server] = there[state.Server] || state.Ready
			one.Servers = append(one.Servers, state)
		}
		out.Sessions = append(out.Sessions, one)
	}
	for _, ready := range there {
		out.Ready = out.Ready && ready
	}
	return out
}

// Admin answers those who run the gateway: /healthz, /readyz, /metrics and /status. It asks
// for no token, and belongs on an address of its own.
func (g *Gateway) Admin() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("ok\n")) })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if !g.status().Ready {
			http.Error(w, "a server is missing: see /status", http.StatusServiceUnavailable)
			return
		}
		_, _ = w.Write([]byte("ok\n"))
	})
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(g.status()) // who went without waiting is gone
	})
	if m := g.options.Metrics; m != nil {
		mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	}
	return mux
}

// State is what a server turned out to be.
type State struct {
	Server    string   `json:"server"` // its name in the configuration
	Ready     bool     `json:"ready"`
	Reason    string   `json:"reason,omitempty"` // why it is not ready
	Name      string   `json:"name,omitempty"`   // what it calls itself
	Version   string   `json:"version,omitempty"`
	Protocol  string   `json:"protocol,omitempty"`
	Tools     int      `json:"tools"`
	Prompts   int      `json:"prompts"`
	Resources int      `json:"resources"`     // templates too
	Dropped   int      `json:"dropped"`       // messages that could not be read
	Odd       []string `json:"odd,omitempty"` // tools whose schema is of no object: many clients refuse these
}

// nobody is the agent of a check.
type nobody struct{}

func (nobody) Read(ctx context.Context) (jsonrpc.Message, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}
func (nobody) Send(jsonrpc.Message, jsonrpc.ID) error { return nil }
func (nobody) Close() error                           { return nil }

// Known returns the tools that servers had when they last ran, as far as that is kept.
func (g *Gateway) Known() []*Tool { return toolsOf(g.newSession(nobody{}).list("tools/list")) }

// Check connects to every server, reads its lists and ends it. It returns the servers and
// the tools that there are, also those that the policy refuses. A server has Options.ConnectWait for that.
func (g *Gateway) Check(ctx context.Context) ([]State, []*Tool) {
	s := g.newSession(nobody{})
	s.setup = &setup{servers: s.setup.servers} // each server is asked itself
	s.initialize = append(append([]byte(`{"protocolVersion":"`+versions[0]+`","capabilities":{},"clientInfo":{"name":"awo","version":`), quoted(g.options.Version)...), "}}"...)
	// A server is kept until all are read: only together do they show which names collide.
	read, enough := context.WithTimeout(ctx, g.options.ConnectWait)
	defer enough()
	kept, end := context.WithCancel(ctx)
	var arrived, ended sync.WaitGroup
	for _, u := range s.ups {
		u.mu.Lock()
		ready := u.ready
		u.mu.Unlock()
		gone := make(chan struct{})
		ended.Go(func() {
			_ = u.once(kept) // why it ended is in u.reason
			close(gone)
		})
		arrived.Go(func() {
			select {
			case <-ready:
			case <-gone:
			case <-read.Done():
			}
		})
	}
	arrived.Wait()
	out := make([]State, len(s.ups))
	tools := toolsOf(s.list("tools/list"))
	s.permitted(tools)
	for i, u := range s.ups {
		out[i] = u.state()
	}
	end()
	ended.Wait()
	return out, tools
}

func (u *upstream) state() State {
	u.mu.Lock()
	defer u.mu.Unlock()
	s := State{Server: u.server.Name, Reason: u.reason, Dropped: u.dropped}
	select {
	case <-u.ready:
		s.Ready = true
	default:
		if u.result == nil && u.conn != nil {
			s.Reason = "it did not answer initialize in time"
		} else if u.conn != nil {
			s.Reason = "its lists were not read in time"
		}
		return s
	}
	s.Name, s.Version = text(member(u.result, "serverInfo", "name")), text(member(u.result, "serverInfo", "version"))
	s.Protocol = text(member(u.result, "protocolVersion"))
	s.Tools, s.Prompts = len(u.lists["tools/list"]), len(u.lists["prompts/list"])
	s.Resources = len(u.lists["resources/list"]) + len(u.lists["resources/templates/list"])
	for _, tool := range u.lists["tools/list"] {
		name := text(member(tool, "name"))
		if !ofObject(member(tool, "inputSchema")) {
			s.Odd = append(s.Odd, name)
		}
	}
	return s
}

// ofObject reports whether a schema says that what it describes is an object.
func ofObject(schema json.RawMessage) bool {
	return strings.TrimSpace(text(member(schema, "type"))) == "object"
}
