package gateway_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/gateway/internal/servetest"
)

// meta is what each request of the protocol without sessions says.
const meta = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"io.modelcontextprotocol/clientInfo":{"name":"new","version":"2"}`

// asks returns parameters with it.
func asks(members string) string {
	if members != "" {
		members += ","
	}
	return `{` + members + `"_meta":{` + meta + `}}`
}

const by = `,"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"awo","version":"v1"}}}`

// TestStateless: an agent without sessions in front of servers with them.
func TestStateless(t *testing.T) {
	dir := t.TempDir()
	recording, err := gateway.NewRecording(dir, gateway.RedactSecrets, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("agent", func(t *testing.T) {
		c := servetest.Relay(t, gateway.Options{Version: "v1", Recording: recording}, server(t, "odd", "odd"))
		want(t, "discover", c.Request("server/discover", asks("")), `"result":{"supportedVersions":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"capabilities":{"logging":{},"prompts":{"listChanged":true},"resources":{"listChanged":true,"subscribe":true},"tools":{"listChanged":true}},"instructions":"Be odd.","resultType":"complete","ttlMs":0,"cacheScope":"private"`+by)
		want(t, "tools", c.Request("tools/list", asks("")), `"result":{"tools":[`+strings.Join(oddTools, ",")+`],"resultType":"complete","ttlMs":0,"cacheScope":"private"`+by)
		for name, result := range oddResults {
			want(t, name, c.Request("tools/call", asks(`"name":"`+name+`"`)), `"result":`+strings.Replace(strings.TrimSuffix(result, "}")+`,"resultType":"complete"`, "{,", "{", 1)+by)
		}
		want(t, "arguments", c.Request("tools/call", `{"name":"echo","arguments":{"n":9007199254740993,"f":1e400},"_meta":{`+meta+`,"x/y":1e400}}`), `"result":{"content":[],"seen":{"name":"echo","arguments":{"n":9007199254740993,"f":1e400},"_meta":{"x/y":1e400}},"resultType":"complete"`+by)
		want(t, "error", c.Request("tools/call", asks(`"name":"fail"`)), `"error":{"code":-32099,"message":"own <code>","data":{"big":9007199254740993}}`)
		want(t, "what is no more", c.Request("ping", asks("")), `"error":{"code":-32601,"message":"there is no method \"ping\" in version 2026-07-28"}`)
		want(t, "another version", c.Request("tools/list", strings.Replace(asks(""), "2026-07-28", "2099-01-01", 1)), `"error":{"code":-32022,"message":"this version of the protocol is not spoken here","data":{"supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"],"requested":"2099-01-01"}}`)
		want(t, "without capabilities", c.Request("tools/list", `{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`), `"error":{"code":-32602,"message":"_meta has no object io.modelcontextprotocol/clientCapabilities"}`)
		for i := range 50 {
			c.Heard = nil
			c.Request("tools/call", fmt.Sprintf(`{"name":"steps","_meta":{%s,"progressToken":"p%d"}}`, meta, i))
			if len(c.Heard) != 5 || !strings.Contains(c.Heard[4], fmt.Sprintf(`"progressToken":"p%d","progress":4,"total":1e400`, i)) {
				t.Fatalf("progress of call %d: %q", i, c.Heard)
			}
		}
	})
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil || !strings.Contains(string(data), `"client":{"name":"new","version":"2"},"era":"2026-07-28"`) {
		t.Errorf("%v; the recording begins with %.300s", err, data)
	}
}

// TestStatelessQuestion: a question of a server with sessions ends the answer, and the
// agent comes back with what it was asked for.
func TestStatelessQuestion(t *testing.T) {
	c := servetest.Relay(t, gateway.Options{Version: "v1"}, server(t, "odd", "odd"))
	asked := c.Request("tools/call", asks(`"name":"ask"`))
	_, state, ok := strings.Cut(asked, `"requestState":"`)
	state, _, _ = strings.Cut(state, `"`)
	want(t, "the question", asked, `"result":{"resultType":"input_required","inputRequests":{"awo-1":{"method":"elicitation/create","params":{"message":"sure?","requestedSchema":{"type":"object","properties":{}}}}},"requestState":"`+state+`"`+by)
	if !ok || len(state) < 30 {
		t.Fatalf("the state is %q", state)
	}
	gone := `"error":{"code":-32602,"message":"the request that this state belongs to does not wait any more"}`
	want(t, "for another tool", c.Request("tools/call", asks(`"name":"echo","requestState":"`+state+`"`)), gone)
	asked = c.Request("tools/call", asks(`"name":"ask","requestState":"`+state+`","inputResponses":{"other":{}}`))
	if !strings.Contains(asked, `"awo-1":{"method":"elicitation/create"`) {
		t.Errorf("without an answer: %s", asked)
	}
	want(t, "a state that was used", c.Request("tools/call", asks(`"name":"ask","requestState":"`+state+`"`)), gone)
	_, state, _ = strings.Cut(asked, `"requestState":"`)
	state, _, _ = strings.Cut(state, `"`)
	want(t, "with an answer", c.Request("tools/call", asks(`"name":"ask","requestState":"`+state+`","inputResponses":{"awo-1":{"action":"accept","content":{"n":9007199254740993}}}`)), `"result":{"content":[],"answer":{"action":"accept","content":{"n":9007199254740993}},"resultType":"complete"`+by)
	cannot := strings.Replace(asks(`"name":"ask"`), `{"elicitation":{}}`, `{}`, 1)
	want(t, "who cannot be asked", c.Request("tools/call", cannot), `"result":{"content":[],"answer":null,"resultType":"complete"`+by)
}

// TestStatelessServer: a server without sessions behind agents of both protocols.
func TestStatelessServer(t *testing.T) {
	c := servetest.Relay(t, gateway.Options{Version: "v1"}, server(t, "new", "new"))
	c.Begin()
	own := `"_meta":{"a":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"io.modelcontextprotocol/clientInfo":{"name":"test","version":"1"}}`
	for _, order := range []string{own} {
		got := c.Request("tools/call", `{"name":"echo","arguments":{"n":1e400},"_meta":{"a":1}}`)
		if !strings.Contains(got, `"seen":{"name":"echo","arguments":{"n":1e400},"_meta":{"a":1,`) || strings.Count(got, "io.modelcontextprotocol/") != strings.Count(order, "io.modelcontextprotocol/") {
			t.Errorf("a call: %s", got)
		}
	}
	c.Send(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"ask"}}`)
	want(t, "question", c.Next(), `{"jsonrpc":"2.0","id":"awo-1","method":"elicitation/create","params":{"message":"sure?"}}`)
	c.Send(`{"jsonrpc":"2.0","id":"awo-1","result":{"action":"accept","content":{"n":9007199254740993}}}`)
	want(t, "answer", c.Answer("1"), `"result":{"resultType":"complete","content":[],"answers":{"q":{"action":"accept","content":{"n":9007199254740993}}}}`)
	c.Request("tools/call", `{"name":"more"}`)
	for line := ""; !strings.Contains(line, "tools/list_changed"); {
		if len(c.Heard) > 0 {
			line, c.Heard = c.Heard[0], c.Heard[1:]
		} else {
			line = c.Next()
		}
	}

	c = servetest.Relay(t, gateway.Options{Version: "v1"}, server(t, "new", "new"))
	call := asks(`"name":"echo"`)
	want(t, "as it was written", c.Request("tools/call", call), `"result":{"resultType":"complete","content":[],"seen":`+call+by)
	want(t, "a question passes", c.Request("tools/call", asks(`"name":"ask"`)), `"result":{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"sure?"}}},"requestState":"state <1>"`+by)
	want(t, "and its answer", c.Request("tools/call", asks(`"name":"ask","requestState":"state <1>","inputResponses":{"q":{"action":"accept"}}`)), `"result":{"resultType":"complete","content":[],"answers":{"q":{"action":"accept"}}`+by)
	states, _ := gateway.New([]gateway.Server{server(t, "new", "new")}, gateway.Options{}).Check(t.Context())
	if s := states[0]; !s.Ready || s.Name != "new" || s.Protocol != "2026-07-28" || s.Tools != 3 {
		t.Errorf("a check says %+v", s)
	}
}

// TestStatelessHTTP: requests of all clients share a session; ids and tokens of progress
// that are equal do not meet.
func TestStatelessHTTP(t *testing.T) {
	url := handle(t, gateway.New([]gateway.Server{server(t, "odd", "odd")}, gateway.Options{Version: "v1"}), gateway.HTTPOptions{MaxSessions: 1})
	head := func(method, name string, more ...string) []string {
		return append([]string{"Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", method, "Mcp-Name", name}, more...)
	}
	message := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":` + params + `}`
	}
	var work sync.WaitGroup
	for i := range 20 {
		work.Go(func() {
			call := fmt.Sprintf(`{"name":"steps","arguments":{"i":%d},"_meta":{%s,"progressToken":7}}`, i, meta)
			if i%2 == 0 {
				call = strings.Replace(call, "steps", "echo", 1)
			}
			status, session, got := post(t, url, "", message("tools/call", call), head("tools/call", []string{"echo", "steps"}[i%2])...)
			events := strings.Count(got, `"progressToken":7,`)
			if status != 200 || session != "" || i%2 == 0 && !strings.Contains(got, fmt.Sprintf(`"i":%d}`, i)) || i%2 == 1 && (events != 5 || !strings.HasPrefix(got, "event: message\n")) {
				t.Errorf("call %d: %d %s %s", i, status, session, got)
			}
		})
	}
	work.Wait()
	list := message("tools/list", asks(""))
	for name, tc := range map[string]struct {
		body    string
		headers []string
		status  int
		want    string
	}{
		"no version":        {list, []string{"Mcp-Method", "tools/list"}, 400, `"code":-32020`},
		"another version":   {strings.Replace(list, "2026-07-28", "2026-07-29", 1), head("tools/list", ""), 400, `"code":-32020`},
		"an unknown one":    {strings.Replace(list, "2026-07-28", "2026-07-29", 1), []string{"Mcp-Protocol-Version", "2026-07-29"}, 400, `"code":-32022`},
		"no meta":           {`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`, head("tools/list", ""), 400, `"code":-32602`},
		"another method":    {list, head("tools/call", ""), 400, `"code":-32020`},
		"another name":      {message("tools/call", asks(`"name":"echo"`)), head("tools/call", "empty"), 400, `"code":-32020`},
		"a name in base 64": {message("tools/call", asks(`"name":"empty"`)), head("tools/call", "=?base64?ZW1wdHk=?="), 200, `"resultType":"complete"`},
		"an unknown method": {message("logging/setLevel", asks("")), head("logging/setLevel", ""), 404, `"code":-32601`},
		"with sessions":     {begin, nil, 503, "too many"},
		"a notification":    {`{"jsonrpc":"2.0","method":"notifications/cancelled"}`, head("notifications/cancelled", ""), 202, ""},
	} {
		if status, _, got := post(t, url, "", tc.body, tc.headers...); status != tc.status || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %d %s", name, status, got)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	open := func(ctx context.Context, method, name, params string) *bufio.Reader {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(message(method, params)))
		if err != nil {
			t.Fatal(err)
		}
		for i, h := 0, head(method, name, "Content-Type", "application/json", "Accept", "application/json, text/event-stream"); i < len(h); i += 2 {
			r.Header.Set(h[i], h[i+1])
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			if ctx.Err() == nil {
				t.Error(err)
			}
			return nil
		}
		t.Cleanup(func() { _ = response.Body.Close() })
		return bufio.NewReader(response.Body)
	}
	stream := open(t.Context(), "subscriptions/listen", "", asks(`"notifications":{"toolsListChanged":true,"resourceSubscriptions":["odd://a"]}`))
	next := func() string {
		for {
			line, err := stream.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			if data, ok := strings.CutPrefix(strings.TrimSpace(line), "data: "); ok {
				return data
			}
		}
	}
	want(t, "acknowledged", next(), `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["odd://a"]},"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}`)
	if status, _, got := post(t, url, "", message("tools/call", asks(`"name":"more"`)), head("tools/call", "more")...); status != 200 {
		t.Errorf("%d %s", status, got)
	}
	want(t, "a list changed", next(), `{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":1}}}`)

	// Who goes away cancels.
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		open(ctx, "tools/call", "wait", asks(`"name":"wait"`))
	}()
	for cancelled := false; !cancelled; {
		_, _, got := post(t, url, "", message("tools/call", asks(`"name":"waiting"`)), head("tools/call", "waiting")...)
		if strings.Contains(got, `"waiting":1`) {
			cancel()
		}
		_, _, got = post(t, url, "", message("tools/call", asks(`"name":"cancelled"`)), head("tools/call", "cancelled")...)
		cancelled = strings.Contains(got, `"cancelled":1`)
	}
	<-gone
}
