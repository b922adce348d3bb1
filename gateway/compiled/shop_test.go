package compiled_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/gateway/internal/servetest"
)

func TestMain(m *testing.M) {
	servetest.Main(m, func(kind string) { runShop(strings.TrimPrefix(kind, "shop ")) })
}

// recordedIn returns the recording of the one session that a folder holds.
func recordedIn(t *testing.T, dir string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*", "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%v %v", files, err)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// shopServer returns a shop as a process. kind is a list of words that change it.
func shopServer(t *testing.T, name, kind string) gateway.Server {
	t.Helper()
	return servetest.Process(t, name, "shop "+kind)
}

// shopTools are the definitions of the shop. The second form of get_order wants another
// argument.
func shopTools(kind string, changed bool) string {
	order := `{"name":"get_order","description":"Show an order.","inputSchema":{"type":"object","properties":{"order_id":{"type":"string"}},"required":["order_id"]},"annotations":{"readOnlyHint":true}}`
	if changed || strings.Contains(kind, "drift") {
		order = `{"name":"get_order","description":"Show an order.","inputSchema":{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]},"annotations":{"readOnlyHint":true}}`
	}
	return `[{"name":"find_user","description":"Find a user.","inputSchema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]},"annotations":{"readOnlyHint":true}},` +
		order +
		`,{"name":"cancel_order","description":"Cancel an order.","inputSchema":{"type":"object","properties":{"order_id":{"type":"string"}},"required":["order_id"]}}` +
		`,{"name":"picture","description":"Show a picture.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}` +
		`,{"name":"change","inputSchema":{"type":"object"}},{"name":"count","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]`
}

// runShop is a shop: users with orders. Words of kind: slow (orders take 400 ms), empty
// (no user has orders), single (every user has one order, of the user's name), fail (orders fail), hang (orders are not answered), die (at an
// order), drift (get_order takes another argument).
func runShop(kind string) {
	var mu sync.Mutex
	changed, calls, atOnce, most := false, 0, 0, 0
	send := func(line string) {
		mu.Lock()
		defer mu.Unlock()
		_, _ = os.Stdout.WriteString(line + "\n")
	}
	has := func(word string) bool { return strings.Contains(kind, word) }
	in := bufio.NewReader(os.Stdin)
	for {
		line, err := in.ReadBytes('\n')
		if err != nil {
			return
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name      string
				Arguments map[string]json.RawMessage
			}
		}
		if json.Unmarshal(line, &m) != nil {
			continue
		}
		reply := func(result string) { send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)) }
		text := func(s string) string {
			q, _ := json.Marshal(s)
			return `{"content":[{"type":"text","text":` + string(q) + `}]}`
		}
		switch m.Method {
		case "initialize":
			reply(`{"protocolVersion":"2025-06-18","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"shop","version":"1"}}`)
		case "tools/list":
			reply(`{"tools":` + shopTools(kind, changed) + `}`)
		case "tools/call":
			mu.Lock()
			calls++
			mu.Unlock()
			switch m.Params.Name {
			case "find_user":
				orders := `[{"id":"o1"},{"id":"o2"},{"id":"o3"}]`
				if has("empty") {
					orders = `[]`
				}
				if has("single") {
					orders = `[{"id":` + string(m.Params.Arguments["name"]) + `}]`
				}
				reply(`{"content":[{"type":"text","text":"found"}],"structuredContent":{"big":9007199254740993,"user":{"name":` + string(m.Params.Arguments["name"]) + `},"orders":` + orders + `}}`)
			case "get_order":
				mu.Lock()
				atOnce++
				most = max(most, atOnce)
				mu.Unlock()
				go func() {
					time.Sleep(20 * time.Millisecond)
					if has("slow") {
						time.Sleep(400 * time.Millisecond)
					}
					mu.Lock()
					atOnce--
					mu.Unlock()
					switch {
					case has("die"):
						os.Exit(3)
					case has("hang"):
					case has("fail"):
						reply(`{"content":[{"type":"text","text":"no such order"}],"isError":true}`)
					default:
						var id string
						_ = json.Unmarshal(m.Params.Arguments["order_id"], &id)
						reply(text(`{"order":` + string(m.Params.Arguments["order_id"]) + `,"items":[1,2]}`))
					}
				}()
			case "cancel_order":
				reply(text(`{"cancelled":` + string(m.Params.Arguments["order_id"]) + `}`))
			case "picture":
				reply(`{"content":[{"type":"text","text":"look"},{"type":"image","data":"aGk=","mimeType":"image/png"},{"type":"hologram","of":1}]}`)
			case "count":
				mu.Lock()
				n, m := calls, most
				mu.Unlock()
				reply(text(fmt.Sprintf(`{"calls":%d,"at_once":%d}`, n, m)))
			case "change":
				changed = true
				send(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`)
				reply(text("changed"))
			}
		default:
			if len(m.ID) > 0 {
				reply(`{}`)
			}
		}
	}
}
