package message

import (
	"strings"
	"testing"
)

// TestPythonNesting: objects that Python only names count as nesting, like all others,
// so that a hostile text ends at the bound and not at the end of the stack.
func TestPythonNesting(t *testing.T) {
	for _, n := range []int{pythonNesting - 2, pythonNesting + 2, 20_000} {
		text := strings.Repeat("<a: ", n) + "1" + strings.Repeat(">", n)
		p := pythonReader{text: []byte(text)}
		p.value(0)
		if p.at != len(text) {
			t.Errorf("%d levels: read %d of %d bytes", n, p.at, len(text))
		}
		if within := string(p.out) == "1"; within != (n < pythonNesting) {
			t.Errorf("%d levels: the innermost value is read: %v", n, within)
		}
	}
}
