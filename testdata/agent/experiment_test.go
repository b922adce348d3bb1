package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/awo-dev/awo/testdata/gen/office"
	"github.com/awo-dev/awo/trace"
)

// TestMain lets the test program be the office's server, as main does.
func TestMain(m *testing.M) {
	if os.Getenv(runVariable) != "" {
		main()
		return
	}
	os.Exit(m.Run())
}

// scriptedModel is an endpoint that answers with what the agents of the office did: the
// turns of a run one after the other, and before them, where meta-tools are offered, a call
// of the first of them that lacks its inputs.
type scriptedModel struct {
	t       *testing.T
	runs    map[string]*trace.Trajectory // by the text of the task
	own     map[string]bool
	offered map[int]int // how often so many tools were offered
	busy    bool        // the next request is refused once
}

func newScriptedModel(t *testing.T, o *office.Office, first, tasks int) *scriptedModel {
	m := &scriptedModel{t: t, runs: map[string]*trace.Trajectory{}, own: map[string]bool{}, offered: map[int]int{}, busy: true}
	for i := first; i < first+tasks; i++ {
		run, err := script(o, i)
		if err != nil {
			t.Fatal(err)
		}
		m.runs[o.Run(i).Users()[0].Text] = run
	}
	for _, tool := range o.Edition(0).Tools {
		m.own[tool.Name] = true
	}
	return m
}

func (m *scriptedModel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if m.busy {
		m.busy = false
		w.WriteHeader(http.StatusTooManyRequests)
		return
	}
	var in chatRequest
	if err := json.NewDecoder(r.Body).Decode(&in); err != nil || r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer secret" {
		m.t.Errorf("%s: %v", r.URL.Path, err)
	}
	run := m.runs[*in.Messages[1].Content]
	meta := ""
	for _, tool := range in.Tools {
		v, err := trace.ParseValue(tool)
		if err != nil {
			m.t.Error(err)
		}
		if name := v.Member("function").Member("name").Text; !m.own[name] {
			meta = name
		}
	}
	m.offered[len(in.Tools)]++
	turn, tried := 0, false
	for _, one := range in.Messages {
		switch {
		case one.Role != "assistant":
		case len(one.Calls) > 0 && !m.own[one.Calls[0].Function.Name]:
			tried = true
		default:
			turn++
		}
	}
	answer := message{Role: "assistant"}
	add := func(name, arguments string) {
		one := toolCall{ID: fmt.Sprintf("call_%d_%d", turn, len(answer.Calls)), Type: "function"}
		one.Function.Name, one.Function.Arguments = name, arguments
		answer.Calls = append(answer.Calls, one)
	}
	switch text := "Done."; {
	case meta != "" && !tried:
		add(meta, "{}")
	case turn < len(run.Turns):
		span := run.Turns[turn]
		for i := span.FirstCall; i < span.FirstCall+span.NumCalls; i++ {
			args, _ := run.Calls[i].ArgsValue()
			add(run.Calls[i].Tool.Value(), string(args.AppendCanonical(nil)))
		}
		if span.NumCalls == 0 {
			answer.Content = &text
		}
	default:
		answer.Content = &text
	}
	_ = json.NewEncoder(w).Encode(map[string]any{ // the client says what it lacks
		"id": "x", "object": "chat.completion", "created": 1, "model": "scripted",
		"choices": []any{map[string]any{"index": 0, "message": answer, "finish_reason": "stop"}},
		"usage":   map[string]int{"prompt_tokens": 100 * len(in.Messages), "completion_tokens": 10},
	})
}

// TestExperiment does the whole experiment with a scripted endpoint: three arms, each task in
// each of them, recordings that awo compares, and a report.
func TestExperiment(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds awo and compiles the office")
	}
	dir := t.TempDir()
	awo, tools := filepath.Join(dir, "awo"), filepath.Join(dir, "compiled")
	for _, args := range [][]string{
		{"go", "build", "-o", awo, "../.."},
		{awo, "extract", "../office/trajectories.jsonl.gz", "--rules", "../office/rules.yaml", "--out", tools, "--quiet", "--objective", "turns"},
	} {
		if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", args, err, out)
		}
	}
	estimate := filepath.Join(dir, "estimate.json")
	if err := os.WriteFile(estimate, []byte(`{"tables":{"techniques":{"rows":[{"technique":"patterns","calling_turns_saved_share":0.9},{"technique":"prefetch","calling_turns_saved_share":0.8}]}}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	const first, most = 400, 8
	o, err := offices(first + 4*most)
	if err != nil {
		t.Fatal(err)
	}
	model := newScriptedModel(t, o, first, most)
	endpoint := httptest.NewServer(model)
	defer endpoint.Close()
	t.Setenv(keyVariable, "secret")
	out := filepath.Join(dir, "out")
	var said bytes.Buffer
	args := []string{"-model", endpoint.URL + "/v1", "-name", "scripted", "-awo", awo, "-tools", tools, "-out", out, "-pilot", "6", "-most", fmt.Sprint(most), "-estimate", estimate}
	if err := experiment(args, &said); err != nil {
		t.Fatal(err)
	}
	var done map[string][]outcome
	data, err := os.ReadFile(filepath.Join(out, "sessions.json"))
	if err != nil || json.Unmarshal(data, &done) != nil {
		t.Fatalf("%v: %s", err, data)
	}
	solved, attached := 0, 0
	for i := range done["nothing"] {
		without, ahead, meta := done["nothing"][i], done["prefetch"][i], done["meta-tools"][i]
		if without.Task != meta.Task || without.Solved != meta.Solved || without.Turns == 0 || without.Turns != ahead.Turns || meta.Turns != without.Turns+1 || meta.Meta != 1 || without.Meta+without.Attached+meta.Attached != 0 || without.Input == 0 {
			t.Errorf("%+v, %+v, %+v", without, ahead, meta)
		}
		if without.Solved {
			solved++
		}
		attached += ahead.Attached
	}
	if n := len(done["nothing"]); n < 6 || n > most || len(done["prefetch"]) != n || solved < n/2 || attached == 0 || len(model.offered) < 2 {
		t.Errorf("%d tasks, %d solved, %d reads attached, so many tools offered: %v", n, solved, attached, model.offered)
	}
	report, err := os.ReadFile(filepath.Join(out, "report.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"(power 0.8)", "| figure | nothing | prefetch | meta-tools |", "| solved |", "## meta-tools compared with nothing", "calling turns"} {
		if !strings.Contains(string(report), want) || !strings.Contains(said.String(), want) {
			t.Errorf("the report has no %q:\n%s", want, report)
		}
	}
	t.Logf("%s", report)
}
