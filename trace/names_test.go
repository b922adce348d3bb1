package trace_test

import (
	"fmt"
	"testing"

	"github.com/awo-dev/awo/trace"
)

func TestNameCache(t *testing.T) {
	var c trace.NameCache
	for range 3 {
		for i := range 300 {
			name := fmt.Sprint("server__tool_", i)
			if got := c.Intern([]byte(name)); got != trace.Intern(name) {
				t.Fatalf("%s became %s", name, got.Value())
			}
		}
		if c.Intern(nil) != trace.Intern("") {
			t.Fatal("the empty name")
		}
	}
	name := []byte("get_reservation_details")
	c.Intern(name)
	if n := testing.AllocsPerRun(100, func() { c.Intern(name) }); n != 0 {
		t.Errorf("%v allocations for a known name", n)
	}
}
