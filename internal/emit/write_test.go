package emit

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/awo-dev/awo/diag"
)

// tree returns the files below dir with their contents.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		name, _ := filepath.Rel(dir, path)
		out[filepath.ToSlash(name)] = string(data)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return out
}

func files(pairs ...string) []File {
	var out []File
	for pair := range slices.Chunk(pairs, 2) {
		out = append(out, File{Name: pair[0], Data: []byte(pair[1])})
	}
	return out
}

func wantTree(t *testing.T, dir string, pairs ...string) {
	t.Helper()
	got := tree(t, dir)
	if len(got) != len(pairs)/2 {
		t.Errorf("%d files, want %d: %v", len(got), len(pairs)/2, got)
	}
	for pair := range slices.Chunk(pairs, 2) {
		if got[pair[0]] != pair[1] {
			t.Errorf("%s holds %q, want %q", pair[0], got[pair[0]], pair[1])
		}
	}
}

func wantCode(t *testing.T, err error, code string) *diag.Error {
	t.Helper()
	problem, ok := errors.AsType[*diag.Error](err)
	if !ok || problem.Code != code {
		t.Fatalf("error %v, want one of code %s", err, code)
	}
	return problem
}

func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "new", "folder")
	if err := Write(dir, files("graph.json", "{}\n", "tools/one.json", "1", "empty", ""), ReplaceAny); err != nil {
		t.Fatal(err)
	}
	wantTree(t, dir, "graph.json", "{}\n", "tools/one.json", "1", "empty", "")
	if err := os.WriteFile(filepath.Join(dir, "mine"), []byte("kept"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, files("graph.json", "changed", "tools/two.json", "2"), ReplaceAny); err != nil {
		t.Fatal(err)
	}
	wantTree(t, dir, "graph.json", "changed", "tools/one.json", "1", "tools/two.json", "2", "empty", "", "mine", "kept")
}

func TestWriteRefusesNames(t *testing.T) {
	for name, set := range map[string][]File{
		"empty":           files("", "x"),
		"parent":          files("../x", "x"),
		"parent inside":   files("a/../../x", "x"),
		"absolute":        files("/etc/x", "x"),
		"dot":             files(".", "x"),
		"double slash":    files("a//b", "x"),
		"backslash":       files(`..\x`, "x"),
		"drive":           files("c:x", "x"),
		"hidden":          files(".git/config", "x"),
		"newline":         files("a\nb", "x"),
		"bidi":            files("a\u202eb", "x"),
		"not UTF-8":       files("a\xff", "x"),
		"device":          files("tools/NUL.json", "x"),
		"trailing dot":    files("a.", "x"),
		"leading space":   files(" a", "x"),
		"long":            files(strings.Repeat("a", 300), "x"),
		"twice":           files("a", "x", "a", "y"),
		"twice, case":     files("a", "x", "A", "y"),
		"file and folder": files("a", "x", "a/b", "y"),
		"folder and file": files("a/b", "x", "a", "y"),
	} {
		t.Run(name, func(t *testing.T) {
			parent := t.TempDir()
			wantCode(t, Write(filepath.Join(parent, "out"), set, ReplaceAny), CodeName)
			wantTree(t, parent)
		})
	}
}

func TestWriteUnwritable(t *testing.T) {
	parent := t.TempDir()
	file := filepath.Join(parent, "file")
	if err := os.WriteFile(file, []byte("x"), 0o666); err != nil {
		t.Fatal(err)
	}
	problem := wantCode(t, Write(filepath.Join(file, "out"), files("a", "x"), ReplaceAny), CodeUnwritable)
	if !strings.Contains(problem.Msg, "is a file") {
		t.Errorf("below a file: %v", problem)
	}
	wantCode(t, Write(file, files("a", "x"), ReplaceAny), CodeUnwritable)

	// A folder has the name of the second file: the first is not written either.
	dir := filepath.Join(parent, "out")
	if err := os.MkdirAll(filepath.Join(dir, "b"), 0o777); err != nil {
		t.Fatal(err)
	}
	problem = wantCode(t, Write(dir, files("a", "x", "b", "y"), ReplaceAny), CodeUnwritable)
	if want := filepath.Join(dir, "b") + ": output-unwritable: a folder has this name"; problem.Error() != want {
		t.Errorf("error %q, want %q", problem, want)
	}
	wantTree(t, dir)

	// The folder of an artefact is a file.
	if err := Write(dir, files("c", "x"), ReplaceAny); err != nil {
		t.Fatal(err)
	}
	wantCode(t, Write(dir, files("a", "x", "c/d", "y"), ReplaceAny), CodeUnwritable)
	wantTree(t, dir, "c", "x")
}

func TestWriteStaysInside(t *testing.T) {
	parent := t.TempDir()
	outside := filepath.Join(parent, "outside")
	dir := filepath.Join(parent, "out")
	for _, d := range []string{outside, dir} {
		if err := os.Mkdir(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(outside, "target"), []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "tools")); err != nil {
		t.Skip("no symbolic links here")
	}
	wantCode(t, Write(dir, files("tools/a.json", "x"), ReplaceAny), CodeUnwritable)
	wantTree(t, outside, "target", "old")

	// A link in place of a file is replaced, not followed.
	if err := os.Symlink(filepath.Join(outside, "target"), filepath.Join(dir, "graph.json")); err != nil {
		t.Fatal(err)
	}
	if err := Write(dir, files("graph.json", "new"), ReplaceAny); err != nil {
		t.Fatal(err)
	}
	wantTree(t, outside, "target", "old")
	if got, err := os.ReadFile(filepath.Join(dir, "graph.json")); err != nil || string(got) != "new" {
		t.Errorf("graph.json holds %q (%v), want new", got, err)
	}
}

// TestPublishGoesBack lets the third rename fail: the replaced file is there
// again, the new one is gone.
func TestPublishGoesBack(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir, files("a", "old a", "c", "old c"), ReplaceAny); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	s := &set{dir: dir, root: root, replacing: ReplaceAny}
	s.rename = func(from, to string) error {
		if to == "c" {
			return fs.ErrPermission
		}
		return root.Rename(from, to)
	}
	for _, f := range files("a", "new a", "b", "new b", "c", "new c") {
		if err := s.stage(f.Name, func(w io.Writer) error { _, err := w.Write(f.Data); return err }); err != nil {
			t.Fatal(err)
		}
	}
	problem := wantCode(t, s.publish(), CodeUnwritable)
	if problem.Pos.File != filepath.Join(dir, "c") || !strings.Contains(problem.Msg, "permission") {
		t.Errorf("error %v, want one about c and permission", problem)
	}
	s.clean()
	wantTree(t, dir, "a", "old a", "c", "old c")
}

// TestReadersSeeWholeFiles replaces a file over and over while it is read.
func TestReadersSeeWholeFiles(t *testing.T) {
	dir := t.TempDir()
	texts := []string{strings.Repeat("a", 1<<16), strings.Repeat("b", 1<<16)}
	if err := Write(dir, files("f", texts[0]), ReplaceAny); err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() {
		defer close(done)
		for i := range 50 {
			if err := Write(dir, files("f", texts[i%2]), ReplaceAny); err != nil {
				done <- err
				return
			}
		}
	}()
	for {
		select {
		case err := <-done:
			if err != nil {
				t.Fatal(err)
			}
			return
		default:
		}
		got, err := os.ReadFile(filepath.Join(dir, "f"))
		if err != nil || !slices.Contains(texts, string(got)) {
			t.Fatalf("read %d bytes (%v), want one of the two texts", len(got), err)
		}
	}
}

func TestWriteStreamKeepsTheOldFileWhenItsContentFails(t *testing.T) {
	dir := t.TempDir()
	put := func(text string, failure error) error {
		return WriteStream(dir, "out.jsonl", ReplaceAny, func(w io.Writer) error {
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
			return failure
		})
	}
	if err := put("first", nil); err != nil {
		t.Fatal(err)
	}
	broken := errors.New("the source broke")
	if err := put("half of the second", broken); !errors.Is(err, broken) {
		t.Errorf("WriteStream = %v, want the error of its content", err)
	}
	got, err := os.ReadFile(filepath.Join(dir, "out.jsonl"))
	if err != nil || string(got) != "first" {
		t.Errorf("the file holds %q, %v, want what was there before", got, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 1 {
		t.Errorf("the folder holds %d entries, %v, want 1", len(entries), err)
	}
}

func TestWriteStreamNames(t *testing.T) {
	dir := t.TempDir()
	write := func(w io.Writer) error { _, err := io.WriteString(w, "x"); return err }
	for _, name := range []string{".hidden", "a:b", "con"} {
		if err := WriteStream(dir, name, ReplaceOwn, write); err != nil {
			t.Errorf("%q, which the user chose: %v", name, err)
		}
	}
	for _, name := range []string{"", ".", "..", "a/b", "../x", `a\b`} {
		wantCode(t, WriteStream(dir, name, ReplaceOwn, write), CodeName)
	}
	wantTree(t, dir, ".hidden", "x", "a:b", "x", "con", "x")
}

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
