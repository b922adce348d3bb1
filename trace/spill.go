package trace

import (
	"bufio"
	"container/heap"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"

	"github.com/awo-dev/awo/diag"
)

// runFile holds sorted runs of parts on disk, one after the other.
type runFile struct {
	file  *os.File
	runs  []run
	size  int64
	files []string // of the positions, by number
	index map[string]int
}

// run is the place of one run in the file.
type run struct {
	offset, size int64
	parts        int
}

func newRunFile(folder string) (*runFile, error) {
	f, err := scratchFile(folder)
	if err != nil {
		return nil, err
	}
	return &runFile{file: f, index: map[string]int{}}, nil
}

func (r *runFile) close() error { return discard(r.file) }

// runBuffer is how much of the file is read or written at once.
const runBuffer = 64 << 10

// write appends sorted parts as a run. Of a part it writes the numbers (group,
// order, place in the input, file, line, column and the length of the data) as varints, then the data.
func (r *runFile) write(parts []part) error {
	w := bufio.NewWriterSize(r.file, runBuffer)
	start := r.size
	var numbers []byte
	for i := range parts {
		p := &parts[i]
		numbers = binary.AppendUvarint(numbers[:0], uint64(p.group))
		numbers = binary.AppendVarint(numbers, p.order)
		numbers = binary.AppendVarint(numbers, p.seq)
		numbers = binary.AppendUvarint(numbers, uint64(r.fileNumber(p.pos.File)))
		numbers = binary.AppendVarint(numbers, int64(p.pos.Line))
		numbers = binary.AppendVarint(numbers, int64(p.pos.Col))
		numbers = binary.AppendUvarint(numbers, uint64(len(p.data)))
		_, _ = w.Write(numbers) // a bufio.Writer keeps its first error until Flush
		_, _ = w.Write(p.data)
		r.size += int64(len(numbers) + len(p.data))
	}
	if err := w.Flush(); err != nil {
		return &scratchError{err}
	}
	r.runs = append(r.runs, run{offset: start, size: r.size - start, parts: len(parts)})
	return nil
}

func (r *runFile) fileNumber(name string) int {
	n, ok := r.index[name]
	if !ok {
		n = len(r.files)
		r.index[name] = n
		r.files = append(r.files, name)
	}
	return n
}

// merge yields the parts of all runs and those that were not written, which are
// sorted too, in order.
func (r *runFile) merge(last []part) iter.Seq2[part, error] {
	return func(yield func(part, error) bool) {
		var q cursors
		for _, run := range r.runs {
			in := bufio.NewReaderSize(io.NewSectionReader(r.file, run.offset, run.size), runBuffer)
			q = append(q, &cursor{left: run.parts, in: in, size: run.size, files: r.files})
		}
		q = append(q, &cursor{memory: last, left: len(last)})
		started := q[:0]
		for _, c := range q {
			if c.left == 0 {
				continue
			}
			if err := c.advance(); err != nil {
				yield(part{}, err)
				return
			}
			started = append(started, c)
		}
		q = started
		heap.Init(&q)
		for len(q) > 0 {
			c := q[0]
			if !yield(c.part, nil) {
				return
			}
			if c.left == 0 {
				heap.Pop(&q)
				continue
			}
			if err := c.advance(); err != nil {
				yield(part{}, err)
				return
			}
			heap.Fix(&q, 0)
		}
	}
}

// cursor stands on one part of a run, on disk or in memory.
type cursor struct {
	part part
	left int // parts behind this one

	in     *bufio.Reader
	size   int64 // of the run
	files  []string
	memory []part
}

// advance goes to the next part, of which there must be one.
func (c *cursor) advance() error {
	c.left--
	if c.in == nil {
		c.part, c.memory = c.memory[0], c.memory[1:]
		return nil
	}
	p, err := c.read()
	if err != nil {
		return &scratchError{err}
	}
	c.part = p
	return nil
}

var errRunDamaged = errors.New("it does not hold what was written")

func (c *cursor) read() (part, error) {
	var err error
	unsigned := func() int {
		n, e := binary.ReadUvarint(c.in)
		err = errors.Join(err, e)
		return int(n)
	}
	signed := func() int64 {
		n, e := binary.ReadVarint(c.in)
		err = errors.Join(err, e)
		return n
	}
	var p part
	p.group = unsigned()
	p.order = signed()
	p.seq = signed()
	file := unsigned()
	p.pos = diag.Pos{Line: int(signed()), Col: int(signed())}
	size := unsigned()
	switch {
	case err != nil:
		return p, err
	case file < 0 || file >= len(c.files) || size < 0 || int64(size) > c.size:
		return p, errRunDamaged
	}
	p.pos.File = c.files[file]
	p.data = make([]byte, size)
	_, err = io.ReadFull(c.in, p.data)
	return p, err
}

// cursors is a heap by what the cursors stand on.
type cursors []*cursor

func (q cursors) Len() int      { return len(q) }
func (q cursors) Swap(i, j int) { q[i], q[j] = q[j], q[i] }
func (q *cursors) Push(x any)   { *q = append(*q, x.(*cursor)) }

func (q cursors) Less(i, j int) bool {
	return q[i].part.compare(&q[j].part) < 0
}

func (q *cursors) Pop() any {
	last := (*q)[len(*q)-1]
	*q = (*q)[:len(*q)-1]
	return last
}

// scratchError is a failure with a temporary file. It is nobody's input that is
// wrong, so it ends reading.
type scratchError struct{ err error }

func (e *scratchError) Error() string { return fmt.Sprintf("temporary file: %v", e.err) }
func (e *scratchError) Unwrap() error { return e.err }

// scratchFile returns a new temporary file in folder, "" for the system's. It
// has no name any more where the system allows that, so nothing is left behind
// even if the program is killed.
func scratchFile(folder string) (*os.File, error) {
	f, err := os.CreateTemp(folder, "awo-*")
	if err != nil {
		return nil, &scratchError{err}
	}
	_ = os.Remove(f.Name())
	return f, nil
}

// discard closes a temporary file and removes it if it still has a name.
func discard(f *os.File) error {
	err := f.Close()
	if e := os.Remove(f.Name()); e != nil && !errors.Is(e, fs.ErrNotExist) {
		err = errors.Join(err, e)
	}
	if err != nil {
		return &scratchError{err}
	}
	return nil
}
