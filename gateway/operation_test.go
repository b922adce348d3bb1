package gateway_test

import (
	"bytes"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/gateway/internal/servetest"
)

// TestOperation: calls are counted and logged without values, and the state can be asked.
func TestOperation(t *testing.T) {
	var access syncBuffer
	g := gateway.New([]gateway.Server{server(t, "odd", "odd")}, gateway.Options{
		Metrics: gateway.NewMetrics(), Access: slog.New(slog.NewJSONHandler(&access, nil)), Version: "v1",
	})
	admin := httptest.NewServer(g.Admin())
	defer admin.Close()
	get := func(path string) (int, string) {
		t.Helper()
		r, err := admin.Client().Get(admin.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(b)
	}
	c := servetest.Join(t, g)
	c.Begin()
	c.Request("tools/call", `{"name":"echo","arguments":{"a":"a secret value"}}`)
	c.Request("tools/call", `{"name":"fail"}`)
	c.Request("tools/call", `{"name":"a secret name"}`)
	c.Request("tools/call", `{"name":"die"}`)
	c.Request("tools/call", `{"name":"empty"}`)
	_, metrics := get("/metrics")
	for _, line := range []string{
		`awo_call_seconds_count{method="tools/call",outcome="ok",server="odd"} 2`, `awo_call_seconds_count{method="tools/call",outcome="error",server="odd"} 1`,
		`awo_call_seconds_count{method="tools/call",outcome="error",server="awo"} 1`, `awo_call_seconds_count{method="tools/call",outcome="failed",server="odd"} 1`,
		`awo_server_ends_total{server="odd"} 1`,
	} {
		if !strings.Contains(metrics, line) {
			t.Errorf("no %s in\n%s", line, metrics)
		}
	}
	log := access.String()
	if n := strings.Count(log, `"method":"tools/call"`); n != 5 || !strings.Contains(log, `"name":"echo"`) || strings.Contains(log, "secret") {
		t.Errorf("%d calls in\n%s", n, log)
	}
	if code, got := get("/healthz"); code != 200 || got != "ok\n" {
		t.Errorf("healthz: %d %s", code, got)
	}
	if code, got := get("/readyz"); code != 200 {
		t.Errorf("readyz: %d %s", code, got)
	}
	if _, got := get("/status"); !strings.Contains(got, `"server":"odd","ready":true`) || !strings.Contains(got, `"version":"v1"`) {
		t.Errorf("status: %s", got)
	}
}

// TestNotReady: a gateway whose server is missing in all sessions is not ready.
func TestNotReady(t *testing.T) {
	g := gateway.New([]gateway.Server{{Name: "none", Command: "/nonexistent/server"}}, gateway.Options{})
	c := servetest.Join(t, g)
	c.Begin()
	w := httptest.NewRecorder()
	g.Admin().ServeHTTP(w, httptest.NewRequest("GET", "/readyz", nil))
	if w.Code != 503 {
		t.Errorf("readyz: %d", w.Code)
	}
}

// TestPolicy: what a policy denies is neither listed nor called, from when it is set, and
// what it asks for is called once the user allows it.
func TestPolicy(t *testing.T) {
	g := gateway.New([]gateway.Server{server(t, "odd", "odd")}, gateway.Options{Policy: &gateway.Policy{Ask: []string{"ech*"}}})
	c := servetest.Join(t, g)
	c.Begin()
	c.Request("tools/call", `{"name":"empty"}`)
	ask := func(action string) string {
		c.Send(`{"jsonrpc":"2.0","id":"asked","method":"tools/call","params":{"name":"echo","arguments":{"password":"hunter22"}}}`)
		q := c.Next()
		if !strings.Contains(q, "wants to call echo with") || strings.Contains(q, "hunter22") {
			t.Errorf("the question is %s", q)
		}
		id, _, _ := strings.Cut(strings.TrimPrefix(q, `{"jsonrpc":"2.0","id":`), ",")
		c.Send(`{"jsonrpc":"2.0","id":` + id + `,"result":{"action":"` + action + `"}}`)
		return c.Answer(`"asked"`)
	}
	want(t, "allowed", ask("accept"), `"result":{"content":[],"seen":{"name":"echo","arguments":{"password":"hunter22"}}}`)
	if got := ask("decline"); !strings.Contains(got, "the user did not allow it") {
		t.Errorf("declined: %s", got)
	}
	g.SetPolicy(&gateway.Policy{Deny: []string{"echo"}, Allow: []string{"e*"}})
	if got := c.Request("tools/list", `{}`); strings.Contains(got, `"echo"`) || strings.Contains(got, `"fail"`) || !strings.Contains(got, `"empty"`) {
		t.Errorf("listed: %.300s", got)
	}
	for _, tool := range []string{"echo", "fail"} {
		if got := c.Request("tools/call", `{"name":"`+tool+`"}`); !strings.Contains(got, "the policy does not allow it") {
			t.Errorf("%s: %s", tool, got)
		}
	}
}

func TestParsePolicy(t *testing.T) {
	p, problems := gateway.ParsePolicy("p.yaml", []byte("policy: pinned\nallow: [\"a_*\"]\ndisabled:\n  - user_orders\n"))
	if problems.Err() != nil || p.Pins != "pinned" || len(p.Allow) != 1 || p.Disabled[0] != "user_orders" {
		t.Errorf("%+v %v", p, problems)
	}
	_, problems = gateway.ParsePolicy("p.yaml", []byte("policy: closed\ndeny: \"x\"\nask: [\"[\"]\nallows: []\n"))
	if len(problems) != 4 {
		t.Errorf("%d problems: %v", len(problems), problems)
	}
}

// TestPins: what servers say of their tools is pinned when it is first seen; a definition
// that changed is logged, and withheld where the policy says so, until it is approved.
func TestPins(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pins.json")
	run := func(policy, use string, o gateway.Options) (string, string) {
		t.Helper()
		pins, err := gateway.ReadPins(file)
		if err != nil {
			t.Fatal(err)
		}
		var log syncBuffer
		o.Pins, o.Policy, o.Log = pins, &gateway.Policy{Pins: policy}, slog.New(slog.NewTextHandler(&log, nil))
		c := servetest.Relay(t, o, server(t, "odd", "odd"))
		c.Begin()
		return c.Request("tools/call", `{"name":"`+use+`"}`), log.String()
	}
	if got, log := run("pinned", "empty", gateway.Options{}); got != `"result":{}` || log != "" {
		t.Errorf("at first: %s %s", got, log)
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	at := bytes.Index(data, []byte(`"empty": "`)) + len(`"empty": "`)
	copy(data[at:], "0000") // as if it had been another one
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if got, log := run("warn", "empty", gateway.Options{}); got != `"result":{}` || !strings.Contains(log, "not the approved one") || !strings.Contains(log, "tool=empty") {
		t.Errorf("warn: %s %s", got, log)
	}
	if got, _ := run("pinned", "empty", gateway.Options{}); !strings.Contains(got, "--approve") {
		t.Errorf("pinned: %s", got)
	}
	if got, log := run("open", "empty", gateway.Options{}); got != `"result":{}` || log != "" {
		t.Errorf("open: %s %s", got, log)
	}
	pins, err := gateway.ReadPins(file)
	if err != nil {
		t.Fatal(err)
	}
	before, refused := pinned(t, file), map[string]string{}
	_, checked := gateway.New([]gateway.Server{server(t, "odd", "odd"), server(t, "new", "odd")}, gateway.Options{Pins: pins, Policy: &gateway.Policy{Pins: "pinned", Deny: []string{"odd_f*"}}}).Check(t.Context())
	for _, tool := range checked {
		if tool.Refused != "" {
			refused[tool.Shown] = tool.Refused
		}
	}
	if len(refused) != 2 || refused["odd_fail"] != gateway.NotAllowed || !strings.Contains(refused["odd_empty"], "--approve") || pinned(t, file) != before {
		t.Errorf("a check refuses %v, or pins", refused)
	}
	_, tools := gateway.New([]gateway.Server{server(t, "odd", "odd")}, gateway.Options{}).Check(t.Context())
	if err := pins.Approve(tools); err != nil {
		t.Fatal(err)
	}
	if got, log := run("pinned", "empty", gateway.Options{}); got != `"result":{}` || log != "" {
		t.Errorf("approved: %s %s", got, log)
	}
}

// pinned returns a file of pins.
func pinned(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
