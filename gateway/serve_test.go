package gateway_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/gateway/internal/servetest"
)

func TestMain(m *testing.M) { servetest.Main(m, runOdd) }

// server returns an odd server as a process.
func server(t *testing.T, name, kind string) gateway.Server {
	t.Helper()
	return servetest.Process(t, name, kind)
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

func TestBytes(t *testing.T) {
	c := servetest.Relay(t, gateway.Options{Version: "v1"}, server(t, "odd", "odd"))
	want(t, "initialize", c.Begin(), `"result":{"protocolVersion":"2025-06-18","capabilities":{"logging":{},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"tools":{"listChanged":true}},"serverInfo":{"name":"awo","version":"v1"},"instructions":"Be odd."}`)
	want(t, "tools", c.Request("tools/list", `{}`), `"result":{"tools":[`+strings.Join(oddTools, ",")+`]}`)
	for name, result := range oddResults {
		want(t, name, c.Request("tools/call", `{"name":"`+name+`"}`), `"result":`+result)
	}
	params := `{"name":"echo","arguments":{"n":9007199254740993,"f":1e400,"s":"<&>","d":1.10,"d":2},"_meta":{"x/y":9007199254740993}}`
	want(t, "arguments", c.Request("tools/call", params), `"result":{"content":[],"seen":`+params+`}`)
	want(t, "error", c.Request("tools/call", `{"name":"fail"}`), `"error":{"code":-32099,"message":"own <code>","data":{"big":9007199254740993}}`)
	want(t, "resources", c.Request("resources/list", `{}`), `"result":{"resources":[{"uri":"odd://a","name":"a","size":9007199254740993}]}`)
	want(t, "resource", c.Request("resources/read", `{"uri":"odd://a"}`), `"result":{"contents":[{"uri":"odd://a","text":"9007199254740993","size":1e400}]}`)
	want(t, "prompts", c.Request("prompts/list", `{}`), `"result":{"prompts":[{"name":"greet","arguments":[{"name":"who","x":1e400}]}]}`)
	want(t, "prompt", c.Request("prompts/get", `{"name":"greet","arguments":{"a":"1"}}`), `"result":{"messages":[],"seen":{"name":"greet","arguments":{"a":"1"}}}`)
	want(t, "a method of its own", c.Request("odd/own", `{"a":1e400}`), `"result":{"own":{"a":1e400}}`)
	want(t, "ping", c.Request("ping", `{}`), `"result":{}`)
	want(t, "unknown tool", c.Request("tools/call", `{"name":"nothing"}`), `"error":{"code":-32602,"message":"unknown tool \"nothing\""}`)
}

func TestCollisions(t *testing.T) {
	c := servetest.Relay(t, gateway.Options{}, server(t, "one", "odd"), server(t, "two", "many"))
	c.Begin()
	var got struct {
		Result struct {
			Tools []struct{ Name string }
		}
	}
	if err := json.Unmarshal([]byte("{"+c.Request("tools/list", `{}`)+"}"), &got); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, tool := range got.Result.Tools {
		names[tool.Name] = true
	}
	if n := len(names); n != len(oddTools)+1000 || !names["one_echo"] || !names["two_echo"] || names["echo"] || names["t999"] {
		t.Errorf("%d names; one_echo %t, two_echo %t, echo %t, t999 %t", n, names["one_echo"], names["two_echo"], names["echo"], names["t999"])
	}
	want(t, "first", c.Request("tools/call", `{"name":"one_echo","arguments":{"name":"x"}}`), `"result":{"content":[],"seen":{"name":"echo","arguments":{"name":"x"}}}`)
	want(t, "second", c.Request("tools/call", `{"arguments":{},"name":"two_echo"}`), `"result":{"content":[],"seen":{"arguments":{},"name":"echo"}}`)
	want(t, "a name of one server alone", c.Request("tools/call", `{"name":"two_t999"}`), `"result":{"content":[],"seen":{"name":"t999"}}`)
}

// TestNamesFollowFromTheConfiguration: which servers are up changes no name, and a server's
// own prefix and the option for all of them do.
func TestNamesFollowFromTheConfiguration(t *testing.T) {
	absent := gateway.Server{Name: "two", Command: "/nonexistent/server"}
	own := server(t, "one", "odd")
	own.Prefix, own.HasPrefix = "mine", true
	for want, c := range map[string]*servetest.Client{
		`"one_echo"`:  servetest.Relay(t, gateway.Options{}, server(t, "one", "odd"), absent),
		`"mine_echo"`: servetest.Relay(t, gateway.Options{}, own, absent),
		`"echo"`:      servetest.Relay(t, gateway.Options{Prefixes: gateway.PrefixesNever}, server(t, "one", "odd"), absent),
		`"odd_echo"`:  servetest.Relay(t, gateway.Options{Prefixes: gateway.PrefixesAlways}, server(t, "odd", "odd")),
	} {
		c.Begin()
		if got := c.Request("tools/list", `{}`); !strings.Contains(got, `"name":`+want) {
			t.Errorf("no %s in %.300s", want, got)
		}
	}
}

func TestProgressBeforeItsResult(t *testing.T) {
	c := servetest.Relay(t, gateway.Options{}, server(t, "odd", "odd"))
	c.Begin()
	c.Request("tools/call", `{"name":"empty"}`) // lists that came late are news before it
	for i := range 200 {
		c.Heard = nil
		c.Request("tools/call", fmt.Sprintf(`{"name":"steps","_meta":{"progressToken":%d}}`, i))
		if len(c.Heard) != 5 {
			t.Fatalf("call %d: %d messages before the result", i, len(c.Heard))
		}
		for n, line := range c.Heard {
			want(t, "progress", line, fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%d,"progress":%d,"total":1e400}}`, i, n))
		}
	}
}

func TestCancel(t *testing.T) {
	c := servetest.Relay(t, gateway.Options{}, server(t, "odd", "odd"))
	c.Begin()
	c.Request("tools/call", `{"name":"empty"}`) // until the servers are there a call waits here
	c.Send(`{"jsonrpc":"2.0","id":41,"method":"tools/call","params":{"name":"wait"}}`)
	c.Send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":41,"reason":"enough"}}`)
	want(t, "the server hears of it", c.Request("tools/call", `{"name":"cancelled"}`), `"result":{"content":[],"cancelled":1}`)
}

func TestServerDies(t *testing.T) {
	s := server(t, "odd", "odd")
	s.Env = append(s.Env, "ODD_DELAY=300ms")
	c := servetest.Relay(t, gateway.Options{}, s)
	c.Begin()
	want(t, "in flight", c.Request("tools/call", `{"name":"die"}`), `"result":{"content":[{"type":"text","text":"The server odd ended before it answered. The outcome is unknown: the call may have been made."}],"isError":true}`)
	time.Sleep(1100 * time.Millisecond) // its process runs again, and has not answered initialize
	want(t, "a call waits for the restart", c.Request("tools/call", `{"name":"empty"}`), `"result":{}`)
}

// TestAnswerTooLong: who waits for an answer over the bound is told so at once.
func TestAnswerTooLong(t *testing.T) {
	c := servetest.Relay(t, gateway.Options{MaxMessage: 8 << 10}, server(t, "odd", "odd"))
	c.Begin()
	got := c.Request("tools/call", `{"name":"echo","arguments":{"a":"`+strings.Repeat("x", 10<<10)+`"}}`)
	if !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "--max-message") || !strings.Contains(got, "The call was made.") {
		t.Errorf("got %s", got)
	}
	want(t, "the next call", c.Request("tools/call", `{"name":"empty"}`), `"result":{}`)
}

func TestNoise(t *testing.T) {
	c := servetest.Relay(t, gateway.Options{}, server(t, "odd", "odd"))
	c.Begin()
	for range 3 {
		want(t, "noise", c.Request("tools/call", `{"name":"noise"}`), `"result":{"content":[]}`)
	}
}

func TestQuestion(t *testing.T) {
	c := servetest.Relay(t, gateway.Options{}, server(t, "odd", "odd"))
	c.Begin()
	c.Send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`)
	want(t, "question", c.Next(), `{"jsonrpc":"2.0","id":"awo-1","method":"elicitation/create","params":{"message":"sure?","requestedSchema":{"type":"object","properties":{}}}}`)
	c.Send(`{"jsonrpc":"2.0","id":"awo-1","result":{"action":"accept","content":{"n":9007199254740993}}}`)
	want(t, "answer", c.Answer("1"), `"result":{"content":[],"answer":{"action":"accept","content":{"n":9007199254740993}}}`)
}

func TestListChanges(t *testing.T) {
	c := servetest.Relay(t, gateway.Options{}, server(t, "odd", "odd"))
	c.Begin()
	c.Request("tools/call", `{"name":"storm"}`)
	deadline := time.Now().Add(20 * time.Second)
	for !strings.Contains(c.Request("tools/list", `{}`), `"extra0"`) {
		if time.Now().After(deadline) {
			t.Fatal("the new tool is not listed")
		}
	}
	want(t, "still there", c.Request("tools/call", `{"name":"empty"}`), `"result":{}`)
	if n := len(c.Heard); n == 0 || n > 1000 {
		t.Errorf("a storm of 2000 changes became %d", n)
	}
}

// TestAbsentServer: initialize is answered whatever a server does.
func TestAbsentServer(t *testing.T) {
	c := servetest.Relay(t, gateway.Options{ConnectWait: 50 * time.Millisecond}, gateway.Server{Name: "none", Command: filepath.Join(t.TempDir(), "none")}, server(t, "odd", "odd"))
	c.Begin()
	want(t, "not begun twice", c.Request("initialize", `{}`), `"error":{"code":-32600,"message":"a session begins with initialize, once"}`)
	deadline := time.Now().Add(20 * time.Second)
	for !strings.Contains(c.Request("tools/list", `{}`), `"odd_echo"`) {
		if time.Now().After(deadline) {
			t.Fatal("the server that works is not listed")
		}
	}
}

// TestLastKnown: a server that is slow to start is shown as it was, and calls wait for it.
func TestLastKnown(t *testing.T) {
	dir := t.TempDir()
	slow := server(t, "odd", "odd")
	slow.Args = []string{"a name for the cache"}
	c := servetest.Relay(t, gateway.Options{Cache: dir}, slow)
	c.Begin()
	before := c.Request("tools/list", `{}`)
	slow.Env = append(slow.Env, "ODD_DELAY=600ms")
	c = servetest.Relay(t, gateway.Options{Cache: dir, ConnectWait: 20 * time.Millisecond}, slow)
	c.Begin()
	want(t, "as it was", c.Request("tools/list", `{}`), before)
	want(t, "the call waits", c.Request("tools/call", `{"name":"empty"}`), `"result":{}`)
}

// TestQueueIsBounded: of the calls that wait for a server one too many is refused at once.
func TestQueueIsBounded(t *testing.T) {
	o := gateway.Options{Cache: t.TempDir(), ConnectWait: 5 * time.Second}
	late := server(t, "odd", "odd")
	c := servetest.Relay(t, o, late)
	c.Begin()
	c.Request("tools/list", `{}`) // it is kept for the next session
	late.Env = append(late.Env, "ODD_DELAY=1h")
	o.ConnectWait = 20 * time.Millisecond
	c = servetest.Relay(t, o, late)
	c.Begin()
	for i := range 64 {
		c.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"empty"}}`, i))
	}
	if got := c.Request("tools/call", `{"name":"empty"}`); !strings.Contains(got, "was not made") || len(c.Heard) > 1 {
		t.Errorf("got %s, and %q", got, c.Heard)
	}
}

// TestSlowServer: initialize is not kept waiting by a server that is slow to start, and
// what is asked for meanwhile is.
func TestSlowServer(t *testing.T) {
	slow := server(t, "odd", "odd")
	slow.Env = append(slow.Env, "ODD_DELAY=1500ms")
	c := servetest.Relay(t, gateway.Options{ConnectWait: 20 * time.Second, Version: "v1"}, slow)
	want(t, "initialize, with all that the server may turn out to have", c.Begin(), `"result":{"protocolVersion":"2025-06-18","capabilities":{"completions":{},"logging":{},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"tools":{"listChanged":true}},"serverInfo":{"name":"awo","version":"v1"}}`)
	c.Send(`{"jsonrpc":"2.0","id":41,"method":"tools/call","params":{"name":"wait"}}`)
	c.Send(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":41}}`)
	want(t, "a call waits", c.Request("tools/call", `{"name":"numbers"}`), `"result":`+oddResults["numbers"])
	want(t, "what was cancelled before that was not made", c.Request("tools/call", `{"name":"waiting"}`), `"result":{"content":[],"waiting":0}`)
}

// TestNeverThere: a server that says nothing costs its tools, and no more.
func TestNeverThere(t *testing.T) {
	silent := server(t, "silent", "odd")
	silent.Env = append(silent.Env, "ODD_DELAY=1h")
	c := servetest.Relay(t, gateway.Options{ConnectWait: 50 * time.Millisecond}, silent, server(t, "odd", "odd"))
	c.Begin()
	deadline := time.Now().Add(20 * time.Second)
	for !strings.Contains(c.Request("tools/list", `{}`), `"odd_echo"`) {
		if time.Now().After(deadline) {
			t.Fatal("the server that works is not listed")
		}
	}
	want(t, "the other works", c.Request("tools/call", `{"name":"odd_empty"}`), `"result":{}`)
}
