// Package summarize counts traces into a summary as `awo summarize` does, on the workers
// of a runner of Apache Beam.
//
// In come names of files and patterns that a file system of Beam knows, of traces and of
// summaries (*.awosum); out goes one summary, byte for byte that of one machine.
//
//	patterns -> files -> units -> a part for each bundle -> merged -> written
//	                        \-> hashes of inputs -> none twice? -/
//
// # What is a unit
//
// A unit is read by one worker, from its beginning to its end. It must hold all parts of
// its trajectories:
//
//   - UnitFile, a file: right where a record or a file holds whole trajectories, as lines
//     of chat messages, transcripts and result files of benchmarks do. Large files of
//     such lines can be cut between lines before; a compressed one cannot.
//   - UnitFolder, all files of a folder, without those below it: for spans and logs of
//     which one folder holds a day, a session or a service. Files of several folders do
//     not join.
//   - UnitAll, everything: one worker does all, which is what `awo summarize` does.
//
// Nothing needs to be regrouped by task or trajectory, because a summary is a multiset of
// rows: a task with a million runs is no hot key, its equal runs become one row in each
// bundle. Names of tasks that are not recorded follow from the names of files, so these
// must be the same wherever parts of one corpus are counted.
//
// # Nothing twice
//
// A bundle that fails leaves nothing: what it counted is dropped and its files are read
// again. Two inputs with the same bytes, or a part that is given twice, end the pipeline
// before anything is written.
package summarize

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/register"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/summary"
	"github.com/awo-dev/awo/internal/summary/count"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/mapped"
)

// The units of reading.
const (
	UnitFile   = "file"
	UnitFolder = "folder"
	UnitAll    = "all"
)

// Options say what is counted, how, and where to.
type Options struct {
	Inputs []string // names of files and patterns; what ends in .awosum is a summary
	Out    string   // the file to write
	Count  count.Options
	Map    string // the text of a map for a layout of its own; its name is Count.Map

	Unit string

	// Branches is how many times the counting stands side by side in the pipeline, 1 if
	// it is less. Prism makes one bundle of all files that wait at a stage, and others
	// choose bundles themselves: those need one.
	Branches int

	// FanIn is how many workers merge parts before the last one does; less than 2 for none.
	FanIn int

	AllowOverlap bool // inputs may be counted twice
}

// Check returns what is wrong with the options, nil if nothing is.
func (o Options) Check() error {
	switch {
	case len(o.Inputs) == 0:
		return fmt.Errorf("no traces named")
	case !strings.HasSuffix(o.Out, summary.Ext):
		return fmt.Errorf("output: %q does not end in %s, by which summaries are known", o.Out, summary.Ext)
	case !slices.Contains([]string{UnitFile, UnitFolder, UnitAll}, o.Unit):
		return fmt.Errorf("unit: %q is none of %s, %s and %s", o.Unit, UnitFile, UnitFolder, UnitAll)
	}
	return o.Count.Check()
}

func init() {
	register.DoFn3x1[context.Context, string, func(string, string), error](&matchFn{})
	register.DoFn2x1[string, func(*string) bool, unit](&unitFn{})
	register.DoFn4x1[context.Context, unit, func([]byte), func(string, string), error](&countFn{})
	register.DoFn1x2[[]byte, int, []byte](&fanFn{})
	register.Combiner2[total, []byte](&mergeFn{})
	register.DoFn2x2[string, func(*string) bool, int, error](&onceFn{})
	register.DoFn3x1[context.Context, []byte, func(*int) bool, error](&writeFn{})
	register.Function1x1(branchOf)
	register.Emitter1[[]byte]()
	register.Emitter2[string, string]()
	register.Iter1[string]()
	register.Iter1[int]()
	beam.RegisterType(reflect.TypeFor[unit]())
	beam.RegisterCoder(reflect.TypeFor[total](), encodeTotal, decodeTotal)
}

// Pipeline adds the counting to a pipeline. The options must have passed Check.
func Pipeline(s beam.Scope, o Options) {
	s = s.Scope("awo.Summarize")
	branches := max(o.Branches, 1)
	files := beam.ParDo(s.Scope("Match"), &matchFn{Unit: o.Unit}, beam.CreateList(s, o.Inputs))
	units := beam.ParDo(s.Scope("Units"), &unitFn{Branches: branches}, beam.GroupByKey(s, files))

	divided := []beam.PCollection{units}
	if branches > 1 {
		divided = beam.Partition(s, branches, branchOf, units)
	}
	counting := &countFn{Options: o.Count, Map: o.Map}
	var parts, inputs []beam.PCollection
	for i, units := range divided {
		at := s.Scope(fmt.Sprintf("Count%d", i))
		part, read := beam.ParDo2(at, counting, beam.Reshuffle(at, units))
		parts, inputs = append(parts, part), append(inputs, read)
	}
	merging := &mergeFn{Options: o.Count, AllowOverlap: o.AllowOverlap}
	all := beam.Flatten(s, parts...)
	if o.FanIn > 1 {
		at := s.Scope("FanIn")
		all = beam.DropKey(at, beam.CombinePerKey(at, merging, beam.ParDo(at, &fanFn{N: o.FanIn}, all)))
	}
	sum := beam.Combine(s.Scope("Merge"), merging, all)
	once := beam.ParDo(s.Scope("Once"), &onceFn{AllowOverlap: o.AllowOverlap}, beam.GroupByKey(s, beam.Flatten(s, inputs...)))
	beam.ParDo0(s.Scope("Write"), &writeFn{Out: o.Out}, sum, beam.SideInput{Input: once})
}

// matchFn lists the files that a pattern stands for, with the name of their unit.
type matchFn struct{ Unit string }

// ProcessElement emits the unit and the name of each file.
func (f *matchFn) ProcessElement(ctx context.Context, pattern string, emit func(string, string)) error {
	fs, err := filesystem.New(ctx, pattern)
	if err != nil {
		return err
	}
	defer fs.Close()
	files, err := fs.List(ctx, pattern)
	if err != nil {
		return fmt.Errorf("%s: %w", pattern, err)
	}
	if len(files) == 0 {
		return diag.New(diag.Pos{File: pattern}, "file-missing", "no file matches the pattern")
	}
	for _, file := range files {
		switch {
		case strings.HasSuffix(file, summary.Ext) || f.Unit == UnitFile:
			emit(file, file)
		case f.Unit == UnitFolder:
			emit(path.Dir(file)+"/", file)
		default:
			emit("", file)
		}
	}
	return nil
}

// unit is files that are read together.
type unit struct {
	Files  []string
	Branch int
}

func branchOf(u unit) int { return u.Branch }

// unitFn makes units of the files with one name.
type unitFn struct{ Branches int }

// ProcessElement returns a unit. Files that several patterns stand for are in it once.
func (f *unitFn) ProcessElement(name string, files func(*string) bool) unit {
	var u unit
	for file := ""; files(&file); {
		u.Files = append(u.Files, file)
	}
	slices.Sort(u.Files)
	u.Files = slices.Compact(u.Files)
	h := fnv.New32a()
	io.WriteString(h, name)
	u.Branch = int(h.Sum32() % uint32(f.Branches))
	return u
}

// countFn counts units into one part for each bundle, and tells which inputs are in it.
type countFn struct {
	Options count.Options
	Map     string // the text of a map, "" for none

	part   *summary.Summary // of the bundle; nil before its first unit
	reader trace.Options
}

// What the counting says of itself.
var (
	unitsCounted = beam.NewCounter("awo", "units")
	bytesRead    = beam.NewCounter("awo", "input_bytes")
	callsCounted = beam.NewCounter("awo", "calls")
	partBytes    = beam.NewDistribution("awo", "part_bytes")
)

// Setup reads the map.
func (f *countFn) Setup() error {
	f.reader = trace.Options{Workers: 1}
	if f.Map == "" {
		return nil
	}
	m, problems := mapped.Parse(f.Options.Map, []byte(f.Map))
	if problems.Err() != nil {
		return problems
	}
	f.reader.Formats = []trace.Format{m.Format()}
	return nil
}

// StartBundle forgets what a bundle counted that failed.
func (f *countFn) StartBundle(func([]byte), func(string, string)) { f.part = nil }

// ProcessElement counts a unit, and emits the hash and the name of each of its inputs.
func (f *countFn) ProcessElement(ctx context.Context, u unit, _ func([]byte), read func(hash, file string)) error {
	var part *summary.Summary
	if len(u.Files) == 1 && strings.HasSuffix(u.Files[0], summary.Ext) {
		data, err := readAll(ctx, u.Files[0])
		if err != nil {
			return err
		}
		if part, err = summary.Read(u.Files[0], data); err != nil {
			return err
		}
		bytesRead.Inc(ctx, int64(len(data)))
		for _, h := range part.InputHashes() {
			read(hex.EncodeToString(h[:]), u.Files[0])
		}
	} else {
		counted, inputs, err := f.Options.Files(ctx, count.Source{Files: u.Files, Reader: f.reader, Open: func(file string) (io.ReadCloser, error) { return open(ctx, file) }})
		if err != nil {
			return err
		}
		for _, in := range inputs {
			bytesRead.Inc(ctx, in.Bytes)
			read(hex.EncodeToString(in.SHA256[:]), in.File)
		}
		part = counted
	}
	unitsCounted.Inc(ctx, 1)
	callsCounted.Inc(ctx, int64(part.Facts().Tally.Calls))
	if f.part == nil {
		f.part = f.Options.New()
	}
	return f.part.Merge(part, true) // what is there twice, onceFn says with names
}

// FinishBundle emits the part.
func (f *countFn) FinishBundle(ctx context.Context, emit func([]byte), _ func(string, string)) {
	if f.part == nil {
		return
	}
	data := f.part.Append(nil)
	f.part = nil
	partBytes.Update(ctx, int64(len(data)))
	emit(data)
}

// open opens a file on whatever file system it is.
func open(ctx context.Context, file string) (io.ReadCloser, error) {
	fs, err := filesystem.New(ctx, file)
	if err != nil {
		return nil, err
	}
	in, err := fs.OpenRead(ctx, file)
	if err != nil {
		return nil, errors.Join(err, fs.Close())
	}
	return &opened{in, fs}, nil
}

// opened is an open file that closes its file system too.
type opened struct {
	io.ReadCloser
	fs filesystem.Interface
}

// Close closes both.
func (o *opened) Close() error { return errors.Join(o.ReadCloser.Close(), o.fs.Close()) }

func readAll(ctx context.Context, file string) ([]byte, error) {
	in, err := open(ctx, file)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(in)
	return data, errors.Join(err, in.Close())
}

// fanFn divides parts among the workers that merge them first.
type fanFn struct{ N int }

// ProcessElement returns a number that follows from what is in the part.
func (f *fanFn) ProcessElement(part []byte) (int, []byte) {
	h := fnv.New32a()
	h.Write(part)
	return int(h.Sum32() % uint32(f.N)), part
}

// mergeFn merges parts.
type mergeFn struct {
	Options      count.Options
	AllowOverlap bool
}

// total is what was merged so far. On its way between workers it is the bytes of a file,
// with their checksum.
type total struct{ sum *summary.Summary }

func encodeTotal(t total) []byte { return t.sum.Append(nil) }

func decodeTotal(data []byte) (total, error) {
	sum, err := summary.Read("a part between workers", data)
	return total{sum}, err
}

// CreateAccumulator returns the summary of nothing.
func (f *mergeFn) CreateAccumulator() total { return total{f.Options.New()} }

// AddInput adds a part.
func (f *mergeFn) AddInput(t total, part []byte) (total, error) {
	read, err := decodeTotal(part)
	if err != nil {
		return t, err
	}
	return t, t.sum.Merge(read.sum, f.AllowOverlap)
}

// MergeAccumulators adds two totals.
func (f *mergeFn) MergeAccumulators(a, b total) (total, error) {
	return a, a.sum.Merge(b.sum, f.AllowOverlap)
}

// ExtractOutput returns the bytes of the file.
func (f *mergeFn) ExtractOutput(t total) []byte { return t.sum.Append(nil) }

// onceFn refuses inputs that are there twice.
type onceFn struct{ AllowOverlap bool }

// ProcessElement returns how many files, or parts with them, have the hash.
func (f *onceFn) ProcessElement(_ string, files func(*string) bool) (int, error) {
	var names []string
	for file := ""; files(&file); {
		names = append(names, file)
	}
	slices.Sort(names)
	if len(names) > 1 && !f.AllowOverlap {
		return 0, diag.New(diag.Pos{File: names[1]}, summary.CodeOverlap, "what is in it is in %s too, and would be counted twice; --allow-overlap allows it", names[0])
	}
	return len(names), nil
}

// writeFn writes the summary.
type writeFn struct{ Out string }

// ProcessElement writes the file, once it is sure that all inputs are in it and no others.
// On a file system that renames, it appears whole or not at all; writing it twice is the
// same as once.
func (f *writeFn) ProcessElement(ctx context.Context, data []byte, inputs func(*int) bool) error {
	sum, err := summary.Read(f.Out, data)
	if err != nil {
		return err
	}
	read := 0
	for n := 0; inputs(&n); {
		read += n
	}
	if read != sum.Inputs() {
		return fmt.Errorf("%s: %d inputs were read, and %d were counted: nothing is written", f.Out, read, sum.Inputs())
	}
	fs, err := filesystem.New(ctx, f.Out)
	if err != nil {
		return err
	}
	defer fs.Close()
	renamer, ok := fs.(filesystem.Renamer)
	name := f.Out
	if ok {
		name += ".part"
	}
	out, err := fs.OpenWrite(ctx, name)
	if err != nil {
		return err
	}
	_, err = out.Write(data)
	if err = errors.Join(err, out.Close()); err != nil || !ok {
		return err
	}
	return renamer.Rename(ctx, name, f.Out)
}

// Reason returns what a pipeline failed for, without the plan of the worker that the
// runner puts around it.
func Reason(err error) string {
	text := strings.TrimSpace(err.Error())
	if at := strings.LastIndex(text, "failed:\n"); at >= 0 {
		return strings.TrimSpace(text[at+len("failed:\n"):])
	}
	return text
}
