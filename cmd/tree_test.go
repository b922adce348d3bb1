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
sessions
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

// TestCompleted: files without a command are summarized, wherever flags stand, and without
// files it is sessions that are looked for.
func TestCompleted(t *testing.T) {
	for line, want := range map[string]string{
		"tree_test.go":                  "summary",
		"--format csv tree_test.go":     "summary",
		"-q tree_test.go --details":     "summary",
		"missing.jsonl":                 "summary",
		"missing/":                      "summary",
		"*.jsonl":                       "summary",
		"-":                             "summary",
		"--format csv version":          "",
		"version tree_test.go":          "",
		"versoin":                       "",
		"--help":                        "",
		"help flags":                    "",
		"completion bash":               "",
		"--format=csv --color never":    "sessions",
		"":                              "sessions",
		"--days 30":                     "sessions",
		"--days 30 tree_test.go":        "summary",
		"--agent codex -q":              "sessions",
		"--version":                     "",
		"-h":                            "",
		"--rules r.yaml tree_test.go":   "summary",
		"--unknown-flag tree_test.go":   "summary",
		"tree_test.go --unknown-flag x": "summary",
	} {
		args := strings.Fields(line)
		got := completed(slices.Clone(args))
		if want != "" {
			args = append([]string{want}, args...)
		}
		if !slices.Equal(got, args) {
			t.Errorf("awo %s: %q, want %q", line, got, args)
		}
	}
}
