package emit

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func put(dir, name, text string, r Replacing) error {
	return WriteStream(dir, name, r, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
}

// TestForeignFilesStay: what awo did not write is replaced only where the user says so.
func TestForeignFilesStay(t *testing.T) {
	for name, test := range map[string]struct {
		before, after string
		r             Replacing
		stays         bool
	}{
		"other content":       {"dear diary, today", "# Rules that awo suggests", ReplaceOwn, true},
		"own content":         {"# Rules that awo suggests: 1", "# Rules that awo suggests: 2", ReplaceOwn, false},
		"empty":               {"", "{}", ReplaceEmpty, false},
		"shorter than new":    {"# Rules", "# Rules that awo suggests", ReplaceOwn, true},
		"traces tell nothing": {`{"messages": []}`, `{"messages": []}`, ReplaceEmpty, true},
		"forced":              {"dear diary", "{}", ReplaceAny, false},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, "file")
			if err := os.WriteFile(file, []byte(test.before), 0o600); err != nil {
				t.Fatal(err)
			}
			err := put(dir, "file", test.after, test.r)
			want := test.after
			if test.stays {
				wantCode(t, err, CodeForeign)
				want = test.before
			} else if err != nil {
				t.Fatal(err)
			}
			wantTree(t, dir, "file", want)
			if info, err := os.Stat(file); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
		})
	}
}

// TestListedFilesAreOwn: a manifest says which files of its folder awo wrote.
func TestListedFilesAreOwn(t *testing.T) {
	dir := t.TempDir()
	m := Manifest{Command: "extract"}
	if _, err := Replace(dir, []File{{Name: "a.txt", Data: []byte("the first content")}}, m, ReplaceOwn); err != nil {
		t.Fatal(err)
	}
	again := []File{{Name: "a.txt", Data: []byte("another one, with another beginning")}}
	if _, err := Replace(dir, again, m, ReplaceOwn); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "b.txt"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Replace(dir, append(again, File{Name: "b.txt", Data: []byte("{}")}), m, ReplaceOwn)
	wantCode(t, err, CodeForeign)
}

// TestSweep: what a killed command left is removed when the same file is written an hour
// later, and nothing else is.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	old, fresh, other := temporaryName("out.jsonl"), temporaryName("out.jsonl"), temporaryName("other.jsonl")
	for _, name := range []string{old, fresh, other, ".awo-mine.tmp"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("in clear"), 0o600); err != nil {
			t.Fatal(err)
		}
		if name != fresh {
			past := time.Now().Add(-2 * time.Hour)
			if err := os.Chtimes(filepath.Join(dir, name), past, past); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := put(dir, "out.jsonl", "{}", ReplaceOwn); err != nil {
		t.Fatal(err)
	}
	for name, stays := range map[string]bool{old: false, fresh: true, other: true, ".awo-mine.tmp": true} {
		if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestNothingInTheFolderYet: while a file is written it has no name, where the system allows
// that, and otherwise its owner alone can read it.
func TestNothingInTheFolderYet(t *testing.T) {
	dir := t.TempDir()
	err := WriteStream(dir, "out.jsonl", ReplaceOwn, func(w io.Writer) error {
		if _, err := io.WriteString(w, "in clear"); err != nil {
			return err
		}
		entries, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, e := range entries {
			info, err := e.Info()
			if err != nil {
				return err
			}
			if runtime.GOOS == "linux" || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
				t.Errorf("%s is there, of mode %v", e.Name(), info.Mode())
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "out.jsonl"))
	if err != nil || runtime.GOOS == "linux" && info.Mode().Perm() != usualMode() {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// TestDevices: a device or pipe that is named is written to, and stays what it is.
func TestDevices(t *testing.T) {
	if _, err := os.Stat("/dev/null"); err != nil {
		t.Skip("there is no /dev/null")
	}
	if err := put("/dev", "null", strings.Repeat("x", 1000), ReplaceOwn); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat("/dev/null"); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
