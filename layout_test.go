package main_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/golden"
)

const module = "github.com/awo-dev/awo"

// goPackage is what `go list` says of a package, as far as it is wanted here.
type goPackage struct {
	ImportPath string
	Dir        string
	Imports    []string
	Standard   bool
	Module     *struct{ Path string }
	Error      *struct{ Err string }
}

// listPackages returns the packages of the project and everything they import,
// by import path.
func listPackages(t *testing.T) map[string]goPackage {
	t.Helper()
	args := []string{"list", "-e", "-deps", "-json=ImportPath,Dir,Imports,Standard,Module,Error", "./..."}
	if _, err := os.Stat("testdata/gen"); err == nil {
		args = append(args, "./testdata/gen/...")
	}
	c := exec.CommandContext(t.Context(), "go", args...)
	c.Stderr = t.Output()
	out, err := c.Output()
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(args, " "), err)
	}
	packages := map[string]goPackage{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		switch err := d.Decode(&p); {
		case errors.Is(err, io.EOF):
			return packages
		case err != nil:
			t.Fatal(err)
		}
		packages[p.ImportPath] = p
	}
}

// rule is a row of the table in docs/architecture.md: what a package may import
// of the project, and which modules of others it imports.
type rule struct {
	any      bool // of the project
	packages []string
	modules  []string
}

// allows reports whether a package of the project may be imported: one that the
// rule names, or one below x for "x/...".
func (r rule) allows(name string) bool {
	return slices.ContainsFunc(r.packages, func(p string) bool {
		below, ok := strings.CutSuffix(p, "...")
		return p == name || ok && strings.HasPrefix(name, below)
	})
}

var code = regexp.MustCompile("`([^`]+)`")

// importRules reads the table under "Who may import whom" in
// docs/architecture.md, by package; "x/..." stands for x and all below it.
func importRules(t *testing.T) map[string]rule {
	t.Helper()
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(text), "\n## Who may import whom\n")
	if !ok {
		t.Fatal("docs/architecture.md has no section \"Who may import whom\"")
	}
	section, _, _ = strings.Cut(section, "\n## ")
	rules := map[string]rule{}
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 3 || !strings.HasPrefix(line, "| `") {
			continue
		}
		name := code.FindStringSubmatch(cells[0])[1]
		if _, ok := rules[name]; ok {
			t.Errorf("docs/architecture.md has two rows for %s", name)
		}
		r := rule{any: strings.TrimSpace(cells[1]) == "everything"}
		for _, m := range code.FindAllStringSubmatch(cells[1], -1) {
			r.packages = append(r.packages, m[1])
		}
		for _, m := range code.FindAllStringSubmatch(cells[2], -1) {
			r.modules = append(r.modules, m[1])
		}
		rules[name] = r
	}
	return rules
}

// find returns the rule for a package, and the name of its row.
func find(rules map[string]rule, name string) (rule, string, bool) {
	if r, ok := rules[name]; ok {
		return r, name, true
	}
	for folder := name; folder != "."; folder = filepath.ToSlash(filepath.Dir(folder)) {
		if r, ok := rules[folder+"/..."]; ok {
			return r, folder + "/...", true
		}
	}
	return rule{}, "", false
}

// TestImports holds the import graph to the table in docs/architecture.md:
// every package has a row and every row a package, nothing of the project is
// imported that the row does not allow, and the modules of others are exactly
// those that the row names.
func TestImports(t *testing.T) {
	packages, rules := listPackages(t), importRules(t)
	imported := map[string]map[string]bool{} // modules by row
	for path, p := range packages {
		if p.Module == nil || p.Module.Path != module {
			continue
		}
		name := strings.TrimPrefix(strings.TrimPrefix(path, module), "/")
		if name == "" {
			name = "main.go"
		}
		r, row, ok := find(rules, name)
		if !ok {
			t.Errorf("package %s has no row in docs/architecture.md", name)
			continue
		}
		if imported[row] == nil {
			imported[row] = map[string]bool{}
		}
		for _, i := range p.Imports {
			switch of := packages[i]; {
			case of.Standard || i == "C":
			case of.Module != nil && of.Module.Path == module:
				want := strings.TrimPrefix(i, module+"/")
				if !r.any && !r.allows(want) {
					t.Errorf("%s imports %s, and docs/architecture.md does not allow it", name, want)
				}
			case of.Module != nil:
				imported[row][of.Module.Path] = true
				if !slices.Contains(r.modules, of.Module.Path) {
					t.Errorf("%s imports %s of module %s, and docs/architecture.md does not name it", name, i, of.Module.Path)
				}
			default:
				t.Errorf("%s imports %s, which no module has", name, i)
			}
		}
	}
	for row, r := range rules {
		for _, m := range r.modules {
			if imported[row] != nil && !imported[row][m] {
				t.Errorf("docs/architecture.md says that %s imports %s, and it does not", row, m)
			}
		}
		if imported[row] == nil {
			t.Errorf("docs/architecture.md has a row for %s, and there is no such package", row)
		}
		for _, name := range r.packages {
			_, folder := rules[name] // as x/... has
			if _, ok := packages[module+"/"+name]; !ok && !folder {
				t.Errorf("docs/architecture.md lets %s import %s, and there is no such package", row, name)
			}
		}
	}
}

// TestImportGraphHasLevels says that the allowed imports have no cycle even
// where the compiler would not see one, because not all of them are used.
func TestImportGraphHasLevels(t *testing.T) {
	rules := importRules(t)
	done, open := map[string]bool{}, map[string]bool{}
	var visit func(name string, path []string)
	visit = func(name string, path []string) {
		if open[name] {
			t.Errorf("the rules allow a cycle: %s", strings.Join(append(path, name), " -> "))
			return
		}
		if done[name] {
			return
		}
		open[name] = true
		for _, next := range rules[name].packages {
			visit(next, append(path, name))
		}
		open[name], done[name] = false, true
	}
	for _, name := range slices.Sorted(maps.Keys(rules)) {
		visit(name, nil)
	}
}

// TestRunningNeedsNoMining holds the table under "What runs meta-tools" in
// docs/architecture.md: the packages on the left reach none of those on the right,
// over however many imports.
func TestRunningNeedsNoMining(t *testing.T) {
	text, err := os.ReadFile("docs/architecture.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, ok := strings.Cut(string(text), "\n| runs | never reaches |\n")
	if !ok {
		t.Fatal("docs/architecture.md does not say what runs meta-tools")
	}
	table, _, _ = strings.Cut(table, "\n\n")
	packages, rows := listPackages(t), 0
	for line := range strings.Lines(table) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 2 || !strings.HasPrefix(line, "| `") {
			continue
		}
		rows++
		never := map[string]rule{}
		for _, m := range code.FindAllStringSubmatch(cells[1], -1) {
			if _, ok := packages[module+"/"+strings.TrimSuffix(m[1], "/...")]; !ok {
				t.Errorf("docs/architecture.md names %s, and there is no such package", m[1])
			}
			never[m[1]] = rule{}
		}
		for _, m := range code.FindAllStringSubmatch(cells[0], -1) {
			start := module + "/" + m[1]
			if _, ok := packages[start]; !ok {
				t.Errorf("docs/architecture.md names %s, and there is no such package", m[1])
			}
			by := map[string]string{start: ""} // who imports it first
			for open := []string{start}; len(open) > 0; open = open[1:] {
				for _, next := range packages[open[0]].Imports {
					name, ours := strings.CutPrefix(next, module+"/")
					if _, seen := by[next]; seen || !ours {
						continue
					}
					by[next] = open[0]
					if _, _, ok := find(never, name); ok {
						t.Errorf("%s reaches %s, by %s", m[1], name, strings.TrimPrefix(open[0], module+"/"))
					}
					open = append(open, next)
				}
			}
		}
	}
	if rows == 0 {
		t.Error("the table is empty")
	}
}

// mostFiles is how many Go files, tests among them, a folder may hold: beyond it a
// reader no longer finds things by their names.
const mostFiles = 45

// TestFoldersAreSmall holds that no folder has more Go files than a reader can look over.
func TestFoldersAreSmall(t *testing.T) {
	files := map[string]int{}
	for path := range projectFiles(t) {
		if filepath.Ext(path) == ".go" {
			files[filepath.ToSlash(filepath.Dir(path))]++
		}
	}
	for folder, n := range files {
		if n > mostFiles {
			t.Errorf("%s has %d Go files, %d are the most: fold what belongs together, or make a package of what has a subject of its own", folder, n, mostFiles)
		}
	}
}

// TestGoldensAreOwned finds golden files whose test is gone.
func TestGoldensAreOwned(t *testing.T) {
	for path, p := range listPackages(t) {
		if p.Module == nil || p.Module.Path != module || p.Dir == "" {
			continue
		}
		orphans, err := golden.Orphans(p.Dir)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		for _, o := range orphans {
			t.Errorf("no test owns %s", o)
		}
	}
}

// projectFiles yields the text files of the project by path: sources,
// documentation and scripts.
func projectFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (path == ".git" || path == "bin"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		}
		switch filepath.Ext(path) {
		case ".go", ".md", ".txtar", ".yaml", ".yml", ".mod", "":
			data, err := os.ReadFile(path)
			files[filepath.ToSlash(path)] = data
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestNoMachinePaths keeps the paths of somebody's machine out of the project:
// what works only there works nowhere else.
func TestNoMachinePaths(t *testing.T) {
	const before = `(?:^|[\s"'(=\x60])`
	machine := regexp.MustCompile(before + `/(?:home|Users|root|work)/[\w.-]+`)
	orTemporary := regexp.MustCompile(before + `/(?:home|Users|root|work|tmp)/[\w.-]+`)
	for path, data := range projectFiles(t) {
		if strings.Contains(path, "testdata/") || strings.HasPrefix(path, "rules/builtin/") {
			continue // traces and examples are of other machines
		}
		machine := machine
		if !strings.HasSuffix(path, "_test.go") { // where it may be a value in a made-up trace
			machine = orTemporary
		}
		for n, line := range strings.Split(string(data), "\n") {
			if m := machine.FindString(line); m != "" {
				t.Errorf("%s:%d: the path of a machine: %s", path, n+1, strings.TrimSpace(m))
			}
		}
	}
}

// TestDocsLinks follows the relative links of the documentation.
func TestDocsLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#\s]+)(#[^)\s]*)?\)`)
	for path, data := range projectFiles(t) {
		if filepath.Ext(path) != ".md" || strings.Contains(path, "testdata/") {
			continue
		}
		for _, m := range link.FindAllSubmatch(data, -1) {
			target := string(m[1])
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			if _, err := os.Stat(filepath.Join(filepath.Dir(path), filepath.FromSlash(target))); err != nil {
				t.Errorf("%s links to %s, which is not there", path, target)
			}
		}
	}
}
