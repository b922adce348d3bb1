package cmd

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"
	"unicode"
)

// benchmark measures the whole process. A nil benchmark measures nothing.
type benchmark struct {
	name  string
	start time.Time
}

// startBenchmark begins to measure, if there is a name.
func startBenchmark(name string) *benchmark {
	if name == "" {
		return nil
	}
	return &benchmark{name: name, start: time.Now()}
}

// print writes one line in the format of Go benchmarks, so that benchstat
// compares runs of the command: time, bytes of traces a second, processor time,
// allocations, and the largest memory the process had.
func (b *benchmark) print(w io.Writer, bytes int64) {
	if b == nil {
		return
	}
	elapsed := time.Since(b.start)
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	var line strings.Builder
	fmt.Fprintf(&line, "Benchmark%s-%d\t1\t%d ns/op", benchmarkName(b.name), runtime.GOMAXPROCS(0), elapsed.Nanoseconds())
	if bytes > 0 {
		fmt.Fprintf(&line, "\t%.2f MB/s", float64(bytes)/1e6/elapsed.Seconds())
	}
	if processor, rss, ok := resources(); ok {
		fmt.Fprintf(&line, "\t%d cpu-ns/op\t%d max-RSS-bytes", processor.Nanoseconds(), rss)
	}
	fmt.Fprintf(&line, "\t%d B/op\t%d allocs/op\n", m.TotalAlloc, m.Mallocs)
	_, _ = io.WriteString(w, line.String())
}

// benchmarkName makes a name that benchstat reads: an upper-case letter first,
// no spaces.
func benchmarkName(name string) string {
	runes := []rune(strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return '_'
		}
		return r
	}, name))
	if unicode.IsLower(runes[0]) {
		runes[0] = unicode.ToUpper(runes[0])
	} else if !unicode.IsUpper(runes[0]) {
		runes = append([]rune{'X'}, runes...)
	}
	return string(runes)
}
