package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Text is the row of embedded and shipped text that is no Go.
const Text = "text"

// Size is how large the program is.
type Size struct {
	Folders    map[string]int  // lines of code by folder of budgets.tsv
	Top        map[string]bool // folders at the top that hold Go
	Packages   int
	JSON       int      // struct types with JSON tags
	Unbudgeted []string // folders that have no row

	lines, tokens int
}

// TokensPerLine returns how dense lines of Go are.
func (s *Size) TokensPerLine() float64 { return float64(s.tokens) / float64(max(1, s.lines)) }

// Budget is what a folder and all below it may have, but for what is below a folder with a
// row of its own.
type Budget struct {
	Folder      string
	Limit, Goal int
}

// Budgets reads a table of folder, limit and goal, separated by tabs.
func Budgets(file string) ([]Budget, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var out []Budget
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		cells := strings.Fields(line)
		if len(cells) != 3 {
			return nil, fmt.Errorf("%s: %q has no three columns", file, line)
		}
		limit, err := strconv.Atoi(cells[1])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		goal, err := strconv.Atoi(cells[2])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		out = append(out, Budget{cells[0], limit, goal})
	}
	return out, nil
}

// Measure counts the program below root by the folders of its budgets.tsv.
func Measure(root string) (*Size, error) {
	budgets, err := Budgets(filepath.Join(root, "testdata/size/budgets.tsv"))
	if err != nil {
		return nil, err
	}
	imported, err := importedTestdata(root)
	if err != nil {
		return nil, err
	}
	s := &Size{Folders: map[string]int{}, Top: map[string]bool{}}
	packages := map[string]bool{}
	err = walk(root, func(name string, entry fs.DirEntry) error {
		folder := path.Dir(name)
		if strings.Contains("/"+folder+"/", "/testdata/") && !imported[folder] {
			return nil
		}
		switch path.Ext(name) {
		case ".go":
			if strings.HasSuffix(name, "_test.go") {
				return nil
			}
			src, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				return err
			}
			lines, tokens := count(src)
			s.lines, s.tokens = s.lines+lines, s.tokens+tokens
			s.JSON += tagged(src)
			packages[folder] = true
			row := folder
			for row != "." && !slices.ContainsFunc(budgets, func(b Budget) bool { return b.Folder == row }) {
				row = path.Dir(row)
			}
			if row == "." && folder != "." {
				s.Unbudgeted = append(s.Unbudgeted, folder)
			}
			s.Folders[row] += lines
			if top, _, below := strings.Cut(name, "/"); below {
				s.Top[top] = true
			}
		case ".py", ".ts", ".js", ".css", ".html", ".yaml", ".s":
			if strings.HasPrefix(folder, "trace/formats/maps") || strings.HasPrefix(folder, "docs") || strings.HasPrefix(folder, ".") {
				return nil
			}
			src, err := os.ReadFile(filepath.Join(root, name))
			if err != nil {
				return err
			}
			for line := range bytes.Lines(src) {
				if len(bytes.TrimSpace(line)) > 0 {
					s.Folders[Text]++
				}
			}
		}
		return nil
	})
	s.Packages = len(packages)
	slices.Sort(s.Unbudgeted)
	s.Unbudgeted = slices.Compact(s.Unbudgeted)
	return s, err
}

// walk visits the files of the project in order, with slashes in their names.
func walk(root string, visit func(name string, entry fs.DirEntry) error) error {
	return fs.WalkDir(os.DirFS(root), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (name == ".git" || name == "bin" || entry.Name() == "node_modules"):
			return fs.SkipDir
		case entry.IsDir():
			return nil
		}
		return visit(name, entry)
	})
}

// importedTestdata returns the folders below testdata that the program imports.
func importedTestdata(root string) (map[string]bool, error) {
	const module = "github.com/awo-dev/awo/"
	found := map[string]bool{}
	err := walk(root, func(name string, _ fs.DirEntry) error {
		if path.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "testdata/") {
			return nil
		}
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, i := range f.Imports {
			of, err := strconv.Unquote(i.Path.Value)
			if folder, ok := strings.CutPrefix(of, module); err == nil && ok && strings.Contains("/"+folder+"/", "/testdata/") {
				found[folder] = true
			}
		}
		return nil
	})
	return found, err
}

// count returns the lines of Go with a token, and the tokens. A text over several lines is
// all of them.
func count(src []byte) (lines, tokens int) {
	var s scanner.Scanner
	files := token.NewFileSet()
	file := files.AddFile("", files.Base(), len(src))
	s.Init(file, src, nil, 0)
	last := 0
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			return lines, tokens
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue // written by the scanner
		}
		tokens++
		line := file.Line(pos)
		if line > last {
			lines++
		}
		end := line + strings.Count(lit, "\n")
		lines += end - line
		last = max(last, end)
	}
}

// tagged returns how many struct types have a field with a JSON tag.
func tagged(src []byte) (n int) {
	f, err := parser.ParseFile(token.NewFileSet(), "", src, parser.SkipObjectResolution)
	if err != nil {
		return 0 // the compiler says it
	}
	ast.Inspect(f, func(node ast.Node) bool {
		t, ok := node.(*ast.StructType)
		if ok && slices.ContainsFunc(t.Fields.List, func(f *ast.Field) bool { return f.Tag != nil && strings.Contains(f.Tag.Value, "json:") }) {
			n++
		}
		return true
	})
	return n
}
