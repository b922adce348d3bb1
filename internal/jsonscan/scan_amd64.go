//go:build amd64 && !purego

package jsonscan

import "unicode/utf8"

// Note: what pays for the assembly here is that strings are nearly all of a chat
// log. Against the eight bytes at a time of slowStr, lines of 18 KB are walked
// three times as fast (2.5 against 0.8 GB a second of processor time), strings
// with an escape every few bytes are scanned seven times as fast (8.6 against
// 1.3), and Chinese eleven times (12.7 against 1.1). The tag purego leaves it out.

// hasAVX2 says whether the processor and the system know the instructions of
// scanAVX2 and utf8AVX2. It is asked once and never changes.
var hasAVX2 = detectAVX2()

// detectAVX2 asks the processor (CPUID, XGETBV).
func detectAVX2() bool

// scanAVX2 passes over the content of a string, n bytes of text at p, 64 bytes at
// a time, and checks control characters and escapes on the way. It returns the
// index of the closing quote and what the string holds; without hasEnd it has
// found something wrong or come to the last 64 bytes, and the index is one up to
// which all is well and no escape pending.
//
//go:noescape
func scanAVX2(p *byte, n int) (at, flags int)

// utf8AVX2 returns whether the whole blocks of 32 bytes in n bytes of text at p
// are valid UTF-8, but for a rune that the last of them cuts off (the method of
// Keiser and Lemire, "Validating UTF-8 in less than one instruction per byte").
//
//go:noescape
func utf8AVX2(p *byte, n int) bool

// scanString passes over the content of a string as scanAVX2 does.
func scanString(s []byte) (at, flags int) {
	if len(s) < 64 || !hasAVX2 {
		return 0, 0
	}
	return scanAVX2(&s[0], len(s))
}

// validUTF8 returns whether s is valid UTF-8.
func validUTF8(s []byte) bool {
	if len(s) < 64 || !hasAVX2 {
		return utf8.Valid(s)
	}
	if !utf8AVX2(&s[0], len(s)) {
		return false
	}
	// What is left begins with the last rune of the blocks.
	rest := len(s) &^ 31
	for range utf8.UTFMax {
		if rest--; utf8.RuneStart(s[rest]) {
			break
		}
	}
	return utf8.Valid(s[rest:])
}
