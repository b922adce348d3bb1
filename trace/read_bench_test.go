package trace

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// chatRecord returns a record of about 18 KB that looks like a chat: keys,
// sentences with escapes, and JSON inside of strings.
func chatRecord(sep string) string {
	message := `{"role": "assistant", "content": "` + strings.Repeat(`Well,\nthe \"flight\" leaves at 8. `, 10) + `",` + sep +
		`"tool_calls": [{"id": "call_1", "function": {"name": "search", "arguments": "{\"from\": \"JFK\", \"to\": \"SEA\"}"}}]},` + sep +
		`{"role": "tool", "content": "` + strings.Repeat("All of this is what the tool has said, and it has said much. ", 20) + `"}`
	return `{"calls": ["a"],` + sep + `"messages": [` + strings.Repeat(message+","+sep, 10) + `{}]}`
}

// corpora are about 16 MiB each of the same records in every container.
func corpora() map[string]string {
	const n = 900
	line, pretty := chatRecord(" "), chatRecord("\n      ")
	return map[string]string{
		"lines":    strings.Repeat(line+"\n", n),
		"array":    "[" + strings.Repeat(line+", ", n) + line + "]",
		"pretty":   "[\n  " + strings.Repeat(pretty+",\n  ", n) + pretty + "\n]\n",
		"document": "{\n" + strings.Repeat(pretty[1:]+"\n{", n)[:n*(len(pretty)+1)-2],
	}
}

// freeFormat decodes nothing: what is left is the cost of reading.
func freeFormat(detect func(Head) Match) []Format {
	return []Format{{Name: "free", Detect: detect, Decode: func(Record) ([]Fragment, error) { return nil, nil }}}
}

func anything(Head) Match { return Match{OK: true} }

// BenchmarkSplit is the serial part of reading: from a reader to records.
func BenchmarkSplit(b *testing.B) {
	texts := corpora()
	texts["short lines"] = strings.Repeat(oneCall, 1<<20)
	for _, name := range []string{"lines", "short lines", "array", "pretty", "document"} {
		container := map[string]Container{"array": ContainerArray, "pretty": ContainerArray, "document": ContainerDocument}[name]
		text := []byte(texts[name])
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				for _, err := range SplitRecords(&Input{Reader: bytes.NewReader(text), Container: container}) {
					if err != nil {
						b.Fatal(err)
					}
					n++
				}
				if n < 900 {
					b.Fatal(n)
				}
			}
		})
	}
}

// BenchmarkReader is all of reading but decoding: from a file to the consumer.
func BenchmarkReader(b *testing.B) {
	texts := corpora()
	for _, name := range []string{"lines", "pretty"} {
		path := filepath.Join(b.TempDir(), name)
		if err := os.WriteFile(path, []byte(texts[name]), 0o666); err != nil {
			b.Fatal(err)
		}
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("%s/workers=%d", name, workers), func(b *testing.B) {
				b.SetBytes(int64(len(texts[name])))
				b.ReportAllocs()
				for b.Loop() {
					r, err := Open([]string{path}, Options{Workers: workers, Formats: freeFormat(anything)})
					if err != nil {
						b.Fatal(err)
					}
					for _, err := range r.All() {
						b.Fatal(err)
					}
					if r.Counts().Records < 900 {
						b.Fatal(r.Counts().Records)
					}
				}
			})
		}
	}
}

func BenchmarkNesting(b *testing.B) {
	for _, text := range []struct{ name, text string }{
		{"chat", chatRecord(" ")},
		{"pretty", chatRecord("\n      ")},
		{"long-strings", `["` + strings.Repeat(strings.Repeat("lorem ipsum dolor ", 100)+`", "`, 10) + `"]`},
		{"escaped", `["` + strings.Repeat(strings.Repeat(`{\"a\": \"bcdefg\"} `, 100)+`", "`, 10) + `"]`},
		{"numbers", `[` + strings.Repeat(`{"a":1,"b":[2,3]},`, 1000) + `0]`},
	} {
		data := []byte(text.text)
		b.Run(text.name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				nest := jsonscan.NewNesting(data[0])
				if n, done := nest.Skip(data); !done || n != len(data) {
					b.Fatal(n, done)
				}
			}
		})
	}
}

// BenchmarkAssemble is collecting and joining fragments, in memory and from disk.
func BenchmarkAssemble(b *testing.B) {
	var in strings.Builder
	for i := range 20000 {
		fmt.Fprintf(&in, `{"trace":"k%d","n":%d,"pad":"%s"}`+"\n", i*7919%2000, i, strings.Repeat("x", 400))
	}
	text := in.String()
	formats := []Format{{
		Name: "free", Detect: anything,
		Decode: func(r Record) ([]Fragment, error) {
			key, _, _ := bytes.Cut(r.Data[10:], []byte{'"'})
			return []Fragment{{Key: string(key), Order: r.Offset, Data: r.Data, Pos: r.Pos()}}, nil
		},
		Assemble: func(_ string, parts []Fragment) ([]*Trajectory, error) { return []*Trajectory{{}}, nil },
	}}
	for name, budget := range map[string]int64{"memory": 1 << 30, "disk": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				r, err := Open([]string{"-"}, Options{Formats: formats, SpillBudget: budget, Stdin: strings.NewReader(text)})
				if err != nil {
					b.Fatal(err)
				}
				for _, err := range r.All() {
					if err != nil {
						b.Fatal(err)
					}
				}
				if n := r.Counts().Trajectories; n != 2000 {
					b.Fatal(n)
				}
			}
		})
	}
}

// endless repeats a text until it has given so many bytes, and then an end.
type endless struct {
	text string
	at   int
	left int64
	end  string
}

func (e *endless) Read(p []byte) (int, error) {
	if e.left <= 0 {
		if e.end == "" {
			return 0, io.EOF
		}
		n := copy(p, e.end)
		e.end = e.end[n:]
		return n, nil
	}
	n := copy(p, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	if e.left -= int64(n); e.left <= 0 && e.at != 0 {
		e.left += int64(len(e.text) - e.at) // to the end of the text
	}
	return n, nil
}

// peakHeap runs f and returns the most heap that was in use meanwhile.
func peakHeap(f func()) uint64 {
	var peak atomic.Uint64
	sample := func() {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		peak.Store(max(peak.Load(), m.HeapInuse))
	}
	runtime.GC()
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
				sample()
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return peak.Load()
}

// raceDetector says that the race detector is built in, which takes many times
// the memory and the time.
func raceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// TestMemory holds that the memory in use does not grow with the input: 200 MiB
// of it are read in a few dozen, whatever the container, also where records are
// large, too large, or fragments that must wait for the end.
func TestMemory(t *testing.T) {
	if testing.Short() || raceDetector() {
		t.Skip("reads gigabytes and measures memory")
	}
	const size = 200 << 20
	megabytes := func(n int) string { return strings.Repeat("0123456789abcdef", n<<16) }
	tests := []struct {
		name, text, begin, end string
		limit                  uint64 // MiB
		options                Options
	}{
		{name: "lines", text: chatRecord(" ") + "\n", limit: 110},
		{name: "array", text: chatRecord("\n  ") + ",\n", begin: "[", end: "{}]", limit: 110},
		{name: "member", text: chatRecord("\n  ") + ",\n", begin: `{"info":1,"runs":[`, end: `{}]}`, limit: 110},
		{name: "records of 6 MiB", text: `{"calls":["` + megabytes(6) + `"]}` + "\n", limit: 250},
		{name: "one line over the limit", text: megabytes(1), begin: `{"calls":["`, end: `"]}`, limit: 110, options: Options{MaxRecord: 8 << 20}},
		{name: "one element over the limit", text: megabytes(1), begin: `[{"calls":["`, end: `"]}]`, limit: 120, options: Options{MaxRecord: 8 << 20}},
		{name: "space between records", text: strings.Repeat(" \n", 1000), begin: `[{"calls":[]},`, end: "{}]", limit: 110},
		{name: "a member behind", text: megabytes(1), begin: `{"info":1,"runs":[{}],"rest":"`, end: `"}`, limit: 120},
		{name: "fragments", text: `{"trace":"x","n":1,"whole":false,"pad":"` + strings.Repeat("x", 5000) + `"}` + "\n", limit: 150, options: Options{SpillBudget: 8 << 20, MaxRecord: 1 << 30}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			formats := testFormats()
			for i := range formats { // the cost of reading alone
				formats[i].Decode = func(Record) ([]Fragment, error) { return nil, nil }
			}
			formats[0].Decode = func(r Record) ([]Fragment, error) {
				return []Fragment{{Key: fmt.Sprint(r.Offset / (1 << 20)), Order: r.Offset, Data: r.Data, Pos: r.Pos()}}, nil
			}
			formats[0].Assemble = func(string, []Fragment) ([]*Trajectory, error) { return nil, nil }
			o := test.options
			o.Formats, o.Workers = formats, 2
			o.Stdin = io.MultiReader(strings.NewReader(test.begin), &endless{text: test.text, left: size, end: test.end})
			r, err := Open([]string{"-"}, o)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			peak := peakHeap(func() {
				for _, err := range r.All() {
					if e := asProblem(t, err); e.Code != "record-too-large" {
						t.Error(err)
					}
				}
			})
			c := r.Counts()
			t.Logf("%d MiB at most, %d records, %.0f MB/s", peak>>20, c.Records, float64(c.Bytes)/1e6/time.Since(start).Seconds())
			if c.Bytes < size {
				t.Errorf("%d bytes were read", c.Bytes)
			}
			if peak>>20 > test.limit {
				t.Errorf("%d MiB of heap were in use, the limit is %d", peak>>20, test.limit)
			}
		})
	}
}
