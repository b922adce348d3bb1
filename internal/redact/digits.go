package redact

import (
	"encoding/binary"
	"strconv"
)

// Numbers of fewer digits are kept: they identify nothing, and programs count
// with them. Longer ones than maxDigits do not fit the arithmetic.
const (
	minDigits = 3
	maxDigits = 18
)

// digits redacts a run of decimal digits by a keyed permutation of the numbers
// of that length, so that no two become one. A leading zero stays, and none is
// made.
func (r *Redactor) digits(run string) string {
	if len(run) < minDigits {
		return run
	}
	zeros := 0
	for zeros < len(run) && run[zeros] == '0' {
		zeros++
	}
	rest := run[zeros:]
	if len(rest) < minDigits {
		return run
	}
	if len(rest) > maxDigits {
		return run[:zeros] + r.longDigits(rest)
	}
	n, err := strconv.ParseUint(rest, 10, 64)
	if err != nil {
		panic("redact: digits that are no number: " + strconv.Quote(rest))
	}
	low := uint64(1)
	for range len(rest) - 1 {
		low *= 10
	}
	return run[:zeros] + strconv.FormatUint(low+r.permute(n-low, 9*low, len(rest)), 10)
}

// permute maps the numbers below size onto each other: a Feistel network over
// the next power of four, walked until it comes back below size.
func (r *Redactor) permute(n, size uint64, length int) uint64 {
	half := uint(1)
	for uint64(1)<<(2*half) < size {
		half++
	}
	mask := uint64(1)<<half - 1
	for {
		left, right := n>>half, n&mask
		for round := range feistelRounds {
			left, right = right, left^r.round(round, length, right)&mask
		}
		if n = left<<half | right; n < size {
			return n
		}
	}
}

// feistelRounds is what makes a Feistel network with random rounds look random.
const feistelRounds = 6

func (r *Redactor) round(round, length int, half uint64) uint64 {
	var in [10]byte
	in[0], in[1] = byte(round), byte(length)
	binary.LittleEndian.PutUint64(in[2:], half)
	return binary.LittleEndian.Uint64(r.hash("digits", string(in[:])))
}

// longDigits redacts digits by a hash of the whole, which is read once: what one hash has
// no room for follows from that hash.
func (r *Redactor) longDigits(run string) string {
	out := make([]byte, 0, len(run))
	hash := r.hash("long 0", run)
	first := string(hash)
	for block := 1; len(out) < len(run); block++ {
		for _, b := range hash {
			if len(out) < len(run) && b < 250 { // so that all digits are as likely
				out = append(out, '0'+b%10)
			}
		}
		hash = r.hash("long "+strconv.Itoa(block), first)
	}
	if out[0] == '0' {
		out[0] = '1'
	}
	return string(out)
}
