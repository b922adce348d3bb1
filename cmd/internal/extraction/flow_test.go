package extraction

import (
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/trace"
)

// TestFlowOf says that a picture shows what takes a value from where, and no value.
func TestFlowOf(t *testing.T) {
	secret, err := trace.ParseValue([]byte(`"hunter2"`))
	if err != nil {
		t.Fatal(err)
	}
	path, err := jsonpath.Parse("$.orders[*].id")
	if err != nil {
		t.Fatal(err)
	}
	filtered, err := jsonpath.Parse("$.orders[?@.kind == 'hunter2'].id")
	if err != nil {
		t.Fatal(err)
	}
	tool := &metatool.Tool{
		Name: "both", Inputs: []metatool.Input{{Name: "user", Required: true}},
		Steps: []metatool.Step{
			{Tool: "find", Args: []metatool.Argument{{Name: "key", Binding: metatool.Binding{Kind: metatool.BindConst, Const: secret}}, {Name: "user", Binding: metatool.Binding{Kind: metatool.BindInput, Input: "user"}}}},
			{Tool: "other"},
			{Tool: "get", Each: &metatool.Binding{Kind: metatool.BindStep, Step: 0, Path: path}, Args: []metatool.Argument{
				{Name: "id", Binding: metatool.Binding{Kind: metatool.BindElement}},
				{Name: "kind", Binding: metatool.Binding{Kind: metatool.BindStep, Step: 0, Path: filtered}},
				{Name: "text", Binding: metatool.Binding{Kind: metatool.BindTemplate, Parts: []metatool.Binding{{Kind: metatool.BindStep, Step: 1}}}},
			}},
		},
	}
	f := flowOf(tool)
	rows := []int{}
	for i := range f.Boxes {
		rows = append(rows, f.Boxes[i].Row)
	}
	if len(rows) != 4 || rows[0] != 0 || rows[1] != 1 || rows[2] != 1 || rows[3] != 2 {
		t.Errorf("rows %v", rows)
	}
	if len(f.Arrows) != 3 || f.Arrows[0] != [2]int{0, 1} || f.Arrows[1] != [2]int{1, 3} || f.Arrows[2] != [2]int{2, 3} {
		t.Errorf("arrows %v", f.Arrows)
	}
	svg := string(f.SVG())
	if strings.Contains(svg, "hunter2") {
		t.Error("a value is in the picture")
	}
	for _, want := range []string{"key = always the same", "user, as given", "for each $.orders[*].id of 1", "id = the element itself", "kind = $.orders[?@.kind == ?].id of 1", "text = a text made of parts"} {
		if !strings.Contains(svg, want) {
			t.Errorf("the picture does not say %q", want)
		}
	}
}
