package dataflow_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/awo-dev/awo/testdata/gen/encode"
	"github.com/awo-dev/awo/testdata/gen/office"
	"github.com/awo-dev/awo/testdata/gen/truth"
)

// TestOfficeSeeds holds on corpora that nobody has looked at what TestOfficeTruth
// holds on the committed one.
func TestOfficeSeeds(t *testing.T) {
	seeds := []uint64{1001, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1009, 1010}
	if testing.Short() {
		seeds = seeds[:2]
	}
	least := 1.0
	for _, seed := range seeds {
		o, err := office.New(office.Options{Trajectories: 300, Seed: seed, Tokens: office.Approximate, Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		var lines []byte
		var known []truth.Trajectory
		for i := range 300 {
			r := o.Run(i)
			known = append(known, o.Truth(r))
			lines = encode.ATIF(lines, r)
		}
		path := filepath.Join(t.TempDir(), "runs.jsonl")
		if err := os.WriteFile(path, lines, 0o600); err != nil {
			t.Fatal(err)
		}
		flows, set := collected(read(t, path))
		s := &score{wrong: map[string]int{}}
		for i, f := range flows {
			s.add(t, f, set, &known[i])
		}
		t.Logf("seed %d: precision %.4f (%d of %d), recall %.4f (%d of %d)", seed, s.precision(), s.right, s.claims, s.recall(), s.found, s.findable)
		least = min(least, s.recall())
		if s.precision() < 0.98 || s.recall() < 0.95 {
			t.Errorf("seed %d: precision must be 0.98 and recall 0.95; wrong: %v", seed, s.wrong)
		}
		for _, c := range o.Facts().Coincidences {
			checkCoincidence(t, set, c)
		}
	}
	t.Logf("least recall %.4f", least)
}
