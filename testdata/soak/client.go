package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// tally is what became of calls.
type tally struct {
	Calls      atomic.Int64
	OK         atomic.Int64 // answered with what was asked for
	Failed     atomic.Int64 // answered with an error that says why
	Cut        atomic.Int64 // the client, or the gateway, was killed before the answer
	Wrong      atomic.Int64 // answered with something else
	Twice      atomic.Int64 // answered more than once
	Unasked    atomic.Int64 // answers to nothing
	Unanswered atomic.Int64
}

// patience is how long a call may take: a gateway waits a minute for a server.
const patience = 100 * time.Second

// client is one that can be killed. What it counts is said by its ids.
type client struct {
	t      *tally
	tools  []string
	end    context.CancelFunc
	ctx    context.Context
	killed atomic.Bool // it, or its gateway
	last   atomic.Int64
	calls  sync.WaitGroup

	url, session string // over HTTP; without a session the protocol without sessions is spoken
	http         *http.Client

	gateway *exec.Cmd // on standard streams
	in      io.WriteCloser
	mu      sync.Mutex
	pending map[string]chan *message
	done    map[string]bool // ids that were answered
}

func newClient(t *tally, tools ...string) *client {
	c := &client{t: t, tools: tools, pending: map[string]chan *message{}, done: map[string]bool{}}
	c.ctx, c.end = context.WithCancel(context.Background())
	return c
}

const begin = `{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"soak","version":"1"}}`

// overHTTP begins a session at a gateway, or is a client without sessions.
func overHTTP(t *tally, url string, sessions bool, tools ...string) (*client, error) {
	c := newClient(t, tools...)
	c.url, c.http = url, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 100}}
	if !sessions {
		return c, nil
	}
	ctx, cancel := context.WithTimeout(c.ctx, patience)
	defer cancel()
	response, err := c.post(ctx, "initialize", "0", begin, "")
	if err != nil {
		return nil, err
	}
	_, err = io.Copy(io.Discard, response.Body)
	c.session = response.Header.Get("Mcp-Session-Id")
	if err = errors.Join(err, response.Body.Close()); err == nil && c.session == "" {
		err = fmt.Errorf("initialize has status %d and no session", response.StatusCode)
	}
	return c, err
}

// post sends a request over HTTP.
func (c *client) post(ctx context.Context, method, id, params, name string) (*http.Response, error) {
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params)
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if c.session != "" {
		r.Header.Set("Mcp-Session-Id", c.session)
	} else if method != "initialize" {
		r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		r.Header.Set("Mcp-Method", method)
		r.Header.Set("Mcp-Name", name)
	}
	return c.http.Do(r)
}

// overStreams starts a gateway of its own.
func overStreams(t *tally, awo, servers string, tools ...string) (*client, error) {
	c := newClient(t, tools...)
	c.gateway = exec.Command(awo, "serve", "--servers", servers)
	c.gateway.Stderr = os.Stderr
	var out io.ReadCloser
	var err error
	if c.in, err = c.gateway.StdinPipe(); err == nil {
		out, err = c.gateway.StdoutPipe()
	}
	if err == nil {
		err = c.gateway.Start()
	}
	if err != nil {
		return nil, err
	}
	go c.read(out)
	answered := c.expect("0")
	if err := c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":%s}`, begin)); err != nil {
		return nil, err
	}
	select {
	case <-answered:
	case <-time.After(patience):
		return nil, errors.New("initialize is not answered")
	}
	return c, c.write(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
}

func (c *client) write(line string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := io.WriteString(c.in, line+"\n")
	return err
}

func (c *client) expect(id string) chan *message {
	answered := make(chan *message, 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending[id] = answered
	return answered
}

// read gives answers to who waits for them, until the gateway has ended.
func (c *client) read(out io.Reader) {
	lines := bufio.NewReader(out)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			break
		}
		m := &message{}
		if json.Unmarshal(line, m) != nil {
			c.t.Wrong.Add(1)
			continue
		}
		if m.Method != "" {
			continue
		}
		id := string(m.ID)
		c.mu.Lock()
		answered := c.pending[id]
		switch {
		case answered != nil:
			delete(c.pending, id)
			c.done[id] = true
			answered <- m
		case c.done[id]:
			c.t.Twice.Add(1)
		default:
			c.t.Unasked.Add(1)
		}
		c.mu.Unlock()
	}
	c.end() // who waits waits for nothing
}

// call makes one call and counts what becomes of it.
func (c *client) call(n int64) {
	defer c.calls.Done()
	c.t.Calls.Add(1)
	id, tool := fmt.Sprint(c.last.Add(1)), c.tools[int(n)%len(c.tools)]
	key := fmt.Sprintf("key-%d", n)
	params := fmt.Sprintf(`{"name":%q,"arguments":{"key":%q}`, tool, key)
	var answers []*message
	var err error
	if c.gateway == nil {
		if c.session == "" {
			params += `,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"soak","version":"1"}}`
		}
		answers, err = c.asked(id, tool, params+"}")
	} else {
		answered := c.expect(id)
		if err = c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":%s}}`, id, params)); err == nil {
			select {
			case m := <-answered:
				answers = append(answers, m)
			case <-c.ctx.Done():
				err = c.ctx.Err()
			case <-time.After(patience):
				err = context.DeadlineExceeded
			}
		}
	}
	c.count(id, key, answers, err)
}

// asked makes a call over HTTP and returns all that answers it.
func (c *client) asked(id, tool, params string) (answers []*message, err error) {
	ctx, cancel := context.WithTimeout(c.ctx, patience)
	defer cancel()
	response, err := c.post(ctx, "tools/call", id, params, tool)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return nil, err
	}
	for line := range bytes.Lines(body) {
		m := &message{}
		if json.Unmarshal(bytes.TrimPrefix(line, []byte("data: ")), m) == nil && m.Method == "" {
			answers = append(answers, m)
		}
	}
	if answers == nil {
		return nil, fmt.Errorf("status %d: %.200s", response.StatusCode, body)
	}
	return answers, nil
}

func (c *client) count(id, key string, answers []*message, err error) {
	switch {
	case len(answers) > 1:
		c.t.Twice.Add(1)
	case len(answers) == 0 && c.killed.Load():
		c.t.Cut.Add(1)
	case len(answers) == 0:
		c.t.Unanswered.Add(1)
		fmt.Fprintln(os.Stderr, "soak: no answer:", err)
	case string(answers[0].ID) != id:
		c.t.Unasked.Add(1)
	default:
		m := answers[0]
		switch {
		case m.Error != nil || m.Result != nil && m.Result.IsError:
			c.t.Failed.Add(1)
		case m.Result != nil && len(m.Result.Content) == 1 && m.Result.Content[0].Text == key:
			c.t.OK.Add(1)
		default:
			c.t.Wrong.Add(1)
		}
	}
}

// kill ends the client without a word; over streams its gateway reads the end of its input.
func (c *client) kill() {
	c.killed.Store(true)
	c.end()
	if c.gateway != nil {
		_ = c.in.Close()
	} else {
		c.http.CloseIdleConnections()
	}
	c.calls.Wait()
	if c.gateway != nil {
		_ = c.gateway.Wait()
	}
}
