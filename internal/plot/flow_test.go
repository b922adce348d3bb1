package plot

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestFlow says that a picture of calls is well-formed whatever they are called, that boxes
// stand in their rows and do not overlap, and that it is drawn the same each time.
func TestFlow(t *testing.T) {
	f := &Flow{
		Alt: `a <b> & "c"`,
		Boxes: []FlowBox{
			{Kind: FlowGiven, Title: "given", Lines: []string{"user_id", strings.Repeat("long", 40)}},
			{Kind: FlowCall, Title: "1 </text><script>", Lines: []string{"id = $.a[?@.b<1] of 1"}, Row: 1},
			{Kind: FlowCall, Title: "2 \x1b[31m", Row: 1},
			{Kind: FlowEach, Title: "3 each", Row: 2},
		},
		Arrows: [][2]int{{0, 1}, {1, 3}, {0, 3}},
	}
	svg := f.SVG()
	if !bytes.Equal(svg, f.SVG()) {
		t.Error("it is drawn in two ways")
	}
	d := xml.NewDecoder(bytes.NewReader(svg))
	elements := map[string]int{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, svg)
		}
		if e, ok := token.(xml.StartElement); ok {
			elements[e.Name.Local]++
		}
	}
	if elements["rect"] != 1+4+1 || elements["path"] != 2*3 || elements["script"] != 0 {
		t.Errorf("elements %v", elements)
	}
	spots, width, height := f.place()
	for i, a := range spots {
		if a.x < 0 || a.y < 0 || a.x+a.width > width || a.y+a.height > height {
			t.Errorf("box %d stands at %v in a picture of %.0f by %.0f", i, a, width, height)
		}
		for k, b := range spots {
			if f.Boxes[i].Row < f.Boxes[k].Row && a.y+a.height >= b.y || i < k && f.Boxes[i].Row == f.Boxes[k].Row && a.x+a.width >= b.x {
				t.Errorf("boxes %d and %d overlap: %v %v", i, k, a, b)
			}
		}
	}
}
