package yamlsrc

import (
	"strings"
	"testing"
)

func TestAppend(t *testing.T) {
	for _, test := range []struct{ name, src, want string }{
		{"empty", "", ""},
		{"comments only", "#a\n\n#b\n", "#a\n#b\n"},
		{"indentation", "a:\n- b\n-   c:  d\n    e:   [f,g , h]\n", "a:\n  - b\n  - c: d\n    e: [f, g, h]\n"},
		{"quotes", "a: \"b\"\nc: \"d'e\"\nf: \"g\\\"h\"\ni: \"j\\tk\"\n", "a: 'b'\nc: \"d'e\"\nf: 'g\"h'\ni: \"j\\tk\"\n"},
		{"comments", "# file\n\n# above\na: 1   # behind\n\n\n# next\nb:\n  # inside\n  - c # d\n  # foot\n# end\n", "# file\n\n# above\na: 1 # behind\n\n# next\nb:\n  # inside\n  - c # d\n  # foot\n\n# end\n"},
		{"foot and head", "rules:\n- a: 1\n  # of a\n# of b\n- b: 2\n# of more\nmore: 3\n", "rules:\n  - a: 1\n    # of a\n  # of b\n  - b: 2\n# of more\nmore: 3\n"},
		{"comments in brackets", "a: [b, # one\n  # two\n  c]\n", "a:\n  - b # one\n  # two\n  - c\n"},
		{"long brackets", "a: {" + strings.Repeat("bbbbbbbbbb: cccccccccc, ", 5) + "d: e}\n", "a: {bbbbbbbbbb: cccccccccc, d: e}\n"},
		{"too long brackets", "a: [" + strings.Repeat("bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, ", 3) + "c]\n", "a:\n" + strings.Repeat("  - bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\n", 3) + "  - c\n"},
		{"folded", "a: >\n  one\n  two\n\n  three\nb: 1\n", "a: >\n  one two\n\n  three\nb: 1\n"},
		{"literal", "a: |\n    one\n      two\n\n    three\n", "a: |\n  one\n    two\n\n  three\n"},
		{"plain lines", "a: one\n  two\n", "a: one two\n"},
		{"long plain lines", "a: " + strings.Repeat("word\n  ", 30) + "end\n", "a: >-\n  " + strings.Repeat("word ", 14) + "word\n  " + strings.Repeat("word ", 15) + "end\n"},
		{"anchors", "a: &x   {b: 1}\nc:   *x\nd: &y\n    - 1\n", "a: &x {b: 1}\nc: *x\nd: &y\n  - 1\n"},
		{"missing values", "a:\nb: ~\nc: {d, e: }\n", "a:\nb: ~\nc: {d, e}\n"},
		{"colons", "a: [b:c, {d: 'e:f'}]\ng: {h: [\"i:j\"], 'k:l': m:n}\n", "a: [b:c, {d: 'e:f'}]\ng: {h: ['i:j'], 'k:l': 'm:n'}\n"},
		{"JSON", "{\"a\":[1,2],\n\"b\":\"\\u00e9\"}", "{\"a\": [1, 2], \"b\": \"é\"}\n"},
		{"long JSON", "{\"a\":[\"" + strings.Repeat("b", 60) + "\",\"" + strings.Repeat("c", 60) + "\"],\"d\":{\"e\":null}}", "{\n  \"a\": [\n    \"" + strings.Repeat("b", 60) + "\",\n    \"" + strings.Repeat("c", 60) + "\"\n  ],\n  \"d\": {\"e\": null}\n}\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.name == "long brackets" {
				test.src = "a: {bbbbbbbbbb:   cccccccccc,\n  d: e}\n"
			}
			doc, problems := Parse("f", []byte(test.src), Options{})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if got := string(doc.Append(nil)); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// TestAppendSpaced: entries of several lines are set apart where that is asked.
func TestAppendSpaced(t *testing.T) {
	doc, _ := Parse("f", []byte("- a: 1\n  b: 2\n- c\n- d\n# e\n- e\n"), Options{})
	doc.Root.Spaced = true
	if got, want := string(doc.Append(nil)), "- a: 1\n  b: 2\n\n- c\n- d\n\n# e\n- e\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
