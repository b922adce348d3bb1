package build

import (
	"strconv"
	"strings"
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

// Moment reads a time: text, or a number of seconds, milliseconds, microseconds or
// nanoseconds since 1970, which its size tells. It is zero if there is none.
func Moment(text []byte) time.Time {
	if t, ok := trace.ParseTime(text); ok {
		return t
	}
	n, err := strconv.ParseFloat(string(text), 64)
	switch {
	case err != nil || !(n > 0) || n > 9e18:
		return time.Time{}
	case n > 1e17:
		whole, err := strconv.ParseInt(string(text), 10, 64)
		if err != nil {
			whole = int64(n)
		}
		return time.Unix(0, whole).UTC()
	case n > 1e14:
		return time.UnixMicro(int64(n)).UTC()
	case n > 1e11:
		return time.UnixMilli(int64(n)).UTC()
	}
	return time.UnixMicro(int64(n * 1e6)).UTC()
}

// ReadUnix reads a time in seconds since 1970.
func ReadUnix(c *jsonscan.Cursor) time.Time {
	seconds, ok := c.Float()
	if !ok || !(seconds > 0 && seconds < MaxUnix) {
		return time.Time{}
	}
	whole := int64(seconds)
	return time.Unix(whole, int64((seconds-float64(whole))*1e6)*1e3).UTC()
}

// MomentAt returns the first of some members that is a time, as Moment reads it.
func MomentAt(object []byte, paths ...string) time.Time {
	for _, p := range paths {
		if at := ReadMoment(jsonscan.New(MemberRaw(object, strings.Split(p, ".")...))); !at.IsZero() {
			return at
		}
	}
	return time.Time{}
}

// ReadMoment reads a time that is text or a number.
func ReadMoment(c jsonscan.Cursor) time.Time {
	text, ok := c.Text()
	if !ok && c.Kind() == jsonscan.Number {
		text = c.Raw()
	}
	return Moment(text)
}
