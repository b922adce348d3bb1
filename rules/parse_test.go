package rules

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/golden"
	"github.com/awo-dev/awo/internal/yamlsrc"
)

// sources returns the rule files below a folder of testdata, by name.
func sources(t testing.TB, folder string) map[string][]byte {
	t.Helper()
	found := map[string][]byte{}
	err := filepath.WalkDir(filepath.Join("testdata", folder), func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		src, err := os.ReadFile(name)
		relative, _ := filepath.Rel(filepath.Join("testdata", folder), name)
		found[filepath.ToSlash(relative)] = src
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// report writes problems as they are printed, with their notes.
func report(problems diag.List) []byte {
	var b bytes.Buffer
	for _, e := range problems {
		fmt.Fprintf(&b, "%s: %s\n", e.Severity, e)
		for _, n := range e.Notes {
			fmt.Fprintf(&b, "    note: %s: %s\n", n.Pos, n.Msg)
		}
	}
	return b.Bytes()
}

// TestProblems checks every file in testdata/problems and compares all that is
// said about it, and which rules are left.
func TestProblems(t *testing.T) {
	archive := golden.Open(t)
	options := Options{Load: fromFS(os.DirFS("testdata/problems"))}
	for name, src := range sources(t, "problems") {
		set, problems := options.Check(name, src)
		out := report(problems)
		if len(problems) == 0 && !included[path.Base(name)] {
			t.Errorf("%s has no problem", name)
		}
		for _, r := range set.Rules {
			out = fmt.Appendf(out, "rule %s of kind %s at %s\n", r.ID, r.Kind, r.Pos)
		}
		archive.Check(t, name, out)

		_, err := options.Parse(name, src)
		if want := problems.Errors(); !errors.As(err, new(diag.List)) && len(want) > 0 || err == nil && len(want) > 0 || err != nil && err.Error() != want.Error() {
			t.Errorf("%s: Parse says %v, Check %v", name, err, want)
		}
	}
}

// included are files that are only there to be included.
var included = map[string]bool{"split.yaml": true, "drop.yaml": true, "same_id.yaml": true}

// TestCodes: every code that the package gives is met in testdata/problems.
func TestCodes(t *testing.T) {
	met := map[string]bool{}
	options := Options{Load: fromFS(os.DirFS("testdata/problems"))}
	for name, src := range sources(t, "problems") {
		_, problems := options.Check(name, src)
		for _, e := range problems {
			met[e.Code] = true
		}
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for part := range strings.SplitSeq(string(src), `"`) {
			if strings.HasPrefix(part, "rule-") && !met[part] && part != "rule-format" {
				t.Errorf("%s: no file in testdata/problems has a problem %s", file, part)
			}
		}
	}
}

// TestValid: the files in testdata/valid have no problem of any kind, and keep
// their examples.
func TestValid(t *testing.T) {
	archive := golden.Open(t)
	options := Options{Load: fromFS(os.DirFS("testdata/valid"))}
	for name, src := range sources(t, "valid") {
		set, problems := options.Check(name, src)
		for _, e := range problems {
			t.Error(e)
		}
		archive.Check(t, name, describeSet(set))
		for _, e := range set.AllExamples() {
			checkExample(t, set, &e)
		}
	}
}

// describeSet writes down all that a set says.
func describeSet(s *Set) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "file %s, failed %d, outcome %d, reads %d\n", s.File, s.Failed, s.Outcome, s.StateReads)
	for _, r := range s.Rules {
		fmt.Fprintf(&b, "%s: %s %s%s\n", r.Pos, r.Kind, r.ID, describeMatch(&r.Match))
		field := func(name string, value any) {
			if text := fmt.Sprint(value); text != "" && text != "[]" && text != "<nil>" && text != "false" {
				fmt.Fprintf(&b, "    %s: %s\n", name, text)
			}
		}
		if r.Kind == KindEffect {
			field("effect", r.Effect)
		}
		if r.Pattern != nil {
			field("pattern", r.Pattern)
		}
		field("with", r.With)
		field("values", r.Values)
		field("idempotent", r.Idempotent)
		field("domain", r.Domain)
		if r.DomainFrom != nil {
			field("domain from", r.DomainFrom)
		}
		field("ignore", r.IgnoreArgs)
		field("to", r.To)
		field("arg", r.Arg)
		field("separator", strings.Trim(fmt.Sprintf("%q", r.Separator), `"`))
		if r.Kind == KindInsert {
			field("step", fmt.Sprint(r.Position, r.Step))
		}
		if r.Other != nil {
			field("other", describeMatch(r.Other))
		}
		field("keys", r.Keys)
		field("is", r.Is)
		if len(r.Examples) > 0 {
			field("examples", len(r.Examples))
		}
	}
	for _, m := range s.MetaTools {
		fmt.Fprintf(&b, "%s: meta-tool %s of %v: %s\n", m.Pos, m.Name, m.Tools, m.Description)
	}
	fmt.Fprintf(&b, "%d examples\n", len(s.Examples))
	return b.Bytes()
}

func describeMatch(m *Match) string {
	text := fmt.Sprintf(" %v", m.Tools)
	if m.Arg != nil {
		text += " " + m.Arg.String()
	}
	for _, a := range m.Args {
		text += fmt.Sprintf(" %s~%s", a.Path, a.Pattern)
	}
	for _, c := range m.Context {
		text += fmt.Sprintf(" context %s~%s", c.Name, c.Pattern)
	}
	for _, c := range m.Annotations {
		text += fmt.Sprintf(" annotation %s~%s", c.Name, c.Pattern)
	}
	return text
}

// TestParseKeepsGoodRules: a mistake in one rule costs that rule only.
func TestParseKeepsGoodRules(t *testing.T) {
	set, err := Parse("r.yaml", []byte("version: 1\nrules:\n  - {id: a, kind: drop, match: {tool: x}}\n  - {id: b, kind: dorp, match: {tol: x}}\n  - {id: c, kind: barrier, match: {tool: y}}\n"))
	if err == nil || len(set.Rules) != 2 || set.Rules[0].ID != "a" || set.Rules[1].ID != "c" {
		t.Errorf("%v, %d rules", err, len(set.Rules))
	}
	list, ok := errors.AsType[diag.List](err)
	if !ok || len(list) != 2 {
		t.Errorf("%T %v", err, err)
	}
}

func TestFieldPos(t *testing.T) {
	set, err := Parse("r.yaml", []byte("version: 1\nrules:\n  - id: a\n    kind: rewrite\n    match:\n      tool: x\n      arg: y\n    pattern: z\n    with: w\n"))
	if err != nil {
		t.Fatal(err)
	}
	for field, want := range map[string]string{
		"id": "r.yaml:3:9", "match": "r.yaml:6:7", "match.tool": "r.yaml:6:13", "match.arg": "r.yaml:7:12", "pattern": "r.yaml:8:14", "doc": "r.yaml:3:5",
	} {
		if got := set.Rules[0].FieldPos(field).String(); got != want {
			t.Errorf("%s is at %s, want %s", field, got, want)
		}
	}
	made := &Rule{Pos: diag.Pos{Line: 7}}
	if made.FieldPos("pattern") != made.Pos {
		t.Error("a rule that was not parsed has no place for its fields")
	}
}

// TestAirlineRules: the rules that go with the recorded traces, which are JSON.
func TestAirlineRules(t *testing.T) {
	src, err := os.ReadFile("../../shared/oracle/airline.rules.json")
	if err != nil {
		t.Skip("the recorded traces are not beside the project: ", err)
	}
	set, problems := Options{}.Check("airline.rules.json", src)
	if len(problems) > 0 {
		t.Error(problems)
	}
	kinds := map[Kind]int{}
	for _, r := range set.Rules {
		kinds[r.Kind]++
	}
	if len(set.Rules) != 10 || kinds[KindEffect] != 2 || kinds[KindRewrite] != 5 || kinds[KindDomain] != 2 || kinds[KindLoop] != 1 {
		t.Errorf("rules of kinds %v", kinds)
	}
	if r := set.Rules[2]; r.ID != "user-ids" || r.Match.Arg.String() != "user_id" || r.Pattern.String() != `^[a-z]+_[a-z]+_\d{4}$` || r.With != "{USER}" {
		t.Errorf("rule %+v", r)
	}
}

// TestLimits: hostile files end in a problem, not in all of the memory.
func TestLimits(t *testing.T) {
	rule := func(i int, pattern string) string {
		return fmt.Sprintf("  - {id: r%d, kind: rewrite, match: {arg: x}, pattern: '%s', with: y}\n", i, pattern)
	}
	many := "version: 1\nrules:\n"
	for i := range 300 {
		many += rule(i, "(?:[a-c][d-f]{10}){100}{10}x{900}")
	}
	for name, src := range map[string]string{
		"one large pattern":   "version: 1\nrules:\n" + rule(0, strings.Repeat("x", maxPatternBytes+1)),
		"a repeated class":    "version: 1\nrules:\n" + rule(0, `(?:\pL{20}\pN{20}){25}`) + rule(1, `((\pL{30}){30}){1}`+strings.Repeat(`[^a-z]{1000}`, 500)),
		"many large patterns": many,
		"many includes":       "version: 1\ninclude: [" + strings.Repeat("x.yaml, ", 10) + "]\n",
	} {
		loads := 0
		options := Options{Load: func(name string) ([]byte, error) {
			loads++
			return []byte(fmt.Sprintf("version: 1\ninclude: [a%d.yaml, b%d.yaml]\n", loads, loads)), nil
		}}
		_, err := options.Parse("r.yaml", []byte(src))
		if err == nil {
			t.Errorf("%s: no problem", name)
		}
		if loads > maxIncludes {
			t.Errorf("%s: %d files are read", name, loads)
		}
	}
}

// TestManyGlobs: looking for rules that decide nothing stops before it takes the
// square of a large file.
func TestManyGlobs(t *testing.T) {
	for globs, want := range map[int]int{10: 1, 3000: 0} {
		r := &Rule{Kind: KindEffect, Match: Match{Tools: slices.Repeat([]Glob{"a*b"}, globs)}}
		if got := lint(&Set{Rules: []*Rule{r, r}}); len(got) != want {
			t.Errorf("%d globs: %v, want %d warnings", globs, got, want)
		}
	}
}

// FuzzParse: no panic, and every problem is inside the file.
func FuzzParse(f *testing.F) {
	for _, folder := range []string{"problems", "valid", "format"} {
		for _, src := range sources(f, folder) {
			f.Add(src)
		}
	}
	for _, b := range Builtins() {
		f.Add(b.Source)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		set, problems := Options{}.Check("f", src)
		lines := strings.Split(strings.ReplaceAll(strings.TrimPrefix(string(src), "\ufeff"), "\r\n", "\n"), "\n")
		for _, e := range problems {
			if e.Pos.File != "f" {
				continue // in a built-in set
			}
			if e.Pos.Line < 1 || e.Pos.Line > len(lines) || e.Pos.Col < 1 || e.Pos.Col > len(lines[e.Pos.Line-1])+1 {
				t.Fatalf("%q: outside of the file: %v", src, e)
			}
			if !strings.HasPrefix(e.Code, "rule-") && !strings.HasPrefix(e.Code, "yaml-") {
				t.Fatalf("%q: odd code: %v", src, e)
			}
		}
		if again, _ := (Options{}).Check("f", src); !bytes.Equal(describeSet(again), describeSet(set)) {
			t.Fatalf("%q is read in two ways", src)
		}
		checkFormat(t, src, set, problems)
	})
}

// checkFormat fails if formatting a source changes what it means, or formatting
// it twice makes a difference.
func checkFormat(t *testing.T, src []byte, set *Set, problems diag.List) {
	t.Helper()
	out, err := Format("f", src)
	if err != nil {
		if problems.Err() == nil {
			t.Fatalf("%q has no mistake and is not formatted: %v", src, err)
		}
		return
	}
	twice, err := Format("f", out)
	if err != nil || !bytes.Equal(twice, out) {
		t.Fatalf("%q is formatted as\n%s\nand then as\n%s\n%v", src, out, twice, err)
	}
	if problems.Err() != nil {
		return
	}
	again, after := Options{}.Check("f", out)
	if err := after.Err(); err != nil {
		t.Fatalf("%q is formatted as\n%s\nwhich has a mistake: %v", src, out, err)
	}
	if a, b := withoutPlaces(set), withoutPlaces(again); a != b {
		t.Fatalf("%q is formatted as\n%s\nwhich means\n%s\nnot\n%s", src, out, b, a)
	}
}

// withoutPlaces writes down all that a set says but where.
func withoutPlaces(s *Set) string {
	var b strings.Builder
	for line := range strings.SplitSeq(string(describeSet(s)), "\n") {
		if at := strings.Index(line, ": "); at > 0 && !strings.HasPrefix(line, " ") {
			line = line[at:]
		}
		b.WriteString(line + "\n")
	}
	for _, r := range s.Rules {
		fmt.Fprintf(&b, "%q %d\n", r.Doc, len(r.Examples))
	}
	return b.String()
}

// comments returns the comments of a source, sorted by the yamlsrc package's
// printing of them: one a line.
func comments(t *testing.T, src []byte) []string {
	t.Helper()
	doc, problems := yamlsrc.Parse("f", src, yamlsrc.Options{})
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var found []string
	var walk func(n *yamlsrc.Node)
	walk = func(n *yamlsrc.Node) {
		if n == nil {
			return
		}
		found = append(found, n.Foot...)
		for _, e := range n.Entries {
			for _, c := range e.Head {
				found = append(found, c.Text)
			}
			found = append(found, e.Line...)
			walk(e.Value)
		}
	}
	found = append(found, doc.Head...)
	walk(doc.Root)
	return append(found, doc.Foot...)
}

func BenchmarkCheck(b *testing.B) {
	for _, set := range Builtins() {
		b.Run(set.Name, func(b *testing.B) {
			b.SetBytes(int64(len(set.Source)))
			b.ReportAllocs()
			for b.Loop() {
				if _, problems := (Options{}).Check(set.File(), set.Source); len(problems) > 0 {
					b.Fatal(problems)
				}
			}
		})
	}
}
