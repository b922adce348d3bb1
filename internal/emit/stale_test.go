package emit

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// withManifest adds the manifest of a command.
func withManifest(t *testing.T, command string, files []File) []File {
	t.Helper()
	m, err := Manifest{Command: command}.File(files)
	if err != nil {
		t.Fatal(err)
	}
	return append(files, m)
}

func TestReplaceRemovesWhatIsStale(t *testing.T) {
	dir := t.TempDir()
	first := withManifest(t, "extract", files("a.json", "1", "b.json", "2", "deep/er/c.json", "3", "d.json", "4"))
	if kept, err := Replace(dir, first); err != nil || kept != nil {
		t.Fatal(kept, err)
	}
	// One is changed, one is somebody else's.
	for name, text := range map[string]string{"d.json": "mine", "e.json": "5"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	second := withManifest(t, "extract", files("a.json", "one"))
	kept, err := Replace(dir, second)
	if err != nil || !slices.Equal(kept, []string{"d.json"}) {
		t.Fatalf("kept %q, %v", kept, err)
	}
	wantTree(t, dir, "a.json", "one", "d.json", "mine", "e.json", "5", ManifestName, string(second[1].Data))
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
		if _, err := Replace(dir, withManifest(t, "extract", nil)); err != nil {
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
	if _, err := Replace(dir, withManifest(t, "extract", files("a.json", "1"))); err != nil {
		t.Fatal(err)
	}
	if _, err := Replace(dir, withManifest(t, "register", files("b.json", "2"))); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "a.json")); err != nil {
		t.Error("the artefact of another command is gone")
	}
}

// TestReplacePutsBack: if a name cannot be given, what was removed is there again.
func TestReplacePutsBack(t *testing.T) {
	dir := t.TempDir()
	first := withManifest(t, "extract", files("a.json", "1", "b.json", "2"))
	if _, err := Replace(dir, first); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	s := &set{dir: dir, root: root}
	s.rename = func(from, to string) error {
		if to == ManifestName {
			return os.ErrPermission
		}
		return root.Rename(from, to)
	}
	second := withManifest(t, "extract", files("a.json", "one"))
	s.dropStale(second)
	if len(s.staged) != 1 {
		t.Fatalf("%d files are stale, want b.json", len(s.staged))
	}
	if err := s.stage(ManifestName, func(w io.Writer) error { _, err := w.Write(second[1].Data); return err }); err != nil {
		t.Fatal(err)
	}
	if err := s.publish(); err == nil {
		t.Fatal("publishing did not fail")
	}
	s.clean()
	wantTree(t, dir, "a.json", "1", "b.json", "2", ManifestName, string(first[2].Data))
}
