package gateway_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/gateway/internal/servetest"
)

// forgetful is a server over HTTP whose sessions end when a test wants it. It counts the
// calls that it made, and those of sessions that are no more.
type forgetful struct {
	mu       sync.Mutex
	sessions int
	made     map[string]int
	refused  int
	left     []string                  // sessions that were ended by their agent
	streams  int                       // that were cut off
	gone     func(http.ResponseWriter) // answers a session that has ended
}

func (f *forgetful) current() string { return fmt.Sprintf("session-%d", f.sessions) }

func (f *forgetful) forget() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.sessions++
}

func (f *forgetful) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	given := r.Header.Get("Mcp-Session-Id")
	if r.Method == http.MethodDelete {
		f.left = append(f.left, given)
		return
	}
	if last := r.Header.Get("Last-Event-Id"); r.Method == http.MethodGet && last != "" {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = fmt.Fprintf(w, "data: {\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"content\":[],\"resumed\":true}}\n\n", last)
		return
	}
	body, err := io.ReadAll(r.Body)
	var m struct {
		ID     json.RawMessage
		Method string
		Params struct{ Name string }
	}
	if err != nil || r.Method != http.MethodPost || json.Unmarshal(body, &m) != nil {
		w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	if m.Method == "initialize" {
		f.sessions++
		time.Sleep(5 * time.Millisecond) // in which others call
		w.Header().Set("Mcp-Session-Id", f.current())
	} else if given != f.current() {
		f.refused++
		f.gone(w)
		return
	}
	result := ""
	switch m.Method {
	case "initialize":
		result = `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"forgetful","version":"1"}}`
	case "tools/list":
		result = `{"tools":[{"name":"look","annotations":{"readOnlyHint":true}},{"name":"write"},{"name":"cut"}]}`
	case "tools/call":
		f.made[m.Params.Name]++
		if m.Params.Name == "cut" {
			f.streams++
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = fmt.Fprintf(w, "id: %s\nretry: 1\n\n", m.ID)
			return
		}
		result = `{"content":[]}`
	default:
		w.WriteHeader(http.StatusAccepted)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, m.ID, result)
}

// TestSessionGone: a server that has ended the session gets a new one. A call that only
// reads is made again, a write never.
func TestSessionGone(t *testing.T) {
	for name, gone := range map[string]func(http.ResponseWriter){
		"404": func(w http.ResponseWriter) { http.Error(w, "no such session", http.StatusNotFound) },
		"400 and an error that answers nothing": func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: no valid session ID"},"id":null}`)
		},
	} {
		t.Run(name, func(t *testing.T) { testSessionGone(t, gone) })
	}
}

// TestServerIsDown: a call of a server over HTTP that has gone is a result that a model
// can read.
func TestServerIsDown(t *testing.T) {
	f := &forgetful{made: map[string]int{}}
	s := httptest.NewServer(f)
	c := servetest.Relay(t, gateway.Options{}, gateway.Server{Name: "far", URL: s.URL + "?key=in-the-address"})
	c.Begin()
	s.Close()
	if got := c.Request("tools/call", `{"name":"look"}`); !strings.Contains(got, `"isError":true`) || !strings.Contains(got, "server far") || strings.Contains(got, "in-the-address") {
		t.Errorf("got %s", got)
	}
}

func testSessionGone(t *testing.T, gone func(http.ResponseWriter)) {
	f := &forgetful{made: map[string]int{}, gone: gone}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	t.Run("session", func(t *testing.T) {
		c := servetest.Relay(t, gateway.Options{}, gateway.Server{Name: "far", URL: s.URL})
		c.Begin()
		want(t, "before", c.Request("tools/call", `{"name":"write"}`), `"result":{"content":[]}`)
		f.forget()
		want(t, "a read", c.Request("tools/call", `{"name":"look"}`), `"result":{"content":[]}`)
		f.forget()
		if got := c.Request("tools/call", `{"name":"write"}`); !strings.Contains(got, "was not made again") || !strings.Contains(got, `"isError":true`) {
			t.Errorf("a write gives %s", got)
		}
		want(t, "a write in the new session", c.Request("tools/call", `{"name":"write"}`), `"result":{"content":[]}`)
		f.forget()
		for i := range 10 { // at once: one of them begins the session
			c.Send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"c%d","method":"tools/call","params":{"name":"look"}}`, i))
		}
		answered := map[string]bool{}
		for len(answered) < 10 {
			var m struct {
				ID     string
				Result json.RawMessage
			}
			if err := json.Unmarshal([]byte(c.Next()), &m); err != nil {
				t.Fatal(err)
			}
			if m.ID != "" {
				answered[m.ID] = true
				want(t, m.ID, string(m.Result), `{"content":[]}`)
			}
		}
	})
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.made["write"] != 2 || f.made["look"] != 11 || f.sessions != 7 || f.refused < 3 || fmt.Sprint(f.left) != "[session-7]" {
		t.Errorf("calls %v, %d sessions of which three were forgotten, %d requests refused, left %q", f.made, f.sessions, f.refused, f.left)
	}
}

// TestResumed: a stream that the server ends before the answer is asked for again where it
// ended, and the call is made once.
func TestResumed(t *testing.T) {
	f := &forgetful{made: map[string]int{}}
	s := httptest.NewServer(f)
	t.Cleanup(s.Close)
	c := servetest.Relay(t, gateway.Options{}, gateway.Server{Name: "far", URL: s.URL})
	c.Begin()
	want(t, "the call", c.Request("tools/call", `{"name":"cut"}`), `"result":{"content":[],"resumed":true}`)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.made["cut"] != 1 {
		t.Errorf("the call was made %d times", f.made["cut"])
	}
}
