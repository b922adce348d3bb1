package jsonscan

import "strconv"

// Token passes over the string that the cursor stands on and returns it as it is
// written, with its quotes. It returns nil, and leaves the cursor where it is,
// if there is no string there.
func (c *Cursor) Token() []byte {
	if c.Kind() != String {
		return nil
	}
	return c.Raw()
}

// Text passes over the string that the cursor stands on and returns what it
// stands for: a piece of the text, or a new slice if the string holds an escape.
// It returns false, and leaves the cursor where it is, if there is no string
// there.
func (c *Cursor) Text() ([]byte, bool) {
	if c.Kind() != String {
		return nil, false
	}
	start := c.pos
	i, flags := c.str(start + 1)
	if i < 0 {
		return nil, false
	}
	c.pos, c.place = i, atAfter
	if flags&hasEscape != 0 {
		return appendContent(make([]byte, 0, i-start-2), c.data[start+1:i-1]), true
	}
	return c.data[start+1 : i-1 : i-1], true
}

// Bool passes over the true or false that the cursor stands on. It returns
// false twice, and leaves the cursor where it is, if there is neither.
func (c *Cursor) Bool() (value, ok bool) {
	if c.Kind() != Bool {
		return false, false
	}
	value = c.data[c.pos] == 't'
	c.Skip()
	return value && c.err == nil, c.err == nil
}

// Float passes over the number that the cursor stands on. It returns false if
// there is no number, and then leaves the cursor where it is, or one that is too
// large for a float64.
func (c *Cursor) Float() (float64, bool) {
	if c.Kind() != Number {
		return 0, false
	}
	raw := c.Raw()
	if raw == nil {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return 0, false
	}
	return f, true
}

// Int passes over the number that the cursor stands on and returns its whole
// part; 12.0 and 1.2e1 are 12 too. It returns false if there is no number, and
// then leaves the cursor where it is, or one that an int64 cannot hold.
func (c *Cursor) Int() (int64, bool) {
	if c.Kind() != Number {
		return 0, false
	}
	raw := c.Raw()
	if raw == nil {
		return 0, false
	}
	n, i, digits := int64(0), 0, raw
	if raw[0] == '-' {
		digits = raw[1:]
	}
	for i < len(digits) && i < 18 && isDigit(digits[i]) {
		n = n*10 + int64(digits[i]-'0')
		i++
	}
	if i < len(digits) {
		return wideInt(raw)
	}
	if raw[0] == '-' {
		n = -n
	}
	return n, true
}

// wideInt is Int for numbers of many digits, fractions and exponents.
func wideInt(raw []byte) (int64, bool) {
	if n, err := strconv.ParseInt(string(raw), 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	if err != nil || !(f > -1<<63 && f < 1<<63) {
		return 0, false
	}
	return int64(f), true
}
