package trace

import (
	"time"

	"github.com/awo-dev/awo/internal/jsonscan"
)

// readTime reads a time written as text; a time that cannot be read is counted.
func (b *builder) readTime(c *jsonscan.Cursor) time.Time {
	text, ok := c.Text()
	if !ok {
		return time.Time{}
	}
	at, ok := ParseTime(text)
	if !ok {
		b.odd(CodeTimeInvalid, 1)
	}
	return at
}

// parseStamp reads a time; bad says that there is one that cannot be read.
func parseStamp(stamp []byte) (at time.Time, bad bool) {
	at, ok := ParseTime(stamp)
	if !ok || at.Year() < 1 {
		return time.Time{}, len(stamp) > 0
	}
	return at, false
}

// statusOf returns the status of a call that went well or not.
func statusOf(ok bool) Status {
	if ok {
		return StatusOK
	}
	return StatusFailed
}

// maxUnix is the first second of the year 10000.
const maxUnix = 253402300800

// readMoment reads a time that is text, or milliseconds since 1970.
func readMoment(b *builder, c *jsonscan.Cursor) time.Time {
	if c.Kind() == jsonscan.Number {
		ms, ok := c.Float()
		if !ok || !(ms > 0 && ms < maxUnix*1000) {
			b.odd(CodeTimeInvalid, 1)
			return time.Time{}
		}
		return time.UnixMilli(int64(ms)).UTC()
	}
	return b.readTime(c)
}

// readUnix reads a time in seconds since 1970.
func readUnix(c *jsonscan.Cursor) time.Time {
	seconds, ok := c.Float()
	if !ok || !(seconds > 0 && seconds < maxUnix) {
		return time.Time{}
	}
	whole := int64(seconds)
	return time.Unix(whole, int64((seconds-float64(whole))*1e6)*1e3).UTC()
}
