package cmd

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/internal/golden"
)

// TestMain makes the test program answer as awo too, for scripts and for the
// examples of the documentation.
func TestMain(m *testing.M) {
	if file := os.Getenv("MCPSTUB"); file != "" { // for tests without a PATH to this program
		os.Exit(stub(file))
	}
	testscript.Main(m, map[string]func(){
		"awo":     func() { os.Exit(Main()) },
		"mcpstub": func() { os.Exit(stub(os.Args[1])) },
		"shop":    func() { os.Exit(shop()) },
	})
}

// TestScript runs the stories in testdata/script: one file each, named
// <command>_<aspect>, with what is run and the files that it reads and prints.
// AWO_UPDATE=1 rewrites what `cmp` compares with.
func TestScript(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Files:               files,
		UpdateScripts:       golden.Update(),
		RequireUniqueNames:  true,
		RequireExplicitExec: true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("ROOT", root)
			e.Setenv("TESTDATA", filepath.Join(root, "testdata"))
			e.Setenv("GORACE", os.Getenv("GORACE")) // what the race detector is told holds for awo too
			return nil
		},
		Condition: func(condition string) (bool, error) {
			// [recorded:FILE] holds where that recorded trace is at hand.
			if file, ok := strings.CutPrefix(condition, "recorded:"); ok {
				_, err := os.Stat(filepath.Join(root, "../shared/data", file))
				return err == nil, nil
			}
			return false, nil
		},
	})
}

// TestScriptNames holds the stories to their naming: the first word is a
// command, or something that concerns all of them.
func TestScriptNames(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*")
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]bool{"awo": true, "input": true, "config": true}
	for c := range commands(newRoot(&cli.App{})) {
		words[c.Name()] = true
	}
	name := regexp.MustCompile(`^([a-z-]+)_[a-z0-9_]+\.txtar$`)
	for _, file := range files {
		m := name.FindStringSubmatch(filepath.Base(file))
		if m == nil || !words[m[1]] {
			t.Errorf("%s: want <command>_<aspect>.txtar", file)
		}
	}
}
