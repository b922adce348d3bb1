package cmd

import (
	"os"
	"strings"
	"testing"

	"github.com/awo-dev/awo/cmd/internal/cli"
)

// TestEveryCommandIsCompared says that the program that compares two builds takes
// every command through something.
func TestEveryCommandIsCompared(t *testing.T) {
	cases, err := os.ReadFile("../testdata/same/cases.go")
	if err != nil {
		t.Fatal(err)
	}
	for c := range commands(newRoot(&cli.App{})) {
		path := strings.TrimPrefix(c.CommandPath(), "awo")
		// Versions differ between builds, `help` prints what --help does, and `sessions` reads
		// what is on the machine.
		if !c.Runnable() || c.HasSubCommands() || path == "" || path == " version" || path == " help" || path == " sessions" {
			continue
		}
		if !strings.Contains(string(cases), `"`+path[1:]) {
			t.Errorf("testdata/same/cases.go has no line for `awo%s`", path)
		}
	}
}
