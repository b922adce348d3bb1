package cmd

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// plainWords are those of headings that everybody knows in the sense that they have there:
// a word of the field that is not among them belongs into docs/glossary.md.
const plainWords = `
	a advice after again all and any asked at attached avoided back because before by cached change choice chosen comes command completed cost difference
	does edge endpoint environment every exact figure for from guessed handed hindsight id in input is its kind look made mean meaning model money most name next
	not nothing of on once one or order output per predicted promised ratio reason rejected right row saved second set setting share strategy sure table
	tasks ten than that the there times to tool total type until usd use value way what when with without
`

// terms returns the words of the glossary, one element for each row.
func terms(t *testing.T) (rows [][]string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "glossary.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`(?m)^\| ([^|]+) \| [^|]+ \|$`).FindAllStringSubmatch(string(text), -1) {
		if m[1] != "word" {
			rows = append(rows, strings.Split(m[1], ", "))
		}
	}
	return rows
}

// TestGlossary holds the glossary to its size and order, and the headings of tables that
// commands print by default to it: a heading says what everybody understands, or a term
// that the glossary explains.
func TestGlossary(t *testing.T) {
	rows := terms(t)
	if n := len(rows); n == 0 || n > 40 {
		t.Errorf("%d terms; 40 can be learnt", n)
	}
	if !slices.IsSortedFunc(rows, func(a, b []string) int { return strings.Compare(a[0], b[0]) }) {
		t.Error("the terms are not sorted")
	}
	plain, known := map[string]bool{}, map[string]bool{}
	for _, word := range strings.Fields(plainWords) {
		plain[word], known[word] = true, true
	}
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return !unicode.IsLetter(r) && r != '-' })
	}
	for _, row := range rows {
		for _, term := range row {
			for _, word := range words(term) {
				if plain[word] && len(words(term)) == 1 {
					t.Errorf("%q is a term and said to be plain", word)
				}
				known[word] = true
			}
		}
	}
	isKnown := func(word string) bool {
		word = strings.Trim(word, "-")
		for _, one := range []string{word, strings.TrimSuffix(word, "s"), strings.TrimSuffix(word, "es"), strings.TrimSuffix(word, "ies") + "y"} {
			if known[one] {
				return true
			}
		}
		return len(word) < 2
	}
	const office = "testdata/office/trajectories.jsonl.gz"
	for _, command := range []string{
		"summary " + office, "inspect " + office, "analyze --permutations 0 " + office, "cost --lazy " + office, "graph " + office, "tools graph " + office,
		"extract --sample 60 " + office, "backtest --sample 60 --techniques none,patterns,prefetch,all " + office, "replay --sample 60 " + office,
		"show " + office, "compare " + office + " " + office, "compare testdata/served/recordings.jsonl --look", "tools subset --sample 60 --folds 2 " + office, "help config",
	} {
		c := exec.CommandContext(t.Context(), "awo", append(strings.Fields(command), "--quiet")...)
		c.Dir = ".."
		out, err := c.Output()
		if err != nil {
			t.Fatalf("awo %s: %v", command, err)
		}
		before, headings := "", 0
		for line := range strings.Lines(string(out)) {
			if strings.HasPrefix(line, "────") {
				headings++
				for _, word := range words(before) {
					if !isKnown(word) {
						t.Errorf("awo %s: %q in the heading %q is neither plain nor in the glossary", command, word, strings.TrimSpace(before))
					}
				}
			}
			before = line
		}
		if headings == 0 && !strings.HasPrefix(command, "summary") {
			t.Errorf("awo %s prints no table", command)
		}
	}
}
