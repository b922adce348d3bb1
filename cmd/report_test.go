package cmd

import (
	"reflect"
	"slices"
	"testing"
)

// TestReportSaysWhatCommandsSay holds the sections of a report to the commands that
// they name: the same figures, to the digit.
func TestReportSaysWhatCommandsSay(t *testing.T) {
	traces := "office/trajectories.jsonl.gz --sample 60"
	decoded := func(args string) map[string]any { return members(t, runJSON(t, args)) }
	page := decoded("report " + traces + " --rules office/rules.yaml --exclude-tool supervisor_*")
	for command, args := range map[string]string{"backtest": traces + " --rules office/rules.yaml", "cost": traces} {
		section, _ := page[command].(map[string]any)
		if section == nil {
			t.Fatalf("the report has no member %s", command)
		}
		alone := decoded(command + " " + args)
		for name, want := range alone {
			got, inside := section[name]
			if !inside {
				got = page[name] // a table of the page
			}
			if name == "notes" || name == "input" || command == "backtest" && slices.Contains([]string{"findings", "interactions", "agents", "techniques"}, name) {
				continue
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s: %s is not that of awo %s", command, name, command)
			}
		}
	}
}
