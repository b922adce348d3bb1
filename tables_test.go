package main_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
)

// entry is one line of a table that is meant to grow.
type entry struct{ name, doc string }

// checkTable holds every entry of a table to what CONTRIBUTING.md asks for: a
// name of its own, a sentence, a section in the documentation, and a golden,
// where says in which file.
func checkTable(t *testing.T, table []entry, document, where string, golden func(name string) bool) {
	t.Helper()
	sections := headings(t, document)
	seen := map[string]bool{}
	for _, e := range table {
		switch {
		case e.name == "" || seen[e.name]:
			t.Errorf("the name %q is empty or taken", e.name)
		case len(strings.Fields(e.doc)) < 3:
			t.Errorf("%s: %q is no sentence", e.name, e.doc)
		}
		seen[e.name] = true
		if !slices.Contains(sections, e.name) {
			t.Errorf("%s has no section %q", document, e.name)
		}
		if !golden(e.name) {
			t.Errorf("%s has no golden; it belongs into %s", e.name, where)
		}
	}
	if len(table) == 0 {
		t.Error("the table is empty")
	}
}

// headings returns the headings of a document, without backquotes.
func headings(t *testing.T, document string) []string {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Error(err)
	}
	var out []string
	for _, m := range regexp.MustCompile("(?m)^#+ +(.+)$").FindAllSubmatch(text, -1) {
		out = append(out, strings.ReplaceAll(string(m[1]), "`", ""))
	}
	return out
}

// stories returns the stories of commands, by file name without extension.
func stories(t *testing.T) map[string]*txtar.Archive {
	t.Helper()
	files, err := filepath.Glob("cmd/testdata/script/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]*txtar.Archive{}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(file), ".txtar")] = a
	}
	return out
}

// hasSection reports whether a story has a section of that name with content.
func hasSection(a *txtar.Archive, name string) bool {
	return a != nil && slices.ContainsFunc(a.Files, func(f txtar.File) bool {
		return f.Name == name && len(bytes.TrimSpace(f.Data)) > 0
	})
}

func TestFormatTable(t *testing.T) {
	var table []entry
	for _, f := range formats.All {
		table = append(table, entry{f.Name, f.Doc})
		if f.Detect == nil || f.Decode == nil {
			t.Errorf("%s lacks Detect or Decode", f.Name)
		}
		if f.Spec == "" {
			t.Errorf("%s does not say where it is defined", f.Name)
		}
	}
	checkTable(t, table, "docs/formats.md", "trace/formats/<family>/testdata/<format>", func(name string) bool {
		wants, err := filepath.Glob(filepath.Join("trace/formats/*/testdata", name, "*.want"))
		return err == nil && len(wants) > 0
	})
}

// TestFormatGoldensAreOwned finds fixtures of formats that are gone, and goldens
// without the trace that they describe.
func TestFormatGoldensAreOwned(t *testing.T) {
	wants, err := filepath.Glob("trace/formats/*/testdata/*/*.want")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range wants {
		name := filepath.Base(filepath.Dir(want))
		if !slices.ContainsFunc(formats.All, func(f trace.Format) bool { return f.Name == name }) {
			t.Errorf("%s: there is no format %s", want, name)
		}
		beside, err := filepath.Glob(strings.TrimSuffix(want, "want") + "*")
		if err != nil || len(beside) < 2 {
			t.Errorf("%s describes a trace that is not there", want)
		}
	}
}

func TestRuleKindTable(t *testing.T) {
	kinds := stories(t)["graph_rule_kinds"]
	var table []entry
	for _, k := range rules.Kinds() {
		table = append(table, entry{string(k.Kind), k.Doc})
	}
	checkTable(t, table, "docs/rules.md", "a section <kind>.yaml of graph_rule_kinds.txtar", func(name string) bool { return hasSection(kinds, name+".yaml") })
}

func TestEmitterTable(t *testing.T) {
	all := stories(t)
	var table []entry
	for _, e := range emit.Emitters {
		table = append(table, entry{e.Name, e.Doc})
		if e.Emit == nil {
			t.Errorf("%s lacks Emit", e.Name)
		}
	}
	table = append(table, entry{emit.ManifestName, "what the artefacts were made from"})
	checkTable(t, table, "docs/artefacts.md", "a section want/<name> of extract_artefacts.txtar", func(name string) bool { return hasSection(all["extract_artefacts"], "want/"+name) })
}

// TestFaultsAreTested holds the table of faults in docs/serve.md to naming tests that exist.
func TestFaultsAreTested(t *testing.T) {
	tests := map[string]bool{}
	for path, text := range projectFiles(t) {
		if strings.HasSuffix(path, "_test.go") {
			for _, m := range regexp.MustCompile(`(?m)^func (Test\w+)\(t `).FindAllStringSubmatch(string(text), -1) {
				tests[m[1]] = true
			}
		}
	}
	text, err := os.ReadFile("docs/serve.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| fault | what happens | test |\n|---|---|---|\n")
	rows, _, _ := strings.Cut(table, "\n\n")
	if strings.Count(rows, "\n") < 10 {
		t.Fatalf("the table is %q", rows)
	}
	for row := range strings.Lines(rows) {
		cells := strings.Split(row, " | ")
		named := regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(cells) != 3 || named == nil {
			t.Errorf("no test in %s", row)
		}
		for _, m := range named {
			if !tests[m[1]] {
				t.Errorf("there is no test %s", m[1])
			}
		}
	}
}
