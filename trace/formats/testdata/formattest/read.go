package formattest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
	"github.com/klauspost/compress/zstd"
)

// Format returns the format with a name.
func Format(name string) *trace.Format {
	for i := range formats.All {
		if formats.All[i].Name == name {
			return &formats.All[i]
		}
	}
	panic("there is no format " + name)
}

// RecordsOf splits a text as the Reader does.
func RecordsOf(t testing.TB, f *trace.Format, text []byte, c trace.Container) []trace.Record {
	t.Helper()
	split := f.Split
	if split == nil {
		split = trace.SplitRecords
	}
	whole := f.Detect(func() trace.Head { h, _ := trace.NewHead(text, true); return h }()).Whole
	var records []trace.Record
	for r, err := range split(&trace.Input{Reader: bytes.NewReader(text), File: "f", Container: c, Whole: whole}) {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	return records
}

// DecodeAll reads all trajectories of a text.
func DecodeAll(t testing.TB, f *trace.Format, text []byte, c trace.Container) []*trace.Trajectory {
	t.Helper()
	var out []*trace.Trajectory
	for _, r := range RecordsOf(t, f, text, c) {
		fragments, err := f.Decode(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, JoinedAlone(t, f, fragments)...)
	}
	return out
}

// DecodeOne reads a text that is one record with one trajectory.
func DecodeOne(t testing.TB, f *trace.Format, text string) *trace.Trajectory {
	t.Helper()
	fragments, err := f.Decode(trace.Record{Data: []byte(text), File: "f", Line: 1, Col: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(fragments) != 1 {
		t.Fatalf("%d fragments, want 1", len(fragments))
	}
	return JoinedAlone(t, f, fragments)[0]
}

// JoinedAlone returns the trajectories of fragments that no other record has more of.
func JoinedAlone(t testing.TB, f *trace.Format, fragments []trace.Fragment) (out []*trace.Trajectory) {
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

// DecodeError returns the problem of a record that cannot be read.
func DecodeError(t testing.TB, f *trace.Format, text string) *diag.Error {
	t.Helper()
	fragments, err := f.Decode(trace.Record{Data: []byte(text), File: "f", Line: 3, Col: 1})
	problem, ok := err.(*diag.Error)
	if !ok {
		t.Fatalf("%q: %d fragments and error %v, want a *diag.Error", text, len(fragments), err)
	}
	return problem
}

// JSONToken returns s as a JSON string token.
func JSONToken(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return b
}

// ReadFiles reads files with all formats and fails on any problem.
func ReadFiles(t *testing.T, files ...string) []*trace.Trajectory {
	t.Helper()
	r, err := trace.Open(files, trace.Options{Formats: formats.All})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out []*trace.Trajectory
	for trajectory, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, trajectory)
	}
	return out
}

// WriteFile writes a text to a file.
func WriteFile(t *testing.T, file, text string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

// ReadText reads a text as a file of a name with all formats and holds every
// trajectory to the same model after ATIF.
func ReadText(t *testing.T, name string, lines ...string) []*trace.Trajectory {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	WriteFile(t, file, strings.Join(lines, "\n")+"\n")
	out := ReadFiles(t, file)
	for _, x := range out {
		RoundTrip(t, x)
	}
	return out
}

// HeadOf reads the beginning of a text as the Reader does.
func HeadOf(text string, size int) trace.Head {
	h, _ := trace.NewHead([]byte(text[:min(len(text), size)]), size >= len(text))
	return h
}

// ReadFile reads the trajectories of a file as a run of awo does, and checks that
// it is taken for a format.
func ReadFile(t testing.TB, path, format string, o trace.Options) []*trace.Trajectory {
	t.Helper()
	o.Formats = formats.All
	r, err := trace.Open([]string{path}, o)
	if err != nil {
		t.Fatal(err)
	}
	var all []*trace.Trajectory
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

// DepictAll depicts trajectories, an empty line between them.
func DepictAll(all []*trace.Trajectory) string {
	var parts []string
	for _, tr := range all {
		parts = append(parts, Depict(tr))
	}
	return strings.Join(parts, "\n")
}

// GzipOf returns the parts as members of one gzip file.
func GzipOf(t *testing.T, parts ...string) string {
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

// ZstdOf returns a text compressed with zstd.
func ZstdOf(t *testing.T, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return string(w.EncodeAll([]byte(text), nil))
}

// TextToken returns s as a piece that is a JSON string token.
func TextToken(s string) trace.Raw { return trace.Raw{Data: JSONToken(s), Form: trace.FormString} }
