// Package servetest is what tests of gateways need: an agent in lines on two streams, and
// servers that are processes of the test itself.
package servetest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/awo-dev/awo/gateway"
)

// Client speaks to a gateway in lines.
type Client struct {
	t     *testing.T
	out   io.WriteCloser
	lines chan string
	last  int
	Heard []string // what came beside answers
}

// Relay starts a gateway; it ends with the test.
func Relay(t *testing.T, o gateway.Options, servers ...gateway.Server) *Client {
	t.Helper()
	return Join(t, gateway.New(servers, o))
}

// Join begins a session of a gateway; it ends with the test.
func Join(t *testing.T, g *gateway.Gateway) *Client {
	t.Helper()
	inReader, inWriter := io.Pipe()
	outReader, outWriter := io.Pipe()
	agent := gateway.Streams(inReader, outWriter, 0)
	done := make(chan error, 1)
	go func() {
		done <- g.Serve(context.Background(), agent)
		_ = outWriter.Close()
	}()
	return connect(t, inWriter, outReader, func() {
		if err := <-done; err != nil {
			t.Errorf("the relay ended with %v", err)
		}
	})
}

// Direct starts a server's process and speaks to it without a gateway.
func Direct(t *testing.T, s *gateway.Server) *Client {
	t.Helper()
	c := exec.CommandContext(context.Background(), s.Command, s.Args...)
	c.Env, c.Dir, c.WaitDelay = append(os.Environ(), s.Env...), s.Dir, 5*time.Second
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return connect(t, in, out, func() {
		timer := time.AfterFunc(5*time.Second, func() { _ = c.Process.Kill() })
		_ = c.Wait() // how it ended is not asked
		timer.Stop()
	})
}

// connect speaks on two streams until the test ends; wait then waits for who is at the
// other end.
func connect(t *testing.T, out io.WriteCloser, in io.Reader, wait func()) *Client {
	c := &Client{t: t, out: out, lines: make(chan string, 10_000)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		r := bufio.NewReader(in)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				close(c.lines)
				return
			}
			c.lines <- strings.TrimSuffix(line, "\n")
		}
	}()
	t.Cleanup(func() {
		_ = out.Close()
		wait()
		<-read
	})
	return c
}

// Send sends a message.
func (c *Client) Send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.out, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// Next returns the next message.
func (c *Client) Next() string {
	c.t.Helper()
	select {
	case line, ok := <-c.lines:
		if !ok {
			c.t.Fatal("the relay ended")
		}
		return line
	case <-time.After(20 * time.Second):
		c.t.Fatal("nothing came")
	}
	return ""
}

// Request sends a request and returns what answers it, without its id.
func (c *Client) Request(method, params string) string {
	c.t.Helper()
	c.last++
	id := fmt.Sprintf(`"r%d"`, c.last)
	c.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	return c.Answer(id)
}

// Answer waits for what answers the request with an id, and returns it without the id.
func (c *Client) Answer(id string) string {
	c.t.Helper()
	for {
		line := c.Next()
		var m struct {
			ID            json.RawMessage
			Method        string
			Result, Error json.RawMessage
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			c.t.Fatalf("no JSON: %s", line)
		}
		if string(m.ID) == id && m.Method == "" {
			if m.Error != nil {
				return `"error":` + string(m.Error)
			}
			return `"result":` + string(m.Result)
		}
		c.Heard = append(c.Heard, line)
	}
}

// Begin begins a session and returns what answers initialize.
func (c *Client) Begin() string {
	c.t.Helper()
	got := c.Request("initialize", `{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"test","version":"1"}}`)
	c.Send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return got
}
