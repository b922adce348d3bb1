package trace

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"

	"github.com/awo-dev/awo/diag"
)

// The default limits of Options.
const (
	// DefaultMaxRecord is the size in bytes of the largest record that is read.
	DefaultMaxRecord = 64 << 20
	// DefaultSpillBudget is how many bytes of open fragments are kept in memory.
	// The garbage collector may let the heap grow to twice that.
	DefaultSpillBudget = 64 << 20
)

// Options says how a Reader reads. The zero value is the default.
type Options struct {
	Workers   int    // goroutines that decode; 0 means one per CPU
	Format    string // Name of the format of all inputs; "" means that it is detected file by file
	MaxRecord int    // bytes of the largest record, or trajectory of parts, that is read; 0 means DefaultMaxRecord

	// Open, if set, opens all inputs, in place of the system: each path is the name of
	// one file, and neither a folder, nor a pattern, nor "-". A file is opened once for
	// a reading, and can be read a second time only with Spool.
	Open func(name string) (io.ReadCloser, error)

	Stdin io.Reader // what "-" reads; nil means os.Stdin
	Spool bool      // keep what "-" and named pipes gave in a temporary file, so that At and a second All can read it

	SpillBudget int64  // bytes of open fragments in memory, the rest goes to a temporary file; 0 means DefaultSpillBudget
	TempDir     string // folder for temporary files; "" means the system's

	// Progress is called as reading goes on, by the goroutine that consumes All,
	// with the bytes that were read so far: compressed ones where a file is
	// compressed, so that Reader.Size is what they add up to.
	Progress func(read int64)

	// Found says that the paths were found and not named by a user: a file that is no trace
	// is a warning, as one in a folder is.
	Found bool

	Joined bool // note which files belong together, for Reader.Joined

	Formats []Format // that are known, in detection order, as in formats.All

	block int // bytes read at once, for tests; 0 means blockSize
}

func (o *Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

func (o *Options) maxRecord() int     { return cmp.Or(max(o.MaxRecord, 0), DefaultMaxRecord) }
func (o *Options) spillBudget() int64 { return cmp.Or(max(o.SpillBudget, 0), DefaultSpillBudget) }

func (o *Options) stdin() io.Reader {
	if o.Stdin != nil {
		return o.Stdin
	}
	return os.Stdin
}

// Reader reads trajectories from files. It is not safe for concurrent use.
type Reader struct {
	options Options
	formats []Format
	named   *Format
	sources []source
	access  []access // of the sources, as far as they were read
	counts  Counts
	joined  []Joined
}

// Open lists what the paths stand for and returns a Reader for it; nothing is
// read yet. A path is a file, a folder (all files below it that are not hidden,
// in the order of their names), a pattern as in path.Match where ** stands for
// any number of folders, or "-" for the standard input. A file that is reached
// twice is read once. What is missing or cannot be read is no error here but a
// problem that All yields in its place.
//
// The error says that Options.Formats is empty, or that Options.Format names none
// of them.
func Open(paths []string, o Options) (*Reader, error) {
	r := &Reader{options: o, formats: o.Formats}
	if len(r.formats) == 0 {
		return nil, errors.New("a Reader needs Options.Formats, and there are none")
	}
	if o.Format != "" {
		i := slices.IndexFunc(r.formats, func(f Format) bool { return f.Name == o.Format })
		if i < 0 {
			return nil, unknownName(o.Format, r.formats)
		}
		r.named = &r.formats[i]
	}
	r.sources = list(paths, &r.options)
	r.access = make([]access, len(r.sources))
	return r, nil
}

func unknownName(name string, formats []Format) error {
	names := make([]string, len(formats))
	for i, f := range formats {
		names[i] = f.Name
	}
	return fmt.Errorf("there is no trace format %q; the formats are %s", name, strings.Join(names, ", "))
}

// Reads reports whether a file is one of those that are read.
func (r *Reader) Reads(file fs.FileInfo) bool {
	return slices.ContainsFunc(r.sources, func(s source) bool { return s.info != nil && os.SameFile(s.info, file) })
}

// Size returns the bytes of all files as they are stored, which is what
// Options.Progress counts up to; false if some of them are not known before
// they are read, as those of the standard input.
func (r *Reader) Size() (bytes int64, known bool) {
	known = true
	for i := range r.sources {
		n, ok := r.sources[i].size()
		bytes += n
		known = known && ok
	}
	return bytes, known
}

// All reads everything and yields the trajectories in input order: those that a
// record holds whole where the record stands, those that are joined from
// fragments at the end, in the order in which their first fragments stand.
// Trajectories without calls are yielded too.
//
// An error that is a *diag.Error concerns one record, or one file, and reading
// goes on; any other error is the last thing that is yielded. The sequence is
// the same for any number of workers, any budget and any machine. It may be
// ranged over again, and then reads everything again.
//
// A trajectory that is kept keeps the block that it was read in, of 256 KiB or
// the size of its record, in memory.
func (r *Reader) All() iter.Seq2[*Trajectory, error] {
	return func(yield func(*Trajectory, error) bool) {
		r.counts = newCounts(r.sources)
		p := &pass{r: r, counts: &r.counts, progress: r.options.Progress}
		p.run(yield)
	}
}

// Counts returns what was counted so far by the latest All. It must not be
// called while another goroutine reads.
func (r *Reader) Counts() Counts {
	c := r.counts
	c.Files = slices.Clone(c.Files)
	c.Problems = cloneCounts(c.Problems)
	return c
}

// Close gives up what was spooled. The Reader cannot be used afterwards.
func (r *Reader) Close() error {
	var errs []error
	for i := range r.sources {
		if s := r.sources[i].stream; s != nil {
			errs = append(errs, s.close())
		}
	}
	return errors.Join(errs...)
}

// Counts is how much a Reader has read.
type Counts struct {
	Files        []FileCounts // of the files in reading order, also those that could not be read
	Records      int          // that were found, also broken ones, but not those that are too large
	Trajectories int          // that were yielded
	Empty        int          // of these, those without a call
	Bytes        int64        // after decompression
	Problems     diag.Counts  // that were yielded, by code; warnings too
}

// FileCounts is how much a Reader has read of one file. Trajectories that were
// joined from fragments count for the file of the first.
type FileCounts struct {
	Name         string `json:"file"`
	Format       string `json:"format"` // "" if none was recognised
	Records      int    `json:"records"`
	Trajectories int    `json:"trajectories"`
	Empty        int    `json:"empty"`
	Bytes        int64  `json:"bytes"` // after decompression
	Problems     int    `json:"problems"`
}

func newCounts(sources []source) Counts {
	c := Counts{Files: make([]FileCounts, len(sources))}
	for i := range sources {
		c.Files[i].Name = sources[i].name
	}
	return c
}

func (c *Counts) trajectory(source int, t *Trajectory) {
	f := &c.Files[source]
	c.Trajectories++
	f.Trajectories++
	if len(t.Calls) == 0 {
		c.Empty++
		f.Empty++
	}
}

func (c *Counts) problem(source int, e *diag.Error) {
	c.Problems.Add(e)
	c.Files[source].Problems++
}

func cloneCounts(c diag.Counts) diag.Counts {
	clone := diag.Counts{}
	for code, n := range c.ByCode {
		clone.AddN(code, n)
	}
	return clone
}
