package trace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/awo-dev/awo/diag"
)

func TestCounts(t *testing.T) {
	packed := gzipped(t, oneCall+`{"calls":[]}`+"\n"+`{"calls":`)
	spans := `{"trace":"x","n":1}` + "\n" + `{"trace":"y","n":1}` + "\n"
	lay(t, map[string]string{"a.gz": packed, "b.json": "[" + oneCall + "]", "s1": spans, "s2": spans, "e": ""})
	var progress []int64
	r, err := Open([]string{"a.gz", "none", "b.json", "s1", "e", "s2"}, Options{
		Formats: testFormats(), Progress: func(n int64) { progress = append(progress, n) },
	})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the second reading counts from the beginning
		progress = nil
		for range r.All() {
		}
		want := Counts{
			Files: []FileCounts{
				{Name: "a.gz", Format: "calls", Records: 3, Trajectories: 2, Empty: 1, Bytes: 38, Problems: 1},
				{Name: "none", Problems: 1},
				{Name: "b.json", Format: "calls", Records: 1, Trajectories: 1, Bytes: 18},
				{Name: "s1", Format: "spans", Records: 2, Trajectories: 2, Bytes: 40},
				{Name: "e", Problems: 1},
				{Name: "s2", Format: "spans", Records: 2, Bytes: 40},
			},
			Records: 8, Trajectories: 5, Empty: 1, Bytes: 136,
			Problems: diag.Counts{Total: 3, ByCode: map[string]int{"json-truncated": 1, "file-missing": 1, "file-empty": 1}},
		}
		if d := cmp.Diff(want, r.Counts()); d != "" {
			t.Error(d)
		}
		size, known := r.Size()
		if stored := int64(len(packed) + 18 + 80); size != stored || !known || progress[len(progress)-1] != stored {
			t.Errorf("size %d, %v, progress %v, want %d", size, known, progress, stored)
		}
	}
	if r, err = Open([]string{"-"}, Options{Formats: testFormats()}); err != nil {
		t.Fatal(err)
	}
	if size, known := r.Size(); size != 0 || known {
		t.Errorf("size of standard input %d, %v", size, known)
	}
}

// openFiles returns how many files this process has open.
func openFiles(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("this system does not list open files")
	}
	return len(entries)
}

// TestStopEarly holds that nothing stays behind when the consumer leaves, in
// whatever way, while the other goroutines wait: no goroutine, no open file.
func TestStopEarly(t *testing.T) {
	line := `{"calls":["a"],"pad":"` + strings.Repeat("x", 4<<20) + `"}` + "\n"
	text := strings.Repeat(line, 2*maxLoad/len(line))
	lay(t, map[string]string{"a.jsonl": text, "b.gz": gzipped(t, strings.Repeat(line, 5))})
	formats := testFormats()
	formats[3].Decode = func(Record) ([]Fragment, error) { return []Fragment{{Trajectory: &Trajectory{}}}, nil }
	leave := map[string]func(){
		"break":  nil,
		"panic":  func() { panic("left") },
		"goexit": func() { runtime.Goexit() },
	}
	for name, how := range leave {
		for _, workers := range []int{1, 2, 8} {
			for _, path := range []string{"a.jsonl", "b.gz"} {
				before := openFiles(t)
				done := make(chan struct{})
				go func() {
					defer close(done)
					defer func() { _ = recover() }()
					r, err := Open([]string{path}, Options{Workers: workers, Formats: formats})
					if err != nil {
						t.Error(err)
						return
					}
					n := 0
					for range r.All() {
						if n++; n < 2 {
							continue
						}
						time.Sleep(time.Millisecond) // let the others run until they wait
						if how == nil {
							break
						}
						how()
					}
				}()
				<-done
				goleak.VerifyNone(t)
				if after := openFiles(t); after != before {
					t.Errorf("%s, %d workers: %d open files, %d before", name, workers, after, before)
				}
			}
		}
	}
}

// TestDecodePanics holds that a panic in a decoder reaches the consumer, and
// leaves nothing behind, also when the load is full.
func TestDecodePanics(t *testing.T) {
	line := `{"calls":["a"],"pad":"` + strings.Repeat("x", 9<<20) + `"}` + "\n"
	in := strings.Repeat(line, 2*maxLoad/len(line))
	for _, workers := range []int{1, 2, 8} {
		n := 0
		formats := []Format{{
			Name: "bad", Detect: detectKeys("calls"),
			Decode: func(r Record) ([]Fragment, error) {
				if r.Line == 2 {
					time.Sleep(20 * time.Millisecond)
					panic("boom")
				}
				return []Fragment{{Trajectory: &Trajectory{}}}, nil
			},
		}}
		func() {
			defer func() {
				if p := recover(); p != "boom" || n != 1 {
					t.Errorf("%d workers: recovered %v after %d trajectories", workers, p, n)
				}
			}()
			r, err := Open([]string{"-"}, Options{Workers: workers, Formats: formats, Stdin: strings.NewReader(in)})
			if err != nil {
				t.Fatal(err)
			}
			for range r.All() {
				n++
			}
		}()
		goleak.VerifyNone(t)
	}
}

// TestNoDiagErrorIsLast holds that an error that is no problem ends reading.
func TestNoDiagErrorIsLast(t *testing.T) {
	boom := errors.New("boom")
	formats := testFormats()
	formats[3].Decode = func(r Record) ([]Fragment, error) {
		if r.Line == 2 {
			return nil, boom
		}
		return decodeCalls(r)
	}
	for _, workers := range []int{1, 2, 8} {
		r, err := Open([]string{"-"}, Options{Workers: workers, Formats: formats, Stdin: strings.NewReader(strings.Repeat(oneCall, 5))})
		if err != nil {
			t.Fatal(err)
		}
		var last error
		n := 0
		for _, err := range r.All() {
			n++
			last = err
		}
		if n != 2 || !errors.Is(last, boom) {
			t.Errorf("%d workers: %d items, last %v", workers, n, last)
		}
	}
}

// failingReader gives some text and then an error, and the same error again.
type failingReader struct {
	text io.Reader
	err  error
}

func (r *failingReader) Read(p []byte) (int, error) {
	n, err := r.text.Read(p)
	if err == io.EOF {
		err = r.err
	}
	return n, err
}

func TestReadFailure(t *testing.T) {
	for in, want := range map[string][]string{
		"":                         {"error -: read-failed: reading failed here: no luck"},
		oneCall + `{"cal`:          {"-:1 at -:1:1 +0 calls [a]", "error -:2:1: read-failed: reading failed here: no luck"},
		"[" + oneCall + `,{"cal`:   {"-:1:2 at -:1:2 +1 calls [a]", "error -:2:2: read-failed: reading failed here: no luck"},
		"[" + oneCall + `,`:        {"-:1:2 at -:1:2 +1 calls [a]", "error -:2:2: read-failed: reading failed here: no luck"},
		`{"info":1,"runs":[{},`:    {"-:1:19 at -:1:19 +18 runs [] info@-:1:9=1", "error -:1:22: read-failed: reading failed here: no luck"},
		`{"info":1,"runs":[],"x":`: {"error -:1:25: read-failed: reading failed here: no luck"},
	} {
		for _, block := range []int{0, 1, 4} {
			r, err := Open([]string{"-"}, Options{
				Formats: testFormats(), block: block,
				Stdin: &failingReader{strings.NewReader(in), errors.New("no luck")},
			})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, describe(r)); d != "" {
				t.Errorf("%q in blocks of %d: %s", in, block, d)
			}
		}
	}
}

// TestNeverEndingNothing holds that a source that gives neither bytes nor an
// error is given up.
func TestNeverEndingNothing(t *testing.T) {
	in := &failingReader{strings.NewReader(oneCall), nil}
	r, err := Open([]string{"-"}, Options{Formats: testFormats(), Stdin: in})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan []string)
	go func() { done <- describe(r) }()
	select {
	case got := <-done:
		if len(got) == 0 || !strings.Contains(got[len(got)-1], "read-failed") {
			t.Errorf("got %q", got)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("still reading nothing")
	}
}

// layout writes records in one of the containers and returns the text with
// what reading it must yield.
func layout(records []string, container Container, space func() string) (text string, want []string) {
	var b bytes.Buffer
	place := func(record string, named bool) {
		before := b.Bytes()
		line, col := 1+bytes.Count(before, newline), b.Len()-bytes.LastIndexByte(before, '\n')
		pos := fmt.Sprintf("-:%d:%d", line, col)
		id := pos
		if named {
			id = fmt.Sprintf("-:%d", line)
		}
		want = append(want, fmt.Sprintf("%s at %s +%d", id, pos, b.Len()))
		b.WriteString(record)
	}
	if container == ContainerArray {
		b.WriteString(space() + "[" + space())
	}
	for i, record := range records {
		switch container {
		case ContainerLines:
			place(record, true)
			b.WriteString(strings.Repeat(" ", i%2) + "\n")
			if i%5 == 4 {
				b.WriteString("\r\n\n")
			}
		case ContainerArray:
			if i > 0 {
				b.WriteString(space() + "," + space())
			}
			place(record, false)
		default:
			place(record, false)
			b.WriteString(space())
		}
	}
	if container == ContainerArray {
		b.WriteString(space() + "]\n")
	}
	return b.String(), want
}

// TestAnyLayout holds that the same records are read in any container, with any
// white space, in any blocks, by any number of workers, from plain and from
// compressed files, at exactly their places.
func TestAnyLayout(t *testing.T) {
	text := rapid.StringOfN(rapid.RuneFrom([]rune("ab {}[]\",:\\\né€😀")), 0, 40, -1)
	rapid.Check(t, func(t *rapid.T) {
		container := Container(rapid.IntRange(0, 2).Draw(t, "container"))
		gap := rapid.SampledFrom([]string{"", " ", "\n", "\n  ", "\r\n\t"})
		var records, calls []string
		for i := range rapid.IntRange(1, 30).Draw(t, "records") {
			pad := fmt.Sprintf("%q", strings.ToValidUTF8(text.Draw(t, "pad"), ""))
			call := fmt.Sprintf("t%d", i)
			inner := ""
			if container != ContainerLines {
				inner = gap.Draw(t, "inner")
			}
			records = append(records, `{"pad":`+inner+pad+`,"calls":[`+inner+`"`+call+`"]}`)
			calls = append(calls, call)
		}
		if container == ContainerDocument && !strings.Contains(records[0], "\n") {
			records[0] = "{\n" + records[0][1:] // or it is a file of lines
		}
		in, want := layout(records, container, func() string { return gap.Draw(t, "gap") })
		for i := range want {
			want[i] += " calls [" + calls[i] + "]"
		}
		block := rapid.SampledFrom([]int{0, 1, 2, 5, 17, 100, 1000}).Draw(t, "block")
		for _, workers := range []int{1, 2, 8} {
			r, err := Open([]string{"-"}, Options{
				Formats: testFormats(), Workers: workers, block: block, Stdin: strings.NewReader(in),
			})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(want, describe(r)); d != "" {
				t.Fatalf("%d workers, blocks of %d: %s\n%q", workers, block, d, in)
			}
		}
	})
}
