package jsonscan_test

import (
	"testing"

	"github.com/awo-dev/awo/internal/jsonscan"
)

func TestSkipSame(t *testing.T) {
	const known = `[{"name":"a"}]`
	for text, want := range map[string]bool{
		`{"tools":[{"name":"a"}],"x":1}`:    true,
		`{"tools": [{"name":"a"}] , "x":1}`: true,
		`{"tools":[{"name":"a"},2],"x":1}`:  false,
		`{"tools":[{"name":"b"}],"x":1}`:    false,
		`{"tools":"[{","x":1}`:              false,
	} {
		c := jsonscan.New([]byte(text))
		skipped, x := false, int64(0)
		for ok := c.Object(); ok && c.Member(); {
			switch string(c.Key()) {
			case "tools":
				skipped = c.SkipSame([]byte(known))
			case "x":
				x, _ = c.Int()
			}
		}
		if err := c.End(); err != nil {
			t.Errorf("%s: %v", text, err)
		}
		if skipped != want || x != 1 {
			t.Errorf("%s: skipped %v, want %v; x is %d", text, skipped, want, x)
		}
	}
	// What follows is checked as ever.
	c := jsonscan.New([]byte(`{"tools":[{"name":"a"}]]`))
	for ok := c.Object(); ok && c.Member(); {
		c.SkipSame([]byte(known))
	}
	if c.End() == nil {
		t.Error("a bracket too many behind a known value is accepted")
	}
}
