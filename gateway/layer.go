package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Layer is what a gateway has beside its servers: tools of its own, and what it does
// around calls that pass. The relay knows nothing of what is behind it.
type Layer interface {
	// Open begins a session. It is not called for sessions of the control arm.
	Open(h *Host) LayerSession

	// About returns what the first line of a recording says of the layer, by member.
	About() map[string]any
}

// LayerSession is a layer's part of one session of an agent. Its methods are called from
// several goroutines, Offer never twice at once.
type LayerSession interface {
	// Offer returns what is listed of tools, in order. It is called when the lists of
	// servers changed, and after Host.Changed. complete says whether all servers were
	// there already.
	Offer(tools []*Tool, complete bool) []json.RawMessage

	// Handle says what becomes of a call of the agent's. It must not wait.
	Handle(c *ToolCall) Handling

	// Instructions returns what the agent is told at the beginning, "" for nothing.
	Instructions() string

	// Close ends the session, once no more of its calls are under way.
	Close()
}

// Tool is a tool of a server.
type Tool struct {
	Server     string          // its name in the configuration
	Name       string          // there
	Shown      string          // to agents: with the prefix of its server
	Definition json.RawMessage // as it is shown
	ReadsOnly  bool            // the configuration says so
	Ask        bool            // the user is asked before each call
	Refused    string          // why the policy does not offer it; "" if it does

	up *upstream
}

// ToolCall is a call of the agent's.
type ToolCall struct {
	ID     jsonrpc.ID
	Name   string          // as the agent wrote it
	Params json.RawMessage // of the request
	Tool   *Tool           // of that name; nil if no server has one
}

// Arguments returns the arguments of the call, an object if they are not there.
func (c *ToolCall) Arguments() json.RawMessage {
	if v := member(c.Params, "arguments"); len(v) > 0 && string(v) != "null" {
		return v
	}
	return json.RawMessage(`{}`)
}

// ProgressToken returns what progress is asked for with, nil if it is not.
func (c *ToolCall) ProgressToken() json.RawMessage { return member(c.Params, "_meta", "progressToken") }

// Handling says what becomes of a call. The zero value lets it pass.
type Handling struct {
	// Answer answers in the place of a server, on a goroutine of its own, until ctx ends:
	// then nothing is sent. By names in recordings who answers.
	Answer func(ctx context.Context) (json.RawMessage, error)
	By     string

	// To is the tool that is called in place of the one that was named, with Params. The
	// call is recorded as one of that tool.
	To     *Tool
	Params json.RawMessage
	Name   string // of what is called so and no server has, such as a meta-tool; with Params

	// Attach is called with a result that is no failure, of a server or of Answer, on a
	// goroutine of its own. It
	// returns blocks of content that follow those of the result.
	Attach func(ctx context.Context, result json.RawMessage) []json.RawMessage

	// Ended is called where Attach is not: when a call that passed has ended, with an answer
	// or not. It must not wait.
	Ended func(failed bool)
}

// Why a call of the gateway's own has no result; beside them there are errors of the
// protocol and of the context.
var (
	ErrNotMade    = errors.New("the call was not made: the server is not available")
	ErrUnanswered = errors.New("the server ended before it answered")
)

// Refusal is an answer of a server that is an error of the protocol.
type Refusal struct{ Message string }

// Error returns what the server said.
func (r *Refusal) Error() string { return r.Message }

// Within says why a gateway makes a call: because of a request of the agent's, as what,
// and by which meta-tool, rule or snapshot.
type Within struct {
	Request jsonrpc.ID
	As, By  string
}

// What a gateway's own calls are.
const (
	AsMetaTool = "meta-tool" // a step of one
	AsPrefetch = "prefetch"  // a read ahead of the agent, by a rule
	AsInertial = "inertial"  // a read that a snapshot predicted
)

// Host is a session as a layer sees it.
type Host struct{ s *session }

// Log returns where a layer says what becomes of it; never with values of messages.
func (h *Host) Log() *slog.Logger { return h.s.g.log }

// Disabled reports whether a meta-tool or a rule is switched off.
func (h *Host) Disabled(name string) bool { return slices.Contains(h.s.g.Policy().Disabled, name) }

// Changed says that what Offer returned is out of date. The agent is told.
func (h *Host) Changed() {
	h.s.lists.Add(1)
	h.s.changed(&toolsChanged)
}

// Shared reports whether several clients may be behind the session.
func (h *Host) Shared() bool {
	a, ok := h.s.agent.(*stateless)
	return ok && a.shared
}

// Can reports whether the agent said that it can do something.
func (h *Host) Can(capability ...string) bool {
	v := member(h.s.initialize, append([]string{"capabilities"}, capability...)...)
	return len(v) > 0 && string(v) != "null" && string(v) != "false"
}

// Call calls a tool because of a request of the agent's. A server that is
// starting is waited for. When ctx ends the server is told that nobody waits any more.
func (h *Host) Call(ctx context.Context, w Within, t *Tool, arguments json.RawMessage) (json.RawMessage, error) {
	u := t.up
	u.mu.Lock()
	ready, full := u.ready, u.reason == errFull.Error()
	u.mu.Unlock()
	if full {
		return nil, fmt.Errorf("%w: %w", ErrNotMade, errFull)
	}
	select {
	case <-ready:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrNotMade, ctx.Err())
	}
	params := append(append([]byte(`{"name":`), quoted(t.Name)...), `,"arguments":`...)
	params = append(append(params, arguments...), '}')
	answered := make(chan *jsonrpc.Response, 1)
	id, ok := u.callFor(&w, w.Request, "tools/call", params, func(r *jsonrpc.Response) { answered <- r })
	if !ok {
		return nil, ErrNotMade
	}
	h.s.mu.Lock()
	if f, in := h.s.flights[w.Request]; in { // what the server asks now has to do with it
		f.up, f.id = u, id
		h.s.flights[w.Request] = f
	}
	h.s.mu.Unlock()
	select {
	case r := <-answered:
		switch {
		case r == nil:
			return nil, ErrUnanswered
		case r.Error != nil:
			refusal := &Refusal{Message: r.Error.Error()}
			if e, ok := errors.AsType[*jsonrpc.Error](r.Error); ok {
				refusal.Message = e.Message
			}
			return nil, refusal
		}
		return r.Result, nil
	case <-ctx.Done():
		u.cancel(id, nil)
		return nil, ctx.Err()
	}
}

// Tell sends a notification that belongs to a request of the agent's.
func (h *Host) Tell(request jsonrpc.ID, method string, params json.RawMessage) {
	h.s.mu.Lock()
	_, waits := h.s.flights[request]
	h.s.mu.Unlock()
	if waits { // else it was cancelled
		h.s.send(&jsonrpc.Request{Method: method, Params: params}, request)
	}
}

// Unit is what is put into one arm of an experiment as a whole.
type Unit string

// The units.
const (
	UnitSession Unit = "session"
	UnitToken   Unit = "token" // who sends it; over HTTP with tokens
	UnitDay     Unit = "day"   // in UTC
)

// The arms.
const (
	ArmTreated = "treated"
	ArmControl = "control" // the gateway without its layer
)

// Experiment says which sessions get the gateway without its layer. The zero value is
// none.
type Experiment struct {
	Share float64 // of units, from 0 to 1
	Unit  Unit    // "" is UnitSession
	Seed  uint64
}

// arm returns the arm of a unit: that share of the numbers that hashes of seed and unit
// are is control. Who knows the seed can tell it; nobody can choose it.
func (e Experiment) arm(unit string) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "awo %d %s %s", e.Seed, e.Unit, unit))
	if e.Share > 0 && (e.Share >= 1 || float64(binary.BigEndian.Uint64(sum[:8]))/(1<<64) < e.Share) {
		return ArmControl
	}
	return ArmTreated
}

// Identified is an Agent that says on whose behalf it speaks.
type Identified interface{ Identity() string }

// assign puts the session into an arm.
func (s *session) assign(now time.Time) {
	e := &s.g.options.Experiment
	switch e.Unit {
	case UnitToken:
		if a, ok := s.agent.(Identified); ok {
			s.unit = a.Identity()
		}
	case UnitDay:
		s.unit = now.UTC().Format(time.DateOnly)
	default:
		s.unit = s.id
	}
	s.arm = e.arm(s.unit)
}
