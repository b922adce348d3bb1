package rules

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// yamlBlocks returns the YAML blocks of the documentation, with the line on
// which each begins. A block of rules alone gets the lines that make it a file.
func yamlBlocks(t *testing.T) map[int][]byte {
	t.Helper()
	doc, err := os.ReadFile("../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[int][]byte{}
	var block *bytes.Buffer
	start := 0
	for i, line := range strings.Split(string(doc), "\n") {
		switch {
		case line == "```yaml":
			block, start = &bytes.Buffer{}, i+2
		case line == "```" && block != nil:
			src := block.Bytes()
			if bytes.HasPrefix(src, []byte("- id:")) {
				indented := "  " + strings.ReplaceAll(strings.TrimSuffix(string(src), "\n"), "\n", "\n  ") + "\n"
				src = []byte("version: 1\n\nrules:\n" + strings.ReplaceAll(indented, "\n  \n", "\n\n"))
			}
			blocks[start] = src
			block = nil
		case block != nil:
			block.WriteString(line + "\n")
		}
	}
	return blocks
}

// TestDocs: every file in the documentation is free of problems and formatted,
// and its examples hold.
func TestDocs(t *testing.T) {
	blocks := yamlBlocks(t)
	if len(blocks) < 20 {
		t.Errorf("only %d blocks of YAML", len(blocks))
	}
	shown := map[Kind]bool{}
	for line, src := range blocks {
		name := fmt.Sprintf("rules.md:%d", line)
		set, problems := Options{}.Check(name, src)
		for _, e := range problems {
			t.Error(e)
		}
		out, err := Format(name, src)
		if err != nil || !bytes.Equal(out, src) {
			t.Errorf("%s is not formatted: %v\n%s", name, err, out)
		}
		for _, e := range set.AllExamples() {
			checkExample(t, set, &e)
		}
		for _, r := range set.Rules {
			shown[r.Kind] = true
		}
	}
	for _, k := range kinds {
		if !shown[k.Kind] {
			t.Errorf("no rule of kind %s is shown", k.Kind)
		}
	}
}

// TestDocsComplete: the documentation has a section for every kind, names every
// field, every built-in set, and every code that the package can give.
func TestDocsComplete(t *testing.T) {
	src, err := os.ReadFile("../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(src)
	wants := func(text string) {
		t.Helper()
		if !strings.Contains(doc, text) {
			t.Errorf("the documentation does not have %q", text)
		}
	}
	for _, k := range kinds {
		wants("\n### " + string(k.Kind) + "\n")
		for _, field := range k.Fields {
			wants(field)
		}
	}
	for _, field := range fileFields {
		wants(field)
	}
	for _, b := range Builtins() {
		wants("`" + b.File() + "`")
	}
	code := regexp.MustCompile(`"((?:rule|yaml)-[a-z-]+)"`)
	for _, pattern := range []string{"*.go", "../internal/yamlsrc/*.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			src, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			for _, match := range code.FindAllStringSubmatch(string(src), -1) {
				wants("`" + match[1] + "`")
			}
		}
	}
}

// paperRow is a row of the table of the paper's rules: what is said here, and what it
// is shown by.
var paperRow = regexp.MustCompile("(?m)^\\|[^|]*\\|[^|]*\\| ([^|]*) \\| `([a-z_-]+)` \\|$")

// TestPaperTable: every rule that the paper lists has one here, of the kind that the
// table names, and every kind that the paper needs is there.
func TestPaperTable(t *testing.T) {
	doc, err := os.ReadFile("../docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(doc), "## The paper's rules\n")
	table, _, _ = strings.Cut(table, "\n## ")
	kinds, metaTools := map[string]map[string]bool{}, map[string]bool{}
	for line, src := range yamlBlocks(t) {
		set, _ := Options{}.Check(fmt.Sprintf("rules.md:%d", line), src)
		for _, r := range set.Rules {
			if kinds[r.ID] == nil {
				kinds[r.ID] = map[string]bool{}
			}
			kinds[r.ID][r.Kind.String()] = true
		}
		for _, m := range set.MetaTools {
			metaTools[m.Name] = true
		}
	}
	rows := paperRow.FindAllStringSubmatch(table, -1)
	if len(rows) != 17 {
		t.Errorf("%d rows", len(rows))
	}
	for _, row := range rows {
		said, id := row[1], row[2]
		if strings.Contains(said, "`meta_tools`") {
			if !metaTools[id] {
				t.Errorf("no meta-tool is called %s", id)
			}
			continue
		}
		matches := false
		for kind := range kinds[id] {
			matches = matches || strings.Contains(said, "`"+kind)
		}
		if !matches {
			t.Errorf("%s: the rule %s is of kind %v", said, id, kinds[id])
		}
	}
}
