package report

import (
	"fmt"
	"strings"
	"testing"
)

// TestScreen holds short text to its lines: what cannot be cut stays, what stands first
// gets the room, and what is left out is named; with details there is all.
func TestScreen(t *testing.T) {
	table := func(id string) *Table {
		table := NewTable(id, "", Column{Key: "row"})
		for i := range 8 {
			table.Add(Textf("%s %d", id, i))
		}
		return table
	}
	for _, lines := range []int{10, 14, 18, 25, 60} {
		d := &Document{Answer: "The answer.", Lines: lines, Next: []string{"awo next"}}
		d.Add(Paragraph("Warning: kept."))
		d.Section("First", table("first"))
		d.Section("Findings", Foremost{Items: List{"one", "two", "three"}, Total: 5, More: func(n int) string { return fmt.Sprintf("%d more found", n) }})
		d.Section("Last", table("last"))
		var short, all strings.Builder
		if err := d.Write(&short, FormatText, Options{}); err != nil {
			t.Fatal(err)
		}
		text := short.String()
		if n := strings.Count(text, "\n"); n > lines {
			t.Errorf("%d lines, not %d:\n%s", n, lines, text)
		}
		for _, want := range []string{"The answer.", "Warning: kept.", "Next: awo next"} {
			if !strings.Contains(text, want) {
				t.Errorf("at %d lines %q is missing:\n%s", lines, want, text)
			}
		}
		if !strings.Contains(text, "last 0") && !strings.Contains(text, "--details shows more: last") && !strings.Contains(text, "first; last") {
			t.Errorf("at %d lines nothing says that the last section is left out:\n%s", lines, text)
		}
		if strings.Contains(text, "last 0") && !strings.Contains(text, "first 0") {
			t.Errorf("at %d lines the last section goes before the first:\n%s", lines, text)
		}
		if err := d.Write(&all, FormatText, Options{Details: true}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"first 7", "last 7", "three", "2 more found"} {
			if !strings.Contains(all.String(), want) {
				t.Errorf("with details %q is missing", want)
			}
		}
	}
}
