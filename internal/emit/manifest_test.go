package emit_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/golden"
)

func TestManifest(t *testing.T) {
	absolute, err := filepath.Abs(filepath.Join("some", "traces.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	m := emit.Manifest{
		Awo: "v0.0.0-test", Command: "extract",
		Options: map[string]any{"threshold": 5, "exclude-tool": []string{"think"}, "algorithm": "awo"},
		Inputs: []emit.Input{
			{Role: "traces", File: "./traces/a.jsonl", Format: "atif", Bytes: 12, SHA256: "00", Records: 3, Trajectories: 2},
			{Role: "traces", File: absolute, Bytes: 1, SHA256: "01"},
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
	if strings.Contains(string(f.Data), filepath.Dir(absolute)) {
		t.Error("the manifest holds an absolute path")
	}
	again, err := m.File(files)
	if err != nil || !bytes.Equal(f.Data, again.Data) {
		t.Errorf("the second manifest differs (%v)", err)
	}
	if m.Inputs[1].File != absolute {
		t.Error("the caller's inputs were changed")
	}
}
