package trace

import (
	"strings"
	"testing"
)

// TestPositions holds that positions are those of Record.At, and that a record is looked at
// once for all of them where they ascend.
func TestPositions(t *testing.T) {
	r := Record{Data: []byte(strings.Repeat("[1, \n\n 2],", 500)), File: "f", Line: 3, Col: 4}
	p := Positions{Record: r}
	for i := 0; i < len(r.Data); i += 3 {
		before := r.Data[:i]
		want := r.Pos()
		want.Col += i
		if lines := strings.Count(string(before), "\n"); lines > 0 {
			want.Line, want.Col = 3+lines, i-strings.LastIndexByte(string(before), '\n')
		}
		if got := p.At(i); got != want || r.At(i) != want {
			t.Fatalf("byte %d is at %v, want %v", i, got, want)
		}
	}
	if p.looked > len(r.Data) {
		t.Errorf("%d bytes were looked at for the positions of a record of %d", p.looked, len(r.Data))
	}
	if back := p.At(7); back != r.At(7) {
		t.Errorf("byte 7 is at %v, want %v", back, r.At(7))
	}
}
