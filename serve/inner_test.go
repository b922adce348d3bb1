package serve

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"io"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func testRedactor() redactor { return redactor{hmac.New(sha256.New, []byte("0123456789abcdef"))} }

func TestRedact(t *testing.T) {
	r := testRedactor()
	key, id := r.hashed("sk-live-1234567890"), r.hashed("6f1c2b3a-9d8e-4f70-8a1b-2c3d4e5f6071")
	for name, tc := range map[string]struct{ message, want string }{
		"argument": {
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"api_key":"plain","q":"sk-live-1234567890"},"_meta":{"progressToken":5}}}`,
			`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"api_key":"` + r.hashed("plain") + `","q":"` + key + `"},"_meta":{"progressToken":5}}}`,
		},
		"names of the protocol among arguments": {
			`{"params":{"arguments":{"name":"sk-live-1234567890","_meta":{"token":"x"}}}}`,
			`{"params":{"arguments":{"name":"` + key + `","_meta":{"token":"` + r.hashed("x") + `"}}}}`,
		},
		"text":   {`{"result":{"content":[{"type":"text","text":"use sk-live-1234567890, then TOKEN=abc."}]}}`, `{"result":{"content":[{"type":"text","text":"use ` + key + `, then TOKEN=` + r.hashed("abc") + `."}]}}`},
		"JSON":   {`{"result":{"content":[{"type":"text","text":"{\"password\":\"x\",\"n\":9007199254740993}"}]}}`, `{"result":{"content":[{"type":"text","text":"{\"password\":\"` + r.hashed("x") + `\",\"n\":9007199254740993}"}]}}`},
		"equal":  {`{"result":{"structuredContent":{"id":"6f1c2b3a-9d8e-4f70-8a1b-2c3d4e5f6071","big":1e400}}}`, `{"result":{"structuredContent":{"id":"` + id + `","big":1e400}}}`},
		"number": {`{"params":{"arguments":{"pin":1234}}}`, `{"params":{"arguments":{"pin":` + string(r.number([]byte("1234"))) + `}}}`},
		"error":  {`{"error":{"code":1,"message":"no access with sk-live-1234567890"}}`, `{"error":{"code":1,"message":"no access with ` + key + `"}}`},
	} {
		if got := string(r.message([]byte(tc.message))); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tc.want)
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"params":{"arguments":{"token":"a","b":[{"c":"{\"secret\":1}"}]}},"result":{"content":[{"text":"[1"}]}}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		got := testRedactor().message(message)
		if !json.Valid(got) {
			t.Errorf("no JSON: %s", got)
		}
	})
}

func TestEvents(t *testing.T) {
	var got []string
	if err := events(strings.NewReader("event: x\ndata: {\"a\":\ndata: 1}\n\n: comment\nid: 5\r\ndata:two\r\n\r\ndata: not ended"), func(d []byte) { got = append(got, string(d)) }); err != nil {
		t.Fatal(err)
	}
	if want := "{\"a\":\n1}|two"; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := events(strings.NewReader("data: "+strings.Repeat("x", maxMessage+100)), func([]byte) {}); err == nil {
		t.Error("an event may be as long as it likes")
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: {}\n\ndata: x\r\n\r\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		sum := 0
		_ = events(bytes.NewReader(stream), func(d []byte) { sum += len(d) })
		if sum > len(stream) {
			t.Errorf("%d bytes of data in %d", sum, len(stream))
		}
	})
}

// FuzzLines: whatever a server writes, its connection gives messages or ends.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\nlistening\n\n{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"a\":1e400}}\n{\"jso"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		l := newLines(bytes.NewReader(stream), discard{})
		for n := 0; ; n++ {
			if _, err := l.Read(t.Context()); err != nil {
				return
			}
			if n > len(stream) {
				t.Fatal("more messages than bytes")
			}
		}
	})
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }

// TestLongLine: a message that is too long is dropped, and the next one read.
func TestLongLine(t *testing.T) {
	dropped := 0
	long := `{"jsonrpc":"2.0","id":1,"result":{"a":"` + strings.Repeat("x", maxMessage) + `"}}` + "\n"
	l := newLines(io.MultiReader(strings.NewReader(long), strings.NewReader(`{"jsonrpc":"2.0","method":"after"}`+"\n")), discard{})
	l.dropped = func() { dropped++ }
	if _, err := l.Read(t.Context()); err != nil || dropped != 1 {
		t.Errorf("%v, %d dropped", err, dropped)
	}
	if _, err := l.Read(t.Context()); err != io.EOF {
		t.Errorf("the end is %v", err)
	}
}

// FuzzReplaced: replacing a value keeps an object's other bytes, and nothing panics.
func FuzzReplaced(f *testing.F) {
	f.Add([]byte(` { "name" : "a" , "b":[1e400,{"name":2}] , "name":"c" } `), "name")
	f.Fuzz(func(t *testing.T, object []byte, name string) {
		got := replaced(object, name, []byte(`"new"`))
		if start, end, ok := span(object, name); ok && json.Valid(object) {
			if want := string(object[:start]) + `"new"` + string(object[end:]); string(got) != want || text(member(got, name)) != "new" {
				t.Errorf("got %s", got)
			}
		}
	})
}

// FuzzStateless: whatever an agent without sessions asks, and whatever comes of it, what it
// gets is JSON, and one answer at most.
func FuzzStateless(f *testing.F) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"elicitation":{}},"progressToken":[1]}`
	f.Add("tools/call", []byte(`{"name":"a",`+meta+`}`), []byte(`{"content":[],"_meta":{"x":1e400}}`))
	f.Add("subscriptions/listen", []byte(`{"notifications":{"toolsListChanged":true,"resourceSubscriptions":["a",1]},`+meta+`}`), []byte(`{}`))
	f.Add("resources/read", []byte(`{"uri":"a","requestState":"awo-","inputResponses":{"q":{}},`+meta+`}`), []byte(` { } `))
	f.Fuzz(func(t *testing.T, method string, params, result []byte) {
		if !json.Valid(params) || !json.Valid(result) {
			return // of these no message is made
		}
		a := newStateless(New(nil, Options{}), "", true)
		answers := 0
		cancel := a.receive(&jsonrpc.Request{ID: numberID(7), Method: method, Params: params}, func(m jsonrpc.Message, last bool) {
			if last {
				answers++
			}
			if data, err := jsonrpc.EncodeMessage(m); err != nil || !json.Valid(data) {
				t.Errorf("%v: %s", err, data)
			}
		})
		var own jsonrpc.ID
		for range 3 { // initialize, the request, and what else there is
			a.mu.Lock()
			var next jsonrpc.Message
			if len(a.queue) > 0 {
				next, a.queue = a.queue[0], a.queue[1:]
			}
			a.mu.Unlock()
			request, ok := next.(*jsonrpc.Request)
			if !ok || !request.IsCall() {
				break
			}
			if request.Method != "initialize" {
				own = request.ID
				question, _ := jsonrpc.MakeID("awo-1")
				_ = a.Send(&jsonrpc.Request{Method: "notifications/progress", Params: params}, own)
				if len(result)%2 == 0 {
					_ = a.Send(&jsonrpc.Request{ID: question, Method: "elicitation/create", Params: result}, own)
				}
			}
			_ = a.Send(&jsonrpc.Response{ID: request.ID, Result: result}, request.ID)
		}
		cancel()
		_ = a.Close()
		if answers > 1 {
			t.Errorf("%d answers", answers)
		}
	})
}

// FuzzWith: an object with one more member is an object, and without it nothing of that
// name is left.
func FuzzWith(f *testing.F) {
	f.Add([]byte(` {"a":1, "io.x":{"b":2}} `), "c")
	f.Add([]byte(`{}`), "")
	f.Fuzz(func(t *testing.T, object []byte, name string) {
		if !json.Valid(object) || !utf8.Valid(object) || !isObject(object) || !utf8.ValidString(name) {
			return
		}
		got := with(object, name, []byte("7"))
		if !json.Valid(got) || string(member(got, name)) != "7" {
			t.Errorf("with %q: %s", name, got)
		}
		if less := without(got, name); !json.Valid(less) || member(less, name) != nil {
			t.Errorf("without %q: %s", name, less)
		}
	})
}
