package formats_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

var recordedFiles = []struct {
	name, format string
	trajectories int
}{
	{"taubench/gpt-4o-airline.json", "tau-bench", 200},
	{"tau2/airline_azure-gpt-4o.json", "tau2", 50},
	{"tau2/airline_gpt-oss-120b.json", "tau2", 50},
	{"tau2/retail_gpt-4.1.json", "tau2", 40},
	{"tau2/retail_toolorchestra-gpt-5.json", "tau2", 114},
}

// TestRecorded holds that recorded traces are recognised and read to their end
// without a problem, the same for any workers, blocks and compression, and that
// every trajectory is found again.
func TestRecorded(t *testing.T) {
	for _, file := range recordedFiles {
		t.Run(file.name, func(t *testing.T) {
			path := recordings.Recorded(t, file.name)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			packed := filepath.Join(t.TempDir(), "packed")
			if err := os.WriteFile(packed, []byte(formattest.ZstdOf(t, string(text))), 0o666); err != nil {
				t.Fatal(err)
			}
			var first []string
			for _, o := range []trace.Options{{Workers: 1}, {Workers: 2}, {Workers: 8}} {
				for _, source := range []string{path, packed} {
					o.Formats = formats.All
					r, err := trace.Open([]string{source}, o)
					if err != nil {
						t.Fatal(err)
					}
					var got []string
					var refs []trace.Ref
					for trajectory, err := range r.All() {
						if err != nil {
							t.Fatal(err)
						}
						if !bytes.HasPrefix(text[trajectory.Offset:], []byte("{")) {
							t.Fatalf("no object at %d", trajectory.Offset)
						}
						got = append(got, fmt.Sprintf("%s %d:%d +%d %s", trajectory.ID, trajectory.Source.Line, trajectory.Source.Col, trajectory.Offset, strings.Join(formattest.Brief(trajectory), ", ")))
						refs = append(refs, trajectory.Ref)
					}
					if first == nil {
						first = got
					}
					if d := cmp.Diff(first, got); d != "" {
						t.Fatalf("%+v, %s: %s", o, source, d)
					}
					c := r.Counts()
					if c.Files[0].Format != file.format || c.Bytes != int64(len(text)) || c.Trajectories != file.trajectories {
						t.Errorf("counts %+v", c)
					}
					n := 0
					for _, err := range r.At(refs[len(refs)/2:]) {
						if err == nil {
							n++
						}
					}
					if n != len(refs)-len(refs)/2 {
						t.Errorf("%d of %d read again", n, len(refs)-len(refs)/2)
					}
				}
			}
		})
	}
}

// BenchmarkRecorded reads recorded traces, repeated to some 50 MB, from a file
// to trajectories.
func BenchmarkRecorded(b *testing.B) {
	for _, file := range recordedFiles[:2] {
		text, err := os.ReadFile(recordings.Recorded(b, file.name))
		if err != nil {
			b.Fatal(err)
		}
		times := 50_000_000/len(text) + 1
		path := filepath.Join(b.TempDir(), "traces")
		if err := os.WriteFile(path, bytes.Repeat(text, times), 0o666); err != nil {
			b.Fatal(err)
		}
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", file.format, workers), func(b *testing.B) {
				b.SetBytes(int64(times * len(text)))
				b.ReportAllocs()
				for b.Loop() {
					r, err := trace.Open([]string{path}, trace.Options{Workers: workers, Formats: formats.All})
					if err != nil {
						b.Fatal(err)
					}
					for _, err := range r.All() {
						if err != nil {
							b.Fatal(err)
						}
					}
					if n := r.Counts().Trajectories; n != times*file.trajectories {
						b.Fatal(n)
					}
				}
			})
		}
	}
}
