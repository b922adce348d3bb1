package changes

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// file makes a metatools.json with one meta-tool.
func file(input, rest, tools string) string {
	return fmt.Sprintf(`{"schema": "awo.metatools/v1", "meta_tools": [{"name": "m", "steps": [
		{"tool": "search", "arguments": [{"name": "q", "binding": {"kind": "input", "input": "q"}}]},
		{"tool": "read", "arguments": [{"name": "id", "binding": {"kind": "step", "step": 0, "path": "$[?@.a == 'sk-secret'].id"}}]}],
		"input_schema": {"type": "object", "properties": {%s}}, "support": 9, "returns": [1]%s}], "tools": [%s]}`, input, rest, tools)
}

const searchAndRead = `{"name": "read", "sha256": "1", "schema_sha256": "2", "arguments": [{"name": "id", "type": "string", "required": true}]},
	{"name": "search", "sha256": "3", "schema_sha256": "4", "arguments": [{"name": "q", "type": "string", "required": true}]}`

func compared(t *testing.T, before, after string) (codes []string, texts string) {
	t.Helper()
	a, err := Parse([]byte(before), nil)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Parse([]byte(after), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range Compare(a, b) {
		code := c.Code
		if c.Breaking {
			code += "!"
		}
		codes = append(codes, code)
		texts += c.Text + "\n"
	}
	slices.Sort(codes)
	return codes, texts
}

func TestCompare(t *testing.T) {
	const q = `"q": {"type": "string"}`
	plain := file(q, "", searchAndRead)
	for name, test := range map[string]struct{ before, after, want string }{
		"same":              {plain, plain, ""},
		"input removed":     {plain, file("", "", searchAndRead), "input-removed!"},
		"input added":       {plain, file(q+`, "n": {"type": "integer"}`, "", searchAndRead), "input-added"},
		"input narrowed":    {file(`"q": {"type": ["string", "null"]}`, "", searchAndRead), plain, "input-narrowed!"},
		"input widened":     {plain, file(`"q": {"type": ["string", "null"]}`, "", searchAndRead), "input-widened"},
		"integer to number": {file(`"q": {"type": "integer"}`, "", searchAndRead), file(`"q": {"type": "number"}`, "", searchAndRead), "input-widened"},
		"enum":              {plain, file(`"q": {"type": "string", "enum": ["sk-secret"]}`, "", searchAndRead), "input-narrowed!"},
		"description":       {plain, file(`"q": {"type": "string", "description": "sk-secret"}`, "", searchAndRead), ""},
		"required": {
			plain, strings.Replace(plain, `"support"`, `"x": 0, "input_schema": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]}, "support"`, 1), "input-required!",
		},
		"new and required": {
			plain, strings.Replace(plain, `"support"`, `"input_schema": {"properties": {"q": {"type": "string"}, "n": {}}, "required": ["n"]}, "support"`, 1), "input-added-required!",
		},
		"optional": {
			strings.Replace(plain, `"support"`, `"input_schema": {"properties": {"q": {"type": "string"}}, "required": ["q"]}, "support"`, 1), plain, "input-optional",
		},
		"step":           {plain, strings.Replace(plain, `{"tool": "read"`, `{"tool": "write"`, 1), "steps-changed!"},
		"walk":           {plain, strings.Replace(plain, `{"tool": "read"`, `{"for_each": {"kind": "step"}, "tool": "read"`, 1), "steps-changed!"},
		"binding":        {plain, strings.Replace(plain, "sk-secret", "sk-other", 1), "binding-changed"},
		"binding's kind": {plain, strings.Replace(plain, `"kind": "step"`, `"kind": "const", "const": "sk-secret"`, 1), "binding-changed"},
		"optional only":  {plain, strings.Replace(plain, `"binding": {"kind": "input", "input": "q"}`, `"binding": {"input": "q", "kind": "input"}`, 1), ""},
		"returns":        {plain, strings.Replace(plain, `"returns": [1]`, `"returns": [0, 1]`, 1), "returns-changed!"},
		"support":        {plain, strings.Replace(plain, `"support": 9`, `"support": 8`, 1), "support-lost"},
		"more support":   {plain, strings.Replace(plain, `"support": 9`, `"support": 10`, 1), ""},
		"output": {
			file(q, `, "output_schema": {"properties": {"a": {"type": "string"}, "b": {}}}`, searchAndRead), file(q, `, "output_schema": {"properties": {"a": {"type": "string"}}}`, searchAndRead), "output-changed!",
		},
		"output retyped": {
			file(q, `, "output_schema": {"properties": {"a": {"type": "string"}}}`, searchAndRead), file(q, `, "output_schema": {"properties": {"a": {"type": "null"}}}`, searchAndRead), "output-changed!",
		},
		"output widened": {
			file(q, `, "output_schema": {"properties": {"a": {"type": "string"}}}`, searchAndRead), file(q, `, "output_schema": {"properties": {"a": {"type": "string"}, "b": {}}}`, searchAndRead), "output-widened",
		},
		"weaker":   {file(q, `, "annotations": {"readOnlyHint": true}`, searchAndRead), file(q, `, "annotations": {"readOnlyHint": false}`, searchAndRead), "hint-weaker!"},
		"stronger": {file(q, `, "annotations": {"destructiveHint": true}`, searchAndRead), file(q, `, "annotations": {"destructiveHint": false}`, searchAndRead), "hint-stronger"},
		"removed":  {plain, `{"schema": "awo.metatools/v1", "meta_tools": []}`, "meta-tool-removed!"},
		"added":    {`{"schema": "awo.metatools/v1", "meta_tools": []}`, plain, "meta-tool-added"},
		"argument renamed": {
			plain, file(q, "", strings.NewReplacer(`"sha256": "1"`, `"sha256": "5"`, `"2"`, `"6"`, `"id"`, `"uid"`).Replace(searchAndRead)), "argument-gone! argument-required!",
		},
		"argument retyped": {
			plain, file(q, "", strings.NewReplacer(`"sha256": "1"`, `"sha256": "5"`, `"2"`, `"6"`, `"id", "type": "string"`, `"id", "type": "integer"`).Replace(searchAndRead)), "argument-retyped!",
		},
		"tool described": {plain, file(q, "", strings.Replace(searchAndRead, `"sha256": "1"`, `"sha256": "5"`, 1)), "tool-changed"},
		"tool gone":      {plain, file(q, "", `{"name": "search", "sha256": "3"}`), "tool-gone!"},
		"tool renamed":   {plain, file(q, "", strings.Replace(searchAndRead, `"read"`, `"read_it"`, 1)), "tool-gone!"},
	} {
		t.Run(name, func(t *testing.T) {
			codes, texts := compared(t, test.before, test.after)
			if got := strings.Join(codes, " "); got != test.want {
				t.Errorf("got %q, want %q\n%s", got, test.want, texts)
			}
			if strings.Contains(texts, "sk-") {
				t.Errorf("a value is shown: %s", texts)
			}
			if name == "tool renamed" && !strings.Contains(texts, "read_it may be its new name") || name == "argument renamed" && !strings.Contains(texts, "uid may be its new name") {
				t.Errorf("the new name is not told: %s", texts)
			}
		})
	}
}

// TestSchemas compares schemas both ways: what is wider one way is narrower the other.
func TestSchemas(t *testing.T) {
	for _, pair := range [][2]string{
		{`{"type": "string"}`, `{}`},
		{`{"enum": [1]}`, `{"enum": [1, 2]}`},
		{`{"const": 1}`, `{"enum": [1, 2]}`},
		{`{"items": {"type": "string"}}`, `{"items": {"type": ["string", "null"]}}`},
		{`{"maxLength": 3}`, `{}`},
		{`{"properties": {"a": {}}, "required": ["a"]}`, `{"properties": {"a": {}}}`},
		{`{"properties": {"a": {"type": "integer"}}}`, `{"properties": {"a": {"type": "number"}}}`},
	} {
		narrow, wide := schemaValue([]byte(pair[0])), schemaValue([]byte(pair[1]))
		if f := compareSchemas(narrow, wide, 0); f != widened {
			t.Errorf("%s to %s: %d", pair[0], pair[1], f)
		}
		if f := compareSchemas(wide, narrow, 0); f != narrowed {
			t.Errorf("%s to %s: %d", pair[1], pair[0], f)
		}
		if f := compareSchemas(wide, wide, 0); f != same {
			t.Errorf("%s: %d", pair[1], f)
		}
	}
	deep := strings.Repeat(`{"items": `, 100) + "{}" + strings.Repeat("}", 100)
	other := strings.Repeat(`{"items": `, 100) + `{"type": "null"}` + strings.Repeat("}", 100)
	if f := compareSchemas(schemaValue([]byte(deep)), schemaValue([]byte(other)), 0); f != narrowed {
		t.Errorf("what is too deep: %d", f)
	}
}

func FuzzCompare(f *testing.F) {
	f.Add([]byte(file(`"q": {"type": "string"}`, "", searchAndRead)), []byte(file("", "", "")))
	f.Add([]byte(`{"schema": "awo.metatools/v1", "meta_tools": [{"name": "m", "steps": null, "input_schema": 1, "returns": [-1]}]}`), []byte(`{}`))
	f.Fuzz(func(t *testing.T, x, y []byte) {
		a, err := Parse(x, y)
		if err != nil {
			return
		}
		if list := Compare(a, a); len(list) > 0 {
			t.Errorf("a set differs from itself: %+v", list)
		}
		b, err := Parse(y, x)
		if err != nil {
			return
		}
		for _, c := range Compare(a, b) {
			if c.Code == "" || c.Text == "" {
				t.Errorf("%+v", c)
			}
		}
	})
}

// TestNoSet wants an error for what is no set.
func TestNoSet(t *testing.T) {
	for _, text := range []string{"", "[]", `{"schema": "other"}`, `{"schema": "awo.metatools/v1", "meta_tools": [{"name": "m"}, {"name": "m"}]}`, `{"schema": "awo.metatools/v1", "meta_tools": [{"steps": [{"arguments": [{"binding": 1}]}]}]}`} {
		if _, err := Parse([]byte(text), nil); err == nil {
			t.Errorf("%q is taken for a set", text)
		}
	}
}
