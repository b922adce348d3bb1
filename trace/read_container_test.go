package trace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// readString reads text as standard input.
func readString(t *testing.T, text string, o Options) []string {
	t.Helper()
	o.Stdin = strings.NewReader(text)
	o.Formats = testFormats()
	r, err := Open([]string{"-"}, o)
	if err != nil {
		t.Fatal(err)
	}
	return describe(r)
}

// TestContainers holds what is read, and where everything stands, whatever the
// blocks that it is read in and the number of workers.
func TestContainers(t *testing.T) {
	const (
		comma    = "only a comma or the end of the array can stand here; what follows is skipped up to the next record that can be told apart"
		commaEnd = "only a comma or the end of the array can stand here; the rest of the input is not read"
	)
	tests := []struct {
		name, in string
		want     []string
	}{
		{"lines", `{"calls":["a"]}` + "\n" + `{"calls":[]}` + "\n", []string{
			"-:1 at -:1:1 +0 calls [a]", "-:2 at -:2:1 +16 calls []",
		}},
		{"no newline at the end", `{"calls":["a"]}` + "\n" + `{"calls":["b"]}`, []string{
			"-:1 at -:1:1 +0 calls [a]", "-:2 at -:2:1 +16 calls [b]",
		}},
		{"CRLF, blank lines and space", "\r\n{\"calls\":[\"a\"]}\r\n\r\n \t \r\n  {\"calls\":[\"b\"]} \r\n", []string{
			"-:2 at -:2:1 +2 calls [a]", "-:5 at -:5:3 +28 calls [b]",
		}},
		{"byte order mark", "\xef\xbb\xbf{\"calls\":[\"a\"]}\n", []string{"-:1 at -:1:1 +3 calls [a]"}},
		{"truncated last line", `{"calls":["a"]}` + "\n" + `{"calls":["b"`, []string{
			"-:1 at -:1:1 +0 calls [a]", "error -:2:14: json-truncated: the record ends too early",
		}},
		{"broken line between", `{"calls":["a"]}` + "\n{\"calls\":[}\n" + `{"calls":["b"]}`, []string{
			"-:1 at -:1:1 +0 calls [a]", "error -:2:11: json-syntax: no JSON", "-:3 at -:3:1 +28 calls [b]",
		}},
		{"first line broken", `ls":["a"]}` + "\n" + `{"calls":["b"]}`, []string{
			"error -:1:1: json-syntax: no JSON", "-:2 at -:2:1 +11 calls [b]",
		}},
		{"first line broken behind a bracket", `{"calls":["a"` + "\n" + `{"calls":["b"]}`, []string{
			"error -:1:14: json-truncated: the record ends too early", "-:2 at -:2:1 +14 calls [b]",
		}},
		{"array", `[{"calls":["a"]}, {"calls":["b"]}]`, []string{
			"-:1:2 at -:1:2 +1 calls [a]", "-:1:19 at -:1:19 +18 calls [b]",
		}},
		{"array over lines", "[\n  {\n    \"calls\": [\"a\"]\n  },\n  {\"calls\":\n[]}\n]\n", []string{
			"-:2:3 at -:2:3 +4 calls [a]", "-:5:3 at -:5:3 +32 calls []",
		}},
		{"array with braces in strings", `[{"pad":"}]\"{[\\","calls":["a"]},{"pad":"\\\\\"","calls":["b"]}]`, []string{
			"-:1:2 at -:1:2 +1 calls [a]", "-:1:35 at -:1:35 +34 calls [b]",
		}},
		{"problem inside an array", "[\n  {\"calls\":[\"a\"]},\n  {\"calls\":\n    [x]},\n  {\"calls\":[\"b\"]}\n]", []string{
			"-:2:3 at -:2:3 +4 calls [a]", "error -:4:6: json-syntax: no JSON", "-:5:3 at -:5:3 +45 calls [b]",
		}},
		{"array cut in an element", "[\n  {\"calls\":[\"a\"]},\n  {\"calls\":[\"b", []string{
			"-:2:3 at -:2:3 +4 calls [a]", "error -:3:15: json-truncated: the record ends too early",
		}},
		{"array cut between elements", "[\n  {\"calls\":[\"a\"]},\n", []string{
			"-:2:3 at -:2:3 +4 calls [a]", "error -:3:1: json-truncated: the input ends inside the array that holds the records",
		}},
		{"missing quote, saved by the indent", "[\n  {\"calls\":[\"a]},\n  {\"calls\":[\"b\"]},\n  {\"calls\":[\"c\"]}\n]", []string{
			"error -:2:17: json-truncated: the record ends too early", "-:3:3 at -:3:3 +22 calls [b]", "-:4:3 at -:4:3 +41 calls [c]",
		}},
		{"missing bracket, saved by the indent", "[\n  {\"calls\":[\"a\",\n  {\"calls\":[\"b\"]},\n  {\"calls\":[\"c\"]}\n]", []string{
			"error -:2:16: json-truncated: the record ends too early", "-:3:3 at -:3:3 +21 calls [b]", "-:4:3 at -:4:3 +40 calls [c]",
		}},
		{"wrong bracket at the end", "[\n  {\"calls\":[\"a\"]],\n  {\"calls\":[\"b\"]}\n]", []string{
			"error -:2:17: json-syntax: no JSON", "-:3:3 at -:3:3 +23 calls [b]",
		}},
		{"missing comma", "[\n{\"calls\":[\"a\"]}\n{\"calls\":[\"b\"]}]", []string{
			"-:2:1 at -:2:1 +2 calls [a]", "error -:3:1: json-syntax: a comma is missing before this element of the array", "-:3:1 at -:3:1 +18 calls [b]",
		}},
		{"comma at the end", `[{"calls":["a"]},]`, []string{
			"-:1:2 at -:1:2 +1 calls [a]", "warning -:1:18: json-syntax: a comma before the end of the array",
		}},
		{"stray byte between elements", "[\n{\"calls\":[\"a\"]} ; {\"calls\":[\"x\"]},\n{\"calls\":[\"b\"]}\n]", []string{
			"-:2:1 at -:2:1 +2 calls [a]", "error -:2:17: json-syntax: " + comma, "-:3:1 at -:3:1 +37 calls [b]",
		}},
		{"stray byte on the only line", `[{"calls":["a"]} ; {"calls":["b"]}]`, []string{
			"-:1:2 at -:1:2 +1 calls [a]", "error -:1:18: json-syntax: " + commaEnd,
		}},
		{"stray byte behind a deep indent", "[\n" + strings.Repeat(" ", 2000) + `{"calls":["a"]} ;` + "\n{}]", []string{
			"-:2:2001 at -:2:2001 +2002 calls [a]", "error -:2:2017: json-syntax: " + commaEnd,
		}},
		{"document", "{\n  \"calls\": [\"a\"]\n}\n", []string{"-:1:1 at -:1:1 +0 calls [a]"}},
		{"documents", "{\n  \"calls\": [\"a\"]\n}\n{\n  \"calls\": [\"b\"]\n}{\"calls\":[]}", []string{
			"-:1:1 at -:1:1 +0 calls [a]", "-:4:1 at -:4:1 +21 calls [b]", "-:6:2 at -:6:2 +41 calls []",
		}},
		{"documents, one broken", "{\n  \"calls\": [\"a]\n}\n{\n  \"calls\": [\"b\"]\n}", []string{
			"error -:2:16: json-syntax: no JSON", "-:4:1 at -:4:1 +20 calls [b]",
		}},
		{"documents, one cut", "{\n  \"calls\": [\"a\"]\n}\n{\n  \"calls\": [\"b\"]", []string{
			"-:1:1 at -:1:1 +0 calls [a]", "error -:5:17: json-truncated: the record ends too early",
		}},
		{"documents on a line", `{"calls":["a"]} {"calls":["b"]}`, []string{
			"-:1:1 at -:1:1 +0 calls [a]", "-:1:17 at -:1:17 +16 calls [b]",
		}},
		{"list of messages", "[{\"role\":\"user\"},\n{\"role\":\"assistant\",\"call\":\"a\"}]", []string{"-:1:1 at -:1:1 +0 chat [a]"}},
		{"lines that are lists of messages", `[{"role":"x","call":"a"}]` + "\n" + `[{"role":"x","call":"b"}]` + "\n", []string{
			"-:1 at -:1:1 +0 chat [a]", "-:2 at -:2:1 +26 chat [b]",
		}},
		{"several in a record", `{"calls":["a"],"also":[{"calls":["b"]},{"id":"own","calls":[]}]}`, []string{
			"-:1 at -:1:1 +0 calls [a]", "-:1#2 at -:1:1 +0 calls [b]", "own at -:1:1 +0 calls []",
		}},
		{"member", `{"info": {"x":1}, "runs":[{"calls":["a"]},` + "\n" + `{"calls":["b"]}], "rest": [{"runs":[1]}]}`, []string{
			`-:1:27 at -:1:27 +26 runs [a] info@-:1:10={"x":1}`, `-:2:1 at -:2:1 +43 runs [b] info@-:1:10={"x":1}`,
		}},
		{"member of documents", "{\"info\": 1, \"runs\":[{\"calls\":[\"a\"]}]}\n{\"in\\u0066o\": 2 , \"runs\":[\n {\"calls\":[\"b\"]}], \"x\": null}", []string{
			`-:1:21 at -:1:21 +20 runs [a] info@-:1:10=1`, `-:3:2 at -:3:2 +66 runs [b] info@-:2:15=2`,
		}},
		{"member missing", "{\"info\": 1, \"runs\":[]}\n{\"info\":2}\n[]\n", []string{
			`error -:2:1: json-shape: the object has no member "runs"`, `error -:3:1: json-shape: this is no object with a member "runs"`,
		}},
		{"member no array, and twice", `{"info": 1, "runs":{"calls":["a"]}}` + "\n" + `{"runs":[{"calls":["b"]}],"runs":[{"calls":["c"]}]}`, []string{
			`error -:1:20: json-shape: the member "runs" is not one array`, `-:2:10 at -:2:10 +45 runs [b]`,
			`error -:2:34: json-shape: the member "runs" is not one array`,
		}},
		{"member cut", "{\"info\": 1, \"runs\":[\n{\"calls\":[\"a\"]},\n{\"calls\":[\"b\"", []string{
			`-:2:1 at -:2:1 +21 runs [a] info@-:1:10=1`, `error -:3:14: json-truncated: the record ends too early`,
		}},
		{"member and no colon", `{"info": 1, "runs":[]}` + "\n" + `{"info": 1, "runs" [{"calls":["a"]}]}`, []string{
			`error -:2:20: json-syntax: only a colon can stand here; the rest of the input is not read`,
		}},
		{"member broken before", `{"info": 1, "runs":[]}` + "\n" + `{"info": 1, "runs": ]}`, []string{
			`error -:2:21: json-syntax: only the value of a member can stand here; the rest of the input is not read`,
		}},
		{"fragments", `{"trace":"x","n":2,"call":"b"}` + "\n" + `{"trace":"y","n":1,"call":"c"}` + "\n" + `{"trace":"w","n":0,"whole":true,"call":"w"}` + "\n" + `{"trace":"x","n":1,"call":"a"}`, []string{
			"w at -:3:1 +62 spans [w]", "x at -:4:1 +-1 spans [a,b]", "y at -:2:1 +-1 spans [c]",
		}},
		{"bad fragment", `{"trace":"x","n":2,"call":"b"}` + "\n" + `{"trace":"x","n":3,"bad":true}` + "\n" + `{"trace":"y","n":1,"call":"c"}`, []string{
			"error -:2:1: span-bad: a bad span", "y at -:3:1 +-1 spans [c]",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, workers := range []int{1, 2, 8} {
				for _, block := range []int{0, 1, 2, 3, 7, 16, 64} {
					if d := cmp.Diff(test.want, readString(t, test.in, Options{Workers: workers, block: block})); d != "" {
						t.Fatalf("%d workers, blocks of %d:\n%s", workers, block, d)
					}
				}
			}
		})
	}
}

// TestRecordTooLarge holds that exactly the records over the limit are skipped,
// and that reading resumes behind them.
func TestRecordTooLarge(t *testing.T) {
	run := func(call string, size int) string {
		s := fmt.Sprintf(`{"calls":["%s"],"pad":""}`, call)
		return strings.Replace(s, `"pad":""`, `"pad":"`+strings.Repeat("]", size-len(s))+`"`, 1)
	}
	const limit = 100
	tests := []struct{ name, in string }{
		{"lines", run("a", limit) + "\n" + run("b", limit+1) + "\n" + run("c", 50) + "\n" + run("d", 3000) + "\n" + run("e", 40)},
		{"array", "[" + run("a", limit) + ",\n" + run("b", limit+1) + ",\n" + run("c", 50) + ",\n" + run("d", 3000) + ",\n" + run("e", 40) + "]"},
		{"member", `{"info":1,"runs":[` + run("a", limit) + ",\n" + run("b", limit+1) + ",\n" + run("c", 50) + ",\n" + run("d", 3000) + ",\n" + run("e", 40) + "]}"},
		{"documents", "{\n" + run("a", limit-1)[1:] + "\n" + run("b", limit+1) + "\n" + run("c", 50) + "\n" + run("d", 3000) + "\n" + run("e", 40)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, block := range []int{0, 1, 5, 64, 99, 100, 101, 500} {
				got := readString(t, test.in, Options{MaxRecord: limit, block: block, Workers: 2})
				var short []string
				for _, line := range got {
					if i := strings.Index(line, "["); i >= 0 {
						line, _, _ = strings.Cut(line[i+1:], "]")
					} else if i := strings.Index(line, "record-too-large"); i >= 0 {
						line = line[i:]
					}
					short = append(short, line)
				}
				want := []string{
					"a", "record-too-large: the record has 101 bytes; the limit is 100", "c",
					"record-too-large: the record has 3000 bytes; the limit is 100", "e",
				}
				if d := cmp.Diff(want, short); d != "" {
					t.Fatalf("blocks of %d:\n%s\n%s", block, d, strings.Join(got, "\n"))
				}
			}
		})
	}
}

func TestMemberTooLarge(t *testing.T) {
	in := `{"info":"` + strings.Repeat("x", 200) + `","more":1,"runs":[{"calls":["a"]}]}`
	want := []string{
		"error -:1:9: record-too-large: the record has 202 bytes; the limit is 100",
		"-:1:229 at -:1:229 +228 runs [a] more@-:1:219=1",
	}
	for _, block := range []int{0, 1, 10, 100} {
		if d := cmp.Diff(want, readString(t, in, Options{MaxRecord: 100, block: block})); d != "" {
			t.Fatalf("blocks of %d:\n%s", block, d)
		}
	}
}
