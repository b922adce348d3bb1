package report_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
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
	d.Section("gallery", report.Gallery{{Title: markup, Alt: markup, SVG: []byte("<svg xmlns=\"http://www.w3.org/2000/svg\"><title>ok</title></svg>"), Lines: []string{markup}}})
	chart := report.Bars{Title: markup, Keys: []string{markup}, Lo: -1, Hi: 1, Rows: []report.Bar{{Name: markup, IsCode: true, Spans: []report.Span{{To: 1, Title: markup}}, Is: &report.Estimated{Value: math.NaN(), Lo: 0, Hi: math.Inf(1)}, Text: markup}}, Notes: []string{markup}}
	opens := report.NewTable("opens", markup, report.Column{Key: "a"}, report.Column{Key: "b", Detail: true})
	opens.Add(report.Name(markup), report.Name("left out"))
	opens.Open = func(int) []report.Block { return []report.Block{report.Paragraph(markup)} }
	d.Section("page", report.Tiles{{Label: markup, Value: markup, Note: markup}}, report.Pair{{chart}, {report.Heading(markup), report.Fold{Summary: markup, Key: 1, Blocks: []report.Block{report.Code{Text: markup}}}}}, opens)
	return d
}

func TestHTMLIsSafe(t *testing.T) {
	var page bytes.Buffer
	if err := markupDocument().WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	elements := map[string]int{}
	text, scripts := withoutScripts(page.Bytes())
	_, allowed, _ := bytes.Cut(text, []byte("script-src"))
	allowed, _, _ = bytes.Cut(allowed, []byte(">"))
	policy := regexp.MustCompile(`'sha256-([^']*)'`).FindAllSubmatch(allowed, -1)
	_, style, _ := bytes.Cut(text, []byte("<style>"))
	style, _, _ = bytes.Cut(style, []byte("</style>"))
	if sum := sha256.Sum256(style); !bytes.Contains(text, []byte("style-src 'sha256-"+base64.StdEncoding.EncodeToString(sum[:])+"'")) {
		t.Error("the style is not the one that the policy allows")
	}
	if len(scripts) != len(policy) || len(scripts) != 1 {
		t.Fatalf("%d scripts, %d in the policy, want 1", len(scripts), len(policy))
	}
	for i, s := range scripts {
		if sum := sha256.Sum256(s); base64.StdEncoding.EncodeToString(sum[:]) != string(policy[i][1]) {
			t.Errorf("script %d is not the one that the policy allows", i)
		}
		if bytes.Contains(s, []byte("alert(1)")) {
			t.Errorf("a name is in script %d", i)
		}
	}
	dec := xml.NewDecoder(bytes.NewReader(text))
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
		if text, ok := token.(xml.CharData); ok && bytes.Contains(text, []byte("left out")) {
			t.Error("a column that is a detail is in a table that opens")
		}
		start, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		elements[start.Name.Local]++
		for _, a := range start.Attr {
			if strings.HasPrefix(a.Name.Local, "on") || a.Name.Local == "style" || a.Name.Local == "src" || a.Name.Local == "href" && !strings.HasPrefix(a.Value, "#s") {
				t.Errorf("<%s> has %s=%q", start.Name.Local, a.Name.Local, a.Value)
			}
		}
	}
	for _, name := range []string{"script", "img", "link", "iframe", "object"} {
		if elements[name] > 0 {
			t.Errorf("the page has <%s>", name)
		}
	}
	if elements["table"] != 2 || elements["section"] != 4 || elements["svg"] != 4 || elements["td"] != 8 || elements["caption"] != 2 {
		t.Errorf("elements are %v", elements)
	}
	if bytes.ContainsAny(text, "\x1b\u202e") || bytes.Contains(text, []byte("<?xml")) {
		t.Error("control characters or an XML declaration got into the page")
	}
	if !bytes.Contains(page.Bytes(), []byte("1,234")) || !bytes.Contains(page.Bytes(), []byte("[1.0, 2.0]")) {
		t.Error("figures are missing")
	}
}

// withoutScripts returns a page without the scripts that run in it, and those.
func withoutScripts(page []byte) (text []byte, scripts [][]byte) {
	for {
		before, rest, found := bytes.Cut(page, []byte("<script>"))
		text = append(text, before...)
		if !found {
			return text, scripts
		}
		script, after, _ := bytes.Cut(rest, []byte("</script>"))
		scripts, page = append(scripts, script), after
	}
}

// TestApp holds the data of an app to what scripts may find in a page: nothing in it
// can end the element that it stands in.
func TestApp(t *testing.T) {
	app, err := report.NewApp(report.AppProcessMap, map[string]string{markup: "</script><!--" + markup})
	if err != nil {
		t.Fatal(err)
	}
	d := &report.Document{Title: "t"}
	d.Add(report.Paragraph("before"), app)
	var page bytes.Buffer
	if err := d.WriteHTML(&page); err != nil {
		t.Fatal(err)
	}
	text, scripts := withoutScripts(page.Bytes())
	if len(scripts) != 2 {
		t.Errorf("%d scripts, want a library and one of our own", len(scripts))
	}
	_, rest, _ := bytes.Cut(text, []byte(`<script type="application/json">`))
	data, _, _ := bytes.Cut(rest, []byte("</script>"))
	var got map[string]string
	if err := json.Unmarshal(data, &got); err != nil || got[markup] != "</script><!--"+markup {
		t.Errorf("the data is %q: %v", data, err)
	}
	if bytes.ContainsAny(data, "<>&") {
		t.Errorf("markup in the data: %s", data)
	}
	var out bytes.Buffer
	for _, format := range []report.Format{report.FormatText, report.FormatMarkdown} {
		out.Reset()
		if err := d.Write(&out, format, report.Options{}); err != nil || strings.Contains(out.String(), "script") {
			t.Errorf("%s: %v\n%s", format, err, out.String())
		}
	}
	if _, err := report.NewApp(report.AppTimelines, math.NaN()); err == nil {
		t.Error("what is no JSON was taken")
	}
}

// TestLibraries holds what is embedded to the table that says what it is.
func TestLibraries(t *testing.T) {
	table, err := os.ReadFile("page/vendor/README.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("page/vendor/*.js")
	if err != nil || len(files) == 0 {
		t.Fatal("no libraries", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if row := fmt.Sprintf("%x |", sha256.Sum256(data)); !strings.Contains(string(table), row) {
			t.Errorf("%s has another hash than page/vendor/README.md says", name)
		}
		if bytes.Contains(bytes.ToLower(data), []byte("</script")) {
			t.Errorf("%s would end its own element", name)
		}
	}
}

func TestMarkdownFolds(t *testing.T) {
	var b bytes.Buffer
	if err := markupDocument().Write(&b, report.FormatMarkdown, report.Options{Fold: true}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if strings.Count(text, "<details><summary>") != 3 || strings.Count(text, "</details>") != 3 {
		t.Errorf("three sections should be folded:\n%s", text)
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
