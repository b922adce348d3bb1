package gateway

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// Waits for streams that a server ended before it was done.
const (
	resumeWait  = time.Second // before it is asked for the rest, unless it says how long
	resumeTries = 5           // in a row in which nothing came
	endWait     = 5 * time.Second
)

// remote is a connection over streamable HTTP, in either protocol. Each message is a
// request of HTTP; what answers it is given to use on the goroutine that sent it.
type remote struct {
	server    *Server
	logins    *Logins
	limit     int // bytes of a message
	client    *http.Client
	transport *http.Transport
	use       func(jsonrpc.Message)
	stateless atomic.Bool // the protocol without sessions is spoken

	mu      sync.Mutex
	session string                       // of the server, "" for none
	version string                       // of the protocol, once it is agreed on
	posts   map[int64]context.CancelFunc // requests under way without sessions, by their ids
	deaf    context.CancelFunc           // ends listen
}

// dial prepares a connection; nothing is sent before the first message.
func dial(s *Server, logins *Logins, limit int, use func(jsonrpc.Message)) *remote {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = t.MaxIdleConns // all of them go to one host
	client := &http.Client{Transport: t, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if from := via[0].URL; next.URL.Host != from.Host || next.URL.Scheme != from.Scheme {
			return errors.New("the server sends requests on to another host")
		}
		if len(via) > 5 {
			return errors.New("more than five redirections")
		}
		return nil
	}}
	return &remote{server: s, logins: logins, limit: limit, client: client, transport: t, use: use, posts: map[int64]context.CancelFunc{}, deaf: func() {}}
}

// Read waits for the end of the connection: what comes is given to use.
func (r *remote) Read(ctx context.Context) (jsonrpc.Message, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// Close ends the session at the server and the connections to it.
func (r *remote) Close() error {
	r.mu.Lock()
	session := r.session
	r.session = ""
	r.deaf()
	r.mu.Unlock()
	defer r.transport.CloseIdleConnections()
	if session == "" {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), endWait)
	defer cancel()
	request, err := r.request(ctx, http.MethodDelete, nil, session)
	if err != nil {
		return err
	}
	response, err := r.do(request)
	if err != nil {
		return err
	}
	return response.Body.Close()
}

// request returns a request with the headers that all have.
func (r *remote) request(ctx context.Context, method string, body []byte, session string) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, method, r.server.URL, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	h := request.Header
	if body != nil {
		h.Set("Content-Type", "application/json")
	}
	h.Set("Accept", "application/json, text/event-stream")
	r.mu.Lock()
	version := r.version
	r.mu.Unlock()
	if r.stateless.Load() {
		version = statelessVersion
	} else if session != "" {
		h.Set("Mcp-Session-Id", session)
	}
	if version != "" {
		h.Set("Mcp-Protocol-Version", version)
	}
	if token, err := r.logins.header(r.server.URL); err != nil {
		return nil, err
	} else if token != "" {
		h.Set("Authorization", token)
	}
	for _, own := range r.server.Headers {
		h.Set(own.Name, own.Value)
	}
	return request, nil
}

// do sends a request and bounds the answer.
func (r *remote) do(request *http.Request) (*http.Response, error) {
	response, err := r.client.Do(request)
	if failed, is := errors.AsType[*url.Error](err); is {
		err = failed.Err // without the address, which may hold a key
	}
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden {
		return nil, errors.Join(fmt.Errorf("server %s answers %d: see its \"headers\" in the configuration (Authorization), or log in with `awo serve --login %s`", r.server.Name, response.StatusCode, r.server.Name), response.Body.Close())
	}
	if mediaType(response.Header) != "text/event-stream" {
		response.Body = &bounded{ReadCloser: response.Body, left: r.limit, limit: r.limit}
	}
	return response, nil
}

// bounded is a body that ends in an error when it is too long.
type bounded struct {
	io.ReadCloser
	left, limit int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, &tooLongError{b.limit}
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// goneError says that the server has no such session any more, and did nothing of what it
// was asked for.
type goneError struct{ session string }

// Error says so, without the session's name: who has it has the session.
func (e *goneError) Error() string { return "the server has ended the session" }

// post sends a message and reads what comes back. Where there are no sessions a request is
// cancelled by closing the connection.
func (r *remote) post(ctx context.Context, m jsonrpc.Message, definition func(string) json.RawMessage) error {
	call, _ := m.(*jsonrpc.Request)
	first := call != nil && call.Method == "initialize"
	session := ""
	if !first { // which begins one; until it has, messages beside it are of the session before
		r.mu.Lock()
		session = r.session
		r.mu.Unlock()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	request, err := r.request(ctx, http.MethodPost, encode(m), session)
	if err != nil {
		return err
	}
	if first {
		request.Header.Del("Mcp-Protocol-Version")
	}
	if call != nil && r.stateless.Load() {
		describe(request.Header, call, definition)
		if id := number(call.ID); id != 0 {
			r.mu.Lock()
			r.posts[id] = cancel
			r.mu.Unlock()
			defer func() {
				r.mu.Lock()
				delete(r.posts, id)
				r.mu.Unlock()
			}()
		}
	}
	response, err := r.do(request)
	if err != nil {
		return err
	}
	if session != "" && response.StatusCode == http.StatusNotFound {
		return errors.Join(&goneError{session}, response.Body.Close())
	}
	if session != "" && response.StatusCode == http.StatusBadRequest {
		// A server that has restarted says so too, in an error that answers no request.
		body, err := io.ReadAll(response.Body)
		err = errors.Join(err, response.Body.Close())
		if err != nil || call == nil || !answersCall(body, call.ID) {
			return errors.Join(&goneError{session}, err)
		}
		response.Body = io.NopCloser(bytes.NewReader(body))
	}
	if first && response.StatusCode == http.StatusOK {
		r.mu.Lock()
		r.session = response.Header.Get("Mcp-Session-Id")
		r.mu.Unlock()
	}
	if call == nil || !call.IsCall() {
		return response.Body.Close() // nothing answers it
	}
	return r.answered(ctx, response, call.ID)
}

// answersCall reports whether a body is the answer to a call.
func answersCall(body []byte, id jsonrpc.ID) bool {
	messages, _ := batch(body) // what is none answers nothing
	return slices.ContainsFunc(messages, func(m jsonrpc.Message) bool {
		a, ok := m.(*jsonrpc.Response)
		return ok && a.ID == id
	})
}

// describe sets the headers that say what is in a message, where there are no sessions.
func describe(h http.Header, call *jsonrpc.Request, definition func(string) json.RawMessage) {
	h.Set("Mcp-Method", call.Method)
	name := nameOf(call.Method, call.Params)
	if name != "" {
		h.Set("Mcp-Name", asHeader(name))
	}
	if call.Method != "tools/call" {
		return
	}
	for _, p := range headersOf(definition(name)) {
		if v, ok := primitive(member(call.Params, append([]string{"arguments"}, p.path...)...)); ok {
			h.Set(p.header, asHeader(v))
		}
	}
}

// answered reads a response of HTTP until the call with an id is answered. A stream that the
// server ends before is asked for again, if its events have names.
func (r *remote) answered(ctx context.Context, response *http.Response, id jsonrpc.ID) (err error) {
	done, last, wait := false, "", resumeWait
	take := func(data []byte) {
		messages, _ := batch(data) // what is none is no answer
		for _, m := range messages {
			if a, ok := m.(*jsonrpc.Response); ok && a.ID == id {
				done = true
			}
			r.use(m)
		}
	}
	for tries := 0; ; {

		switch mediaType(response.Header) {
		case "text/event-stream":
			err = events(response.Body, r.limit, func(e event) {
				if e.id != "" && e.id != last {
					last, tries = e.id, 0
				}
				if e.retry > 0 {
					wait = e.retry
				}
				if len(e.data) > 0 {
					take(e.data)
				}
			})
		case "application/json":
			var data []byte
			if data, err = io.ReadAll(response.Body); err == nil {
				take(data)
			}
		}
		_ = response.Body.Close() // what it had was read
		if tries++; done || ctx.Err() != nil || last == "" || tries > resumeTries {
			break
		}
		if response, err = r.resume(ctx, last, wait); err != nil {
			return err
		}
		if status := response.StatusCode; status != http.StatusOK {
			_ = response.Body.Close() // its reason is its status
			return fmt.Errorf("a stream that was interrupted is not taken up again: the answer has status %d", status)
		}
	}
	if done {
		return nil
	}
	if err == nil {
		err = fmt.Errorf("the answer has status %d and no response in it", response.StatusCode)
	}
	return err
}

// resume asks for the rest of a stream after a wait; last is its newest event, "" for a
// stream that begins.
func (r *remote) resume(ctx context.Context, last string, wait time.Duration) (*http.Response, error) {
	if wait > 0 {
		timer := time.NewTimer(min(wait, lastRestart))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	r.mu.Lock()
	session := r.session
	r.mu.Unlock()
	request, err := r.request(ctx, http.MethodGet, nil, session)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Accept", "text/event-stream")
	if last != "" {
		request.Header.Set("Last-Event-Id", last)
	}
	return r.do(request)
}

// agreed notes the version of the protocol for the requests to come.
func (r *remote) agreed(version string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.version = version
}

// is reports whether a session is the newest one.
func (r *remote) is(session string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.session == session
}

// abandon ends a request that is under way without sessions; false if there is none of that
// id.
func (r *remote) abandon(id int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	cancel := r.posts[id]
	if cancel != nil {
		cancel()
	}
	return cancel != nil
}

// listen reads what the server says by itself, until ctx ends, listen is called again, or
// the server has no such stream: many answer 405. One that ends is asked for again.
func (r *remote) listen(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	r.mu.Lock()
	r.deaf()
	r.deaf = cancel
	r.mu.Unlock()
	last, wait := "", time.Duration(0)
	for tries := 0; tries <= resumeTries; tries++ {
		response, err := r.resume(ctx, last, wait)
		if err != nil {
			return err
		}
		if response.StatusCode != http.StatusOK || mediaType(response.Header) != "text/event-stream" {
			return response.Body.Close()
		}
		wait = resumeWait << tries
		err = events(response.Body, r.limit, func(e event) {
			if tries = 0; e.id != "" {
				last = e.id
			}
			if wait = resumeWait; e.retry > 0 {
				wait = e.retry
			}
			messages, _ := batch(e.data) // what is none says nothing
			for _, m := range messages {
				r.use(m)
			}
		})
		err = errors.Join(err, response.Body.Close())
		if _, is := errors.AsType[*tooLongError](err); is {
			return err
		}
	}
	return errors.New("it ends the stream again and again")
}

// event is one of a stream of server-sent events.
type event struct {
	id    string        // by which the stream can be resumed behind it, "" for none
	retry time.Duration // to wait before that, 0 if it is not said
	data  []byte
}

// events calls use with each event of a stream that has data or a name. One over the size
// of a message ends it with an error.
func events(stream io.Reader, limit int, use func(event)) error {
	lines := bufio.NewScanner(stream)
	lines.Buffer(make([]byte, 0, 4096), limit+64)
	var e event
	other := false // not of this protocol
	for lines.Scan() {
		line := bytes.TrimSuffix(lines.Bytes(), []byte("\r"))
		if len(line) == 0 {
			if other {
				e.data = nil
			}
			if len(e.data) > 0 || e.id != "" || e.retry > 0 {
				use(e)
			}
			e, other = event{}, false
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(field) {
		case "data":
			if len(e.data) > 0 {
				e.data = append(e.data, '\n')
			}
			if e.data = append(e.data, value...); len(e.data) > limit {
				return &tooLongError{limit}
			}
		case "event":
			other = string(value) != "message"
		case "id":
			if e.id = string(value); len(value) > maxEventID || bytes.IndexByte(value, 0) >= 0 {
				e.id = ""
			}
		case "retry":
			if ms, err := strconv.ParseUint(string(value), 10, 20); err == nil {
				e.retry = time.Duration(ms) * time.Millisecond
			}
		}
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return &tooLongError{limit}
	}
	return lines.Err() // an event that was not ended is none
}

// maxEventID is how long the name of an event may be: it is sent as a header.
const maxEventID = 1024
