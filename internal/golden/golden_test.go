package golden

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// open returns the archive of a new file with the given content.
func open(t *testing.T, content string) *Archive {
	t.Helper()
	path := filepath.Join(t.TempDir(), "golden", "a.txtar")
	if content != "" {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return reopen(t, path)
}

func reopen(t *testing.T, path string) *Archive {
	t.Helper()
	a, err := load(path)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestCheck(t *testing.T) {
	t.Setenv("AWO_UPDATE", "")
	const content = "-- a --\none\n-- b (no final newline) --\ntwo\n"
	tests := map[string]struct {
		section, got string
		fails        string // part of the message; empty: passes
	}{
		"equal":              {"a", "one\n", ""},
		"equal, no newline":  {"b", "two", ""},
		"other text":         {"a", "three\n", "section a differs"},
		"newline lost":       {"a", "one", "no section a (no final newline)"},
		"newline added":      {"b", "two\n", "no section b;"},
		"unknown section":    {"c", "x\n", "no section c"},
		"looks like section": {"a", "one\n-- x --\n", "looks like the beginning"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := open(t, content).check(test.section, []byte(test.got))
			switch {
			case test.fails == "" && err != nil:
				t.Error(err)
			case test.fails != "" && (err == nil || !strings.Contains(err.Error(), test.fails)):
				t.Errorf("error %v, want one with %q", err, test.fails)
			}
		})
	}
}

func TestStaleSections(t *testing.T) {
	t.Setenv("AWO_UPDATE", "")
	const content = "-- a --\none\n-- skipped/b --\ntwo\n"
	a := open(t, content)
	if err := a.check("a", []byte("one\n")); err != nil {
		t.Fatal(err)
	}
	if err := a.check("a", []byte("one\n")); err == nil || !strings.Contains(err.Error(), "made twice") {
		t.Errorf("second section a: %v", err)
	}
	if err := a.close(false, false); err == nil || !strings.Contains(err.Error(), "skipped/b") {
		t.Errorf("a section that is not made passes: %v", err)
	}
	if err := a.close(true, false); err != nil {
		t.Errorf("a failed run complains of what it did not come to: %v", err)
	}
	if err := reopen(t, a.path).close(false, true); err != nil {
		t.Errorf("a partial run complains: %v", err)
	}
	a = reopen(t, a.path)
	a.Keep("skipped/")
	if err := a.check("a", []byte("one\n")); err != nil {
		t.Fatal(err)
	}
	if err := a.close(false, false); err != nil {
		t.Errorf("a kept section is complained of: %v", err)
	}
}

func TestUpdate(t *testing.T) {
	t.Setenv("AWO_UPDATE", "1")
	a := open(t, "")
	for name, text := range map[string]string{"b": "two", "a": "one\n", "empty": ""} {
		if err := a.check(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := a.close(false, false); err != nil {
		t.Fatal(err)
	}
	const want = "-- a --\none\n-- b (no final newline) --\ntwo\n-- empty --\n"
	if got := read(t, a.path); got != want {
		t.Fatalf("recorded\n%s\nwant\n%s", got, want)
	}

	// The same again touches nothing: a read-only file would show it.
	before, err := os.Stat(a.path)
	if err != nil {
		t.Fatal(err)
	}
	again := reopen(t, a.path)
	for name, text := range map[string]string{"b": "two", "a": "one\n", "empty": ""} {
		if err := again.check(name, []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := again.close(false, false); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(a.path)
	if err != nil {
		t.Fatal(err)
	}
	if !after.ModTime().Equal(before.ModTime()) {
		t.Error("an update that changes nothing wrote the file")
	}

	// What is no longer made goes, and with the last section the file.
	fewer := reopen(t, a.path)
	if err := fewer.check("a", []byte("one\n")); err != nil {
		t.Fatal(err)
	}
	if err := fewer.close(false, false); err != nil {
		t.Fatal(err)
	}
	if got, want := read(t, a.path), "-- a --\none\n"; got != want {
		t.Errorf("after dropping sections\n%s\nwant\n%s", got, want)
	}
	if err := reopen(t, a.path).close(false, false); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(a.path); !os.IsNotExist(err) {
		t.Errorf("the empty file is still there: %v", err)
	}
}

func TestOrphans(t *testing.T) {
	folder := t.TempDir()
	for name, content := range map[string]string{
		"a_test.go":                          "package a\nimport \"testing\"\nfunc TestOwner(t *testing.T) {}\nfunc helper() {}\n",
		"testdata/golden/TestOwner.txtar":    "",
		"testdata/golden/TestGone.txtar":     "",
		"testdata/golden/helper.txtar":       "",
		"testdata/golden/TestOwner.png":      "",
		"testdata/other/TestElsewhere.txtar": "",
	} {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	orphans, err := Orphans(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range orphans {
		got = append(got, filepath.Base(o))
	}
	if want := []string{"TestGone.txtar", "TestOwner.png", "helper.txtar"}; !slices.Equal(got, want) {
		t.Errorf("orphans %v, want %v", got, want)
	}
	if orphans, err := Orphans(t.TempDir()); err != nil || orphans != nil {
		t.Errorf("a folder without goldens: %v, %v", orphans, err)
	}
}

// TestOpen goes through the front door once, with a file of the repository.
func TestOpen(t *testing.T) {
	a := Open(t)
	t.Run("sub", func(t *testing.T) {
		t.Parallel()
		a.Check(t, "sub", []byte("from a parallel subtest\n"))
	})
	a.Check(t, "top", []byte("from the test"))
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
