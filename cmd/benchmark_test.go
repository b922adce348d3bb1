package cmd

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/perf/benchfmt"
)

// TestBenchmarkLine reads the line as benchstat does.
func TestBenchmarkLine(t *testing.T) {
	for name, want := range map[string]string{"analyze": "Analyze", "chat 1 GiB": "Chat_1_GiB", "Analyze/two": "Analyze/two", "2workers": "X2workers", "\n": "X_"} {
		var out strings.Builder
		b := startBenchmark(name)
		b.start = b.start.Add(-time.Second)
		b.print(&out, 50e6)
		if n := strings.Count(out.String(), "\n"); n != 1 {
			t.Errorf("%q: %d lines, want 1", name, n)
		}
		r := benchfmt.NewReader(strings.NewReader(out.String()), "test")
		if !r.Scan() {
			t.Fatalf("%q: no record in %q", name, out.String())
		}
		result, ok := r.Result().(*benchfmt.Result)
		if !ok {
			t.Fatalf("%q: %v in %q", name, r.Result(), out.String())
		}
		if base, _, _ := strings.Cut(string(result.Name.Full()), "-"); base != want {
			t.Errorf("%q is called %q, want %q", name, base, want)
		}
		for _, unit := range []string{"sec/op", "B/s", "B/op", "allocs/op"} {
			if v, ok := result.Value(unit); !ok || v <= 0 {
				t.Errorf("%q: %s is %v (%v) in %q", name, unit, v, ok, out.String())
			}
		}
		if v, _ := result.Value("B/s"); v < 45e6 || v > 50.1e6 {
			t.Errorf("%q: %v bytes a second, want about 50e6", name, v)
		}
		if _, _, ok := resources(); ok {
			if v, found := result.Value("max-RSS-bytes"); !found || v < 1<<20 {
				t.Errorf("%q: max-RSS-bytes is %v (%v)", name, v, found)
			}
		}
	}
	startBenchmark("").print(nil, 0)
}
