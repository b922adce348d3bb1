package cmd

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/awo-dev/awo/internal/golden"
)

// TestDocs runs every command that README and docs show, and compares what it
// prints with what they show. AWO_UPDATE=1 rewrites the documentation.
//
// An example is a block of lines, fenced as ```console or indented by four
// spaces, in which a line "$ command" is followed by its output, errors
// included; a command that fails is followed by "exit status N". A line "..."
// stands for any lines. The commands of one file run one after the other in one
// folder, where the files of the project are at hand and what they write stays.
func TestDocs(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range documents(t, root) {
		name, err := filepath.Rel(root, file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(filepath.ToSlash(name), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			folder := t.TempDir()
			link(t, root, folder)
			got := examples(string(text), func(command string) string { return runShell(t, folder, command) })
			switch {
			case got == string(text):
			case golden.Update():
				if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("%s shows other output than the commands print; AWO_UPDATE=1 accepts it:\n%s",
					name, diff.Diff("shown", text, "printed", []byte(got)))
			}
		})
	}
}

// TestDocsBegin: a page of the manual begins with what somebody wants who opens it.
func TestDocsBegin(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "docs", "*.md"))
	if err != nil || len(files) < 10 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		_, rest, _ := strings.Cut(string(text), "\n\n")
		if filepath.Base(file) == "SKILL.md" { // it begins as coding agents want it
			continue
		}
		if !strings.HasPrefix(string(text), "# ") || !strings.HasPrefix(rest, "To ") {
			t.Errorf("%s does not begin with what one wants to do: %.60s", filepath.Base(file), rest)
		}
	}
}

// documents returns the Markdown files whose examples are run.
func documents(t *testing.T, root string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir(filepath.Join(root, "docs"), func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && filepath.Ext(path) == ".md" {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// link makes the visible files of the project reachable from folder.
func link(t *testing.T, root, folder string) {
	t.Helper()
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || e.Name() == "bin" {
			continue
		}
		if err := os.Symlink(filepath.Join(root, e.Name()), filepath.Join(folder, e.Name())); err != nil {
			t.Skip("no symbolic links here")
		}
	}
}

// runShell runs a command line in folder and returns what it prints.
func runShell(t *testing.T, folder, command string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-c", command)
	c.Dir = folder
	c.Env = slices.DeleteFunc(os.Environ(), func(e string) bool {
		return strings.HasPrefix(e, "AWO_") // nothing but the command itself decides
	})
	out, err := c.CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		out = append(out, exit.Error()+"\n"...)
	} else if err != nil {
		t.Errorf("%s: %v", command, err)
	}
	if len(out) > 0 && !bytes.HasSuffix(out, []byte("\n")) {
		out = append(out, '\n')
	}
	return strings.ReplaceAll(string(out), folder, "$PWD")
}

// examples returns text with the output of every command as run gives it. Output
// that is shown with "..." and agrees stays as it is shown.
func examples(text string, run func(command string) string) string {
	lines := strings.SplitAfter(text, "\n")
	var out strings.Builder
	for i := 0; i < len(lines); {
		block, indent, ok := consoleBlock(lines[i:], i == 0 || strings.TrimSpace(lines[i-1]) == "")
		if !ok {
			out.WriteString(lines[i])
			i++
			continue
		}
		for j := 0; j < block; {
			line := strings.TrimPrefix(lines[i+j], indent)
			out.WriteString(lines[i+j])
			j++
			command, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "$ ")
			if !ok {
				continue
			}
			var shown []string
			for ; j < block && !strings.HasPrefix(lines[i+j], indent+"$ ") && !isFence(lines[i+j]); j++ {
				shown = append(shown, strings.TrimPrefix(lines[i+j], indent))
			}
			printed := strings.SplitAfter(run(command), "\n")
			printed = printed[:len(printed)-1]
			if agree(shown, printed) {
				printed = shown
			}
			for _, line := range printed {
				if line != "\n" {
					out.WriteString(indent)
				}
				out.WriteString(line)
			}
		}
		i += block
	}
	return out.String()
}

func isFence(line string) bool { return strings.HasPrefix(strings.TrimLeft(line, " "), "```") }

// consoleBlock returns how many of the lines are a block of examples, and how
// they are indented. Indented ones begin behind an empty line.
func consoleBlock(lines []string, behindEmpty bool) (n int, indent string, ok bool) {
	first := lines[0]
	indent = first[:len(first)-len(strings.TrimLeft(first, " "))]
	switch {
	case strings.TrimSpace(first) == "```console":
		for n = 1; n < len(lines) && !isFence(lines[n]); n++ {
		}
		return min(n+1, len(lines)), indent, true
	case behindEmpty && strings.HasPrefix(first, "    $ "):
		for n = 1; n < len(lines) && (strings.HasPrefix(lines[n], "    ") || strings.TrimSpace(lines[n]) == "" && next(lines[n:], "    ")); n++ {
		}
		return n, "    ", true
	}
	return 0, "", false
}

// next reports whether the first line with text in it begins with indent.
func next(lines []string, indent string) bool {
	for _, line := range lines {
		if strings.TrimSpace(line) != "" {
			return strings.HasPrefix(line, indent)
		}
	}
	return false
}

// agree reports whether shown, in which "..." stands for any lines, is printed.
func agree(shown, printed []string) bool {
	trim := func(s string) string { return strings.TrimRight(s, " \n") }
	if len(shown) == 0 {
		return len(printed) == 0
	}
	if trim(shown[0]) == "..." {
		for skip := 0; skip <= len(printed); skip++ {
			if agree(shown[1:], printed[skip:]) {
				return true
			}
		}
		return false
	}
	return len(printed) > 0 && trim(shown[0]) == trim(printed[0]) && agree(shown[1:], printed[1:])
}

// TestExamplesInText tries the reading of examples on texts of its own.
func TestExamplesInText(t *testing.T) {
	run := func(command string) string {
		return map[string]string{"one": "1\n", "two": "a\nb\nc\n", "gap": "x\n\ny\n", "none": ""}[command]
	}
	for name, test := range map[string][2]string{
		"right":           {"```console\n$ one\n1\n```\n", "```console\n$ one\n1\n```\n"},
		"wrong":           {"text\n```console\n$ one\n2\n3\n```\nmore\n", "text\n```console\n$ one\n1\n```\nmore\n"},
		"two commands":    {"```console\n$ one\n$ two\n```\n", "```console\n$ one\n1\n$ two\na\nb\nc\n```\n"},
		"ellipsis":        {"```console\n$ two\na\n...\n```\n", "```console\n$ two\na\n...\n```\n"},
		"ellipsis inside": {"```console\n$ two\n...\nb\n...\n```\n", "```console\n$ two\n...\nb\n...\n```\n"},
		"wrong ellipsis":  {"```console\n$ two\nx\n...\n```\n", "```console\n$ two\na\nb\nc\n```\n"},
		"no output":       {"```console\n$ none\nx\n```\n", "```console\n$ none\n```\n"},
		"other language":  {"```sh\n$ one\n2\n```\n", "```sh\n$ one\n2\n```\n"},
		"in a list":       {"- item\n  ```console\n  $ gap\n  ```\n", "- item\n  ```console\n  $ gap\n  x\n\n  y\n  ```\n"},
		"indented":        {"text\n\n    $ gap\n    x\n\n    z\n\ntext\n", "text\n\n    $ gap\n    x\n\n    y\n\ntext\n"},
		"no example":      {"text with $ one\n    $ one\n", "text with $ one\n    $ one\n"},
		"no final fence":  {"```console\n$ one\n", "```console\n$ one\n1\n"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := examples(test[0], run); got != test[1] {
				t.Errorf("got\n%s\nwant\n%s", got, test[1])
			}
		})
	}
}
