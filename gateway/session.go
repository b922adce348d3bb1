package gateway

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Options say how a Gateway works. The zero value is the default.
type Options struct {
	ConnectWait time.Duration // how long requests wait for servers that are starting; 0 is 5 s
	Version     string        // of the program, told to clients and servers
	Log         *slog.Logger  // nil logs nothing
	ServerLog   io.Writer     // gets what servers write to their standard error; nil drops it
	Recording   *Recording    // nil records nothing
	Layer       Layer         // beside the servers; nil is none
	Policy      *Policy       // which tools are offered; nil is all
	Pins        *Pins         // nil pins nothing
	Logins      *Logins       // tokens of servers; nil is none
	Metrics     *Metrics      // nil counts nothing
	Access      *slog.Logger  // gets a line for each call; nil logs none
	Processes   int           // of servers, in all sessions together; 0 is 64
	Experiment  Experiment    // which sessions do without it

	// Cache is a folder for what servers have, which is shown while they are starting; ""
	// keeps nothing.
	Cache string

	Prefixes Prefixes // "" is PrefixesAuto

	MaxMessage int // bytes of a message, of agents and of servers; 0 is DefaultMaxMessage

	// IDs are names that the client has for the sessions, for recordings.
	IDs map[string]string
}

// Gateway connects agents to servers.
type Gateway struct {
	options   Options
	log       *slog.Logger
	processes chan struct{} // one of each that runs
	now       atomic.Pointer[setup]
	policy    atomic.Pointer[Policy]

	mu   sync.Mutex
	held int // how often servers that sessions share are held
	open map[*session]bool
}

// setup is what sessions begin with, and keep.
type setup struct {
	servers []Server
	layer   Layer              // nil is none
	shared  map[string]*shared // servers that sessions share, by name
}

// New returns a gateway to servers.
func New(servers []Server, o Options) *Gateway {
	o.ConnectWait = cmp.Or(o.ConnectWait, 5*time.Second)
	o.MaxMessage = cmp.Or(o.MaxMessage, DefaultMaxMessage)
	o.Experiment.Unit = cmp.Or(o.Experiment.Unit, UnitSession)
	o.Log = cmp.Or(o.Log, slog.New(slog.DiscardHandler))
	o.Processes = cmp.Or(o.Processes, 64)
	g := &Gateway{options: o, log: o.Log, processes: make(chan struct{}, o.Processes), open: map[*session]bool{}}
	g.Reload(servers, o.Layer)
	g.SetPolicy(o.Policy)
	return g
}

// Reload replaces servers and layer for the sessions that begin from now on. Others keep
// those that they began with.
func (g *Gateway) Reload(servers []Server, layer Layer) {
	next := &setup{servers: withPrefixes(servers, g.options.Prefixes), layer: layer, shared: map[string]*shared{}}
	for _, s := range next.servers {
		if s.Shared {
			s.Shared, s.Prefix = false, ""
			o := g.options
			o.Recording, o.Pins, o.Metrics, o.Access, o.Experiment = nil, nil, nil, nil, Experiment{}
			own := &Gateway{options: o, log: g.log, processes: g.processes, open: map[*session]bool{}}
			own.policy.Store(&Policy{})
			own.now.Store(&setup{servers: []Server{s}})
			next.shared[s.Name] = &shared{g: own}
		}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	before := g.now.Swap(next)
	next.hold(g.held)
	if before != nil {
		go before.hold(-g.held) // sessions may still use it
	}
}

// hold keeps the shared servers running however many sessions there are, until as many are
// taken back.
func (s *setup) hold(n int) {
	for _, server := range s.shared {
		server.hold(n)
	}
}

// hold is setup.hold for the setup that is in use.
func (g *Gateway) hold(n int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.held += n
	g.now.Load().hold(n)
}

// Agent is the connection of an agent.
type Agent interface {
	// Read returns the next message. It returns an error when the agent is gone.
	Read(ctx context.Context) (jsonrpc.Message, error)

	// Send sends a message, which has to do with a request of the agent's if related
	// is valid: over HTTP it then goes where the answer will.
	Send(message jsonrpc.Message, related jsonrpc.ID) error

	// Close ends the connection. Read then returns.
	Close() error
}

// versions of the protocol that can be agreed on, newest first.
var versions = []string{"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"}

// serves is an agent that wants to know its session, and what version of the protocol it
// speaks if there are no sessions in it.
type serves interface {
	of(s *session)
	era() string
}

// session is one agent and its connections.
type session struct {
	g     *Gateway
	setup *setup
	agent Agent
	ups   []*upstream
	rec   *recorder // nil records nothing

	id, unit, arm string // of the session, and of the experiment

	began      time.Time
	layer      LayerSession    // nil if there is none
	ctx        context.Context // of the session
	initialize json.RawMessage // what servers are told; set before they start
	begun      bool            // whether initialize came; only the reader uses it
	work       sync.WaitGroup

	lists   atomic.Int64 // counts changes of what is offered
	offerMu sync.Mutex
	offered *offer
	warned  map[string]bool // definitions that are not approved

	mu       sync.Mutex
	flights  map[jsonrpc.ID]flight // the agent's requests at servers
	asked    map[string]question   // requests of servers at the agent, by the id it got
	seen     map[jsonrpc.ID]*observed
	last     int
	answered bool               // initialize was answered, so that lists may change
	settled  bool               // servers are there, or were waited for
	held     []*jsonrpc.Request // that wait for that
}

// flight is a request of the agent's under way: at a server, or at a layer, which makes
// calls of servers for it.
type flight struct {
	up     *upstream // of the newest call
	id     int64
	token  string             // of progress, as it is written
	cancel context.CancelFunc // nil for one that passes
}

// question is a request at the agent: of a server's, or of a layer's.
type question struct {
	up     *upstream
	id     jsonrpc.ID
	answer chan *jsonrpc.Response // of a layer's
}

// Serve relays for one agent until it is gone or ctx ends. Every server is started for
// it, at its first message, and ended with it.
func (g *Gateway) Serve(ctx context.Context, agent Agent) error {
	ctx, cancel := context.WithCancel(ctx)
	s := g.newSession(agent)
	s.id, s.began = rand.Text(), time.Now()
	g.mu.Lock()
	g.open[s] = true
	g.mu.Unlock()
	defer func() {
		g.mu.Lock()
		delete(g.open, s)
		g.mu.Unlock()
	}()
	s.assign(time.Now())
	if g.options.Recording != nil {
		s.rec = g.options.Recording.begin(s)
	}
	s.ctx = ctx
	if s.setup.layer != nil && s.arm != ArmControl {
		s.layer = s.setup.layer.Open(&Host{s})
	}
	stop := context.AfterFunc(ctx, func() { _ = agent.Close() })
	defer stop()
	var err error
	for {
		var message jsonrpc.Message
		if message, err = agent.Read(ctx); err != nil {
			break
		}
		if r, ok := message.(*jsonrpc.Request); !ok || r.Method != "tools/call" || !s.begun {
			s.rec.record("client", message, nil) // calls are recorded as what they become
		}
		s.fromAgent(ctx, message)
	}
	cancel()
	_ = agent.Close() // it is gone already, or is to go
	s.work.Wait()
	if s.layer != nil {
		s.layer.Close()
	}
	s.rec.close()
	if errors.Is(err, io.EOF) || errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// newSession returns the session of an agent whose servers are not started.
func (g *Gateway) newSession(agent Agent) *session {
	s := &session{g: g, setup: g.now.Load(), agent: agent, flights: map[jsonrpc.ID]flight{}, warned: map[string]bool{}, asked: map[string]question{}}
	for i := range s.setup.servers {
		s.ups = append(s.ups, &upstream{
			s: s, server: &s.setup.servers[i], ready: make(chan struct{}), tried: make(chan struct{}), reason: "it is starting",
			pending: map[int64]func(*jsonrpc.Response){}, lists: map[string][]json.RawMessage{},
		})
		if g.options.Cache != "" {
			s.ups[len(s.ups)-1].recall()
		}
	}
	if a, ok := agent.(serves); ok {
		a.of(s)
	}
	return s
}

// era returns the version of the protocol that the agent speaks if it is one without
// sessions, else "".
func (s *session) era() string {
	if a, ok := s.agent.(serves); ok {
		return a.era()
	}
	return ""
}

// send sends a message to the agent.
func (s *session) send(message jsonrpc.Message, related jsonrpc.ID) {
	s.rec.record("server", message, &note{of: related})
	s.deliver(message, related)
}

// deliver is send of what is recorded already.
func (s *session) deliver(message jsonrpc.Message, related jsonrpc.ID) {
	if r, ok := message.(*jsonrpc.Response); ok {
		s.over(r.ID, r)
	}
	if err := s.agent.Send(message, related); err != nil {
		s.g.log.Warn("message not delivered to the agent", "reason", err)
	}
}

func (s *session) reply(id jsonrpc.ID, result []byte) {
	s.send(&jsonrpc.Response{ID: id, Result: result}, id)
}

func (s *session) refuse(id jsonrpc.ID, code int64, message string) {
	s.send(&jsonrpc.Response{ID: id, Error: &jsonrpc.Error{Code: code, Message: message}}, id)
}

// fromAgent deals with a message of the agent's.
func (s *session) fromAgent(ctx context.Context, message jsonrpc.Message) {
	switch m := message.(type) {
	case *jsonrpc.Response:
		id, _ := m.ID.Raw().(string)
		s.mu.Lock()
		q, ok := s.asked[id]
		delete(s.asked, id)
		s.mu.Unlock()
		switch {
		case ok && q.answer != nil:
			q.answer <- m // has room
		case ok:
			q.up.send(&jsonrpc.Response{ID: q.id, Result: m.Result, Error: m.Error})
		}
	case *jsonrpc.Request:
		if m.IsCall() {
			s.observe(m)
		}
		switch {
		case !m.IsCall():
			s.notified(m)
		case m.Method == "ping":
			s.reply(m.ID, []byte(`{}`))
		case m.Method == "initialize" && !s.begun:
			s.begun = true
			s.start(ctx, m)
		case !s.begun || m.Method == "initialize":
			if m.Method == "server/discover" {
				s.refuse(m.ID, jsonrpc.CodeMethodNotFound, "_meta has no version of the protocol without sessions")
				return
			}
			s.refuse(m.ID, jsonrpc.CodeInvalidRequest, "a session begins with initialize, once")
		default:
			if !s.hold(m) {
				s.request(m)
			}
		}
	}
}

// start starts the servers and answers initialize when they are there, or the wait is
// over.
func (s *session) start(ctx context.Context, m *jsonrpc.Request) {
	s.initialize = m.Params
	for _, u := range s.ups {
		s.work.Go(func() { u.run(ctx) })
	}
	s.work.Go(func() {
		began := time.Now()
		if !s.tried(ctx, min(s.g.options.ConnectWait, answerWait), false) && ctx.Err() != nil {
			return
		}
		s.offer() // says what is not offered, and why
		version := text(member(m.Params, "protocolVersion"))
		if !slices.Contains(versions, version) {
			version = versions[0]
		}
		result := s.introduction(version)
		s.reply(m.ID, result)
		s.mu.Lock()
		s.answered = true
		s.mu.Unlock()
		// What is asked for waits longer than initialize does.
		if !s.tried(ctx, s.g.options.ConnectWait-time.Since(began), true) {
			if ctx.Err() != nil {
				return
			}
			s.changed(&toolsChanged) // what came in the meantime is news
		}
		s.settle()
	})
}

// answerWait is how long initialize waits for servers at most: clients give up on servers
// that are slow to answer it.
const answerWait = 800 * time.Millisecond

// tried waits until every server is there, or has failed to start, for a time at most; not
// for those that can be shown as they were, if these are known. It returns whether that
// came in time.
func (s *session) tried(ctx context.Context, wait time.Duration, known bool) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for _, u := range s.ups {
		u.mu.Lock()
		recalled := u.recalled
		u.mu.Unlock()
		if known && recalled {
			continue
		}
		select {
		case <-u.tried:
		case <-timer.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// hold keeps a request while servers are starting; false if it need not wait.
func (s *session) hold(m *jsonrpc.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.settled {
		s.held = append(s.held, m)
	}
	return !s.settled
}

// settle deals with the requests that were held, and holds no more.
func (s *session) settle() {
	for {
		s.mu.Lock()
		held := s.held
		s.held, s.settled = nil, len(held) == 0
		s.mu.Unlock()
		if len(held) == 0 {
			return
		}
		for _, m := range held {
			s.request(m)
		}
	}
}

// introduction is the result of initialize.
func (s *session) introduction(version string) []byte {
	can := map[string]map[string]bool{"tools": {"listChanged": true}}
	var instructions []string
	for _, u := range s.ups {
		u.mu.Lock()
		unknown := u.result == nil // it may turn out to have all of them
		said := text(member(u.result, "instructions"))
		u.mu.Unlock()
		for _, name := range []string{"prompts", "resources", "completions", "logging"} {
			if (unknown || u.has(name)) && can[name] == nil {
				can[name] = map[string]bool{}
				if slices.Contains(kinds, name) {
					can[name]["listChanged"] = true
				}
			}
		}
		if unknown || u.has("resources", "subscribe") {
			can["resources"]["subscribe"] = true
		}
		if said != "" && len(s.ups) > 1 {
			said = u.server.Name + ": " + said
		}
		instructions = append(instructions, said)
	}
	if s.layer != nil {
		instructions = append(instructions, s.layer.Instructions())
	}
	instructions = slices.DeleteFunc(instructions, func(said string) bool { return said == "" })
	capabilities, _ := json.Marshal(can) // maps of maps of bools can always be written
	out := append([]byte(`{"protocolVersion":`), quoted(version)...)
	out = append(append(out, `,"capabilities":`...), capabilities...)
	out = append(append(out, `,"serverInfo":{"name":"awo","version":`...), quoted(s.g.options.Version)...)
	out = append(out, '}')
	if len(instructions) > 0 {
		out = append(append(out, `,"instructions":`...), quoted(strings.Join(instructions, "\n\n"))...)
	}
	return append(out, '}')
}

// toolsChanged tells an agent that other tools are offered than it may know.
var toolsChanged = jsonrpc.Request{Method: "notifications/tools/list_changed"}

// forget drops the questions of a server that ended.
func (s *session) forget(u *upstream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, q := range s.asked {
		if q.up == u {
			delete(s.asked, id)
		}
	}
}

// changed tells the agent that a list changed, if it can have asked for it already.
func (s *session) changed(m *jsonrpc.Request) {
	s.mu.Lock()
	answered := s.answered
	s.mu.Unlock()
	if answered {
		s.send(&jsonrpc.Request{Method: m.Method, Params: m.Params}, jsonrpc.ID{})
	}
}
