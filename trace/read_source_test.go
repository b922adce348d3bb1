package trace

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// lay writes files into a new folder, makes it the current one and returns it.
func lay(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	return dir
}

func readPaths(t *testing.T, o Options, paths ...string) []string {
	t.Helper()
	o.Formats = testFormats()
	r, err := Open(paths, o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}()
	return describe(r)
}

const oneCall = `{"calls":["a"]}` + "\n"

func TestPaths(t *testing.T) {
	lay(t, map[string]string{
		"a.jsonl":          oneCall,
		"b/1.json":         oneCall,
		"b/2.json":         "[" + oneCall + "]",
		"b/c/3.jsonl":      oneCall,
		"b/c/.hidden":      oneCall,
		"b/.git/x.jsonl":   oneCall,
		"b/notes.md":       "# notes\n",
		"odd[1].jsonl":     oneCall,
		"d/e/f/deep.jsonl": oneCall,
	})
	for link, target := range map[string]string{"b/same.json": "1.json", "b/folder": "../d", "*": "nowhere"} {
		if err := os.Symlink(target, link); err != nil {
			t.Skipf("no symbolic links here: %v", err)
		}
	}
	skipped := "warning b/notes.md:1:1: file-skipped: not read as a trace: the file is no JSON and of no known trace format"
	tests := []struct {
		name  string
		paths []string
		want  []string
	}{
		{"files in the order given", []string{"b/1.json", "a.jsonl"}, []string{"b/1.json:1 [a]", "a.jsonl:1 [a]"}},
		{"folder", []string{"b"}, []string{"b/1.json:1 [a]", "b/2.json:1:2 [a]", "b/c/3.jsonl:1 [a]", skipped}},
		{"twice", []string{"./b/1.json", "b", "b/1.json"}, []string{"./b/1.json:1 [a]", "b/2.json:1:2 [a]", "b/c/3.jsonl:1 [a]", skipped}},
		{"link", []string{"b/same.json", "b/1.json"}, []string{"b/same.json:1 [a]"}},
		{"pattern", []string{"b/*.json"}, []string{"b/1.json:1 [a]", "b/2.json:1:2 [a]"}},
		{"pattern for folders", []string{"?/e"}, []string{"d/e/f/deep.jsonl:1 [a]"}},
		{"pattern across folders", []string{"**/*.jsonl"}, []string{"a.jsonl:1 [a]", "b/c/3.jsonl:1 [a]", "d/e/f/deep.jsonl:1 [a]", "odd[1].jsonl:1 [a]"}},
		{"pattern below", []string{"d/**"}, []string{"d/e/f/deep.jsonl:1 [a]"}},
		{"pattern with a folder behind", []string{"**/**/c/[0-9].jsonl"}, []string{"b/c/3.jsonl:1 [a]"}},
		{"hidden when asked for", []string{"b/c/.h*"}, []string{"b/c/.hidden:1 [a]"}},
		{"file called like a pattern", []string{"odd[1].jsonl"}, []string{"odd[1].jsonl:1 [a]"}},
		{"nothing matches", []string{"b/*.csv", "a.jsonl"}, []string{"error b/*.csv: file-missing: no file matches the pattern", "a.jsonl:1 [a]"}},
		{"malformed pattern", []string{"b/[", "a.jsonl"}, []string{"error b/[: path-pattern: the pattern is malformed", "a.jsonl:1 [a]"}},
		{"link to nothing", []string{"*"}, []string{"error *: file-missing: there is no such file"}},
		{"missing", []string{"none.json", "a.jsonl"}, []string{"error none.json: file-missing: there is no such file", "a.jsonl:1 [a]"}},
		{"found unreadable as a trace, named", []string{"b/notes.md"}, []string{"error b/notes.md:1:1: format-unknown: the file is no JSON and of no known trace format"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := readPaths(t, Options{}, test.paths...)
			for i, line := range got {
				if !strings.HasPrefix(line, "error") && !strings.HasPrefix(line, "warning") {
					name, rest, _ := strings.Cut(line, " ")
					got[i] = name + rest[strings.LastIndexByte(rest, ' '):]
				}
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestUnreadableFolder(t *testing.T) {
	lay(t, map[string]string{"shut/a.jsonl": oneCall, "shut.jsonl": oneCall, "open.jsonl": oneCall})
	for _, name := range []string{"shut", "shut.jsonl"} {
		if err := os.Chmod(name, 0); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.Chmod(name, 0o777) })
	}
	if _, err := os.ReadDir("shut"); err == nil {
		t.Skip("this user may read everything")
	}
	want := []string{
		"error shut: file-unreadable: the file cannot be read: permission denied",
		"error shut.jsonl: file-unreadable: the file cannot be read: permission denied",
		"open.jsonl:1 at open.jsonl:1:1 +0 calls [a]",
	}
	if d := cmp.Diff(want, readPaths(t, Options{}, "shut", "shut.jsonl", "open.jsonl")); d != "" {
		t.Error(d)
	}
}

func TestOddFiles(t *testing.T) {
	second := `{"calls":["b"]}` + "\n"
	long := strings.Repeat(`{"calls":["0123456789","abcdefghij"]}`+"\n", 3000)
	tests := []struct{ name, in, want string }{
		{"empty", "", "error x:1:1: file-empty: the file is empty"},
		{"only space", " \n\n", "error x:1:1: file-empty: the file is empty"},
		{"only a byte order mark", "\xef\xbb\xbf", "error x:1:1: file-empty: the file is empty"},
		{"empty array", " [ ]\n", "error x:1:1: file-empty: the array of the file has no elements"},
		{"binary", "\x00\x01\x02\x03{", "error x:1:1: not-text: the file is binary"},
		{"not UTF-8", "Gr\xfc\xdfe aus K\xf6ln\n", "error x:1:1: not-text: the file is binary"},
		{"text", "Grüße aus Köln\n", "error x:1:1: format-unknown: the file is no JSON and of no known trace format"},
		{"other JSON", `{"a":1}`, "error x:1:1: format-unknown: the file is of no known trace format"},
		{"UTF-16", "\xff\xfe{\x00}\x00", "error x:1:1: not-utf8: the file is UTF-16; convert it to UTF-8"},
		{"xz", "\xfd7zXZ\x00\x00", "error x:1:1: compression-unknown: the file is compressed with xz; gzip and zstd can be read"},
		{"zip", "PK\x03\x04\x14\x00", "error x: compression-corrupt: the zip data cannot be decompressed from here on: they are damaged"},
		{"gzip", gzipped(t, oneCall, second), "x:1 at x:1:1 +0 calls [a]\nx:2 at x:2:1 +16 calls [b]"},
		{"zstd", zstandard(t, oneCall+second), "x:1 at x:1:1 +0 calls [a]\nx:2 at x:2:1 +16 calls [b]"},
		{"zstd frames, one for users first", "\x50\x2a\x4d\x18\x03\x00\x00\x00abc" + zstandard(t, oneCall) + zstandard(t, second), "x:1 at x:1:1 +0 calls [a]\nx:2 at x:2:1 +16 calls [b]"},
		{"gzip of nothing", gzipped(t, ""), "error x:1:1: file-empty: the file is empty"},
		{"gzip cut in the header", "\x1f\x8b\x08", "error x: compression-corrupt: the gzip data cannot be decompressed from here on: they end too early"},
		{"gzip cut at once", gzipped(t, oneCall)[:15], "error x: compression-corrupt: the gzip data cannot be decompressed from here on: they end too early"},
		{"gzip with a second member cut", gzipped(t, oneCall+`{"cal`, "x")[:60], "x:1 at x:1:1 +0 calls [a]\nerror x:2:1: compression-corrupt: the gzip data cannot be decompressed from here on: they end too early"},
		{"gzip damaged at the end", gzipped(t, oneCall)[:30] + "xxxxxxxxxxxxxxxxxx", "x:1 at x:1:1 +0 calls [a]\nerror x:2:1: compression-corrupt: the gzip data cannot be decompressed from here on: they are damaged"},
		{"zstd cut", zstandard(t, long)[:20], "error x: compression-corrupt: the zstd data cannot be decompressed from here on: they end too early"},
		{"zstd damaged", "\x28\xb5\x2f\xfd\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff", "error x: compression-corrupt: the zstd data cannot be decompressed from here on: they are damaged"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			lay(t, map[string]string{"x": test.in, "y": oneCall})
			want := append(strings.Split(test.want, "\n"), "y:1 at y:1:1 +0 calls [a]")
			if d := cmp.Diff(want, readPaths(t, Options{}, "x", "y")); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestUnknownFormatNamesCandidates(t *testing.T) {
	lay(t, map[string]string{"x": `{"info":1,"trace":"t"}` + "\n"})
	r, err := Open([]string{"x"}, Options{Formats: testFormats()})
	if err != nil {
		t.Fatal(err)
	}
	var notes []string
	for _, err := range r.All() {
		for _, n := range asProblem(t, err).Notes {
			notes = append(notes, n.Msg)
		}
	}
	want := []string{"spans: lacks some of trace, n", "runs: lacks some of info, runs", "--map reads other layouts by a map; awo inspect drafts one"}
	if d := cmp.Diff(want, notes); d != "" {
		t.Error(d)
	}
}

func TestNamedFormat(t *testing.T) {
	lay(t, map[string]string{
		"d/a.json": `{"n":1}`, "d/b.txt": "text", "whole.json": `[{"Role":"user","call":"a"}]`,
	})
	want := []string{
		"d/a.json:1 at d/a.json:1:1 +0 calls []",
		"warning d/b.txt:1:1: file-skipped: not read as a trace: the file is no JSON and of no known trace format",
	}
	if d := cmp.Diff(want, readPaths(t, Options{Format: "calls"}, "d")); d != "" {
		t.Error(d)
	}
	_, err := Open(nil, Options{Format: "cals", Formats: testFormats()})
	if want := `there is no trace format "cals"; the formats are spans, runs, chat, calls`; err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

// TestFormatFarBehind holds that a file is recognised by a member that stands
// megabytes behind its beginning, in one line or in many.
func TestFormatFarBehind(t *testing.T) {
	for _, spaces := range []string{"", " \n", "\n ", "\n\n"} {
		in := `{` + spaces[:len(spaces)/2] + `"info":"` + strings.Repeat("x", 3<<20) + `",` + spaces[len(spaces)/2:] + `"runs":[{"calls":["a"]}]}`
		got := readString(t, in, Options{})
		if len(got) != 1 || !strings.Contains(got[0], " runs [a]") {
			t.Errorf("with %q: %d items, first %.200q", spaces, len(got), got)
		}
	}
}

// TestUnknownIsGivenUpSoon holds that not much is read of a long file that is no
// trace.
func TestUnknownIsGivenUpSoon(t *testing.T) {
	for in, limit := range map[string]int64{
		strings.Repeat(`{"a":1}`+"\n", 5<<20):            firstHead,
		strings.Repeat("no trace\n", 5<<20):              firstHead,
		"[" + strings.Repeat("\n", 40<<20):               lastHead,
		`{"a":"` + strings.Repeat("x", 40<<20) + `"}`:    lastHead,
		`{"a":"` + strings.Repeat("x\\n", 20<<20) + `"}`: lastHead,
	} {
		r, err := Open([]string{"-"}, Options{Formats: testFormats(), Stdin: strings.NewReader(in)})
		if err != nil {
			t.Fatal(err)
		}
		for _, err := range r.All() {
			if e := asProblem(t, err); e.Code != "format-unknown" {
				t.Errorf("%.20q: %v", in, err)
			}
		}
		if n := r.Counts().Bytes; n > limit {
			t.Errorf("%.20q: %d bytes were read, the limit is %d", in, n, limit)
		}
	}
}

// TestLongFirstLine holds that a document whose first line is long is no file of
// lines.
func TestLongFirstLine(t *testing.T) {
	in := `{"pad":"` + strings.Repeat("x", 300<<10) + `",` + "\n" + `"calls":["a"]}` + "\n"
	if d := cmp.Diff([]string{"-:1:1 at -:1:1 +0 calls [a]"}, readString(t, in, Options{})); d != "" {
		t.Error(d)
	}
}

func TestHead(t *testing.T) {
	tests := []struct {
		in        string
		container Container
		records   []string // their keys, "…" behind those that are cut
	}{
		{"", ContainerOther, nil},
		{"data: {}\n", ContainerOther, nil},
		{"banner\n{\"a\":1}\n", ContainerLines, []string{"a"}},
		{`{"a":1,"b":{"c":2}}`, ContainerLines, []string{"a,b"}},
		{"{\"a\":1}\n{\"b\":2}\n{\"c\":", ContainerLines, []string{"a", "b", "c…"}},
		{"{\"a\":\n1}\n{\"b\":2}\n", ContainerDocument, []string{"a", "b"}},
		{"{\"a\":\n1, \"b\": \"x", ContainerDocument, []string{"a,b…"}},
		{"{\"a\":[\n{\"b\":2}\n]}\n", ContainerDocument, []string{"a"}},
		{"{\"a\":\"x\n{\"b\":2}\n", ContainerLines, []string{"a…", "b"}},
		{"[{\"a\":1},\n{\"b\\u0063\":2}]", ContainerArray, []string{"a", "bc"}},
		{"[{\"a\":1}]\n", ContainerArray, []string{"a"}},
		{"[{\"a\":1}]\n[{\"b\":1}]\n", ContainerLines, []string{"", ""}},
		{"[\n1,\"x\",{\"a\"", ContainerArray, []string{"", "", "…"}},
		{`{"a":1}{"b":2}`, ContainerDocument, []string{"a", "b"}},
		{strings.Repeat("{\"a\":1}\n", 50), ContainerLines, strings.Split(strings.Repeat("a ", 20)[:39], " ")},
	}
	for _, test := range tests {
		h, _ := NewHead([]byte(test.in), false)
		var records []string
		for _, r := range h.Records {
			keys := strings.Join(r.Keys, ",")
			if r.Truncated || len(r.Raw) > 0 && !closes(r.Raw) {
				keys += "…"
			}
			records = append(records, keys)
		}
		if d := cmp.Diff(test.records, records); d != "" || h.Container != test.container {
			t.Errorf("%.40q: container %d, want %d; records:\n%s", test.in, h.Container, test.container, d)
		}
	}
}

// gzipped returns the parts as members of one gzip file.
func gzipped(t *testing.T, parts ...string) string {
	t.Helper()
	var b bytes.Buffer
	for _, part := range parts {
		w := gzip.NewWriter(&b)
		if _, err := w.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func zstandard(t *testing.T, text string) string {
	t.Helper()
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	return string(w.EncodeAll([]byte(text), nil))
}

// TestArchiveDirectory holds how much of a list of entries is read.
func TestArchiveDirectory(t *testing.T) {
	var written bytes.Buffer
	z := zip.NewWriter(&written)
	if _, err := z.CreateHeader(&zip.FileHeader{Name: strings.Repeat("n", 60000), Method: zip.Store}); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	one := written.Bytes()
	first, end := bytes.Index(one, []byte("PK\x01\x02")), bytes.LastIndex(one, []byte("PK\x05\x06"))
	listed := one[first:end]
	n := maxDirectory/len(listed) + 10
	out := slices.Clone(one[:first])
	for range n {
		out = append(out, listed...)
	}
	tail := slices.Clone(one[end:])
	size := len(out) - first
	tail[8], tail[9], tail[10], tail[11] = byte(n), byte(n>>8), byte(n), byte(n>>8)
	for i := range 4 {
		tail[12+i] = byte(size >> (8 * i))
	}
	out = append(out, tail...)
	_, err := OpenArchive(bytes.NewReader(out), int64(len(out)))
	if corrupt, ok := errors.AsType[*corruptError](err); !ok || corrupt.what != "the list of entries is too long" {
		t.Errorf("the error is %v", err)
	}
}
