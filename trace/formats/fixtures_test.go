package formats_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
	"github.com/awo-dev/awo/trace/formats/internal/formattest"
)

// TestFixtures compares each fixture of each format with what was written by hand
// beside it, for any number of workers and with everything spilled to disk, and by
// way of ATIF.
func TestFixtures(t *testing.T) {
	for _, f := range formats.All {
		paths, err := filepath.Glob(filepath.Join("*", "testdata", f.Name, "*.json*"))
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range paths {
			t.Run(f.Name+"/"+filepath.Base(path), func(t *testing.T) {
				want, err := os.ReadFile(strings.TrimSuffix(path, filepath.Ext(path)) + ".want")
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range []trace.Options{{Workers: 1}, {Workers: 4, SpillBudget: 1, TempDir: t.TempDir()}} {
					all := formattest.ReadFile(t, path, f.Name, o)
					if got := formattest.DepictAll(all); got != string(want) {
						t.Fatalf("got\n%s\nwant\n%s", got, want)
					}
					for _, tr := range all {
						formattest.CheckConsistent(t, tr)
						formattest.CheckRoundTrip(t, tr)
					}
				}
			})
		}
	}
}
