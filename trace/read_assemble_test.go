package trace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/diag"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"pgregory.net/rapid"
)

// TestAssembleAnyBudget holds that trajectories whose fragments are spread over
// lines and files, in any order, are the same for any budget, also one of which
// every fragment is too much, and for any number of workers; and that they are
// those that a plain sort makes.
func TestAssembleAnyBudget(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		var files []string
		type span struct {
			order int64
			call  string
		}
		spans := map[string][]span{}
		var keys []string
		id := 0
		for f := range rapid.IntRange(1, 3).Draw(t, "files") {
			var b strings.Builder
			for range rapid.IntRange(1, 25).Draw(t, "spans") {
				key := rapid.SampledFrom([]string{"x", "y", "z", "longer key", "é"}).Draw(t, "key")
				order := int64(rapid.IntRange(-3, 3).Draw(t, "order"))
				call := fmt.Sprintf("t%d", id)
				id++
				fmt.Fprintf(&b, `{"trace":%q,"n":%d,"call":%q,"pad":%q}`+"\n", key, order, call, strings.Repeat("p", rapid.IntRange(0, 50).Draw(t, "pad")))
				if spans[key] == nil {
					keys = append(keys, key)
				}
				spans[key] = append(spans[key], span{order, call})
			}
			name := filepath.Join(dir, fmt.Sprintf("%d.jsonl", f))
			if err := os.WriteFile(name, []byte(b.String()), 0o666); err != nil {
				t.Fatal(err)
			}
			files = append(files, name)
		}
		var want []string
		for _, key := range keys {
			var calls []string
			for order := int64(-3); order <= 3; order++ {
				for _, s := range spans[key] {
					if s.order == order {
						calls = append(calls, s.call)
					}
				}
			}
			want = append(want, key+" "+strings.Join(calls, ","))
		}
		for _, budget := range []int64{1, rapid.Int64Range(100, 3000).Draw(t, "budget"), 1 << 20} {
			for _, workers := range []int{1, rapid.IntRange(2, 8).Draw(t, "workers")} {
				temp := filepath.Join(dir, "temp")
				if err := os.MkdirAll(temp, 0o777); err != nil {
					t.Fatal(err)
				}
				r, err := Open(files, Options{Formats: testFormats(), Workers: workers, SpillBudget: budget, TempDir: temp})
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for trajectory, err := range r.All() {
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, trajectory.ID+" "+tools(trajectory))
				}
				if d := cmp.Diff(want, got); d != "" {
					t.Fatalf("budget %d, %d workers: %s", budget, workers, d)
				}
				if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
					t.Fatalf("left behind: %v, %v", left, err)
				}
			}
		}
	})
}

// TestAssembleStopsEarly holds that the temporary file is closed when the
// consumer leaves between assembled trajectories.
func TestAssembleStopsEarly(t *testing.T) {
	var in strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&in, `{"trace":"k%d","n":1}`+"\n", i)
	}
	before := openFiles(t)
	for _, workers := range []int{1, 2, 8} {
		r, err := Open([]string{"-"}, Options{Formats: testFormats(), Workers: workers, SpillBudget: 1000, Stdin: strings.NewReader(in.String())})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for range r.All() {
			if n++; n == 10 {
				break
			}
		}
		goleak.VerifyNone(t)
		if after := openFiles(t); after != before {
			t.Errorf("%d workers: %d open files, %d before", workers, after, before)
		}
	}
}

func TestAssembleTooLarge(t *testing.T) {
	pad := strings.Repeat("x", 60)
	in := `{"trace":"big","n":1,"pad":"` + pad + `"}` + "\n" + `{"trace":"small","n":1,"call":"s"}` + "\n" +
		`{"trace":"big","n":2,"pad":"` + pad + `"}` + "\n" + `{"trace":"big","n":0}` + "\n"
	want := []string{
		"error -:1:1: record-too-large: the parts of the trajectory have 201 bytes; the limit is 150",
		"small at -:2:1 +-1 spans [s]",
	}
	for _, budget := range []int64{1, 0} {
		if d := cmp.Diff(want, readString(t, in, Options{MaxRecord: 150, SpillBudget: budget})); d != "" {
			t.Errorf("budget %d: %s", budget, d)
		}
	}
}

func TestAssembleSeveralOfAKey(t *testing.T) {
	in := `{"trace":"x","n":2,"call":"b","split":true}` + "\n" + `{"trace":"x","n":1,"call":"a"}` + "\n"
	want := []string{"x at -:2:1 +-1 spans [a]", "x#2 at -:2:1 +-1 spans [b]"}
	if d := cmp.Diff(want, readString(t, in, Options{})); d != "" {
		t.Error(d)
	}
}

// TestSpillFails holds that a temporary file that cannot be made ends reading
// with an error that is no problem of the input.
func TestSpillFails(t *testing.T) {
	in := strings.Repeat(`{"trace":"x","n":1}`+"\n", 10)
	for _, o := range []Options{{SpillBudget: 1}, {SpillBudget: 1, Workers: 4}} {
		o.Formats, o.Stdin, o.TempDir = testFormats(), strings.NewReader(in), filepath.Join(t.TempDir(), "none")
		r, err := Open([]string{"-"}, o)
		if err != nil {
			t.Fatal(err)
		}
		var errs []error
		for _, err := range r.All() {
			errs = append(errs, err)
		}
		if len(errs) != 1 || !errors.Is(errs[0], fs.ErrNotExist) {
			t.Errorf("errors %v", errs)
		}
		if _, ok := errors.AsType[*diag.Error](errs[0]); ok {
			t.Errorf("%v is a problem of the input", errs[0])
		}
	}
}

// TestRunsDamaged holds that a temporary file that does not hold what was
// written is an error and not a panic.
func TestRunsDamaged(t *testing.T) {
	parts := []part{
		{group: 0, order: -5, pos: diag.Pos{File: "f", Line: 1, Col: 2}, data: []byte("abc")},
		{group: 3, order: 1 << 60, pos: diag.Pos{File: "g", Line: 1 << 40, Col: 2}, data: nil},
	}
	whole, err := newRunFile(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer whole.close()
	if err := whole.write(parts); err != nil {
		t.Fatal(err)
	}
	n := 0
	for p, err := range whole.merge(nil) {
		if err != nil || p.group != parts[n].group || p.order != parts[n].order || p.pos != parts[n].pos || string(p.data) != string(parts[n].data) {
			t.Errorf("part %d is %+v, %v", n, p, err)
		}
		n++
	}
	raw := make([]byte, whole.size)
	if _, err := whole.file.ReadAt(raw, 0); err != nil {
		t.Fatal(err)
	}
	damaged := func(raw []byte) (err error) {
		r, err := newRunFile(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		defer r.close()
		if _, err := r.file.Write(raw); err != nil {
			t.Fatal(err)
		}
		r.runs, r.files = whole.runs, whole.files
		for _, e := range r.merge(nil) {
			err = e
		}
		return err
	}
	for n := range raw {
		if _, ok := errors.AsType[*scratchError](damaged(raw[:n])); !ok {
			t.Errorf("cut to %d of %d bytes: no error", n, len(raw))
		}
		flipped := append([]byte{}, raw...)
		flipped[n] = 0xff
		_ = damaged(flipped) // the numbers may be others, but nothing panics
	}
}

// TestAliasesUnite holds what aliases make of keys, whatever the budget.
func TestAliasesUnite(t *testing.T) {
	format := &Format{Name: "x", Assemble: func(key string, parts []Fragment) ([]*Trajectory, error) {
		var said []string
		for _, p := range parts {
			said = append(said, string(p.Data))
		}
		return []*Trajectory{{ID: key + ": " + strings.Join(said, " ")}}, nil
	}}
	for _, budget := range []int64{1, 250, 1 << 20} {
		a := newAssembler(&Options{SpillBudget: budget, TempDir: t.TempDir(), MaxRecord: 20})
		for i, f := range []Fragment{
			{Key: "a", Order: 1},
			{Key: "b", Order: 0},
			{Key: "c"},
			{Key: "big1", Order: 3},
			{Key: "big2"},
			{Key: "d", Order: 2, Aliases: []string{"x", "y"}},
			{Key: "y", Order: 1},
			{Key: "b", Order: 1, Aliases: []string{"d", "a"}},
			{Key: "a", Order: 9, Aliases: []string{"a", "z"}},
			{Key: "z", Order: 1},
			{Key: "big3", Aliases: []string{"big2", "big1"}},
		} {
			f.Data = fmt.Appendf(nil, "%d", i)
			if strings.HasPrefix(f.Key, "big") {
				f.Data = []byte("12345678901")
			}
			if err := a.add(format, 0, f); err != nil {
				t.Fatal(err)
			}
		}
		var got, divided []string
		for m := range a.assemblies() {
			if problem := m.problem(); problem != nil {
				divided = append(divided, m.group.key+": "+problem.Error())
			}
			trajectories, err := m.join()
			if err != nil {
				got = append(got, err.Error())
				continue
			}
			got = append(got, trajectories[0].ID)
		}
		if err := a.close(); err != nil {
			t.Fatal(err)
		}
		want := []string{
			"a: 1 0 6 7 9 5 8", "c: 2", "big1: 12345678901", "big2: 12345678901", "big3: 12345678901",
		}
		if !slices.Equal(got, want) {
			t.Errorf("with a budget of %d, the groups are %q, want %q", budget, got, want)
		}
		want = []string{"big1: trajectory-divided: 3 sets of parts belong together and have 33 bytes; the limit is 20, so each was read alone"}
		if !slices.Equal(divided, want) {
			t.Errorf("the divided groups are %q, want %q", divided, want)
		}
	}
}
