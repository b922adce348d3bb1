package cmd

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/report"
)

// oneScreen are the commands whose text fits one screen unless --details is given.
var oneScreen = []string{"summary", "analyze", "cost", "extract", "backtest", "compare"}

// TestWidth holds what commands print to the width of the terminal: bundled and recorded
// traces, short and with details; and what is one screen to the lines of one.
func TestWidth(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	const office = "testdata/office/trajectories.jsonl.gz"
	files := []string{office}
	for _, name := range []string{
		"tau2/airline_azure-gpt-4o.json", "tau2/airline_gpt-oss-120b.json", "tau2/retail_gpt-4.1.json", "tau2/retail_toolorchestra-gpt-5.json",
		"taubench/gpt-4o-airline.json", "claude-code", "toolbench", "formats",
	} {
		if _, err := os.Stat(filepath.Join(root, "../shared/data", name)); err == nil {
			files = append(files, "../shared/data/"+name)
		}
	}
	tools := filepath.Join(t.TempDir(), "tools")
	if out, err := runAwo(t, root, "extract "+office+" --rules testdata/office/rules.yaml --verdict never --sample 100 --out "+tools+" --quiet"); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(tools, "metatools.json"))
	if err != nil {
		t.Fatal(err)
	}
	var offered struct {
		Tools []struct{ Name string } `json:"meta_tools"`
	}
	if err := json.Unmarshal(text, &offered); err != nil || len(offered.Tools) == 0 {
		t.Fatalf("no meta-tools: %v", err)
	}
	// What every set of traces can be asked, and what one is enough for.
	quick := []string{
		"summary {}", "inspect {}", "cost {}", "analyze {} --permutations 0", "analyze {} --details --permutations 0", "inspect {} --details", "cost {} --details", "graph {}",
		"tools graph {}", "show {}", "compare {} {}", "summarize {} --out $WORK/x.awosum", "convert {} --to xes --out $WORK/x.xes",
	}
	slow := []string{
		"extract {} --sample 60", "extract {} --sample 60 --details", "replay {} --sample 60", "replay {} --sample 60 --details", "snapshot build {} --out $WORK/x.awo",
		"tools subset {} --sample 60 --folds 2", "backtest {} --sample 60 --techniques none,patterns,prefetch,all", "help config", "help config analyze", "formats", "cost {} --lazy", "cost {} --lazy --details",
		"show {} run-000003", "show {} --find status==\"failed\"", "register {} --out $WORK/register", "compare testdata/served/recordings.jsonl --look", "compare testdata/served/recordings.jsonl --details",
		"verify $TOOLS {} --rules testdata/office/rules.yaml", "why $TOOLS", "why $TOOLS $NAME", "diff $TOOLS $TOOLS", "why $TOOLS supervisor_show_passwords mail_login",
		"rules verify testdata/office/rules.yaml {}", "rules check testdata/office/rules.yaml {} --diff testdata/office/rules.yaml", "rules check testdata/office/rules.yaml {} --explain run-000003 --call 2",
		"summary {} --rules testdata/office/rules.yaml", "analyze {} --permutations 0 --rules testdata/office/rules.yaml", "cost {} --rules testdata/office/rules.yaml",
		"extract {} --rules testdata/office/rules.yaml --sample 60", "backtest {} --rules testdata/office/rules.yaml --sample 60",
		"graph {} --rules testdata/office/rules.yaml", "report {} --sample 60 --backtest never --out $WORK/x.html",
	}
	for i, file := range files {
		commands := quick
		if i == 0 {
			commands = slices.Concat(commands, slow)
		}
		if base := filepath.Base(file); base == "retail_toolorchestra-gpt-5.json" || base == "gpt-4o-airline.json" {
			commands = append(slices.Clone(commands), "extract {} --sample 60", "backtest {} --sample 60")
		}
		for _, command := range commands {
			for _, columns := range []int{100, 60} {
				t.Run(fmt.Sprintf("%d/%s/%s", columns, filepath.Base(file), strings.ReplaceAll(command, "{}", "")), func(t *testing.T) {
					t.Parallel()
					line := strings.NewReplacer("{}", file, "$WORK", t.TempDir(), "$TOOLS", tools, "$NAME", offered.Tools[0].Name).Replace(command)
					out, err := runAwo(t, root, line, fmt.Sprint("COLUMNS=", columns))
					if err != nil {
						t.Fatalf("awo %s: %v", line, err)
					}
					name, _, _ := strings.Cut(command, " ")
					if lines := strings.Count(string(out), "\n"); columns == 100 && slices.Contains(oneScreen, name) && !strings.Contains(command, "--details") && lines > report.ScreenLines {
						t.Errorf("%d lines are more than a screen:\n%s", lines, out)
					}
					for text := range strings.Lines(string(out)) {
						text = strings.TrimSuffix(text, "\n")
						// What is to be typed or copied is not broken.
						if strings.HasPrefix(text, "Next: ") {
							continue
						}
						if w := report.Width(text); w > columns {
							t.Errorf("%d columns: %s", w, text)
						}
					}
				})
			}
		}
	}
}

// runAwo runs a command in a folder and returns what it prints.
func runAwo(t *testing.T, folder, line string, environment ...string) ([]byte, error) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "awo", strings.Fields(line)...)
	c.Dir, c.Env = folder, append(os.Environ(), environment...)
	return c.Output()
}
