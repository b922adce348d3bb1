package trace

import (
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/awo-dev/awo/diag"
)

// A batch is what goes to a worker at once: enough that handing it over costs
// nothing beside decoding it.
const (
	batchBytes   = 256 << 10
	batchRecords = 1024
)

// batch is some records of one source in their order, and the problems that
// stand between them.
type batch struct {
	source   int
	format   *Format
	byLine   bool // the source has one record a line
	log      bool // its records repeat what was said before
	records  []Record
	problems []placedProblem
	bytes    int   // of the records
	text     int64 // bytes of the source read so far, decompressed
	read     int64 // bytes of all sources read so far, as they are stored
	fatal    error // why reading ends here
}

// placedProblem is a problem that stands before the record with the index.
type placedProblem struct {
	before int
	err    *diag.Error
}

// batches finds the records of all sources.
func (p *pass) batches() iter.Seq[*batch] {
	return func(yield func(*batch) bool) {
		f := &finder{pass: p, yield: yield}
		for i := range p.r.sources {
			if p.wanted.wantsSource(i) && !f.source(i) {
				return
			}
		}
	}
}

// finder fills batches with the records of one source after the other. Its
// methods return false when nothing more is wanted.
type finder struct {
	*pass
	yield func(*batch) bool
	b     *batch
	raw   *countingReader // of the open source
	text  *countingReader
	read  int64 // bytes of the sources before the open one
}

// source finds the records of one source.
func (f *finder) source(i int) bool {
	f.b = &batch{source: i}
	f.raw, f.text = &countingReader{}, &countingReader{}
	s := &f.r.sources[i]
	if !f.search(i, s) {
		return false
	}
	// What was not read of a file that is no trace counts as read, so that
	// progress comes to its end.
	size, known := s.size()
	if !known {
		size = f.raw.n
	}
	f.read += size
	f.raw = &countingReader{}
	return f.flush()
}

func (f *finder) search(i int, s *source) bool {
	if s.problem != nil {
		return f.fail(s.problem)
	}
	opened, err := openSource(s)
	if err != nil {
		return f.fail(err)
	}
	defer opened.close()
	f.raw = opened.raw
	if opened.zipped {
		if more, done := f.archive(i, opened); done || !more {
			return more
		}
	}
	return f.split(i, opened)
}

// split finds the records of an open source.
func (f *finder) split(i int, opened *file) bool {
	s := &f.r.sources[i]
	f.text = &countingReader{in: opened.text}
	a := &f.r.access[i]
	if a.known == nil {
		known, problem := recognise(s, f.text, f.r.formats, f.r.named)
		if problem != nil {
			return f.fail(problem)
		}
		text := known.text
		known.text = nil // it is of this reading
		a.known = &known
		if known.mixed != nil && !f.fail(known.mixed) {
			return false
		}
		return f.recordsOf(i, text)
	}
	return f.recordsOf(i, f.text)
}

// recordsOf finds the records of an open source whose format is known.
func (f *finder) recordsOf(i int, text io.Reader) bool {
	s, known := &f.r.sources[i], f.r.access[i].known
	f.b.format = known.format
	f.b.byLine = known.container == ContainerLines && known.format.Split == nil
	f.b.log = known.log
	find := known.format.Split
	if find == nil {
		find = SplitRecords
	}
	for record, err := range find(&Input{
		Reader:    text,
		File:      s.name,
		Container: known.container,
		Whole:     known.whole,
		MaxRecord: f.r.options.maxRecord(),
		block:     f.r.options.block,
	}) {
		switch {
		case err != nil:
			if err = f.news(err); err != nil && !f.fail(err) {
				return false
			}
		case f.wanted.hasRecord(i, record.Offset):
			if !f.add(record) {
				return false
			}
		}
	}
	return true
}

// add puts a record into the batch.
func (f *finder) add(record Record) bool {
	if f.b.records == nil {
		f.b.records = f.recordSlice()
	}
	f.b.records = append(f.b.records, record)
	f.b.bytes += len(record.Data)
	if f.b.bytes < batchBytes && len(f.b.records) < batchRecords {
		return true
	}
	return f.flush()
}

func (f *finder) recordSlice() []Record {
	if old, ok := f.records.Get().(*[]Record); ok {
		return (*old)[:0]
	}
	return make([]Record, 0, 64)
}

// fail puts a problem, or what ends reading, into the batch.
func (f *finder) fail(err error) bool {
	if fatal, ok := errors.AsType[*scratchError](err); ok {
		f.b.fatal = fatal
		return f.flush() && false
	}
	problem, ok := errors.AsType[*diag.Error](err)
	if !ok {
		f.b.fatal = fmt.Errorf("%s: %w", f.r.sources[f.b.source].name, err)
		return f.flush() && false
	}
	f.b.problems = append(f.b.problems, placedProblem{len(f.b.records), problem})
	return len(f.b.problems) < batchRecords || f.flush()
}

// flush hands the batch over and begins the next of the same source.
func (f *finder) flush() bool {
	b := f.b
	b.text, b.read = f.text.n, f.read+f.raw.n
	f.b = &batch{source: b.source, format: b.format, byLine: b.byLine, log: b.log}
	return f.load.acquire(b.bytes) && f.yield(b)
}
