package serve

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
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
	if err := events(strings.NewReader("event: message\ndata: {\"a\":\ndata: 1}\n\n: comment\nid: 5\r\nretry: 20\r\ndata:two\r\n\r\nevent: ping\ndata: {}\n\nid: 6\n\ndata: not ended"), func(e event) {
		got = append(got, fmt.Sprintf("%s %s %s", e.id, e.retry, e.data))
	}); err != nil {
		t.Fatal(err)
	}
	if want := " 0s {\"a\":\n1}|5 20ms two|6 0s "; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := events(strings.NewReader("data: "+strings.Repeat("x", maxMessage+100)), func(event) {}); err == nil {
		t.Error("an event may be as long as it likes")
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: {}\n\ndata: x\r\n\r\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		sum := 0
		_ = events(bytes.NewReader(stream), func(e event) { sum += len(e.data) })
		if sum > len(stream) {
			t.Errorf("%d bytes of data in %d", sum, len(stream))
		}
	})
}

// FuzzLines: whatever a server writes, its connection gives messages or ends.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\nlistening\n\n{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"a\":1e400}}\n{\"jso"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		l := newLines("the server", bytes.NewReader(stream), discard{})
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

// TestMessage: what was read is written as it was, whatever the SDK's types can hold.
func TestMessage(t *testing.T) {
	for in, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"a","params":{"n":1e400}}`:                        "",
		`{"jsonrpc":"2.0","id":9007199254740993,"method":"a"}`:                              "",
		`{"jsonrpc":"2.0","id":1.5,"method":"a","params":[ 1 ]}`:                            "",
		`{"jsonrpc":"2.0","id":"\u00001","method":"a"}`:                                     "",
		`{"jsonrpc":"2.0","id":"","result":{"a":"<\u2028>"}}`:                               "",
		`{"jsonrpc":"2.0","id":-3,"result":null}`:                                           "",
		`{"jsonrpc":"2.0","id":1,"error":{"code":-32099,"message":"<x>","data":{"n":1.0}}}`: "",
		`{"jsonrpc":"2.0","method":"a","params":{}}`:                                        "",
		"{\"jsonrpc\":\"2.0\",\r\n \"id\":1,\"result\":{\n\t\"a\":1,\r\n\"b\":2}}":          "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{ \t\"a\":1,  \"b\":2}}",
		`{"id":1,"id":2,"jsonrpc":"2.0","result":1,"result":2,"own":3}`:                     `{"jsonrpc":"2.0","id":2,"result":2}`,
		`{"jsonrpc":"2.0","id":1,"error":null,"result":{}}`:                                 `{"jsonrpc":"2.0","id":1,"result":{}}`,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}":                                "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":\"\xff\"}",
	} {
		m, err := decode([]byte(in))
		if err != nil {
			t.Errorf("%s: %v", in, err)
			continue
		}
		if got := string(encode(m)); got != cmp.Or(want, in) {
			t.Errorf("%s becomes %s", in, got)
		}
	}
	for _, in := range []string{``, `{}`, `[]`, `null`, `{"jsonrpc":"2.0"}`, `{"jsonrpc":"1.0","method":"a"}`, `{"jsonrpc":"2.0","method":1}`, `{"jsonrpc":"2.0","id":[],"method":"a"}`, `{"jsonrpc":"2.0","id":null,"result":{}}`, `{"jsonrpc":"2.0","id":1,"result":{}`, `{"jsonrpc":"2.0","id":1,"error":3}`} {
		if m, err := decode([]byte(in)); err == nil {
			t.Errorf("%s is taken for %+v", in, m)
		}
	}
	if all, err := batch([]byte(` [{"jsonrpc":"2.0","method":"a"},{"jsonrpc":"2.0","id":1,"result":{}}]`)); err != nil || len(all) != 2 {
		t.Errorf("a batch gives %v, %v", all, err)
	}
}

// FuzzMessage: a message that the SDK reads is read alike, and what is written is one line
// of JSON that gives the same message again.
func FuzzMessage(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"method":"a","params":{"n":1e400}}`))
	f.Add([]byte(`{"jsonrpc":"2.0","id":"\u0000","error":{"code":1,"message":"","data":[1,{"a":null}]}}`))
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":12345678901234567890,\n\"result\":[ 1,\n2]}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := decode(data)
		if theirs, fails := jsonrpc.DecodeMessage(data); (err == nil) != (fails == nil) {
			t.Fatalf("%v, and the SDK says %v", err, fails)
		} else if err == nil && reflect.TypeOf(m) != reflect.TypeOf(theirs) {
			t.Fatalf("%T, and the SDK says %T", m, theirs)
		}
		if err != nil {
			return
		}
		line := encode(m)
		if bytes.ContainsAny(line, "\r\n") || utf8.Valid(data) && !json.Valid(line) {
			t.Fatalf("no line of JSON: %s", line)
		}
		if !utf8.Valid(data) {
			return // what names and texts become then is not said
		}
		again, err := decode(line)
		if err != nil || !bytes.Equal(encode(again), line) {
			t.Fatalf("%s gives %v, %v", line, again, err)
		}
	})
}

// TestLongLine: a message that is too long is dropped, and the next one read.
func TestLongLine(t *testing.T) {
	dropped := 0
	long := `{"jsonrpc":"2.0","id":1,"result":{"a":"` + strings.Repeat("x", maxMessage) + `"}}` + "\n"
	l := newLines("the server", io.MultiReader(strings.NewReader(long), strings.NewReader(`{"jsonrpc":"2.0","method":"after"}`+"\n")), discard{})
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
			if data := encode(m); !json.Valid(data) {
				t.Errorf("no JSON: %s", data)
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
