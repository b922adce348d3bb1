package entropy_test

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/awo-dev/awo/entropy"
	"github.com/awo-dev/awo/entropy/ngram"
	"github.com/awo-dev/awo/internal/stat"
)

// recorded is a set of recorded traces, read with as little of awo as possible.
type recorded struct {
	names []string // of tools, by symbol: in alphabetical order
	entropy.Sample
}

// read returns one of the recorded traces kept beside the project.
func read(t testing.TB, path string, extract func(data []byte) (sequences [][]string, tasks []string, err error)) recorded {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("../../shared/data", path))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the recorded traces are not beside the project")
	}
	if err != nil {
		t.Fatal(err)
	}
	sequences, tasks, err := extract(data)
	if err != nil {
		t.Fatal(err)
	}
	return number(sequences, tasks)
}

// number gives tools and tasks their numbers.
func number(sequences [][]string, tasks []string) recorded {
	var r recorded
	r.names = slices.Compact(slices.Sorted(slices.Values(slices.Concat(sequences...))))
	numbers := map[string]uint32{}
	for i, s := range sequences {
		q := make([]uint32, len(s))
		for j, name := range s {
			symbol, _ := slices.BinarySearch(r.names, name)
			q[j] = uint32(symbol)
		}
		if _, ok := numbers[tasks[i]]; !ok {
			numbers[tasks[i]] = uint32(len(numbers))
		}
		r.Sequences, r.Tasks = append(r.Sequences, q), append(r.Tasks, numbers[tasks[i]])
	}
	return r
}

func tauBench(data []byte) (sequences [][]string, tasks []string, err error) {
	var runs []struct {
		Task json.Number `json:"task_id"`
		Traj []struct {
			Role  string
			Calls []struct{ Function struct{ Name string } } `json:"tool_calls"`
		}
	}
	err = json.Unmarshal(data, &runs)
	for _, r := range runs {
		var s []string
		for _, m := range r.Traj {
			if m.Role == "assistant" {
				for _, c := range m.Calls {
					s = append(s, c.Function.Name)
				}
			}
		}
		sequences, tasks = append(sequences, s), append(tasks, r.Task.String())
	}
	return sequences, tasks, err
}

func tau2(data []byte) (sequences [][]string, tasks []string, err error) {
	var file struct {
		Simulations []struct {
			Task     string `json:"task_id"`
			Messages []struct {
				Role  string
				Calls []struct{ Name, Requestor string } `json:"tool_calls"`
			}
		}
	}
	err = json.Unmarshal(data, &file)
	for _, r := range file.Simulations {
		var s []string
		for _, m := range r.Messages {
			if m.Role == "assistant" {
				for _, c := range m.Calls {
					if c.Requestor != "user" {
						s = append(s, c.Name)
					}
				}
			}
		}
		sequences, tasks = append(sequences, s), append(tasks, r.Task)
	}
	return sequences, tasks, err
}

// toolBench reads the tool messages of ToolBench's answers, whose texts are cut
// off: {'name': '...', ...
func toolBench(data []byte) (sequences [][]string, tasks []string, err error) {
	type message struct {
		Role, Message string
		Next          []message
	}
	var file map[string]struct {
		Answer struct {
			Details []message `json:"answer_details"`
		}
	}
	err = json.Unmarshal(data, &file)
	const before = "{'name': '"
	for _, id := range slices.Sorted(maps.Keys(file)) {
		var s []string
		for at := file[id].Answer.Details; len(at) > 0; at = at[0].Next {
			if m := at[0]; m.Role == "tool" && len(m.Message) > len(before) {
				name := m.Message[len(before):]
				if end := strings.IndexByte(name, '\''); end > 0 {
					s = append(s, name[:end])
				}
			}
		}
		sequences, tasks = append(sequences, s), append(tasks, id)
	}
	return sequences, tasks, err
}

func (r recorded) counts(k int) *ngram.Counts {
	return ngram.Count(k, slices.Values(r.Sequences))
}

// expected is the part of the independent program's figures that is compared.
type expected struct {
	Trajectories, Calls uint64
	Tools               int
	HMax                float64 `json:"h_max_bits"`
	Orders              []struct {
		K, Contexts, Cells int
		N                  uint64
		Bits               float64
		MillerMadow        float64 `json:"miller_madow_bits"`
	}
	Tests []struct {
		From, To int
		N        uint64
		G2       float64
		G2Paper  float64         `json:"g2_paper"`
		DF       entropy.Freedom `json:"df"`
	}
	H1Paper    float64 `json:"h1_paper_bits"`
	Successors []struct {
		Context []string
		N       uint64
		Top     []struct {
			Tool  string
			Count uint64
		}
	}
}

func same(t *testing.T, what string, got stat.Figure, want float64) {
	t.Helper()
	if math.Abs(got.Float()-want) > 1e-9*max(math.Abs(want), 1e-3) || !got.Known() {
		t.Errorf("%s = %.15g, want %.15g", what, got.Float(), want)
	}
}

func TestRecordedTraces(t *testing.T) {
	for name, format := range map[string]func([]byte) ([][]string, []string, error){
		"taubench/gpt-4o-airline.json":         tauBench,
		"tau2/airline_azure-gpt-4o.json":       tau2,
		"tau2/airline_gpt-oss-120b.json":       tau2,
		"tau2/retail_gpt-4.1.json":             tau2,
		"tau2/retail_toolorchestra-gpt-5.json": tau2,
	} {
		t.Run(filepath.Base(name), func(t *testing.T) {
			r := read(t, name, format)
			oracle := filepath.Base(name[:len(name)-len(".json")])
			data, err := os.ReadFile(filepath.Join("../../shared/oracle", oracle+".expected.json"))
			if errors.Is(err, fs.ErrNotExist) {
				t.Skip("the expected figures are not beside the project")
			}
			var want struct {
				Analysis  expected
				Collapsed expected `json:"analysis_collapse_repeats"`
			}
			if err := errors.Join(err, json.Unmarshal(data, &want)); err != nil {
				t.Fatal(err)
			}
			t.Run("all calls", func(t *testing.T) { want.Analysis.check(t, r) })
			for i, s := range r.Sequences {
				r.Sequences[i] = slices.Compact(slices.Clone(s))
			}
			t.Run("repeats collapsed", func(t *testing.T) { want.Collapsed.check(t, r) })
		})
	}
}

func (want expected) check(t *testing.T, r recorded) {
	c := r.counts(len(want.Orders) - 1)
	a := entropy.Analyze(c, entropy.Options{Permutations: -1})
	if a.Sequences != want.Trajectories || a.Symbols != want.Calls || a.Distinct != want.Tools {
		t.Errorf("%d calls of %d tools in %d trajectories, want %d of %d in %d",
			a.Symbols, a.Distinct, a.Sequences, want.Calls, want.Tools, want.Trajectories)
	}
	same(t, "H_max", a.HMax, want.HMax)
	same(t, "the paper's H_1", a.H1Paper, want.H1Paper)
	paper := entropy.Analyze(c, entropy.Options{Permutations: -1, AutoTool: true})
	same(t, "H_1 of the preset", paper.Orders[1].Bits, want.H1Paper)
	for k, w := range want.Orders {
		o := a.Orders[k]
		if o.K != w.K || o.N != w.N || o.Contexts != w.Contexts || o.Cells != w.Cells {
			t.Errorf("order %d: %+v, want %+v", k, o, w)
		}
		same(t, "H_"+strconv.Itoa(k), o.Bits, w.Bits)
		same(t, "Miller-Madow's H_"+strconv.Itoa(k), o.MillerMadow, w.MillerMadow)
	}
	if len(a.Tests) != len(want.Tests) {
		t.Fatalf("%d tests, want %d", len(a.Tests), len(want.Tests))
	}
	for i, w := range want.Tests {
		x := a.Tests[i]
		if x.From != w.From || x.To != w.To || x.N != w.N || x.DFAll != w.DF || x.DF != w.DF.Observed {
			t.Errorf("test %d: %+v, want %+v", i, x, w)
		}
		same(t, "G2", x.G2, w.G2)
		same(t, "the paper's G2", x.G2Paper, w.G2Paper)
		p := paper.Tests[i]
		if p.DF != w.DF.Paper || p.Convention != entropy.Paper {
			t.Errorf("test %d of the preset has %v degrees of freedom by %q, want %v", i, p.DF, p.Convention, w.DF.Paper)
		}
		same(t, "G2 of the preset", p.G2, w.G2Paper)
		same(t, "p of the preset", p.Log10P, entropy.ChiSquareTail(w.DF.Paper, w.G2Paper).Float())
	}
	contexts := entropy.Contexts(c, entropy.ContextOptions{Most: len(want.Successors), Top: 3})
	for i, w := range want.Successors {
		x := contexts[i]
		if len(x.Symbols) != 1 || r.names[x.Symbols[0]] != w.Context[0] || x.N != w.N || len(x.Next) != len(w.Top) {
			t.Errorf("context %d: %+v of %s, want %+v", i, x, r.names[x.Symbols[0]], w)
			continue
		}
		for j, s := range w.Top {
			if r.names[x.Next[j].Symbol] != s.Tool || x.Next[j].N != s.Count {
				t.Errorf("after %s: %s %d times at place %d, want %s %d times",
					w.Context[0], r.names[x.Next[j].Symbol], x.Next[j].N, j, s.Tool, s.Count)
			}
		}
	}
}

// TestToolBenchIsSparse: the plug-in of order 1 is under one bit over 191 tools,
// on 410 windows. That is no habit.
func TestToolBenchIsSparse(t *testing.T) {
	r := read(t, "toolbench/cot/G3_instruction.json", toolBench)
	a := entropy.Analyze(r.counts(3), entropy.Options{})
	a.AddHeldOut(ngram.HeldOut(3, r.Sequences, r.Tasks, ngram.HeldOutOptions{}), entropy.Options{})
	if a.Distinct != 191 || a.Symbols != 510 || a.Orders[1].Bits.Float() > 1 {
		t.Fatalf("%d calls of %d tools with H_1 = %v: not what was recorded", a.Symbols, a.Distinct, a.Orders[1].Bits.Float())
	}
	if a.Verdict.Code != entropy.VerdictSparse || !a.Orders[1].BiasDominated || a.HeldOut.Orders[1].Bits.Float() < 5 {
		t.Errorf("%+v, order 1 %+v, held out %+v", a.Verdict, a.Orders[1], a.HeldOut.Orders[1])
	}
	if len(a.HeldOut.Warnings) != 1 || a.HeldOut.Warnings[0].Code != entropy.WarnUnseen {
		t.Errorf("warnings %+v, want one of unseen tools", a.HeldOut.Warnings)
	}
}

// TestTrialsLeak: by trajectory, a model has seen other trials of the task that
// it predicts.
func TestTrialsLeak(t *testing.T) {
	r := read(t, "taubench/gpt-4o-airline.json", tauBench)
	bits := func(tasks []uint32) float64 {
		total := ngram.HeldOut(2, r.Sequences, tasks, ngram.HeldOutOptions{}).Total()
		if total.N != 1164 {
			t.Fatalf("%d calls were predicted, not all 1164", total.N)
		}
		return total.Bits[2] / float64(total.N)
	}
	// The figures in docs/statistics.md.
	if task, trajectory := bits(r.Tasks), bits(each(len(r.Tasks))); math.Abs(task-2.32) > 0.005 || math.Abs(trajectory-2.09) > 0.005 {
		t.Errorf("%.4f bits by task and %.4f by trajectory, want 2.32 and 2.09", task, trajectory)
	}
}
