package build

import (
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
)

// ReadTime reads a time written as text; a time that cannot be read is counted.
func (b *Builder) ReadTime(c *jsonscan.Cursor) time.Time {
	text, ok := c.Text()
	if !ok {
		return time.Time{}
	}
	at, ok := trace.ParseTime(text)
	if !ok {
		b.Anomaly(CodeTimeInvalid, 1)
	}
	return at
}

// ParseStamp reads a time; bad says that there is one that cannot be read.
func ParseStamp(stamp []byte) (at time.Time, bad bool) {
	at, ok := trace.ParseTime(stamp)
	if !ok || at.Year() < 1 {
		return time.Time{}, len(stamp) > 0
	}
	return at, false
}

// StatusOf returns the status of a call that went well or not.
func StatusOf(ok bool) trace.Status {
	if ok {
		return trace.StatusOK
	}
	return trace.StatusFailed
}

// MaxUnix is the first second of the year 10000.
const MaxUnix = 253402300800

// ReadUnix reads a time in seconds since 1970.
func ReadUnix(c *jsonscan.Cursor) time.Time {
	seconds, ok := c.Float()
	if !ok || !(seconds > 0 && seconds < MaxUnix) {
		return time.Time{}
	}
	whole := int64(seconds)
	return time.Unix(whole, int64((seconds-float64(whole))*1e6)*1e3).UTC()
}
