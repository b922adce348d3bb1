package report

import (
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

func TestEscape(t *testing.T) {
	for in, want := range map[string]string{
		"plain":               "plain",
		"a\tb\nc\rd":          `a\tb\nc\rd`,
		"\x1b]0;title\x07":    `\x1b]0;title\a`,
		"\x7f":                `\x7f`,
		"\u009b2J":            `\u009b2J`,
		"\u202eabc\u2066":     `\u202eabc\u2066`,
		"a\u00a0b\u200bc":     `a\u00a0b\u200bc`,
		"\ufeff":              `\ufeff`,
		"\xc3\x28":            `\xc3(`,
		"\U000e0041":          `\U000e0041`,
		"\ufffd":              "\ufffd",
		`C:\new "x" 'y'`:      `C:\new "x" 'y'`,
		"é ü 日本 ‹v1› 👍":       "é ü 日本 ‹v1› 👍",
		"line\u2028par\u2029": `line\u2028par\u2029`,
	} {
		if got := Escape(in); got != want {
			t.Errorf("Escape(%q) is %q, want %q", in, got, want)
		}
	}
	if got, want := escape("a\n\tb", true), "a\n\\tb"; got != want {
		t.Errorf("with lines: %q, want %q", got, want)
	}
}

func TestEscapeMarkdown(t *testing.T) {
	for in, want := range map[string]string{
		"get_user_details":     "get_user_details",
		"_private_ x_":         `\_private\_ x\_`,
		"a|b*c*":               `a\|b\*c\*`,
		"3.5 turns":            "3.5 turns",
		"1. item":              `1\. item`,
		"12) item":             `12\) item`,
		"# no heading":         `\# no heading`,
		"a # b - c":            "a # b - c",
		"- no item":            `\- no item`,
		"[x](y) <b>":           `\[x\](y) &lt;b&gt;`,
		"see https://e.org":    `see https\://e.org`,
		"www.e.org, WWW.x":     `www\.e.org, WWW\.x`,
		"&amp; a & b":          `\&amp; a & b`,
		"@user a@b.c 5 @ home": "@<!-- -->user a@<!-- -->b.c 5 @ home",
		`\* \n`:                `\\\* \n`,
	} {
		if got := EscapeMarkdown(in); got != want {
			t.Errorf("EscapeMarkdown(%q) is %q, want %q", in, got, want)
		}
	}
}

func TestCodeSpan(t *testing.T) {
	for in, want := range map[string]string{
		"":         "",
		"a_b":      "`a_b`",
		"a`b":      "a\\`b",
		"a|b":      "a\\|b",
		`a\|b`:     `a\\\|b`,
		" a ":      "`  a  `",
		"<script>": "&lt;script&gt;",
		"a\n\x1b":  "`a\\n\\x1b`",
	} {
		if got := codeSpan(in); got != want {
			t.Errorf("codeSpan(%q) is %q, want %q", in, got, want)
		}
	}
}

func TestEscapeCSV(t *testing.T) {
	for in, want := range map[string]string{
		"a=b":       "a=b",
		"=1+1":      "'=1+1",
		"+1":        "'+1",
		"-x":        "'-x",
		"@sum":      "'@sum",
		"＝1":        "'＝1",
		"a;=b":      "a;'=b",
		"a; \"=b":   "a; \"'=b",
		"\t=1":      `\t=1`, // the tab is no tab any more
		"get-it; x": "get-it; x",
	} {
		if got := escapeCSV(in); got != want {
			t.Errorf("escapeCSV(%q) is %q, want %q", in, got, want)
		}
	}
}

// Whatever a name is, every form of it is one line without a character that a
// terminal acts on, and escaping again changes nothing.
func TestEscapeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		for name, escaped := range map[string]string{
			"Escape": Escape(s), "markdown": EscapeMarkdown(s), "code": codeSpan(s), "csv": escapeCSV(s),
		} {
			if i := strings.IndexFunc(escaped, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 {
				t.Fatalf("%s of %q holds %q", name, s, escaped[i:])
			}
		}
		if once := Escape(s); Escape(once) != once {
			t.Fatalf("Escape(%q) is not stable", s)
		}
	})
}

func TestWidths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := Escape(rapid.String().Draw(t, "text"))
		width := rapid.IntRange(10, 40).Draw(t, "width")
		if cut := Cut(s, width); Width(cut) > width || Width(s) <= width && cut != s {
			t.Fatalf("Cut(%q, %d) is %q", s, width, cut)
		}
		lines := wrap(s, width)
		for _, line := range lines {
			if Width(line) > width {
				t.Fatalf("wrap(%q, %d) has a line of %d columns", s, width, Width(line))
			}
		}
		squeeze := func(s string) string { return strings.ReplaceAll(s, " ", "") }
		if squeeze(strings.Join(lines, "")) != squeeze(s) {
			t.Fatalf("wrap(%q, %d) loses text: %q", s, width, lines)
		}
	})
	for width, want := range map[int]string{0: "", 1: "…", 2: "a…", 5: "ab…ef", 6: "abcdef"} {
		if got := Cut("abcdef", width); got != want {
			t.Errorf("Cut to %d: %q, want %q", width, got, want)
		}
	}
	if got, want := Cut("日本語のツール", 8), "日本…ル"; got != want {
		t.Errorf("Cut of wide characters: %q, want %q", got, want)
	}
}

func TestGroup(t *testing.T) {
	for in, want := range map[float64]string{0: "0.00", -0.001: "0.00", 999: "999.00", 1000: "1,000.00", -1234567.891: "-1,234,567.89", 2e15: "2.00e+15"} {
		if got := Decimal(in, 2); got != want {
			t.Errorf("Decimal(%v, 2) is %q, want %q", in, got, want)
		}
	}
}

// FuzzName puts any name into every format: JSON and CSV must read back, and
// no format gets more lines than it has rows.
func FuzzName(f *testing.F) {
	for _, s := range []string{"a", "\x1b[31m", "a\nb", "=1", "a|b", "`", "\u202e", "日本", "\xff", `"`, "", " ", strings.Repeat("x", 200)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		table := NewTable("t", "", Column{Key: "name"}, Column{Key: "n", Align: Right})
		table.Add(Name(s), Int(1))
		table.Add(Text(s), Int(2))
		var d Document
		d.Add(table)
		written := map[Format]string{}
		for _, format := range Formats() {
			var b strings.Builder
			if err := d.Write(&b, format, Options{}); err != nil {
				t.Fatal(err)
			}
			written[format] = b.String()
		}
		if n := strings.Count(written[FormatText], "\n"); n != 4 {
			t.Errorf("text of %d lines, want 4:\n%s", n, written[FormatText])
		}
		if n := strings.Count(written[FormatMarkdown], "\n"); n != 4 {
			t.Errorf("Markdown of %d lines, want 4:\n%s", n, written[FormatMarkdown])
		}
		records, err := csv.NewReader(strings.NewReader(written[FormatCSV])).ReadAll()
		if err != nil || len(records) != 3 {
			t.Errorf("CSV of %d records (%v), want 3:\n%s", len(records), err, written[FormatCSV])
		}
		var back struct {
			Tables struct {
				T struct{ Rows []struct{ Name string } }
			}
		}
		if err := json.Unmarshal([]byte(written[FormatJSON]), &back); err != nil {
			t.Fatal(err)
		}
		if got, want := back.Tables.T.Rows[1].Name, strings.ToValidUTF8(s, "\ufffd"); len(got) < len(s) && got != want {
			t.Errorf("JSON reads back as %q, want %q", got, want)
		}
	})
}
