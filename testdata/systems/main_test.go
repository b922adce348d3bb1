package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun checks that a fault that one system alone sees is found there, in the program
// as in its tests, by the compiler's rules as by vet's.
func TestRun(t *testing.T) {
	for name, test := range map[string]struct {
		file, text string
		want       string
	}{
		"right":     {"a_windows.go", "package a\n\nfunc f() int { return len(name) }\n", ""},
		"type":      {"a_windows.go", "package a\n\nfunc f() string { return len(name) }\n", "a_windows.go:3:26: cannot use len(name)"},
		"test":      {"a_windows_test.go", "package a\n\nvar x int = name\n", "a_windows_test.go:3:13: cannot use name"},
		"vet":       {"a_windows.go", "package a\n\nimport \"fmt\"\n\nfunc f() { fmt.Printf(\"%d\", name) }\n", "a_windows.go:5:24: fmt.Printf format %d has arg name of wrong type string (printf)"},
		"no import": {"a_windows.go", "package a\n\nimport _ \"example.com/absent\"\n", "a_windows.go:3:10: could not import example.com/absent"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for file, text := range map[string]string{
				"go.mod":     "module example.com/a\n\ngo 1.26\n",
				"a.go":       "package a\n\nimport \"os\"\n\nvar name = os.DevNull\n",
				"a_linux.go": "package a\n",
				test.file:    test.text,
			} {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			t.Chdir(dir)
			var linux, both strings.Builder
			if err := run([]string{"linux/amd64", "--", "./..."}, &linux); err != nil {
				t.Errorf("on linux: %v\n%s", err, linux.String())
			}
			err := run([]string{"linux/amd64", "windows/amd64", "--", "./..."}, &both)
			if test.want == "" {
				if err != nil {
					t.Errorf("%v\n%s", err, both.String())
				}
				return
			}
			if err != errFound || !strings.Contains(both.String(), test.want) {
				t.Errorf("%v, want %q in\n%s", err, test.want, both.String())
			}
		})
	}
}

// TestUsage checks that a wrong command line is refused.
func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"linux/amd64"}, {"linux/amd64", "--"}, {"--", "."}, {"linux", "--", "."}} {
		if err := run(args, &strings.Builder{}); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}
