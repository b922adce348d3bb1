package comparing

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/contrast"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
)

// TestGates: a change within its limit passes, one beyond it fails if chance does not explain
// it, and else is inconclusive with how many more runs would decide.
func TestGates(t *testing.T) {
	for _, test := range []struct {
		gate          string
		before, after float64
		p, adjusted   float64
		verdict       string
		change        float64
		more          bool
	}{
		{"cost > +10%", 1, 1.05, 0.001, 0.001, gatePassed, 5, false},
		{"cost > +10%", 1, 1.2, 0.001, 0.01, gateFailed, 20, false},
		{"money > 10 %", 1, 1.2, 0.05, 0.5, gateInconclusive, 20, true},
		{"cost > -10%", 1, 0.95, 0.001, 0.01, gateInconclusive, -5, false}, // it fell, by less than was wanted
		{"success < -2%", 0.5, 0.4, 0.001, 0.01, gateFailed, -10, false},
		{"success < -2%", 0.5, 0.49, 0.001, 0.01, gatePassed, -1, false},
		{"loops > 0", 0, 2, 0.001, 0.01, gateFailed, 2, false},
		{"failed calls > +50%", 0, 2, 0.001, 0.01, gateInconclusive, 0, false}, // no share of nothing
	} {
		gates, err := readGates(test.gate)
		if err != nil {
			t.Fatal(err)
		}
		e := contrast.Estimate{
			Before: stat.Known(test.before), After: stat.Known(test.after), Difference: stat.Known(test.after - test.before),
			P: stat.Known(test.p), PAdjusted: stat.Known(test.adjusted),
		}
		row := gates[0].judge(&e, 40)
		change, _ := row.Change.Value()
		if row.Verdict != test.verdict || row.More > 0 != test.more || change-test.change > 1e-9 || test.change-change > 1e-9 {
			t.Errorf("%s: %+v", test.gate, row)
		}
	}
	for text, want := range map[string]string{
		"cost > +10%, sucess < -2%": "--fail-on:1:14:",
		"cost":                      "--fail-on:1:1:",
		"cost > ten":                "--fail-on:1:1:",
	} {
		if _, err := readGates(text); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestOutcomes: what a file says of a session or trajectory counts, then the condition; without
// either what was recorded stays.
func TestOutcomes(t *testing.T) {
	score := func(x float64) *float64 { return &x }
	folder := t.TempDir()
	for name, text := range map[string]string{
		"a.jsonl": `{"id": "1", "success": true}` + "\n\n" + `{"session": "s2", "score": 0.7}` + "\n" + `{"id": "3", "success": "no"}`,
		"a.csv":   "id,success,score\n1,true,\ns2,,0.7\n3,no,\n",
	} {
		file := filepath.Join(folder, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		judge, err := OutcomeOptions{Outcomes: file, Success: "reward >= 0.6"}.Judge()
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			run  trace.Trajectory
			want trace.Outcome
		}{
			{trace.Trajectory{ID: "1"}, trace.OutcomeSuccess},
			{trace.Trajectory{ID: "2", Session: "s2", Outcome: trace.OutcomeFailure}, trace.OutcomeSuccess},
			{trace.Trajectory{ID: "3", Score: score(1)}, trace.OutcomeFailure},
			{trace.Trajectory{ID: "4", Score: score(0.99), Outcome: trace.OutcomeFailure}, trace.OutcomeSuccess},
			{trace.Trajectory{ID: "5", Score: score(0.5)}, trace.OutcomeFailure},
			{trace.Trajectory{ID: "6", Outcome: trace.OutcomeSuccess}, trace.OutcomeSuccess},
			{trace.Trajectory{ID: "7"}, trace.OutcomeUnknown},
		} {
			if judge.Outcome(&test.run); test.run.Outcome != test.want {
				t.Errorf("%s, trajectory %s: %v, want %v", name, test.run.ID, test.run.Outcome, test.want)
			}
		}
	}
	broken, err := OutcomeOptions{Success: `tools()[0] == "submit"`}.Judge()
	if err != nil {
		t.Fatal(err)
	}
	if broken.Outcome(&trace.Trajectory{ID: "8"}); broken.Err() == nil || !strings.Contains(broken.Err().Error(), "cannot be evaluated") {
		t.Errorf("a condition on the first tool of a run without calls: %v", broken.Err())
	}
	for text, want := range map[string]string{
		"{\"id\": \"1\", \"success\": true}\n{": "bad:2:1:", `{"id": "1"}`: "bad:1:1:", `{"id": "1", "success": "maybe"}`: "bad:1:1:",
		"id,score\n1,high\n": "bad:2:1:", "id,score\n1,2,3\n": "bad:2:", `{"success": true}`: "bad:1:1:",
	} {
		file := filepath.Join(folder, "bad")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := (OutcomeOptions{Outcomes: file}).Judge(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
