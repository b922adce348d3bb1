package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// remote is a connection over streamable HTTP. The SDK sends the messages and reads what
// answers them; the stream on which a server speaks by itself is read here, because the
// SDK opens it only for sessions of its own types.
type remote struct {
	mcp.Connection
	server  *Server
	client  *http.Client
	tripper *tripper

	stateless atomic.Bool // the protocol without sessions is spoken, by post
	mu        sync.Mutex
	posts     map[int64]context.CancelFunc // requests under way, by their ids
}

// dial prepares a connection; nothing is sent before the first message.
func dial(ctx context.Context, s *Server) (*remote, error) {
	t := &tripper{server: s, base: http.DefaultTransport.(*http.Transport).Clone()}
	client := &http.Client{Transport: t, CheckRedirect: func(next *http.Request, via []*http.Request) error {
		if next.URL.Host != via[0].URL.Host {
			return errors.New("the server sends requests on to another host")
		}
		if len(via) > 5 {
			return errors.New("more than five redirections")
		}
		return nil
	}}
	c, err := (&mcp.StreamableClientTransport{Endpoint: s.URL, HTTPClient: client, DisableStandaloneSSE: true, MaxRetries: -1}).Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &remote{Connection: c, server: s, client: client, tripper: t, posts: map[int64]context.CancelFunc{}}, nil
}

// Close ends the session at the server and the connections to it.
func (r *remote) Close() error {
	err := r.Connection.Close()
	r.tripper.base.CloseIdleConnections()
	return err
}

// tripper sends requests with a server's headers and bounds the answers.
type tripper struct {
	server  *Server
	base    *http.Transport
	version atomic.Pointer[string] // of the protocol, once it is agreed on
}

// RoundTrip implements http.RoundTripper.
func (t *tripper) RoundTrip(request *http.Request) (*http.Response, error) {
	request = request.Clone(request.Context())
	for _, h := range t.server.Headers {
		request.Header.Set(h.Name, h.Value)
	}
	if v := t.version.Load(); v != nil && request.Header.Get("Mcp-Protocol-Version") != statelessVersion {
		request.Header.Set("Mcp-Protocol-Version", *v)
	}
	response, err := t.base.RoundTrip(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden {
		return nil, errors.Join(fmt.Errorf("server %s answers %d: see its \"headers\" in the configuration (Authorization)", t.server.Name, response.StatusCode), response.Body.Close())
	}
	if mediaType(response.Header) != "text/event-stream" {
		response.Body = &bounded{ReadCloser: response.Body, left: maxMessage}
	}
	return response, nil
}

// bounded is a body that ends in an error when it is too long.
type bounded struct {
	io.ReadCloser
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("more than %d MiB in one answer", maxMessage>>20)
	}
	n, err := b.ReadCloser.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}

// post sends a message of the protocol without sessions and reads what comes back. Such a
// request is cancelled by closing the connection.
func (r *remote) post(ctx context.Context, m jsonrpc.Message, definition func(string) json.RawMessage, use func(jsonrpc.Message)) error {
	data, err := jsonrpc.EncodeMessage(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, r.server.URL, bytes.NewReader(data))
	if err != nil {
		return err
	}
	for name, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Mcp-Protocol-Version": statelessVersion} {
		request.Header.Set(name, value)
	}
	call, _ := m.(*jsonrpc.Request)
	if call != nil {
		request.Header.Set("Mcp-Method", call.Method)
		name := nameOf(call.Method, call.Params)
		if name != "" {
			request.Header.Set("Mcp-Name", asHeader(name))
		}
		if call.Method == "tools/call" {
			for _, p := range headersOf(definition(name)) {
				if v, ok := primitive(member(call.Params, append([]string{"arguments"}, p.path...)...)); ok {
					request.Header.Set(p.header, asHeader(v))
				}
			}
		}
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
	response, err := r.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	answered := call == nil || !call.IsCall()
	take := func(data []byte) {
		if message, err := jsonrpc.DecodeMessage(data); err == nil {
			_, last := message.(*jsonrpc.Response)
			answered = answered || last
			use(message)
		}
	}
	switch mediaType(response.Header) {
	case "text/event-stream":
		err = events(response.Body, take)
	case "application/json":
		if data, err = io.ReadAll(response.Body); err == nil {
			take(data)
		}
	}
	if !answered && err == nil {
		err = fmt.Errorf("the answer has status %d and no response in it", response.StatusCode)
	}
	return err
}

// abandon ends a request that is under way; false if there is none of that id.
func (r *remote) abandon(id int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	cancel := r.posts[id]
	if cancel != nil {
		cancel()
	}
	return cancel != nil
}

// listen reads what the server says by itself, until ctx ends or the server ends the
// stream. Many servers have none and answer 405.
func (r *remote) listen(ctx context.Context, use func(jsonrpc.Message)) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, r.server.URL, nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept", "text/event-stream")
	if id := r.SessionID(); id != "" {
		request.Header.Set("Mcp-Session-Id", id)
	}
	response, err := r.client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK || mediaType(response.Header) != "text/event-stream" {
		return nil
	}
	return events(response.Body, func(data []byte) {
		if message, err := jsonrpc.DecodeMessage(data); err == nil {
			use(message)
		}
	})
}

// events calls use with the data of each event of a stream of server-sent events. An
// event over the size of a message ends it with an error.
func events(stream io.Reader, use func(data []byte)) error {
	lines := bufio.NewScanner(stream)
	lines.Buffer(make([]byte, 0, 4096), maxMessage+64)
	var data []byte
	for lines.Scan() {
		line := bytes.TrimSuffix(lines.Bytes(), []byte("\r"))
		if len(line) == 0 {
			if len(data) > 0 {
				use(data)
			}
			data = nil
			continue
		}
		field, value, _ := bytes.Cut(line, []byte(":"))
		if string(field) != "data" {
			continue
		}
		if len(data) > 0 {
			data = append(data, '\n')
		}
		data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
		if len(data) > maxMessage {
			return bufio.ErrTooLong
		}
	}
	return lines.Err() // an event that was not ended is none
}
