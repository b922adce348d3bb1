package gateway_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"
)

// What the odd server answers, byte for byte. It breaks what typed clients assume.
var oddResults = map[string]string{
	"numbers":  `{"content":[{"type":"text","text":"9007199254740993"}],"structuredContent":{"big":9007199254740993,"huge":1e400,"exact":1.10,"neg":-0.0}}`,
	"unknown":  `{"content":[{"type":"hologram","shape":{"of":[1,2,null]}}],"extra":{"kept":true},"isError":false}`,
	"escapes":  `{"content":[{"type":"text","text":"<a href=\"x\">\u2028 & \ud83d\ude00 \u0000</a>"}]}`,
	"empty":    `{}`,
	"not-list": `{"content":"text"}`,
}

// oddTools are definitions that typed servers refuse.
var oddTools = []string{
	`{"name":"numbers","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"x-own":9007199254740993}`,
	`{"name":"unknown","inputSchema":{"properties":{"a":{"type":"string"}}}}`,
	`{"name":"escapes","inputSchema":true}`,
	`{"name":"empty"}`,
	`{"name":"not-list","inputSchema":{"type":"array"},"_meta":{"a/b":{"c":1e400}}}`,
	`{"name":"echo","inputSchema":{"type":"object"}}`,
	`{"name":"steps","inputSchema":{"type":"object"}}`,
	`{"name":"wait","inputSchema":{"type":"object"}}`,
	`{"name":"waiting","inputSchema":{"type":"object"}}`,
	`{"name":"cancelled","inputSchema":{"type":"object"}}`,
	`{"name":"die","inputSchema":{"type":"object"}}`,
	`{"name":"noise","inputSchema":{"type":"object"}}`,
	`{"name":"fail","inputSchema":{"type":"object"}}`,
	`{"name":"ask","inputSchema":{"type":"object"}}`,
	`{"name":"more","inputSchema":{"type":"object"}}`,
	`{"name":"storm","inputSchema":{"type":"object"}}`,
}

// odd is a server of odd answers on two streams. kind is "odd", "many" for a thousand
// tools on pages, or "new" for one that speaks the protocol without sessions alone.
type odd struct {
	kind      string
	out       io.Writer
	mu        sync.Mutex
	begun     bool // initialized was notified
	cancelled []string
	waiting   map[string]string // our question -> the call that waits for it
	extra     int
	waits     int
	exit      func()
}

func (o *odd) send(line string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	_, _ = io.WriteString(o.out, line+"\n")
}

func (o *odd) reply(id json.RawMessage, result string) {
	o.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, id, result))
}

func (o *odd) serve(in io.Reader) {
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params json.RawMessage
			Result json.RawMessage
		}
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		o.message(m.ID, m.Method, m.Params, m.Result)
	}
}

func (o *odd) message(id json.RawMessage, method string, params, result json.RawMessage) {
	if o.kind == "new" {
		o.withoutSessions(id, method, params)
		return
	}
	o.mu.Lock()
	o.begun = o.begun || method == "notifications/initialized"
	begun := o.begun
	o.mu.Unlock()
	if method == "tools/call" && !begun {
		o.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32600,"message":"not initialized"}}`, id))
		return
	}
	switch method {
	case "initialize":
		capabilities := `{"tools":{"listChanged":true}}`
		if o.kind == "odd" {
			capabilities = `{"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"logging":{}}`
		}
		o.reply(id, `{"protocolVersion":"2025-06-18","capabilities":`+capabilities+`,"serverInfo":{"name":"odd","version":"1"},"instructions":"Be odd."}`)
	case "tools/list":
		o.tools(id, params)
	case "resources/list":
		o.reply(id, `{"resources":[{"uri":"odd://a","name":"a","size":9007199254740993}]}`)
	case "resources/templates/list":
		o.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"none"}}`, id))
	case "resources/read":
		o.reply(id, `{"contents":[{"uri":"odd://a","text":"9007199254740993","size":1e400}]}`)
	case "prompts/list":
		o.reply(id, `{"prompts":[{"name":"greet","arguments":[{"name":"who","x":1e400}]}]}`)
	case "prompts/get":
		o.reply(id, `{"messages":[],"seen":`+string(params)+`}`)
	case "odd/own":
		o.reply(id, `{"own":`+string(params)+`}`)
	case "tools/call":
		o.call(id, params)
	case "notifications/cancelled":
		var p struct{ RequestID json.RawMessage }
		_ = json.Unmarshal(params, &p)
		o.mu.Lock()
		o.cancelled = append(o.cancelled, string(p.RequestID))
		o.mu.Unlock()
	case "": // an answer
		o.mu.Lock()
		call, ok := o.waiting[string(id)]
		o.mu.Unlock()
		if len(result) == 0 {
			result = json.RawMessage("null")
		}
		if ok {
			o.reply(json.RawMessage(call), `{"content":[],"answer":`+string(result)+`}`)
		}
	default:
		if len(id) > 0 {
			o.reply(id, `{}`)
		}
	}
}

// withoutSessions answers in the protocol without sessions.
func (o *odd) withoutSessions(id json.RawMessage, method string, params json.RawMessage) {
	var p struct {
		Name           string
		RequestState   string
		InputResponses json.RawMessage
		Meta           struct {
			Version string          `json:"io.modelcontextprotocol/protocolVersion"`
			Can     json.RawMessage `json:"io.modelcontextprotocol/clientCapabilities"`
		} `json:"_meta"`
	}
	_ = json.Unmarshal(params, &p)
	switch {
	case len(id) == 0:
		o.mu.Lock()
		o.cancelled = append(o.cancelled, method)
		o.mu.Unlock()
	case p.Meta.Version != "2026-07-28" || len(p.Meta.Can) == 0 || method == "initialize":
		o.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32022,"message":"not spoken here","data":{"supported":["2026-07-28"]}}}`, id))
	case method == "server/discover":
		o.reply(id, `{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{"listChanged":true}},"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"new","version":"9"}}}`)
	case method == "tools/list":
		o.reply(id, `{"resultType":"complete","tools":[{"name":"echo","inputSchema":{"type":"object"}},{"name":"ask","inputSchema":{"type":"object"}},{"name":"more","inputSchema":{"type":"object"}}]}`)
	case method == "subscriptions/listen":
		o.mu.Lock()
		o.waiting["listen"] = string(id)
		o.mu.Unlock()
		o.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s},"notifications":{"toolsListChanged":true}}}`, id))
	case p.Name == "more":
		o.mu.Lock()
		listen := o.waiting["listen"]
		o.mu.Unlock()
		o.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}`, listen))
		o.reply(id, `{"resultType":"complete","content":[]}`)
	case p.Name == "ask" && p.RequestState != "state <1>":
		o.reply(id, `{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"sure?"}}},"requestState":"state <1>"}`)
	case p.Name == "ask":
		o.reply(id, `{"resultType":"complete","content":[],"answers":`+string(p.InputResponses)+`}`)
	default:
		o.reply(id, `{"resultType":"complete","content":[],"seen":`+string(params)+`}`)
	}
}

func (o *odd) tools(id, params json.RawMessage) {
	o.mu.Lock()
	extra := o.extra
	o.mu.Unlock()
	if o.kind == "odd" {
		list := oddTools
		for i := range extra {
			list = append(list[:len(list):len(list)], fmt.Sprintf(`{"name":"extra%d"}`, i))
		}
		o.reply(id, `{"tools":[`+strings.Join(list, ",")+`]}`)
		return
	}
	var p struct{ Cursor string }
	_ = json.Unmarshal(params, &p)
	page := 0
	_, _ = fmt.Sscanf(p.Cursor, "page %d", &page)
	var list []string
	for i := range 100 {
		list = append(list, fmt.Sprintf(`{"name":"t%03d","inputSchema":{"type":"object"}}`, 100*page+i))
	}
	if page == 0 { // collides with the other server
		list[0] = `{"name":"echo","inputSchema":{"type":"object","title":"many"}}`
	}
	next := ""
	if page < 9 {
		next = fmt.Sprintf(`,"nextCursor":"page %d"`, page+1)
	}
	o.reply(id, `{"tools":[`+strings.Join(list, ",")+`]`+next+`}`)
}

func (o *odd) call(id, params json.RawMessage) {
	var p struct {
		Name string
		Meta struct{ ProgressToken json.RawMessage } `json:"_meta"`
	}
	_ = json.Unmarshal(params, &p)
	switch p.Name {
	case "echo", "t999":
		o.reply(id, `{"content":[],"seen":`+string(params)+`}`)
	case "steps":
		for i := range 5 {
			o.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"total":1e400}}`, p.Meta.ProgressToken, i))
		}
		o.reply(id, `{"content":[]}`)
	case "wait":
		o.mu.Lock()
		o.waits++
		o.mu.Unlock()
	case "waiting":
		o.mu.Lock()
		n := o.waits
		o.mu.Unlock()
		o.reply(id, fmt.Sprintf(`{"content":[],"waiting":%d}`, n))
	case "cancelled":
		o.mu.Lock()
		n := len(o.cancelled)
		o.mu.Unlock()
		o.reply(id, fmt.Sprintf(`{"content":[],"cancelled":%d}`, n))
	case "die": // in the middle of a message
		o.mu.Lock()
		_, _ = io.WriteString(o.out, `{"jsonrpc":"2.0","id":`)
		o.exit()
		o.mu.Unlock()
	case "noise":
		o.send("Listening on port 3000 ...")
		o.send(`{"jsonrpc":"2.0","id":99999999,"result":{}}`)
		o.send(`{"jsonrpc":"1.0"}`)
		o.reply(id, `{"content":[]}`)
	case "fail":
		o.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32099,"message":"own <code>","data":{"big":9007199254740993}}}`, id))
	case "ask":
		o.mu.Lock()
		o.waiting[`7`] = string(id)
		o.mu.Unlock()
		o.send(`{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":"sure?","requestedSchema":{"type":"object","properties":{}}}}`)
	case "more", "storm":
		o.mu.Lock()
		o.extra++
		o.mu.Unlock()
		times := 1
		if p.Name == "storm" {
			times = 2000
		}
		o.send(strings.TrimSuffix(strings.Repeat(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`+"\n", times), "\n"))
		o.reply(id, `{"content":[]}`)
	default:
		if r, ok := oddResults[p.Name]; ok {
			o.reply(id, r)
			return
		}
		o.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32602,"message":"unknown tool"}}`, id))
	}
}

// runOdd is the process of an odd server, for tests that start one.
func runOdd(kind string) {
	o := &odd{kind: kind, out: os.Stdout, waiting: map[string]string{}, exit: func() { os.Exit(3) }}
	_, _ = os.Stderr.WriteString("starting\n")
	if d, err := time.ParseDuration(os.Getenv("ODD_DELAY")); err == nil {
		time.Sleep(d)
	}
	o.serve(os.Stdin)
}
