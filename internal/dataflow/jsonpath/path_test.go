package jsonpath_test

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	rfc9535 "github.com/theory/jsonpath"
	"pgregory.net/rapid"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/trace"
)

func TestPathEval(t *testing.T) {
	const doc = `{
		"user": {"id": 7, "first name": "Amy", "it's": "x", "": "empty", "a\nb": 1, "$": 2},
		"accounts": [
			{"account_name": "mail", "password": "p1", "n": 1, "main": true},
			{"account_name": "spotify", "password": "p2", "n": 1.0, "old": null},
			{"password": "p3"}, 5, "spotify"
		],
		"methods": {"card_1": {"id": "c1", "kind": "card"}, "paypal_2": {"id": "p2", "kind": "paypal"}},
		"nested": [[1, 2], [], [3]],
		"text": "{\"deep\": [{\"k\": \"v\"}]}",
		"plain": "no json"
	}`
	v := parsed(t, doc)
	for _, tc := range []struct {
		path string
		want []string
	}{
		{`$.user.id`, []string{`7`}},
		{`$['user']["first name"]`, []string{`"Amy"`}},
		{`$.user['it\'s']`, []string{`"x"`}},
		{`$.user['']`, []string{`"empty"`}},
		{`$.user['a\nb']`, []string{`1`}},
		{`$.user['$']`, []string{`2`}},
		{`$.user.nothing`, nil},
		{`$.user[0]`, nil},
		{`$.accounts[1].password`, []string{`"p2"`}},
		{`$.accounts[9]`, nil},
		{`$.accounts[*].password`, []string{`"p1"`, `"p2"`, `"p3"`}},
		{`$.accounts[?@.account_name == 'spotify'].password`, []string{`"p2"`}},
		{`$.accounts[?@['account_name']=="mail"].password`, []string{`"p1"`}},
		{`$.accounts[?@.n == 1].password`, []string{`"p1"`, `"p2"`}},
		{`$.accounts[?@.n == 1.0].password`, []string{`"p1"`, `"p2"`}},
		{`$.accounts[?@.n == '1'].password`, nil},
		{`$.accounts[?@.main == true].n`, []string{`1`}},
		{`$.accounts[?@.old == null].password`, []string{`"p2"`}},
		{`$.accounts[?@.password == ?].n`, nil},
		{`$.methods[*].id`, []string{`"c1"`, `"p2"`}},
		{`$.methods.*.id`, []string{`"c1"`, `"p2"`}},
		{`$.methods[?@.kind == 'paypal'].id`, []string{`"p2"`}},
		{`$.nested[*][*]`, []string{`1`, `2`, `3`}},
		{`$.nested[0][1]`, []string{`2`}},
		{`$.text.deep[*].k`, []string{`"v"`}},
		{`$.text.deep[?@.k == 'v'].k`, []string{`"v"`}},
		{`$.plain.deep`, nil},
		{`$.plain[*]`, nil},
	} {
		p, err := jsonpath.Parse(tc.path)
		if err != nil {
			t.Errorf("%s: %v", tc.path, err)
			continue
		}
		if got := texts(p.Eval(v)); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.path, got, tc.want)
		}
		one, ok := p.Single(v)
		if ok != (len(tc.want) == 1) || ok && string(one.AppendCanonical(nil)) != tc.want[0] {
			t.Errorf("%s: Single gives %v, %v", tc.path, one, ok)
		}
		if p.One() != !strings.ContainsAny(tc.path, "*?") {
			t.Errorf("%s: One is %v", tc.path, p.One())
		}
	}
}

func TestPathBind(t *testing.T) {
	p, err := jsonpath.Parse(`$[?@.name == ?].id`)
	if err != nil {
		t.Fatal(err)
	}
	v := parsed(t, `[{"name":"a","id":1},{"name":"b","id":2}]`)
	bound := p.Bind(trace.Value{Kind: trace.String, Text: "b"})
	if got := texts(bound.Eval(v)); !slices.Equal(got, []string{"2"}) {
		t.Errorf("bound: %v", got)
	}
	if got := p.Eval(v); got != nil {
		t.Errorf("Bind changed the open path: %v", got)
	}
	if got := bound.String(); got != `$[?@.name == 'b'].id` {
		t.Errorf("bound path is %s", got)
	}
}

func TestPathErrors(t *testing.T) {
	for _, tc := range []struct {
		path, code string
		col        int
	}{
		{``, "bad-path", 1},
		{`user`, "bad-path", 1},
		{`$user`, "bad-path", 2},
		{`$.`, "bad-path", 3},
		{`$..a`, "bad-path", 3},
		{`$.a b`, "bad-path", 4},
		{`$.first-name`, "bad-path", 8},
		{`$[`, "bad-path", 3},
		{`$[-1]`, "bad-path", 3},
		{`$[01]`, "bad-path", 3},
		{`$[0:2]`, "bad-path", 4},
		{`$[0,1]`, "bad-path", 4},
		{`$[99999999999]`, "bad-path", 3},
		{`$['a]`, "bad-path", 6},
		{`$['a\x']`, "bad-path", 5},
		{`$["it\'s"]`, "bad-path", 6},
		{`$['\ud800']`, "bad-path", 4},
		{`$['\u12']`, "bad-path", 4},
		{"$['a\nb']", "bad-path", 5},
		{`$[?@.a]`, "bad-path", 7},
		{`$[?@.a != 1]`, "bad-path", 8},
		{`$[?@.a == [1]]`, "bad-path", 11},
		{`$[?@.a == @.b]`, "bad-path", 11},
		{`$[?@.a.b == 1]`, "bad-path", 7},
		{`$[?@.a == 1 && @.b == 2]`, "bad-path", 13},
		{`$[?length(@) == 1]`, "bad-path", 4},
		{`$[?@.a == 01]`, "bad-path", 11},
		{"$.\xff", "bad-path", 1},
		{`$` + strings.Repeat(`[0]`, 65), "deep-path", 194},
	} {
		_, err := jsonpath.Parse(tc.path)
		problem, ok := errors.AsType[*diag.Error](err)
		if !ok || problem.Code != tc.code || problem.Pos.Col != tc.col {
			t.Errorf("%q: %v, want %s at column %d", tc.path, err, tc.code, tc.col)
		}
	}
}

// drawName draws member names, hostile ones among them.
func drawName(t *rapid.T, label string) string {
	return rapid.OneOf(
		rapid.StringMatching(`[a-z_][a-z0-9_]{0,6}`),
		rapid.String(),
		rapid.SampledFrom([]string{"", "'", `\`, `"`, "$", "*", "@", "] == ", "a.b", "\x00", "\u2028", "\u202e", "é", "\U0001f600", "\U000e0001"}),
	).Draw(t, label)
}

func drawScalar(t *rapid.T) trace.Value {
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		return trace.Value{}
	case 1:
		return trace.Value{Kind: trace.Bool, Bool: rapid.Bool().Draw(t, "bool")}
	case 2:
		return parsed(t, rapid.SampledFrom([]string{"0", "-7", "12.5", "1e300", "9007199254740993"}).Draw(t, "number"))
	}
	return trace.Value{Kind: trace.String, Text: drawName(t, "text")}
}

func drawPath(t *rapid.T) jsonpath.Path {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) jsonpath.Step {
		s := jsonpath.Step{Kind: jsonpath.Kind(rapid.IntRange(0, 3).Draw(t, "step"))}
		switch s.Kind {
		case jsonpath.Member:
			s.Name = drawName(t, "name")
		case jsonpath.Index:
			s.Index = rapid.IntRange(0, 100).Draw(t, "index")
		case jsonpath.Filter:
			s.Name = drawName(t, "name")
			if s.Open = rapid.Bool().Draw(t, "open"); !s.Open {
				s.Value = drawScalar(t)
			}
		}
		return s
	}), 0, 6).Draw(t, "path")
}

func TestPathRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPath(t)
		text := p.String()
		back, err := jsonpath.Parse(text)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if again := back.String(); again != text || len(back) != len(p) {
			t.Fatalf("%q is read as %q", text, again)
		}
		for i := range p {
			if back[i].Kind != p[i].Kind || back[i].Name != p[i].Name || back[i].Index != p[i].Index ||
				back[i].Open != p[i].Open || !back[i].Value.Equal(p[i].Value) {
				t.Fatalf("step %d of %q is read as %+v, was %+v", i, text, back[i], p[i])
			}
		}
		for _, c := range text {
			if c < 0x20 || c == 0x2028 || c == 0x202e {
				t.Fatalf("%q holds a control character", text)
			}
		}
	})
}

// TestPathAgreesWithJSONPath compares with an independent implementation of RFC
// 9535 on values without JSON inside strings.
func TestPathAgreesWithJSONPath(t *testing.T) {
	names := rapid.SampledFrom([]string{"a", "b", "c d", "it's", "é"})
	var drawValue func(t *rapid.T, depth int) any
	drawValue = func(t *rapid.T, depth int) any {
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0:
			return rapid.SampledFrom([]any{nil, true, false, 1.0, 2.0, "x", "y"}).Draw(t, "scalar")
		case 1, 2:
			if depth > 3 {
				return "x"
			}
			list := []any{}
			for range rapid.IntRange(0, 3).Draw(t, "n") {
				list = append(list, drawValue(t, depth+1))
			}
			return list
		}
		if depth > 3 {
			return 1.0
		}
		object := map[string]any{}
		for range rapid.IntRange(0, 3).Draw(t, "n") {
			object[names.Draw(t, "name")] = drawValue(t, depth+1)
		}
		return object
	}
	rapid.Check(t, func(t *rapid.T) {
		doc := drawValue(t, 0)
		p := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) jsonpath.Step {
			s := jsonpath.Step{
				Kind: jsonpath.Kind(rapid.IntRange(0, 3).Draw(t, "step")), Name: names.Draw(t, "name"),
				Index: rapid.IntRange(0, 3).Draw(t, "index"),
			}
			if s.Kind == jsonpath.Filter {
				s.Value = parsed(t, rapid.SampledFrom([]string{"null", "true", "1", `"x"`}).Draw(t, "literal"))
			}
			return s
		}), 0, 4).Draw(t, "path")
		path := jsonpath.Path(p)
		data, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		reference, err := rfc9535.Parse(path.String())
		if err != nil {
			t.Fatalf("%s is no JSONPath: %v", path, err)
		}
		want := []string{}
		for _, node := range reference.Select(doc) {
			b, _ := json.Marshal(node)
			want = append(want, string(parsed(t, string(b)).AppendCanonical(nil)))
		}
		got := texts(path.Eval(parsed(t, string(data))))
		// The order of an object's members is not defined by the RFC.
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%s on %s: %v, want %v", path, data, got, want)
		}
	})
}

func FuzzParsePath(f *testing.F) {
	for _, seed := range []string{
		`$`, `$.a.b`, `$['a']["b"]`, `$[0][*].x`, `$[?@.name == 'x'].y`, `$[?@['a b']=="\u00e9\ud83d\ude00"]`, `$[ ? @.a == -1.5e3 ]`,
		`$.*`, `$[?@.a == ?]`, `$..a`, `$[`, `$['\`, `$['\u`, "$['\x00']", `$[?@.a == nul]`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := jsonpath.Parse(text)
		if err != nil {
			if problem, ok := errors.AsType[*diag.Error](err); !ok || problem.Pos.Col < 1 || problem.Pos.Col > len(text)+1 {
				t.Fatalf("error %v", err)
			}
			return
		}
		back, err := jsonpath.Parse(p.String())
		if err != nil || back.String() != p.String() {
			t.Fatalf("%q is read as %q, which gives %v", text, p, err)
		}
		p.Eval(parsed(t, `{"a":[{"b":1},{"name":"x","y":2}]}`))
	})
}

func BenchmarkPathEval(b *testing.B) {
	p, err := jsonpath.Parse(`$.accounts[?@.name == 'n50'].password`)
	if err != nil {
		b.Fatal(err)
	}
	var doc strings.Builder
	doc.WriteString(`{"accounts":[`)
	for i := range 100 {
		if i > 0 {
			doc.WriteByte(',')
		}
		doc.WriteString(`{"name":"n` + string(rune('0'+i/10)) + string(rune('0'+i%10)) + `","password":"p"}`)
	}
	doc.WriteString(`]}`)
	v := parsed(b, doc.String())
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := p.Single(v); !ok {
			b.Fatal("nothing found")
		}
	}
}

// TestSole compares the value that a key closes a filter with to the path that Bind closes.
func TestSole(t *testing.T) {
	v := parsed(t, `{"list": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}, {"id": 3, "name": "b"}, {"id": 1.0, "name": "a"}], "text": "[{\"id\": 7, \"name\": \"c\"}]"}`)
	for _, tc := range []struct{ path, key, want string }{
		{`$.list[?@.name == ?].id`, `"a"`, `1`},
		{`$.list[?@.name == ?].id`, `"b"`, ``}, // two values
		{`$.list[?@.name == ?].id`, `"c"`, ``},
		{`$.list[?@.id == ?].name`, `1.0`, `"a"`},
		{`$.text[?@.name == ?].id`, `"c"`, `7`},
		{`$.list[?@.name == ?].id`, ``, ``}, // open
		{`$.list[0].name`, `"b"`, `"a"`},
	} {
		p, err := jsonpath.Parse(tc.path)
		if err != nil {
			t.Fatal(err)
		}
		var key *trace.Value
		bound := p
		if tc.key != "" {
			one := parsed(t, tc.key)
			key, bound = &one, p.Bind(one)
		}
		for _, got := range []func() (trace.Value, bool){
			func() (trace.Value, bool) { return p.Sole(&v, key) },
			func() (trace.Value, bool) { return bound.Sole(&v, nil) },
		} {
			if one, ok := got(); ok != (tc.want != "") || ok && string(one.AppendCanonical(nil)) != tc.want {
				t.Errorf("%s with %s: %v, %v", tc.path, tc.key, one, ok)
			}
		}
	}
}

func texts(nodes []trace.Value) []string {
	list := []string{}
	for _, n := range nodes {
		list = append(list, string(n.AppendCanonical(nil)))
	}
	return list
}

func parsed(t interface {
	Helper()
	Fatalf(format string, args ...any)
}, text string,
) trace.Value {
	t.Helper()
	v, err := trace.ParseValue([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}
