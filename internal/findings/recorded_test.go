package findings_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/findings"
	"github.com/awo-dev/awo/internal/recordings"
)

// TestFailuresOracle counts failed calls by tool in the recorded sets without any code of
// the project, and compares.
func TestFailuresOracle(t *testing.T) {
	for _, set := range recordings.Sets {
		t.Run(set.Oracle, func(t *testing.T) {
			path := recordings.Recorded(t, set.File)
			list := recordings.Read(t, path)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Skip(err)
			}
			calls, failed, flagged := oracle(t, text)
			got := map[string]int{}
			for _, f := range found(list, findings.Options{Least: 1}) {
				if f.Code != findings.Failures {
					continue
				}
				got[f.Tool] = f.Count
				if f.Of != calls[f.Tool] {
					t.Errorf("%s: of %d calls, the file has %d", f.Tool, f.Of, calls[f.Tool])
				}
			}
			for tool, n := range failed {
				if got[tool] != n {
					t.Errorf("%s: %d failed, the file says %d", tool, got[tool], n)
				}
			}
			for tool, n := range got {
				if failed[tool] != n {
					t.Errorf("%s: %d failed, the file says %d", tool, n, failed[tool])
				}
			}
			t.Logf("%d tools with failures; flags in the file agree: %v", len(failed), flagged)
		})
	}
}

// oracle counts calls with a result and failed ones by tool: by the flag of the file where
// it has one, else by the word Error that results of these benchmarks begin with.
func oracle(t *testing.T, text []byte) (calls, failed map[string]int, flagged bool) {
	t.Helper()
	type message struct {
		Role      string
		Content   any
		Error     *bool
		ToolCalls []struct {
			ID, Name string
			Function struct{ Name string }
		} `json:"tool_calls"`
		ID         string
		ToolCallID string `json:"tool_call_id"`
		Requestor  string
	}
	calls, failed = map[string]int{}, map[string]int{}
	count := func(list []message) {
		var names []string // of the calls that wait for a result, in order
		for _, m := range list {
			for _, c := range m.ToolCalls {
				if name := c.Name + c.Function.Name; m.Role == "assistant" {
					names = append(names, name)
				}
			}
			if m.Role != "tool" || len(names) == 0 {
				continue
			}
			name := names[0]
			names = names[1:]
			calls[name]++
			content, _ := m.Content.(string)
			is := strings.HasPrefix(content, "Error")
			if m.Error != nil {
				flagged = true
				is = *m.Error
			}
			if is {
				failed[name]++
			}
		}
	}
	var bench []struct{ Traj []message }
	if json.Unmarshal(text, &bench) == nil {
		for _, x := range bench {
			count(x.Traj)
		}
		return calls, failed, flagged
	}
	var two struct {
		Simulations []struct{ Messages []message }
	}
	if err := json.Unmarshal(text, &two); err != nil {
		t.Fatal(err)
	}
	for _, x := range two.Simulations {
		count(x.Messages)
	}
	return calls, failed, flagged
}
