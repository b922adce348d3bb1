package cmd

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// relayLines writes the recordings of a relay.
type relayLines struct {
	b       strings.Builder
	session string
	ms      int
}

func (r *relayLines) line(wait int, peer, direction, rest, message string) {
	r.ms += wait
	fmt.Fprintf(&r.b, `{"time":"2026-01-02T10:%02d:%02d.%03dZ","session":%q,"direction":%q,"peer":%q%s,"message":{"jsonrpc":"2.0",%s}}`+"\n",
		r.ms/60_000, r.ms/1000%60, r.ms%1000, r.session, direction, peer, rest, message)
}

// call writes a call with its answer, 20 ms later.
func (r *relayLines) call(wait int, peer, rest string, id int, tool, args, result string) {
	r.line(wait, peer, "client", rest, fmt.Sprintf(`"id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}`, id, tool, args))
	r.line(20, peer, "server", "", fmt.Sprintf(`"id":%d,"result":{"content":[],"structuredContent":%s}`, id, result))
}

// servedSessions are sessions in which an agent looks up a user and then his orders: by
// one call of a meta-tool in those from the index alone on.
func servedSessions(t *testing.T, n, alone int) string {
	t.Helper()
	const definition = `{"name":%q,"inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`
	dir := t.TempDir()
	for i := range n {
		r := relayLines{session: fmt.Sprintf("s%d", i)}
		tools, about := fmt.Sprintf(definition+","+definition, "find_user", "get_orders"), `,"awo":{"version":"1"}`
		if i >= alone {
			tools, about = tools+","+fmt.Sprintf(definition, "find_user_then_get_orders"), `,"awo":{"version":"1","meta_tools":["find_user_then_get_orders"]}`
		}
		r.line(0, "agent", "client", about, `"id":1,"method":"tools/list"`)
		r.line(1, "agent", "server", "", `"id":1,"result":{"tools":[`+tools+`]}`)
		name, user := fmt.Sprintf(`{"name":"person-%d"}`, 37*i+11), fmt.Sprintf(`{"user_id":"usr-%d"}`, 48213+7919*i)
		orders := fmt.Sprintf(`{"orders":["ord-%d"]}`, 1000+i)
		if i < alone {
			r.call(2000, "agent", "", 2, "find_user", name, user)
			r.call(2000, "agent", "", 3, "get_orders", user, orders)
		} else {
			within := `,"within":{"request":2,"as":"meta-tool","by":"find_user_then_get_orders"}`
			r.line(2000, "agent", "client", "", fmt.Sprintf(`"id":2,"method":"tools/call","params":{"name":"find_user_then_get_orders","arguments":%s}`, name))
			r.call(1, "upstream:shop", within, 1, "find_user", name, user)
			r.call(1, "upstream:shop", within, 2, "get_orders", user, orders)
			r.line(1, "agent", "server", "", `"id":2,"result":{"content":[{"type":"text","text":"{}"}]}`)
		}
		if err := os.WriteFile(filepath.Join(dir, r.session+".jsonl"), []byte(r.b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestExtractFromRecordings finds a meta-tool in recordings of a relay, and again, as
// the same, when nearly all sessions were served it.
func TestExtractFromRecordings(t *testing.T) {
	extract := func(dir string, args ...string) (tools []string, support, served int) {
		t.Helper()
		c := exec.CommandContext(t.Context(), "awo", append([]string{"extract", ".", "--threshold", "5", "--quiet", "--format", "json"}, args...)...)
		c.Dir = dir
		text, err := c.Output()
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		var out struct {
			Tables struct {
				MetaTools struct {
					Rows []struct {
						Name    string `json:"name"`
						Support int    `json:"support"`
						Served  int    `json:"support_served"`
					}
				} `json:"meta_tools"`
			}
		}
		if err := json.Unmarshal(text, &out); err != nil {
			t.Fatal(err)
		}
		for _, m := range out.Tables.MetaTools.Rows {
			tools, support, served = append(tools, m.Name), m.Support, m.Served
		}
		return tools, support, served
	}
	before, after := servedSessions(t, 22, 22), servedSessions(t, 22, 3)
	if tools, support, served := extract(before); len(tools) != 1 || tools[0] != "find_user_then_get_orders" || support != 22 || served != 0 {
		t.Errorf("made one by one: %v in %d sessions, %d of them served", tools, support, served)
	}
	if tools, support, served := extract(after); len(tools) != 1 || tools[0] != "find_user_then_get_orders" || support != 22 || served != 19 {
		t.Errorf("served: %v in %d sessions, %d of them served", tools, support, served)
	}
	if tools, _, _ := extract(after, "--expand=false"); len(tools) != 0 {
		t.Errorf("three sessions give %v", tools)
	}
}
