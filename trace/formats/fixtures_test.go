package formats_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

// fixturesOf returns the traces in testdata/<format> of the family of a format.
// What a person reads in each stands beside it, with the extension .want.
func fixturesOf(t *testing.T, format string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("*", "testdata", format, "*"))
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(files, func(file string) bool { return filepath.Ext(file) == ".want" })
}

// wantOf returns the file that describes a fixture.
func wantOf(fixture string) string {
	return strings.TrimSuffix(fixture, filepath.Ext(fixture)) + ".want"
}

// TestFixtures compares every fixture of every format with what stands beside it,
// for any number of workers and with everything spilled to disk, and by way of ATIF.
// AWO_UPDATE=1 writes what is read: check it by hand, turn by turn.
func TestFixtures(t *testing.T) {
	for _, f := range formats.All {
		fixtures := fixturesOf(t, f.Name)
		if len(fixtures) == 0 {
			t.Errorf("%s has no fixtures", f.Name)
		}
		for _, path := range fixtures {
			t.Run(f.Name+"/"+filepath.Base(path), func(t *testing.T) {
				if os.Getenv("AWO_UPDATE") != "" {
					read := formattest.DepictAll(formattest.ReadFile(t, path, f.Name, trace.Options{Workers: 1}))
					if err := os.WriteFile(wantOf(path), []byte(read), 0o666); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(wantOf(path))
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
