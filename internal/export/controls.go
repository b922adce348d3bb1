package export

import (
	"bytes"
	"fmt"
	"io"
)

// escaping writes JSON on, and the control characters from U+0080 to U+009F in it as
// escapes: a terminal that shows the file takes U+009B for the beginning of a command.
// They stand in strings only, and whoever reads the file reads the same.
type escaping struct {
	to     io.Writer
	held   bool // a 0xC2 whose second byte is not there yet
	buffer []byte
}

// lead is the first of the two bytes of the characters from U+0080 to U+00BF.
const lead = 0xc2

// Write writes text on.
func (p *escaping) Write(text []byte) (int, error) {
	if !p.held && bytes.IndexByte(text, lead) < 0 {
		return p.to.Write(text)
	}
	p.buffer = p.buffer[:0]
	for _, b := range text {
		switch {
		case p.held && b >= 0x80 && b <= 0x9f:
			p.buffer = fmt.Appendf(p.buffer, `\u%04x`, b)
			p.held = false
			continue
		case p.held:
			p.buffer = append(p.buffer, lead)
		}
		if p.held = b == lead; !p.held {
			p.buffer = append(p.buffer, b)
		}
	}
	if _, err := p.to.Write(p.buffer); err != nil {
		return 0, err
	}
	return len(text), nil
}
