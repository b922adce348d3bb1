package summarize

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/local"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"
	"github.com/klauspost/compress/zstd"

	"github.com/awo-dev/awo/internal/sealed"
	"github.com/awo-dev/awo/internal/summary"
	"github.com/awo-dev/awo/internal/summary/count"
)

func TestMain(m *testing.M) {
	flag.Parse()
	beam.Init()
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}

// office returns the lines of the recorded office.
func office(t *testing.T) []string {
	t.Helper()
	packed, err := os.ReadFile("../../testdata/office/trajectories.jsonl.gz")
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(strings.TrimSuffix(string(text), "\n"), "\n")
}

// divide writes lines into n files at random, plain or compressed.
func divide(t *testing.T, lines []string, n int, seed uint64) (files []string) {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 24))
	text := make([]strings.Builder, n)
	for _, line := range lines {
		text[r.IntN(n)].WriteString(line)
	}
	dir := t.TempDir()
	for i := range text {
		name, data := filepath.Join(dir, fmt.Sprintf("part%02d.jsonl", i)), []byte(text[i].String())
		switch r.IntN(3) {
		case 1:
			var b bytes.Buffer
			z := gzip.NewWriter(&b)
			_, err := z.Write(data)
			if err = errors.Join(err, z.Close()); err != nil {
				t.Fatal(err)
			}
			name, data = name+".gz", b.Bytes()
		case 2:
			z, err := zstd.NewWriter(nil)
			if err != nil {
				t.Fatal(err)
			}
			name, data = name+".zst", z.EncodeAll(data, nil)
		}
		files = append(files, write(t, name, data))
	}
	return files
}

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
	return name
}

// oneMachine returns the summary of files that are read together.
func oneMachine(t *testing.T, o count.Options, files ...string) *summary.Summary {
	t.Helper()
	sum, _, err := o.Files(t.Context(), count.Source{Files: files, Open: func(file string) (io.ReadCloser, error) { return os.Open(file) }})
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

// run counts on Prism, and returns the file that was written, nil for none.
func run(t *testing.T, o Options) ([]byte, error) {
	t.Helper()
	if o.Out == "" {
		o.Out = filepath.Join(t.TempDir(), "out.awosum")
	}
	if o.Unit == "" {
		o.Unit = UnitFile
	}
	if o.Count.Shell == "" {
		o.Count = count.Default()
	}
	if err := o.Check(); err != nil {
		t.Fatal(err)
	}
	p := beam.NewPipeline()
	Pipeline(p.Root(), o)
	_, failed := prism.Execute(t.Context(), p)
	data, err := os.ReadFile(o.Out)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(o.Out + ".*"); len(left) > 0 {
		t.Errorf("%v is left over", left)
	}
	return data, failed
}

// TestSameBytes wants the bytes of one machine for any partition into files and bundles.
func TestSameBytes(t *testing.T) {
	lines := office(t)
	for i, x := range []struct {
		files, branches, fanIn int
		unit                   string
		count                  count.Options
	}{
		{1, 1, 0, UnitFile, count.Default()},
		{5, 1, 0, UnitFile, count.Default()},
		{8, 2, 2, UnitFile, count.Default()},
		{13, 4, 3, UnitFile, count.Default()},
		{16, 8, 0, UnitFile, count.Default()},
		{6, 3, 0, UnitFolder, count.Default()},
		{6, 3, 0, UnitAll, count.Default()},
		{9, 4, 2, UnitFile, again(t)},
		{4, 1, 0, UnitAll, again(t)},
		{7, 2, 0, UnitFile, count.Options{Shell: "whole", CollapseRepeats: true, MinLength: 2, DropFailed: true, Where: "calls < 12", ExcludeTool: []string{"get_*"}}},
	} {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			files := divide(t, lines, x.files, uint64(i))
			want := oneMachine(t, x.count, files...).Append(nil)
			got, err := run(t, Options{Inputs: []string{filepath.Join(filepath.Dir(files[0]), "*")}, Branches: x.branches, FanIn: x.fanIn, Unit: x.unit, Count: x.count})
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got, want) {
				t.Errorf("%d bytes, and on one machine %d", len(got), len(want))
			}
		})
	}
}

// again returns options for a second pass: meta-tools as candidates, under rules.
func again(t *testing.T) count.Options {
	t.Helper()
	o := count.Default()
	var err error
	if o.Rules, err = count.ReadRules("../../testdata/office/rules.yaml", os.ReadFile); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile("testdata/metatools.arazzo.yaml")
	if err != nil {
		t.Fatal(err)
	}
	o.Tools = &count.Artefact{File: "metatools.arazzo.yaml", Text: string(text)}
	if text, err = os.ReadFile("testdata/prefetch.json"); err != nil {
		t.Fatal(err)
	}
	o.Prefetch = &count.Artefact{File: "prefetch.json", Text: string(text)}
	return o
}

// TestSecondPass wants the candidates counted where they occur, and other candidates,
// rules and what is no description of meta-tools refused.
func TestSecondPass(t *testing.T) {
	o := again(t)
	files := divide(t, office(t), 3, 12)
	data, err := run(t, Options{Inputs: files, Branches: 2, Count: o})
	if err != nil {
		t.Fatal(err)
	}
	sum, err := summary.Read("got", data)
	if err != nil {
		t.Fatal(err)
	}
	if places, exact := sum.Sum("tools.0.occurrences"), sum.Sum("tools.0.exact"); places == 0 || exact == 0 || exact > places {
		t.Errorf("%d places, %d exact", places, exact)
	}
	offered, tasks := 0, 0
	for _, n := range sum.TaskSums("prefetch.0.offered") {
		offered, tasks = offered+n, tasks+1
	}
	if answers := sum.Sum("prefetch.0.answers"); answers == 0 || offered == 0 || tasks < 2 {
		t.Errorf("%d answers, %d values offered in %d tasks", answers, offered, tasks)
	}
	part := write(t, filepath.Join(t.TempDir(), "part.awosum"), data)
	more := divide(t, office(t)[:10], 1, 13)
	for want, change := range map[string]func(*count.Options){
		"--tools is": func(o *count.Options) { o.Tools = &count.Artefact{File: "x", Text: o.Tools.Text + "\n"} },
		"--rules is": func(o *count.Options) { o.Rules = nil },
		"prefetch.json is": func(o *count.Options) {
			o.Prefetch = &count.Artefact{File: "x", Text: o.Prefetch.Text + "\n"}
		},
	} {
		other := o
		change(&other)
		if _, err := run(t, Options{Inputs: []string{part, more[0]}, Count: other}); err == nil || !strings.Contains(Reason(err), want) {
			t.Errorf("%s: the error is %v", want, err)
		}
	}
	o.Tools = &count.Artefact{File: "metatools.arazzo.yaml", Text: "no meta-tools"}
	if err := (Options{Inputs: files, Out: "x.awosum", Unit: UnitFile, Count: o}).Check(); err == nil {
		t.Error("what is no description of meta-tools is accepted")
	}
}

// TestSecondPassRefuses wants parts that were counted with other rules for reading ahead, or
// are damaged, or that are there twice, to end the pipeline.
func TestSecondPassRefuses(t *testing.T) {
	o := again(t)
	files := divide(t, office(t)[:30], 2, 14)
	dir := t.TempDir()
	data := oneMachine(t, o, files[0]).Append(nil)
	part := write(t, filepath.Join(dir, "part.awosum"), data)
	without := o
	without.Prefetch = nil
	late := bytes.Clone(data)
	late[len(late)-100] ^= 1
	for want, inputs := range map[string][]string{
		"none.awosum: summary-options: it was counted under other options: prefetch.json is not set here": {files[1], write(t, filepath.Join(dir, "none.awosum"), oneMachine(t, without, files[0]).Append(nil))},
		"late.awosum: summary-corrupt": {files[1], write(t, filepath.Join(dir, "late.awosum"), late)},
		"summary-overlap":              {part, files[0]},
	} {
		got, err := run(t, Options{Inputs: inputs, Branches: 2, Count: o})
		if err == nil || !strings.Contains(Reason(err), want) || got != nil {
			t.Errorf("the error is %v, want %s; %d bytes are written", err, want, len(got))
		}
	}
}

// TestAddToSummary wants yesterday's summary and today's files to be the summary of both,
// and a file that two patterns name to count once.
func TestAddToSummary(t *testing.T) {
	files := divide(t, office(t), 4, 9)
	want := oneMachine(t, count.Default(), files...).Append(nil)
	dir := t.TempDir()
	yesterday := write(t, filepath.Join(dir, "yesterday.awosum"), oneMachine(t, count.Default(), files[:2]...).Append(nil))
	got, err := run(t, Options{Inputs: []string{yesterday, files[2], files[3], files[3]}, Out: yesterday})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%d bytes, want %d", len(got), len(want))
	}
}

// TestFolder wants trajectories whose parts stand in several files of a folder whole.
func TestFolder(t *testing.T) {
	text, err := os.ReadFile("../../trace/formats/otel/testdata/otlp/openinference.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	half := strings.SplitAfter(string(text), "\n")
	dir := t.TempDir()
	files := []string{write(t, filepath.Join(dir, "s", "a.jsonl"), []byte(half[0])), write(t, filepath.Join(dir, "s", "b.jsonl"), []byte(half[1]))}
	want := oneMachine(t, count.Default(), files...)
	for unit, same := range map[string]bool{UnitFolder: true, UnitAll: true, UnitFile: false} {
		got, err := run(t, Options{Inputs: files, Unit: unit, Branches: 2})
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Equal(got, want.Append(nil)) != same {
			t.Errorf("unit %s: the same is %v, want %v", unit, !same, same)
		}
	}
}

// TestRefuses wants an error that names the file and the reason, and nothing written.
func TestRefuses(t *testing.T) {
	files := divide(t, office(t)[:30], 2, 3)
	dir := t.TempDir()
	part := oneMachine(t, count.Default(), files[0]).Append(nil)
	change := func(at int, b byte) []byte {
		out := bytes.Clone(part)
		out[at] ^= b
		return out
	}
	other := count.Default()
	other.MinLength = 2
	packed, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for name, x := range map[string]struct {
		inputs []string
		want   string
	}{
		"corrupt":     {[]string{files[1], write(t, filepath.Join(dir, "bad.awosum"), change(len(part)/2, 1))}, "bad.awosum: summary-corrupt"},
		"cut off":     {[]string{files[1], write(t, filepath.Join(dir, "cut.awosum"), part[:len(part)-9])}, "cut.awosum: summary-truncated"},
		"version":     {[]string{files[1], write(t, filepath.Join(dir, "v9.awosum"), (sealed.Kind{Schema: "awo.summary-data/v9"}).Encode(1))}, "v9.awosum: summary-version"},
		"foreign":     {[]string{files[1], write(t, filepath.Join(dir, "text.awosum"), []byte("text"))}, "text.awosum: summary-foreign"},
		"options":     {[]string{files[1], write(t, filepath.Join(dir, "other.awosum"), oneMachine(t, other, files[0]).Append(nil))}, `other.awosum: summary-options: it was counted under other options: --min-length is "2" here`},
		"part twice":  {[]string{write(t, filepath.Join(dir, "a.awosum"), part), write(t, filepath.Join(dir, "b.awosum"), part)}, "summary-overlap"},
		"in a part":   {[]string{files[0], filepath.Join(dir, "a.awosum")}, "summary-overlap"},
		"other name":  {[]string{files[0], write(t, filepath.Join(dir, "copy"+filepath.Ext(files[0])), packed)}, "summary-overlap"},
		"no file":     {[]string{filepath.Join(dir, "none*.jsonl")}, "file-missing"},
		"no file two": {[]string{files[0], filepath.Join(dir, "none.jsonl")}, "file-missing"},
	} {
		t.Run(name, func(t *testing.T) {
			if name == "in a part" {
				write(t, x.inputs[1], part)
			}
			got, err := run(t, Options{Inputs: x.inputs, Branches: 2})
			if err == nil || !strings.Contains(Reason(err), x.want) || strings.Contains(Reason(err), "ParDo") {
				t.Errorf("the error is %v, want %s", err, x.want)
			}
			if got != nil {
				t.Errorf("%d bytes are written", len(got))
			}
		})
	}
	got, err := run(t, Options{Inputs: []string{files[0], filepath.Join(dir, "a.awosum")}, AllowOverlap: true})
	if err != nil {
		t.Fatal(err)
	}
	sum, err := summary.Read("got", got)
	if err != nil || sum.Inputs() != 2 || sum.Facts().Tally.Trajectories%2 != 0 {
		t.Errorf("with overlap: %v", err)
	}
}

// failing is a file system that fails while one file is read, so often.
var failing struct {
	sync.Mutex
	file  string
	after int
	times int
}

func init() {
	filesystem.Register("failing", func(ctx context.Context) filesystem.Interface { return failingFiles{local.New(ctx)} })
}

var errGone = errors.New("the disk of this worker is gone")

type failingFiles struct{ filesystem.Interface }

func (f failingFiles) List(ctx context.Context, glob string) ([]string, error) {
	list, err := f.Interface.List(ctx, strings.TrimPrefix(glob, "failing://"))
	for i := range list {
		list[i] = "failing://" + list[i]
	}
	return list, err
}

func (f failingFiles) OpenRead(ctx context.Context, file string) (io.ReadCloser, error) {
	in, err := f.Interface.OpenRead(ctx, strings.TrimPrefix(file, "failing://"))
	failing.Lock()
	defer failing.Unlock()
	if err != nil || file != failing.file || failing.times == 0 {
		return in, err
	}
	failing.times--
	return failingReader{in, &io.LimitedReader{R: in, N: int64(failing.after)}}, nil
}

type failingReader struct {
	io.Closer
	in *io.LimitedReader
}

func (r failingReader) Read(p []byte) (int, error) {
	if r.in.N == 0 {
		return 0, errGone
	}
	return r.in.Read(p)
}

// TestFailedPipeline wants nothing of a pipeline that failed while it read, and all of it,
// once, from the next.
func TestFailedPipeline(t *testing.T) {
	files := divide(t, office(t)[:60], 6, 5)
	for i := range files {
		files[i] = "failing://" + files[i]
	}
	want, err := run(t, Options{Inputs: files, Branches: 3})
	if err != nil {
		t.Fatal(err)
	}
	failing.file, failing.after, failing.times = files[4], 4000, 1
	got, err := run(t, Options{Inputs: files, Branches: 3})
	if err == nil || !strings.Contains(Reason(err), errGone.Error()) || got != nil {
		t.Fatalf("the error is %v, and %d bytes are written", err, len(got))
	}
	if got, err = run(t, Options{Inputs: files, Branches: 3}); err != nil || !bytes.Equal(got, want) {
		t.Errorf("again: %v, %d bytes, want %d", err, len(got), len(want))
	}
}

// TestRetriedBundle does with a bundle what a runner does: it fails in its third file, is
// given up, and is tried again on the same worker. Prism tries nothing again. In the end
// everything is counted once, the second pass too.
func TestRetriedBundle(t *testing.T) {
	for name, options := range map[string]count.Options{"sequences": count.Default(), "second pass": again(t)} {
		t.Run(name, func(t *testing.T) { retryBundle(t, options) })
	}
}

func retryBundle(t *testing.T, options count.Options) {
	t.Helper()
	files := divide(t, office(t)[:60], 4, 6)
	want := oneMachine(t, options, files...)
	for i := range files {
		files[i] = "failing://" + files[i]
	}
	failing.file, failing.after, failing.times = files[2], 3000, 2
	worker := &countFn{Options: options}
	if err := worker.Setup(); err != nil {
		t.Fatal(err)
	}
	var parts [][]byte
	tries := 0
	for done := false; !done; tries++ {
		emit := func(part []byte) { parts = append(parts, part) }
		inputs := map[string]int{}
		read := func(hash, _ string) { inputs[hash]++ }
		worker.StartBundle(emit, read)
		done = true
		for _, file := range files {
			if err := worker.ProcessElement(t.Context(), unit{Files: []string{file}}, emit, read); err != nil {
				if !errors.Is(err, errGone) {
					t.Fatal(err)
				}
				done = false // the runner drops what was emitted, which is nothing so far
				break
			}
		}
		if done {
			worker.FinishBundle(t.Context(), emit, read)
			if len(inputs) != len(files) {
				t.Errorf("%d inputs, want %d", len(inputs), len(files))
			}
		}
	}
	if tries != 3 || len(parts) != 1 {
		t.Fatalf("%d tries, %d parts", tries, len(parts))
	}
	if !bytes.Equal(parts[0], want.Append(nil)) {
		t.Errorf("%d bytes, want %d", len(parts[0]), len(want.Append(nil)))
	}
}

// TestMergeRefuses wants a part that arrives damaged, or twice, to be an error where
// parts are merged.
func TestMergeRefuses(t *testing.T) {
	files := divide(t, office(t)[:20], 2, 8)
	part := oneMachine(t, count.Default(), files[0]).Append(nil)
	merging := &mergeFn{Options: count.Default()}
	once, err := merging.AddInput(merging.CreateAccumulator(), part)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := merging.AddInput(once, part); err == nil || !strings.Contains(err.Error(), summary.CodeOverlap) {
		t.Errorf("the same part again: %v", err)
	}
	damaged := bytes.Clone(part)
	damaged[len(damaged)/3] ^= 4
	if _, err := merging.AddInput(merging.CreateAccumulator(), damaged); err == nil || !strings.Contains(err.Error(), summary.CodeCorrupt) {
		t.Errorf("a damaged part: %v", err)
	}
	if got := merging.ExtractOutput(once); !bytes.Equal(got, part) {
		t.Error("an error changed what was merged")
	}
	writing := &writeFn{Out: filepath.Join(t.TempDir(), "out.awosum")}
	if err := writing.ProcessElement(t.Context(), part, func(*int) bool { return false }); err == nil {
		t.Error("a summary with an input that nobody read is written")
	}
	if _, err := os.Stat(writing.Out); err == nil {
		t.Error("it is there")
	}
}
