package report_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/golden"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
)

// hostile are names that a trace may hold.
var hostile = []string{
	"get_user_details",
	"\x1b[31mred\x1b[0m",
	"two\nlines\r\n",
	"a|b",
	"=HYPERLINK(\"http://evil\";\"x\")",
	"ok;=cmd",
	"<img src=x onerror=alert(1)>",
	"[click](https://evil.example)",
	"@everyone",
	"`tick`",
	"``` fence",
	"\u202egnp.exe",
	"日本語のツール",
	"\xff\xfe",
	"*bold* _em_ ~~no~~",
	"",
	" lead and trail ",
	strings.Repeat("very_long_name_", 8) + "end",
}

func sample() *report.Document {
	figures := report.NewTable("entropy", "How much the last calls say about the next one",
		report.Column{Key: "k", Title: "calls known", Align: report.Right},
		report.Column{Key: "bits", Title: "entropy", Unit: "bits", Align: report.Right},
		report.Column{Key: "interval", Title: "95 % interval", Interval: true},
		report.Column{Key: "share", Unit: "%", Align: report.Right},
		report.Column{Key: "p", Title: "p", Align: report.Right},
		report.Column{Key: "enough"},
	)
	figures.Add(report.Int(0), report.Float(3.14159265, 2), report.Range(stat.Interval{Lo: 3, Hi: 3.25, Level: 0.95, Method: "bootstrap over tasks"}, 2),
		report.Share(0.18249, 1), report.Float(1.3e-40, 1), report.Bool(true))
	figures.Add(report.Int(1234567), report.Float(math.Inf(1), 2), report.Range(stat.NoInterval("only 3 tasks"), 2),
		report.Missing("no trajectory has three calls"), report.Missing("only 3 tasks"), report.Bool(false))
	figures.Add(report.Int64(-1000), report.Float(-0.001, 1), report.Range(stat.Interval{Lo: math.Inf(-1), Hi: math.Inf(1), Level: 0.95, Method: "none"}, 1),
		report.Share(1, 0), report.Float(math.NaN(), 1), report.Text("text, \"quoted\""))
	figures.Note("Plug-in values fall towards 0 as contexts become unique.")

	names := report.NewTable("tools", "", report.Column{Key: "tool"}, report.Column{Key: "doc", Title: "what it is", Max: 24, Wrap: true})
	for _, name := range hostile {
		names.Add(report.Name(name), report.Text("taken from the traces: "+name))
	}

	d := &report.Document{Title: "A report on <tools>"}
	d.Add(report.Paragraph("An opening sentence that is long enough to be wrapped when it is shown on a terminal of the usual width, with *stars*, a get_user_details and 3.5 turns."))
	d.Section("Figures", figures, report.List{"a short sentence", "another one that is so long that its second line must stand under its first and not under its bullet, see www.example.org"})
	d.Section("Names", names, report.NewTable("none", "Nothing here", report.Column{Key: "x"}))
	d.Section("Graph", report.Code{Language: "dot", Text: "digraph {\n  a -> b  \n\n\x1b[2J```\n}\n"})
	return d
}

func TestDocument(t *testing.T) {
	g := golden.Open(t)
	for _, format := range report.Formats() {
		if format == report.FormatHTML {
			continue // its scripts are no matter of a golden file; see TestHTML
		}
		var b bytes.Buffer
		if err := sample().Write(&b, format, report.Options{}); err != nil {
			t.Fatal(err)
		}
		g.Check(t, string(format), b.Bytes())
		for _, r := range b.String() {
			if r != '\n' && (r < ' ' || r >= 0x7f && r < 0xa0 || r == 0x202e || r == 0xfffd) {
				t.Errorf("%s: %U is written as it is", format, r)
			}
		}
	}
	var b bytes.Buffer
	d := &report.Document{Title: "Title"}
	d.Section("Heading", report.Paragraph("Narrow enough to be wrapped."))
	if err := d.Write(&b, report.FormatText, report.Options{Width: 20, Bold: true}); err != nil {
		t.Fatal(err)
	}
	g.Check(t, "text bold and narrow", []byte(strings.ReplaceAll(b.String(), "\x1b", "<ESC>")))
}

func TestWriteUnknownFormat(t *testing.T) {
	if err := sample().Write(&bytes.Buffer{}, "pdf", report.Options{}); err == nil || !strings.Contains(err.Error(), "pdf") {
		t.Errorf("error %v, want one that names the format", err)
	}
}

// TestOneTableCSV is what a script reads: no column for the table's name.
func TestOneTableCSV(t *testing.T) {
	table := report.NewTable("t", "", report.Column{Key: "tool"}, report.Column{Key: "n"})
	table.Add(report.Name("a,b"), report.Int(1200))
	var d report.Document
	d.Add(table)
	var b bytes.Buffer
	if err := d.Write(&b, report.FormatCSV, report.Options{}); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "tool,n\n\"a,b\",1200\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestLocale writes the same document in a process with an East Asian locale:
// the widths of ambiguous characters must not follow it.
func TestLocale(t *testing.T) {
	if os.Getenv("AWO_TEST_LOCALE") == "1" {
		if err := sample().Write(os.Stdout, report.FormatText, report.Options{}); err != nil {
			t.Fatal(err)
		}
		os.Exit(0)
	}
	var want bytes.Buffer
	if err := sample().Write(&want, report.FormatText, report.Options{}); err != nil {
		t.Fatal(err)
	}
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, locale := range []string{"C", "ja_JP.UTF-8", "zh_CN.GB18030"} {
		c := exec.CommandContext(t.Context(), executable, "-test.run=^TestLocale$")
		c.Env = append(os.Environ(), "AWO_TEST_LOCALE=1", "LC_ALL="+locale, "LANG="+locale, "RUNEWIDTH_EASTASIAN=1")
		got, err := c.Output()
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want.Bytes()) {
			t.Errorf("under %s the text differs:\n%s", locale, got)
		}
	}
}

func TestAddPanicsOnWrongRow(t *testing.T) {
	defer func() {
		if p := recover(); p == nil {
			t.Error("a row of the wrong length is taken")
		}
	}()
	report.NewTable("t", "", report.Column{Key: "a"}).Add()
}

type inner struct {
	Bits     stat.Figure   `json:"bits"`
	Interval stat.Interval `json:"interval"`
}

type embedded struct {
	Shared stat.Figure `json:"shared"`
}

type result struct {
	Schema string `json:"schema"`
	embedded
	Orders  []inner                `json:"orders"`
	ByTool  map[string]stat.Figure `json:"by_tool"`
	Pointer *inner                 `json:"pointer"`
	Any     any                    `json:"any"`
	Gone    stat.Figure            `json:"gone,omitzero"`
	Empty   []inner                `json:"empty,omitempty"`
	Hidden  stat.Figure            `json:"-"`
	private stat.Figure
}

func TestFiguresJSON(t *testing.T) {
	v := result{
		Schema: "awo.test/v1 <&> \u009b\u202e",
		Orders: []inner{
			{stat.Known(0.5), stat.Interval{Lo: 0, Hi: math.Inf(1), Level: 0.95, Method: "m"}},
			{stat.Unknown("no trajectory has three calls"), stat.NoInterval("only 3 tasks")},
		},
		ByTool: map[string]stat.Figure{"b": {}, "a c": stat.Known(math.NaN()), "d": stat.Count(58)},
		Any:    &inner{Bits: stat.Known(1)},
	}
	_ = v.private
	var b bytes.Buffer
	d := &report.Document{Figures: &v}
	d.Note("", "said of the whole")
	if err := d.Write(&b, report.FormatJSON, report.Options{}); err != nil {
		t.Fatal(err)
	}
	golden.Open(t).Check(t, "result", b.Bytes())
	var back struct{ Figures struct{ Schema string } }
	if err := json.Unmarshal(b.Bytes(), &back); err != nil {
		t.Fatal(err)
	}
	if back.Figures.Schema != v.Schema {
		t.Errorf("schema reads back as %q, want %q", back.Figures.Schema, v.Schema)
	}
}

func TestFigure(t *testing.T) {
	if v, ok := stat.Count(3).Value(); v != 3 || !ok {
		t.Errorf("Count(3) is %v, %v", v, ok)
	}
	if _, ok := stat.Known(math.Inf(-1)).Value(); ok {
		t.Error("an infinite figure is known")
	}
	table := report.NewTable("t", "", report.Column{Key: "x"})
	table.Add(report.ShareOf(stat.Known(0.25), 1))
	table.Add(report.IntOf(stat.Count(7)))
	table.Add(report.FloatOf(stat.Known(1.5), 1))
	table.Add(report.IntOf(stat.Figure{}))
	var d report.Document
	d.Add(table)
	var b bytes.Buffer
	if err := d.Write(&b, report.FormatText, report.Options{}); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), "x\n────\n25.0\n7\n1.5\n–¹\n  ¹ not known\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
