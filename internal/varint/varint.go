// Package varint writes numbers, texts and lists of them as varints, and reads them back
// from data that nobody vouches for.
//
// Equal values give equal bytes: a number that is written longer than it has to be is
// refused. Nothing is allocated for a length that the data cannot hold.
package varint

import "encoding/binary"

// Append appends numbers that are not negative.
func Append(dst []byte, numbers ...int) []byte {
	for _, n := range numbers {
		dst = binary.AppendUvarint(dst, uint64(n))
	}
	return dst
}

// AppendText appends a text behind its length.
func AppendText(dst []byte, text string) []byte {
	return append(Append(dst, len(text)), text...)
}

// AppendTexts appends a list of texts behind how many they are.
func AppendTexts(dst []byte, texts []string) []byte {
	dst = Append(dst, len(texts))
	for _, text := range texts {
		dst = AppendText(dst, text)
	}
	return dst
}

// A Reader takes numbers and texts off its data. After a failure it takes zeros.
type Reader struct {
	Data   []byte
	Broken string // what is wrong; "" while nothing is
}

// Fail notes what is wrong, if nothing was before, and gives the data up.
func (r *Reader) Fail(what string) {
	if r.Broken == "" {
		r.Broken = what
	}
	r.Data = nil
}

// Uint takes a number.
func (r *Reader) Uint() uint64 {
	v, n := binary.Uvarint(r.Data)
	if n <= 0 || n > 1 && r.Data[n-1] == 0 {
		r.Fail("a number")
		return 0
	}
	r.Data = r.Data[n:]
	return v
}

// Int takes a number of at most 1<<62.
func (r *Reader) Int() int {
	v := r.Uint()
	if v > 1<<62 {
		r.Fail("a count")
		return 0
	}
	return int(v)
}

// Signed takes a number as binary.AppendVarint writes it.
func (r *Reader) Signed() int64 {
	u := r.Uint()
	return int64(u>>1) ^ -int64(u&1)
}

// Below takes a number that is less than most.
func (r *Reader) Below(most int) int {
	v := r.Uint()
	if v >= uint64(max(most, 0)) {
		r.Fail("a number")
		return 0
	}
	return int(v)
}

// Length takes the length of a list whose elements take at least so many bytes.
func (r *Reader) Length(least int) int {
	n := r.Uint()
	if n > uint64(len(r.Data)/least) {
		r.Fail("the length of a list")
		return 0
	}
	return int(n)
}

// Take takes so many bytes.
func (r *Reader) Take(n int) []byte {
	if n > len(r.Data) {
		r.Fail("its length")
		return make([]byte, n)
	}
	out := r.Data[:n]
	r.Data = r.Data[n:]
	return out
}

// Text takes what AppendText wrote.
func (r *Reader) Text() string { return string(r.Take(r.Length(1))) }

// Texts takes what AppendTexts wrote.
func (r *Reader) Texts() []string {
	out := make([]string, r.Length(1))
	for i := range out {
		out[i] = r.Text()
	}
	return out
}
