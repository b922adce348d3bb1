package compiled

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/awo-dev/awo/gateway"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
)

// TestRead: a result is what is structured, else its text; the other form is taken where
// only it has what later steps need.
func TestRead(t *testing.T) {
	path, err := jsonpath.Parse("$.id")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		raw, want string
		needs     []need
		failed    bool
	}{
		{raw: `{"content":[{"type":"text","text":"{\"id\":1}"}]}`, want: `{"id":1}`},
		{raw: `{"content":[{"type":"text","text":"{\"id\":1}"}],"structuredContent":{"text":"x"}}`, want: `{"text":"x"}`},
		{raw: `{"content":[{"type":"text","text":"{\"id\":1}"}],"structuredContent":{"text":"x"}}`, want: `{"id":1}`, needs: []need{{path}}},
		{raw: `{"content":[{"type":"text","text":"{}"}],"structuredContent":{"text":"x"}}`, want: `{"text":"x"}`, needs: []need{{path}}},
		{raw: `{"content":[{"type":"text","text":"no"}],"isError":true}`, want: `"no"`, failed: true},
		{raw: `{"toolResult":9007199254740993}`, want: `{"toolResult":9007199254740993}`},
	} {
		got, err := read([]byte(c.raw), c.needs)
		if err != nil {
			t.Fatal(err)
		}
		if text := string(got.value.AppendCanonical(nil)); text != c.want || got.failed != c.failed {
			t.Errorf("%s: got %s, failed %t", c.raw, text, got.failed)
		}
	}
}

// FuzzRead: whatever a server answers, it is read or refused, and what is said of it is JSON.
func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"content":[{"type":"text","text":"{\"a\":[1e400]}"},{"type":"image","data":"x"},{"type":7}],"structuredContent":{"a":1},"isError":true}`))
	f.Add([]byte(`{"content":{"type":"text"},"isError":"true"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := read(raw, nil)
		if err != nil {
			return
		}
		if out := textResult(got.value.AppendCanonical(nil), got.others, nil, got.failed); !json.Valid(out) {
			t.Errorf("no JSON: %s", out)
		}
	})
}

// FuzzDefinition: whatever a server calls and defines its tools, names are found or not,
// schemas compared, and marks leave JSON.
func FuzzDefinition(f *testing.F) {
	f.Add(`a`, `{"name":"a","inputSchema":{"properties":{"x":{"$ref":"#/$defs/y"}},"$defs":{"y":{"type":["string","null"]}},"required":["x",1]},"annotations":{"readOnlyHint":1}}`, "mcp__s__a")
	f.Add("", `{"name":{},"inputSchema":[]}`, "s.")
	f.Fuzz(func(t *testing.T, name, definition, traced string) {
		if !utf8.ValidString(name) {
			return
		}
		tool := &gateway.Tool{Server: "s", Name: name, Shown: name, Definition: []byte(definition)}
		n := newNames([]*gateway.Tool{tool, {Server: "t", Name: name, Shown: "t_" + name}}, nil)
		if found, why := n.find(traced); (found == nil) == (why == "") {
			t.Errorf("%q: %v, %q", traced, found, why)
		}
		d := definitionOf(tool)
		_ = d.effect()
		if len(d.define(name).SHA256) != 64 {
			t.Error("there is no hash")
		}
		if json.Valid([]byte(definition)) && strings.HasPrefix(definition, "{") && !json.Valid(marked([]byte(definition))) {
			t.Errorf("no JSON: %s", marked([]byte(definition)))
		}
	})
}
