package report_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
)

type side uint8

func (s side) String() string { return [...]string{"left", "right"}[s] }

type Rated struct {
	Rate stat.Figure   `json:"rate"`
	Span stat.Interval `json:"span"`
}

type row struct {
	Tool  string            `json:"tool"`
	Calls int               `json:"calls"`
	Part  float64           `json:"part"`
	Side  side              `json:"side"`
	Names []string          `json:"names"`
	By    map[string]Rated  `json:"by"`
	Last  *int              `json:"last"`
	Raw   json.RawMessage   `json:"raw"`
	Tags  map[string]string `json:"tags"`
	Rated
}

func rows() []row {
	three := 3
	return []row{
		{
			Tool: "get|user", Calls: 1234567, Part: 0.256, Side: 1, Names: []string{"a", "b"}, Last: &three, Raw: json.RawMessage(`1`),
			By: map[string]Rated{"x": {Rate: stat.Known(7)}}, Rated: Rated{stat.Known(1.5), stat.Interval{Lo: 0.1, Hi: 0.2, Level: 0.95, Method: "exact"}},
		},
		{Raw: json.RawMessage(`null`), By: map[string]Rated{"x": {Rate: stat.Unknown("no turn")}}, Rated: Rated{stat.Unknown("none was made"), stat.NoInterval("too few")}},
	}
}

func TestTableOf(t *testing.T) {
	table := report.TableOf("calls", "", rows(), []report.Column{
		{Key: "tool", Empty: "(none)"},
		{Key: "calls"},
		{Key: "part", Unit: "%"},
		{Key: "side", Words: true},
		{Key: "names", Join: " → "},
		{Key: "x", From: "by.x.rate", Digits: report.Whole},
		{Key: "last"},
		{Key: "rate", Digits: 2},
		{Key: "span", Share: true},
		{Key: "hidden", From: "nowhere", Hide: true},
		{Key: "twice", Align: report.Right, Cell: report.By(func(r *row) report.Cell { return report.Int(2 * r.Calls) })},
	})
	var d report.Document
	d.Add(table)
	var text, csv bytes.Buffer
	if err := d.Write(&text, report.FormatText, report.Options{}); err != nil {
		t.Fatal(err)
	}
	want := `tool          calls  part (%)  side   names   x  last  rate  span              twice
────────────────────────────────────────────────────────────────────────────────────
get|user  1,234,567      25.6  right  a → b   7     3  1.50  [10.0, 20.0]  2,469,134
(none)            0       0.0  left          –¹          –²  –³                    0
  ¹ no turn
  ² none was made
  ³ too few
`
	if got := text.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if err := d.Write(&csv, report.FormatCSV, report.Options{}); err != nil {
		t.Fatal(err)
	}
	want = `tool,calls,part,side,names,x,last,rate,span_lo,span_hi,twice
get|user,1234567,0.256,right,a → b,7,3,1.5,0.1,0.2,2469134
(none),0,0,left,,,,,,,0
`
	if got := csv.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// TestTableOfWrongMember: a column that names no member is a mistake that every use
// shows, also one with an empty table.
func TestTableOfWrongMember(t *testing.T) {
	defer func() {
		if p := recover(); p == nil || !strings.Contains(p.(string), "no member rat") {
			t.Errorf("recovered %v", p)
		}
	}()
	report.TableOf("calls", "", []row{}, []report.Column{{Key: "rat"}})
}

// TestJSONEmptyLists: scripts find a list wherever one can be.
func TestJSONEmptyLists(t *testing.T) {
	var out struct {
		Rows []row           `json:"rows"`
		Left []string        `json:"left,omitempty"`
		Raw  json.RawMessage `json:"raw"`
	}
	out.Rows = rows()[1:]
	var b bytes.Buffer
	if err := (&report.Document{Figures: out}).Write(&b, report.FormatJSON, report.Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"names": []`, `"tags": {}`, `"last": null`, `"raw": null`} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %s in %s", want, b.String())
		}
	}
	if strings.Contains(b.String(), `"left"`) {
		t.Error("a list that may be left out is written")
	}
}

func TestPartOf(t *testing.T) {
	for _, c := range []struct {
		part, whole stat.Figure
		want        float64
	}{
		{stat.Known(1), stat.Known(4), 0.25},
		{stat.Known(1), stat.Known(0), math.NaN()},
		{stat.Unknown("no part"), stat.Known(4), math.NaN()},
		{stat.Known(1), stat.Unknown("no whole"), math.NaN()},
	} {
		v, ok := c.part.PartOf(c.whole).Value()
		if ok == math.IsNaN(c.want) || ok && v != c.want {
			t.Errorf("PartOf gives %v, %v; want %v", v, ok, c.want)
		}
	}
}

// TestDocumentLeavesOutNothing: what says nothing has no heading either.
func TestDocumentLeavesOutNothing(t *testing.T) {
	var d report.Document
	d.Add(nil, (*report.Table)(nil), report.Paragraph(""), report.List(nil))
	d.Section("Empty", report.TableOf("calls", "", []row{}, []report.Column{{Key: "tool"}}).IfAny())
	if len(d.Sections) != 0 {
		t.Errorf("%d sections", len(d.Sections))
	}
}
