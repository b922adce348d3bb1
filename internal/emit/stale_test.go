package emit

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestReplaceRemovesWhatIsStale(t *testing.T) {
	dir := t.TempDir()
	extract := Manifest{Command: "extract"}
	if kept, err := Replace(dir, files("a.json", "1", "b.json", "2", "deep/er/c.json", "3", "d.json", "4"), extract, ReplaceAny); err != nil || kept != nil {
		t.Fatal(kept, err)
	}
	// One is changed, one is somebody else's.
	for name, text := range map[string]string{"d.json": "mine", "e.json": "5"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := Replace(dir, files("a.json", "one"), extract, ReplaceAny)
	if err != nil || !slices.Equal(kept, []string{"d.json"}) {
		t.Fatalf("kept %q, %v", kept, err)
	}
	manifest, err := extract.File(files("a.json", "one"))
	if err != nil {
		t.Fatal(err)
	}
	wantTree(t, dir, "a.json", "one", "d.json", "mine", "e.json", "5", ManifestName, string(manifest.Data))
	if _, err := os.Stat(filepath.Join(dir, "deep")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the empty folder is still there: %v", err)
	}
}

// TestReplaceTrustsNoManifest: nothing is removed that another command made, that lies
// outside the folder, or that is no file with that content.
func TestReplaceTrustsNoManifest(t *testing.T) {
	parent := t.TempDir()
	dir := filepath.Join(parent, "out")
	victim := files("victim", "v")[0]
	for _, name := range []string{parent, filepath.Join(parent, "out", "sub")} {
		if err := os.MkdirAll(name, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(name, victim.Name), victim.Data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(filepath.Join(parent, "victim"), filepath.Join(dir, "link")); err != nil {
		t.Skip("no symbolic links here")
	}
	for _, name := range []string{"../victim", filepath.Join(parent, "victim"), "link", "sub", ".hidden", "sub/../../victim"} {
		m, err := Manifest{Command: "extract"}.File([]File{{Name: name, Data: victim.Data}})
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ManifestName), m.Data, 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := Replace(dir, nil, Manifest{Command: "extract"}, ReplaceAny); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Lstat(filepath.Join(dir, "link")); err != nil {
			t.Errorf("%s: the link is gone", name)
		}
		if _, err := os.Stat(filepath.Join(parent, "victim")); err != nil {
			t.Fatalf("%s: a file outside is gone", name)
		}
	}
	// A set of another command stays.
	if _, err := Replace(dir, files("a.json", "1"), Manifest{Command: "extract"}, ReplaceAny); err != nil {
		t.Fatal(err)
	}
	if _, err := Replace(dir, files("b.json", "2"), Manifest{Command: "register"}, ReplaceAny); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a.json")); err != nil {
		t.Error("the artefact of another command is gone")
	}
}

// TestReplacePutsBack: if a name cannot be given, what was removed is there again.
func TestReplacePutsBack(t *testing.T) {
	dir := t.TempDir()
	if _, err := Replace(dir, files("a.json", "1", "b.json", "2"), Manifest{Command: "extract"}, ReplaceAny); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	s := &set{dir: dir, root: root, replacing: ReplaceAny}
	s.rename = func(from, to string) error {
		if to == ManifestName {
			return os.ErrPermission
		}
		return root.Rename(from, to)
	}
	first, err := os.ReadFile(filepath.Join(dir, ManifestName))
	if err != nil {
		t.Fatal(err)
	}
	s.dropStale(Manifest{Command: "extract", Files: []Artefact{{Name: "a.json"}}})
	if len(s.staged) != 1 {
		t.Fatalf("%d files are stale, want b.json", len(s.staged))
	}
	if err := s.stage(ManifestName, func(w io.Writer) error { _, err := w.Write([]byte("new")); return err }); err != nil {
		t.Fatal(err)
	}
	if err := s.publish(); err == nil {
		t.Fatal("publishing did not fail")
	}
	s.clean()
	wantTree(t, dir, "a.json", "1", "b.json", "2", ManifestName, string(first))
}
