package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/internal/report"
)

func textOf(t interface{ Fatal(...any) }, d *report.Document, o report.Options) string {
	var b bytes.Buffer
	if err := d.Write(&b, report.FormatText, o); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestShortText shows what short text leaves out, and what it says of that.
func TestShortText(t *testing.T) {
	d := &report.Document{Title: "Tools", Answer: "Two tools fail.", Next: []string{"awo backtest traces/ # what would be saved", "awo show x"}}
	d.Add(report.Short("Read: two files."))
	table := report.NewTable("tools", "", report.Column{Key: "tool"}, report.Column{Key: "calls", Align: report.Right})
	table.Brief = 2
	for i := range 5 {
		table.Add(report.Name(fmt.Sprint("tool-", i)), report.Int(100*i))
	}
	table.Note("A note.")
	d.Section("By tool", table)
	d.Details()
	d.Section("What was read", report.Paragraph("Two files with five tools."))
	d.Add(report.NewTable("days", "By day", report.Column{Key: "day"}))
	want := `Two tools fail.

Read: two files.

By tool
tool    calls
─────────────
tool-0      0
tool-1    100
  3 more with --details.

--details shows more: what was read; by day.

Next: awo backtest traces/  # what would be saved
Next: awo show x
`
	if got := textOf(t, d, report.Options{}); got != want {
		t.Errorf("short:\n%s", got)
	}
	long := textOf(t, d, report.Options{Details: true})
	for _, part := range []string{"Two tools fail.\n", "tool-4    400\n", "  A note.\n", "What was read\n─────────────\nTwo files with five tools.\n", "By day\n(no rows)\n", "Next: awo show x\n"} {
		if !strings.Contains(long, part) {
			t.Errorf("details lack %q:\n%s", part, long)
		}
	}
	if strings.Contains(long, "Read: two files.") || strings.Contains(long, "--details") {
		t.Errorf("details:\n%s", long)
	}
	var markdown bytes.Buffer
	if err := d.Write(&markdown, report.FormatMarkdown, report.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"Two tools fail.", "tool-4", "A note.", "Two files with five tools.", "Next: `awo backtest traces/` (what would be saved)"} {
		if !strings.Contains(markdown.String(), part) {
			t.Errorf("Markdown lacks %q:\n%s", part, &markdown)
		}
	}
}

// TestNarrowTable shows in which order a table gives way.
func TestNarrowTable(t *testing.T) {
	d := &report.Document{}
	table := report.NewTable("t", "", report.Column{Key: "name"}, report.Column{Key: "least", Title: "least wanted", Rank: 1}, report.Column{Key: "n", Title: "how many there are", Align: report.Right},
		report.Column{Key: "why", Wrap: true})
	table.Add(report.Text("short"), report.Text("x"), report.Int(12), report.Text("because of something that takes many words to say"))
	d.Add(table)
	if got := textOf(t, d, report.Options{Columns: 60}); strings.Contains(got, "No room") || !strings.Contains(got, "least wanted") && !strings.Contains(got, "wanted") {
		t.Errorf("60:\n%s", got)
	}
	if got := textOf(t, d, report.Options{Columns: 40}); !strings.Contains(got, "No room for: least wanted.") || !strings.Contains(got, "how") {
		t.Errorf("40:\n%s", got)
	}
	if got := textOf(t, d, report.Options{}); !strings.Contains(got, "because of something that takes many words to say") || strings.Contains(got, "No room") {
		t.Errorf("any width:\n%s", got)
	}
}

// TestTablesFit draws tables of any texts and figures: none is wider than it may be, and
// what is not there is named.
func TestTablesFit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 8).Draw(t, "columns")
		var columns []report.Column
		for j := range n {
			c := report.Column{Key: fmt.Sprint("c", j), Title: rapid.StringMatching(`[a-z ]{1,24}`).Draw(t, "title"), Rank: rapid.IntRange(0, 3).Draw(t, "rank"), Wrap: rapid.Bool().Draw(t, "wrap")}
			if rapid.Bool().Draw(t, "right") {
				c.Align = report.Right
			}
			columns = append(columns, c)
		}
		table := report.NewTable("t", "", columns...)
		for range rapid.IntRange(1, 4).Draw(t, "rows") {
			var cells []report.Cell
			for _, c := range columns {
				if c.Align == report.Right {
					cells = append(cells, report.Int(rapid.IntRange(-1_000_000, 1_000_000).Draw(t, "figure")))
				} else {
					cells = append(cells, report.Name(rapid.StringN(0, 60, -1).Draw(t, "text")))
				}
			}
			table.Add(cells...)
		}
		d := &report.Document{}
		d.Add(table)
		width := rapid.IntRange(40, 200).Draw(t, "width")
		got := textOf(t, d, report.Options{Columns: width, Width: width})
		for line := range strings.Lines(got) {
			if w := report.Width(strings.TrimRight(line, "\n")); w > width {
				t.Fatalf("%d columns of %d: %q\n%s", w, width, line, got)
			}
		}
	})
}

// TestSort orders rows by what their cells hold, with missing ones last.
func TestSort(t *testing.T) {
	table := report.NewTable("t", "", report.Column{Key: "name"}, report.Column{Key: "n", Align: report.Right})
	table.Add(report.Name("b"), report.Int(2))
	table.Add(report.Name("a"), report.Missing("not known"))
	table.Add(report.Name("c"), report.Float(10, 1))
	table.Add(report.Name("d"), report.Int(2))
	for key, want := range map[string]string{"n": "c b d a", "-n": "b d c a", "name": "d c b a", "-name": "a b c d", "": "b a c d"} {
		one := *table
		if err := one.Sort(key); err != nil {
			t.Fatal(err)
		}
		d := &report.Document{}
		d.Add(&one)
		var names []string
		for i, line := range strings.Split(textOf(t, d, report.Options{}), "\n") {
			if i > 1 && i < 6 {
				names = append(names, line[:1])
			}
		}
		if got := strings.Join(names, " "); got != want {
			t.Errorf("%q: %s, want %s", key, got, want)
		}
	}
	if err := table.Sort("size"); err == nil || !strings.Contains(err.Error(), "name, n") {
		t.Error(err)
	}
}
