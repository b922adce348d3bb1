package bounds_test

import (
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/awo-dev/awo/internal/bounds"
)

// TestReached wants the same of notes in any order, from any number of goroutines and
// readings.
func TestReached(t *testing.T) {
	type note struct {
		bound *bounds.Bound
		where string
		n     int
	}
	notes := []note{{bounds.PlacesBound, "a", 3}, {bounds.PlacesBound, "b", 4}, {bounds.ValuesBound, "a", 1}, {bounds.PlacesBound, "a", 2}, {bounds.ToolsBound, "", -5}}
	want := []bounds.Report{
		{Code: "places", Of: bounds.PlacesBound.Of, Limit: bounds.Places, Places: 2, LeftOut: 7, Unit: bounds.PlacesBound.Unit},
		{Code: "values", Of: bounds.ValuesBound.Of, Limit: bounds.Values, Places: 1, LeftOut: 1, Unit: bounds.ValuesBound.Unit},
	}
	for range 3 {
		var r bounds.Reached
		var group sync.WaitGroup
		for _, n := range append(slices.Clone(notes), notes...) {
			group.Go(func() { r.Note(n.bound, n.where, n.n) })
		}
		group.Wait()
		if got := r.Reports(); !slices.Equal(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
		slices.Reverse(notes)
	}
	var none *bounds.Reached
	none.Note(bounds.PlacesBound, "a", 1)
	if got := none.Reports(); got != nil {
		t.Errorf("nil reports %+v", got)
	}
}

// TestDocumented wants every bound in the table of docs/security.md, with its code.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(bounds.All(), func(a, b *bounds.Bound) int { return strings.Compare(a.Code, b.Code) }) {
		t.Error("All is not in the order of codes")
	}
	for _, b := range bounds.All() {
		row := ""
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "| "+b.Of+" |") {
				row = line
			}
		}
		if !strings.Contains(row, "bounded, `"+b.Code+"`") || !strings.Contains(strings.ReplaceAll(row, ",", ""), "| "+itoa(b.Limit)+" |") {
			t.Errorf("docs/security.md does not say %q, %d, bounded, `%s`; it has %q", b.Of, b.Limit, b.Code, row)
		}
	}
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}
