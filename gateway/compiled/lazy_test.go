package compiled_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/gateway/compiled"
	"github.com/awo-dev/awo/gateway/internal/servetest"
)

// listed returns the names that are listed.
func listed(t *testing.T, c *servetest.Client) (names []string) {
	t.Helper()
	var m struct {
		Result struct{ Tools []struct{ Name string } }
	}
	if err := json.Unmarshal([]byte("{"+c.Request("tools/list", `{}`)+"}"), &m); err != nil {
		t.Fatal(err)
	}
	for _, tool := range m.Result.Tools {
		names = append(names, tool.Name)
	}
	return names
}

func TestLazyCall(t *testing.T) {
	dir := t.TempDir()
	recording, err := gateway.NewRecording(dir, gateway.RedactSecrets, "")
	if err != nil {
		t.Fatal(err)
	}
	c, _ := inFront(t, folder(t, nil, orders("")), compiled.Options{Lazy: compiled.LazyCall, Pin: []string{"find_user"}, Mark: true}, gateway.Options{Recording: recording}, shopServer(t, "shop", ""))
	if got := listed(t, c); !slices.Equal(got, []string{"find_user", "user_orders", "tool_register", "tool_call"}) {
		t.Errorf("listed: %v", got)
	}
	list := c.Request("tools/list", `{}`)
	if strings.Count(list, `"anthropic/alwaysLoad":true`) != 2 || !strings.Contains(list, "Tools: cancel_order, change, count, get_order, picture") {
		t.Errorf("list: %s", list)
	}
	got, _ := texts(t, c.Request("tools/call", `{"name":"tool_register","arguments":{"name":"get_order"}}`))
	want(t, "definition", got[0], `text {"description":"Show an order.","name":"get_order","parameters":{"properties":{"order_id":{"type":"string"}},"required":["order_id"],"type":"object"}}`)
	got, _ = texts(t, c.Request("tools/call", `{"name":"tool_call","arguments":{"name":"get_order","arguments":{"order_id":"o7"}}}`))
	want(t, "call", got[0], `text {"order":"o7","items":[1,2]}`)
	got, isError := texts(t, c.Request("tools/call", `{"name":"tool_call","arguments":{"name":"user_orders","arguments":{"name":"Ann"}}}`))
	if isError || !strings.Contains(got[0], `"o3"`) {
		t.Errorf("a meta-tool by tool_call: %q", got)
	}
	for _, call := range []string{`{"name":"tool_call","arguments":{"name":"count","arguments":{}}}`, `{"name":"count","arguments":{}}`} {
		got, isError = texts(t, c.Request("tools/call", call))
		if !isError || got[0] != `text The tool count is not registered, and was not called. Call tool_register with {"name": "count"} first: it answers the definition.` {
			t.Errorf("not registered: %q", got)
		}
	}
	got, isError = texts(t, c.Request("tools/call", `{"name":"tool_call","arguments":{"name":"get_ordr","arguments":{}}}`))
	if !isError || got[0] != "text There is no tool get_ordr. Did you mean get_order?" {
		t.Errorf("unknown: %q", got)
	}
	recorded := recordedIn(t, dir)
	for _, line := range []string{`"method":"tools/call","params":{"name":"get_order","arguments":{"order_id":"o7"}}`, `"method":"tools/call","params":{"name":"user_orders","arguments":{"name":"Ann"}}`} {
		if !strings.Contains(string(recorded), line) {
			t.Errorf("the recording has not the call itself: %s\n%s", line, recorded)
		}
	}
}

func TestLazyList(t *testing.T) {
	c, _ := inFront(t, folder(t, nil, orders("")), compiled.Options{Lazy: compiled.LazyList}, gateway.Options{}, shopServer(t, "shop", ""))
	if got := listed(t, c); !slices.Equal(got, []string{"user_orders", "tool_register", "tool_call"}) {
		t.Errorf("listed: %v", got)
	}
	c.Heard = nil
	c.Request("tools/call", `{"name":"tool_register","arguments":{"name":"count"}}`)
	if got := listed(t, c); !slices.Equal(got, []string{"count", "user_orders", "tool_register", "tool_call"}) {
		t.Errorf("listed: %v", got)
	}
	if len(c.Heard) != 1 || !strings.Contains(c.Heard[0], "tools/list_changed") {
		t.Errorf("heard: %s", c.Heard)
	}
}

// first finds the tool count for every query, and says that find_user may come first.
type first struct{}

func (first) Index(definitions []json.RawMessage, traced func(string) string) func(string) compiled.Hits {
	return func(query string) compiled.Hits {
		return compiled.Hits{Found: []string{traced("mcp__shop__" + query)}, First: []string{"find_user", "gone"}}
	}
}

func TestLazySearch(t *testing.T) {
	c, _ := inFront(t, folder(t, nil, orders("")), compiled.Options{Lazy: compiled.LazySearch, Search: first{}}, gateway.Options{}, shopServer(t, "shop", ""))
	if got := listed(t, c); !slices.Equal(got, []string{"user_orders", "search_tools", "tool_call"}) {
		t.Errorf("listed: %v", got)
	}
	call := `{"name":"tool_call","arguments":{"name":"count","arguments":{}}}`
	if got, isError := texts(t, c.Request("tools/call", call)); !isError || !strings.Contains(got[0], "Call search_tools with a query first") {
		t.Errorf("before the search: %q", got)
	}
	got, isError := texts(t, c.Request("tools/call", `{"name":"search_tools","arguments":{"query":"count"}}`))
	if isError || !strings.HasPrefix(got[0], `text {"tools":[{"description":`) || !strings.Contains(got[0], `"name":"count"`) || !strings.Contains(got[0], `"may_come_first":[{`) {
		t.Errorf("found: %q", got)
	}
	if got, isError := texts(t, c.Request("tools/call", call)); isError {
		t.Errorf("after the search: %q", got)
	}
}

func TestHideAndSubset(t *testing.T) {
	c, _ := inFront(t, folder(t, nil, orders("")), compiled.Options{Hide: []string{"get_order"}}, gateway.Options{}, shopServer(t, "shop", ""))
	if got := listed(t, c); slices.Contains(got, "get_order") || !slices.Contains(got, "count") {
		t.Errorf("listed: %v", got)
	}
	file := filepath.Join(t.TempDir(), "subset.default.allow.json")
	if err := os.WriteFile(file, []byte(`{"schema":"awo.tool-allow-list/v1","allowed_tools":["count","mcp__shop__picture"],"servers":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	subset, err := compiled.ReadSubset(file)
	if err != nil {
		t.Fatal(err)
	}
	c, _ = inFront(t, folder(t, nil, orders("")), compiled.Options{Subset: subset}, gateway.Options{}, shopServer(t, "shop", ""))
	if got := listed(t, c); !slices.Equal(got, []string{"picture", "count", "user_orders"}) {
		t.Errorf("listed: %v", got)
	}
}

// TestControl: the control arm gets the servers' tools alone.
func TestControl(t *testing.T) {
	dir := t.TempDir()
	recording, err := gateway.NewRecording(dir, gateway.RedactSecrets, "")
	if err != nil {
		t.Fatal(err)
	}
	tools := folder(t, rules(.3), orders(""))
	for i := range 24 {
		so := gateway.Options{Recording: recording, Experiment: gateway.Experiment{Share: .5, Seed: 7}}
		c, _ := inFront(t, tools, compiled.Options{Lazy: compiled.LazyCall}, so, shopServer(t, "shop", ""))
		got := listed(t, c)
		files, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
		if err != nil || len(files) != i+1 {
			t.Fatalf("%v %v", files, err)
		}
		control := 0
		for _, f := range files {
			data, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(data), `"arm":"control"`) {
				control++
				if strings.Contains(string(data), `"name":"tool_register"`) {
					t.Errorf("the control arm has the layer")
				}
			}
		}
		if i == 23 && (control < 4 || control > 20) {
			t.Errorf("%d of 24 in control", control)
		}
		if slices.Contains(got, "tool_register") == slices.Contains(got, "count") {
			t.Errorf("listed: %v", got)
		}
	}
}
