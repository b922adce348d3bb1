package cmd

import (
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/cmd/internal/cli"
)

// known are the commands, hidden ones among them: one more is a decision.
var known = strings.Split(`analyze
backtest
compare
convert
cost
diff
extract
findings
formats
graph
inspect
predict
register
replay
report
rules check
rules discover
rules suggest
rules test
rules verify
run
serve
show
snapshot build
snapshot show
summarize
summary
tools graph
tools path
tools subset
verify
version
why`, "\n")

// TestTree holds the tree of commands to the list of them, but for help and cobra's completion.
func TestTree(t *testing.T) {
	var got []string
	for c := range commands(newRoot(&cli.App{})) {
		_, path, _ := strings.Cut(c.CommandPath(), " ")
		if !c.HasSubCommands() && path != "help" && !strings.HasPrefix(path, "completion") {
			got = append(got, path)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, known) {
		t.Errorf("the commands are\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(known, "\n"))
	}
}

// TestOrSummary: files without a command are summarized, wherever flags stand.
func TestOrSummary(t *testing.T) {
	for line, want := range map[string]bool{
		"tree_test.go":                  true,
		"--format csv tree_test.go":     true,
		"-q tree_test.go --details":     true,
		"missing.jsonl":                 true,
		"missing/":                      true,
		"*.jsonl":                       true,
		"-":                             true,
		"--format csv version":          false,
		"version tree_test.go":          false,
		"versoin":                       false,
		"--help":                        false,
		"help flags":                    false,
		"completion bash":               false,
		"--format=csv --color never":    false,
		"--rules r.yaml tree_test.go":   true,
		"--unknown-flag tree_test.go":   true,
		"tree_test.go --unknown-flag x": true,
	} {
		got := orSummary(strings.Fields(line))
		if is := len(got) > 0 && got[0] == "summary"; is != want {
			t.Errorf("awo %s: summary is %v, want %v", line, is, want)
		}
	}
}
