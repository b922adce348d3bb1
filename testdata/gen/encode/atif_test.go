package encode_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/awo-dev/awo/testdata/gen/encode"
	"github.com/awo-dev/awo/testdata/gen/office"
)

// runs returns the runs of a small corpus, with drift, so that both editions of
// the tools are there.
func runs(t testing.TB) []*office.Run {
	t.Helper()
	o, err := office.New(office.Options{Seed: 8, Trajectories: 160, Tokens: office.Approximate, Drift: true})
	if err != nil {
		t.Fatal(err)
	}
	var list []*office.Run
	for r := range o.Runs() {
		list = append(list, r)
	}
	return list
}

// strict decodes JSON and refuses members that the target does not know.
func strict(t testing.TB, data []byte, v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%v in %.300s", err, data)
	}
}

// The tables of the specification of ATIF 1.7, section II. Its schemas allow no
// further members; extra objects hold anything.
type (
	atifTrajectory struct {
		SchemaVersion string `json:"schema_version"`
		SessionID     string `json:"session_id"`
		TrajectoryID  string `json:"trajectory_id"`
		Agent         struct {
			Name            string            `json:"name"`
			Version         string            `json:"version"`
			ModelName       string            `json:"model_name"`
			ToolDefinitions []json.RawMessage `json:"tool_definitions"`
		} `json:"agent"`
		Steps        []atifStep     `json:"steps"`
		FinalMetrics map[string]int `json:"final_metrics"`
		Extra        map[string]any `json:"extra"`
	}
	atifStep struct {
		StepID           int             `json:"step_id"`
		Timestamp        string          `json:"timestamp"`
		Source           string          `json:"source"`
		Message          *string         `json:"message"`
		ReasoningContent string          `json:"reasoning_content"`
		ToolCalls        []atifCall      `json:"tool_calls"`
		Observation      *atifResults    `json:"observation"`
		Metrics          *atifMetrics    `json:"metrics"`
		LLMCallCount     *int            `json:"llm_call_count"`
		Extra            json.RawMessage `json:"extra"`
	}
	atifCall struct {
		ToolCallID   string         `json:"tool_call_id"`
		FunctionName string         `json:"function_name"`
		Arguments    map[string]any `json:"arguments"`
		Extra        struct {
			Awo struct{ Status, Start, End string }
		} `json:"extra"`
	}
	atifResults struct {
		Results []atifResult `json:"results"`
	}
	atifResult struct {
		SourceCallID string `json:"source_call_id"`
		Content      string `json:"content"`
	}
	atifMetrics struct {
		PromptTokens     int            `json:"prompt_tokens"`
		CompletionTokens int            `json:"completion_tokens"`
		CachedTokens     int            `json:"cached_tokens"`
		Extra            map[string]int `json:"extra"`
	}
)

// check returns what the specification forbids about a trajectory.
func (a *atifTrajectory) check() error {
	if a.SchemaVersion != "ATIF-v1.7" || a.Agent.Name == "" || a.Agent.Version == "" || len(a.Steps) == 0 {
		return fmt.Errorf("required members are missing")
	}
	for i, s := range a.Steps {
		if s.StepID != i+1 {
			return fmt.Errorf("step %d has step_id %d", i+1, s.StepID)
		}
		if _, err := time.Parse(time.RFC3339, s.Timestamp); err != nil {
			return fmt.Errorf("step %d: %w", i+1, err)
		}
		if s.Message == nil {
			return fmt.Errorf("step %d has no message", i+1)
		}
		if s.Source != "agent" && (s.Source != "user" && s.Source != "system" || s.ToolCalls != nil || s.Metrics != nil || s.ReasoningContent != "") {
			return fmt.Errorf("step %d from %q has members of an agent's step", i+1, s.Source)
		}
		ids := make(map[string]bool)
		for _, c := range s.ToolCalls {
			if c.ToolCallID == "" || c.FunctionName == "" || c.Arguments == nil || ids[c.ToolCallID] {
				return fmt.Errorf("step %d: call %+v", i+1, c)
			}
			ids[c.ToolCallID] = true
		}
		if s.Observation != nil {
			for _, r := range s.Observation.Results {
				if !ids[r.SourceCallID] {
					return fmt.Errorf("step %d: result of %q, which is no call of the step", i+1, r.SourceCallID)
				}
			}
		}
		if m := s.Metrics; m != nil && (m.CachedTokens > m.PromptTokens || s.LLMCallCount == nil || *s.LLMCallCount != 1) {
			return fmt.Errorf("step %d: metrics %+v", i+1, m)
		}
	}
	return nil
}

func TestATIFIsValid(t *testing.T) {
	for _, r := range runs(t) {
		line := encode.ATIF(nil, r)
		if n := bytes.IndexByte(line, '\n'); n != len(line)-1 {
			t.Fatalf("%s: a line break at %d of %d", r.ID, n, len(line))
		}
		var a atifTrajectory
		strict(t, line, &a)
		if err := a.check(); err != nil {
			t.Fatalf("%s: %v", r.ID, err)
		}
		var input, output, cached int
		for _, s := range a.Steps {
			if s.Metrics != nil {
				input, output, cached = input+s.Metrics.PromptTokens, output+s.Metrics.CompletionTokens, cached+s.Metrics.CachedTokens
			}
		}
		want := map[string]int{
			"total_steps": len(a.Steps), "total_prompt_tokens": input, "total_completion_tokens": output, "total_cached_tokens": cached,
		}
		if fmt.Sprint(a.FinalMetrics) != fmt.Sprint(want) {
			t.Errorf("%s: final metrics are %v, steps say %v", r.ID, a.FinalMetrics, want)
		}
		if len(a.Agent.ToolDefinitions) != len(r.Tools) {
			t.Errorf("%s: %d definitions of %d tools", r.ID, len(a.Agent.ToolDefinitions), len(r.Tools))
		}
	}
}

// TestATIFCheckRejects: the check of this test is worth something only if it
// refuses what the specification forbids.
func TestATIFCheckRejects(t *testing.T) {
	var valid []byte
	for _, r := range runs(t) {
		if len(r.Calls()) > 2 {
			valid = encode.ATIF(nil, r)
			break
		}
	}
	message := "m"
	for name, spoil := range map[string]func(*atifTrajectory){
		"version":            func(a *atifTrajectory) { a.SchemaVersion = "ATIF-v2.0" },
		"no agent version":   func(a *atifTrajectory) { a.Agent.Version = "" },
		"no steps":           func(a *atifTrajectory) { a.Steps = nil },
		"gap in step ids":    func(a *atifTrajectory) { a.Steps[2].StepID = 9 },
		"time":               func(a *atifTrajectory) { a.Steps[1].Timestamp = "yesterday" },
		"no message":         func(a *atifTrajectory) { a.Steps[1].Message = nil },
		"metrics of a user":  func(a *atifTrajectory) { a.Steps[1].Metrics = &atifMetrics{} },
		"unknown source":     func(a *atifTrajectory) { a.Steps[1].Source = "tool"; a.Steps[1].Message = &message },
		"result of no call":  func(a *atifTrajectory) { a.Steps[2].Observation.Results[0].SourceCallID = "other" },
		"call without name":  func(a *atifTrajectory) { a.Steps[2].ToolCalls[0].FunctionName = "" },
		"more cached tokens": func(a *atifTrajectory) { a.Steps[2].Metrics.CachedTokens = 1 << 30 },
	} {
		var a atifTrajectory
		strict(t, valid, &a)
		if err := a.check(); err != nil {
			t.Fatal(err)
		}
		spoil(&a)
		if a.check() == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}
