package gateway

import (
	"context"
	"errors"
	"io"
	"math"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// client is one of those that share a stateless agent: its requests keep their ids.
type client struct {
	a       *stateless
	put     func(jsonrpc.Message) // must not wait
	mu      sync.Mutex
	cancels map[jsonrpc.ID]func()
}

func newClient(a *stateless, put func(jsonrpc.Message)) *client {
	return &client{a: a, put: put, cancels: map[jsonrpc.ID]func(){}}
}

// take deals with a request or a notification.
func (c *client) take(m *jsonrpc.Request) {
	if !m.IsCall() {
		if m.Method == "notifications/cancelled" {
			id, _ := idOf(member(m.Params, "requestId"))
			c.forget(id)()
		}
		return
	}
	c.mu.Lock()
	_, twice := c.cancels[m.ID]
	if !twice {
		c.cancels[m.ID] = func() {}
	}
	c.mu.Unlock()
	if twice {
		c.put(&jsonrpc.Response{ID: m.ID, Error: &jsonrpc.Error{Code: jsonrpc.CodeInvalidRequest, Message: "a request with this id is in flight"}})
		return
	}
	cancel := c.a.receive(m, func(answer jsonrpc.Message, last bool) {
		if last {
			c.forget(m.ID)
		}
		c.put(answer)
	})
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancels[m.ID] != nil { // else it is answered
		c.cancels[m.ID] = cancel
	}
}

// forget returns what cancels a request, and forgets it.
func (c *client) forget(id jsonrpc.ID) func() {
	c.mu.Lock()
	defer c.mu.Unlock()
	cancel := c.cancels[id]
	delete(c.cancels, id)
	if cancel == nil {
		return func() {}
	}
	return cancel
}

// queue holds what one goroutine takes; who puts into it must not wait.
type queue[T any] struct {
	mu    sync.Mutex
	items []T
	wake  chan struct{} // has room for one
}

func newQueue[T any]() *queue[T] { return &queue[T]{wake: make(chan struct{}, 1)} }

func (q *queue[T]) put(item T) { q.putUpTo(math.MaxInt, item) }

// putUpTo puts unless so many items wait.
func (q *queue[T]) putUpTo(most int, item T) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) >= most {
		return false
	}
	q.items = append(q.items, item)
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return true
}

// take returns what waits, the oldest first.
func (q *queue[T]) take() (item T, ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.items) == 0 {
		return item, false
	}
	item, q.items = q.items[0], q.items[1:]
	return item, true
}

// next waits for the next item, until ctx ends or gone is closed.
func (q *queue[T]) next(ctx context.Context, gone <-chan struct{}) (T, error) {
	for {
		item, ok := q.take()
		if ok {
			return item, nil
		}
		select {
		case <-q.wake:
		case <-gone:
			return item, io.EOF
		case <-ctx.Done():
			return item, ctx.Err()
		}
	}
}

// shared is a server that all sessions share: a gateway of its own with that server alone,
// which they speak to as clients without sessions. It runs while somebody holds it.
type shared struct {
	g       *Gateway
	mu      sync.Mutex
	holders int
	a       *stateless // nil while it does not run
	end     func()
}

// hold keeps the server from ending, n times; what is below 0 takes that back. Who does last
// ends it, and waits for that.
func (s *shared) hold(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.holders += n; s.holders == 0 && s.a != nil {
		s.end()
		s.a = nil
	}
}

// join returns a connection to the server, which holds it.
func (s *shared) join() *joined {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.holders++
	if s.a == nil {
		ctx, cancel := context.WithCancel(context.Background())
		s.a = newStateless(s.g, "", true)
		s.a.inside = true
		ended, a := make(chan struct{}), s.a
		go func() {
			defer close(ended)
			_ = s.g.Serve(ctx, a) // it ends when it is told to
		}()
		s.end = func() {
			cancel()
			<-ended
		}
	}
	box := newQueue[jsonrpc.Message]()
	return &joined{of: s, box: box, client: newClient(s.a, box.put)}
}

// joined is a connection to a shared server.
type joined struct {
	of     *shared
	client *client
	box    *queue[jsonrpc.Message]
	once   sync.Once
}

// Read implements conn.
func (j *joined) Read(ctx context.Context) (jsonrpc.Message, error) {
	return j.box.next(ctx, j.client.a.gone)
}

// Close cancels what is under way and leaves the server.
func (j *joined) Close() error {
	j.once.Do(func() {
		j.client.mu.Lock()
		cancels := j.client.cancels
		j.client.cancels = map[jsonrpc.ID]func(){}
		j.client.mu.Unlock()
		for _, cancel := range cancels {
			cancel()
		}
		j.of.hold(-1)
	})
	return nil
}

// errFull is why a server is not started.
var errFull = errors.New("as many servers as may run at once are running (--max-processes); \"awo\": {\"sessions\": \"shared\"} lets sessions share one")

// process starts a server's process, if there may be another one. Who has to wait for one
// that ends waits as long as for a server that is starting.
func (u *upstream) process(ctx context.Context) (*lines, error) {
	g := u.s.g
	wait, cancel := context.WithTimeout(ctx, g.options.ConnectWait)
	defer cancel()
	select {
	case g.processes <- struct{}{}:
	default:
		u.mu.Lock()
		u.reason = errFull.Error() // calls are told at once
		u.mu.Unlock()
		select {
		case g.processes <- struct{}{}:
		case <-wait.Done():
			return nil, errFull
		}
	}
	l, err := start(u.server, g.options.ServerLog, g.options.MaxMessage)
	if err != nil {
		<-g.processes
		return nil, err
	}
	end := l.end
	l.end = func() error {
		defer func() { <-g.processes }()
		return end()
	}
	l.noise, l.long = u.noise, u.tooLong
	return l, nil
}
