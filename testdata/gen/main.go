// Gen makes a corpus of agent runs in a toy office, whose truth is known.
//
//	go run ./testdata/gen -n 300 -format atif -o runs.jsonl -truth truth.json
//
// It writes one trace format at a time; the same seed gives the same runs in
// every format, and the same bytes at any time and with any number of workers.
// Memory does not grow with the number of runs. With -corpus DIR it writes the
// committed corpus and its truth file into a folder, and no other flag counts.
package main

import (
	"bufio"
	"compress/gzip"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/awo-dev/awo/internal/par"
	"github.com/awo-dev/awo/testdata/gen/encode"
	"github.com/awo-dev/awo/testdata/gen/office"
	"github.com/awo-dev/awo/testdata/gen/truth"
)

func main() {
	// Runs are small and live shortly: with the usual setting the collector would
	// run a thousand times a second over a heap of a few megabytes.
	debug.SetGCPercent(1000)
	if err := run(os.Args[1:], os.Stdout, os.Stderr); err != nil {
		if !errors.Is(err, flag.ErrHelp) {
			fmt.Fprintln(os.Stderr, "gen:", err)
		}
		os.Exit(2)
	}
}

// job is what to write where.
type job struct {
	options office.Options
	format  string
	out     string // "-" for standard output, "" for nothing
	truth   string // "" for nothing
}

// formats are the values of -format.
var formats = [...]string{"atif", "chat", "chat-log", "otlp"}

// The names of the committed files.
const (
	committedRuns  = "trajectories.jsonl.gz"
	committedTruth = "truth.json"
)

func run(args []string, stdout, stderr io.Writer) error {
	var j job
	var corpus, tokens string
	var quiet bool
	f := flag.NewFlagSet("gen", flag.ContinueOnError)
	f.SetOutput(stderr)
	f.IntVar(&j.options.Trajectories, "n", 300, "number of `trajectories`")
	f.Uint64Var(&j.options.Seed, "seed", office.CommittedSeed, "`seed` of everything; ids name it if it is not the committed one")
	f.IntVar(&j.options.Trials, "trials", 4, "runs per task")
	f.IntVar(&j.options.Days, "days", 28, "over which the runs are spread")
	f.BoolVar(&j.options.Drift, "drift", false, "rename tools, change a schema and shift habits halfway")
	f.StringVar(&tokens, "tokens", "o200k", "how tokens are counted: o200k, or approximate, which is several times as fast")
	f.IntVar(&j.options.Workers, "workers", runtime.NumCPU(), "how many runs are made at the same time")
	f.StringVar(&j.format, "format", "atif", "one of "+strings.Join(formats[:], ", "))
	f.StringVar(&j.out, "o", "-", "`file` for the traces, - for standard output; compressed if it ends in .gz")
	f.StringVar(&j.truth, "truth", "", "`file` for the truth")
	f.StringVar(&corpus, "corpus", "", "write the committed corpus into this `folder`")
	f.BoolVar(&quiet, "q", false, "print no summary")
	if err := f.Parse(args); err != nil {
		return err
	}
	switch tokens {
	case "o200k":
	case "approximate":
		j.options.Tokens = office.Approximate
	default:
		return fmt.Errorf("-tokens is o200k or approximate, not %q", tokens)
	}
	if f.NArg() > 0 {
		return fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if corpus != "" {
		j = job{
			options: office.Options{Workers: j.options.Workers}, format: "atif",
			out: filepath.Join(corpus, committedRuns), truth: filepath.Join(corpus, committedTruth),
		}
	}
	if !slices.Contains(formats[:], j.format) {
		return fmt.Errorf("-format is one of %s, not %q", strings.Join(formats[:], ", "), j.format)
	}
	begin := time.Now()
	totals, err := j.write(stdout)
	if err != nil {
		return err
	}
	if !quiet {
		seconds := time.Since(begin).Seconds()
		fmt.Fprintf(stderr, "%d trajectories (%d without calls) of %d tasks, %d tools, %d calls (%d failed), %d turns, %d calling turns, %.1f s, %.0f calls/s\n",
			totals.Trajectories, totals.Empty, totals.Tasks, totals.Tools, totals.Calls, totals.Failed, totals.Turns, totals.CallingTurns,
			seconds, float64(totals.Calls)/seconds)
	}
	return nil
}

// piece is one run, encoded.
type piece struct {
	trace []byte
	spans []encode.Span
	truth truth.Trajectory
	line  []byte
	err   error
}

// write makes the runs and writes them and their truth.
func (j job) write(stdout io.Writer) (truth.Totals, error) {
	o, err := office.New(j.options)
	if err != nil {
		return truth.Totals{}, err
	}
	traces, closeTraces, err := create(j.out, stdout)
	if err != nil {
		return truth.Totals{}, err
	}
	facts, closeFacts, err := create(j.truth, stdout)
	if err != nil {
		return truth.Totals{}, errors.Join(err, closeTraces())
	}
	totals, err := j.stream(o, traces, facts)
	return totals, errors.Join(err, closeTraces(), closeFacts())
}

func (j job) stream(o *office.Office, traces, facts io.Writer) (truth.Totals, error) {
	var tally office.Tally
	spans := encode.NewOTLP(traces)
	file, err := encode.NewTruth(facts, o)
	if err != nil {
		return truth.Totals{}, err
	}
	for p := range par.Map(o.Options.Workers, indexes(o.Options.Trajectories), func(i int) piece { return j.encode(o, i) }) {
		err := p.err
		if err == nil && j.format == "otlp" {
			err = spans.Add(p.spans)
		} else if err == nil {
			_, err = traces.Write(p.trace)
		}
		if err == nil {
			tally.Add(&p.truth)
			err = file.Add(&p.truth, p.line)
		}
		if err != nil {
			return truth.Totals{}, err
		}
	}
	return tally.Totals(o.Options), errors.Join(spans.Close(), file.Close())
}

// encode makes and encodes run i. It is pure and runs in parallel.
func (j job) encode(o *office.Office, i int) piece {
	r := o.Run(i)
	p := piece{truth: o.Truth(r)}
	if j.truth != "" {
		p.line, p.err = encode.TruthLine(&p.truth)
	}
	switch j.format {
	case "atif":
		p.trace = encode.ATIF(nil, r)
	case "chat":
		p.trace = encode.Chat(nil, r)
	case "chat-log":
		p.trace = encode.ChatLog(nil, r)
	case "otlp":
		p.spans = encode.Spans(r)
	}
	return p
}

func indexes(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

// create opens a file for writing: compressed if its name ends in .gz, standard
// output for "-", nowhere for "".
func create(name string, stdout io.Writer) (io.Writer, func() error, error) {
	switch name {
	case "":
		return io.Discard, func() error { return nil }, nil
	case "-":
		w := bufio.NewWriterSize(stdout, 1<<20)
		return w, w.Flush, nil
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, nil, err
	}
	w := bufio.NewWriterSize(file, 1<<20)
	if !strings.HasSuffix(name, ".gz") {
		return w, func() error { return errors.Join(w.Flush(), file.Close()) }, nil
	}
	z, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	return z, func() error { return errors.Join(z.Close(), w.Flush(), file.Close()) }, nil
}
