package trace

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestTextArena(t *testing.T) {
	var a TextArena
	var got, want []string
	for i := range 500 {
		s := strings.Repeat(fmt.Sprint(i, "é"), i%60)
		want = append(want, s)
		got = append(got, a.Add([]byte(s)))
	}
	if !slices.Equal(got, want) {
		t.Error("strings changed")
	}
}
