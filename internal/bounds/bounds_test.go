package bounds_test

import (
	"go/ast"
	constants "go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/awo-dev/awo/internal/bounds"
)

// TestReached wants the same of notes in any order, from any number of goroutines and
// readings.
func TestReached(t *testing.T) {
	type note struct {
		bound *bounds.Bound
		where string
		n     int
	}
	notes := []note{{bounds.PlacesBound, "a", 3}, {bounds.PlacesBound, "b", 4}, {bounds.ValuesBound, "a", 1}, {bounds.PlacesBound, "a", 2}, {bounds.ToolsBound, "", -5}}
	want := []bounds.Report{
		{Code: "places", Of: bounds.PlacesBound.Of, Limit: bounds.Places, Places: 2, LeftOut: 7, Unit: bounds.PlacesBound.Unit},
		{Code: "values", Of: bounds.ValuesBound.Of, Limit: bounds.Values, Places: 1, LeftOut: 1, Unit: bounds.ValuesBound.Unit},
	}
	for range 3 {
		var r bounds.Reached
		var group sync.WaitGroup
		for _, n := range append(slices.Clone(notes), notes...) {
			group.Go(func() { r.Note(n.bound, n.where, n.n) })
		}
		group.Wait()
		if got := r.Reports(); !slices.Equal(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
		slices.Reverse(notes)
	}
	var none *bounds.Reached
	none.Note(bounds.PlacesBound, "a", 1)
	if got := none.Reports(); got != nil {
		t.Errorf("nil reports %+v", got)
	}
}

// limits are the constants behind the rows of docs/security.md that are not noted, in the
// order in which a row names their values: folder and name.
var limits = map[string][]string{
	"members of an object whose names are places; one with more is a list of data":  {"internal/bounds Record"},
	"a record, or a trajectory of parts, in memory":                                 {"trace DefaultMaxRecord"},
	"objects and arrays inside one another in a record":                             {"internal/jsonscan MaxDepth"},
	"objects and arrays inside one another in the text of arguments or of a result": {"internal/jsonscan MaxDepth"},
	"places remembered for one value; sources of one use":                           {"internal/dataflow maxFound", "internal/dataflow maxSources"},
	"a file that is not a trace: rules, prices, settings, maps, catalogues, keys":   {"cmd/internal/cli MaxFile"},
	"collections inside one another in rules and settings":                          {"internal/yamlsrc usualDepth"},
	"links of all kinds":                                                             {"internal/dataflow maxLinks"},
	"bytes of a value or name that rules make longer":                                {"merge maxRewritten"},
	"first bytes of a text that is looked into for values":                           {"internal/dataflow maxText"},
	"elements of a list that a prediction walks":                                     {"predict maxWalked"},
	"occurrences of a chain that are looked at for its bindings":                     {"metatool/bind maxObserved"},
	"arguments of a step that are bound":                                             {"metatool/bind maxArguments"},
	"schema of an input of a meta-tool":                                              {"metatool/bind maxSchemaDepth", "internal/jsonschema MaxInlined"},
	"bytes of one text whose tokens are counted":                                     {"cost maxText"},
	"bytes of all texts whose tokens are counted":                                    {"cost maxCounted"},
	"trajectories that teach a snapshot how sure it may be; values of one in memory": {"predict maxExamined", "predict maxBytes"},
	"reads that one answer leads to; calls that a session remembers":                 {"prefetch MaxReads", "prefetch MaxKnown"},
	"rules, names and constants of `prefetch.json`; its bytes":                       {"prefetch/stored maxRules", "prefetch/stored maxName", "prefetch/stored maxConst", "prefetch/stored MaxBytes"},
}

// unheld is the row whose values another page lists.
var unheld = []string{"an artefact that is read again"}

// TestDocumented holds every row of the table of limits in docs/security.md to the
// constants of the code, and every bound that is noted to a row.
func TestDocumented(t *testing.T) {
	text, err := os.ReadFile("../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	if !slices.IsSortedFunc(bounds.All(), func(a, b *bounds.Bound) int { return strings.Compare(a.Code, b.Code) }) {
		t.Error("All is not in the order of codes")
	}
	_, table, _ := strings.Cut(string(text), "| of what | bound |")
	found := 0
	for line := range strings.Lines(table) {
		cells := strings.Split(line, " | ")
		if len(cells) != 3 || strings.HasPrefix(line, "|--") {
			continue
		}
		found++
		of := strings.TrimPrefix(cells[0], "| ")
		var want []int
		if i := slices.IndexFunc(bounds.All(), func(b *bounds.Bound) bool { return b.Of == of }); i >= 0 {
			b := bounds.All()[i]
			want = append(want, b.Limit)
			if !strings.Contains(cells[2], "bounded, `"+b.Code+"`") {
				t.Errorf("docs/security.md does not say that %q is told of as `%s`", of, b.Code)
			}
		} else if limits[of] == nil && !slices.Contains(unheld, of) {
			t.Errorf("no constant is known for the row %q", of)
			continue
		}
		for _, name := range limits[of] {
			want = append(want, constant(t, name))
		}
		if slices.Contains(unheld, of) {
			continue
		}
		if got := quantities(cells[1]); !slices.Equal(got, want) {
			t.Errorf("docs/security.md says %s of %q; the constants are %d", cells[1], of, want)
		}
	}
	if all := len(bounds.All()) + len(limits) + len(unheld); found != all {
		t.Errorf("docs/security.md has %d rows, want %d", found, all)
	}
}

var quantity = regexp.MustCompile(`([0-9][0-9,]*)( [KM]iB)?`)

// quantities returns the numbers of a text, those with a unit in bytes.
func quantities(text string) []int {
	var out []int
	for _, m := range quantity.FindAllStringSubmatch(text, -1) {
		n, err := strconv.Atoi(strings.ReplaceAll(m[1], ",", ""))
		if err != nil {
			continue
		}
		out = append(out, n<<map[string]int{"": 0, " KiB": 10, " MiB": 20}[m[2]])
	}
	return out
}

// constant returns the value of a constant, "folder name", as the source has it.
func constant(t *testing.T, path string) int {
	t.Helper()
	folder, name, _ := strings.Cut(path, " ")
	files, err := filepath.Glob("../../" + folder + "/*.go")
	if err != nil {
		t.Fatal(err)
	}
	set := token.NewFileSet()
	for _, file := range files {
		parsed, err := parser.ParseFile(set, file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			group, ok := d.(*ast.GenDecl)
			if !ok || group.Tok != token.CONST {
				continue
			}
			for _, s := range group.Specs {
				spec, ok := s.(*ast.ValueSpec)
				if !ok || len(spec.Values) != 1 || spec.Names[0].Name != name {
					continue
				}
				value, err := types.Eval(set, nil, token.NoPos, types.ExprString(spec.Values[0]))
				if err != nil {
					t.Fatal(err)
				}
				n, _ := constants.Int64Val(value.Value)
				return int(n)
			}
		}
	}
	t.Errorf("there is no constant %s in %s", name, folder)
	return 0
}
