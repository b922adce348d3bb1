package metatool

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/awo-dev/awo/testdata/gen/truth"
)

const officeFolder = "../testdata/office"

func TestOfficePatterns(t *testing.T) {
	known, err := truth.Open(filepath.Join(officeFolder, "truth.json"))
	if os.IsNotExist(err) {
		t.Skip("the office corpus is not there")
	} else if err != nil {
		t.Fatal(err)
	}
	_ = known
	list := readTrajectories(t, filepath.Join(officeFolder, "trajectories.jsonl.gz"))
	text, err := os.ReadFile(filepath.Join(officeFolder, "rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	m, p := patternsOf(list, readRules(t, "rules.yaml", text), Options{}, true)
	awo := Extract(m, Options{})
	x := p.Extraction()
	t.Logf("%d calling turns: awo saves %d, patterns %d (%.1f %%) with %d", x.Turns, awo.TurnsSaved(), x.TurnsSaved(), 100*float64(x.TurnsSaved())/float64(x.Turns), len(x.Candidates))
	for _, c := range x.Candidates {
		t.Log(describePattern(c))
	}
}
