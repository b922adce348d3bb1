package cli

import (
	"testing"

	"github.com/awo-dev/awo/internal/findings"
	"github.com/awo-dev/awo/internal/stat"
)

// TestMoreFindings: what the findings are worth that are not told is that of all of them,
// however many there is room for.
func TestMoreFindings(t *testing.T) {
	var list []findings.Finding
	for _, usd := range []float64{3, 2, 1, 0.5} {
		list = append(list, findings.Finding{Code: findings.Loop, Tool: "a", Worth: stat.Known(usd)})
	}
	told := FindingSentences(list, 3)
	for n, want := range map[int]string{1: "1 more finding (0.50 USD in total).", 2: "2 more findings (1.50 USD in total).", 3: "3 more findings (3.50 USD in total)."} {
		if got := told.More(n); got != want {
			t.Errorf("%d are not told: %q, want %q", n, got, want)
		}
	}
}
