// Package recordings reads the traces that tests rest on: those of the office world
// in testdata, and recorded ones, which lie beside the project. It is imported by
// tests only.
//
// The path of a file comes in, trajectories or rules go out; all of a file is kept
// in memory. What is not there skips the test and says so, and what cannot be read
// ends it. The package knows nothing of what a test expects of them.
package recordings

import (
	"compress/gzip"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"testing"

	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
)

// Sets are the recorded sets whose figures an independent program computed: the
// file with the traces, the name of that with the figures, and whether
// AirlineRules are for it.
var Sets = [...]struct {
	File, Oracle string
	Rules        bool
}{
	{"tau2/airline_azure-gpt-4o.json", "airline_azure-gpt-4o", true},
	{"tau2/airline_gpt-oss-120b.json", "airline_gpt-oss-120b", true},
	{"taubench/gpt-4o-airline.json", "gpt-4o-airline", true},
	{"tau2/retail_gpt-4.1.json", "retail_gpt-4.1", false},
	{"tau2/retail_toolorchestra-gpt-5.json", "retail_toolorchestra-gpt-5", false},
}

// Recorded returns the path of a file of recorded traces, such as
// "tau2/retail_gpt-4.1.json".
func Recorded(t testing.TB, file string) string {
	t.Helper()
	return filepath.Join(beside(t), "data", filepath.FromSlash(file))
}

// Oracle returns a file of those with the figures of the independent program.
func Oracle(t testing.TB, file string) []byte {
	t.Helper()
	return Bytes(t, filepath.Join(beside(t), "oracle", file))
}

// AirlineRules returns the rules of the airline sets.
func AirlineRules(t testing.TB) *rules.Set {
	t.Helper()
	return Parse(t, "airline.rules.json", Oracle(t, "airline.rules.json"))
}

// Read returns the trajectories of a file in their order.
func Read(t testing.TB, path string) []*trace.Trajectory {
	t.Helper()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the traces are not there: %v", err)
	}
	r, err := trace.Open([]string{path}, trace.Options{Formats: formats.All})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var list []*trace.Trajectory
	for one, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, one)
	}
	return list
}

// Source yields the trajectories of a list, as often as it is asked.
func Source(list []*trace.Trajectory) func() iter.Seq2[*trace.Trajectory, error] {
	return func() iter.Seq2[*trace.Trajectory, error] {
		return func(yield func(*trace.Trajectory, error) bool) {
			for _, one := range list {
				if !yield(one, nil) {
					return
				}
			}
		}
	}
}

// Rules returns the rules of a file without includes.
func Rules(t testing.TB, path string) *rules.Set {
	t.Helper()
	return Parse(t, filepath.Base(path), Bytes(t, path))
}

// Parse returns the rules of a text; name stands in problems.
func Parse(t testing.TB, name string, text []byte) *rules.Set {
	t.Helper()
	set, err := rules.Parse(name, text)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// Bytes returns what is in a file.
func Bytes(t testing.TB, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the file is not there: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// Unpacked returns what is in a file that gzip compressed.
func Unpacked(t testing.TB, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// beside returns the folder beside the project with what is recorded. A clone of the
// project alone does not have it, and skips the test.
func beside(t testing.TB) string {
	t.Helper()
	folder, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			shared := filepath.Join(folder, "..", "shared")
			if _, err := os.Stat(shared); errors.Is(err, fs.ErrNotExist) {
				t.Skip("what is recorded is not beside the project")
			}
			return shared
		}
		if parent := filepath.Dir(folder); parent != folder {
			folder = parent
			continue
		}
		t.Fatal("no go.mod above the test")
	}
}
