package emit_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"testing"

	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/golden"
)

func TestManifest(t *testing.T) {
	m := emit.Manifest{
		Awo: "v0.0.0-test", Command: "extract",
		Options: map[string]any{"threshold": 5, "exclude-tool": []string{"think"}, "algorithm": "awo"},
		Inputs: []emit.Input{
			{Role: "traces", File: "../traces/a.jsonl", Format: "atif", Bytes: 12, SHA256: "00", Records: 3, Trajectories: 2},
			{Role: "traces", File: "b.jsonl", Bytes: 1, SHA256: "01"},
			{Role: "rules", File: "rules.yaml", Bytes: 7, SHA256: "02"},
		},
		Counts: map[string]int{"calls": 3},
	}
	files := []emit.File{{Name: "graph.json", Data: []byte("{}\n")}, {Name: "tools/<a>.json", Data: nil}}
	f, err := m.File(files)
	if err != nil {
		t.Fatal(err)
	}
	if f.Name != emit.ManifestName || !json.Valid(f.Data) {
		t.Errorf("%s is no JSON", f.Name)
	}
	golden.Open(t).Check(t, f.Name, f.Data)
	again, err := m.File(files)
	if err != nil || !bytes.Equal(f.Data, again.Data) {
		t.Errorf("the second manifest differs (%v)", err)
	}
}

// TestInputName: inputs are named from the folder of the manifest, and what lies
// elsewhere on a machine by its last part alone.
func TestInputName(t *testing.T) {
	here := t.TempDir()
	t.Chdir(here)
	elsewhere := filepath.Join(t.TempDir(), "secret", "a.jsonl")
	for _, test := range []struct{ dir, file, want string }{
		{"tools", "-", "-"},
		{"tools", "a.jsonl", "../a.jsonl"},
		{"tools", "./x/../a.jsonl", "../a.jsonl"},
		{"tools/v1", "traces/a.jsonl", "../../traces/a.jsonl"},
		{"tools", "../traces/a.jsonl", "../../traces/a.jsonl"},
		{".", "traces/a.jsonl", "traces/a.jsonl"},
		{"../tools", "a.jsonl", "a.jsonl"},
		{"tools", filepath.Join(here, "traces", "a.jsonl"), "../traces/a.jsonl"},
		{filepath.Join(here, "tools"), "traces/a.jsonl", "../traces/a.jsonl"},
		{"tools", elsewhere, "a.jsonl"},
		{filepath.Dir(elsewhere), "traces/a.jsonl", "a.jsonl"},
		{filepath.Dir(elsewhere), elsewhere, "a.jsonl"},
	} {
		if got := emit.InputName(test.dir, test.file); got != test.want {
			t.Errorf("%s in %s is %q, want %q", test.file, test.dir, got, test.want)
		}
	}
}
