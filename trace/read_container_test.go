package trace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/jsonscan"
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
		comma    = "only a comma or the end of the array can stand here; what follows is skipped up to the next record that can be recognised"
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
		{"literal newlines", `{"calls":["a"]}\n{"calls":["b"]} \n` + "\n", []string{
			"-:1:1 at -:1:1 +0 calls [a]", "-:1:18 at -:1:18 +17 calls [b]",
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

// splitSeeds are beginnings for the fuzzers: every container, whole and broken.
var splitSeeds = []string{
	"", " ", "\xef\xbb\xbf{}\n", "{\"a\":1}\n{\"a\":2}\r\n\n{\"a\":", "[{\"a\":[1,\"]\"]},2 ,\"x\\\"\\\\\"]", "[\n  {\"a\":\"b},\n  {\"a\":1}\n]",
	"{\n\"a\":1}\n{\"b\":2}{}", "[1,,2] [3", `{"info":{"x":"}"},"runs":[{"a":1}, 2],"rest":[]}`, `{"runs":{},"runs":[]}}`, `{"runs":[1]]`, "]]]", `"\`, `[tru`, "[{]\n{}]",
}

// FuzzSplitRecords holds, for any bytes: the records are slices of the input, in
// order, apart from each other, not over the limit, at the positions they
// claim; and neither they nor the problems depend on the blocks that were read.
func FuzzSplitRecords(f *testing.F) {
	for _, seed := range splitSeeds {
		for container := range uint8(3) {
			f.Add([]byte(seed), container, false, uint16(3), uint16(12))
			f.Add([]byte(seed), container, true, uint16(1), uint16(1000))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte, container uint8, whole bool, block, limit uint16) {
		in := Input{File: "f", Container: Container(container % 3), Whole: whole, MaxRecord: int(limit) + 1}
		checkSplit(t, data, in, int(block), SplitRecords)
	})
}

// FuzzSplitMember holds the same for documents that hold the records in a member.
func FuzzSplitMember(f *testing.F) {
	for _, seed := range splitSeeds {
		f.Add([]byte(seed), uint16(3), uint16(12))
		f.Add([]byte(seed), uint16(1), uint16(1000))
	}
	f.Fuzz(func(t *testing.T, data []byte, block, limit uint16) {
		checkSplit(t, data, Input{File: "f", MaxRecord: int(limit) + 1}, int(block), SplitMember("runs", nil))
	})
}

func checkSplit(t *testing.T, data []byte, in Input, block int, split func(*Input) iter.Seq2[Record, error]) {
	t.Helper()
	records, problems := splitAll(data, in, 0, split)
	again, problemsAgain := splitAll(data, in, block+1, split)
	if len(records) != len(again) || !slices.Equal(problems, problemsAgain) {
		t.Fatalf("%d records and problems %v in one block, %d and %v in blocks of %d", len(records), problems, len(again), problemsAgain, block+1)
	}
	end := int64(0)
	for i, r := range records {
		if r.Offset < end || !bytes.Equal(r.Data, data[r.Offset:r.Offset+int64(len(r.Data))]) {
			t.Fatalf("record %d of %d bytes at %d is not there", i, len(r.Data), r.Offset)
		}
		if len(r.Data) == 0 || len(r.Data) > in.MaxRecord {
			t.Fatalf("record %d has %d bytes, the limit is %d", i, len(r.Data), in.MaxRecord)
		}
		if want := positionIn(data, r.Offset); want != r.Pos() {
			t.Fatalf("record %d claims to be at %v, is at %v", i, r.Pos(), want)
		}
		if !bytes.Equal(again[i].Data, r.Data) || again[i].Pos() != r.Pos() || again[i].Offset != r.Offset {
			t.Fatalf("record %d depends on the blocks", i)
		}
		end = r.Offset + int64(len(r.Data))
	}
	if in.Container == ContainerArray && !in.Whole && json.Valid(data) && data[0] == '[' && len(data) <= in.MaxRecord {
		checkElements(t, data, records, problems)
	}
}

// checkElements compares the records of a valid array with its elements.
func checkElements(t *testing.T, data []byte, records []Record, problems []string) {
	t.Helper()
	var elements []json.RawMessage
	if json.Unmarshal(data, &elements) != nil {
		return // deeper than encoding/json goes
	}
	if len(elements) != len(records) || len(problems) > 0 {
		t.Fatalf("%d records of %d elements, problems %v", len(records), len(elements), problems)
	}
	for i := range elements {
		if !bytes.Equal(elements[i], records[i].Data) {
			t.Fatalf("record %d is %q, the element %q", i, records[i].Data, elements[i])
		}
	}
}

func splitAll(data []byte, in Input, block int, split func(*Input) iter.Seq2[Record, error]) (records []Record, problems []string) {
	in.Reader = bytes.NewReader(data)
	in.block = block
	for r, err := range split(&in) {
		if err == nil {
			records = append(records, r)
			continue
		}
		if _, ok := errors.AsType[*diag.Error](err); !ok {
			panic(err)
		}
		problems = append(problems, err.Error())
	}
	return records, problems
}

// positionIn works out the position of an offset from the beginning.
func positionIn(data []byte, offset int64) diag.Pos {
	before := data[:offset]
	pos := diag.Pos{File: "f", Line: 1 + bytes.Count(before, newline), Col: int(offset) - bytes.LastIndexByte(before, '\n')}
	if pos.Line == 1 && bytes.HasPrefix(data, byteOrderMark) && offset >= int64(len(byteOrderMark)) {
		pos.Col -= len(byteOrderMark)
	}
	return pos
}

// FuzzNesting compares where a value ends with encoding/json, and that cutting
// the value into pieces anywhere makes no difference.
func FuzzNesting(f *testing.F) {
	for _, seed := range splitSeeds {
		f.Add([]byte(seed), uint8(1))
	}
	f.Add([]byte(`["\\\\\\\"]","\\"]x`), uint8(3))
	f.Add([]byte(`{"a":"`+"\\\"12345678\\\\\\\"12345678901234567890123456789012345678"+`"}`), uint8(8))
	f.Fuzz(func(t *testing.T, data []byte, piece uint8) {
		if len(data) == 0 || !startsValue(data[0]) {
			t.Skip()
		}
		nest := jsonscan.NewNesting(data[0])
		n, done := nest.Skip(data)
		pieces := jsonscan.NewNesting(data[0])
		m, doneToo := 0, false
		for rest := data; len(rest) > 0 && !doneToo; rest = data[m:] {
			var k int
			k, doneToo = pieces.Skip(rest[:min(len(rest), int(piece)+1)])
			m += k
		}
		if m != n || done != doneToo {
			t.Fatalf("%d, %v at once, %d, %v in pieces of %d", n, done, m, doneToo, piece+1)
		}
		if nest.Scalar() { // encoding/json reads 00 as two values
			return
		}
		var value json.RawMessage
		decoder := json.NewDecoder(bytes.NewReader(data))
		if decoder.Decode(&value) == nil && len(value) != n {
			t.Fatalf("the value has %d bytes, found %d", len(value), n)
		}
	})
}

// FuzzHead holds that no beginning of a file confuses its reading so that it
// panics, and that what it finds is part of the file.
func FuzzHead(f *testing.F) {
	for _, seed := range splitSeeds {
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, whole bool) {
		h, _ := NewHead(data, whole)
		if len(h.Records) > MaxHeadRecords {
			t.Fatalf("%d records", len(h.Records))
		}
		for _, r := range h.Records {
			if !bytes.Contains(data, r.Raw) {
				t.Fatalf("%q is not in the file", r.Raw)
			}
			for _, k := range r.Keys {
				if v, ok := r.Members[k]; !ok || !bytes.Contains(r.Raw, v) {
					t.Fatalf("member %q is %q", k, v)
				}
			}
			var object map[string]json.RawMessage
			if json.Unmarshal(r.Raw, &object) != nil || r.Raw[0] != '{' {
				continue
			}
			for k, v := range object {
				if bytes.ContainsRune([]byte(k), '\ufffd') {
					continue
				}
				if !bytes.Equal(bytes.TrimSpace(v), r.Members[k]) {
					t.Fatalf("member %q is %q, want %q", k, r.Members[k], v)
				}
			}
		}
	})
}
