package cmd

import (
	"math"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/awo-dev/awo/cmd/internal/cli"
)

// TestFirstScreens: every number on a first screen stands in a table under --details, no
// part is of nothing, and no sentence is broken off.
func TestFirstScreens(t *testing.T) {
	inputs := []string{"../testdata/office/trajectories.jsonl.gz"}
	recorded := filepath.Join("..", "..", "shared", "data")
	for _, name := range []string{
		"tau2/airline_gpt-oss-120b.json", "tau2/airline_azure-gpt-4o.json", "tau2/retail_gpt-4.1.json", "tau2/retail_toolorchestra-gpt-5.json",
		"taubench/gpt-4o-airline.json", "claude-code", "toolgraph/livemcp/traces.atif.jsonl",
	} {
		if file := filepath.Join(recorded, filepath.FromSlash(name)); exists(file) {
			inputs = append(inputs, file)
		}
	}
	for _, input := range inputs {
		for _, command := range []string{"summary", "findings", "cost"} {
			t.Run(command+" "+filepath.Base(input), func(t *testing.T) {
				_, screen, _ := runApp(t.Context(), command+" "+input, &cli.App{})
				_, all, _ := runApp(t.Context(), command+" --details "+input, &cli.App{})
				checkScreen(t, screen, tabled(all))
			})
		}
	}
}

// cells are the numbers in tables of a text.
type cells []float64

var inTable = regexp.MustCompile(`\S {2,}\S|^ {20,}\S`)

// tabled returns the numbers in the tables of a text: of lines with columns, and of texts that
// go on below.
func tabled(text string) (out cells) {
	for line := range strings.Lines(text) {
		if inTable.MatchString(line) {
			for _, n := range numbers(line) {
				out = append(out, n.value)
			}
		}
	}
	return out
}

type number struct {
	text   string
	value  float64
	digits int
}

var isNumber = regexp.MustCompile(`^[0-9][0-9,]*(\.[0-9]+)?$`)

// numbers returns the words of a line that are numbers, without the brackets and marks
// around them.
func numbers(line string) (out []number) {
	for word := range strings.FieldsSeq(line) {
		word = strings.Trim(word, "()[];:,.¹²³")
		if !isNumber.MatchString(word) {
			continue
		}
		plain := strings.ReplaceAll(word, ",", "")
		value, err := strconv.ParseFloat(plain, 64)
		if err != nil {
			continue
		}
		_, digits, _ := strings.Cut(plain, ".")
		out = append(out, number{word, value, len(digits)})
	}
	return out
}

// has reports whether a number is one of the cells, rounded, or as a share in percent.
func (c cells) has(n number) bool {
	unit := math.Pow(10, -float64(n.digits))
	for _, v := range c {
		for _, x := range []float64{v, 100 * v} {
			if math.Abs(x-n.value) <= unit/2*(1+1e-6)+1e-12 {
				return true
			}
		}
	}
	return false
}

var (
	ofNothing = regexp.MustCompile(`\bof 0\b|\bof \.|\(\)|  ,|: *\.|\bfor \.|NaN|%!`)
	counted   = regexp.MustCompile(`[0-9,]+ more\b.*|95 % `)
)

func checkScreen(t *testing.T, screen string, tables cells) {
	t.Helper()
	text, _, _ := strings.Cut(screen, "\nNext: ")
	if text == "" || text == screen {
		t.Fatalf("there is no next step:\n%s", screen)
	}
	if found := ofNothing.FindString(text); found != "" {
		t.Errorf("it says %q:\n%s", found, screen)
	}
	first, _, _ := strings.Cut(text, "\n\n")
	if !strings.HasSuffix(first, ".") {
		t.Errorf("the answer is no sentence: %s", first)
	}
	for line := range strings.Lines(text) {
		if inTable.MatchString(line) {
			continue // of a table that --details has with more rows
		}
		for _, n := range numbers(counted.ReplaceAllString(line, "")) {
			if !tables.has(n) {
				t.Errorf("%s stands in no table under --details: %s", n.text, line)
			}
		}
	}
}
