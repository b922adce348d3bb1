package jsonscan

import "unicode/utf8"

// AppendCompact appends a valid text without the white space between its
// tokens. Strings and numbers stay as they are written.
func AppendCompact(dst, text []byte) []byte {
	c := Cursor{data: text}
	for i := skipSpace(text, 0); i < len(text); i = skipSpace(text, i) {
		start := i
		for i < len(text) {
			switch text[i] {
			case '"':
				if i, _ = c.str(i + 1); i < 0 {
					return append(dst, text[start:]...)
				}
				continue
			case ' ', '\n', '\t', '\r':
			default:
				i++
				continue
			}
			break
		}
		dst = append(dst, text[start:i]...)
	}
	return dst
}

const hexDigits = "0123456789abcdef"

// AppendQuoted appends s as a string token. Only quotes, backslashes and control
// characters are written as escapes, those that have a short one with it: the
// form of Python's json.dumps with ensure_ascii=False. Bytes that are no valid
// UTF-8 become U+FFFD.
func AppendQuoted[S []byte | string](dst []byte, s S) []byte {
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		start := i
		i = plainRun(s, i)
		dst = append(dst, s[start:i]...)
		if i >= len(s) {
			break
		}
		switch b := s[i]; {
		case b == '"', b == '\\':
			dst = append(dst, '\\', b)
			i++
		case b < ' ':
			dst = appendControl(dst, b)
			i++
		default:
			r, n := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
			dst = utf8.AppendRune(dst, r)
			i += n
		}
	}
	return append(dst, '"')
}

// plainRun returns the index of the first byte from i on that is not plain ASCII
// or has to be written as an escape.
func plainRun[S []byte | string](s S, i int) int {
	for ; i < len(s); i++ {
		if b := s[i]; b < ' ' || b == '"' || b == '\\' || b >= utf8.RuneSelf {
			break
		}
	}
	return i
}

func appendControl(dst []byte, b byte) []byte {
	switch b {
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', '0', '0', hexDigits[b>>4], hexDigits[b&15])
}
