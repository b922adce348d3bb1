package compiled_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/gateway/compiled"
	"github.com/awo-dev/awo/gateway/internal/servetest"
	"github.com/awo-dev/awo/internal/changes"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/arazzo"
	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/prefetch/stored"
	"github.com/awo-dev/awo/trace"
)

func path(text string) jsonpath.Path {
	p, err := jsonpath.Parse(text)
	if err != nil {
		panic(err)
	}
	return p
}

func value(text string) trace.Value {
	v, err := trace.ParseValue([]byte(text))
	if err != nil {
		panic(err)
	}
	return v
}

func input(name string) metatool.Argument {
	return metatool.Argument{Name: name, Binding: metatool.Binding{Kind: metatool.BindInput, Input: name}}
}

// orders finds a user, then shows every order.
func orders(prefix string) *metatool.Tool {
	return &metatool.Tool{
		Name: "user_orders", Description: "Find a user, then every order.",
		Inputs: []metatool.Input{{Name: "name", Argument: "name", Required: true, Schema: value(`{"type":"string"}`)}},
		Steps: []metatool.Step{
			{Tool: prefix + "find_user", Name: "find_user", Args: []metatool.Argument{input("name")}, ReadOnly: true, Idempotent: true, Expect: []metatool.Expectation{{Path: path("$.orders")}}},
			{
				Tool: prefix + "get_order", Name: "get_order", ReadOnly: true, Idempotent: true,
				Each: &metatool.Binding{Kind: metatool.BindStep, Path: path("$.orders[*]")},
				Args: []metatool.Argument{{Name: "order_id", Binding: metatool.Binding{Kind: metatool.BindElement, Path: path("$.id")}}},
			},
		},
		Output:      metatool.Output{Steps: []int{0, 1}, Schema: value(`{"type":"object"}`)},
		Annotations: metatool.Annotations{ReadOnly: true, Idempotent: true},
	}
}

// cancel finds a user, then cancels the first order.
func cancel() *metatool.Tool {
	t := orders("")
	t.Name, t.Description = "cancel_first", "Find a user, then cancel the first order."
	t.Steps[1] = metatool.Step{Tool: "cancel_order", Name: "cancel_order", Args: []metatool.Argument{{Name: "order_id", Binding: metatool.Binding{Kind: metatool.BindStep, Path: path("$.orders[0].id")}}}}
	t.Annotations = metatool.Annotations{Destructive: true}
	return t
}

// look shows a picture, then a user.
func look() *metatool.Tool {
	t := orders("")
	t.Name, t.Inputs, t.Output.Steps = "look", nil, []int{0}
	t.Steps = []metatool.Step{{Tool: "picture", Name: "picture", ReadOnly: true}, {Tool: "count", Name: "count", ReadOnly: true}}
	return t
}

// folder writes artefacts as awo extract does.
func folder(t *testing.T, rules *stored.File, tools ...*metatool.Tool) string {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if len(tools) > 0 {
		write(arazzo.File, arazzo.Append(nil, tools))
	}
	var recorded []changes.Tool
	for _, d := range value(shopTools("", false)).Elems {
		input := d.Member("inputSchema")
		recorded = append(recorded, changes.Define(d.Member("name").Text, d.Member("description").Text, d.Member("annotations"), input, input))
	}
	type step struct {
		Tool string `json:"tool"`
	}
	type one struct {
		Name  string `json:"name"`
		Steps []step `json:"steps"`
	}
	var metaTools []one
	for _, tool := range tools {
		o := one{Name: tool.Name}
		for _, s := range tool.Steps {
			o.Steps = append(o.Steps, step{s.Tool})
		}
		metaTools = append(metaTools, o)
	}
	data, err := json.Marshal(map[string]any{"schema": "awo.metatools/v1", "meta_tools": metaTools, "tools": recorded})
	if err != nil {
		t.Fatal(err)
	}
	write("metatools.json", data)
	if rules != nil {
		if data, err = rules.Encode(); err != nil {
			t.Fatal(err)
		}
		write(stored.Name, data)
	}
	return dir
}

// log is a log that tests look into.
type log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// inFront starts a gateway with artefacts in front of servers.
func inFront(t *testing.T, dir string, o compiled.Options, so gateway.Options, servers ...gateway.Server) (*servetest.Client, *log) {
	t.Helper()
	a, err := compiled.Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	o.Servers = servers
	l := &log{}
	so.Log = slog.New(slog.NewTextHandler(l, nil))
	so.Layer = compiled.New(a, o)
	c := servetest.Relay(t, so, servers...)
	c.Begin()
	return c, l
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

// text returns the texts of a result's content.
func texts(t *testing.T, answer string) (all []string, isError bool) {
	t.Helper()
	var m struct {
		Result struct {
			Content []struct{ Type, Text string }
			IsError bool
		}
	}
	if err := json.Unmarshal([]byte("{"+answer+"}"), &m); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	for _, c := range m.Result.Content {
		all = append(all, c.Type+" "+c.Text)
	}
	return all, m.Result.IsError
}

func TestMetaTool(t *testing.T) {
	c, _ := inFront(t, folder(t, nil, orders(""), look()), compiled.Options{}, gateway.Options{}, shopServer(t, "shop", ""))
	list := c.Request("tools/list", `{}`)
	want(t, "list", list, `"result":{"tools":`+strings.TrimSuffix(shopTools("", false), "]")+
		`,{"name":"user_orders","description":"Find a user, then every order.","inputSchema":{"additionalProperties":false,"properties":{"name":{"type":"string"}},"required":["name"],"type":"object"},"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}`+
		`,{"name":"look","description":"Find a user, then every order.","inputSchema":{"additionalProperties":false,"properties":{},"required":[],"type":"object"},"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}}]}`)
	c.Heard = nil
	got, isError := texts(t, c.Request("tools/call", `{"name":"user_orders","arguments":{"name":"Ann"},"_meta":{"progressToken":"p"}}`))
	if isError || len(got) != 1 || !strings.Contains(got[0], "9007199254740993") || !strings.Contains(got[0], `"o3"`) || !strings.Contains(got[0], `"Ann"`) {
		t.Errorf("answer: %v %s", isError, got)
	}
	if len(c.Heard) != 2 || !strings.Contains(c.Heard[1], `"progressToken":"p","progress":1,"total":2`) {
		t.Errorf("progress: %s", c.Heard)
	}
	got, _ = texts(t, c.Request("tools/call", `{"name":"count"}`))
	want(t, "three orders at once", got[0], `text {"calls":5,"at_once":3}`)
	got, _ = texts(t, c.Request("tools/call", `{"name":"look"}`))
	if len(got) != 3 || got[1] != "image " || got[2] != "hologram " || !strings.Contains(got[0], `"look"`) || !strings.Contains(got[0], `"calls":7`) {
		t.Errorf("pictures: %q", got)
	}
	got, isError = texts(t, c.Request("tools/call", `{"name":"user_orders","arguments":{"nam":1}}`))
	if !isError || !strings.HasPrefix(got[0], "text Handed back before the first step: bad-input (name)") {
		t.Errorf("bad input: %q", got)
	}
}

// TestNames: steps are found as traces of clients call their tools, or it is said why not.
func TestNames(t *testing.T) {
	one, two := shopServer(t, "my.shop", ""), shopServer(t, "other", "")
	for _, c := range []struct {
		prefix  string
		servers []gateway.Server
		reason  string
	}{
		{"mcp__my.shop__", []gateway.Server{one}, ""},
		{"mcp__my_shop__", []gateway.Server{one, two}, ""},
		{"other__", []gateway.Server{one, two}, ""},
		{"my.shop.", []gateway.Server{one, two}, ""},
		{"mcp__awo__", []gateway.Server{one}, ""},
		{"mcp__awo__other_", []gateway.Server{one, two}, ""},
		{"", []gateway.Server{one, two}, "several servers have a tool find_user (my.shop, other): an alias in the file of servers says which is meant"},
		{"mcp__third__", []gateway.Server{one}, "no server has a tool mcp__third__find_user"},
	} {
		a, err := compiled.Read(folder(t, nil, orders(c.prefix)))
		if err != nil {
			t.Fatal(err)
		}
		_, tools := gateway.New(c.servers, gateway.Options{}).Check(t.Context())
		got, _ := compiled.New(a, compiled.Options{Servers: c.servers}).Verdicts(tools, true)
		want(t, c.prefix, got[0].Reason, c.reason)
	}
	two.Aliases = []gateway.Alias{{InTraces: "find_user", Tool: "find_user"}, {InTraces: "get_order", Tool: "get_order"}}
	a, err := compiled.Read(folder(t, nil, orders("")))
	if err != nil {
		t.Fatal(err)
	}
	servers := []gateway.Server{one, two}
	_, tools := gateway.New(servers, gateway.Options{}).Check(t.Context())
	if got, _ := compiled.New(a, compiled.Options{Servers: servers}).Verdicts(tools, true); !got[0].Offered {
		t.Errorf("with aliases: %+v", got[0])
	}
}

// TestDrift: a meta-tool whose tool changed so that it breaks is withdrawn, at the start
// and when a list changes.
func TestDrift(t *testing.T) {
	dir := folder(t, nil, orders(""))
	c, l := inFront(t, dir, compiled.Options{}, gateway.Options{}, shopServer(t, "shop", "drift"))
	if strings.Contains(c.Request("tools/list", `{}`), "user_orders") || !strings.Contains(l.String(), `"meta-tool not offered" name=user_orders reason="get_order has no argument order_id any more; id may be its new name"`) {
		t.Errorf("it is offered, or nobody says why not: %s", l)
	}
	c, l = inFront(t, dir, compiled.Options{}, gateway.Options{}, shopServer(t, "shop", ""))
	if !strings.Contains(c.Request("tools/list", `{}`), "user_orders") {
		t.Fatal("it is not offered")
	}
	c.Request("tools/call", `{"name":"change"}`)
	for deadline := time.Now().Add(20 * time.Second); strings.Contains(c.Request("tools/list", `{}`), "user_orders"); {
		if time.Now().After(deadline) {
			t.Fatal("it is still offered")
		}
	}
	if !strings.Contains(l.String(), "get_order has no argument order_id any more") {
		t.Errorf("log: %s", l)
	}
	got, isError := texts(t, c.Request("tools/call", `{"name":"user_orders","arguments":{"name":"Ann"}}`))
	if !isError || !strings.Contains(got[0], "not offered any more") {
		t.Errorf("call of what is gone: %q", got)
	}
}

func TestHandBack(t *testing.T) {
	for _, c := range []struct{ kind, want string }{
		{"fail", "text Handed back at step 2 of 2 (get_order): call-failed. It is safe to call it again.\nCalls made:\n1. find_user {\"name\":\"Ann\"}: {\"big\":9007199254740993,\"orders\":[{\"id\":\"o1\"},{\"id\":\"o2\"},{\"id\":\"o3\"}],\"user\":{\"name\":\"Ann\"}}\n2. get_order {\"order_id\":\"o1\"}: failed: \"no such order\""},
		{"hang", "2. get_order {\"order_id\":\"o1\"}: outcome unknown, may have been made"},
		{"die", "2. get_order {\"order_id\":\"o1\"}: "},
	} {
		cl, _ := inFront(t, folder(t, nil, orders("")), compiled.Options{Timeout: 300 * time.Millisecond}, gateway.Options{}, shopServer(t, "shop", c.kind))
		got, isError := texts(t, cl.Request("tools/call", `{"name":"user_orders","arguments":{"name":"Ann"}}`))
		if !isError || len(got) != 1 || !strings.Contains(got[0], c.want) {
			t.Errorf("%s: %q", c.kind, got)
		}
	}
}

// TestWithdrawn: three failures in a row because results are not what they were.
func TestWithdrawn(t *testing.T) {
	tool := orders("")
	tool.Steps[0].Expect = []metatool.Expectation{{Path: path("$.orders[0]")}}
	dir, o := folder(t, nil, tool), compiled.Options{Memory: t.TempDir()}
	c, l := inFront(t, dir, o, gateway.Options{}, shopServer(t, "shop", "empty"))
	for i := range 3 {
		got, isError := texts(t, c.Request("tools/call", `{"name":"user_orders","arguments":{"name":"Ann"}}`))
		if !isError || !strings.Contains(got[0], "unexpected-result") {
			t.Fatalf("%d: %q", i, got)
		}
	}
	if strings.Contains(c.Request("tools/list", `{}`), "user_orders") || !strings.Contains(l.String(), "meta-tool withdrawn until it is compiled again") {
		t.Errorf("it is still offered: %s", l)
	}
	// Another program remembers.
	c, _ = inFront(t, dir, o, gateway.Options{}, shopServer(t, "shop", "empty"))
	if strings.Contains(c.Request("tools/list", `{}`), "user_orders") {
		t.Error("it is offered after a restart")
	}
}

// TestChangedFolder: what is not what the manifest says is not run.
func TestChangedFolder(t *testing.T) {
	dir := folder(t, nil, orders(""))
	manifest := filepath.Join(dir, "manifest.json")
	for sum, want := range map[string]string{strings.Repeat("0", 64): compiled.CodeChanged, "": "", "{": compiled.CodeNotAwo} {
		text := fmt.Sprintf(`{"files":[{"name":%q,"sha256":%q},{"name":"other","sha256":"0"}]}`, arazzo.File, sum)
		switch sum {
		case "":
			data, err := os.ReadFile(filepath.Join(dir, arazzo.File))
			if err != nil {
				t.Fatal(err)
			}
			text = fmt.Sprintf(`{"files":[{"name":%q,"sha256":"%x"}]}`, arazzo.File, sha256.Sum256(data))
		case "{":
			text = sum
		}
		if err := os.WriteFile(manifest, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := compiled.Read(dir)
		problem, _ := errors.AsType[*diag.Error](err)
		if (err == nil) != (want == "") || problem != nil && problem.Code != want {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestCancelWithinAStep(t *testing.T) {
	c, _ := inFront(t, folder(t, nil, orders("")), compiled.Options{}, gateway.Options{}, shopServer(t, "shop", "hang"))
	for i := range 5 {
		c.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"x%d","method":"tools/call","params":{"name":"user_orders","arguments":{"name":"Ann"}}}`, i))
		time.Sleep(time.Duration(i) * 15 * time.Millisecond) // before, in and between steps
		c.Send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x%d"}}`, i))
	}
	c.Heard = nil
	c.Request("ping", `{}`)
	time.Sleep(100 * time.Millisecond)
	c.Request("ping", `{}`)
	for _, line := range c.Heard {
		if strings.Contains(line, `"id":"x`) {
			t.Errorf("an answer after a cancel: %s", line)
		}
	}
}

func TestWrites(t *testing.T) {
	shop := shopServer(t, "shop", "")
	dir := folder(t, nil, cancel())
	c, l := inFront(t, dir, compiled.Options{}, gateway.Options{}, shop)
	if strings.Contains(c.Request("tools/list", `{}`), "cancel_first") || !strings.Contains(l.String(), "writes are not allowed") {
		t.Errorf("writes are offered by default: %s", l)
	}
	c, _ = inFront(t, dir, compiled.Options{Writes: compiled.WritesClient}, gateway.Options{}, shop)
	if got := c.Request("tools/list", `{}`); !strings.Contains(got, `"destructiveHint":true,"idempotentHint":false,"openWorldHint":false},"_meta":{"anthropic/requiresUserInteraction":true}}`) {
		t.Errorf("marks: %s", got)
	}
	c, _ = inFront(t, dir, compiled.Options{Writes: compiled.WritesAsk}, gateway.Options{}, shop)
	for _, answer := range []string{"accept", "decline", "cancel"} {
		c.Send(`{"jsonrpc":"2.0","id":"w","method":"tools/call","params":{"name":"cancel_first","arguments":{"name":"Ann"}}}`)
		asked := c.Next()
		var q struct {
			ID     string
			Params struct{ Message string }
		}
		if err := json.Unmarshal([]byte(asked), &q); err != nil || q.Params.Message != `cancel_first, step 2 of 2, wants to call cancel_order with {"order_id":"o1"}` {
			t.Fatalf("asked: %s", asked)
		}
		c.Send(`{"jsonrpc":"2.0","id":"` + q.ID + `","result":{"action":"` + answer + `"}}`)
		got, isError := texts(t, c.Answer(`"w"`))
		if answer == "accept" {
			if isError || !strings.Contains(got[0], `"cancelled":"o1"`) || !strings.HasSuffix(got[0], `"took":[{"argument":"order_id","step":2,"took":"first of 3"}]}`) {
				t.Errorf("accepted: %q", got)
			}
			continue
		}
		if !isError || !strings.Contains(got[0], "denied. It is not safe") || !strings.Contains(got[0], "not allowed, not made") {
			t.Errorf("%s: %q", answer, got)
		}
	}
	got, _ := texts(t, c.Request("tools/call", `{"name":"count"}`))
	want(t, "one write was made", got[0], `text {"calls":5,"at_once":0}`)
}

// heldFirst is a seed by which the first of three reads is held back.
const heldFirst = 13

// rules are one rule: orders of a user are shown, in the share of cases that is promised.
func rules(threshold float64) *stored.File {
	return &stored.File{Threshold: threshold, Set: prefetch.Set{
		Reads: []string{"count", "find_user", "get_order"},
		Rules: []prefetch.Rule{{
			ID: "user-order", Source: prefetch.Source{Tool: "find_user", Path: path("$.orders[*].id")},
			Target: prefetch.Target{Tool: "get_order", Argument: "order_id"}, Depth: 1,
		}},
	}, Evidence: []stored.Evidence{{Offered: 10, Used: 9}}}
}

const attached = `text {"read_ahead":[{"tool":"get_order","arguments":{"order_id":"o2"},"result":{"items":[1,2],"order":"o2"}},{"tool":"get_order","arguments":{"order_id":"o3"},"result":{"items":[1,2],"order":"o3"}}]}`

func TestPrefetch(t *testing.T) {
	dir := t.TempDir()
	recording, err := gateway.NewRecording(dir, gateway.RedactSecrets, "")
	if err != nil {
		t.Fatal(err)
	}
	c, _ := inFront(t, folder(t, rules(.3)), compiled.Options{Wait: 5 * time.Second, Seed: heldFirst}, gateway.Options{Recording: recording}, shopServer(t, "shop", ""))
	got, _ := texts(t, c.Request("tools/call", `{"name":"find_user","arguments":{"name":"Ann"}}`))
	if len(got) != 2 || got[0] != "text found" {
		t.Fatalf("%q", got)
	}
	want(t, "attached, but for one that is held back", got[1], attached)
	// Who asks wants the state of now, whatever was attached.
	for _, order := range []string{"o1", "o2"} {
		got, _ = texts(t, c.Request("tools/call", `{"name":"get_order","arguments":{"order_id":"`+order+`"}}`))
		want(t, "from the server", got[0], `text {"order":"`+order+`","items":[1,2]}`)
	}
	got, _ = texts(t, c.Request("tools/call", `{"name":"count"}`))
	want(t, "each call reached the server", got[0], `text {"calls":7,"at_once":3}`)
	recorded := recordedIn(t, dir)
	for what, n := range map[string]int{
		`"peer":"upstream:shop","within":{"request":"r2","as":"prefetch","by":"user-order"}`: 6,
		`"answered_by":"prefetch"`: 0, `"attached":[{"type":"text"`: 1, `"prefetch":["user-order"]`: 1, `"arm":"treated"`: 1,
	} {
		if got := strings.Count(recorded, what); got != n {
			t.Errorf("%s: %d times in the recording, not %d", what, got, n)
		}
	}
}

// TestKillSwitch: a meta-tool and a rule that the policy disables are off at once, in the
// session that is open, and others stay.
func TestKillSwitch(t *testing.T) {
	a, err := compiled.Read(folder(t, rules(.3), orders(""), look()))
	if err != nil {
		t.Fatal(err)
	}
	servers := []gateway.Server{shopServer(t, "shop", "")}
	g := gateway.New(servers, gateway.Options{Layer: compiled.New(a, compiled.Options{Servers: servers, Wait: 5 * time.Second, Seed: heldFirst})})
	c := servetest.Join(t, g)
	c.Begin()
	find := func() int {
		got, _ := texts(t, c.Request("tools/call", `{"name":"find_user","arguments":{"name":"Ann"}}`))
		return len(got)
	}
	if got := listed(t, c); !slices.Contains(got, "user_orders") || find() != 2 {
		t.Errorf("before: %v", got)
	}
	g.SetPolicy(&gateway.Policy{Disabled: []string{"user_orders", "user-order"}})
	if got := listed(t, c); slices.Contains(got, "user_orders") || !slices.Contains(got, "look") || find() != 1 {
		t.Errorf("after: %v", got)
	}
	if got, isError := texts(t, c.Request("tools/call", `{"name":"user_orders","arguments":{"name":"Ann"}}`)); !isError || !strings.Contains(got[0], "not offered any more") {
		t.Errorf("called: %q", got)
	}
}

// TestPrefetchInFlight: an answer does not wait longer than it may. A call that asks for a
// read in flight waits for that one, and one that asks later goes to the server.
func TestPrefetchInFlight(t *testing.T) {
	dir := t.TempDir()
	recording, err := gateway.NewRecording(dir, gateway.RedactSecrets, "")
	if err != nil {
		t.Fatal(err)
	}
	c, _ := inFront(t, folder(t, rules(.3)), compiled.Options{Wait: 50 * time.Millisecond, Seed: heldFirst}, gateway.Options{Recording: recording}, shopServer(t, "shop", "slow"))
	began := time.Now()
	got, _ := texts(t, c.Request("tools/call", `{"name":"find_user","arguments":{"name":"Ann"}}`))
	if took := time.Since(began); len(got) != 1 || took > 300*time.Millisecond {
		t.Errorf("after %v: %q", took, got)
	}
	for range 2 {
		c.Request("tools/call", `{"name":"get_order","arguments":{"order_id":"o3"}}`)
	}
	got, _ = texts(t, c.Request("tools/call", `{"name":"count"}`))
	want(t, "three reads, then o3 again", got[0], `text {"calls":6,"at_once":3}`)
	if n := strings.Count(recordedIn(t, dir), `"answered_by":"prefetch"`); n != 1 {
		t.Errorf("%d calls joined a read in flight, not 1", n)
	}
}

// TestPrefetchBeforeAWrite: a call that asks after a write does not get what a read in
// flight saw before it.
func TestPrefetchBeforeAWrite(t *testing.T) {
	c, _ := inFront(t, folder(t, rules(.3)), compiled.Options{Wait: time.Millisecond, Seed: heldFirst}, gateway.Options{}, shopServer(t, "shop", "slow"))
	c.Request("tools/call", `{"name":"find_user","arguments":{"name":"Ann"}}`)
	c.Request("tools/call", `{"name":"cancel_order","arguments":{"order_id":"o3"}}`)
	c.Request("tools/call", `{"name":"get_order","arguments":{"order_id":"o3"}}`)
	got, _ := texts(t, c.Request("tools/call", `{"name":"count"}`))
	if !strings.HasPrefix(got[0], `text {"calls":7,`) {
		t.Errorf("the call after the write is not made: %s", got[0])
	}
}

// TestPrefetchGoesStale: a rule whose reads nobody asks for any more is withdrawn within
// 50 uses, and one that keeps its promise is not.
func TestPrefetchGoesStale(t *testing.T) {
	dir, o := folder(t, rules(.3)), compiled.Options{Wait: 5 * time.Second, Seed: heldFirst, Memory: t.TempDir()}
	c, l := inFront(t, dir, o, gateway.Options{}, shopServer(t, "shop", "single"))
	use := func(user int, asks bool) {
		c.Request("tools/call", fmt.Sprintf(`{"name":"find_user","arguments":{"name":"u%d"}}`, user))
		if asks {
			c.Request("tools/call", fmt.Sprintf(`{"name":"get_order","arguments":{"order_id":"u%d"}}`, user))
		}
		for range 3 {
			c.Request("tools/call", `{"name":"count"}`)
		}
	}
	for i := range 60 {
		use(i, i%2 == 0)
	}
	if strings.Contains(l.String(), "withdrawn") {
		t.Fatalf("it keeps its promise: %s", l)
	}
	n := 0
	for ; !strings.Contains(l.String(), "prefetch rule withdrawn until its folder is regenerated"); n++ {
		if n == 50 {
			t.Fatal("it is still followed")
		}
		use(100+n, false)
	}
	t.Logf("withdrawn after %d uses: %s", n, l)
	got, _ := texts(t, c.Request("tools/call", `{"name":"find_user","arguments":{"name":"last"}}`))
	if len(got) != 1 {
		t.Errorf("attached: %q", got)
	}
	// Another program remembers, and for other rules it begins anew.
	c, _ = inFront(t, dir, o, gateway.Options{}, shopServer(t, "shop", "single"))
	use(200, false)
	use(201, false)
	got, _ = texts(t, c.Request("tools/call", `{"name":"count"}`))
	want(t, "calls of a program that remembers", got[0], `text {"calls":9,"at_once":0}`)
	c, _ = inFront(t, folder(t, rules(.31)), o, gateway.Options{}, shopServer(t, "shop", "single"))
	use(200, false)
	use(201, false)
	got, _ = texts(t, c.Request("tools/call", `{"name":"count"}`))
	want(t, "calls of one with other rules", got[0], `text {"calls":11,"at_once":1}`)
}
