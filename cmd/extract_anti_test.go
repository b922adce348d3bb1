package cmd

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/emit"
)

// failingRuns are 60 runs of a chain of three calls. The second fails in 24 of them,
// and agents then give up; made alone it fails in 3 of 60 runs.
func failingRuns(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	run := func(task string, calls ...[3]string) {
		fmt.Fprintf(&b, `{"messages":[{"role":"user","content":"task %s"},`, task)
		for k, c := range calls {
			fmt.Fprintf(&b, `{"role":"assistant","content":null,"tool_calls":[{"id":"c%d","type":"function","function":{"name":%q,"arguments":%q}}]},`, k, c[0], c[1])
			fmt.Fprintf(&b, `{"role":"tool","tool_call_id":"c%d","content":%q},`, k, c[2])
		}
		b.WriteString(`{"role":"assistant","content":"done"}]}` + "\n")
	}
	answer := func(fails bool) string {
		if fails {
			return "Error: sk-secret-value is not there"
		}
		return `{"state":"sent"}`
	}
	for i := range 60 {
		order := fmt.Sprintf(`{"order":"order-%d"}`, 7000+i)
		calls := [][3]string{
			{"get_customer", fmt.Sprintf(`{"id":"customer-%d"}`, i), fmt.Sprintf(`{"last_order":"order-%d"}`, 7000+i)},
			{"get_order", order, answer(i < 24)},
		}
		if i >= 24 {
			calls = append(calls, [3]string{"get_parcel", order, "{}"})
		}
		run(fmt.Sprintf("chain %d", i), calls...)
		run(fmt.Sprintf("alone %d", i), [3]string{"get_order", fmt.Sprintf(`{"order":"single-%d"}`, i), answer(i < 3)}, [3]string{"think", "{}", "{}"})
		run(fmt.Sprintf("parcel %d", i), [3]string{"get_parcel", fmt.Sprintf(`{"order":"other-%d"}`, i), "{}"}, [3]string{"think", "{}", "{}"})
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"runs.jsonl": b.String(),
		"rules.yaml": "version: 1\nrules:\n  - {id: errors, kind: status, match: {tool: get_order}, result: '^Error', is: failed}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestAntiMetaToolsAreNamed plants one, and reads of it in all that names it.
func TestAntiMetaToolsAreNamed(t *testing.T) {
	dir := failingRuns(t)
	awo := func(args ...string) string {
		t.Helper()
		c := exec.CommandContext(t.Context(), "awo", append(args, "--rules", "rules.yaml", "--quiet")...)
		c.Dir = dir
		out, err := c.CombinedOutput()
		if err != nil {
			t.Fatalf("awo %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	text := awo("extract", "runs.jsonl", "--out", "tools", "--details")
	if !strings.Contains(text, "36 of 36  fails-more-often") {
		t.Errorf("not why in\n%s", text)
	}
	var list emit.CandidatesJSON
	candidates, err := os.ReadFile(filepath.Join(dir, "tools", emit.CandidatesName))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(candidates, &list); err != nil {
		t.Fatal(err)
	}
	named := 0
	for _, c := range list.Candidates {
		if f := c.Failures; c.Anti && c.Reason == "fails-more-often" && f.Begun == 60 && f.Failed == 24 && f.Ended == 24 && f.Observed.Share > 0.39 && f.Expected.Share < 0.06 {
			named++
		}
	}
	if named != 1 {
		t.Errorf("%d candidates are named anti-meta-tools, want 1:\n%s", named, candidates)
	}
	if page := awo("backtest", "runs.jsonl", "--details"); !strings.Contains(page, "Rejected as anti-meta-tools") || !strings.Contains(page, "patterns 2.0") {
		t.Errorf("the back-test does not say how many were left out:\n%s", page)
	}
	for _, shown := range []string{text, string(candidates)} {
		if strings.Contains(shown, "sk-secret") {
			t.Error("a value is shown")
		}
	}
}
