package gateway_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/gateway/internal/servetest"
)

// counted is a server whose standard error says how often it was started.
func counted(t *testing.T, name string, shared bool) gateway.Server {
	s := server(t, name, "odd")
	s.Shared = shared
	return s
}

// TestSessionsShareAServer: one process serves all sessions, each gets its own answers,
// progress and questions, and the process outlives a session.
func TestSessionsShareAServer(t *testing.T) {
	var hello syncBuffer
	g := gateway.New([]gateway.Server{counted(t, "odd", true)}, gateway.Options{ServerLog: &hello})
	var clients []*servetest.Client
	for range 4 {
		clients = append(clients, servetest.Join(t, g))
	}
	var all sync.WaitGroup
	for _, c := range clients {
		all.Go(func() {
			c.Begin()
			c.Request("tools/list", `{}`) // by its answer the server has begun, and nothing is news
			for range 20 {
				c.Heard = nil
				c.Request("tools/call", `{"name":"steps","_meta":{"progressToken":"same in all"}}`)
				if len(c.Heard) != 5 || !strings.Contains(c.Heard[4], `"progressToken":"same in all","progress":4`) {
					t.Errorf("progress: %s", c.Heard)
				}
			}
		})
	}
	all.Wait()
	for i, c := range clients {
		c.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"ask"}}`, i))
		question := c.Next()
		for !strings.Contains(question, "elicitation/create") {
			question = c.Next()
		}
		id, _, _ := strings.Cut(strings.TrimPrefix(question, `{"jsonrpc":"2.0","id":`), ",")
		c.Send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"action":"accept","content":{"a":"b"}}}`)
		if got := c.Answer(fmt.Sprint(i)); !strings.Contains(got, "accept") {
			t.Errorf("the server was told %s", got)
		}
	}
	clients[0].Send(`{"jsonrpc":"2.0","id":"w","method":"tools/call","params":{"name":"wait"}}`)
	clients[0].Request("tools/call", `{"name":"empty"}`) // by now it waits
	if got := clients[1].Request("tools/call", `{"name":"ask"}`); strings.Contains(got, "accept") || !strings.Contains(got, `"answer":null`) {
		t.Errorf("a question that may be about another session's call: %s", got)
	}
	if n := strings.Count(hello.String(), "starting"); n != 1 {
		t.Errorf("%d processes", n)
	}
}

// TestSharedBytes: what a shared server answers is what it answers alone.
func TestSharedBytes(t *testing.T) {
	s := server(t, "odd", "odd")
	s.Shared = true
	c := servetest.Relay(t, gateway.Options{Version: "v1"}, s)
	c.Begin()
	want(t, "tools", c.Request("tools/list", `{}`), `"result":{"tools":[`+strings.Join(oddTools, ",")+`]}`)
	for name, result := range oddResults {
		want(t, name, c.Request("tools/call", `{"name":"`+name+`"}`), `"result":`+result)
	}
	want(t, "error", c.Request("tools/call", `{"name":"fail"}`), `"error":{"code":-32099,"message":"own <code>","data":{"big":9007199254740993}}`)
	want(t, "resources", c.Request("resources/list", `{}`), `"result":{"resources":[{"uri":"odd://a","name":"a","size":9007199254740993}]}`)
	if got := c.Request("tools/call", `{"name":"die"}`); !strings.Contains(got, "The outcome is unknown") {
		t.Errorf("a server that dies: %s", got)
	}
	want(t, "a call waits for the restart", c.Request("tools/call", `{"name":"empty"}`), `"result":{}`)
}

// TestNoMoreProcesses: a session for which no server can be started is told how to help.
func TestNoMoreProcesses(t *testing.T) {
	g := gateway.New([]gateway.Server{server(t, "odd", "odd")}, gateway.Options{Processes: 1, ConnectWait: 3 * time.Second})
	url := handle(t, g, gateway.HTTPOptions{})
	call := func() (string, *mcp.ClientSession) {
		c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
		s, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = s.Close() })
		r, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "empty"})
		if err != nil {
			return err.Error(), s
		}
		var b strings.Builder
		for _, c := range r.Content {
			if text, ok := c.(*mcp.TextContent); ok {
				b.WriteString(text.Text)
			}
		}
		return b.String(), s
	}
	_, first := call()
	if got, _ := call(); !strings.Contains(got, "--max-processes") {
		t.Errorf("got %q", got)
	}
	_ = first.Close()
	if got, _ := call(); strings.Contains(got, "--max-processes") {
		t.Errorf("after the first has ended: %q", got)
	}
}

// TestReload: sessions that begin later get the new servers, others keep theirs.
func TestReload(t *testing.T) {
	g := gateway.New([]gateway.Server{server(t, "old", "odd")}, gateway.Options{Prefixes: gateway.PrefixesAlways})
	url := handle(t, g, gateway.HTTPOptions{})
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		connect := func() func(tool string) error {
			c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
			s, err := c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: url}, &mcp.ClientSessionOptions{ProtocolVersion: version})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close() })
			return func(tool string) error {
				_, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: tool})
				return err
			}
		}
		before := connect()
		if err := before("old_empty"); err != nil {
			t.Error(err)
		}
		g.Reload([]gateway.Server{server(t, "new", "odd")}, nil)
		after := connect()
		if err := after("new_empty"); err != nil {
			t.Errorf("%s: %v", version, err)
		}
		if err := before("old_empty"); (err == nil) != (version == "2025-11-25") { // without sessions each request is the first
			t.Errorf("%s: a session that began before: %v", version, err)
		}
		g.Reload([]gateway.Server{server(t, "old", "odd")}, nil)
	}
}

// syncBuffer is written to by several.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}
