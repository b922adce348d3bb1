package gateway

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func testRedactor(what Redact) redactor {
	return newRedactor(&Recording{redact: what, key: []byte("0123456789abcdef"), digits: []byte("0123456789abcdef")}, nil)
}

func TestRedact(t *testing.T) {
	r := testRedactor(RedactSecrets)
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

// TestRedactKnown: values that the configuration says are secrets never stand in a
// recording, whatever they look like.
func TestRedactKnown(t *testing.T) {
	r := newRedactor(&Recording{redact: RedactSecrets, key: []byte("0123456789abcdef")}, []Server{{Secrets: []string{"correct horse"}}})
	for message, times := range map[string]int{
		`{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"it is correct horse, or {\"a\":[\"correct horse\"]}"}],"structuredContent":{"note":"correct horse"}}}`: 3,
		`{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","description":"with correct horse","_meta":{"pin":1234}}],"nextCursor":"correct horse"}}`:                           2,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"x://correct horse","_meta":{"k":["correct horse"]}}}`:                                                   2,
	} {
		got := string(r.message([]byte(message)))
		if strings.Contains(got, "horse") || strings.Count(got, "redacted-") != times || strings.Contains(message, "1234") != strings.Contains(got, "1234") {
			t.Errorf("got %s", got)
		}
	}
}

// TestEmptyKey: a key file that somebody was stopped from writing is written again.
func TestEmptyKey(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, ownKey), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if r, err := NewRecording(dir, RedactSecrets, ""); err != nil || len(r.key) != 32 {
			t.Fatalf("%v", err)
		}
	}
}

// TestRedactWords: nothing that a user or a server wrote stays, and all that a recording is
// read by.
func TestRedactWords(t *testing.T) {
	r := testRedactor(RedactWords)
	definitions := `{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"find","description":"Find people.","inputSchema":{"type":"object","properties":{"Kind2":{"enum":["public"]}}}}]}}`
	if got := string(r.message([]byte(definitions))); got != definitions {
		t.Errorf("definitions become %s", got)
	}
	word := func(s string) string { return r.words.Text(s) }
	for name, tc := range map[string]struct{ message, want string }{
		"call": {
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"find","arguments":{"who":"Ada","kind":"public","Kind2":7,"n":12345},"_meta":{"progressToken":"p","claudecode/toolUseId":"toolu_1","io.modelcontextprotocol/protocolVersion":"2026-07-28","vendor/cwd":"/of/ada"}}}`,
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"find","arguments":{"Kind2":7,"kind":"public","n":` + word("12345") + `,"who":"` + word("Ada") + `"},"_meta":{"progressToken":"p","claudecode/toolUseId":"toolu_1","io.modelcontextprotocol/protocolVersion":"2026-07-28","vendor/cwd":"` + word("/of/ada") + `"}}}`,
		},
		"blocks": {
			`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{\"ada\": \"Ada L.\"}"},{"type":"resource_link","uri":"file:///ada","name":"ada"}],"structuredContent":{"Ada B":1},"isError":false}}`,
			`{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{\"ada\":\"` + word("Ada L.") + `\"}"},{"type":"resource_link","uri":"` + word("file:///ada") + `","name":"` + word("ada") + `"}],"structuredContent":{"` + word("Ada B") + `":1},"isError":false}}`,
		},
		"error":    {`{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"no Ada","data":{"who":"Ada"}}}`, `{"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"` + word("no Ada") + `","data":{"who":"` + word("Ada") + `"}}}`},
		"progress": {`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":100,"total":200,"message":"Ada"}}`, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":100,"total":200,"message":"` + word("Ada") + `"}}`},
		"question": {`{"jsonrpc":"2.0","id":"awo-1","method":"elicitation/create","params":{"message":"Is it Ada?"}}`, `{"jsonrpc":"2.0","id":"awo-1","method":"elicitation/create","params":{"message":"` + word("Is it Ada?") + `"}}`},
	} {
		if got := string(r.message([]byte(tc.message))); got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", name, got, tc.want)
		}
	}
}

func FuzzRedact(f *testing.F) {
	f.Add([]byte(`{"jsonrpc":"2.0","id":1,"params":{"arguments":{"token":"a","b":[{"c":"{\"secret\":1}"}]}},"result":{"content":[{"text":"[1"}]}}`))
	f.Fuzz(func(t *testing.T, message []byte) {
		for _, what := range []Redact{RedactSecrets, RedactWords} {
			if got := testRedactor(what).message(message); !json.Valid(got) {
				t.Errorf("%s: no JSON: %s", what, got)
			}
		}
	})
}

func TestEvents(t *testing.T) {
	var got []string
	if err := events(strings.NewReader("event: message\ndata: {\"a\":\ndata: 1}\n\n: comment\nid: 5\r\nretry: 20\r\ndata:two\r\n\r\nevent: ping\ndata: {}\n\nid: 6\n\ndata: not ended"), DefaultMaxMessage, func(e event) {
		got = append(got, fmt.Sprintf("%s %s %s", e.id, e.retry, e.data))
	}); err != nil {
		t.Fatal(err)
	}
	if want := " 0s {\"a\":\n1}|5 20ms two|6 0s "; strings.Join(got, "|") != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := events(strings.NewReader("data: "+strings.Repeat("x", DefaultMaxMessage+100)), DefaultMaxMessage, func(event) {}); err == nil {
		t.Error("an event may be as long as it likes")
	}
}

func FuzzEvents(f *testing.F) {
	f.Add([]byte("data: {}\n\ndata: x\r\n\r\n"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		sum := 0
		_ = events(bytes.NewReader(stream), DefaultMaxMessage, func(e event) { sum += len(e.data) })
		if sum > len(stream) {
			t.Errorf("%d bytes of data in %d", sum, len(stream))
		}
	})
}

// FuzzLines: whatever a server writes, its connection gives messages or ends.
func FuzzLines(f *testing.F) {
	f.Add([]byte("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\nlistening\n\n{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{\"a\":1e400}}\n{\"jso"))
	f.Fuzz(func(t *testing.T, stream []byte) {
		l := newLines("the server", bytes.NewReader(stream), discard{}, DefaultMaxMessage)
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

// full is a file on a disk that has room for so many bytes.
type full struct {
	data []byte
	room int
}

func (f *full) Write(p []byte) (int, error) {
	n := min(len(p), f.room-len(f.data))
	f.data = append(f.data, p[:n]...)
	if n < len(p) {
		return n, errors.New("no space left on device")
	}
	return n, nil
}

func (f *full) WriteAt(p []byte, at int64) (int, error) {
	if int(at)+len(p) > len(f.data) {
		return 0, errors.New("no space left on device")
	}
	return copy(f.data[at:], p), nil
}

func (f *full) Truncate(n int64) error {
	f.data = f.data[:n]
	return nil
}

func (f *full) Close() error { return nil }

// TestFullDisk: a recording that could not be written to its end has whole lines, and says
// in the first one that others are missing.
func TestFullDisk(t *testing.T) {
	for _, room := range []int{0, 100, 1000, 1500} {
		f := &full{room: room}
		r := &Recording{dir: t.TempDir(), redact: RedactNothing, now: time.Now, create: func(string) (file, error) { return f, nil }}
		g := New(nil, Options{Recording: r})
		c := r.begin(g.newSession(nobody{}))
		for i := range 20 {
			c.record("client", &jsonrpc.Request{ID: numberID(int64(i)), Method: "ping", Params: json.RawMessage(`{"a":"` + strings.Repeat("x", 50) + `"}`)}, nil)
		}
		c.close()
		lines := bytes.SplitAfter(f.data, []byte("\n"))
		if last := lines[len(lines)-1]; len(last) > 0 {
			t.Errorf("%d bytes: the last line is %q", room, last)
		}
		if room < 1000 {
			continue // not even one line
		}
		var first struct{ Awo struct{ Incomplete bool } }
		if err := json.Unmarshal(lines[0], &first); err != nil || !first.Awo.Incomplete || len(lines) < 3 {
			t.Errorf("%d bytes: %v, %d lines, the first is %s", room, err, len(lines), lines[0])
		}
	}
}

// TestLongLine: a message that is too long is not read, its id is found at either end, and
// the next message is read.
func TestLongLine(t *testing.T) {
	const limit = 20 << 10
	long := strings.Repeat("x", limit)
	for line, want := range map[string]string{
		`{"jsonrpc":"2.0","id":7,"result":{"id":1,"a":"` + long + `"}}`:          "7",
		`{"result":{"a":"` + long + `","id":1},"id":8,"jsonrpc":"2.0"}`:          "8",
		`{"jsonrpc":"2.0","result":{"a":"` + long + `","id":1}, "id" : 9 }`:      "9",
		`{"jsonrpc":"2.0","result":{"id":"` + long + `","b":"id\": 1}"},"c":[]}`: "null",
		`listening ` + long: "null",
	} {
		var got []string
		l := newLines("the server", strings.NewReader(line+"\n"+`{"jsonrpc":"2.0","method":"after"}`+"\n"), discard{}, limit)
		l.long = func(id jsonrpc.ID, err error) {
			got = append(got, string(appendID(nil, id)))
			if !strings.Contains(err.Error(), "--max-message") {
				t.Errorf("the error is %v", err)
			}
		}
		if _, err := l.Read(t.Context()); err != nil || len(got) != 1 || got[0] != want {
			t.Errorf("%.60s: %v, ids %q, not %s", line, err, got, want)
		}
		if _, err := l.Read(t.Context()); err != io.EOF {
			t.Errorf("the end is %v", err)
		}
	}
}

// TestNoise: lines that are no message are skipped, however many there are.
func TestNoise(t *testing.T) {
	n := 0
	l := newLines("the server", strings.NewReader(strings.Repeat("listening on port 1\n", 1000)+`{"jsonrpc":"2.0","method":"after"}`+"\n"), discard{}, DefaultMaxMessage)
	l.noise = func() { n++ }
	if m, err := l.Read(t.Context()); err != nil || m.(*jsonrpc.Request).Method != "after" || n != 1000 {
		t.Errorf("%v, %v after %d lines", m, err, n)
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
			a.box.mu.Lock()
			var next jsonrpc.Message
			if len(a.box.items) > 0 {
				next, a.box.items = a.box.items[0], a.box.items[1:]
			}
			a.box.mu.Unlock()
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
