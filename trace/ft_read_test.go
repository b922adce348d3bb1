package trace

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/awo-dev/awo/diag"
	"github.com/klauspost/compress/zstd"
)

// sharedFile returns a file kept beside the project, or skips the test.
func sharedFile(t testing.TB, path ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "shared"}, path...)...))
	if err != nil {
		t.Skip("the recorded traces are not there")
	}
	return b
}

// recordsOf splits a text as the Reader does.
func recordsOf(t testing.TB, f *Format, text []byte, c Container) []Record {
	t.Helper()
	split := f.Split
	if split == nil {
		split = SplitRecords
	}
	whole := f.Detect(func() Head { h, _ := newHead(text, true); return h }()).Whole
	var records []Record
	for r, err := range split(&Input{Reader: bytes.NewReader(text), File: "f", Container: c, Whole: whole}) {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	return records
}

// decodeAll reads all trajectories of a text.
func decodeAll(t testing.TB, f *Format, text []byte, c Container) []*Trajectory {
	t.Helper()
	var out []*Trajectory
	for _, r := range recordsOf(t, f, text, c) {
		fragments, err := f.Decode(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, joinedAlone(t, f, fragments)...)
	}
	return out
}

// decodeOne reads a text that is one record with one trajectory.
func decodeOne(t testing.TB, f *Format, text string) *Trajectory {
	t.Helper()
	fragments, err := f.Decode(Record{Data: []byte(text), File: "f", Line: 1, Col: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(fragments) != 1 {
		t.Fatalf("%d fragments, want 1", len(fragments))
	}
	return joinedAlone(t, f, fragments)[0]
}

// joinedAlone returns the trajectories of fragments that no other record has more of.
func joinedAlone(t testing.TB, f *Format, fragments []Fragment) (out []*Trajectory) {
	t.Helper()
	for i, fragment := range fragments {
		if fragment.Trajectory != nil {
			out = append(out, fragment.Trajectory)
			continue
		}
		joined, err := f.Assemble(fragment.Key, fragments[i:i+1])
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range joined {
			if x.ID == fragment.Pos.String() { // which the Reader gives to others
				x.ID = ""
			}
		}
		out = append(out, joined...)
	}
	return out
}

// decodeError returns the problem of a record that cannot be read.
func decodeError(t testing.TB, f *Format, text string) *diag.Error {
	t.Helper()
	fragments, err := f.Decode(Record{Data: []byte(text), File: "f", Line: 3, Col: 1})
	problem, ok := err.(*diag.Error)
	if !ok {
		t.Fatalf("%q: %d fragments and error %v, want a *diag.Error", text, len(fragments), err)
	}
	return problem
}

// jsonToken returns s as a JSON string token.
func jsonToken(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return b
}

// readFiles reads files with all formats and fails on any problem.
func readFiles(t *testing.T, files ...string) []*Trajectory {
	t.Helper()
	r, err := Open(files, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out []*Trajectory
	for trajectory, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, trajectory)
	}
	return out
}

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// readText reads a text as a file of a name with all formats and holds every
// trajectory to the same model after ATIF.
func readText(t *testing.T, name string, lines ...string) []*Trajectory {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	writeFile(t, file, strings.Join(lines, "\n")+"\n")
	out := readFiles(t, file)
	for _, x := range out {
		roundTrip(t, x)
	}
	return out
}

// headOf reads the beginning of a text as the Reader does.
func headOf(text string, size int) Head {
	h, _ := newHead([]byte(text[:min(len(text), size)]), size >= len(text))
	return h
}

// readFile reads the trajectories of a file as a run of awo does, and checks that
// it is taken for a format.
func readFile(t testing.TB, path, format string, o Options) []*Trajectory {
	t.Helper()
	r, err := Open([]string{path}, o)
	if err != nil {
		t.Fatal(err)
	}
	var all []*Trajectory
	for tr, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tr)
	}
	if got := r.Counts().Files[0].Format; got != format {
		t.Fatalf("%s is taken for %q, want %q", path, got, format)
	}
	return all
}

// depictAll depicts trajectories, an empty line between them.
func depictAll(all []*Trajectory) string {
	var parts []string
	for _, tr := range all {
		parts = append(parts, depict(tr))
	}
	return strings.Join(parts, "\n")
}

// recorded returns the path of recorded traces that are kept beside the project.
func recorded(t testing.TB, name string) string {
	t.Helper()
	path := filepath.Join("..", "..", "shared", "data", name)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("no recorded traces beside the project: %s", path)
	}
	return path
}

// gzipOf returns the parts as members of one gzip file.
func gzipOf(t *testing.T, parts ...string) string {
	t.Helper()
	var b bytes.Buffer
	for _, part := range parts {
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func zstdOf(t *testing.T, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return string(w.EncodeAll([]byte(text), nil))
}

// textToken returns s as a piece that is a JSON string token.
func textToken(s string) Raw { return Raw{Data: jsonToken(s), Form: FormString} }
