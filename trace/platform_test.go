package trace

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/awo-dev/awo/diag"
)

// readFile reads the trajectories of a file as a run of awo does, and checks that
// it is taken for a format.
func readFile(t testing.TB, path, format string, o Options) []*Trajectory {
	t.Helper()
	r, err := Open([]string{path}, o)
	if err != nil {
		t.Fatal(err)
	}
	var all []*Trajectory
	for tr, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tr)
	}
	if got := r.Counts().Files[0].Format; got != format {
		t.Fatalf("%s is taken for %q, want %q", path, got, format)
	}
	return all
}

// depictAll depicts trajectories, an empty line between them.
func depictAll(all []*Trajectory) string {
	var parts []string
	for _, tr := range all {
		parts = append(parts, depict(tr))
	}
	return strings.Join(parts, "\n")
}

// platformFormats are the formats whose fixtures stand in testdata, a trace and
// what a person reads in it.
var platformFormats = []*Format{&formatOpenAIResponses, &formatLangSmith, &formatLangfuse, &formatOpenAIAgents}

// TestFixtures compares each fixture with what was written by hand beside it,
// for any number of workers and with everything spilled to disk, and by way of
// ATIF.
func TestFixtures(t *testing.T) {
	for _, f := range platformFormats {
		paths, err := filepath.Glob(filepath.Join("testdata", f.Name, "*.json*"))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s has no fixtures (%v)", f.Name, err)
		}
		for _, path := range paths {
			t.Run(f.Name+"/"+filepath.Base(path), func(t *testing.T) {
				want, err := os.ReadFile(strings.TrimSuffix(path, filepath.Ext(path)) + ".want")
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range []Options{{Workers: 1}, {Workers: 4, SpillBudget: 1, TempDir: t.TempDir()}} {
					all := readFile(t, path, f.Name, o)
					if got := depictAll(all); got != string(want) {
						t.Fatalf("got\n%s\nwant\n%s", got, want)
					}
					for _, tr := range all {
						checkRoundTrip(t, tr)
					}
				}
			})
		}
	}
}

// TestPlatformDetection checks that no recorded file of these formats is claimed
// by another, and none of others by them, wherever the beginning ends.
func TestPlatformDetection(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("testdata", "*", "*.json*"))
	if err != nil {
		t.Fatal(err)
	}
	samples, err := filepath.Glob(filepath.Join("..", "..", "shared", "data", "formats", "*", "*.json*"))
	if err != nil {
		t.Fatal(err)
	}
	own := map[string]string{"openai-agents-traces": "openai-agents"}
	for _, path := range append(paths, samples...) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.Base(filepath.Dir(path))
		if name, ok := own[folder]; ok {
			folder = name
		}
		for _, f := range platformFormats {
			for _, size := range []int{len(text), len(text) * 3 / 4, len(text) / 2, 1000, 200} {
				ok := f.Detect(headOf(string(text), min(size, len(text)))).OK
				if ok && folder != f.Name || !ok && folder == f.Name && size == len(text) {
					t.Errorf("%s claims %d bytes of %s: %v", f.Name, size, path, ok)
				}
			}
		}
	}
}

// fuzzFormat holds, for any record: no panic, errors inside the record, a
// consistent trajectory that can be written, the same twice.
func fuzzFormat(f *testing.F, format *Format, seeds ...string) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	paths, err := filepath.Glob(filepath.Join("testdata", format.Name, "*.json*"))
	if err != nil {
		f.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
		for line := range bytes.Lines(text) {
			f.Add(bytes.TrimSpace(line))
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<16 {
			return
		}
		split := format.Split
		if split == nil {
			split = SplitRecords
		}
		head, _ := newHead(data, true)
		match := format.Detect(head)
		joins := newAssembler(&Options{})
		var all []*Trajectory
		for r, err := range split(&Input{Reader: bytes.NewReader(data), File: "f", Container: head.Container, Whole: match.Whole}) {
			if err != nil {
				continue
			}
			fragments, err := format.Decode(r)
			if err != nil {
				problem, ok := errors.AsType[*diag.Error](err)
				if end := r.At(len(r.Data)); !ok || problem.Pos.Line < r.Line || problem.Pos.Line > end.Line {
					t.Fatalf("error %v outside the record at %v to %v", err, r.Pos(), end)
				}
			}
			for _, fragment := range fragments {
				if fragment.Trajectory != nil {
					all = append(all, fragment.Trajectory)
					continue
				}
				if err := joins.add(format, 0, fragment); err != nil {
					t.Fatal(err)
				}
			}
		}
		for m := range joins.assemblies() {
			joined, err := format.Assemble(m.group.key, m.parts)
			if err != nil {
				continue
			}
			again, _ := format.Assemble(m.group.key, m.parts)
			if depictAll(joined) != depictAll(again) {
				t.Fatal("not the same twice")
			}
			all = append(all, joined...)
		}
		for _, tr := range all {
			checkConsistent(t, tr)
			if tr.ID == "" {
				tr.ID = "f:1"
			}
			if _, err := AppendATIF(nil, tr); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// checkConsistent checks that turns and calls fit together.
func checkConsistent(t testing.TB, tr *Trajectory) {
	t.Helper()
	next := 0
	for i, turn := range tr.Turns {
		if turn.NumCalls > 0 && turn.FirstCall < next || turn.FirstCall+turn.NumCalls > len(tr.Calls) {
			t.Fatalf("turn %d has calls %d+%d of %d", i, turn.FirstCall, turn.NumCalls, len(tr.Calls))
		}
		for j := range turn.NumCalls {
			if tr.Calls[turn.FirstCall+j].Turn != i {
				t.Fatalf("call %d is of turn %d, want %d", turn.FirstCall+j, tr.Calls[turn.FirstCall+j].Turn, i)
			}
		}
		next = turn.FirstCall + turn.NumCalls
	}
}

func FuzzOpenAIResponses(f *testing.F) { fuzzFormat(f, &formatOpenAIResponses) }

func FuzzLangSmith(f *testing.F) { fuzzFormat(f, &formatLangSmith) }

func FuzzLangfuse(f *testing.F) { fuzzFormat(f, &formatLangfuse) }

func FuzzOpenAIAgents(f *testing.F) { fuzzFormat(f, &formatOpenAIAgents) }
