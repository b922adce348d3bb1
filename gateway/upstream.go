package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
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

// kinds are what servers have lists of, and tell of when these change.
var kinds = []string{"tools", "prompts", "resources"}

// changeOf returns the notification that a list of a kind has changed.
func changeOf(kind string) string { return "notifications/" + kind + "/list_changed" }

// kindOfChange returns the kind of list that a notification says has changed, "" for others.
func kindOfChange(method string) string {
	if i := slices.IndexFunc(kinds, func(kind string) bool { return changeOf(kind) == method }); i >= 0 {
		return kinds[i]
	}
	return ""
}

// upstream is the connection of one session to one server.
type upstream struct {
	s      *session
	server *Server

	mu       sync.Mutex
	conn     conn // nil while there is none
	out      chan jsonrpc.Message
	queued   int // messages in out, and that which is being sent
	unknown  int // messages in a row that answer nothing
	last     int64
	answered time.Time                         // the last request
	pending  map[int64]func(*jsonrpc.Response) // called with nil when the connection ends
	ready    chan struct{}                     // closed while the server is there and its lists are read
	tried    chan struct{}                     // closed once it was there, or has failed to start
	first    sync.Once
	reason   string // why it is not there
	dropped  int    // lines of a server's output that are no message
	waiting  int    // calls that wait until the server is there

	result   json.RawMessage // of initialize
	lists    map[string][]json.RawMessage
	recalled bool // the lists are those of an earlier session, until the server is there

	ctx     context.Context // of the connection
	work    *sync.WaitGroup // of its goroutines
	reading map[string]bool // lists that are being read again, true if they changed meanwhile

	stateless bool             // the protocol without sessions is spoken
	watched   map[string]int64 // subscriptions to resources, where there are no sessions
	again     map[int64]int64  // calls that were made again, because the server asked something

	renewing sync.Mutex // held while a new session begins in the place of one that ended
}

// run keeps the connection until ctx ends.
func (u *upstream) run(ctx context.Context) {
	for wait := firstRestart; ; wait = min(2*wait, lastRestart) {
		began := time.Now()
		err := u.once(ctx)
		if ctx.Err() != nil {
			return
		}
		u.mu.Lock()
		if u.answered.Sub(began) > lastRestart { // it did not only live
			wait = firstRestart
		}
		u.mu.Unlock()
		u.s.g.options.Metrics.ended(u.server.Name)
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
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	var work sync.WaitGroup
	conn, err := u.connect(ctx, end)
	if err != nil {
		u.down(err)
		return err
	}
	out := make(chan jsonrpc.Message, 256)
	u.mu.Lock()
	u.conn, u.out, u.ctx, u.work, u.reading = conn, out, ctx, &work, map[string]bool{}
	u.queued, u.unknown = 0, 0
	u.stateless, u.watched, u.again = false, map[string]int64{}, map[int64]int64{}
	u.mu.Unlock()
	work.Go(func() { end(u.read(ctx, conn)) })
	work.Go(func() { u.write(ctx, out) })
	work.Go(func() {
		if err := u.begin(ctx, conn, &work); err != nil {
			end(err)
		}
	})
	<-ctx.Done()
	err = context.Cause(ctx)
	u.down(err)
	_ = conn.Close() // how a connection ends says nothing more than err
	work.Wait()
	return err
}

func (u *upstream) connect(ctx context.Context, end context.CancelCauseFunc) (conn, error) {
	if s := u.s.setup.shared[u.server.Name]; s != nil {
		return s.join(), nil
	}
	if u.server.Command != "" {
		return u.process(ctx)
	}
	return dial(u.server, u.s.g.options.Logins, u.s.g.options.MaxMessage, func(m jsonrpc.Message) {
		if err := u.came(m); err != nil {
			end(err)
		}
	}), nil
}

// noise notes a line of the server's output that is no message: servers print. It is said
// of the first ones, and then ever more rarely.
func (u *upstream) noise() {
	u.mu.Lock()
	u.dropped++
	n := u.dropped
	u.mu.Unlock()
	if n <= 3 || n&(n-1) == 0 {
		u.s.g.log.Warn("a line on the server's standard output is no message and is skipped", "server", u.server.Name, "lines", n)
	}
}

// tooLong tells who waits for an answer over the bound that none comes; without its id all
// calls in flight may be meant.
func (u *upstream) tooLong(id jsonrpc.ID, err error) {
	u.s.g.log.Warn("an answer is dropped", "server", u.server.Name, "reason", err)
	ids := []jsonrpc.ID{id}
	if !id.IsValid() {
		u.mu.Lock()
		ids = nil
		for n := range u.pending {
			ids = append(ids, numberID(n))
		}
		u.mu.Unlock()
	}
	for _, id := range ids {
		u.take(failure(id, fmt.Sprintf("The answer of server %s is lost: %v. The call was made.", u.server.Name, err)))
	}
}

// lost is why a request has no answer of its server's.
type lost struct{ why string }

func (e *lost) Error() string { return e.why }

// failure is what answers a request in a server's place.
func failure(id jsonrpc.ID, why string) *jsonrpc.Response {
	return &jsonrpc.Response{ID: id, Error: &lost{why}}
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
func (u *upstream) read(ctx context.Context, c conn) error {
	for {
		message, err := c.Read(ctx)
		if err == nil {
			err = u.came(message)
		}
		if err != nil {
			return err
		}
	}
}

// came deals with a message; the error ends the connection.
func (u *upstream) came(message jsonrpc.Message) error {
	known := u.take(message)
	u.mu.Lock()
	if u.unknown++; known {
		u.unknown = 0
	}
	enough := u.unknown >= maxUnknown
	u.mu.Unlock()
	if !known {
		u.s.g.log.Warn("message dropped: it answers nothing that was asked", "server", u.server.Name)
	}
	if enough {
		return errUnasked
	}
	return nil
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
			u.mu.Lock()
			u.answered = time.Now()
			u.mu.Unlock()
			answer(m)
		}
		return waits || late
	case *jsonrpc.Request:
		u.s.fromServer(u, m)
	}
	return true
}

// write sends what is queued, in order, but for calls over HTTP.
func (u *upstream) write(ctx context.Context, out chan jsonrpc.Message) {
	for {
		select {
		case <-ctx.Done():
			return
		case message := <-out:
			if !u.apart(message) {
				u.deliver(ctx, message)
			}
			u.mu.Lock()
			u.queued--
			u.mu.Unlock()
		}
	}
}

// apart sends a call over HTTP on a goroutine of its own, because sending it ends only when
// its answer was read; false for what has to keep the order.
func (u *upstream) apart(message jsonrpc.Message) bool {
	request, ok := message.(*jsonrpc.Request)
	if !ok || !request.IsCall() || u.server.Command != "" {
		return false
	}
	ctx := u.ctx
	u.work.Go(func() { u.deliver(ctx, message) })
	return true
}

// deliver sends a message. A call that cannot be sent is answered.
func (u *upstream) deliver(ctx context.Context, message jsonrpc.Message) {
	u.mu.Lock()
	c := u.conn
	u.mu.Unlock()
	request, _ := message.(*jsonrpc.Request)
	var err error
	switch c := c.(type) {
	case *lines:
		err = c.Write(ctx, message)
	case *joined:
		if request != nil {
			c.client.take(request)
		}
	case *remote:
		err = c.post(ctx, message, u.definition)
		if gone, ok := errors.AsType[*goneError](err); ok {
			err = u.renew(ctx, c, gone.session, request)
		}
	}
	if err == nil || ctx.Err() != nil || request == nil || !request.IsCall() {
		return
	}
	u.take(failure(request.ID, fmt.Sprintf("server %s: %v", u.server.Name, err)))
}

// errNotRepeated is why a call of a session that ended has no result.
var errNotRepeated = errors.New("it had ended the session, and a new one was begun. The call was not made again, because its tool does not say that it only reads")

// renew begins a new session in the place of one that the server has ended, once for all
// calls that find out, and sends the message again if that only reads. What the lists have
// is read again.
func (u *upstream) renew(ctx context.Context, r *remote, old string, request *jsonrpc.Request) error {
	if request == nil || request.Method == "initialize" || !request.IsCall() {
		return nil // it belongs to what is no more
	}
	u.renewing.Lock()
	if r.is(old) {
		u.s.g.log.Warn("the server has ended the session: a new one begins", "server", u.server.Name)
		soon, cancel := context.WithTimeout(ctx, startWait)
		result, err := u.initialize(soon, r)
		cancel()
		if err != nil {
			u.renewing.Unlock()
			return err
		}
		u.mu.Lock()
		u.result = result
		u.work.Go(func() { u.listen(ctx, r) })
		u.mu.Unlock()
		for _, kind := range kinds {
			if u.has(kind) {
				u.changed(kind+"/list", &jsonrpc.Request{Method: changeOf(kind)})
			}
		}
	}
	u.renewing.Unlock()
	if request.Method == "tools/call" && string(member(u.definition(nameOf(request.Method, request.Params)), "annotations", "readOnlyHint")) != "true" {
		return errNotRepeated
	}
	return r.post(ctx, request, u.definition)
}

// listen hears what a server over HTTP says by itself.
func (u *upstream) listen(ctx context.Context, r *remote) {
	if err := r.listen(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) {
		u.s.g.log.Warn("what the server says by itself is not heard any more", "server", u.server.Name, "reason", err)
	}
}

// begin agrees on a protocol and reads the lists.
func (u *upstream) begin(ctx context.Context, c conn, work *sync.WaitGroup) error {
	result, err := u.agree(ctx, c)
	if err != nil {
		return err
	}
	if r, isRemote := c.(*remote); isRemote && !u.without() { // else what it says comes on what subscribe asks for
		work.Go(func() { u.listen(ctx, r) })
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
	u.s.changed(&toolsChanged)
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
	if kind, _, _ := strings.Cut(method, "/"); !u.has(kind) {
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
