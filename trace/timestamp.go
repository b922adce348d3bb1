package trace

import "time"

// ParseTime reads a time as traces record it: ISO 8601 with a date, a time of at
// least hours and minutes behind a T or a blank, a fraction of any length and an
// offset, Z or neither. A time without an offset is taken for UTC. The result is
// in UTC; it is false if text is no such time.
func ParseTime[S string | []byte](text S) (time.Time, bool) {
	p := timeParser[S]{text: text, ok: true}
	year := p.number(4)
	p.skip('-')
	month := p.number(2)
	p.skip('-')
	day := p.number(2)
	if p.peek() == 'T' || p.peek() == 't' {
		p.at++
	} else {
		p.skip(' ')
	}
	hour := p.number(2)
	p.skip(':')
	minute := p.number(2)
	second, nanos := 0, 0
	if p.peek() == ':' {
		p.at++
		second = p.number(2)
		nanos = p.fraction()
	}
	offset := p.offset()
	if !p.ok || p.at != len(text) || year < 1 || hour > 23 || minute > 59 || second > 60 {
		return time.Time{}, false
	}
	date := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC)
	if date.Day() != day || int(date.Month()) != month { // no such day
		return time.Time{}, false
	}
	return time.Date(year, time.Month(month), day, hour, minute-offset, second, nanos, time.UTC), true
}

// timeParser reads the parts of a time. After a part that is missing, ok is
// false and what it returns is 0.
type timeParser[S string | []byte] struct {
	text S
	at   int
	ok   bool
}

// peek returns the next byte, 0 at the end.
func (p *timeParser[S]) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

func (p *timeParser[S]) skip(b byte) {
	p.ok = p.ok && p.peek() == b
	p.at++
}

func (p *timeParser[S]) number(digits int) int {
	n := 0
	for range digits {
		d := p.peek() - '0'
		p.ok = p.ok && d <= 9
		n = n*10 + int(d)
		p.at++
	}
	if !p.ok {
		return 0
	}
	return n
}

// fraction reads a fraction of a second, if there is one, in nanoseconds.
func (p *timeParser[S]) fraction() int {
	if p.peek() != '.' && p.peek() != ',' {
		return 0
	}
	p.at++
	n, unit, start := 0, 100_000_000, p.at
	for ; p.peek()-'0' <= 9; p.at++ {
		n += int(p.peek()-'0') * unit
		unit /= 10
	}
	p.ok = p.ok && p.at > start
	return n
}

// offset reads the offset from UTC, if there is one, in minutes.
func (p *timeParser[S]) offset() int {
	sign := 1
	switch p.peek() {
	case 'Z', 'z':
		p.at++
		return 0
	case '-':
		sign = -1
	case '+':
	default:
		return 0
	}
	p.at++
	hours := p.number(2)
	if p.peek() == ':' {
		p.at++
	}
	minutes := 0
	if p.at < len(p.text) {
		minutes = p.number(2)
	}
	p.ok = p.ok && hours <= 23 && minutes <= 59
	return sign * (hours*60 + minutes)
}
