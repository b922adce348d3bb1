package jsonscan_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// check walks over a text without looking at it.
func check(text string) *jsonscan.Error {
	c := jsonscan.New([]byte(text))
	err := c.End()
	if err == nil {
		return nil
	}
	e, ok := errors.AsType[*jsonscan.Error](err)
	if !ok {
		panic(fmt.Sprintf("error of type %T", err))
	}
	return e
}

func TestAccepts(t *testing.T) {
	for _, text := range []string{
		`null`, `true`, `false`, `0`, `-0`, `10`, `-1.5e+10`, `1E5`, `0.0`, `1e-7`,
		`""`, `"a"`, `"\"\\\/\b\f\n\r\t\u0041\uD83D\uDE00"`, "\"\u2028\x7f\"", `"\ud800"`,
		`[]`, `{}`, ` [ ] `, " {\r\n\t} ", `[[],{},[{}]]`, `{"":0}`, `{"a":1,"a":2}`, ` { "a" : [ 1 , 2 ] , "b" : { } } `,
		strings.Repeat("[", jsonscan.MaxDepth) + strings.Repeat("]", jsonscan.MaxDepth),
		strings.Repeat(`{"a":`, jsonscan.MaxDepth) + "1" + strings.Repeat("}", jsonscan.MaxDepth),
	} {
		if err := check(text); err != nil {
			t.Errorf("%.40q: %v at %d", text, err, err.Offset)
		}
	}
}

func TestRejects(t *testing.T) {
	long := strings.Repeat("long enough to be scanned in blocks. ", 9)
	deep := strings.Repeat("[", jsonscan.MaxDepth)
	for _, test := range []struct {
		text   string
		code   string
		offset int
	}{
		{``, jsonscan.CodeTruncated, 0},
		{` `, jsonscan.CodeTruncated, 1},
		{`nul`, jsonscan.CodeTruncated, 3},
		{`nulL`, jsonscan.CodeSyntax, 3},
		{`nan`, jsonscan.CodeSyntax, 1},
		{`NaN`, jsonscan.CodeSyntax, 0},
		{`Infinity`, jsonscan.CodeSyntax, 0},
		{`'a'`, jsonscan.CodeSyntax, 0},
		{`+1`, jsonscan.CodeSyntax, 0},
		{`.5`, jsonscan.CodeSyntax, 0},
		{`0123`, jsonscan.CodeNumber, 1},
		{`-`, jsonscan.CodeTruncated, 1},
		{`-a`, jsonscan.CodeNumber, 1},
		{`-012`, jsonscan.CodeNumber, 2},
		{`1.`, jsonscan.CodeTruncated, 2},
		{`1.e5`, jsonscan.CodeNumber, 2},
		{`1e`, jsonscan.CodeTruncated, 2},
		{`1e+`, jsonscan.CodeTruncated, 3},
		{`1e+]`, jsonscan.CodeNumber, 3},
		{`0x10`, jsonscan.CodeTrailing, 1},
		{`1 2`, jsonscan.CodeTrailing, 2},
		{`{} ,`, jsonscan.CodeTrailing, 3},
		{`truex`, jsonscan.CodeTrailing, 4},
		{`[1`, jsonscan.CodeTruncated, 2},
		{`[1,`, jsonscan.CodeTruncated, 3},
		{`[1,]`, jsonscan.CodeSyntax, 3},
		{`[,1]`, jsonscan.CodeSyntax, 1},
		{`[1 2]`, jsonscan.CodeSyntax, 3},
		{`[1}`, jsonscan.CodeSyntax, 2},
		{`[}`, jsonscan.CodeSyntax, 1},
		{`{]`, jsonscan.CodeSyntax, 1},
		{`{"a"`, jsonscan.CodeTruncated, 4},
		{`{"a" 1}`, jsonscan.CodeSyntax, 5},
		{`{"a":}`, jsonscan.CodeSyntax, 5},
		{`{"a":1,}`, jsonscan.CodeSyntax, 7},
		{`{"a":1 "b":2}`, jsonscan.CodeSyntax, 7},
		{`{"a":1]`, jsonscan.CodeSyntax, 6},
		{`{a:1}`, jsonscan.CodeSyntax, 1},
		{`{1:1}`, jsonscan.CodeSyntax, 1},
		{`"a`, jsonscan.CodeTruncated, 2},
		{`"a\`, jsonscan.CodeTruncated, 3},
		{`"\u12`, jsonscan.CodeTruncated, 5},
		{`"\u12g4"`, jsonscan.CodeEscape, 5},
		{`"\x41"`, jsonscan.CodeEscape, 2},
		{`"\'"`, jsonscan.CodeEscape, 2},
		{"\"a\nb\"", jsonscan.CodeControl, 2},
		{"\"a\x00b\"", jsonscan.CodeControl, 2},
		{"\"\xff\"", jsonscan.CodeUTF8, 1},
		{"\"\xed\xa0\x80\"", jsonscan.CodeUTF8, 1},
		{"\"caf\xe9 au lait\"", jsonscan.CodeUTF8, 4},
		{"\"caf\xe9 au lait\n\"", jsonscan.CodeUTF8, 4},
		{"\"caf\xc3", jsonscan.CodeTruncated, 5},
		{"\xef\xbb\xbf{}", jsonscan.CodeSyntax, 0},
		{"[1]\xff", jsonscan.CodeTrailing, 3},
		{"[\f1]", jsonscan.CodeSyntax, 1},
		{"[\u00a01]", jsonscan.CodeSyntax, 1},
		{`"` + long + "\n" + long + `"`, jsonscan.CodeControl, 1 + len(long)},
		{`"` + long + `\q` + long + `"`, jsonscan.CodeEscape, 2 + len(long)},
		{`"` + long + `\u00"` + long + `"`, jsonscan.CodeEscape, 5 + len(long)},
		{`"` + long + "\xff" + long + `"`, jsonscan.CodeUTF8, 1 + len(long)},
		{`"` + long + `\`, jsonscan.CodeTruncated, 2 + len(long)},
		{`"` + long, jsonscan.CodeTruncated, 1 + len(long)},
		{deep + "[", jsonscan.CodeDepth, jsonscan.MaxDepth},
		{deep + `{"a":1}`, jsonscan.CodeDepth, jsonscan.MaxDepth},
		{strings.Repeat("[", 1<<20), jsonscan.CodeDepth, jsonscan.MaxDepth},
	} {
		err := check(test.text)
		switch {
		case err == nil:
			t.Errorf("%.40q is accepted", test.text)
		case err.Code != test.code || err.Offset != test.offset:
			t.Errorf("%.40q: %s at %d, want %s at %d", test.text, err.Code, err.Offset, test.code, test.offset)
		case err.Msg == "" || strings.Contains(err.Msg, "long"):
			t.Errorf("%.40q: message %q", test.text, err.Msg)
		}
	}
}

// TestBlocks moves what matters in a string over the borders of the blocks of 64
// bytes that long strings are scanned in.
func TestBlocks(t *testing.T) {
	for _, piece := range []struct {
		text string
		code string // empty: accepted
	}{
		{`\"`, ""},
		{`\\`, ""},
		{`\\\"`, ""},
		{`\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\"`, ""},
		{`\u00e9\u20AC\n\/\b\f\r\t`, ""},
		{`\ud83d\ude00`, ""},
		{`é’😀`, ""},
		{`\u00eg`, jsonscan.CodeEscape},
		{`\u00e`, jsonscan.CodeEscape},
		{`\u`, jsonscan.CodeEscape},
		{`\a`, jsonscan.CodeEscape},
		{`\U0041`, jsonscan.CodeEscape},
		{"\\\x80", jsonscan.CodeEscape},
		{"\x1f", jsonscan.CodeControl},
		{"\\\x1f", jsonscan.CodeEscape},
		{"é\xe2\x80’", jsonscan.CodeUTF8},
		{`\u\u0041`, jsonscan.CodeEscape},
		{`\u004\u0041`, jsonscan.CodeEscape},
		{`"`, jsonscan.CodeTrailing},
		{`\\"`, jsonscan.CodeTrailing},
	} {
		for before := range 200 {
			for _, after := range []int{0, 1, 5, 40, 63, 64, 200} {
				text := `"` + strings.Repeat("x", before) + piece.text + strings.Repeat("y", after) + `"`
				err := check(text)
				if piece.code == "" {
					if err != nil {
						t.Fatalf("%q: %v at %d", text, err, err.Offset)
					}
					continue
				}
				// Behind the piece there may be too little left to tell what is wrong.
				if err == nil || err.Code != piece.code {
					t.Fatalf("%q: %v, want %s", text, err, piece.code)
				}
				if err.Offset <= before || err.Offset > before+1+len(piece.text) {
					t.Fatalf("%q: error at %d", text, err.Offset)
				}
			}
		}
	}
}

func TestWalk(t *testing.T) {
	text := `{"a": [1, {"b": "x"}, [], null], "c\u0064": "\u00e9\n", "e": {"f": true, "g": [2, 3]}, "h": -1.5}`
	var log []string
	note := func(format string, args ...any) { log = append(log, fmt.Sprintf(format, args...)) }
	c := jsonscan.New([]byte(text))
	if c.Kind() != jsonscan.Object || c.Array() || !c.Object() {
		t.Fatal("the text is an object")
	}
	for c.Member() {
		switch string(c.Key()) {
		case "a":
			for ok := c.Array(); ok && c.Element(); {
				if c.Kind() == jsonscan.Object {
					note("raw %s", c.Raw())
				}
			}
		case "cd":
			s, ok := c.Text()
			note("text %q %v", s, ok)
		case "e":
			c.Object()
			c.Member()
			v, ok := c.Bool()
			note("bool %v %v", v, ok)
			c.Member()
			c.Array()
			c.Element()
			n, ok := c.Int()
			note("int %d %v", n, ok)
			c.Leave()
			c.Leave()
		case "h":
			if _, ok := c.Text(); ok {
				t.Error("a number is no text")
			}
			f, ok := c.Float()
			note("float %v %v", f, ok)
		default:
			t.Errorf("key %q", c.Key())
		}
	}
	if err := c.End(); err != nil {
		t.Error(err)
	}
	want := `raw {"b": "x"}|text "é\n" true|bool true true|int 2 true|float -1.5 true`
	if got := strings.Join(log, "|"); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if c.Kind() != jsonscan.Invalid || c.Member() && c.Element() {
		t.Error("there is something behind the end")
	}
}

func TestLoopsEndAtErrors(t *testing.T) {
	text := `[{"a":1},{"a":tru}]`
	c := jsonscan.New([]byte(text))
	seen := 0
	for ok := c.Array(); ok && c.Element(); {
		for ok := c.Object(); ok && c.Member(); {
			seen++
			if raw := c.Raw(); seen == 2 && raw != nil {
				t.Errorf("raw value %q", raw)
			}
		}
	}
	err, _ := errors.AsType[*jsonscan.Error](c.End())
	if seen != 2 || err == nil || err.Offset != 17 {
		t.Errorf("%d members, error %v", seen, err)
	}
}

func TestInt(t *testing.T) {
	for _, test := range []struct {
		text string
		want int64
		ok   bool
	}{
		{"0", 0, true},
		{"-0", 0, true},
		{"-7", -7, true},
		{"12.0", 12, true},
		{"1.2e1", 12, true},
		{"12.9", 12, true},
		{"999999999999999999", 999999999999999999, true},
		{"9223372036854775807", 9223372036854775807, true},
		{"-9223372036854775808", -9223372036854775808, true},
		{"9223372036854775808", 0, false},
		{"1e400", 0, false},
		{"-1e30", 0, false},
		{`"5"`, 0, false},
		{"null", 0, false},
	} {
		c := jsonscan.New([]byte(test.text))
		if got, ok := c.Int(); got != test.want || ok != test.ok {
			t.Errorf("%s: %d %v, want %d %v", test.text, got, ok, test.want, test.ok)
		}
	}
}

func TestLoneSurrogates(t *testing.T) {
	pad := strings.Repeat("-", 100)
	for _, test := range []struct {
		text string
		want int
	}{
		{`"\ud83d\ude00"`, 0},
		{`"\ud83d"`, 1},
		{`"\ude00\ud83d"`, 2},
		{`"\ud83d\ud83d\ude00"`, 1},
		{`"\\ud83d \ufffd \u00dd \uD7FF \uE000"`, 0},
		{`{"\ud800":"\uDFFF","a":["\udbff\udbff"]}`, 4},
		{`"` + pad + `\uD800` + pad + `\ud83d\ude00` + `"`, 1},
	} {
		c := jsonscan.New([]byte(test.text))
		if err := c.End(); err != nil || c.LoneSurrogates() != test.want {
			t.Errorf("%s: %d, want %d (%v)", test.text, c.LoneSurrogates(), test.want, err)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	lines, _ := chatLines()
	if n := testing.AllocsPerRun(10, func() {
		if _, err := toolNames(lines[0]); err != nil {
			t.Error(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations to walk a line", n)
	}
}

func TestCompact(t *testing.T) {
	for text, want := range map[string]string{
		" { \"a b\" :\t[ 1 ,\r\n 2.50 , \"x \\\" y\" ] , \"c\" : { } } ": `{"a b":[1,2.50,"x \" y"],"c":{}}`,
		`null`: `null`, ` "" `: `""`,
	} {
		if got := string(jsonscan.AppendCompact(nil, []byte(text))); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func TestQuoted(t *testing.T) {
	for text, want := range map[string]string{
		"":                     `""`,
		"a\"b\\c/d":            `"a\"b\\c/d"`,
		"\b\f\n\r\t\x00\x1f":   `"\b\f\n\r\t\u0000\u001f"`,
		"<é’😀>\u2028\x7f":      "\"<é’😀>\u2028\x7f\"",
		"a\xffb\xe2\x80":       `"a` + "\ufffd" + `b` + "\ufffd\ufffd" + `"`,
		"\ufffd is not broken": "\"\ufffd is not broken\"",
	} {
		if got := string(jsonscan.AppendQuoted(nil, text)); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
		if got := string(jsonscan.AppendQuoted(nil, []byte(text))); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}
