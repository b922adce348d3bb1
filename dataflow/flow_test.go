package dataflow_test

import (
	"testing"
	"unique"

	"github.com/awo-dev/awo/dataflow"
)

// TestSlotText writes slots as people read them, also one that names nothing.
func TestSlotText(t *testing.T) {
	tool := unique.Make("find")
	for want, slot := range map[string]dataflow.Slot{
		"":             {},
		"find":         {Tool: tool},
		"find.rows[*]": {Tool: tool, Path: "$.rows[*]"},
		"find(name)":   {Side: dataflow.Input, Tool: tool, Path: "$.name"},
		"find()":       {Side: dataflow.Input, Tool: tool},
		"task":         {Side: dataflow.Task},
	} {
		if got := slot.String(); got != want {
			t.Errorf("%+v is %q, want %q", slot, got, want)
		}
	}
}
