package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/awo-dev/awo/testdata/gen/office"
	"github.com/awo-dev/awo/testdata/gen/truth"
)

// BenchmarkEncode is the work of one run: making it, its truth, and a line of a
// format, on one core.
func BenchmarkEncode(b *testing.B) {
	for _, file := range []string{"", "+truth"} {
		for _, format := range formats {
			b.Run(format+file, func(b *testing.B) {
				o, err := office.New(office.Options{Tokens: office.Approximate, Trajectories: 1_000_000})
				if err != nil {
					b.Fatal(err)
				}
				j := job{options: o.Options, format: format, truth: file}
				b.ReportAllocs()
				calls, bytes, i := 0, 0, 0
				for b.Loop() {
					p := j.encode(o, i)
					calls += len(p.truth.Calls)
					bytes += len(p.trace)
					i++
				}
				b.SetBytes(int64(bytes / i))
				b.ReportMetric(float64(calls)/b.Elapsed().Seconds(), "calls/s")
			})
		}
	}
}

// TestSameBytes: every format gives the same bytes with any number of workers,
// and another seed gives others.
func TestSameBytes(t *testing.T) {
	for _, format := range formats {
		var first []byte
		for _, args := range [][]string{{"-workers", "1"}, {"-workers", "2"}, {"-workers", "8"}, {"-seed", "1"}} {
			var out bytes.Buffer
			truthFile := filepath.Join(t.TempDir(), "truth.json")
			args = append([]string{"-q", "-n", "90", "-drift", "-tokens", "approximate", "-format", format, "-truth", truthFile}, args...)
			if err := run(args, &out, io.Discard); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(truthFile)
			if err != nil {
				t.Fatal(err)
			}
			all := append(out.Bytes(), b...)
			if f, err := truth.Read(bytes.NewReader(b)); err != nil || len(f.Trajectories) != 90 || f.Drift == nil {
				t.Fatalf("%s: truth: %v", format, err)
			}
			switch {
			case first == nil:
				first = all
			case args[len(args)-2] == "-seed" && bytes.Equal(first, all):
				t.Errorf("%s: another seed gives the same bytes", format)
			case args[len(args)-2] == "-workers" && !bytes.Equal(first, all):
				t.Errorf("%s: other bytes with %s workers", format, args[len(args)-1])
			}
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		{"-format", "xml"},
		{"-tokens", "words"},
		{"-n", "0x"},
		{"-n", "-3"},
		{"stray"},
		{"-o", filepath.Join("no", "such", "folder")},
		{"-n", "1", "-truth", filepath.Join("no", "such", "folder")},
		{"-unknown"},
	} {
		if err := run(args, io.Discard, io.Discard); err == nil {
			t.Errorf("%v is accepted", args)
		}
	}
	var summary bytes.Buffer
	if err := run([]string{"-n", "12", "-tokens", "approximate"}, io.Discard, &summary); err != nil || !strings.Contains(summary.String(), "12 trajectories") {
		t.Errorf("summary is %q, %v", summary.String(), err)
	}
}
