package trace

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"strconv"
	"sync"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/par"
)

// pass is one reading of the sources: one goroutine finds records and groups
// them into batches, workers decode them, and the consumer, in whose goroutine
// everything is counted and collected, gets the results in input order.
type pass struct {
	r        *Reader
	counts   *Counts
	progress func(int64)
	wanted   *selection // nil means everything

	load    *load
	records sync.Pool // of []Record, between the finder and the workers
	memos   sync.Pool // of *toolMemo
	joins   *assembler
	joined  int64 // trajectories so far
	fatal   error
}

// decoded is what became of a batch.
type decoded struct {
	*batch
	found    int // records
	outcomes []outcome
}

// outcome is what became of one record, or a problem between records.
type outcome struct {
	fragments []Fragment
	err       error
}

// run reads everything and yields it.
func (p *pass) run(yield func(*Trajectory, error) bool) {
	workers := p.r.options.workers()
	p.load = newLoad()
	p.joins = newAssembler(&p.r.options)
	if p.r.joined = nil; p.r.options.Joined {
		p.joins.sources = newJoining(len(p.r.sources))
	}
	defer p.joins.close() // on the way out early, when no one asks how it went
	for d := range par.Map(workers, p.batches(), p.decode) {
		if !p.load.guard(func() bool { return p.deliver(d, yield) }) {
			return
		}
		p.load.release(d.bytes)
	}
	if p.r.options.Joined {
		p.r.joined = p.joins.joined(p.r.sources)
	}
	for j := range par.Map(workers, p.assemblies(), p.join) {
		if !p.load.guard(func() bool { return p.deliverJoined(j, yield) }) {
			return
		}
		p.load.release(j.bytes)
	}
	if err := p.joins.close(); err != nil {
		p.stop(err, yield)
	}
}

// stop yields an error that ends reading.
func (p *pass) stop(err error, yield func(*Trajectory, error) bool) bool {
	p.fatal = err
	yield(nil, err)
	return false
}

// deliver counts and yields what became of a batch.
func (p *pass) deliver(d *decoded, yield func(*Trajectory, error) bool) bool {
	c := p.counts
	f := &c.Files[d.source]
	if d.format != nil {
		f.Format = d.format.Name
	}
	c.Records += d.found
	f.Records += d.found
	c.Bytes += d.text - f.Bytes
	f.Bytes = d.text
	for i := range d.outcomes {
		o := &d.outcomes[i]
		for _, fragment := range o.fragments {
			if t := fragment.Trajectory; t != nil {
				c.trajectory(d.source, t)
				if !yield(t, nil) {
					return false
				}
			} else if err := p.collect(d, fragment); err != nil {
				return p.stop(err, yield)
			}
		}
		if o.err != nil && !p.deliverError(d.source, o.err, yield) {
			return false
		}
	}
	if d.fatal != nil {
		return p.stop(d.fatal, yield)
	}
	if p.progress != nil {
		p.progress(d.read)
	}
	return true
}

func (p *pass) collect(d *decoded, f Fragment) error {
	if d.format.Assemble == nil {
		return fmt.Errorf("trace format %s: an open fragment and no Assemble", d.format.Name)
	}
	p.r.access[d.source].open = true
	return p.joins.add(d.format, d.source, f)
}

// deliverError yields a problem, or another error as the last thing.
func (p *pass) deliverError(source int, err error, yield func(*Trajectory, error) bool) bool {
	problem, ok := errors.AsType[*diag.Error](err)
	if !ok {
		return p.stop(err, yield)
	}
	p.counts.problem(source, problem)
	return yield(nil, problem)
}

// decode is what a worker does with a batch.
func (p *pass) decode(b *batch) *decoded {
	d := &decoded{batch: b, found: len(b.records)}
	p.load.guard(func() bool {
		p.decodeRecords(d)
		return true
	})
	records := b.records[:0]
	clear(b.records)
	p.records.Put(&records)
	b.records, b.problems = nil, nil
	return d
}

func (p *pass) decodeRecords(d *decoded) {
	problems := d.problems
	d.outcomes = make([]outcome, 0, len(d.records)+len(problems))
	memo, ok := p.memos.Get().(*ToolMemo)
	if !ok {
		memo = &ToolMemo{}
	}
	defer p.memos.Put(memo)
	for i := range d.records {
		for ; len(problems) > 0 && problems[0].before == i; problems = problems[1:] {
			d.outcomes = append(d.outcomes, outcome{err: problems[0].err})
		}
		d.records[i].Memo, d.records[i].ByLine, d.records[i].Log = memo, d.byLine, d.log
		fragments, err := d.format.Decode(d.records[i])
		fragments, err = p.finish(d.batch, &d.records[i], fragments), p.news(err)
		if len(fragments) > 0 || err != nil {
			d.outcomes = append(d.outcomes, outcome{fragments, err})
		}
		for _, f := range fragments {
			if problem := p.tooDeep(f.Trajectory); problem != nil {
				d.outcomes = append(d.outcomes, outcome{err: problem})
			}
		}
	}
	for _, problem := range problems {
		d.outcomes = append(d.outcomes, outcome{err: problem.err})
	}
}

// news returns err, unless it is a problem that All has yielded before.
func (p *pass) news(err error) error {
	if _, problem := errors.AsType[*diag.Error](err); problem && p.wanted != nil {
		return nil
	}
	return err
}

// finish fills in what the record tells about the trajectories that it holds,
// and leaves out the fragments that are not wanted.
func (p *pass) finish(b *batch, record *Record, fragments []Fragment) []Fragment {
	part, kept := 0, 0
	for _, f := range fragments {
		t := f.Trajectory
		if t == nil {
			if f.Pos.IsZero() {
				f.Pos = record.Pos()
			}
			if p.wanted.hasParts() {
				fragments[kept] = f
				kept++
			}
			continue
		}
		t.Ref = Ref{source: int32(b.source + 1), part: int32(part), offset: record.Offset}
		t.Format = cmp.Or(t.Format, b.format.Name)
		t.Offset = record.Offset
		if t.Source.IsZero() {
			t.Source = record.Pos()
		}
		if t.ID == "" {
			t.ID = PartName(record.Name(), part)
		}
		part++
		if p.wanted.has(t.Ref) {
			fragments[kept] = f
			kept++
		}
	}
	return fragments[:kept]
}

// Name is the name of a record for trajectories without one: its file and line,
// and the column where other records may begin on the same line.
func (r *Record) Name() string {
	name := r.File + ":" + strconv.Itoa(r.Line)
	if r.ByLine {
		return name
	}
	return name + ":" + strconv.Itoa(max(r.Col, 1))
}

// PartName is the name of the trajectory with the index part among those of one
// record or key.
func PartName(name string, part int) string {
	if part == 0 {
		return name
	}
	return name + "#" + strconv.Itoa(part+1)
}

// joined is what became of the fragments of one key.
type joined struct {
	source       int
	trajectories []*Trajectory
	err          error
	divided      *diag.Error // nil if it was not
	deep         []*diag.Error
	bytes        int
}

// assemblies yields the collected fragments key by key.
func (p *pass) assemblies() iter.Seq[assembly] {
	return func(yield func(assembly) bool) {
		for m := range p.joins.assemblies() {
			if !p.load.acquire(m.bytes()) || !yield(m) {
				return
			}
		}
	}
}

// join is what a worker does with the fragments of one key.
func (p *pass) join(m assembly) joined {
	if m.err != nil {
		return joined{err: m.err}
	}
	j := joined{source: m.group.source, divided: m.problem(), bytes: m.bytes()}
	p.load.guard(func() bool {
		j.trajectories, j.err = m.join()
		for _, t := range j.trajectories {
			if problem := p.tooDeep(t); problem != nil {
				j.deep = append(j.deep, problem)
			}
		}
		return true
	})
	return j
}

// deliverJoined counts and yields the trajectories of one key.
func (p *pass) deliverJoined(j joined, yield func(*Trajectory, error) bool) bool {
	if j.divided != nil && p.wanted == nil && !p.deliverError(j.source, j.divided, yield) {
		return false
	}
	for _, t := range j.trajectories {
		p.joined++
		if t.Ref = (Ref{offset: p.joined}); !p.wanted.has(t.Ref) {
			continue
		}
		p.counts.trajectory(j.source, t)
		if !yield(t, nil) {
			return false
		}
	}
	for _, problem := range j.deep {
		if !p.deliverError(j.source, problem, yield) {
			return false
		}
	}
	err := p.news(j.err)
	return err == nil || p.deliverError(j.source, err, yield)
}

// maxLoad is how many bytes of records may be under way between the goroutine
// that finds them and the consumer: records of many megabytes would otherwise
// fill the queues of all workers.
const maxLoad = 32 << 20

// load bounds the bytes that are under way. Something is always let through if
// nothing is under way, so a large record passes, alone.
type load struct {
	mutex  sync.Mutex
	free   sync.Cond
	bytes  int
	closed bool
}

func newLoad() *load {
	l := &load{}
	l.free.L = &l.mutex
	return l
}

// acquire waits until n bytes more may be under way; false if the load was
// closed, and nothing more is wanted.
func (l *load) acquire(n int) bool {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	for !l.closed && l.bytes > 0 && l.bytes+n > maxLoad {
		l.free.Wait()
	}
	l.bytes += n
	return !l.closed
}

func (l *load) release(n int) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.bytes -= n
	l.free.Broadcast()
}

// close lets everyone go who waits.
func (l *load) close() {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	l.closed = true
	l.free.Broadcast()
}

// guard calls f and closes the load unless f returns true, also if f panics or
// ends the goroutine: whoever waits would wait for ever.
func (l *load) guard(f func() bool) (ok bool) {
	defer func() {
		if !ok {
			l.close()
		}
	}()
	return f()
}
