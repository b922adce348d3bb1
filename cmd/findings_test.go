package cmd

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/findings"
)

// TestFindingsAgree: every command that lists findings lists the same ones, with the same
// amounts, and the trajectories that they name can be looked at.
func TestFindingsAgree(t *testing.T) {
	inputs := []string{"../testdata/office/trajectories.jsonl.gz"}
	if recorded := filepath.Join("..", "..", "shared", "data"); exists(recorded) {
		inputs = append(inputs, filepath.Join(recorded, "tau2", "airline_gpt-oss-120b.json"), filepath.Join(recorded, "tau2", "retail_gpt-4.1.json"), filepath.Join(recorded, "claude-code"))
	}
	for _, input := range inputs {
		list := foundBy(t, "findings", input)
		if len(list) == 0 {
			t.Errorf("%s: nothing is found", input)
		}
		// Fields that nobody reads take a second look at all results: awo findings alone has it.
		list = slices.DeleteFunc(list, func(f found) bool { return f.Finding == string(findings.Fields) })
		for _, command := range []string{"summary", "analyze --permutations 0"} {
			if other := foundBy(t, command, input); !reflect.DeepEqual(other, list) {
				t.Errorf("%s: %s finds\n%+v\nand findings\n%+v", input, command, other, list)
			}
		}
		for _, f := range list {
			if len(f.Examples) != min(f.Trajectories, findings.MaxExamples) {
				t.Errorf("%s: %s of %s is in %d trajectories and names %d", input, f.Finding, f.Tool, f.Trajectories, len(f.Examples))
			}
		}
		for _, x := range list[0].Examples {
			line := cli.ShowCommand(x.File, x.Trajectory)
			if code, _, stderr := runApp(t.Context(), strings.TrimPrefix(line, "awo "), &cli.App{}); code != cli.ExitDone {
				t.Errorf("%s: exit code %d: %s", line, code, stderr)
			}
		}
	}
}

// TestIndependentReadsAgree: the finding and the technique of the back-test count the same
// turns, with rules and without.
func TestIndependentReadsAgree(t *testing.T) {
	for _, input := range []string{"../testdata/office/trajectories.jsonl.gz", "../testdata/office/trajectories.jsonl.gz --rules ../testdata/office/rules.yaml"} {
		turns := 0
		for _, f := range foundBy(t, "findings", input) {
			if f.Finding == string(findings.Batch) {
				turns = f.Count
			}
		}
		_, stdout, stderr := runApp(t.Context(), "backtest --techniques batch --format json "+input, &cli.App{})
		var out struct {
			Tables struct {
				Techniques struct {
					Rows []struct {
						Technique string
						Saved     int `json:"calling_turns_saved"`
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(stdout), &out); err != nil {
			t.Fatalf("%v: %s", err, stderr)
		}
		saved := -1
		for _, r := range out.Tables.Techniques.Rows {
			if r.Technique == "batch" {
				saved = r.Saved
			}
		}
		if turns == 0 || saved != turns {
			t.Errorf("%s: the finding counts %d turns, the technique %d", input, turns, saved)
		}
	}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

type found struct {
	Finding, Tool string
	Count         int
	Trajectories  int
	Examples      []findings.Example
	raw           string
}

// foundBy returns the findings that a command lists.
func foundBy(t *testing.T, command, input string) []found {
	t.Helper()
	_, stdout, stderr := runApp(t.Context(), command+" "+input+" --format json", &cli.App{})
	var out struct {
		Tables struct {
			Findings struct{ Rows []json.RawMessage }
		}
	}
	if err := json.Unmarshal([]byte(stdout), &out); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	list := make([]found, len(out.Tables.Findings.Rows))
	for i, row := range out.Tables.Findings.Rows {
		if list[i].raw = string(row); json.Unmarshal(row, &list[i]) != nil {
			t.Fatalf("%s", row)
		}
	}
	return list
}
