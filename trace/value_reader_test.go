package trace

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// TestValueReader reads one call after the other with one reader: each is what it
// is by itself, and stays that while others are read.
func TestValueReader(t *testing.T) {
	long := `[` + strings.Repeat(`{"a":[1,2,"x\\ny"]},`, 3000) + `null]`
	texts := []string{
		`{"b":1,"a":{"c":[1,2,{"d":"e"}]}}`, `{"a":"\u00e9\"quoted\""}`, `[1,[2,[3]]]`, long, `"{\"inner\":\"{\\\"x\\\":1}\"}"`, `not json`, `{"broken":`, `7`, `""`, ``, `null`,
	}
	var calls []Call
	for _, text := range texts {
		quoted := NewString(text).AppendCanonical(nil)
		calls = append(calls,
			Call{Args: TextOf(text), Result: TextOf(text), HasResult: true},
			Call{Args: Raw{Data: quoted, Form: FormString}, Result: Raw{Data: quoted, Form: FormString}, HasResult: true},
			Call{Result: Raw{Data: []byte(`[{"type":"text","text":` + string(quoted) + `}]`), Form: FormParts}, HasResult: true},
			Call{HasResult: true},
			Call{},
		)
	}
	var r ValueReader
	type read struct {
		args, result     Value
		argsOK, resultOK bool
	}
	all := make([]read, len(calls))
	for i := range calls {
		all[i].args, all[i].argsOK = r.Args(&calls[i])
		all[i].result, all[i].resultOK = r.Result(&calls[i])
	}
	for i := range calls {
		if v, ok := calls[i].ArgsValue(); ok != all[i].argsOK || !v.Equal(all[i].args) {
			t.Errorf("the arguments of call %d are another value", i)
		}
		if v, ok := calls[i].ResultValue(); ok != all[i].resultOK || !v.Equal(all[i].result) {
			t.Errorf("the result of call %d is another value", i)
		}
	}
}

// TestArgsAreReadOnce has arguments that are read before it is known what they are be
// what looking first says.
func TestArgsAreReadOnce(t *testing.T) {
	texts := []string{
		`{"b":1,"a":2}`, `{"a":1,"a":2}`, ` {"a":1}`, `{"a":1} `, `{"a":1}x`, `{"a":`, `{`, `{}`, `[{"a":1}]`, `"{\"a\":1}"`, `"{\"a\":"`, `null`, ``, `x`, `{"a":"\ud800"}`, "{\"a\":\"\xff\"}",
		strings.Repeat(`{"a":`, 1001) + `1` + strings.Repeat(`}`, 1001), `{"` + strings.Repeat("n", 3000) + `":[1,2]}`,
	}
	for _, text := range texts {
		for _, args := range []Raw{TextOf(text), {Data: jsonscan.AppendQuoted(nil, ValidText([]byte(text))), Form: FormString}} {
			call := Call{Args: args}
			var want Value
			text, state := args.ArgsText(nil)
			switch state {
			case ArgsObject:
				want, _ = ParseValue(text)
			case ArgsJSON:
				v, _ := ParseValue(text)
				want = Value{Kind: Object, Members: []Member{{Name: "_value", Value: v}}}
			default:
				want = Value{Kind: Object, Members: []Member{{Name: "_raw", Value: Value{Kind: String, Text: ValidText(text)}}}}
			}
			got, ok := call.ArgsValue()
			if !got.Equal(want) || ok != (state == ArgsObject) {
				t.Errorf("%.40q is %v (%v), want %v", text, got, ok, want)
			}
			if canonical := string(call.AppendCanonicalArgs([]byte("x"))); canonical != "x"+string(want.AppendCanonical(nil)) {
				t.Errorf("%.40q is written as %.80q", text, canonical)
			}
		}
	}
}

// BenchmarkValueReader reads values as tools take and return them, with a reader
// that is kept and one at a time.
func BenchmarkValueReader(b *testing.B) {
	for _, test := range []struct{ name, text string }{
		{"arguments", `{"access_token":"token-81","order_id":"W-4411","quantity":2}`},
		{"record", `{"id":"W-4411","status":"open","customer":{"id":"c-17","name":"Ana Diaz"},"lines":[{"sku":"A-1","n":2,"price":4.5},{"sku":"B-7","n":1,"price":11}],"notes":["call back","a \"gift\""],"total":20.0}`},
	} {
		call := Call{Args: Raw{Data: NewString(test.text).AppendCanonical(nil), Form: FormString}}
		b.Run(test.name+"/kept", func(b *testing.B) {
			b.SetBytes(int64(len(test.text)))
			b.ReportAllocs()
			var r ValueReader
			for b.Loop() {
				r.Args(&call)
			}
		})
		b.Run(test.name+"/alone", func(b *testing.B) {
			b.SetBytes(int64(len(test.text)))
			b.ReportAllocs()
			for b.Loop() {
				call.ArgsValue()
			}
		})
	}
}

func TestTextArena(t *testing.T) {
	var a TextArena
	var got, want []string
	for i := range 500 {
		s := strings.Repeat(fmt.Sprint(i, "é"), i%60)
		want = append(want, s)
		got = append(got, a.Add([]byte(s)))
	}
	if !slices.Equal(got, want) {
		t.Error("strings changed")
	}
}

// jsonString returns s as a JSON string token.
func jsonString(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return b
}

func quoted(s string) Raw { return Raw{Data: jsonString(s), Form: FormString} }

func TestArgs(t *testing.T) {
	object := `{"b":1,"a":"x"}`
	for _, test := range []struct {
		name string
		args Raw
		want string
		ok   bool
	}{
		{"object", JSONOf([]byte(` {"b": 1, "a": "x"} `)), `{"a":"x","b":1}`, true},
		{"quoted object", quoted(object), `{"a":"x","b":1}`, true},
		{"text object", TextOf(object), `{"a":"x","b":1}`, true},
		{"quoted twice", quoted(string(jsonString(object))), `{"a":"x","b":1}`, true},
		{"quoted thrice", quoted(string(jsonString(string(jsonString(object))))), `{"_value":"\"{\\\"b\\\":1,\\\"a\\\":\\\"x\\\"}\""}`, false},
		{"array", JSONOf([]byte(`[1, 2.0]`)), `{"_value":[1,2.0]}`, false},
		{"quoted array", quoted(`[1,{"b":2,"a":1}]`), `{"_value":[1,{"a":1,"b":2}]}`, false},
		{"null", JSONOf([]byte(`null`)), `{"_value":null}`, false},
		{"quoted number", quoted(`12`), `{"_value":12}`, false},
		{"string value", quoted(`"x"`), `{"_value":"x"}`, false},
		{"no JSON", quoted(`{"a": `), `{"_raw":"{\"a\": "}`, false},
		{"empty text", quoted(``), `{"_raw":""}`, false},
		{"free text", TextOf("*** Begin Patch\n\"x\""), `{"_raw":"*** Begin Patch\n\"x\""}`, false},
		{"trailing", quoted(`{"a":1}}`), `{"_raw":"{\"a\":1}}"}`, false},
		{"bad bytes", TextOf("a\xff\xfeb"), "{\"_raw\":\"a\ufffd\ufffdb\"}", false},
		{"missing", Raw{}, `{}`, false},
		{"recorded _raw", JSONOf([]byte(`{"_raw":"x"}`)), `{"_raw":"x"}`, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Call{Args: test.args}
			if got := string(c.AppendCanonicalArgs([]byte("f"))); got != "f"+test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			v, ok := c.ArgsValue()
			if got := string(v.AppendCanonical(nil)); got != test.want || ok != test.ok || v.Kind != Object {
				t.Errorf("value %s %v, want %s %v", got, ok, test.want, test.ok)
			}
		})
	}
}

func TestResultValue(t *testing.T) {
	for _, test := range []struct {
		name   string
		result Raw
		want   string // canonical; empty: no value
	}{
		{"object", JSONOf([]byte(`{"b":1,"a":2}`)), `{"a":2,"b":1}`},
		{"scalar", JSONOf([]byte(`12.50`)), `12.5`},
		{"quoted object", quoted(` {"b":1,"a":[2]} `), `{"a":[2],"b":1}`},
		{"quoted array", quoted(`[1]`), `[1]`},
		{"quoted twice", quoted(string(jsonString(`[1]`))), `[1]`},
		{"text", quoted("Error: no such user"), `"Error: no such user"`},
		{"text like a number", quoted("0042"), `"0042"`},
		{"a number stays text", quoted("42"), `"42"`},
		{"empty", quoted(""), `""`},
		{"python", quoted("{'a': 1}"), `"{'a': 1}"`},
		{"parts", Raw{Data: []byte(`[{"type":"text","text":"{\"a\":"},{"type":"image"},{"type":"text","text":"1}"}]`), Form: FormParts}, `{"a":1}`},
		{"absent", Raw{}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := Call{Result: test.result, HasResult: true}
			v, ok := c.ResultValue()
			if ok != (test.want != "") {
				t.Fatalf("ok is %v", ok)
			}
			if ok && string(v.AppendCanonical(nil)) != test.want {
				t.Errorf("got %s, want %s", v.AppendCanonical(nil), test.want)
			}
			c.HasResult = false
			if _, ok := c.ResultValue(); ok {
				t.Error("a call without a result has a value")
			}
		})
	}
}

func TestRawText(t *testing.T) {
	parts := `[ "one", {"type":"text","text":"tw\u006f"}, {"type":"image_url","image_url":{"url":"x"}}, {"type":"refusal","refusal":"no"}, 7, {"text":null} ]`
	for _, test := range []struct {
		raw  Raw
		want string
	}{
		{Raw{}, ""},
		{TextOf("a\\n"), "a\\n"},
		{quoted("a\n\"é😀"), "a\n\"é😀"},
		{Raw{Data: []byte(`"\ud83d\ude00\ud800\u00e9\/"`), Form: FormString}, "😀\ufffdé/"},
		{quoted("plain"), "plain"},
		{JSONOf([]byte(`{"a": 1}`)), `{"a": 1}`},
		{Raw{Data: []byte(parts), Form: FormParts}, "one\ntwo\nno"},
		{Raw{Data: []byte(`[]`), Form: FormParts}, ""},
	} {
		if got := test.raw.Text(); got != test.want {
			t.Errorf("%s: %q, want %q", test.raw.Data, got, test.want)
		}
		if got := string(test.raw.AppendText([]byte("-"))); got != "-"+test.want {
			t.Errorf("%s: appended %q, want %q", test.raw.Data, got, test.want)
		}
		if got := test.raw.TextLen(); got != len(test.want) {
			t.Errorf("%s: length %d, want %d", test.raw.Data, got, len(test.want))
		}
		if test.raw.IsEmpty() != (test.want == "") {
			t.Errorf("%s: empty is %v", test.raw.Data, test.raw.IsEmpty())
		}
	}
}

func TestTextAllocations(t *testing.T) {
	plain, escaped := quoted(strings.Repeat("a long answer, ", 20)), quoted(strings.Repeat("line\n", 20))
	if n := testing.AllocsPerRun(100, func() { _ = plain.Text() }); n > 1 {
		t.Errorf("%v allocations for plain text", n)
	}
	buffer := make([]byte, 0, 1000)
	if n := testing.AllocsPerRun(100, func() { buffer = escaped.AppendText(buffer[:0]) }); n > 0 {
		t.Errorf("%v allocations to append", n)
	}
	call := Call{Args: quoted(`{"b":{"y":1.50,"x":"é\n"},"a":[1,2]}`)}
	if n := testing.AllocsPerRun(100, func() { buffer = call.AppendCanonicalArgs(buffer[:0]) }); n > 0 {
		t.Errorf("%v allocations for canonical arguments", n)
	}
}

func TestTaskKey(t *testing.T) {
	user := func(r Raw) Message { return Message{Role: RoleUser, Text: r} }
	a := Trajectory{ID: "a", Messages: []Message{{Role: RoleSystem, Text: TextOf("policy")}, user(quoted("book a flight\n")), user(quoted("no"))}}
	b := Trajectory{ID: "b", Messages: []Message{user(TextOf("book a flight\n"))}}
	if a.TaskKey() != b.TaskKey() || a.TaskKey() == "" || a.TaskKey() == "a" {
		t.Errorf("the same first words give the tasks %q and %q", a.TaskKey(), b.TaskKey())
	}
	other := Trajectory{ID: "c", Messages: []Message{user(TextOf("book a flight"))}}
	if other.TaskKey() == a.TaskKey() {
		t.Error("other words give the same task")
	}
	a.Task = "airline/7"
	if a.TaskKey() != "airline/7" {
		t.Errorf("task %q", a.TaskKey())
	}
	called := func(id, args string) string {
		return (&Trajectory{ID: id, Messages: []Message{user(Raw{})}, Calls: []Call{{Tool: Intern("get"), Args: JSONOf([]byte(args))}}}).TaskKey()
	}
	if called("d", `{"a":1,"b":2}`) != called("e", `{"b":2, "a":1}`) || called("d", `{"a":1}`) == called("d", `{"a":2}`) {
		t.Error("without words the task is not what was called")
	}
}

func TestParseTime(t *testing.T) {
	for _, test := range []struct{ text, want string }{ // in RFC 3339; empty: refused
		{"2025-12-02T14:04:06.448688", "2025-12-02T14:04:06.448688Z"},
		{"2025-12-02 14:04:06", "2025-12-02T14:04:06Z"},
		{"2025-12-02T14:04", "2025-12-02T14:04:00Z"},
		{"2025-12-02T14:04:06Z", "2025-12-02T14:04:06Z"},
		{"2025-12-02T14:04:06.1+02:00", "2025-12-02T12:04:06.1Z"},
		{"2025-12-02T00:04:06-0530", "2025-12-02T05:34:06Z"},
		{"2025-12-31T23:04:06-01", "2026-01-01T00:04:06Z"},
		{"2024-02-29T00:00:00.123456789123Z", "2024-02-29T00:00:00.123456789Z"},
		{"2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"},
		{"2025-12-02", ""},
		{"2025-02-29T00:00:00Z", ""},
		{"2025-13-01T00:00:00Z", ""},
		{"2025-00-10T00:00:00Z", ""},
		{"2025-12-00T00:00:00Z", ""},
		{"2025-12-02T24:00:00Z", ""},
		{"2025-12-02T14:60:06Z", ""},
		{"2025-12-02T14:04:61Z", ""},
		{"2025-12-02T14:04:06.Z", ""},
		{"2025-12-02T14:04:06Zulu", ""},
		{"2025-12-02T14:04:06+25:00", ""},
		{"2025-12-02T14:04:06+0", ""},
		{"20251202T140406Z", ""},
		{"yesterday", ""},
		{"", ""},
	} {
		got, ok := ParseTime(test.text)
		if ok != (test.want != "") || ok && got.Format(time.RFC3339Nano) != test.want {
			t.Errorf("%s: %v %v, want %s", test.text, got.Format(time.RFC3339Nano), ok, test.want)
		}
		fromBytes, okBytes := ParseTime([]byte(test.text))
		if fromBytes != got || okBytes != ok {
			t.Errorf("%s: %v from bytes", test.text, fromBytes)
		}
	}
}

func FuzzParseTime(f *testing.F) {
	f.Add("2025-12-02T14:04:06.448688+02:00")
	f.Add("2025-12-02 14:04")
	f.Fuzz(func(t *testing.T, text string) {
		at, ok := ParseTime(text)
		std, err := time.Parse(time.RFC3339Nano, text)
		if err == nil && len(text) > 0 && text[10] == 'T' && (!ok || !at.Equal(std)) {
			t.Fatalf("%q: %v %v, the standard library reads %v", text, at, ok, std)
		}
		if ok && at.Location() != time.UTC {
			t.Fatalf("%q: not in UTC", text)
		}
	})
}
