package cmd

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/report"
)

// TestWidth holds what commands print to the width of the terminal: bundled and recorded
// traces, short and with details.
func TestWidth(t *testing.T) {
	if testing.Short() {
		t.Skip("long")
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	files := []string{"testdata/office/trajectories.jsonl.gz"}
	for _, name := range []string{"tau2/airline_gpt-oss-120b.json", "tau2/retail_toolorchestra-gpt-5.json", "taubench/gpt-4o-airline.json", "claude-code", "toolbench"} {
		if _, err := os.Stat(filepath.Join(root, "../shared/data", name)); err == nil {
			files = append(files, "../shared/data/"+name)
		}
	}
	quick := []string{"summary {}", "inspect {}", "cost {}", "analyze {} --permutations 0", "analyze {} --details --permutations 0", "inspect {} --details", "cost {} --details", "graph {}", "tools graph {}"}
	slow := []string{"extract {} --sample 60", "extract {} --sample 60 --details", "replay {} --sample 60", "replay {} --sample 60 --details", "snapshot build {} --out $WORK/x.awo", "tools subset {} --sample 60 --folds 2", "backtest {} --sample 60 --techniques none,patterns,prefetch,all", "config"}
	for i, file := range files {
		commands := quick
		if i == 0 {
			commands = append(commands, slow...)
		}
		for _, command := range commands {
			for _, columns := range []int{100, 60} {
				t.Run(fmt.Sprintf("%d/%s/%s", columns, filepath.Base(file), strings.ReplaceAll(command, "{}", "")), func(t *testing.T) {
					t.Parallel()
					line := strings.NewReplacer("{}", file, "$WORK", t.TempDir()).Replace(command)
					c := exec.CommandContext(t.Context(), "awo", strings.Fields(line)...)
					c.Dir, c.Env = root, append(os.Environ(), fmt.Sprint("COLUMNS=", columns))
					out, err := c.Output()
					if err != nil {
						t.Fatalf("awo %s: %v", line, err)
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
