package main_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPromisedPackages holds docs/api.md to the code: what it promises is a package
// that others can import, with an example that is run, and documents all its exports.
func TestPromisedPackages(t *testing.T) {
	text, err := os.ReadFile("docs/api.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := regexp.MustCompile("(?m)^\\| `([a-z/]+)` \\| yes \\|").FindAllStringSubmatch(string(text), -1)
	if len(rows) < 4 {
		t.Fatalf("docs/api.md promises %d packages", len(rows))
	}
	for _, row := range rows {
		folder := row[1]
		if strings.Contains(folder, "internal") || strings.HasPrefix(folder, "cmd") {
			t.Errorf("%s cannot be imported by others", folder)
		}
		examples := 0
		for path, file := range parse(t, folder) {
			if strings.HasSuffix(path, "_test.go") {
				examples += runExamples(file)
			} else {
				checkComments(t, path, file)
			}
		}
		if examples == 0 {
			t.Errorf("%s has no example with an output, so none is run", folder)
		}
	}
}

// parse returns the Go files of a folder, by path.
func parse(t *testing.T, folder string) map[string]*ast.File {
	t.Helper()
	paths, err := fs.Glob(os.DirFS(folder), "*.go")
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s has no Go files (%v)", folder, err)
	}
	files := map[string]*ast.File{}
	for _, name := range paths {
		path := filepath.Join(folder, name)
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files[path] = file
	}
	return files
}

// runExamples counts the examples of a file that say what they print.
func runExamples(file *ast.File) int {
	n := 0
	for _, declaration := range file.Decls {
		f, ok := declaration.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(f.Name.Name, "Example") {
			continue
		}
		for _, group := range file.Comments {
			if group.Pos() > f.Body.Pos() && group.End() < f.Body.End() && strings.HasPrefix(group.Text(), "Output:") {
				n++
			}
		}
	}
	return n
}

// checkComments wants a doc comment for every exported type and function.
func checkComments(t *testing.T, path string, file *ast.File) {
	t.Helper()
	for _, declaration := range file.Decls {
		switch d := declaration.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
				t.Errorf("%s: %s has no doc comment", path, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if s, ok := spec.(*ast.TypeSpec); ok && s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
					t.Errorf("%s: %s has no doc comment", path, s.Name.Name)
				}
			}
		}
	}
}

// exportedReceiver reports whether a function is none of a type that nobody sees.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	of := d.Recv.List[0].Type
	for {
		switch x := of.(type) {
		case *ast.StarExpr:
			of = x.X
		case *ast.IndexExpr:
			of = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return true
		}
	}
}
