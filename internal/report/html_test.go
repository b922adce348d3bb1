package report_test

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
)

// markup is text that would be markup, were it not escaped.
const markup = `<script>alert(1)</script>"><img src=x onerror=alert(1)>&amp;'` + "\x1b[31m\u202e</td></table>"

func markupDocument() *report.Document {
	table := report.NewTable("t", markup, report.Column{Key: "a", Title: markup}, report.Column{Key: "b", Align: report.Right, Unit: markup}, report.Column{Key: "c", Interval: true})
	table.Add(report.Name(markup), report.Int(1234), report.Range(stat.Interval{Lo: 1, Hi: 2, Level: 0.95, Method: "m"}, 1))
	table.Add(report.Text(markup), report.Missing(markup), report.Missing(markup))
	table.Note("%s", markup)
	d := &report.Document{Title: markup}
	d.Add(report.Paragraph(markup))
	d.Section(markup, report.List{markup}, report.Code{Language: markup, Text: markup}, table, report.NewTable("empty", markup))
	d.Section("picture", report.Picture{Alt: markup, SVG: []byte("<?xml version=\"1.0\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\"><title>ok</title></svg>\n")})
	return d
}

func TestHTMLIsSafe(t *testing.T) {
	var page bytes.Buffer
	if err := markupDocument().WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	elements := map[string]int{}
	dec := xml.NewDecoder(bytes.NewReader(page.Bytes()))
	dec.AutoClose, dec.Entity = xml.HTMLAutoClose, xml.HTMLEntity
	dec.Strict = false // a page is no XML, but what is written here is near it
	for {
		token, err := dec.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("not well-formed: %v\n%s", err, page.Bytes())
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		elements[start.Name.Local]++
		for _, a := range start.Attr {
			if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "src" || a.Name.Local == "href" && !strings.HasPrefix(a.Value, "#s") {
				t.Errorf("<%s> has %s=%q", start.Name.Local, a.Name.Local, a.Value)
			}
		}
	}
	for _, name := range []string{"script", "img", "link", "iframe", "object"} {
		if elements[name] > 0 {
			t.Errorf("the page has <%s>", name)
		}
	}
	if elements["table"] != 1 || elements["section"] != 3 || elements["svg"] != 1 || elements["td"] != 6 || elements["caption"] != 1 {
		t.Errorf("elements are %v", elements)
	}
	if bytes.ContainsAny(page.Bytes(), "\x1b\u202e") || bytes.Contains(page.Bytes(), []byte("<?xml")) {
		t.Error("control characters or an XML declaration got into the page")
	}
	if !bytes.Contains(page.Bytes(), []byte("1,234")) || !bytes.Contains(page.Bytes(), []byte("[1.0, 2.0]")) {
		t.Error("figures are missing")
	}
}

func TestMarkdownFolds(t *testing.T) {
	var b bytes.Buffer
	if err := markupDocument().Write(&b, report.FormatMarkdown, report.Options{Fold: true}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if strings.Count(text, "<details><summary>") != 2 || strings.Count(text, "</details>") != 2 {
		t.Errorf("two sections should be folded:\n%s", text)
	}
	if strings.Contains(text, "<summary><script") || strings.Contains(text, "<svg") {
		t.Errorf("a heading is markup, or a picture is there:\n%s", text)
	}
	b.Reset()
	if err := markupDocument().Write(&b, report.FormatMarkdown, report.Options{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "<details>") {
		t.Error("folded without being asked")
	}
}
