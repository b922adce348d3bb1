package cli

import (
	"cmp"
	"io"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progressDelay is how long work must take before a bar appears.
const progressDelay = time.Second

// Progress is the bar of a Job. Without out, which only a terminal is given,
// it does nothing.
type Progress struct {
	out   io.Writer
	Doing string // is being done; "" is reading
	start time.Time
	bar   *progressbar.ProgressBar
	total int64
}

// set moves the bar to done of total bytes; 0 is a total that is not known.
func (p *Progress) set(done, total int64) {
	if p.out == nil {
		return
	}
	if p.start.IsZero() {
		p.start = time.Now()
	}
	if p.bar == nil || p.total != total {
		if p.bar == nil && time.Since(p.start) < progressDelay {
			return
		}
		p.clear()
		p.bar, p.total = newBar(p.out, cmp.Or(p.Doing, "reading"), total), total
	}
	// A bar that cannot be drawn is no reason to stop.
	_ = p.bar.Set64(done)
}

func newBar(out io.Writer, what string, total int64) *progressbar.ProgressBar {
	if total <= 0 {
		total = -1 // a spinner
	}
	return progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(out),
		progressbar.OptionSetDescription(what),
		progressbar.OptionShowBytes(true),
		progressbar.OptionUseIECUnits(true),
		progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionSetWidth(30),
		progressbar.OptionClearOnFinish(),
	)
}

// clear takes the bar off the terminal, so that a line can be written.
func (p *Progress) clear() {
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

// Done ends the bar; a later set begins a new one.
func (p *Progress) Done() {
	p.clear()
	p.bar, p.start = nil, time.Time{}
}
