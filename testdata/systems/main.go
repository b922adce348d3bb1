// Systems reads a program for other systems than this one as a compiler does before it
// writes code: the program, its tests and all that they import, from source, with every
// type checked; then it runs the analyzers of go vet.
//
//	go run ./testdata/systems GOOS/GOARCH ... -- PACKAGE...
//
// A build for each system compiles the standard library and every dependency once more,
// which takes a fresh machine longer than the tests. What it would find beyond this are
// faults of the compiler and the linker.
package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/packages"
)

func main() {
	if err := run(os.Args[1:], os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "systems:", err)
		os.Exit(1)
	}
}

// errFound says that the messages before it are the answer.
var errFound = errors.New("found faults")

// run checks the packages that the arguments after -- name, for each system before it.
func run(args []string, out io.Writer) error {
	end := slices.Index(args, "--")
	if end < 1 || end == len(args)-1 {
		return errors.New("usage: systems GOOS/GOARCH -- PACKAGE: several of both may be named")
	}
	found := false
	for _, system := range args[:end] {
		fmt.Fprintln(out, "== types and vet for", system)
		n, err := check(system, args[end+1:], out)
		if err != nil {
			return fmt.Errorf("%s: %w", system, err)
		}
		found = found || n > 0
	}
	if found {
		return errFound
	}
	return nil
}

// dropBodies puts an endless loop in place of what a file's functions do, so that a
// dependency takes the time and the memory of its declarations alone.
func dropBodies(file *ast.File) {
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Body != nil {
			f.Body.List = []ast.Stmt{&ast.ForStmt{For: f.Body.Lbrace, Body: &ast.BlockStmt{Lbrace: f.Body.Lbrace, Rbrace: f.Body.Rbrace}}}
		}
	}
}

// check writes the faults of the packages on a system, and says how many there are.
func check(system string, patterns []string, out io.Writer) (int, error) {
	goos, goarch, ok := strings.Cut(system, "/")
	if !ok {
		return 0, errors.New("a system is GOOS/GOARCH")
	}
	here, err := os.Getwd()
	if err != nil {
		return 0, err
	}
	loaded, err := packages.Load(&packages.Config{
		Mode:  packages.LoadAllSyntax | packages.NeedModule,
		Tests: true,
		Env:   append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0"),
		ParseFile: func(fset *token.FileSet, name string, source []byte) (*ast.File, error) {
			file, err := parser.ParseFile(fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
			if file != nil && !strings.HasPrefix(name, here+string(filepath.Separator)) {
				dropBodies(file)
			}
			return file, err
		},
	}, patterns...)
	if err != nil {
		return 0, err
	}
	n := 0
	packages.Visit(loaded, nil, func(p *packages.Package) {
		// Without bodies, a dependency has imports that it does not use.
		p.IllTyped = false
		if p.Module == nil || !p.Module.Main || strings.HasSuffix(p.PkgPath, ".test") {
			return // A dependency, or the program that the go command makes of tests.
		}
		for _, err := range p.Errors {
			fmt.Fprintln(out, err)
			n++
		}
	})
	if n > 0 {
		return n, nil
	}
	graph, err := checker.Analyze(vet.Suite, loaded, nil)
	if err != nil {
		return 0, err
	}
	for action := range graph.All() {
		if !action.IsRoot {
			continue
		}
		if action.Err != nil {
			return 0, fmt.Errorf("%s of %s: %w", action.Analyzer.Name, action.Package.PkgPath, action.Err)
		}
		for _, d := range action.Diagnostics {
			fmt.Fprintf(out, "%s: %s (%s)\n", action.Package.Fset.Position(d.Pos), d.Message, action.Analyzer.Name)
			n++
		}
	}
	return n, nil
}
