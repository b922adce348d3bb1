package gateway_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/gateway/internal/servetest"
)

// handle serves a gateway over HTTP for the time of a test.
func handle(t *testing.T, g *gateway.Gateway, o gateway.HTTPOptions) string {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	h := g.Handler(ctx, o)
	s := httptest.NewServer(h)
	t.Cleanup(func() {
		cancel()
		h.Wait()
		s.Close()
		http.DefaultTransport.(*http.Transport).CloseIdleConnections()
	})
	return s.URL
}

// TestHTTPBoth relays over HTTP to a relay over HTTP, in both protocols: the client is the
// SDK's, the middle is ours on both sides.
func TestHTTPBoth(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) { httpBoth(t, version) })
	}
}

func httpBoth(t *testing.T, version string) {
	far := handle(t, gateway.New([]gateway.Server{server(t, "odd", "odd")}, gateway.Options{}), gateway.HTTPOptions{Tokens: []gateway.Token{{Name: "me", Value: "a-token-of-some-length"}}})
	near := handle(t, gateway.New([]gateway.Server{{Name: "far", URL: far, Headers: []gateway.Header{{Name: "Authorization", Value: "Bearer a-token-of-some-length"}}}}, gateway.Options{}), gateway.HTTPOptions{})
	asked := 0
	progress := make(chan float64, 100)
	changed := make(chan struct{}, 100)
	c := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, &mcp.ClientOptions{
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			asked++
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"a": "b"}}, nil
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			progress <- r.Params.Progress
		},
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) { changed <- struct{}{} },
	})
	var session *mcp.ClientSession
	for range 5 { // a slow machine starts the server later than initialize waits for it
		var err error
		session, err = c.Connect(t.Context(), &mcp.StreamableClientTransport{Endpoint: near}, &mcp.ClientSessionOptions{ProtocolVersion: version})
		if err != nil {
			t.Fatal(err)
		}
		if session.InitializeResult().Instructions != "" {
			break
		}
		session.Close()
	}
	if v := session.InitializeResult(); v.ServerInfo.Name != "awo" || v.Instructions != "Be odd." {
		t.Errorf("initialize gives %+v", v)
	}
	call := func(name string) *mcp.CallToolResult {
		t.Helper()
		r, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: name})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		return r
	}
	call("empty")
	call("ask")
	if asked != 1 {
		t.Errorf("the client was asked %d times", asked)
	}
	call("more")
	select {
	case <-changed:
	case <-time.After(10 * time.Second):
		t.Error("the client does not hear that a list changed")
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
}

// post sends a message and returns the status, the session and the body.
func post(t *testing.T, url, session, body string, headers ...string) (status int, id, got string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set("Mcp-Session-Id", session)
	}
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		}
		r.Header.Set(headers[i], headers[i+1])
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, response.Header.Get("Mcp-Session-Id"), string(data)
}

const begin = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`

func TestHTTPBytes(t *testing.T) {
	url := handle(t, gateway.New([]gateway.Server{server(t, "odd", "odd")}, gateway.Options{}), gateway.HTTPOptions{})
	_, session, _ := post(t, url, "", begin)
	for name, result := range oddResults {
		_, _, got := post(t, url, session, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`"}}`)
		want(t, name, got, `{"jsonrpc":"2.0","id":1,"result":`+result+`}`)
	}
	for i := range 50 {
		_, _, got := post(t, url, session, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"steps","_meta":{"progressToken":%d}}}`, i))
		events := strings.Split(strings.TrimSpace(got), "\n\n")
		if len(events) != 6 || !strings.Contains(events[0], `"progress":0`) || !strings.Contains(events[4], `"progress":4`) || !strings.HasSuffix(events[5], `"result":{"content":[]}}`) {
			t.Fatalf("call %d: %q", i, events)
		}
	}
}

func TestHTTPLetsIn(t *testing.T) {
	g := gateway.New([]gateway.Server{server(t, "odd", "odd")}, gateway.Options{})
	url := handle(t, g, gateway.HTTPOptions{Tokens: []gateway.Token{{Name: "me", Value: "a-token-of-some-length"}}, Origins: []string{"https://app.example"}, MaxSessions: 1})
	token := []string{"Authorization", "Bearer a-token-of-some-length"}
	with := func(more ...string) []string { return append(token[:2:2], more...) }
	long := `{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":"` + strings.Repeat("x", gateway.DefaultMaxMessage) + `"}}`
	ping := `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	for name, tc := range map[string]struct {
		body, session string
		headers       []string
		want          int
	}{
		"no token":      {begin, "", nil, 401},
		"wrong token":   {begin, "", []string{"Authorization", "Bearer b-token-of-some-length"}, 401},
		"bare token":    {begin, "", []string{"Authorization", "a-token-of-some-length"}, 401},
		"other host":    {begin, "", with("Host", "evil.example"), 403},
		"other origin":  {begin, "", with("Origin", "https://evil.example"), 403},
		"null origin":   {begin, "", with("Origin", "null"), 403},
		"no session":    {ping, "", with(), 400},
		"wrong session": {ping, "x", with(), 404},
		"no JSON":       {`{`, "", with(), 400},
		"too long":      {long, "", with(), 413},
		"wrong type":    {begin, "", with("Content-Type", "text/plain"), 415},
		"wrong accept":  {begin, "", with("Accept", "application/json"), 406},
		"version":       {ping, "x", with("Mcp-Protocol-Version", "1999-01-01"), 400},
	} {
		if status, _, body := post(t, url, tc.session, tc.body, tc.headers...); status != tc.want || strings.Contains(body, "a-token") {
			t.Errorf("%s: %d %s", name, status, body)
		}
	}
	status, session, _ := post(t, url, "", begin, with("Origin", "https://app.example", "Host", "localhost:1")...)
	if status != 200 || session == "" {
		t.Fatalf("a good request gets %d", status)
	}
	if status, _, _ := post(t, url, "", begin, with()...); status != 503 {
		t.Errorf("a session too many gets %d", status)
	}
	if status, _, got := post(t, url, session, ping, with()...); status != 200 || got != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Errorf("ping gets %d %s", status, got)
	}
}

// TestHTTPRefused: what a server answers to a wrong token names it and its headers, and
// shows no token.
func TestHTTPRefused(t *testing.T) {
	far := handle(t, gateway.New([]gateway.Server{server(t, "odd", "odd")}, gateway.Options{}), gateway.HTTPOptions{Tokens: []gateway.Token{{Name: "me", Value: "a-token-of-some-length"}}})
	states, _ := gateway.New([]gateway.Server{{Name: "far", URL: far, Headers: []gateway.Header{{Name: "Authorization", Value: "Bearer wrong"}}}}, gateway.Options{}).Check(t.Context())
	if s := states[0]; s.Ready || !strings.Contains(s.Reason, `server far answers 401: see its "headers"`) || strings.Contains(s.Reason, "wrong") {
		t.Errorf("got %+v", s)
	}
}

func TestCheck(t *testing.T) {
	states, _ := gateway.New([]gateway.Server{server(t, "a", "odd"), server(t, "b", "many"), {Name: "c", Command: "/nonexistent/server"}}, gateway.Options{}).Check(t.Context())
	got, err := json.Marshal(states)
	if err != nil {
		t.Fatal(err)
	}
	a, b := states[0], states[1]
	if !a.Ready || a.Tools != len(oddTools) || a.Resources != 1 || a.Prompts != 1 || fmt.Sprint(a.Odd) != "[unknown escapes empty not-list]" || !b.Ready || b.Tools != 1000 || states[2].Ready || states[2].Reason == "" {
		t.Errorf("got %s", got)
	}
}

func TestRecording(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "rec")
	recording, err := gateway.NewRecording(dir, gateway.RedactSecrets, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("session", func(t *testing.T) {
		c := servetest.Relay(t, gateway.Options{Recording: recording, Version: "v1"}, server(t, "odd", "odd"))
		c.Begin()
		c.Request("tools/list", `{}`)
		c.Request("tools/list", `{}`)
		c.Request("tools/call", `{"name":"echo","arguments":{"api_key":"plain-words","n":9007199254740993}}`)
	})
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(data)), "\n")
	if len(lines) != 9 || bytes.Contains(data, []byte("plain-words")) || bytes.Count(data, []byte("redacted-")) != 2 || bytes.Count(data, []byte("9007199254740993")) < 2 || !bytes.Contains(data, []byte(`"tools_sha256":`)) {
		t.Errorf("%d lines:\n%s", len(lines), data)
	}
	if !strings.Contains(lines[0], `"peer":"agent","awo":{"arm":"treated","client":{"name":"test","version":"1"},"era":"initialize","incomplete":false,"seed":0,"servers":["odd"],"servers_sha256":"`) || !strings.Contains(lines[0], `"version":"v1"},"message":{"jsonrpc":"2.0",`) {
		t.Errorf("the first line is %s", lines[0])
	}
	for _, name := range []string{files[0], filepath.Join(dir, ".key")} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	if _, err := gateway.NewRecording(dir, gateway.RedactSecrets, ""); err != nil {
		t.Errorf("a folder with a key: %v", err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".key"), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := gateway.NewRecording(dir, gateway.RedactSecrets, ""); err == nil {
		t.Error("a broken key is taken")
	}
}
