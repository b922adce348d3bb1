package main_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/awo-dev/awo/internal/golden"
)

// TestSkips lists what may skip a test, and why: a clone of the project alone, on a
// machine with Go and nothing else, is tested without these. A place that is not in
// testdata/skips.txt is a new way not to test; an update accepts it.
func TestSkips(t *testing.T) {
	var lines []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && strings.HasPrefix(d.Name(), ".") && path != "." || d.IsDir() && path == "bin" {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") {
			return nil
		}
		found, err := skipsIn(path)
		lines = append(lines, found...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lines)
	got, file := strings.Join(lines, "\n")+"\n", filepath.Join("testdata", "skips.txt")
	want, err := os.ReadFile(file)
	switch {
	case err == nil && string(want) == got:
	case golden.Update():
		if err := os.WriteFile(file, []byte(got), 0o666); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s lists other places where a test may skip; AWO_UPDATE=1 accepts the change (%v):\n%s", file, err, diff.Diff("listed", want, "found", []byte(got)))
	}
}

// skipsIn returns a line for every call of Skip in a file: where, and what it says.
func skipsIn(path string) ([]string, error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, decl := range f.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok {
			continue
		}
		ast.Inspect(fn, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			method, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || !slices.Contains([]string{"Skip", "Skipf", "SkipNow"}, method.Sel.Name) {
				return true
			}
			if receiver, ok := method.X.(*ast.Ident); !ok || !slices.Contains([]string{"t", "b", "f", "tb"}, receiver.Name) {
				return true
			}
			why := "(no reason)"
			if len(call.Args) > 0 {
				why = "(computed)"
				if text, ok := call.Args[0].(*ast.BasicLit); ok {
					if s, err := strconv.Unquote(text.Value); err == nil {
						why = s
					}
				}
			}
			lines = append(lines, fmt.Sprintf("%s %s: %s", filepath.ToSlash(path), fn.Name.Name, why))
			return true
		})
	}
	return lines, nil
}
