package main_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/golden"
)

// How long the documentation may be, in words as wc counts them.
const (
	mostPages         = 40    // docs/decisions, without its list and its template
	mostDecisionWords = 12000 // docs/decisions
	mostManualWords   = 55000 // docs/*.md
)

// avoided are words that readers stumble over, because they are rare, ambiguous or our own
// invention; CONTRIBUTING.md says what to write. A word is all of it, in any case. "recall" is
// allowed as the measure, "stands for" as represents.
var avoided = regexp.MustCompile(strings.ReplaceAll(`(?i)\b(`+strings.Join([]string{
	`mend(s|ed|ing)?`, `anew`, `in vain`, `second hand`, `hangs? together`, `(told|tells?)( \w+)? apart`,
	`beside`, `speaks? (for|against)`, `bears?`, `doubts?`, `made at once`, `a look at`, `what is there`,
	`stands (at|in|on|below|above|behind|under|there|alone|beside)`, `errands?`, `ponds?`, `census`, `lessons?`, `digests?`,
	`recall(s|ed)`, `read(s|ing)? ahead`, `blindly`, `dearest`,
}, "|")+`)\b`, " ", `\s+`))

// spans are parts of Markdown that show code, or what a command prints.
var spans = regexp.MustCompile("(?ms)^ *```.*?^ *```|^    .*?$|`[^`\n]+`|\\]\\([^)\n]*\\)|<!-- names -->.*?<!-- /names -->")

// TestWordsOfDocs holds the documentation to the words that CONTRIBUTING.md asks for.
func TestWordsOfDocs(t *testing.T) {
	for _, pattern := range []string{"README.md", "CONTRIBUTING.md", "docs/*.md", "docs/decisions/*.md"} {
		for path, text := range documents(t, pattern) {
			prose := spans.ReplaceAllStringFunc(text, func(s string) string {
				return strings.Repeat("\n", strings.Count(s, "\n"))
			})
			for _, at := range avoided.FindAllStringIndex(prose, -1) {
				t.Errorf("%s:%d: do not write %q", path, 1+strings.Count(prose[:at[0]], "\n"), prose[at[0]:at[1]])
			}
		}
	}
}

// TestLengthOfDocs keeps the documentation short enough to be read.
func TestLengthOfDocs(t *testing.T) {
	decisions, manual, pages := 0, 0, 0
	for path, text := range documents(t, "docs/decisions/*.md") {
		decisions += len(strings.Fields(text))
		if strings.HasPrefix(filepath.Base(path), "0") {
			pages++
		}
	}
	for _, text := range documents(t, "docs/*.md") {
		manual += len(strings.Fields(text))
	}
	if pages > mostPages || decisions > mostDecisionWords {
		t.Errorf("docs/decisions has %d pages with %d words; %d and %d are the most: merge what belongs together", pages, decisions, mostPages, mostDecisionWords)
	}
	if manual > mostManualWords {
		t.Errorf("docs/*.md have %d words, %d are the most: say things once, and leave out what the help says", manual, mostManualWords)
	}
}

// documents returns the files that fit a pattern, by path.
func documents(t *testing.T, pattern string) map[string]string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("%s fits no file (%v)", pattern, err)
	}
	out := map[string]string{}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[filepath.ToSlash(path)] = string(text)
	}
	return out
}

// TestWordsOfProgram counts the same words in the texts of the program, by folder.
// testdata/words.tsv has how many there may be: none, but where they are still being replaced.
// An update lowers these numbers and never raises them.
func TestWordsOfProgram(t *testing.T) {
	found := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (strings.HasPrefix(d.Name(), ".") || slices.Contains([]string{"bin", "testdata"}, d.Name())) {
			return filepath.SkipDir
		}
		if !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		hits, err := wordsIn(path)
		folder, _, _ := strings.Cut(filepath.ToSlash(path), "/")
		found[folder] = append(found[folder], hits...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join("testdata", "words.tsv")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var lowered strings.Builder
	for line := range strings.Lines(string(text)) {
		folder, number, _ := strings.Cut(strings.TrimSpace(line), "\t")
		most, err := strconv.Atoi(number)
		if err != nil {
			t.Fatalf("%s: %q is not a folder and a number", file, line)
		}
		hits := found[folder]
		delete(found, folder)
		if len(hits) > most {
			t.Errorf("%s: %d texts with words to avoid, %d are the most:\n%s", folder, len(hits), most, strings.Join(hits, "\n"))
		}
		if n := min(most, len(hits)); n > 0 {
			fmt.Fprintf(&lowered, "%s\t%d\n", folder, n)
		}
	}
	for folder, hits := range found {
		if len(hits) > 0 {
			t.Errorf("%s: texts with words to avoid:\n%s", folder, strings.Join(hits, "\n"))
		}
	}
	if golden.Update() && lowered.String() != string(text) {
		if err := os.WriteFile(file, []byte(lowered.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// wordsIn returns where the string literals of a file have words to avoid. Literals without a
// space are names, which programs rely on.
func wordsIn(path string) ([]string, error) {
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var hits []string
	ast.Inspect(f, func(n ast.Node) bool {
		if field, ok := n.(*ast.Field); ok {
			field.Tag = nil
		}
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING && strings.Contains(literal.Value, " ") {
			text := spans.ReplaceAllString(literal.Value[1:len(literal.Value)-1], "")
			for _, word := range avoided.FindAllString(text, -1) {
				hits = append(hits, fmt.Sprintf("%s: %q", files.Position(literal.Pos()), word))
			}
		}
		return true
	})
	return hits, nil
}
