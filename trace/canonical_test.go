package trace

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/diag"
)

func canonicalOf(t testing.TB, text string) string {
	t.Helper()
	v, err := ParseValue([]byte(text))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	built := string(v.AppendCanonical(nil))
	direct, err := AppendCanonical([]byte("label"), []byte(text))
	if err != nil || string(direct) != "label"+built {
		t.Fatalf("%q: %s directly (%v), %s when built", text, direct, err, built)
	}
	return built
}

// TestCanonicalKnown compares with what Python 3.12's json.dumps(json.loads(text),
// sort_keys=True, separators=(",", ":"), ensure_ascii=False) has printed, but for
// the last group.
func TestCanonicalKnown(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{` { "b" : 1 , "a" : [ true , false , null ] } `, `{"a":[true,false,null],"b":1}`},
		{`{"a":1,"b":2,"a":3}`, `{"a":3,"b":2}`},
		{`{"b":0,"a":1,"b":{"y":1,"x":2,"y":3}}`, `{"a":1,"b":{"x":2,"y":3}}`},
		{`{}`, `{}`},
		{`[]`, `[]`},
		{`[[],{}]`, `[[],{}]`},
		{`{"é":1,"z":2,"😀":3,"\uffff":4,"":5,"a\u0000":6,"a":7}`, "{\"\":5,\"a\":7,\"a\\u0000\":6,\"z\":2,\"é\":1,\"\uffff\":4,\"😀\":3}"},
		{`{"\\":1,"[":2,"]":3,"\"":4,"!":5,"#":6}`, `{"!":5,"\"":4,"#":6,"[":2,"\\":1,"]":3}`},
		{`"<a href='x'>&\/\u00e9\u2028\u007f\u0001\b\f\n\r\t\"\\"`, "\"<a href='x'>&/é\u2028\x7f\\u0001\\b\\f\\n\\r\\t\\\"\\\\\""},
		{`"\ud83d\ude00"`, `"😀"`},
		{`0`, `0`},
		{`-0`, `0`},
		{`-1`, `-1`},
		{`12345678901234567890123456789`, `12345678901234567890123456789`},
		{`1.0`, `1.0`},
		{`1e0`, `1.0`},
		{`1.50`, `1.5`},
		{`-0.0`, `-0.0`},
		{`0e9`, `0.0`},
		{`1E5`, `100000.0`},
		{`1E+15`, `1000000000000000.0`},
		{`1e16`, `1e+16`},
		{`123456789012345678.0`, `1.2345678901234568e+17`},
		{`9999999999999998.0`, `9999999999999998.0`},
		{`0.0001`, `0.0001`},
		{`0.00001`, `1e-05`},
		{`1.5e-7`, `1.5e-07`},
		{`5e-324`, `5e-324`},
		{`1e-400`, `0.0`},
		{`-1e-400`, `-0.0`},
		{`0.1`, `0.1`},
		{`0.30000000000000004`, `0.30000000000000004`},
		{`0.1000000000000000055511151231257827`, `0.1`},
		{`1.7976931348623157e308`, `1.7976931348623157e+308`},
		// What Python cannot write as JSON.
		{`1e400`, `1e400`},
		{`-1.0E+400`, `-1.0e+400`},
		{`"\ud83d"`, "\"\ufffd\""},
		{`{"\ud800":1,"\udfff":2}`, "{\"\ufffd\":2}"},
	} {
		if got := canonicalOf(t, test.text); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.text, got, test.want)
		}
	}
}

// TestFloatsRoundTrip holds the form of numbers against the standard library's
// parser: a fraction or an exponent, and the same double.
func TestFloatsRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		f := math.Float64frombits(r.Uint64())
		if r.IntN(2) == 0 {
			f = r.NormFloat64() * math.Pow(10, float64(r.IntN(40)-20))
		}
		if math.IsNaN(f) || math.IsInf(f, 0) {
			continue
		}
		text := string(AppendFloat(nil, f))
		back, err := strconv.ParseFloat(text, 64)
		if err != nil || math.Float64bits(back) != math.Float64bits(f) || !strings.ContainsAny(text, ".e") {
			t.Fatalf("%v became %s", f, text)
		}
		if again := string(appendNumber(nil, []byte(text))); again != text {
			t.Fatalf("%s became %s", text, again)
		}
		if len(text) > len(strconv.FormatFloat(f, 'g', -1, 64))+12 {
			t.Fatalf("%v is not in the shortest form: %s", f, text)
		}
	}
}

// drawJSON draws a JSON text and one of the same value with the members of its
// objects in another order and other white space and escapes.
func drawJSON(t *rapid.T, depth int) (text, other string) {
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	space := func() string { return rapid.SampledFrom([]string{"", "", " ", "\n\t"}).Draw(t, "space") }
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		text = rapid.SampledFrom([]string{"true", "false", "null"}).Draw(t, "word")
		return text, text
	case 1:
		text = rapid.SampledFrom([]string{"0", "-0", "7", "1.0", "1e3", "2.50", "12345678901234567890", "1e999", "-0.0"}).Draw(t, "number")
		return text, text
	case 2, 3:
		return drawString(t)
	case 4:
		text, other = "[", "["
		for i := range rapid.IntRange(0, 3).Draw(t, "elements") {
			if i > 0 {
				text, other = text+",", other+","
			}
			a, b := drawJSON(t, depth-1)
			text, other = text+a, other+space()+b+space()
		}
		return text + "]", other + "]"
	}
	var members, others []string
	names := map[string]bool{}
	for range rapid.IntRange(0, 11).Draw(t, "members") {
		name, otherName := drawString(t)
		var plain string
		if err := json.Unmarshal([]byte(name), &plain); err != nil {
			t.Fatal(err)
		}
		a, b := drawJSON(t, depth-1)
		if names[plain] {
			continue // the order of repeated names matters
		}
		names[plain] = true
		members = append(members, name+":"+a)
		others = append(others, otherName+space()+":"+space()+b)
	}
	others = rapid.Permutation(others).Draw(t, "order")
	return "{" + strings.Join(members, ",") + "}", "{" + strings.Join(others, space()+",") + "}"
}

// drawString draws two tokens of the same string.
func drawString(t *rapid.T) (token, other string) {
	content := rapid.StringOfN(rapid.RuneFrom([]rune("ab\"\\/\n\x00é’😀\uffff{}[]:,")), 0, 6, -1).Draw(t, "string")
	b, err := json.Marshal(content)
	if err != nil {
		t.Fatal(err)
	}
	var escaped strings.Builder
	for _, r := range content {
		if r > 0xFFFF {
			escaped.WriteRune(r)
		} else {
			fmt.Fprintf(&escaped, `\u%04X`, r)
		}
	}
	return string(b), `"` + escaped.String() + `"`
}

func TestCanonicalProperties(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		text, other := drawJSON(rt, 3)
		canonical := canonicalOf(t, text)
		if again := canonicalOf(t, canonical); again != canonical {
			rt.Fatalf("not idempotent: %s becomes %s", canonical, again)
		}
		if got := canonicalOf(t, other); got != canonical {
			rt.Fatalf("%s is %s, but %s is %s", text, canonical, other, got)
		}
		v, err := ParseValue([]byte(text))
		if err != nil {
			rt.Fatal(err)
		}
		w, err := ParseValue([]byte(other))
		if err != nil || !v.Equal(w) {
			rt.Fatalf("%s and %s are not equal (%v)", text, other, err)
		}
	})
}

func TestLookup(t *testing.T) {
	v, err := ParseValue([]byte(`{"b":1,"a":{"x":"y"},"é":null,"b":2}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Members) != 3 {
		t.Errorf("members %v", v.Members)
	}
	if b, ok := v.Lookup("b"); !ok || b.Kind != Number || b.Text != "2" {
		t.Errorf("b is %v, %v", b, ok)
	}
	if a, ok := v.Lookup("a"); !ok || a.Kind != Object {
		t.Errorf("a is %v, %v", a, ok)
	}
	if null, ok := v.Lookup("é"); !ok || null.Kind != Null {
		t.Errorf("é is %v, %v", null, ok)
	}
	if _, ok := v.Lookup("c"); ok {
		t.Error("there is no c")
	}
	if _, ok := (Value{Kind: String, Text: "b"}).Lookup("b"); ok {
		t.Error("a string has no members")
	}
}

func TestParseValueErrors(t *testing.T) {
	for _, test := range []struct {
		text, code string
		pos        diag.Pos
	}{
		{`{"a":01}`, "json-number", diag.Pos{Line: 1, Col: 7}},
		{"{\"a\":\n [1,\n  }", "json-syntax", diag.Pos{Line: 3, Col: 3}},
		{`"secret`, "json-truncated", diag.Pos{Line: 1, Col: 8}},
		{"\"\xff\"", "json-utf8", diag.Pos{Line: 1, Col: 2}},
		{strings.Repeat("[", 1001), "json-depth", diag.Pos{Line: 1, Col: 1001}},
		{``, "json-truncated", diag.Pos{Line: 1, Col: 1}},
		{`{} x`, "json-trailing", diag.Pos{Line: 1, Col: 4}},
	} {
		_, err := ParseValue([]byte(test.text))
		problem, ok := err.(*diag.Error)
		if !ok || problem.Code != test.code || problem.Pos != test.pos || strings.Contains(problem.Msg, "secret") {
			t.Errorf("%.20q: %v, want %s at %v", test.text, err, test.code, test.pos)
		}
		if out, err := AppendCanonical([]byte("x"), []byte(test.text)); err == nil || string(out) != "x" {
			t.Errorf("%.20q: AppendCanonical returned %q, %v", test.text, out, err)
		}
	}
}

func FuzzParseValue(f *testing.F) {
	for _, s := range []string{
		`{"b":[1,2.50,"x"],"a":{"c":null,"b":true},"b":-0}`, `"\ud800\u00e9"`, `[1e400,1e-400,-0.0,1E16]`, `{"a":1,"a":2,"\u0061":3}`,
		`{"a":`, "\"\xff\"", strings.Repeat(`{"b":0,"a":`, 30) + "1" + strings.Repeat("}", 30),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		v, err := ParseValue(text)
		direct, directErr := AppendCanonical(nil, text)
		if (err == nil) != (directErr == nil) {
			t.Fatalf("%q: %v, but %v directly", text, err, directErr)
		}
		if err != nil {
			problem, ok := err.(*diag.Error)
			if !ok || problem.Code == "" || problem.Pos.Line < 1 || problem.Pos.Line > 1+bytes.Count(text, []byte("\n")) || problem.Pos.Col < 1 {
				t.Fatalf("%q: %#v", text, err)
			}
			return
		}
		canonical := v.AppendCanonical(nil)
		if !bytes.Equal(canonical, direct) {
			t.Fatalf("%q: %s, but %s directly", text, canonical, direct)
		}
		if !json.Valid(canonical) {
			t.Fatalf("%q: %s is no JSON", text, canonical)
		}
		again, err := ParseValue(canonical)
		if err != nil || !again.Equal(v) || !bytes.Equal(again.AppendCanonical(nil), canonical) {
			t.Fatalf("%q: %s is not idempotent (%v)", text, canonical, err)
		}
	})
}

func BenchmarkCanonicalArgs(b *testing.B) {
	call := Call{Args: Raw{Data: []byte(`"{\"reservation_id\": \"ZFA04Y\", \"flights\": [{\"flight_number\": \"HAT001\", \"date\": \"2024-05-20\"}], \"cabin\": \"economy\", \"payment_id\": \"credit_card_4421486\"}"`), Form: FormString}}
	b.Run("append", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(call.Args.Data)))
		var dst []byte
		for b.Loop() {
			dst = call.AppendCanonicalArgs(dst[:0])
		}
	})
	b.Run("value", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(call.Args.Data)))
		for b.Loop() {
			if _, ok := call.ArgsValue(); !ok {
				b.Fatal("no object")
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		b.SetBytes(int64(len(call.Args.Data)))
		for b.Loop() {
			var text string
			var v any
			if json.Unmarshal(call.Args.Data, &text) != nil || json.Unmarshal([]byte(text), &v) != nil {
				b.Fatal("no object")
			}
			if _, err := json.Marshal(v); err != nil {
				b.Fatal(err)
			}
		}
	})
}
