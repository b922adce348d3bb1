// Package golden compares what a test made with what is recorded in the
// repository, and records it anew when asked to. It is imported by tests only.
//
// A test owns one file, testdata/golden/<test>.txtar in its package's folder,
// with one section for each output. With AWO_UPDATE=1 in the environment the
// file is rewritten, but only if something in it changes, so an update leaves
// no difference where there is none. A section that the test no longer makes is
// a failure, and Orphans finds files whose test is gone. The package keeps the
// sections of one file in memory.
package golden

import (
	"bytes"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/rogpeppe/go-internal/txtar"
)

// Folder is where a package keeps its golden files.
const Folder = "testdata/golden"

// noNewline ends the name of a section whose text has no final newline, which
// the file format cannot say otherwise.
const noNewline = " (no final newline)"

// Update reports whether golden files are to be rewritten.
func Update() bool { return os.Getenv("AWO_UPDATE") == "1" }

// Archive is the golden file of one test. Its methods may be called from
// parallel subtests.
type Archive struct {
	path    string
	comment []byte
	want    map[string][]byte // by section name

	mu   sync.Mutex
	got  map[string][]byte
	kept []string // prefixes of sections that are neither made nor missed in this run
}

// Open returns the golden file of the test that t belongs to. When that test
// ends, sections that it did not make are reported, or dropped by an update.
func Open(t *testing.T) *Archive {
	t.Helper()
	name, _, isSubtest := strings.Cut(t.Name(), "/")
	if isSubtest {
		t.Fatalf("golden: Open wants the test %s, not a subtest", name)
	}
	a, err := load(filepath.Join(filepath.FromSlash(Folder), name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.close(t.Failed() && !Update(), t.Skipped() || partial()); err != nil {
			t.Error(err)
		}
	})
	return a
}

// load reads the golden file at path; one that does not exist has no sections.
func load(path string) (*Archive, error) {
	data, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	archive := txtar.Parse(data)
	a := &Archive{path: path, comment: archive.Comment, want: map[string][]byte{}, got: map[string][]byte{}}
	for _, f := range archive.Files {
		a.want[f.Name] = f.Data
	}
	return a, nil
}

// partial reports whether only some subtests run.
func partial() bool {
	run := flag.Lookup("test.run")
	return run != nil && strings.Contains(run.Value.String(), "/")
}

// Check compares got with the section of that name, or records it.
func (a *Archive) Check(t testing.TB, name string, got []byte) {
	t.Helper()
	if err := a.check(name, got); err != nil {
		t.Error(err)
	}
}

func (a *Archive) check(name string, got []byte) error {
	section := strings.ReplaceAll(name, "\n", " ")
	if len(got) > 0 && got[len(got)-1] != '\n' {
		section, got = section+noNewline, append(slices.Clone(got), '\n')
	}
	if marked(got) {
		return fmt.Errorf("golden: %s: %s: a line looks like the beginning of a section", a.path, name)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.got[section]; ok {
		return fmt.Errorf("golden: %s: section %s is made twice", a.path, section)
	}
	a.got[section] = slices.Clone(got)
	want, ok := a.want[section]
	switch {
	case Update() || ok && bytes.Equal(want, got):
		return nil
	case !ok:
		return fmt.Errorf("golden: %s: no section %s; AWO_UPDATE=1 records it:\n%s", a.path, section, got)
	}
	return fmt.Errorf("golden: %s: section %s differs; AWO_UPDATE=1 accepts it:\n%s",
		a.path, section, diff.Diff("want", want, "got", got))
}

// marked reports whether a line of b would begin a section.
func marked(b []byte) bool {
	return len(txtar.Parse(b).Files) > 0
}

// Keep says that sections whose names begin with prefix are not made in this
// run, because what they are made from is missing. They stay as they are.
func (a *Archive) Keep(prefix string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.kept = append(a.kept, prefix)
}

// close looks at the sections that were not made, and writes the file in an
// update. A failed run says nothing about them, a partial one keeps them.
func (a *Archive) close(failed, partial bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	var stale []string
	for name := range a.want {
		if _, ok := a.got[name]; ok {
			continue
		}
		keep := func(prefix string) bool { return strings.HasPrefix(name, prefix) }
		if partial || slices.ContainsFunc(a.kept, keep) {
			a.got[name] = a.want[name]
			continue
		}
		stale = append(stale, name)
	}
	slices.Sort(stale)
	switch {
	case Update():
		return a.write()
	case failed || len(stale) == 0:
		return nil
	}
	return fmt.Errorf("golden: %s: no test makes these sections any more: %s; AWO_UPDATE=1 drops them",
		a.path, strings.Join(stale, ", "))
}

// write writes the sections by name, if that changes the file.
func (a *Archive) write() error {
	archive := txtar.Archive{Comment: a.comment}
	for name, data := range a.got {
		archive.Files = append(archive.Files, txtar.File{Name: name, Data: data})
	}
	slices.SortFunc(archive.Files, func(f, g txtar.File) int { return strings.Compare(f.Name, g.Name) })
	data := txtar.Format(&archive)
	old, err := os.ReadFile(a.path)
	if err == nil && bytes.Equal(old, data) || len(archive.Files) == 0 && os.IsNotExist(err) {
		return nil
	}
	if len(archive.Files) == 0 {
		return os.Remove(a.path)
	}
	if err := os.MkdirAll(filepath.Dir(a.path), 0o777); err != nil {
		return err
	}
	return os.WriteFile(a.path, data, 0o666)
}

// Orphans returns the golden files in the folder of a package that no test in
// its test files owns, and whatever else lies beside them.
func Orphans(folder string) ([]string, error) {
	entries, err := os.ReadDir(filepath.Join(folder, filepath.FromSlash(Folder)))
	if os.IsNotExist(err) || len(entries) == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	tests, err := testNames(folder)
	if err != nil {
		return nil, err
	}
	var orphans []string
	for _, e := range entries {
		test, ok := strings.CutSuffix(e.Name(), ".txtar")
		if !ok || e.IsDir() || !tests[test] {
			orphans = append(orphans, filepath.Join(folder, filepath.FromSlash(Folder), e.Name()))
		}
	}
	return orphans, nil
}

// testNames returns the names of the test functions in the test files of a folder.
func testNames(folder string) (map[string]bool, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil {
		return nil, err
	}
	names := map[string]bool{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, declaration := range parsed.Decls {
			f, ok := declaration.(*ast.FuncDecl)
			if ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				names[f.Name.Name] = true
			}
		}
	}
	return names, nil
}
