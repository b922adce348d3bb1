package trace

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// again reads refs again and returns what describeItem says.
func again(r *Reader, refs []Ref) []string {
	var lines []string
	for t, err := range r.At(refs) {
		lines = append(lines, describeItem(t, err))
	}
	return lines
}

// TestAt holds that any choice of trajectories is read again as it was read
// first, in that order, from every kind of source.
func TestAt(t *testing.T) {
	var lines, spans, runs strings.Builder
	for i := range 40 {
		fmt.Fprintf(&lines, `{"calls":["l%d"],"also":[{"calls":["m%d"]}]}`+"\n", i, i)
		fmt.Fprintf(&spans, `{"trace":"k%d","n":%d,"call":"s%d","split":%v}`+"\n", i%7, -i, i, i%9 == 0)
		fmt.Fprintf(&spans, `{"trace":"w%d","n":0,"call":"w%d","whole":true}`+"\n", i, i)
		fmt.Fprintf(&runs, `%c{"calls":["r%d"]}`+"\n", ",["[min(1, max(0, 1-i))], i)
	}
	document := `{"info":7,"runs":` + runs.String() + `]}`
	lay(t, map[string]string{
		"a.jsonl": lines.String() + "{broken\n", "b.gz": gzipped(t, lines.String()), "c.jsonl": spans.String() + "{broken\n",
		"d.json": "[" + strings.ReplaceAll(strings.TrimSpace(lines.String()), "\n", ",\n") + "]",
		"e.json": document, "f.zst": zstandard(t, spans.String()), "g.json": "{\n" + lines.String()[1:],
	})
	for _, input := range []string{lines.String(), gzipped(t, lines.String()), spans.String()} {
		for _, workers := range []int{1, 2} {
			r, err := Open([]string{"a.jsonl", "b.gz", "c.jsonl", "d.json", "e.json", "-", "f.zst", "g.json"}, Options{
				Formats: testFormats(), Workers: workers, Stdin: strings.NewReader(input), Spool: true, TempDir: t.TempDir(),
			})
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			var refs []Ref
			for trajectory, err := range r.All() {
				if err == nil {
					all = append(all, describeItem(trajectory, nil))
					refs = append(refs, trajectory.Ref)
				}
			}
			counts := r.Counts()
			if d := cmp.Diff(all, again(r, refs)); d != "" {
				t.Fatalf("all again: %s", d)
			}
			rapid.Check(t, func(t *rapid.T) {
				chosen := rapid.SliceOfN(rapid.IntRange(0, len(refs)-1), 0, 12).Draw(t, "chosen")
				wanted := make([]Ref, len(chosen))
				for i, n := range chosen {
					wanted[i] = refs[n]
				}
				slices.Sort(chosen)
				want := []string(nil)
				for _, n := range slices.Compact(chosen) {
					want = append(want, all[n])
				}
				if d := cmp.Diff(want, again(r, wanted)); d != "" {
					t.Fatal(d)
				}
			})
			if d := cmp.Diff(counts, r.Counts()); d != "" {
				t.Errorf("At counted: %s", d)
			}
			if d := cmp.Diff(all, slices.DeleteFunc(describe(r), func(s string) bool { return strings.HasPrefix(s, "error") })); d != "" {
				t.Errorf("a second All differs: %s", d)
			}
			if err := r.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestAtReadsLittle holds that of a plain file only the wanted records are read.
func TestAtReadsLittle(t *testing.T) {
	lay(t, map[string]string{"a.jsonl": strings.Repeat(oneCall, 10)})
	decoded := 0
	formats := testFormats()
	formats[3].Decode = func(r Record) ([]Fragment, error) {
		decoded++
		return decodeCalls(r)
	}
	r, err := Open([]string{"a.jsonl"}, Options{Formats: formats, Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	var refs []Ref
	for trajectory := range r.All() {
		refs = append(refs, trajectory.Ref)
	}
	decoded = 0
	if got := again(r, refs[4:6]); len(got) != 2 || decoded != 2 {
		t.Errorf("%d decoded for %q", decoded, got)
	}
}

func TestAtChanged(t *testing.T) {
	lay(t, map[string]string{"a.jsonl": oneCall, "b.jsonl": oneCall, "c.jsonl": `{"trace":"x","n":1}` + "\n"})
	r, err := Open([]string{"a.jsonl", "b.jsonl", "c.jsonl", "-"}, Options{Formats: testFormats(), Stdin: strings.NewReader(oneCall)})
	if err != nil {
		t.Fatal(err)
	}
	var refs []Ref
	for trajectory := range r.All() {
		refs = append(refs, trajectory.Ref)
	}
	old := time.Now().Add(-time.Hour)
	if err := errors.Join(os.Chtimes("a.jsonl", old, old), os.Remove("c.jsonl")); err != nil {
		t.Fatal(err)
	}
	changed := "file-changed: the file was changed while it was in use; what was read from it before is not read again"
	want := []string{
		"error a.jsonl: " + changed, "error c.jsonl: " + changed,
		"b.jsonl:1 at b.jsonl:1:1 +0 calls [a]",
		"error -: stream-spent: it was read already and cannot be read again",
		"error -: record-gone: a trajectory that was read here before is not found again",
	}
	if d := cmp.Diff(want, again(r, append(refs, Ref{}))); d != "" {
		t.Error(d)
	}
}

// TestSpoolStoppedEarly holds that a stream whose first reading was left early
// is read to its end by the next.
func TestSpoolStoppedEarly(t *testing.T) {
	in := strings.Repeat(oneCall, 50000)
	for _, workers := range []int{1, 2} {
		r, err := Open([]string{"-"}, Options{Formats: testFormats(), Workers: workers, Spool: true, Stdin: strings.NewReader(in)})
		if err != nil {
			t.Fatal(err)
		}
		for range r.All() {
			break
		}
		n := 0
		for _, err := range r.All() {
			if err != nil {
				t.Fatal(err)
			}
			n++
		}
		if n != 50000 {
			t.Errorf("%d trajectories", n)
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAtOfAnother holds that Refs of another Reader do no harm.
func TestAtOfAnother(t *testing.T) {
	r, err := Open([]string{"-"}, Options{Formats: testFormats(), Stdin: strings.NewReader(oneCall)})
	if err != nil {
		t.Fatal(err)
	}
	got := again(r, []Ref{{source: 7, offset: 3}, {offset: 9}})
	gone := "error record-gone: a trajectory that was read here before is not found again"
	if d := cmp.Diff([]string{gone, gone}, got); d != "" {
		t.Error(d)
	}
}

func TestSpoolFails(t *testing.T) {
	r, err := Open([]string{"-", "-"}, Options{Formats: testFormats(), Spool: true, TempDir: "/nowhere/at/all", Stdin: strings.NewReader(oneCall)})
	if err != nil {
		t.Fatal(err)
	}
	got := describe(r)
	if len(got) != 1 || !strings.HasPrefix(got[0], "error temporary file: ") {
		t.Errorf("got %q", got)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
