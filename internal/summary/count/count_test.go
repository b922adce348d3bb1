package count_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/awo-dev/awo/internal/summary/count"
)

const office = "../../../testdata/office/trajectories.jsonl.gz"

// files is a store of files in memory.
type files map[string][]byte

func (f files) open(name string) (io.ReadCloser, error) {
	data, ok := f[name]
	if !ok {
		return nil, os.ErrNotExist
	}
	return io.NopCloser(iotest.HalfReader(bytes.NewReader(data))), nil
}

func (f files) count(t *testing.T, o count.Options, names ...string) []byte {
	t.Helper()
	sum, _, err := o.Files(t.Context(), count.Source{Files: names, Open: f.open})
	if err != nil {
		t.Fatal(err)
	}
	return sum.Append(nil)
}

func lines(t *testing.T) []string {
	t.Helper()
	data, err := os.ReadFile(office)
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
}

func zipped(t *testing.T, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err := io.WriteString(z, text)
	if err = errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zstandard(t *testing.T, text string) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll([]byte(text), nil)
}

// withPrefetch returns options that count what rules for reading ahead offer.
func withPrefetch(t *testing.T) count.Options {
	t.Helper()
	text, err := os.ReadFile("../../../beam/summarize/testdata/prefetch.json")
	if err != nil {
		t.Fatal(err)
	}
	o := count.Default()
	o.Prefetch = &count.Artefact{File: "prefetch.json", Text: string(text)}
	return o
}

// TestFiles wants files that are read one by one, however compressed, to add up to the
// bytes of files that are read together.
func TestFiles(t *testing.T) {
	text := lines(t)
	in := files{
		"a.jsonl":      []byte(strings.Join(text[:20], "")),
		"b.jsonl.gz":   zipped(t, strings.Join(text[20:30], "")),
		"c.jsonl.zst":  zstandard(t, strings.Join(text[30:45], "")),
		"d.txt":        []byte("nothing that awo knows\n"),
		"e.jsonl":      []byte(text[45] + "{\"messages\":[}\n" + text[46]),
		"damaged.json": zipped(t, text[47])[:40],
		"empty.jsonl":  nil,
	}
	for name, o := range map[string]count.Options{
		"default": count.Default(),
		"ahead":   withPrefetch(t),
		"chosen":  {Shell: "whole", MinLength: 3, DropFailed: true, Where: "calls < 12", ExcludeTool: []string{"get_*"}},
	} {
		t.Run(name, func(t *testing.T) {
			names := []string{"a.jsonl", "b.jsonl.gz", "c.jsonl.zst", "d.txt", "e.jsonl", "damaged.json", "empty.jsonl"}
			whole := in.count(t, o, names...)
			sum := o.New()
			for _, one := range names {
				part, _, err := o.Files(t.Context(), count.Source{Files: []string{one}, Open: in.open})
				if err != nil {
					t.Fatal(err)
				}
				if err := sum.Merge(part, false); err != nil {
					t.Fatal(err)
				}
			}
			if got := sum.Append(nil); !bytes.Equal(got, whole) {
				t.Errorf("the parts are %d bytes, the whole is %d", len(got), len(whole))
			}
			if y := sum.Facts().Tally; y.Trajectories == 0 || sum.Intake().Files < 4 || sum.Intake().Problems.Total == 0 {
				t.Errorf("%d trajectories, intake %+v", y.Trajectories, sum.Intake())
			}
		})
	}
}

// TestFailedReading wants a failure to open or read a file to be an error, and another
// try to count everything once.
func TestFailedReading(t *testing.T) {
	in := files{"a.jsonl": []byte(strings.Join(lines(t)[:20], ""))}
	want := in.count(t, count.Default(), "a.jsonl")
	broken := errors.New("the worker is gone")
	for name, open := range map[string]func(string) (io.ReadCloser, error){
		"opening": func(string) (io.ReadCloser, error) { return nil, broken },
		"reading": func(name string) (io.ReadCloser, error) {
			return io.NopCloser(io.MultiReader(bytes.NewReader(in[name][:5000]), iotest.ErrReader(broken))), nil
		},
	} {
		_, _, err := count.Default().Files(t.Context(), count.Source{Files: []string{"a.jsonl"}, Open: open})
		if !errors.Is(err, broken) || !strings.Contains(err.Error(), "a.jsonl") {
			t.Errorf("%s: the error is %v", name, err)
		}
		if got := in.count(t, count.Default(), "a.jsonl"); !bytes.Equal(got, want) {
			t.Errorf("%s: the second try counts otherwise", name)
		}
	}
}

// TestPartsTogether wants a trajectory whose parts stand in two files to be one where
// they are of one source, and two where each file is alone.
func TestPartsTogether(t *testing.T) {
	text, err := os.ReadFile("../../../trace/formats/otel/testdata/otlp/openinference.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	half := strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
	in := files{
		"a.jsonl": []byte(strings.Join(half[:len(half)/2], "")),
		"b.jsonl": []byte(strings.Join(half[len(half)/2:], "")),
	}
	trajectories := func(names ...string) int {
		sum, inputs, err := count.Default().Files(t.Context(), count.Source{Files: names, Open: in.open})
		if err != nil || len(inputs) != len(names) {
			t.Fatal(inputs, err)
		}
		return sum.Facts().Tally.Trajectories
	}
	together, apart := trajectories("a.jsonl", "b.jsonl"), trajectories("a.jsonl")+trajectories("b.jsonl")
	if together == 0 || together >= apart {
		t.Errorf("%d trajectories together, %d apart", together, apart)
	}
}

func TestCheck(t *testing.T) {
	for _, o := range []count.Options{{}, {Shell: "auto", TurnGap: -1}, {Shell: "auto", Where: "calls <"}, {Shell: "auto", Since: "soon"}} {
		if o.Check() == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
	if err := count.Default().Check(); err != nil {
		t.Error(err)
	}
	o := withPrefetch(t)
	if err := o.Check(); err != nil {
		t.Error(err)
	}
	if o.MinLength = 2; o.Check() == nil {
		t.Error("calls are left out, and rules for reading ahead are counted")
	}
	o = withPrefetch(t)
	if o.Prefetch.Text = "{}"; o.Check() == nil {
		t.Error("what are no rules for reading ahead is accepted")
	}
}
