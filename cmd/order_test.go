package cmd

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
)

// TestAnyOrder holds figures that rest on folds to the last digit: in any order and any division
// of the same traces into files, and for entropies of summaries of the parts.
func TestAnyOrder(t *testing.T) {
	text := recordings.Unpacked(t, "../testdata/office/trajectories.jsonl.gz")
	lines := bytes.SplitAfter(bytes.TrimSuffix(text, []byte("\n")), []byte("\n"))
	lines[len(lines)-1] = append(bytes.Clone(lines[len(lines)-1]), '\n')
	dir := t.TempDir()
	write := func(name string, lines [][]byte) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, bytes.Join(lines, nil), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	whole := write("whole.jsonl", lines)
	rand.New(rand.NewPCG(5, 6)).Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	summaries := ""
	for i, cut := range []int{0, 40, 41, 170} {
		end := []int{40, 41, 170, len(lines)}[i]
		part := write(fmt.Sprintf("parts/%d.jsonl", 9-i), lines[cut:end])
		out := filepath.Join(dir, fmt.Sprintf("%d.awosum", i))
		runLine(t, "summarize "+part+" --out "+out)
		summaries += " " + out
	}
	parts := filepath.Join(dir, "parts")
	for _, tc := range []struct {
		command, of, other string
		members            []string
	}{
		{"analyze %s", whole, parts, []string{"orders", "tests", "held_out", "tools", "successors", "variants"}},
		{"analyze %s", whole, summaries, []string{"orders", "held_out"}},
		{"backtest %s --techniques patterns,prefetch,inertia", whole, parts, []string{"techniques", "recommendation", "ways"}},
		{"extract %s --verdict never", whole, parts, []string{"meta_tools", "choice"}},
	} {
		a, b := membersOf(t, fmt.Sprintf(tc.command, tc.of)), membersOf(t, fmt.Sprintf(tc.command, tc.other))
		for _, name := range tc.members {
			if a[name] == nil {
				t.Errorf("%s: there is no %s", tc.command, name)
			}
			if !reflect.DeepEqual(a[name], b[name]) {
				x, _ := json.Marshal(a[name])
				y, _ := json.Marshal(b[name])
				t.Errorf("%s of %s: %s is\n%.3000s\nwant\n%.3000s", tc.command, tc.other, name, y, x)
			}
		}
	}
}

// membersOf are the members of the JSON of a command, its figures and its tables.
func membersOf(t *testing.T, line string) map[string]any {
	t.Helper()
	var out map[string]any
	if err := json.Unmarshal(runJSON(t, line), &out); err != nil {
		t.Fatal(err)
	}
	for _, of := range []string{"figures", "tables"} {
		members, _ := out[of].(map[string]any) // nil for what has none
		maps.Copy(out, members)
	}
	return out
}
