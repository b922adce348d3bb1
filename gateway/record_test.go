package gateway_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/gateway"
)

// TestRecordingShared: clients that share a session over HTTP have a recording each, under
// their own names, and definitions in it though they never ask for any.
func TestRecordingShared(t *testing.T) {
	dir := t.TempDir()
	recording, err := gateway.NewRecording(dir, gateway.RedactWords, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Run("session", func(t *testing.T) {
		url := handle(t, gateway.New([]gateway.Server{server(t, "odd", "odd")}, gateway.Options{Recording: recording}), gateway.HTTPOptions{})
		for i := range 6 {
			client := []string{"one", "two", "two"}[i%3]
			thread := []string{"a", "a", "b"}[i%3]
			params := fmt.Sprintf(`{"name":"steps","arguments":{"of":"private %s"},"_meta":{%s,"threadId":%q,"progressToken":%d}}`, client, strings.Replace(meta, `"new"`, `"`+client+`"`, 1), thread, i)
			status, _, got := post(t, url, "", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":%s}`, i, params), "Mcp-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/call", "Mcp-Name", "steps")
			if status != 200 || !strings.Contains(got, `"content":[]`) {
				t.Fatalf("call %d: %d %s", i, status, got)
			}
		}
	})
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
	if err != nil || len(files) != 3 {
		t.Fatalf("%q, %v", files, err)
	}
	var who []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var first struct {
			Session string
			Awo     struct {
				Client     struct{ Name string }
				Unit_ID    string
				IDs        map[string]string
				Incomplete bool
			}
		}
		line, _, _ := strings.Cut(string(data), "\n")
		if err := json.Unmarshal([]byte(line), &first); err != nil {
			t.Fatal(err)
		}
		a := first.Awo
		who = append(who, a.Client.Name+" "+a.IDs["threadId"])
		if !strings.HasPrefix(first.Session, a.Unit_ID) || strings.Count(string(data), `"method":"tools/call"`) != 2 || strings.Count(string(data), "notifications/progress") != 10 ||
			!strings.Contains(string(data), `"readOnlyHint":true`) || strings.Contains(string(data), "private") || a.Incomplete {
			t.Errorf("%s: %s", file, data)
		}
		for _, other := range []string{"one", "two"} {
			if other != a.Client.Name && strings.Contains(string(data), `"name":"`+other+`"`) {
				t.Errorf("%s has something of %s", file, other)
			}
		}
	}
	slices.Sort(who)
	if fmt.Sprint(who) != "[one a two a two b]" {
		t.Errorf("recordings of %q", who)
	}
}
