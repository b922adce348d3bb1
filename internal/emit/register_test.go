package emit_test

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/trace"
)

// TestRegistryNames writes definitions of tools with hostile names: every file has
// a plain name of its own below definitions, and holds the tool under its own name.
func TestRegistryNames(t *testing.T) {
	names := append([]string{"CON", "con", "a.b", "a_b", "A_B", ".hidden", "nul.txt", strings.Repeat("x", 300), strings.Repeat("x", 301)}, hostile...)
	var tools []emit.Registrable
	for i, name := range names {
		schema := trace.JSONOf([]byte(`{"type":"object","description":"\u202e <b>"}`))
		if i%2 == 1 {
			schema = trace.TextOf(`{"type": broken`)
		}
		tools = append(tools, emit.Registrable{Name: name, Description: "about " + name, Input: schema, Tokens: 3, NameTokens: 1})
	}
	files, definitions, err := emit.Registry(tools)
	if err != nil {
		t.Fatal(err)
	}
	if len(definitions) != len(tools) || len(files) != len(tools)+3 || files[0].Name != "tool_register.json" || files[1].Name != "names.json" {
		t.Fatalf("%d definitions in %d files for %d tools", len(definitions), len(files), len(tools))
	}
	for i, f := range files[2 : len(files)-1] {
		if f.Name != definitions[i] || !strings.HasPrefix(f.Name, "definitions/") || strings.Count(f.Name, "/") != 1 {
			t.Errorf("the file of %q is called %q", names[i], f.Name)
		}
		var got struct {
			Name       string
			Parameters json.RawMessage
		}
		if err := json.Unmarshal(f.Data, &got); err != nil {
			t.Fatalf("%q: %v", f.Name, err)
		}
		if want := strings.ToValidUTF8(names[i], "\ufffd"); got.Name != want && !strings.ContainsRune(got.Name, '\ufffd') {
			t.Errorf("%q holds the tool %q, want %q", f.Name, got.Name, want)
		}
		if (got.Parameters == nil) != (i%2 == 1) {
			t.Errorf("%q holds the parameters %s", f.Name, got.Parameters)
		}
		if strings.ContainsAny(string(f.Data), "\u202e\x1b") {
			t.Errorf("%q holds control characters", f.Name)
		}
	}
	dir := t.TempDir()
	if err := emit.Write(filepath.Join(dir, "out"), files, emit.ReplaceOwn); err != nil {
		t.Fatal(err)
	}
	n := 0
	err = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			n++
		}
		return err
	})
	if err != nil || n != len(files) {
		t.Errorf("%d files on disk, want %d: %v", n, len(files), err)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("something was written beside the folder: %v %v", entries, err)
	}
}
