package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRun checks that faults that one system alone sees are found there, in the program
// as in its tests, by the compiler's rules as by vet's, and nowhere else.
func TestRun(t *testing.T) {
	const common = "package a\n\nimport \"os\"\n\nvar name = os.DevNull\n"
	for name, test := range map[string]struct {
		files map[string]string
		want  []string
	}{
		"compiler": {
			map[string]string{
				"a_windows.go":      "package a\n\nfunc f() string { return len(name) }\n",
				"a_windows_test.go": "package a\n\nvar x int = name\n",
				"b_windows.go":      "package a\n\nimport _ \"example.com/absent\"\n",
			},
			[]string{
				"a_windows.go:3:26: cannot use len(name)",
				"a_windows_test.go:3:13: cannot use name",
				"b_windows.go:3:10: could not import example.com/absent",
			},
		},
		"vet": {
			map[string]string{"a_windows.go": "package a\n\nimport \"fmt\"\n\nfunc f() { fmt.Printf(\"%d\", name) }\n"},
			[]string{"a_windows.go:5:24: fmt.Printf format %d has arg name of wrong type string (printf)"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			test.files["go.mod"], test.files["a.go"] = "module example.com/a\n\ngo 1.26\n", common
			for file, text := range test.files {
				if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			t.Chdir(dir)
			var out strings.Builder
			if err := run([]string{"linux/amd64", "--", "./..."}, &out); err != nil {
				t.Errorf("on linux: %v\n%s", err, out.String())
			}
			err := run([]string{"windows/amd64", "--", "./..."}, &out)
			if !errors.Is(err, errFound) {
				t.Errorf("%v, want %v", err, errFound)
			}
			for _, want := range test.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("no %q in\n%s", want, out.String())
				}
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
