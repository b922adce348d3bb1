package entropy_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// excerpt is what of a recorded set its figures of order follow from, without a word
// of it: which call followed which, tools and tasks as numbers. The figures are those
// that the independent program computed of the set.
type excerpt struct {
	Set                 string
	Tools               int
	Sequences           [][]int
	Tasks               []int
	Analysis, Collapsed expected
}

const excerptFile = "testdata/airline_azure-gpt-4o.json"

// TestExcerpt compares with figures of the independent program where the recorded
// traces are not beside the project.
func TestExcerpt(t *testing.T) {
	data, err := os.ReadFile(excerptFile)
	if err != nil {
		t.Fatal(err)
	}
	var e excerpt
	if err := json.Unmarshal(data, &e); err != nil {
		t.Fatal(err)
	}
	r := e.recorded()
	if len(r.names) != e.Tools || len(r.Sequences) < 40 {
		t.Fatalf("%d tools in %d sequences: not what was taken", len(r.names), len(r.Sequences))
	}
	t.Run("all calls", func(t *testing.T) { e.Analysis.check(t, r) })
	for i, s := range r.Sequences {
		r.Sequences[i] = slices.Compact(slices.Clone(s))
	}
	t.Run("repeats collapsed", func(t *testing.T) { e.Collapsed.check(t, r) })
}

// TestExcerptIsTaken compares the excerpt with the recorded set and all its figures.
func TestExcerptIsTaken(t *testing.T) {
	r := read(t, "tau2/airline_azure-gpt-4o.json", tau2)
	figures, err := os.ReadFile("../../shared/oracle/airline_azure-gpt-4o.expected.json")
	if err != nil {
		t.Skip("the expected figures are not beside the project")
	}
	var all struct {
		Analysis  expected
		Collapsed expected `json:"analysis_collapse_repeats"`
	}
	if err := json.Unmarshal(figures, &all); err != nil {
		t.Fatal(err)
	}
	e := excerpt{Set: filepath.Base(excerptFile), Tools: len(r.names), Analysis: all.Analysis, Collapsed: all.Collapsed}
	for i, s := range r.Sequences {
		numbers := []int{}
		for _, symbol := range s {
			numbers = append(numbers, int(symbol))
		}
		e.Sequences, e.Tasks = append(e.Sequences, numbers), append(e.Tasks, int(r.Tasks[i]))
	}
	for _, figures := range []*expected{&e.Analysis, &e.Collapsed} {
		for i := range figures.Successors {
			s := &figures.Successors[i]
			for j := range s.Context {
				s.Context[j] = numbered(r.names, s.Context[j])
			}
			for j := range s.Top {
				s.Top[j].Tool = numbered(r.names, s.Top[j].Tool)
			}
		}
	}
	want, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(excerptFile)
	if err != nil || string(got) != string(want)+"\n" {
		t.Errorf("%s is not what the recorded set gives (%v); it would be\n%s", excerptFile, err, want)
	}
}

// numbered names a tool by its place in alphabetical order.
func numbered(names []string, name string) string {
	return fmt.Sprintf("tool %02d", slices.Index(names, name))
}

func (e excerpt) recorded() recorded {
	var sequences [][]string
	var tasks []string
	for i, s := range e.Sequences {
		named := []string{}
		for _, tool := range s {
			named = append(named, fmt.Sprintf("tool %02d", tool))
		}
		sequences, tasks = append(sequences, named), append(tasks, fmt.Sprint(e.Tasks[i]))
	}
	return number(sequences, tasks)
}
