package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Waits between attempts to connect to a server again.
const (
	firstRestart = time.Second
	lastRestart  = time.Minute
)

// maxPages is how many pages of a list are read.
const maxPages = 1000

// errDown is what calls in flight get when their server ends.
var errDown = errors.New("the connection to the server ended")

// listed are the lists of a server, by method; the member that holds the list.
var listMember = map[string]string{
	"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates",
}

// capabilityOf returns which capability a list belongs to.
func capabilityOf(method string) string {
	switch method {
	case "resources/templates/list":
		return "resources"
	default:
		return listMember[method]
	}
}

// upstream is the connection of one session to one server.
type upstream struct {
	s      *session
	server *Server

	mu      sync.Mutex
	conn    mcp.Connection // nil while there is none
	out     chan jsonrpc.Message
	last    int64
	pending map[int64]func(*jsonrpc.Response) // called with nil when the connection ends
	ready   chan struct{}                     // closed while the server is there and its lists are read
	tried   chan struct{}                     // closed once it was there, or has failed to start
	first   sync.Once
	reason  string // why it is not there
	dropped int    // messages that were dropped

	result   json.RawMessage // of initialize
	lists    map[string][]json.RawMessage
	recalled bool // the lists are those of an earlier session, until the server is there

	ctx     context.Context // of the connection
	work    *sync.WaitGroup // of its goroutines
	reading map[string]bool // lists that are being read again, true if they changed meanwhile

	stateless bool             // the protocol without sessions is spoken
	watched   map[string]int64 // subscriptions to resources, where there are no sessions
	again     map[int64]int64  // calls that were made again, because the server asked something
}

// run keeps the connection until ctx ends.
func (u *upstream) run(ctx context.Context) {
	for wait := firstRestart; ; wait = min(2*wait, lastRestart) {
		began := time.Now()
		err := u.once(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > lastRestart {
			wait = firstRestart
		}
		u.s.g.log.Warn("server ended", "server", u.server.Name, "reason", err, "again", wait)
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
	}
}

// once connects, reads the lists and serves the connection until it ends.
func (u *upstream) once(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	var work sync.WaitGroup
	conn, err := u.connect(ctx)
	if err != nil {
		cancel()
		u.down(err)
		return err
	}
	out := make(chan jsonrpc.Message, 256)
	u.mu.Lock()
	u.conn, u.out, u.ctx, u.work, u.reading = conn, out, ctx, &work, map[string]bool{}
	u.stateless, u.watched, u.again = false, map[string]int64{}, map[int64]int64{}
	u.mu.Unlock()
	ended := make(chan error, 4)
	work.Go(func() { ended <- u.read(ctx, conn) })
	work.Go(func() { u.write(ctx, conn, out, &work) })
	work.Go(func() {
		if err := u.begin(ctx, conn, &work); err != nil {
			ended <- err
		}
	})
	select {
	case err = <-ended:
	case <-ctx.Done():
		err = ctx.Err()
	}
	u.down(err)
	cancel()
	_ = conn.Close() // how a connection ends says nothing more than err
	work.Wait()
	return err
}

func (u *upstream) connect(ctx context.Context) (mcp.Connection, error) {
	if u.server.Command != "" {
		return start(u.server, u.s.g.options.ServerLog, func() {
			u.mu.Lock()
			u.dropped++
			u.mu.Unlock()
			u.s.g.log.Warn("message dropped: no JSON-RPC, or over 16 MiB", "server", u.server.Name)
		})
	}
	return dial(ctx, u.server)
}

// down forgets the connection; who waits for an answer is told that none comes.
func (u *upstream) down(err error) {
	u.mu.Lock()
	pending := u.pending
	was := u.conn != nil
	u.pending, u.conn, u.out = map[int64]func(*jsonrpc.Response){}, nil, nil
	u.reason = err.Error()
	select {
	case <-u.ready:
		u.ready = make(chan struct{})
	default:
	}
	u.mu.Unlock()
	u.first.Do(func() { close(u.tried) })
	for _, answer := range pending {
		answer(nil)
	}
	if was {
		u.s.forget(u)
	}
}

// read reads messages until the connection ends. What a message leads to is done before
// the next one is read, so that progress stays before its result.
func (u *upstream) read(ctx context.Context, conn mcp.Connection) error {
	unknown := 0
	for {
		message, err := conn.Read(ctx)
		if err != nil {
			return err
		}
		if u.take(message) {
			unknown = 0
			continue
		}
		u.s.g.log.Warn("message dropped: it answers nothing that was asked", "server", u.server.Name)
		if unknown++; unknown >= maxBad {
			return errUnreadable
		}
	}
}

// take deals with a message; false if it answers nothing.
func (u *upstream) take(message jsonrpc.Message) bool {
	switch m := message.(type) {
	case *jsonrpc.Response:
		id, ok := m.ID.Raw().(int64)
		u.mu.Lock()
		answer, waits := u.pending[id]
		delete(u.pending, id)
		late := ok && id > 0 && id <= u.last // of a request that was cancelled
		u.mu.Unlock()
		if ok && waits {
			answer(m)
		}
		return waits || late
	case *jsonrpc.Request:
		u.s.fromServer(u, m)
	}
	return true
}

// write sends what is queued, in order. Calls over HTTP are sent each on its own,
// because sending one there ends only when its answer begins.
func (u *upstream) write(ctx context.Context, conn mcp.Connection, out chan jsonrpc.Message, work *sync.WaitGroup) {
	far, isRemote := conn.(*remote)
	send := func(message jsonrpc.Message) {
		var err error
		if isRemote && far.stateless.Load() {
			err = far.post(ctx, message, u.definition, func(m jsonrpc.Message) { u.take(m) })
		} else {
			err = conn.Write(ctx, message)
		}
		request, ok := message.(*jsonrpc.Request)
		if err == nil || ctx.Err() != nil || !ok || !request.IsCall() {
			return
		}
		u.take(&jsonrpc.Response{ID: request.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: fmt.Sprintf("server %s: %v", u.server.Name, err)}})
	}
	for {
		select {
		case <-ctx.Done():
			return
		case message := <-out:
			if request, ok := message.(*jsonrpc.Request); isRemote && ok && request.IsCall() {
				work.Go(func() { send(message) })
			} else {
				send(message)
			}
		}
	}
}

// send queues a message; false if there is no connection, or the server does not read.
func (u *upstream) send(message jsonrpc.Message) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.out == nil {
		return false
	}
	select {
	case u.out <- message:
		return true
	default:
		return false
	}
}

// call sends a request and returns its id. answer is called once, from the goroutine
// that reads, or with nil if the connection ends; it is not called if ok is false.
func (u *upstream) call(method string, params json.RawMessage, answer func(*jsonrpc.Response)) (id int64, ok bool) {
	return u.callFor(nil, jsonrpc.ID{}, method, params, answer)
}

// callFor is call because of a request of the agent's. One that the gateway itself
// answers, as w says, is recorded.
func (u *upstream) callFor(w *Within, of jsonrpc.ID, method string, params json.RawMessage, answer func(*jsonrpc.Response)) (id int64, ok bool) {
	return u.round(w, of, 0, method, params, 0, answer)
}

// round is callFor for one of the rounds that a call takes if the server asks something.
func (u *upstream) round(w *Within, of jsonrpc.ID, n int, method string, params json.RawMessage, first int64, answer func(*jsonrpc.Response)) (id int64, ok bool) {
	u.mu.Lock()
	u.last++
	id = u.last
	if first == 0 {
		first = id
	}
	params, raw := u.hop(params)
	if u.stateless && !raw && of.IsValid() {
		given := answer
		answer = func(r *jsonrpc.Response) {
			if r == nil || r.Error != nil || !unfinished(r.Result) {
				given(r)
				return
			}
			u.inquire(w, of, n, method, params, r.Result, first, given)
		}
	}
	if u.out == nil {
		u.mu.Unlock()
		return 0, false
	}
	request := &jsonrpc.Request{ID: numberID(id), Method: method, Params: params}
	u.pending[id] = answer
	if w != nil {
		n := &note{peer: "upstream:" + u.server.Name, within: w}
		u.pending[id] = func(r *jsonrpc.Response) {
			if r != nil {
				u.s.rec.record("server", r, n)
			}
			answer(r)
		}
		u.s.rec.record("client", request, n)
	}
	u.mu.Unlock()
	if !u.send(request) {
		u.mu.Lock()
		_, waits := u.pending[id]
		delete(u.pending, id)
		u.mu.Unlock()
		return 0, !waits // it was told already
	}
	return id, true
}

// cancel tells the server that nobody waits for a call, and forgets it.
func (u *upstream) cancel(id int64, params json.RawMessage) {
	u.mu.Lock()
	if later, made := u.again[id]; made {
		delete(u.again, id)
		id = later
	}
	delete(u.pending, id)
	conn := u.conn
	u.mu.Unlock()
	if r, isRemote := conn.(*remote); isRemote && r.abandon(id) {
		return
	}
	number := quotedNumber(id)
	if params = replaced(params, "requestId", number); len(params) == 0 {
		params = append(append([]byte(`{"requestId":`), number...), '}')
	}
	u.send(&jsonrpc.Request{Method: "notifications/cancelled", Params: params})
}

// ask makes a call and waits for its result.
func (u *upstream) ask(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error) {
	answered := make(chan *jsonrpc.Response, 1)
	if _, ok := u.call(method, params, func(r *jsonrpc.Response) { answered <- r }); !ok {
		return nil, errDown
	}
	select {
	case r := <-answered:
		if r == nil {
			return nil, errDown
		}
		return r.Result, r.Error
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// begin agrees on a protocol and reads the lists.
func (u *upstream) begin(ctx context.Context, conn mcp.Connection, work *sync.WaitGroup) error {
	result, err := u.agree(ctx, conn)
	if err != nil {
		return err
	}
	r, isRemote := conn.(*remote)
	isRemote = isRemote && !u.without() // else what it says comes on what subscribe asks for
	if isRemote {
		work.Go(func() {
			if err := r.listen(ctx, func(m jsonrpc.Message) { u.take(m) }); err != nil && ctx.Err() == nil {
				u.s.g.log.Warn("what the server says by itself is not heard any more", "server", u.server.Name, "reason", err)
			}
		})
	}
	u.mu.Lock()
	u.result = result
	u.mu.Unlock()
	for method := range listMember {
		if err := u.list(ctx, method); err != nil {
			return err
		}
	}
	if u.without() {
		u.subscribe()
	}
	u.mu.Lock()
	u.reason, u.recalled = "", false
	close(u.ready)
	u.mu.Unlock()
	u.keep()
	u.s.lists.Add(1)
	u.first.Do(func() { close(u.tried) })
	u.s.arrived()
	return nil
}

// has reports whether the server said that it can do something.
func (u *upstream) has(capability ...string) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	v := member(u.result, append([]string{"capabilities"}, capability...)...)
	return len(v) > 0 && string(v) != "null" && string(v) != "false"
}

// list reads a list to its last page.
func (u *upstream) list(ctx context.Context, method string) error {
	if !u.has(capabilityOf(method)) {
		return nil
	}
	var all []json.RawMessage
	params := json.RawMessage(`{}`)
	seen := map[string]bool{}
	for range maxPages {
		result, err := u.ask(ctx, method, params)
		var refused *jsonrpc.Error
		if errors.As(err, &refused) && refused.Code == jsonrpc.CodeMethodNotFound {
			break // servers with resources need have no templates
		}
		if err != nil {
			return fmt.Errorf("%s: %w", method, err)
		}
		all = append(all, elements(member(result, listMember[method]))...)
		cursor := member(result, "nextCursor")
		if text(cursor) == "" || seen[string(cursor)] {
			break
		}
		seen[string(cursor)] = true
		params = append(append([]byte(`{"cursor":`), cursor...), '}')
	}
	u.mu.Lock()
	u.lists[method] = all
	u.mu.Unlock()
	u.s.lists.Add(1)
	return nil
}

// changed reads a list again and tells the agent. However often a server says that a
// list changed, one reading is under way and at most one waits.
func (u *upstream) changed(method string, m *jsonrpc.Request) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if _, under := u.reading[method]; under || u.result == nil {
		u.reading[method] = true
		return
	}
	u.reading[method] = false
	ctx, work, reading := u.ctx, u.work, u.reading
	work.Go(func() {
		for again := true; again; {
			err := u.list(ctx, method)
			if err == nil && method == "resources/list" {
				err = u.list(ctx, "resources/templates/list")
			}
			if err != nil {
				if ctx.Err() == nil {
					u.s.g.log.Warn("a list that changed could not be read", "server", u.server.Name, "list", method, "reason", err)
				}
				return
			}
			u.s.changed(m)
			u.mu.Lock()
			if again = reading[method]; again {
				reading[method] = false
			} else {
				delete(reading, method)
			}
			u.mu.Unlock()
		}
	})
}
