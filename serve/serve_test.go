package serve_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/awo-dev/awo/serve"
)

func TestMain(m *testing.M) {
	if kind := os.Getenv("ODD_SERVER"); kind != "" {
		runOdd(kind)
		return
	}
	goleak.VerifyTestMain(m)
}

// server returns an odd server as a process.
func server(t *testing.T, name, kind string) serve.Server {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return serve.Server{Name: name, Command: program, Env: []string{"ODD_SERVER=" + kind}}
}

// client speaks to a relay in lines.
type client struct {
	t     *testing.T
	out   io.WriteCloser
	lines chan string
	last  int
	heard []string // what came beside answers
}

// relay starts a relay; the test ends with it.
func relay(t *testing.T, o serve.Options, servers ...serve.Server) *client {
	t.Helper()
	inReader, inWriter := io.Pipe()
	outReader, outWriter := io.Pipe()
	agent, err := serve.Streams(inReader, outWriter)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		done <- serve.New(servers, o).Serve(context.Background(), agent)
		_ = outWriter.Close()
	}()
	c := &client{t: t, out: inWriter, lines: make(chan string, 10_000)}
	read := make(chan struct{})
	go func() {
		defer close(read)
		r := bufio.NewReader(outReader)
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
		_ = inWriter.Close()
		if err := <-done; err != nil {
			t.Errorf("the relay ended with %v", err)
		}
		<-read
	})
	return c
}

func (c *client) send(line string) {
	c.t.Helper()
	if _, err := io.WriteString(c.out, line+"\n"); err != nil {
		c.t.Fatal(err)
	}
}

// next returns the next message.
func (c *client) next() string {
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

// request sends a request and returns what answers it, without its id.
func (c *client) request(method, params string) string {
	c.t.Helper()
	c.last++
	id := fmt.Sprintf(`"r%d"`, c.last)
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, params))
	return c.answer(id)
}

func (c *client) answer(id string) string {
	c.t.Helper()
	for {
		line := c.next()
		var m struct {
			ID     json.RawMessage
			Method string
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			c.t.Fatalf("no JSON: %s", line)
		}
		if string(m.ID) == id && m.Method == "" {
			return strings.TrimSuffix(strings.Replace(line, `{"jsonrpc":"2.0","id":`+id+`,`, "", 1), "}")
		}
		c.heard = append(c.heard, line)
	}
}

func (c *client) begin() string {
	c.t.Helper()
	got := c.request("initialize", `{"protocolVersion":"2025-06-18","capabilities":{"elicitation":{}},"clientInfo":{"name":"test","version":"1"}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	return got
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

func TestBytes(t *testing.T) {
	c := relay(t, serve.Options{Version: "v1"}, server(t, "odd", "odd"))
	want(t, "initialize", c.begin(), `"result":{"protocolVersion":"2025-06-18","capabilities":{"logging":{},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"tools":{"listChanged":true}},"serverInfo":{"name":"awo","version":"v1"},"instructions":"Be odd."}`)
	want(t, "tools", c.request("tools/list", `{}`), `"result":{"tools":[`+strings.Join(oddTools, ",")+`]}`)
	for name, result := range oddResults {
		want(t, name, c.request("tools/call", `{"name":"`+name+`"}`), `"result":`+result)
	}
	params := `{"name":"echo","arguments":{"n":9007199254740993,"f":1e400,"s":"<&>","d":1.10,"d":2},"_meta":{"x/y":9007199254740993}}`
	want(t, "arguments", c.request("tools/call", params), `"result":{"content":[],"seen":`+params+`}`)
	want(t, "error", c.request("tools/call", `{"name":"fail"}`), `"error":{"code":-32099,"message":"own <code>","data":{"big":9007199254740993}}`)
	want(t, "resources", c.request("resources/list", `{}`), `"result":{"resources":[{"uri":"odd://a","name":"a","size":9007199254740993}]}`)
	want(t, "resource", c.request("resources/read", `{"uri":"odd://a"}`), `"result":{"contents":[{"uri":"odd://a","text":"9007199254740993","size":1e400}]}`)
	want(t, "prompts", c.request("prompts/list", `{}`), `"result":{"prompts":[{"name":"greet","arguments":[{"name":"who","x":1e400}]}]}`)
	want(t, "prompt", c.request("prompts/get", `{"name":"greet","arguments":{"a":"1"}}`), `"result":{"messages":[],"seen":{"name":"greet","arguments":{"a":"1"}}}`)
	want(t, "a method of its own", c.request("odd/own", `{"a":1e400}`), `"result":{"own":{"a":1e400}}`)
	want(t, "ping", c.request("ping", `{}`), `"result":{}`)
	want(t, "unknown tool", c.request("tools/call", `{"name":"nothing"}`), `"error":{"code":-32602,"message":"unknown tool \"nothing\""}`)
}

func TestCollisions(t *testing.T) {
	c := relay(t, serve.Options{}, server(t, "one", "odd"), server(t, "two", "many"))
	c.begin()
	var got struct {
		Result struct {
			Tools []struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte("{"+c.request("tools/list", `{}`)+"}"), &got); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, tool := range got.Result.Tools {
		names[tool.Name] = true
	}
	if n := len(names); n != len(oddTools)+1000 || !names["one_echo"] || !names["two_echo"] || names["echo"] {
		t.Errorf("%d names; one_echo %t, two_echo %t, echo %t", n, names["one_echo"], names["two_echo"], names["echo"])
	}
	want(t, "first", c.request("tools/call", `{"name":"one_echo","arguments":{"name":"x"}}`), `"result":{"content":[],"seen":{"name":"echo","arguments":{"name":"x"}}}`)
	want(t, "second", c.request("tools/call", `{"arguments":{},"name":"two_echo"}`), `"result":{"content":[],"seen":{"arguments":{},"name":"echo"}}`)
	want(t, "alone", c.request("tools/call", `{"name":"t999"}`), `"result":{"content":[],"seen":{"name":"t999"}}`)
}

func TestProgressBeforeItsResult(t *testing.T) {
	c := relay(t, serve.Options{}, server(t, "odd", "odd"))
	c.begin()
	for i := range 200 {
		c.heard = nil
		c.request("tools/call", fmt.Sprintf(`{"name":"steps","_meta":{"progressToken":%d}}`, i))
		if len(c.heard) != 5 {
			t.Fatalf("call %d: %d messages before the result", i, len(c.heard))
		}
		for n, line := range c.heard {
			want(t, "progress", line, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%d,"progress":%d,"total":1e400}}`, i, n))
		}
	}
}

func TestCancel(t *testing.T) {
	c := relay(t, serve.Options{}, server(t, "odd", "odd"))
	c.begin()
	c.send(`{"jsonrpc":"2.0","id":41,"method":"tools/call","params":{"name":"wait"}}`)
	c.send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":41,"reason":"enough"}}`)
	want(t, "the server hears of it", c.request("tools/call", `{"name":"cancelled"}`), `"result":{"content":[],"cancelled":1}`)
}

func TestServerDies(t *testing.T) {
	c := relay(t, serve.Options{}, server(t, "odd", "odd"))
	c.begin()
	want(t, "in flight", c.request("tools/call", `{"name":"die"}`), `"result":{"content":[{"type":"text","text":"The server odd ended before it answered. The outcome is unknown: the call may have been made."}],"isError":true}`)
	got := c.request("tools/call", `{"name":"empty"}`)
	if !strings.Contains(got, "The call was not made: the server odd is not available") || !strings.Contains(got, `"isError":true`) {
		t.Errorf("while it is away: %s", got)
	}
	for line := c.next(); !strings.Contains(line, "tools/list_changed"); {
		line = c.next()
	}
	want(t, "back again", c.request("tools/call", `{"name":"empty"}`), `"result":{}`)
}

func TestNoise(t *testing.T) {
	c := relay(t, serve.Options{}, server(t, "odd", "odd"))
	c.begin()
	for range 3 {
		want(t, "noise", c.request("tools/call", `{"name":"noise"}`), `"result":{"content":[]}`)
	}
}

func TestQuestion(t *testing.T) {
	c := relay(t, serve.Options{}, server(t, "odd", "odd"))
	c.begin()
	c.send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`)
	want(t, "question", c.next(), `{"jsonrpc":"2.0","id":"awo-1","method":"elicitation/create","params":{"message":"sure?","requestedSchema":{"type":"object","properties":{}}}}`)
	c.send(`{"jsonrpc":"2.0","id":"awo-1","result":{"action":"accept","content":{"n":9007199254740993}}}`)
	want(t, "answer", c.answer("1"), `"result":{"content":[],"answer":{"action":"accept","content":{"n":9007199254740993}}}`)
}

func TestListChanges(t *testing.T) {
	c := relay(t, serve.Options{}, server(t, "odd", "odd"))
	c.begin()
	c.request("tools/call", `{"name":"storm"}`)
	deadline := time.Now().Add(20 * time.Second)
	for !strings.Contains(c.request("tools/list", `{}`), `"extra0"`) {
		if time.Now().After(deadline) {
			t.Fatal("the new tool is not listed")
		}
	}
	want(t, "still there", c.request("tools/call", `{"name":"empty"}`), `"result":{}`)
	if n := len(c.heard); n == 0 || n > 1000 {
		t.Errorf("a storm of 2000 changes became %d", n)
	}
}

// TestAbsentServer: initialize is answered whatever a server does.
func TestAbsentServer(t *testing.T) {
	c := relay(t, serve.Options{ConnectWait: 50 * time.Millisecond}, serve.Server{Name: "none", Command: filepath.Join(t.TempDir(), "none")}, server(t, "odd", "odd"))
	c.begin()
	want(t, "not begun twice", c.request("initialize", `{}`), `"error":{"code":-32600,"message":"a session begins with initialize, once"}`)
	deadline := time.Now().Add(20 * time.Second)
	for !strings.Contains(c.request("tools/list", `{}`), `"echo"`) {
		if time.Now().After(deadline) {
			t.Fatal("the server that works is not listed")
		}
	}
}
