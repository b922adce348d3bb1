package cmd_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestTurnsSavedAgree holds every number that is called turns saved, of what is offered to the
// agents of the office, to the one that `awo extract` says first.
func TestTurnsSavedAgree(t *testing.T) {
	dir := t.TempDir()
	office := func(name string) string {
		path, err := filepath.Abs(filepath.Join("..", "testdata", "office", name))
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	type row struct {
		Status     string `json:"status"`
		TurnsSaved int    `json:"turns_saved"`
	}
	type set struct {
		TurnsSaved int `json:"turns_saved"`
	}
	type document struct {
		Figures struct {
			Emitted  set  `json:"emitted"`
			Old, New *set // of a comparison
		} `json:"figures"`
		Tables map[string]struct {
			Rows []row `json:"rows"`
		} `json:"tables"`
	}
	awo := func(args ...string) (d document) {
		t.Helper()
		c := exec.CommandContext(t.Context(), "awo", append(args, "--format", "json", "--quiet")...)
		c.Dir = dir
		out, err := c.Output()
		if err != nil {
			t.Fatalf("awo %v: %v", args, err)
		}
		if err := json.Unmarshal(out, &d); err != nil {
			t.Fatal(err)
		}
		return d
	}
	made := awo("extract", office("trajectories.jsonl.gz"), "--rules", office("rules.yaml"), "--threshold", "5", "--out", "tools")
	want := made.Figures.Emitted.TurnsSaved
	if want < 100 {
		t.Fatalf("%d turns are saved", want)
	}
	sum := func(what string, rows []row) {
		t.Helper()
		total := 0
		for _, r := range rows {
			if r.Status == "emitted" {
				total += r.TurnsSaved
			}
		}
		if total != want {
			t.Errorf("%s: %d turns saved, %d are said first", what, total, want)
		}
	}
	sum("the table of meta-tools", made.Tables["meta_tools"].Rows)
	sum("awo why", awo("why", "tools").Tables["candidates"].Rows)
	if choice := made.Tables["choice"].Rows; choice[len(choice)-1].TurnsSaved != want {
		t.Errorf("the table of the choice ends with %d turns saved, %d are said first", choice[len(choice)-1].TurnsSaved, want)
	}
	same := awo("diff", "tools", "tools")
	if same.Figures.Old.TurnsSaved != want || same.Figures.New.TurnsSaved != want {
		t.Errorf("awo diff says %d and %d turns saved, %d are said first", same.Figures.Old.TurnsSaved, same.Figures.New.TurnsSaved, want)
	}
}
