package cli

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/awo-dev/awo/internal/report"
)

// excerptWidth is how many columns of a source line are shown.
const excerptWidth = 100

// excerpt returns the line around byte column col (from 1; 0 is unknown) as it
// can be printed, and under it a caret where the column is. caret is empty if
// the column is not in the line. A long line is cut around the column.
func excerpt(line []byte, col int) (text, caret string) {
	line = bytes.TrimRight(line, "\r\n")
	at := col - 1
	if at < 0 || at > len(line) {
		cut := runeStart(line, min(len(line), 4*excerptWidth))
		return report.Cut(visible(line[:cut]), excerptWidth), ""
	}
	at = runeStart(line, at)
	// Escapes make text longer, never shorter, so this much is always enough.
	from, to := max(0, at-4*excerptWidth), min(len(line), at+4*excerptWidth)
	before := visible(line[runeStart(line, from):at])
	after := visible(line[at:runeStart(line, to)])
	if half := excerptWidth / 2; report.Width(before) > half && report.Width(before)+report.Width(after) > excerptWidth {
		before = keepEnd(before, max(half, excerptWidth-report.Width(after)))
	}
	if room := excerptWidth - report.Width(before); report.Width(after) > room {
		after = keepStart(after, room)
	}
	return before + after, strings.Repeat(" ", report.Width(before)) + "^"
}

// visible escapes what should not reach a terminal; a tab is one space, as in
// the count of columns.
func visible(b []byte) string {
	return report.Escape(strings.ReplaceAll(string(b), "\t", " "))
}

// runeStart returns the beginning of the character that byte i is in.
func runeStart(b []byte, i int) int {
	for back := 0; back < utf8.UTFMax && i-back > 0 && i < len(b); back++ {
		if utf8.RuneStart(b[i-back]) {
			return i - back
		}
	}
	return i
}

// keepStart cuts s to width columns from its beginning.
func keepStart(s string, width int) string {
	n := 0
	for i, r := range s {
		if n += report.Width(string(r)); n > width-1 {
			return s[:i] + "…"
		}
	}
	return s
}

// keepEnd cuts s to width columns from its end.
func keepEnd(s string, width int) string {
	excess := report.Width(s) - width + 1
	for i, r := range s {
		if excess <= 0 {
			return "…" + s[i:]
		}
		excess -= report.Width(string(r))
	}
	return "…"
}

// lineOf returns a line of src, from 1.
func lineOf(src []byte, line int) ([]byte, bool) {
	for range line - 1 {
		i := bytes.IndexByte(src, '\n')
		if i < 0 {
			return nil, false
		}
		src = src[i+1:]
	}
	if i := bytes.IndexByte(src, '\n'); i >= 0 {
		src = src[:i]
	}
	return src, line > 0
}

// readLine returns the part of a line of a file that excerpt wants, with the
// column in that part. Files that are compressed or no files have no lines.
func readLine(name string, line, col int) (part []byte, partCol int, ok bool) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || line < 1 {
		return nil, 0, false
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, false
	}
	defer f.Close()
	in := bufio.NewReaderSize(f, 1<<16)
	if magic, _ := in.Peek(4); bytes.HasPrefix(magic, []byte{0x1f, 0x8b}) || bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}) {
		return nil, 0, false
	}
	for skipped := 1; skipped < line; {
		_, err := in.ReadSlice('\n')
		switch err {
		case nil:
			skipped++
		case bufio.ErrBufferFull:
		default:
			return nil, 0, false
		}
	}
	// A record can be one line of 100 MB: only what is shown is read into memory.
	const around = 8 * excerptWidth
	start := max(0, col-1-around)
	if _, err := io.CopyN(io.Discard, in, int64(start)); err != nil {
		return nil, 0, false
	}
	part, err = io.ReadAll(io.LimitReader(in, int64(min(col, around+1)+around)))
	if err != nil {
		return nil, 0, false
	}
	if i := bytes.IndexByte(part, '\n'); i >= 0 {
		part = part[:i]
	}
	for start > 0 && len(part) > 0 && !utf8.RuneStart(part[0]) {
		part, start = part[1:], start+1
	}
	return part, col - start, true
}
