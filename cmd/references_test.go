package cmd

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/cmd/internal/cli"
)

// A text is something that a user reads, and where it stands.
type text struct{ place, text string }

// userTexts are the help of every command, the documentation, and the texts in the
// code of the program, among which are all errors.
func userTexts(t *testing.T) []text {
	t.Helper()
	var all []text
	for c := range commands(newRoot(&cli.App{})) {
		all = append(all, text{"help of " + c.CommandPath(), c.Long + "\n" + c.Short + "\n" + c.Example})
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			all = append(all, text{c.CommandPath() + " --" + f.Name, f.Usage})
		})
	}
	for _, file := range documents(t, "..") {
		if filepath.Base(file) == "CHANGELOG.md" || strings.Contains(file, "decisions") {
			continue // they speak of what was, too
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text{file, string(content)})
	}
	err := filepath.WalkDir("..", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == filepath.Join("..", "internal", "shell"):
			return fs.SkipDir // it knows options of many programs, and says nothing to users
		case entry.IsDir() && (entry.Name() == "testdata" || strings.HasPrefix(entry.Name(), ".") && len(entry.Name()) > 2):
			return fs.SkipDir
		case entry.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if value, err := strconv.Unquote(literal.Value); err == nil && !strings.Contains(value, "var(--") {
					all = append(all, text{files.Position(literal.Pos()).String(), value})
				}
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var (
	flagName = regexp.MustCompile(`(?:^|[\s\x60'"(\[])--([a-z][a-z0-9-]*[a-z0-9])`)
	awoCall  = regexp.MustCompile(`(?:^|[\s\x60'"(])awo ((?:[a-z][a-z-]*)(?: [a-z][a-z-]*)?)((?: [^\x60\n;|&()]*)?)`)
	foreign  = regexp.MustCompile(`\b(brew|codex|claude|docker|git|go|npm|npx|curl|gh|goreleaser|sed|jq|grep|tar|make|pip|python3?|apk)\b`)
)

// TestReferences follows every flag and command that help, errors and documentation
// name: it must be there, and a flag behind `awo COMMAND` must be one of the command.
func TestReferences(t *testing.T) {
	root := newRoot(&cli.App{})
	flags := map[string]bool{}
	for c := range commands(root) {
		maps.Copy(flags, flagsOf(c))
	}
	followed := 0
	for _, text := range userTexts(t) {
		for line := range strings.Lines(text.text) {
			for _, m := range flagName.FindAllStringSubmatch(line, -1) {
				followed++
				if !flags[m[1]] && !foreign.MatchString(line) {
					t.Errorf("%s: there is no flag --%s: %s", text.place, m[1], strings.TrimSpace(line))
				}
			}
			for _, m := range awoCall.FindAllStringSubmatch(line, -1) {
				c, rest, err := root.Find(strings.Fields(m[1]))
				if err != nil || c == root || len(rest) > 1 {
					continue // a sentence about awo, such as "awo reads"
				}
				own := flagsOf(c)
				for _, f := range flagName.FindAllStringSubmatch(m[2], -1) {
					followed++
					if !own[f[1]] {
						t.Errorf("%s: `%s` has no flag --%s: %s", text.place, c.CommandPath(), f[1], strings.TrimSpace(line))
					}
				}
			}
		}
	}
	if followed < 300 {
		t.Errorf("only %d references were followed", followed)
	}
}

// TestPapersNames follows what the page of the papers names in the code: files and folders
// are there, and so are exported names and the tables of results.
func TestPapersNames(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("..", "docs", "papers.md"))
	if err != nil {
		t.Fatal(err)
	}
	schema, err := os.ReadFile(filepath.Join("..", "docs", "schemas", "awo.v2.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	path, exported := regexp.MustCompile(`^[a-z]+(/[a-z_]+)+(\.go)?$|^[a-z_]+\.go$`), regexp.MustCompile(`^[A-Z][A-Za-z]+$`)
	code, _ := filepath.Glob(filepath.Join("..", "toolgraph", "*.go"))
	var graph strings.Builder
	for _, file := range code {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		graph.Write(text)
	}
	followed := 0
	for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(string(page), -1) {
		switch name := m[1]; {
		case path.MatchString(name):
			followed++
			if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(name))); err != nil {
				t.Errorf("there is no %s", name)
			}
		case exported.MatchString(name):
			followed++
			if !strings.Contains(graph.String(), "\nfunc "+name+"(") {
				t.Errorf("package toolgraph has no %s", name)
			}
		}
	}
	for _, m := range regexp.MustCompile("(?:--table |table `)([a-z_]+)").FindAllStringSubmatch(string(page), -1) {
		followed++
		if !strings.Contains(string(schema), `"`+m[1]+`": {`) {
			t.Errorf("no command has a table %s", m[1])
		}
	}
	if followed < 30 {
		t.Errorf("only %d names were followed", followed)
	}
}

// flagsOf returns the names of all flags that a command takes.
func flagsOf(c *cobra.Command) map[string]bool {
	names := map[string]bool{"help": true, "version": true}
	c.Flags().VisitAll(func(f *pflag.Flag) { names[f.Name] = true })
	c.InheritedFlags().VisitAll(func(f *pflag.Flag) { names[f.Name] = true })
	return names
}
