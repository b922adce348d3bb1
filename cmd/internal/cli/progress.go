package cli

import (
	"cmp"
	"io"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progressDelay is how long work must take before a bar appears.
const progressDelay = time.Second

// Progress is the bar of a Job, with the time that is left. Without out, which only a
// terminal is given, it does nothing.
type Progress struct {
	out io.Writer

	mu    sync.Mutex
	doing string // what is being done; "" is reading
	done  int    // steps, of which there are
	of    int    // so many; 0 where only bytes are counted
	start time.Time
	bar   *progressbar.ProgressBar
	total int64
	bytes bool   // the bar counts them
	said  string // what the bar says is being done
}

// stepParts is how finely a step is divided while it reads.
const stepParts = 1000

// Step says that so many of steps are done, and what the next does; of is 0 where there
// are none any more.
func (p *Progress) Step(doing string, done, of int) {
	if p.out == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doing, p.done, p.of = doing, done, of
	if of > 0 {
		p.move(int64(done)*stepParts, int64(of)*stepParts, false)
	}
}

// isStepping reports whether steps are being counted.
func (p *Progress) isStepping() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.of > 0
}

// set moves the bar to done of total bytes; 0 is a total that is not known. Within a step
// it is a part of the step.
func (p *Progress) set(done, total int64) {
	if p.out == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.of == 0:
		p.move(done, total, true)
	case total > 0:
		part := min(done*stepParts/total, stepParts)
		p.move(int64(p.done)*stepParts+part, int64(p.of)*stepParts, false)
	}
}

func (p *Progress) move(done, total int64, bytes bool) {
	if p.start.IsZero() {
		p.start = time.Now()
	}
	if p.bar == nil || p.total != total || p.bytes != bytes {
		if p.bar == nil && time.Since(p.start) < progressDelay {
			return
		}
		p.clear()
		p.bar, p.total, p.bytes, p.said = newBar(p.out, cmp.Or(p.doing, "reading"), total, bytes), total, bytes, p.doing
	}
	if p.said != p.doing {
		p.bar.Describe(cmp.Or(p.doing, "reading"))
		p.said = p.doing
	}
	// A bar that cannot be drawn is no reason to stop.
	_ = p.bar.Set64(done)
}

func newBar(out io.Writer, what string, total int64, bytes bool) *progressbar.ProgressBar {
	if total <= 0 {
		total = -1 // a spinner
	}
	options := []progressbar.Option{
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetDescription(what),
		progressbar.OptionSetPredictTime(total > 0),
		progressbar.OptionThrottle(100 * time.Millisecond),
		progressbar.OptionSetWidth(30),
		progressbar.OptionClearOnFinish(),
	}
	if bytes {
		options = append(options, progressbar.OptionShowBytes(true), progressbar.OptionUseIECUnits(true))
	}
	return progressbar.NewOptions64(total, options...)
}

// clear takes the bar off the terminal, so that a line can be written.
func (p *Progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

// Clear is clear for others than the bar itself.
func (p *Progress) Clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}

// Done ends the bar, unless steps are left; a later set begins a new one.
func (p *Progress) Done() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of > 0 {
		return
	}
	p.clear()
	p.bar, p.start = nil, time.Time{}
}

// end ends the bar and what is being done.
func (p *Progress) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.bar, p.start, p.doing, p.of = nil, time.Time{}, "", 0
}
