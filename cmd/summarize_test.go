package cmd

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/summary/count"
	"github.com/awo-dev/awo/trace/formats"
)

// TestSummaryAnalyzes wants `awo analyze` of a summary to print the figures that it prints
// of the traces, for all that is counted.
func TestSummaryAnalyzes(t *testing.T) {
	files := []string{
		"office/trajectories.jsonl.gz", "../../shared/data/tau2/airline_azure-gpt-4o.json", "../../shared/data/taubench/gpt-4o-airline.json",
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if _, err := os.Stat(filepath.Join("..", "testdata", file)); err != nil {
				t.Skip("the traces are not there")
			}
			for i, counted := range []string{"", " --collapse-repeats --min-length 2 --drop-failed"} {
				if i > 0 && file != files[0] {
					break
				}
				part := filepath.Join(t.TempDir(), "part.awosum")
				runLine(t, "summarize "+file+counted+" --out "+part)
				want := counts(t, runLine(t, "analyze "+file+counted+" --by model --permutations 0"))
				got := counts(t, runLine(t, "analyze "+part+strings.ReplaceAll(counted, " --min-length 2 --drop-failed", "")+" --by model --permutations 0"))
				compareFigures(t, "", want, got)
			}
		})
	}
}

// TestSummaryCosts wants `awo cost` of a summary to print the figures that it prints of the
// traces, where these record their tokens.
func TestSummaryCosts(t *testing.T) {
	for _, file := range []string{"office/trajectories.jsonl.gz", "../../shared/data/tau2/airline_azure-gpt-4o.json", "../../shared/data/claude-code"} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			if _, err := os.Stat(filepath.Join("..", "testdata", file)); err != nil {
				t.Skip("the traces are not there")
			}
			part := filepath.Join(t.TempDir(), "part.awosum")
			runLine(t, "summarize "+file+" --out "+part)
			for _, caching := range []string{"", " --caching off"} {
				var want, got map[string]any
				for v, line := range map[*map[string]any]string{&want: "cost " + file + caching, &got: "cost " + part + caching} {
					*v = members(t, runLine(t, line))
					for _, left := range []string{"habits", "dearest", "latency", "notes"} { // not in summaries
						delete(*v, left)
					}
					if list, ok := (*v)["unknown"].([]any); ok { // texts are not in summaries, so nothing is compared with them
						(*v)["unknown"] = slices.DeleteFunc(list, func(x any) bool { return strings.Contains(x.(string), "these counts are placeholders") })
					}
				}
				if got["input_tokens"] == 0.0 {
					t.Error("there are no tokens")
				}
				compareFigures(t, "", want, got)
			}
		})
	}
}

// TestSummaryRecounts wants `awo verify` of merged parts to print what it prints of the
// traces, but for what names trajectories.
func TestSummaryRecounts(t *testing.T) {
	office, dir := "office/trajectories.jsonl.gz", t.TempDir()
	tools := filepath.Join(dir, "tools")
	runLine(t, "extract "+office+" --rules office/rules.yaml --select all --out "+tools)
	for _, other := range []string{"../cmd/testdata/script", "../../shared/data/taubench/gpt-4o-airline.json", "../../shared/data/claude-code"} {
		t.Run(filepath.Base(other), func(t *testing.T) {
			if _, err := os.Stat(filepath.Join("..", "testdata", other)); err != nil {
				t.Skip("the traces are not there")
			}
			files := []string{office, other}
			if filepath.Base(other) == "script" {
				files = files[:1]
			}
			for _, ruled := range []string{"", " --rules office/rules.yaml"} {
				var parts []string
				for i, file := range files {
					parts = append(parts, filepath.Join(t.TempDir(), "part"+string(rune('a'+i))+".awosum"))
					runLine(t, "summarize "+file+ruled+" --tools "+tools+" --out "+parts[i])
				}
				slices.Reverse(parts)
				all, merged := strings.Join(files, " ")+ruled, strings.Join(parts, " ")+ruled
				compareFigures(t, "", replays(t, runLine(t, "verify "+tools+" "+all)), replays(t, runLine(t, "verify "+tools+" "+merged)))
			}
		})
	}
}

// replays returns what a verification says of meta-tools and of prefetch rules.
func replays(t *testing.T, document []byte) any {
	t.Helper()
	v := members(t, document)
	tools, reads := v["meta_tools"].([]any), v["prefetch"].([]any)
	if len(tools) < 10 || len(reads) < 5 {
		t.Fatalf("%d meta-tools, %d prefetch rules", len(tools), len(reads))
	}
	return map[string]any{"meta_tools": jsonText(t, tools), "prefetch": reads}
}

// TestSummarizeCounts wants of `awo summarize` and of the package that pipelines count
// with the same bytes, also where files are no traces or damaged.
func TestSummarizeCounts(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"a.jsonl": `{"messages":[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"find","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"error: none"}]}` + "\n{\"messages\":[}\n",
		"b.txt":   "no trace\n",
		"c.jsonl": "",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, x := range []struct {
		flags string
		count count.Options
	}{
		{"", count.Default()},
		{" --min-length 2 --drop-failed --collapse-repeats --exclude-tool get_* --shell split --where calls<12", count.Options{
			MinLength: 2, DropFailed: true, CollapseRepeats: true, ExcludeTool: []string{"get_*"}, Shell: "split", Where: "calls<12", TurnGap: formats.DefaultTurnGap,
		}},
	} {
		files := []string{"office/trajectories.jsonl.gz", filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.txt"), filepath.Join(dir, "c.jsonl")}
		part := filepath.Join(t.TempDir(), "part.awosum")
		c := exec.CommandContext(t.Context(), "awo", append(strings.Fields("summarize --quiet --out "+part+x.flags), files...)...)
		c.Dir = filepath.Join("..", "testdata")
		if _, failed := errors.AsType[*exec.ExitError](c.Run()); !failed {
			t.Error("damaged files are no problem")
		}
		want, err := os.ReadFile(part)
		if err != nil {
			t.Fatal(err)
		}
		sum, _, err := x.count.Files(t.Context(), count.Source{Files: files, Open: func(name string) (io.ReadCloser, error) {
			if !filepath.IsAbs(name) {
				name = filepath.Join(c.Dir, name)
			}
			return os.Open(name)
		}})
		if err != nil {
			t.Fatal(err)
		}
		if got := sum.Append(nil); !bytes.Equal(got, want) {
			t.Errorf("%q: %d bytes, and of the command %d", x.flags, len(got), len(want))
		}
	}
}

// drawn are the members that follow from random draws: which tasks share a fold or are
// drawn again depends on their numbers, which summaries give by hash and traces by first
// appearance. The others are not in summaries, or name by a number.
var drawn = []string{
	"held_out", "held_out_bits", "interval", "monte_carlo", "permutation", "bias_bits",
	"warnings", "verdict", "selection", "shifts", "state", "findings", "notes", "summaries",
}

func counts(t *testing.T, document []byte) any {
	t.Helper()
	v := members(t, document)
	delete(v, "decisions")                      // summaries hold no turns
	for _, list := range []string{"variants"} { // ties come in the order of numbers
		slices.SortFunc(v[list].([]any), func(a, b any) int { return cmp.Compare(jsonText(t, a), jsonText(t, b)) })
	}
	if all := v["variants"].([]any); len(all) == 100 { // of many that are seen once any may be the hundredth
		v["variants"] = slices.DeleteFunc(all, func(x any) bool { return x.(map[string]any)["trajectories"].(float64) < 2 })
	}
	return v
}

func jsonText(t *testing.T, v any) string {
	t.Helper()
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// compareFigures compares two documents, but for what is drawn.
func compareFigures(t *testing.T, at string, want, got any) {
	t.Helper()
	switch want := want.(type) {
	case map[string]any:
		got, _ := got.(map[string]any)
		for name, w := range want {
			bound := (name == "lo" || name == "hi") && (strings.HasSuffix(at, "share") || strings.HasSuffix(at, "/use"))
			if !bound && !slices.Contains(drawn, name) {
				compareFigures(t, at+"/"+name, w, got[name])
			}
		}
	case []any:
		got, _ := got.([]any)
		if len(got) != len(want) {
			t.Errorf("%s has %d elements, want %d", at, len(got), len(want))
			return
		}
		for i := range want {
			compareFigures(t, at, want[i], got[i])
		}
	case float64:
		// Sums over sequences in another order differ in their last digits.
		if got, ok := got.(float64); !ok || math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
			t.Errorf("%s is %v, want %v", at, got, want)
		}
	default:
		if got != want {
			t.Errorf("%s is %v, want %v", at, got, want)
		}
	}
}
