package jsonscan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// build decodes the value that the cursor stands on as encoding/json does with
// UseNumber.
func build(c *jsonscan.Cursor) any {
	switch c.Kind() {
	case jsonscan.Object:
		out := map[string]any{}
		for c.Object(); c.Member(); {
			key := string(c.Key())
			out[key] = build(c)
		}
		return out
	case jsonscan.Array:
		out := []any{}
		for c.Array(); c.Element(); {
			out = append(out, build(c))
		}
		return out
	case jsonscan.String:
		s, _ := c.Text()
		return string(s)
	case jsonscan.Number:
		return json.Number(c.Raw())
	case jsonscan.Bool:
		v, _ := c.Bool()
		return v
	}
	c.Skip()
	return nil
}

// depth is how deep a valid text is nested.
func depth(text []byte) int {
	deepest, open := 0, 0
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		t, err := d.Token()
		if err != nil {
			return deepest
		}
		switch t {
		case json.Delim('['), json.Delim('{'):
			open++
			deepest = max(deepest, open)
		case json.Delim(']'), json.Delim('}'):
			open--
		}
	}
}

// compare checks one text against encoding/json. The two differ on purpose in
// what they accept where strings are no valid UTF-8 (encoding/json replaces) and
// beyond MaxDepth (encoding/json goes on to 10,000).
func compare(t *testing.T, text []byte) {
	want := json.Valid(text) && utf8.Valid(text)
	if want && bytes.Count(text, []byte("["))+bytes.Count(text, []byte("{")) > jsonscan.MaxDepth {
		want = depth(text) <= jsonscan.MaxDepth
	}
	whole := jsonscan.New(text)
	err := whole.End()
	if (err == nil) != want {
		t.Fatalf("%q: error %v, but encoding/json accepts: %v", text, err, want)
	}
	walked := jsonscan.New(text)
	got := build(&walked)
	walkErr := walked.End()
	if !reflect.DeepEqual(err, walkErr) {
		t.Fatalf("%q: walked %v, passed over %v", text, walkErr, err)
	}
	if err != nil {
		explain(t, text, err)
		return
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var expected any
	if err := d.Decode(&expected); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, expected) {
		t.Fatalf("%q: got %#v, want %#v", text, got, expected)
	}
	if walked.LoneSurrogates() != whole.LoneSurrogates() {
		t.Fatalf("%q: %d lone surrogates walked over, %d passed over", text, walked.LoneSurrogates(), whole.LoneSurrogates())
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		t.Fatal(err)
	}
	if got := jsonscan.AppendCompact(nil, text); !bytes.Equal(got, compact.Bytes()) {
		t.Fatalf("%q: compact %q, want %q", text, got, compact.Bytes())
	}
}

// explain checks that the offset of an error is exact: what stands before it can
// be completed to a valid text, and with the byte at it no longer.
func explain(t *testing.T, text []byte, err error) {
	e, ok := errors.AsType[*jsonscan.Error](err)
	if !ok || e.Code == "" || e.Msg == "" || e.Offset < 0 || e.Offset > len(text) {
		t.Fatalf("%q: error %#v", text, err)
	}
	before := check(string(text[:e.Offset]))
	if before != nil && before.Code != jsonscan.CodeTruncated {
		t.Fatalf("%q: %v at %d, but %v at %d before it", text, e, e.Offset, before, before.Offset)
	}
	if e.Code == jsonscan.CodeTruncated {
		if e.Offset != len(text) {
			t.Fatalf("%q: ends too early at %d", text, e.Offset)
		}
		return
	}
	if e.Code == jsonscan.CodeUTF8 {
		return // it may take more than one byte to see that
	}
	if with := check(string(text[:e.Offset+1])); !reflect.DeepEqual(with, e) {
		t.Fatalf("%q: %v at %d, but up to there it is %v", text, e, e.Offset, with)
	}
}

func FuzzCursor(f *testing.F) {
	for _, s := range []string{
		`{"a":[1,-2.5e+3,"x\n\u00e9\ud83d\ude00",true,false,null,{}],"b":""}`, ` [ ] `, `"\ud800"`, `"a\`, `01`, "\"\xff\"",
		`{"a":1,"a":2}`, `[1,]`, `{"a" 1}`, "\"\x01\"", `1e400`, `-`, "\xef\xbb\xbf[]", `nul`,
		`{"messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{\"a\": \"b\\n\"}"}}]}]}`,
		strings.Repeat("[", 1002), strings.Repeat(`{"a":`, 20) + "1" + strings.Repeat("}", 20),
		`"` + strings.Repeat(`\\`, 70) + `\u12`,
		`"` + strings.Repeat("x", 61) + `\u00e9` + strings.Repeat("y’", 64) + `"`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(compare)
}

// TestDifferential compares on texts that are nearly JSON: valid ones with a few
// bytes changed, doubled or lost.
func TestDifferential(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	pieces := []string{
		`"`, `\`, `\u00e9`, `\ud83d`, `\ude00`, `{`, `}`, `[`, `]`, `:`, `,`, `"a":`, `"é’"`, `null`, `true`, `12.5e-3`, `0`, `-`, " ", "\n        ", "\x01", "\xff", "long text that goes on for more than one block of sixty-four bytes, so that blocks matter",
	}
	for range 60000 {
		var text []byte
		switch r.IntN(3) {
		case 0:
			for range r.IntN(12) {
				text = append(text, pieces[r.IntN(len(pieces))]...)
			}
		case 1:
			text, _ = json.Marshal(map[string]any{"a": []any{1.5, nil, true, prose(r, r.IntN(300))}, "b": map[string]any{"é": prose(r, r.IntN(90))}})
			if r.IntN(4) == 0 {
				break
			}
			fallthrough
		default:
			if len(text) == 0 {
				text, _ = json.Marshal([]string{prose(r, r.IntN(200)), prose(r, r.IntN(10))})
			}
			at := r.IntN(len(text))
			switch r.IntN(3) {
			case 0:
				text = append(text[:at:at], append([]byte(pieces[r.IntN(len(pieces))]), text[at:]...)...)
			case 1:
				text = append(text[:at:at], text[min(len(text), at+1+r.IntN(3)):]...)
			default:
				text[at] ^= 1 << r.IntN(8)
			}
		}
		compare(t, text)
	}
}

func FuzzQuoted(f *testing.F) {
	f.Add([]byte("a\"b\\c\n\x00\xff é’😀"))
	f.Fuzz(func(t *testing.T, content []byte) {
		token := jsonscan.AppendQuoted(nil, content)
		var want string
		if err := json.Unmarshal(token, &want); err != nil {
			t.Fatalf("%q: %v", token, err)
		}
		if got := string(jsonscan.AppendUnquoted(nil, token)); got != want {
			t.Fatalf("%q: %q, want %q", token, got, want)
		}
		if valid := string(bytes.ToValidUTF8(content, nil)); utf8.Valid(content) && want != valid {
			t.Fatalf("%q became %q", content, want)
		}
	})
}
