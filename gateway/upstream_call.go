package gateway

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// send queues a message; false if there is no connection, or the server does not read.
func (u *upstream) send(message jsonrpc.Message) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.out == nil {
		return false
	}
	if u.queued == 0 && u.apart(message) {
		return true // nothing is before it
	}
	select {
	case u.out <- message:
		u.queued++
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
