package trace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// platformFormats are the formats whose fixtures stand in testdata, a trace and
// what a person reads in it.
var platformFormats = []*Format{&formatOpenAIResponses, &formatLangSmith, &formatLangfuse, &formatOpenAIAgents}

// TestFixtures compares each fixture with what was written by hand beside it,
// for any number of workers and with everything spilled to disk, and by way of
// ATIF.
func TestFixtures(t *testing.T) {
	for _, f := range platformFormats {
		paths, err := filepath.Glob(filepath.Join("testdata", f.Name, "*.json*"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s has no fixtures (%v)", f.Name, err)
		}
		for _, path := range paths {
			t.Run(f.Name+"/"+filepath.Base(path), func(t *testing.T) {
				want, err := os.ReadFile(strings.TrimSuffix(path, filepath.Ext(path)) + ".want")
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range []Options{{Workers: 1}, {Workers: 4, SpillBudget: 1, TempDir: t.TempDir()}} {
					all := readFile(t, path, f.Name, o)
					if got := depictAll(all); got != string(want) {
						t.Fatalf("got\n%s\nwant\n%s", got, want)
					}
					for _, tr := range all {
						checkRoundTrip(t, tr)
					}
				}
			})
		}
	}
}

func FuzzOpenAIResponses(f *testing.F) { fuzzFormat(f, &formatOpenAIResponses) }

func FuzzLangSmith(f *testing.F) { fuzzFormat(f, &formatLangSmith) }

func FuzzLangfuse(f *testing.F) { fuzzFormat(f, &formatLangfuse) }

func FuzzOpenAIAgents(f *testing.F) { fuzzFormat(f, &formatOpenAIAgents) }
