package formats_test

import (
	"fmt"

	"github.com/awo-dev/awo/trace/formats"
)

// The table is what trace.Open gets as Options.Formats. Its order is that in which
// files are recognised.
func Example() {
	for _, f := range formats.All[:3] {
		fmt.Println(f.Name)
	}
	// Output:
	// otlp
	// atif
	// mcp
}
