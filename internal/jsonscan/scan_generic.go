//go:build !amd64 || purego

package jsonscan

import "unicode/utf8"

// scanString has nothing faster to offer here than slowStr.
func scanString([]byte) (at, flags int) { return 0, 0 }

// validUTF8 returns whether s is valid UTF-8.
func validUTF8(s []byte) bool { return utf8.Valid(s) }
