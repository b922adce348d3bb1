package maps_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
	"github.com/klauspost/compress/zstd"
)

const evalHeader = `{"version":2,"status":"success","eval":{"task":"t","model":"m-1"},"plan":{},"results":{}}`

func evalEntry(id string, method uint16) zipEntry {
	return zipEntry{
		"samples/" + id + "_epoch_1.json",
		strings.Replace(strings.Replace(inspectSample, `"id":"a"`, `"id":"`+id+`"`, 1), `"uuid":"u"`, `"uuid":"u-`+id+`"`, 1),
		method,
	}
}

func TestInspectArchive(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "log.eval")
	text := zipOf(t,
		zipEntry{"_journal/start.json", `{"version":2,"eval":{"task":"older","model":"m-0"},"plan":{}}`, zip.Store},
		evalEntry("b", zip.Deflate), evalEntry("a", zip.Store), evalEntry("c", zipWithZstd),
		zipEntry{"samples/broken_epoch_1.json", "{\"messages\":[}\n", zip.Deflate},
		zipEntry{"../../samples/x.json", inspectSample, zip.Deflate}, // no sample, and no path either
		zipEntry{"summaries.json", `[]`, zip.Deflate},
		zipEntry{"header.json", evalHeader, zip.Deflate},
	)
	formattest.WriteFile(t, file, string(text))
	// Other formats, and archives that are no logs, lie in the same folder.
	formattest.WriteFile(t, filepath.Join(folder, "chat.jsonl"), `{"messages":[{"role":"user","content":"x"},{"role":"assistant","content":"y"}]}`+"\n")
	formattest.WriteFile(t, filepath.Join(folder, "paper.docx"), string(zipOf(t, zipEntry{"word/document.xml", "<x/>", zip.Deflate})))

	got, problems := formattest.ReadProblems(t, trace.Options{}, folder)
	var ids []string
	for _, x := range got {
		ids = append(ids, fmt.Sprintf("%s %s %s %s", x.Format, x.ID, x.Task, strings.TrimPrefix(x.Source.String(), folder+"/")))
		formattest.RoundTrip(t, x)
	}
	formattest.WantLines(t, "trajectories", ids, []string{
		"openai-chat " + filepath.Join(folder, "chat.jsonl") + ":1  chat.jsonl:1:1",
		"inspect u-b t/b log.eval/samples/b_epoch_1.json:1:1",
		"inspect u-a t/a log.eval/samples/a_epoch_1.json:1:1",
		"inspect u-c t/c log.eval/samples/c_epoch_1.json:1:1",
	})
	for i := range problems {
		problems[i] = strings.ReplaceAll(problems[i], folder+"/", "")
	}
	formattest.WantLines(t, "problems", problems, []string{
		"log.eval/samples/broken_epoch_1.json:1:14: json-syntax: a value is expected here",
		"paper.docx:1:1: file-skipped: not read as a trace: the file is a zip archive of no known format; unpack it first",
	})
	if got[1].Model != "m-1" || len(got[1].Calls) != 2 || got[1].Calls[1].Error.Text() != "too slow" {
		t.Errorf("got\n%s", formattest.Depict(got[1]))
	}
	// The same samples in one document are the same trajectories.
	document := formattest.ReadText(t, "log.json", strings.Replace(evalHeader, `"results":{}`, `"samples":[`+evalEntry("b", 0).text+`]`, 1))
	if want, is := formattest.Depict(document[0]), formattest.Depict(got[1]); want != is {
		t.Errorf("the archive has\n%s\nthe document\n%s", is, want)
	}

	// What is read once only is copied, whether or not it is kept for later.
	for _, spool := range []bool{true, false} {
		r, err := trace.Open([]string{"-"}, trace.Options{Stdin: bytes.NewReader(text), Spool: spool, TempDir: folder, Formats: formats.All})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, err := range r.All() {
			if err == nil {
				n++
			}
		}
		if n != 3 || r.Close() != nil {
			t.Errorf("%d trajectories of standard input, want 3", n)
		}
	}
}

// TestInspectArchiveInterrupted reads what a run leaves that was broken off.
func TestInspectArchiveInterrupted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log.eval")
	again := evalEntry("a", zip.Deflate)
	again.text = strings.Replace(again.text, `"done"`, `"done at last"`, 1)
	formattest.WriteFile(t, file, string(zipOf(t,
		zipEntry{"_journal/start.json", `{"version":2,"eval":{"task":"t","model":"m-1"},"plan":{}}`, zip.Deflate},
		evalEntry("a", zip.Deflate), evalEntry("b", zip.Deflate), again,
	)))
	got, problems := formattest.ReadProblems(t, trace.Options{}, file)
	if len(problems) > 0 || len(got) != 2 || got[0].ID != "u-b" || got[1].ID != "u-a" || got[1].Turns[1].Text.Text() != "done at last" {
		t.Fatalf("%d trajectories, problems %v", len(got), problems)
	}
}

func TestInspectArchiveHostile(t *testing.T) {
	header := zipEntry{"header.json", evalHeader, zip.Deflate}
	bomb := zipEntry{"samples/bomb.json", `{"messages":["` + strings.Repeat("a", 5<<20) + `"]}`, zip.Deflate}
	small := trace.Options{MaxRecord: 1 << 20}
	tests := []struct {
		name     string
		text     func() []byte
		o        trace.Options
		want     int
		problems []string
	}{
		{"an entry that unpacks to more than is allowed", func() []byte { return zipOf(t, header, bomb, evalEntry("a", zip.Deflate)) }, small, 1, []string{
			"/samples/bomb.json:1:1: record-too-large: the record has more than 1048576 bytes, which is the limit",
		}},
		{"one that says that it is smaller", func() []byte {
			b := zipOf(t, header, bomb, evalEntry("a", zip.Deflate))
			size := []byte{byte(len(bomb.text)), byte(len(bomb.text) >> 8), byte(len(bomb.text) >> 16), 0}
			at := bytes.LastIndex(b, size) // in the list of entries
			copy(b[at:], []byte{0, 1, 0, 0})
			return b
		}, small, 1, []string{"/samples/bomb.json:1:1: compression-corrupt: the zip data cannot be decompressed from here on: they are damaged"}},
		{"a checksum that is wrong", func() []byte {
			e := evalEntry("a", zip.Store)
			b := zipOf(t, header, e, evalEntry("b", zip.Deflate))
			b[bytes.Index(b, []byte("a long text"))] = 'b'
			return b
		}, trace.Options{}, 1, []string{"/samples/a_epoch_1.json:1:1: compression-corrupt: the zip data cannot be decompressed from here on: they are damaged"}},
		{"a header that is no JSON", func() []byte {
			return zipOf(t, zipEntry{"header.json", `{"eval":{"task":"t"}`, zip.Store}, evalEntry("a", zip.Store))
		}, trace.Options{}, 1, nil},
		{"names that nothing may be made of", func() []byte {
			return zipOf(t, header, zipEntry{"samples/../../etc/x\n\x1b[2J.json", inspectSample, zip.Store}, zipEntry{"samples//.json", "5", zip.Store})
		}, trace.Options{}, 1, []string{"/samples//.json:1:1: record-shape: this record has no list \"messages\""}},
		{"one that is cut short", func() []byte { b := zipOf(t, header, evalEntry("a", 0)); return b[:len(b)-30] }, trace.Options{}, 0, []string{
			": compression-corrupt: the zip data cannot be decompressed from here on: they are damaged",
		}},
		{"entries that share their bytes", func() []byte { return overlapping(t, header, evalEntry("a", zip.Store)) }, trace.Options{}, 0, []string{
			": compression-corrupt: the zip data cannot be decompressed from here on: its entries overlap",
		}},
		{"none at all", func() []byte { return zipOf(t) }, trace.Options{}, 0, []string{
			":1:1: compression-unknown: the file is an empty zip archive",
		}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "x.eval")
			if err := os.WriteFile(file, test.text(), 0o600); err != nil {
				t.Fatal(err)
			}
			got, problems := formattest.ReadProblems(t, test.o, file)
			for i := range problems {
				problems[i] = strings.TrimPrefix(problems[i], file)
			}
			formattest.WantLines(t, "problems", problems, test.problems)
			if len(got) != test.want {
				t.Errorf("%d trajectories, want %d", len(got), test.want)
			}
			for _, x := range got {
				if strings.ContainsAny(x.Source.String(), "\n\x1b") {
					t.Errorf("the source is %q", x.Source.String())
				}
			}
		})
	}
}

// overlapping writes an archive whose last entry is listed many times.
func overlapping(t *testing.T, entries ...zipEntry) []byte {
	t.Helper()
	b := zipOf(t, entries...)
	end := bytes.LastIndex(b, []byte("PK\x05\x06"))
	last := bytes.LastIndex(b, []byte("PK\x01\x02"))
	first := bytes.Index(b, []byte("PK\x01\x02"))
	listed := slices.Clone(b[last:end])
	name := bytes.Index(listed, []byte("a_epoch"))
	out := slices.Clone(b[:end])
	const copies = 20
	for i := range copies {
		listed[name] = byte('b' + i)
		out = append(out, listed...)
	}
	tail := slices.Clone(b[end:])
	count, size := len(entries)+copies, len(out)-first
	tail[8], tail[10] = byte(count), byte(count)
	tail[12], tail[13], tail[14] = byte(size), byte(size>>8), byte(size>>16)
	return append(out, tail...)
}

func FuzzInspectArchive(f *testing.F) {
	f.Add(zipOf(f, zipEntry{"header.json", evalHeader, zip.Deflate}, evalEntry("a", zip.Deflate), evalEntry("b", zip.Store), evalEntry("c", zipWithZstd)))
	f.Add(zipOf(f, zipEntry{"_journal/start.json", `{"eval":{"model":5}}`, zip.Store}, zipEntry{"samples/.json", `{"messages":[]}`, zip.Store}))
	f.Add(zipOf(f))
	f.Add(fmt.Appendf(nil, "PK\x03\x04%d", crc32.ChecksumIEEE(nil)))
	f.Fuzz(func(t *testing.T, text []byte) {
		const limit = 64 << 10
		a, err := trace.OpenArchive(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			return
		}
		records, ok := formattest.Format("inspect").Archive(a, limit)
		if !ok {
			return
		}
		for _, e := range records.Entries {
			data, err := a.Read(e, limit)
			if len(data) > limit {
				t.Fatalf("%d bytes, the limit is %d", len(data), limit)
			}
			if err == nil && data != nil {
				formattest.CheckDecoder(t, formattest.Format("inspect"), data)
			}
		}
	})
}

// zipEntry is an entry of an archive that a test writes.
type zipEntry struct {
	name, text string
	method     uint16
}

// zipWithZstd is the method by which archives hold entries compressed with zstd.
const zipWithZstd = 93

// zipOf writes an archive.
func zipOf(t testing.TB, entries ...zipEntry) []byte {
	t.Helper()
	var out bytes.Buffer
	z := zip.NewWriter(&out)
	z.RegisterCompressor(zipWithZstd, zstd.ZipCompressor())
	for _, e := range entries {
		w, err := z.CreateHeader(&zip.FileHeader{Name: e.name, Method: e.method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, e.text); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
