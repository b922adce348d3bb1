package yamlsrc

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

// dump writes a tree on one line, with line:column of every node and a mark for
// the style of scalars.
func dump(n *Node) string {
	if n == nil {
		return "none"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%d:%d", n.Pos.Line, n.Pos.Col)
	if n.Anchor != "" {
		b.WriteString("&" + n.Anchor)
	}
	if n.Alias != "" {
		b.WriteString("*" + n.Alias)
	}
	if n.Kind == Scalar {
		fmt.Fprintf(&b, "%s%q", [...]string{"", "'", "''", "|", ">"}[n.Style], n.Text)
		return b.String()
	}
	b.WriteString(opening(n))
	for i, e := range n.Entries {
		if i > 0 {
			b.WriteString(" ")
		}
		if e.Key != nil {
			b.WriteString(dump(e.Key) + "=")
		}
		b.WriteString(dump(e.Value))
	}
	b.WriteString(closing(n))
	return b.String()
}

func TestParseTree(t *testing.T) {
	for _, test := range []struct{ name, src, want string }{
		{"empty", "", `none`},
		{"comment only", "# nothing\n", `none`},
		{"scalar", "x\n", `1:1"x"`},
		{"block", "a: b\nc:\n  - d # x\n  - \"é\": f\n    g: 'h''i'\n", `1:1{1:1"a"=1:4"b" 2:1"c"=3:3[3:5"d" 4:5{4:5''"é"=4:11"f" 5:5"g"=5:8'"h'i"}]}`},
		{"trailing spaces", "a: bb  \nc:   d   \n", `1:1{1:1"a"=1:4"bb" 2:1"c"=2:6"d"}`},
		{"columns in bytes", "é: ü\nä: {ö: ß}\n", `1:1{1:1"é"=1:5"ü" 2:1"ä"=2:5{2:6"ö"=2:10"ß"}}`},
		{"tabs between", "a:\tb\t# c\nd: [ e,\tf ]\n", `1:1{1:1"a"=1:4"b" 2:1"d"=2:4[2:6"e" 2:9"f"]}`},
		{"carriage returns", "a: b\r\nc: 'd\r\n  e'\r\nf: |\r\n  g\r\n", `1:1{1:1"a"=1:4"b" 2:1"c"=2:4'"d e" 4:1"f"=4:4|"g\n"}`},
		{"byte order mark", "\ufeffa: b\n", `1:1{1:1"a"=1:4"b"}`},
		{"plain over lines", "k: text that\n  goes on\n\n  here\nl: x\n", `1:1{1:1"k"=1:4"text that goes on\nhere" 5:1"l"=5:4"x"}`},
		{"literal", "k: |\n  text\n   more\n\nl: |-\n  x\nm: |+\n  y\n\n", `1:1{1:1"k"=1:4|"text\n more\n" 5:1"l"=5:4|"x" 7:1"m"=7:4|"y\n\n"}`},
		{"folded", "k: >\n  a\n  b\n\n  c\nl: 1\n", `1:1{1:1"k"=1:4>"a b\nc\n" 6:1"l"=6:4"1"}`},
		{"empty blocks", "a: |\nb: >\n", `1:1{1:1"a"=1:4|"" 2:1"b"=2:4>""}`},
		{"flow", "{a: [x, {y: z}], \"b\":1, c, 'd': }\n", `1:1{1:2"a"=1:5[1:6"x" 1:9{1:10"y"=1:13"z"}] 1:18''"b"=1:22"1" 1:25"c"=1:25"" 1:28'"d"=1:31""}`},
		{"flow over lines", "a: [\n  b, # one\n  c\n]\n", `1:1{1:1"a"=1:4[2:3"b" 3:3"c"]}`},
		{"numbers as written", "[007, 1_000, 1.50, yes, ~]", `1:1[1:2"007" 1:7"1_000" 1:14"1.50" 1:20"yes" 1:25"~"]`},
		{"missing values", "a:\nb:\n  - \n  -\nc: ''\n", `1:1{1:1"a"=1:2"" 2:1"b"=3:3[3:3"" 4:3""] 5:1"c"=5:4'""}`},
		{"list in the column of its key", "a:\n- x\n- y\nb: 1\n", `1:1{1:1"a"=2:1[2:3"x" 3:3"y"] 4:1"b"=4:4"1"}`},
		{"element without a value above a key", "a:\n-\nb: 1\n", `1:1{1:1"a"=2:1[2:1""] 3:1"b"=3:4"1"}`},
		{"lists in lists", "- - a\n  - b\n-\n  - c\n", `1:1[1:3[1:5"a" 2:5"b"] 4:3[4:5"c"]]`},
		{"document marks", "---\na: 1\n...\n", `2:1{2:1"a"=2:4"1"}`},
		{"anchors", "a: &x {b: 1}\nc: *x\nd: &e\n  f: *x\n", `1:1{1:1"a"=1:7&x{1:8"b"=1:11"1"} 2:1"c"=2:4*x{1:8"b"=1:11"1"} 3:1"d"=4:3&e{4:3"f"=4:6*x{1:8"b"=1:11"1"}}}`},
		{"anchors without a value", "a: &x\nb: {c: &y , d: *y}\ne: [&z]\nf:\n  - &w\n", `1:1{1:1"a"=1:4&x"" 2:1"b"=2:4{2:5"c"=2:8&y"" 2:13"d"=2:16*y""} 3:1"e"=3:4[3:5&z""] 4:1"f"=5:3[5:5&w""]}`},
		{"JSON", "{\n\t\"a\": [1, 2.5e3, true, null,\n\t\"\\u00e9\\ud83d\\ude00\"], \"b\":{}}\n", `1:1{2:2''"a"=2:7[2:8"1" 2:11"2.5e3" 2:18"true" 2:24"null" 3:2''"é😀"] 3:25''"b"=3:29{}}`},
	} {
		t.Run(test.name, func(t *testing.T) {
			doc, problems := Parse("f", []byte(test.src), Options{})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if got := dump(doc.Root); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func TestParseProblems(t *testing.T) {
	for _, test := range []struct{ name, src, want string }{
		{"not UTF-8", "a: \xff\n", "f:1:4: yaml-encoding: this byte is not UTF-8"},
		{"control character", "a: b\nc: \x00\n", "f:2:4: yaml-encoding: this is a control character (U+0000): inside double quotes it can be written as an escape"},
		{"carriage return", "a: b\rc: d\n", "f:1:5: yaml-encoding: this carriage return ends no line"},
		{"glob", "tool: *_search\nkind: x\n", "f:1:7: yaml-alias: an unquoted `*` begins an alias, and no anchor above is called \"_search\": write '*_search' if it is text"},
		{"glob alone", "tool: *\nkind: x\n", "f:1:7: yaml-alias: an unquoted `*` begins an alias: write '*' if it is text"},
		{"globs", "tool: [get_*, *_x, *_y]\n", "f:1:15: yaml-alias: an unquoted `*` begins an alias, and no anchor above is called \"_x\": write '*_x' if it is text\nf:1:20: yaml-alias: an unquoted `*` begins an alias, and no anchor above is called \"_y\": write '*_y' if it is text"},
		{"regular expression in double quotes", "p: \"a\\d+\"\n", "f:1:6: yaml-escape: inside double quotes a backslash begins an escape, and with this letter none: a regular expression goes into single quotes"},
		{"short escape", "a: \"\\x4\"\n", "f:1:5: yaml-escape: this escape is not complete or means no character"},
		{"wrong escape", "a: [1, \"b\\u00zz\"]\n", "f:1:10: yaml-escape: this escape is not complete or means no character"},
		{"tab", "a:\n\tb: c\n", "f:2:1: yaml-tab: YAML is indented with spaces: a tab stands here"},
		{"tab in a literal", "a: |\n\tx\n", "f:2:1: yaml-tab: YAML is indented with spaces: a tab stands here"},
		{"single quote", "a: 'x\nb: y\n", "f:1:4: yaml-unclosed: this quote is never closed"},
		{"double quote", "a:\n  - \"x\n", "f:2:5: yaml-unclosed: this quote is never closed"},
		{"quote over a document mark", "a: 'x\n---\n'\n", "f:1:4: yaml-unclosed: this quote is still open at a `---` or `...` line"},
		{"bracket", "a: [x, y\n", "f:1:4: yaml-unclosed: this bracket is never closed"},
		{"bracket above a key", "a: [x\nb: y\n", "f:2:1: yaml-unclosed: a comma or the closing bracket should stand here\n  f:1:4: opened here"},
		{"bracket above a document mark", "[a\n---\n", "f:1:1: yaml-unclosed: this bracket is never closed"},
		{"nothing after a comma", "{a: [b, , c]}\n", "f:1:9: yaml-syntax: nothing stands before this comma"},
		{"anchor of a key", "&a b: c\n", "f:1:1: yaml-unsupported: a key has no anchor: put it in front of the value, on the line above"},
		{"two anchors", "a: &b &c d\n", "f:1:7: yaml-syntax: a value has one anchor at most"},
		{"ampersand", "a: & b\n", "f:1:4: yaml-syntax: a text that begins with `&` wants quotes"},
		{"lone surrogate", "a: \"\\ud800x\"\n", "f:1:5: yaml-escape: this escape is not complete or means no character"},
		{"closing bracket", "a: [b]]\n", "f:1:7: yaml-syntax: this bracket closes nothing"},
		{"wrong closing bracket", "a: [b}\n", "f:1:4: yaml-unclosed: this bracket is never closed"},
		{"brace", "a: }\n", "f:1:4: yaml-syntax: a text that begins with `}` wants quotes"},
		{"at", "a: @x\n", "f:1:4: yaml-syntax: a text that begins with `@` wants quotes"},
		{"backquote", "a: `x`\n", "f:1:4: yaml-syntax: a text that begins with a backquote wants quotes"},
		{"percent", "a: %x\n", "f:1:4: yaml-syntax: a text that begins with `%` wants quotes"},
		{"two colons", "a: b: c\n", "f:1:5: yaml-syntax: a second colon on this line: quote the value if the colon is part of it"},
		{"text after quotes", "a: \"x\" y\n", "f:1:8: yaml-syntax: nothing can follow the value on its line: quote the whole if it is one text"},
		{"pair in a list", "a: [fs:read, b: c]\n", "f:1:14: yaml-syntax: a key with a value inside a list wants braces; quote the text if the colon is part of it"},
		{"colon in braces", "{a:b, \"c\":d, e: f:g}\n", "f:1:3: yaml-syntax: inside braces a space follows the colon of a key: quote the text if the colon is part of it"},
		{"dash in brackets", "a: [\n  - b\n]\n", "f:2:3: yaml-syntax: inside brackets a list has no `-`: separate its elements with commas"},
		{"list on the line of its key", "a: - b\n", "f:1:4: yaml-syntax: a list with `-` begins on a line of its own: quote the text if the `-` is part of it"},
		{"list under a value", "a: x\n  - y\n", "f:2:3: yaml-indent: this `-` continues the text above: a list belongs below a key without a value"},
		{"key under a value", "- id: a\n   kind: b\n", "f:2:4: yaml-indent: this key is indented deeper than the text above, and so a part of it"},
		{"deeper than the entry above", "a: 'b'\n  c: d\n", "f:2:3: yaml-indent: this line is indented deeper than the entry above, which has its value already"},
		{"like nothing above", "a:\n    b: 1\n  c: 2\n", "f:3:3: yaml-indent: this line is indented like nothing above it"},
		{"key after elements", "a:\n  - b\n  c: d\n", "f:3:3: yaml-indent: an element of the list above would begin with `-` here"},
		{"element after keys", "a: b\n- c\n", "f:2:1: yaml-syntax: a list element cannot stand among keys"},
		{"no colon", "a: b\nc\n", "f:2:1: yaml-syntax: a key with a colon and a value should stand here"},
		{"no key", "a: b\n: c\n", "f:2:1: yaml-syntax: a key is missing before this colon"},
		{"no key in braces", "{: c}\n", "f:1:2: yaml-syntax: a key should stand here"},
		{"key over lines", "\"a\n  b\": c\n", "f:1:1: yaml-syntax: a key and its colon stand on one line"},
		{"no element", "[a,, b]\n", "f:1:4: yaml-syntax: nothing stands before this comma"},
		{"duplicate keys", "a: 1\nb: {c: 1, c: 2}\na: 3\na: 4\n", "f:2:11: yaml-duplicate-key: the key \"c\" is there twice\n  f:2:5: first here\nf:3:1: yaml-duplicate-key: the key \"a\" is there twice\n  f:1:1: first here\nf:4:1: yaml-duplicate-key: the key \"a\" is there twice\n  f:1:1: first here"},
		{"tag", "a: !!str 1\n", "f:1:4: yaml-unsupported: tags (`!`) are not read: quote the text if the `!` is part of it"},
		{"tag on a collection", "a: b\nc: !x {d: e}\n", "f:2:4: yaml-unsupported: tags (`!`) are not read: quote the text if the `!` is part of it"},
		{"directive", "%YAML 1.2\n---\na: b\n", "f:1:1: yaml-unsupported: directives (`%`) are not read"},
		{"two documents", "a: 1\n---\nb: 2\n", "f:2:1: yaml-unsupported: one document a file: this begins a second one"},
		{"merge key", "a: &x {b: 1}\nc:\n  <<: *x\n", "f:3:3: yaml-unsupported: merge keys (`<<`) are not part of YAML 1.2: write the members out"},
		{"complex key", "? a\n: b\n", "f:1:1: yaml-unsupported: keys that begin with `?` are not read: quote the text if the `?` is part of it"},
		{"alias as a key", "a: &x b\n*x : c\n", "f:2:1: yaml-unsupported: an alias is no key: quote the text if the `*` is part of it"},
		{"anchor twice", "- &a 1\n- &a 2\n", "f:2:3: yaml-alias: the anchor `&a` is there twice"},
		{"alias inside of its anchor", "a: &x [*x]\n", "f:1:8: yaml-alias: `*x` is inside of what it stands for"},
		{"odd anchor", "a: &(x) b\n", "f:1:4: yaml-alias: the name of an anchor has letters, digits and - _ . only; quote a text that begins with `&`"},
		{"block header", "a: |x\n  b\n", "f:1:4: yaml-syntax: after `|` or `>` comes the end of the line, or one of + - 1 to 9"},
		{"block text less indented", "a: |\n    b\n   c\n", "f:3:4: yaml-indent: this line is indented deeper than the entry above, which has its value already"},
		{"block text above its indicator", "a: |4\n  b\n", "f:2:3: yaml-indent: the text of a `|` or `>` block is indented evenly, and deeper than its key"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, problems := Parse("f", []byte(test.src), Options{})
			var lines []string
			for _, p := range problems {
				lines = append(lines, p.Error())
				for _, n := range p.Notes {
					lines = append(lines, "  "+n.Pos.String()+": "+n.Msg)
				}
			}
			if got := strings.Join(lines, "\n"); got != test.want {
				t.Errorf("%q\ngot  %s\nwant %s", test.src, got, test.want)
			}
		})
	}
}

func TestParseLimits(t *testing.T) {
	for _, test := range []struct{ name, src, want string }{
		{"size", strings.Repeat("x", 101), "f: yaml-limit: the file has 101 bytes; 100 are read at most"},
		{"depth in brackets", "a: [[[[]]]]", "f:1:6: yaml-limit: lists and mappings are at most 3 deep"},
		{"depth in lines", "a:\n b:\n  c:\n   d: 1\n", "f:4:4: yaml-limit: lists and mappings are at most 3 deep"},
		{"depth in dashes", "- - - - a", "f:1:7: yaml-limit: lists and mappings are at most 3 deep"},
		{"aliases", "- &a [1, 2, 3]\n- &b [*a, *a]\n- [*b, *b]\n", "f:3:8: yaml-limit: aliases add more than 20 values"},
	} {
		_, problems := Parse("f", []byte(test.src), Options{MaxBytes: 100, MaxDepth: 3, MaxNodes: 20})
		if got := problems.Error(); got != test.want {
			t.Errorf("%s: got %s, want %s", test.name, got, test.want)
		}
	}
	for name, src := range map[string]string{"tabs": "a: \"" + strings.Repeat("\t", 300) + "\"", "angles": strings.Repeat("<", 300)} {
		if _, problems := Parse("f", []byte(src), Options{}); len(problems) != 1 || problems[0].Code != "yaml-limit" {
			t.Errorf("%s: %v", name, problems)
		}
	}
	if _, problems := Parse("f", []byte("["+strings.Repeat("*a,", 5000)+"]"), Options{}); len(problems) != maxProblems {
		t.Errorf("%d problems are listed, want %d", len(problems), maxProblems)
	}
}

// TestParseHostile parses what makes naive readers of YAML slow: each source
// takes milliseconds where time is in proportion to its size.
func TestParseHostile(t *testing.T) {
	const size = 1 << 17
	fill := func(part string) string { return strings.Repeat(part, size/len(part)) }
	for name, src := range map[string]string{
		"brackets": fill("["), "braces": fill("{a: "), "dashes": fill("- "), "documents": fill("---\n"), "keys": fill("a:\n"),
		"tabs": "a: \"" + strings.Repeat("\t", 200) + fill("x") + "\"", "plain lines": "a: " + fill("b\n  "), "plain dashes": "a: b" + fill("\n  - c"),
		"literal lines": "a: |\n" + fill("  b\n"), "quoted lines": "a: '" + fill("b\n  ") + "'", "empty lines": "a: b" + fill("\n") + "  c",
		"comments": fill("# x\n"), "comments between": fill("- a\n# x\n"), "comments behind": fill("- a # x\n"), "pipes": fill("- |\n"),
		"colons": fill("a:"), "questions": fill("? "), "anchors": fill("&a "), "aliases": "[" + fill("*a,") + "]", "stars": fill("*"), "tags": fill("!a "),
		"angles": fill("<< "), "commas": "[" + fill("a,") + "]", "escapes": "\"" + fill(`\u0041`) + "\"", "bad escapes": fill("\"\\q\"\n"), "reserved": fill("@ "),
		"deep lines": func() string {
			var b strings.Builder
			for i := 0; b.Len() < size; i++ {
				fmt.Fprintf(&b, "%sa:\n", strings.Repeat(" ", i))
			}
			return b.String()
		}(),
		"laughs": func() string {
			var b strings.Builder
			b.WriteString("- &a0 [x, x]\n")
			for i := 1; b.Len() < size; i++ {
				fmt.Fprintf(&b, "- &a%d [*a%d, *a%d]\n", i, i-1, i-1)
			}
			return b.String()
		}(),
	} {
		start := time.Now()
		doc, problems := Parse("f", []byte(src), Options{})
		if len(problems) == 0 {
			doc.Append(nil)
		}
		if took := time.Since(start); took > 10*time.Second {
			t.Errorf("%s: %v for %d bytes", name, took, len(src))
		}
	}
}

func TestScalars(t *testing.T) {
	for _, test := range []struct {
		src       string
		want      Type
		rewritten string
	}{
		{"", Null, "nothing"},
		{"~", Null, "nothing"},
		{"null", Null, "nothing"},
		{"true", Bool, "true or false"},
		{"False", Bool, "true or false"},
		{"12", Int, "a number"},
		{"-0", Int, "a number"},
		{"0x1F", Int, "a number"},
		{"0o17", Int, "a number"},
		{"007", Int, "a number"},
		{"1.0", Float, "a number"},
		{"-1e-3", Float, "a number"},
		{".inf", Float, "a number"},
		{"1e999", Float, "a number"},
		{"99999999999999999999", Float, "a number"},
		{"yes", String, "true or false"},
		{"No", String, "true or false"},
		{"1_000", String, "a number or a date"},
		{"0b11", String, "a number or a date"},
		{"12:30:00", String, "a number or a date"},
		{"2001-12-14", String, "a number or a date"},
		{"2001-12-14 21:59:43.10 -5", String, "a number or a date"},
		{"1.2.3", String, "a number or a date"},
		{"0xfg", String, ""},
		{"infinity", String, ""},
		{"get_*", String, ""},
		{"1st", String, ""},
		{"y", String, ""},
		{"-", String, ""},
		{"e", String, ""},
	} {
		n := &Node{Text: test.src}
		if n.Type() != test.want || n.Rewritten() != test.rewritten {
			t.Errorf("%q: %v, rewritten as %q; want %v, %q", test.src, n.Type(), n.Rewritten(), test.want, test.rewritten)
		}
		if quoted := (&Node{Text: test.src, Style: SingleQuoted}); quoted.Type() != String || quoted.Rewritten() != "" {
			t.Errorf("%q in quotes is no string", test.src)
		}
	}
	if v, ok := (&Node{Text: "0x1F"}).Int(); v != 31 || !ok {
		t.Error("0x1F", v, ok)
	}
	if v, ok := (&Node{Text: "0o17"}).Float(); v != 15 || !ok {
		t.Error("0o17", v, ok)
	}
	if v, ok := (&Node{Text: "-.inf"}).Float(); !math.IsInf(v, -1) || !ok {
		t.Error("-.inf", v, ok)
	}
	if v, ok := (&Node{Text: "True"}).Bool(); !v || !ok {
		t.Error("True", v, ok)
	}
	for _, n := range []*Node{{Text: "x"}, {Text: "1", Style: DoubleQuoted}, {Kind: Mapping}} {
		_, isInt := n.Int()
		_, isFloat := n.Float()
		_, isBool := n.Bool()
		if isInt || isFloat || isBool || n.IsNull() {
			t.Errorf("%v is no number, truth value or null", n)
		}
	}
}

// TestPosAt looks up where every byte of a scalar's text stands.
func TestPosAt(t *testing.T) {
	for _, test := range []struct {
		src  string
		text string
		cols []int // of every byte of text, and of its end
	}{
		{"k: abc", "abc", []int{4, 5, 6, 7}},
		{"k: 'a''b'", "a'b", []int{5, 6, 8, 9}},
		{`k: "a\\\"b"`, `a\"b`, []int{5, 6, 8, 10, 11}},
		{`k: "\u00e9x\x41\n"`, "éxA\n", []int{5, 5, 11, 12, 16, 18}},
		{`k: "\ud83d\ude00!"`, "😀!", []int{5, 5, 5, 5, 17, 18}},
		{`é: 'ü.'`, "ü.", []int{6, 7, 8, 9}},
		{"k: |\n  abc\n", "abc\n", []int{4, 4, 4, 4, 4}},
		{"k: 'a\n  b'", "a b", []int{4, 4, 4, 4}},
		{"k: \"\"", "", []int{5}},
	} {
		doc, problems := Parse("f", []byte(test.src), Options{})
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		n := doc.Root.Entries[0].Value
		if n.Text != test.text {
			t.Fatalf("%q: text %q", test.src, n.Text)
		}
		for i, want := range test.cols {
			if got := n.PosAt(i); got.Col != want || got.Line != 1 {
				t.Errorf("%q: byte %d is at %s, want column %d", test.src, i, got, want)
			}
		}
	}
}

func TestLookup(t *testing.T) {
	doc, _ := Parse("f", []byte("a: 1\nb: [2]\n"), Options{})
	if n := doc.Root.Lookup("b"); n == nil || n.Kind != Sequence {
		t.Error("b is not found")
	}
	if n := doc.Root.Lookup("c"); n != nil {
		t.Error("c is found")
	}
	if n := doc.Root.Lookup("b").Lookup("x"); n != nil {
		t.Error("a list has members")
	}
	var none *Node
	if none.Lookup("a") != nil {
		t.Error("nothing has members")
	}
}

func TestEntry(t *testing.T) {
	doc, _ := Parse("f", []byte("a: 1\nb:\n  - &x 2\n"), Options{})
	if at := doc.Root.Entries[1].Pos().String(); at != "f:2:1" {
		t.Errorf("a member is at %s", at)
	}
	if at := doc.Root.Lookup("b").Entries[0].Pos().String(); at != "f:3:8" {
		t.Errorf("an element is at %s", at)
	}
	if !doc.HasAnchors() {
		t.Error("the anchor is not seen")
	}
}

func TestEnd(t *testing.T) {
	doc, _ := Parse("f", []byte("a: [1,\n  2] # c\nb:\n  - 'c'\n  - d: |\n      e\n    f: g\n    f: h\ni: *j\n"), Options{})
	for key, want := range map[string]string{"a": "f:2:5", "b": "f:8:9", "i": "f:9:6"} {
		if got := doc.Root.Lookup(key).End().String(); got != want {
			t.Errorf("%s ends at %s, want %s", key, got, want)
		}
	}
	if made := (&Node{}); made.End() != made.Pos {
		t.Error("a node that was not parsed has no end")
	}
}

func TestTypeNames(t *testing.T) {
	names := map[string]bool{}
	for typ := String; typ <= Float; typ++ {
		names[typ.String()] = true
	}
	for kind := Scalar; kind <= Mapping; kind++ {
		names[kind.String()] = true
	}
	if len(names) != 7 { // a text is both
		t.Errorf("%q", slices.Sorted(maps.Keys(names)))
	}
}
