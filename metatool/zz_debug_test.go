package metatool

import (
	"os"
	"path/filepath"
	"testing"
	"fmt"

	"github.com/awo-dev/awo/dataflow"
	"github.com/awo-dev/awo/testdata/gen/truth"
)

func TestDebugOffice(t *testing.T) {
	known, _ := truth.Open(filepath.Join(officeFolder, "truth.json"))
	list := readTrajectories(t, filepath.Join(officeFolder, "trajectories.jsonl.gz"))
	text, _ := os.ReadFile(filepath.Join(officeFolder, "rules.yaml"))
	_, p := patternsOf(list, readRules(t, "rules.yaml", text), Options{}, true)
	for _, g := range p.judgments {
		if g.Link.To.ToolName()=="contacts_get" && g.Link.Relation==dataflow.Equal {
			fmt.Println(g.Link.To, g.Link.From, g.Link.Verdict, g.Choice.Kind, g.Choice.Key, g.Agree, g.Uses, g.Verdict, g.FanOut)
		}
	}
	counts:=map[string]int{}
	for _, tr := range known.Trajectories { for _,c:=range tr.Chains { counts[c.Chain]++ } }
	x := p.Extraction()
	found := map[string]int{}
	for _, c := range x.Candidates {
		for _, ch := range known.Chains {
			if containsChain(c, &ch) { found[ch.ID] += len(c.Occurrences) }
		}
	}
	for _, ch := range known.Chains { fmt.Println(ch.Find, ch.ID, counts[ch.ID], found[ch.ID]) }
}
func containsChain(c *Candidate, ch *truth.Chain) bool {
	j:=0
	for _, s := range c.Pattern { if j<len(ch.Steps) && s.Tool.Value()==ch.Steps[j].Tool && (!ch.Steps[j].Each || s.Each!=nil) { j++ } }
	return j==len(ch.Steps)
}
