// Package count reads traces and counts them into a summary.
//
// In come the names of trace files and who opens them, a local disk or an object store;
// out goes a summary.Summary of them. What is counted how is in Options, for `awo
// summarize` and for pipelines alike: summaries made under equal Options add up.
//
// Memory is that of the reader and of the summary. Nothing is printed, and a problem in
// a trace is counted by its code. The package does not merge summaries.
package count

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"hash"
	"io"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/internal/contrast"
	"github.com/awo-dev/awo/internal/filter"
	"github.com/awo-dev/awo/internal/shell"
	"github.com/awo-dev/awo/internal/summary"
	"github.com/awo-dev/awo/prefetch/stored"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
)

// Options say which trajectories and calls are counted, as the flags of `awo summarize`
// of the same names do.
type Options struct {
	CollapseRepeats bool
	DropFailed      bool
	ExcludeTool     []string // globs
	MinLength       int
	Shell           string // auto, split or whole
	TurnGap         time.Duration
	Where           string
	Map             string // the name of a map for a layout of its own, without its folder; "" for none

	// Tools replays meta-tools, Prefetch counts what rules for reading ahead offer; both on
	// calls as they are recorded, under Rules if there are any.
	Rules    *Rules
	Tools    *Artefact
	Prefetch *Artefact

	// Compare also counts what `awo compare` compares, and returns what a trajectory cost;
	// nil counts none of it.
	Compare func(*trace.Trajectory) contrast.Cost

	// Since and Until choose trajectories as the names of files do: summaries under
	// other ones add up.
	Since, Until string
}

// Default returns the options of `awo summarize` without flags.
func Default() Options {
	return Options{Shell: "auto", TurnGap: formats.DefaultTurnGap}
}

// Choices returns what summaries that add up have in common.
func (o Options) Choices() []summary.Option {
	exclude := slices.Sorted(slices.Values(o.ExcludeTool))
	out := []summary.Option{
		{Name: "collapse-repeats", Value: strconv.FormatBool(o.CollapseRepeats)},
		{Name: "drop-failed", Value: strconv.FormatBool(o.DropFailed)},
		{Name: "exclude-tool", Value: strings.Join(slices.Compact(exclude), ",")},
		{Name: "min-length", Value: strconv.Itoa(max(o.MinLength, 0))},
		{Name: "shell", Value: o.Shell},
		{Name: "turn-gap", Value: o.TurnGap.String()},
		{Name: "where", Value: o.Where},
	}
	for _, x := range []summary.Option{{Name: "map", Value: o.Map}, {Name: "rules", Value: o.Rules.Choice()}, {Name: "tools", Value: o.Tools.Choice()}, {Name: PrefetchChoice, Value: o.Prefetch.Choice()}} {
		if x.Value != "" {
			out = append(out, x)
		}
	}
	if o.Compare != nil {
		out = append(out, summary.Option{Name: CompareChoice, Value: "true"})
	}
	return out
}

// CompareChoice is the name of the choice to count what `awo compare` compares.
const CompareChoice = "compare"

// New returns the summary of no trajectory under the options.
func (o Options) New() *summary.Summary {
	return summary.New(summary.Options{CollapseRepeats: o.CollapseRepeats, Choices: o.Choices(), Labels: labels()})
}

// PrefetchChoice is the name of the choice that tells rules for reading ahead apart.
const PrefetchChoice = stored.Name

// Excludes takes out the calls that the options exclude, and says whether the trajectory
// is left in.
func (o Options) Excludes(t *trace.Trajectory) bool {
	if len(o.ExcludeTool) > 0 || o.DropFailed {
		t.DropCalls(func(c *trace.Call) bool {
			return o.DropFailed && c.Status == trace.StatusFailed || filter.IsTool(c.Tool, o.ExcludeTool)
		})
	}
	return o.MinLength <= 0 || len(t.Calls) >= o.MinLength
}

// filter compiles the conditions on trajectories.
func (o Options) filter() (f filter.Options, err error) {
	if o.Where != "" {
		if f.Where, err = filter.Compile("--where", o.Where); err != nil {
			return f, err
		}
	}
	for _, bound := range []struct {
		text string
		time *time.Time
	}{{o.Since, &f.Since}, {o.Until, &f.Until}} {
		if bound.text == "" {
			continue
		}
		if *bound.time, err = filter.ParseTime(bound.text); err != nil {
			return f, err
		}
	}
	return f, nil
}

// Check returns what is wrong with the options, nil if nothing is.
func (o Options) Check() error {
	if !slices.Contains([]string{"auto", "split", "whole"}, o.Shell) {
		return fmt.Errorf("shell: %q is none of auto, split and whole", o.Shell)
	}
	if o.TurnGap < 0 {
		return fmt.Errorf("turn-gap: %v is negative", o.TurnGap)
	}
	if _, err := o.NewCounter(); err != nil {
		return err
	}
	_, err := o.filter()
	return err
}

// Intake is what was read beside the trajectories, as a summary keeps it.
func Intake(read trace.Counts, left filter.Counts, excluded, expanded int, reached []bounds.Report) summary.Intake {
	in := summary.Intake{
		Records: read.Records, Problems: read.Problems, Excluded: excluded, Expanded: expanded,
		Left:   [5]int{left.Where, left.Time, left.Untimed, left.Duplicate, left.Sample},
		Bounds: map[string]summary.Bound{},
	}
	for _, f := range read.Files {
		if f.Format != "" {
			in.Files++
		}
	}
	for _, b := range reached {
		in.Bounds[b.Code] = summary.Bound{Places: b.Places, LeftOut: b.LeftOut}
	}
	return in
}

// Source is files that are read together: trajectories of which parts stand in several
// of them are whole only in one Source.
type Source struct {
	Files []string // in the order of reading; names of trajectories follow from them
	Open  func(file string) (io.ReadCloser, error)

	// Reader says how they are read. Its Formats and Open are set here, but that a map's
	// format, which stands for all others, is given.
	Reader trace.Options
}

// Input is a file that was counted.
type Input struct {
	File   string
	SHA256 [sha256.Size]byte // of its bytes as they are stored
	Bytes  int64
}

// Files counts a source, and returns which of its files are traces. What is wrong in a
// file is counted; an error is one of opening or reading, after which another try may
// succeed, of the options, or the end of ctx.
func (o Options) Files(ctx context.Context, from Source) (*summary.Summary, []Input, error) {
	chosen, err := o.filter()
	if err != nil {
		return nil, nil, err
	}
	opened := &openedFiles{open: from.Open, byName: map[string]*hashed{}}
	reader := from.Reader
	if reader.Open = opened.Open; reader.Formats == nil {
		reader.Formats = formats.WithTurnGap(o.TurnGap)
	}
	r, err := trace.Open(from.Files, reader)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	counter, err := o.NewCounter()
	if err != nil {
		return nil, nil, err
	}
	var left filter.Counts
	var reached bounds.Reached
	excluded := 0
	statuses := counter.Statuses()
	read := func(yield func(*trace.Trajectory, error) bool) {
		for t, err := range r.All() {
			if ctx.Err() != nil {
				yield(nil, ctx.Err())
				return
			}
			if _, ok := errors.AsType[*diag.Error](err); ok {
				continue // it is among the counts of r
			}
			if t != nil {
				statuses.Read(t)
				t.Reached = &reached
				for _, b := range t.Bounded {
					t.NoteBound(b.Bound, b.Count)
				}
			}
			if !yield(t, err) {
				return
			}
		}
	}
	for t, err := range filter.Apply(iter.Seq2[*trace.Trajectory, error](read), chosen, &left) {
		if err != nil {
			return nil, nil, err
		}
		if !counter.Take(t) {
			excluded++
			continue
		}
		counter.Add(t)
	}
	if opened.failed != nil {
		return nil, nil, opened.failed
	}
	counts, sum := r.Counts(), counter.Summary()
	sum.AddIntake(Intake(counts, left, excluded, 0, reached.Reports()))
	var inputs []Input
	for _, f := range counts.Files {
		if f.Format == "" {
			continue
		}
		in, err := opened.input(f.Name)
		if err != nil {
			return nil, nil, err
		}
		sum.AddInput(in.SHA256)
		inputs = append(inputs, in)
	}
	return sum, inputs, nil
}

// Splitter returns what tells calls of a shell apart for a choice of Options.Shell, nil
// for nothing.
func Splitter(choice string) *shell.Splitter {
	if choice == "whole" {
		return nil
	}
	return &shell.Splitter{All: choice == "split"}
}

// openedFiles hashes what is read of files.
type openedFiles struct {
	open   func(string) (io.ReadCloser, error)
	byName map[string]*hashed
	failed error // the first failure to open or read one
}

// Open is trace.Options.Open.
func (o *openedFiles) Open(name string) (io.ReadCloser, error) {
	in, err := o.open(name)
	if err != nil {
		o.fail(name, err)
		return nil, err
	}
	h := &hashed{in: in, hash: sha256.New(), failed: func(err error) { o.fail(name, err) }}
	o.byName[name] = h
	return h, nil
}

func (o *openedFiles) fail(name string, err error) {
	if o.failed == nil {
		o.failed = fmt.Errorf("%s: %w", name, err)
	}
}

// input reads what is left of a file and returns its hash.
func (o *openedFiles) input(name string) (Input, error) {
	h := o.byName[name]
	if _, err := io.Copy(io.Discard, h); err != nil {
		return Input{}, fmt.Errorf("%s: %w", name, err)
	}
	in := Input{File: name, Bytes: h.bytes}
	h.hash.Sum(in.SHA256[:0])
	return in, nil
}

// hashed hashes what is read through it.
type hashed struct {
	in     io.ReadCloser
	hash   hash.Hash
	bytes  int64
	failed func(error)
}

// Read reads from the file.
func (h *hashed) Read(p []byte) (int, error) {
	n, err := h.in.Read(p)
	h.hash.Write(p[:n])
	h.bytes += int64(n)
	if err != nil && err != io.EOF {
		h.failed(err)
	}
	return n, err
}

// Close closes the file.
func (h *hashed) Close() error { return h.in.Close() }
