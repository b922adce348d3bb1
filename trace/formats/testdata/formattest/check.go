package formattest

import (
	"bytes"
	"cmp"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
	"github.com/awo-dev/awo/trace/formats/atif"
)

// ByWayOfATIF writes a trajectory, checks what is written, and reads it again.
func ByWayOfATIF(t testing.TB, tr *trace.Trajectory) (*trace.Trajectory, []byte) {
	t.Helper()
	line, err := atif.Append([]byte("before\n"), tr)
	if err != nil {
		t.Fatal(err)
	}
	line, ok := bytes.CutPrefix(line, []byte("before\n"))
	if !ok {
		t.Fatal("what stood before is gone")
	}
	if err := checkATIF(line); err != nil {
		t.Fatalf("%v\n%s", err, line)
	}
	return DecodeOne(t, &atif.Format, string(line)), line
}

// CheckRoundTrip checks that a trajectory survives ATIF, and that writing what
// was read gives the same bytes.
func CheckRoundTrip(t testing.TB, tr *trace.Trajectory) {
	t.Helper()
	again, line := ByWayOfATIF(t, tr)
	if got, want := Depict(again), Depict(tr); got != want {
		t.Fatalf("got\n%s\nwant\n%s\nby way of\n%s", got, want, line)
	}
	for i := range tr.Calls {
		a, b := &tr.Calls[i], &again.Calls[i]
		if a.Args.Form == trace.FormJSON && b.Args.Form != trace.FormJSON || a.Turn != b.Turn || a.AfterUser != b.AfterUser {
			t.Fatalf("call %d: %+v, want %+v", i, b, a)
		}
	}
	second, line2 := ByWayOfATIF(t, again)
	if !bytes.Equal(line, line2) {
		t.Fatalf("written again:\n%s\nwant\n%s", line2, line)
	}
	if Depict(second) != Depict(tr) {
		t.Fatal("the second time something is lost")
	}
}

// RoundTrip writes a trajectory as ATIF and reads it back.
func RoundTrip(t *testing.T, x *trace.Trajectory) {
	t.Helper()
	text, err := atif.Append(nil, x)
	if err != nil {
		t.Fatal(err)
	}
	back := DecodeOne(t, &atif.Format, string(text))
	before, after := strings.Split(Depict(x), "\n"), strings.Split(Depict(back), "\n")
	for i := range max(len(before), len(after)) {
		a, b := "", ""
		if i < len(before) {
			a = before[i]
		}
		if i < len(after) {
			b = after[i]
		}
		if a != b {
			t.Errorf("%s is another after ATIF: line %d was %.200q, is %.200q", x.ID, i, a, b)
			return
		}
	}
}

// CheckPosition holds an error to a position inside its record.
func CheckPosition(t *testing.T, err error, at, length int) {
	t.Helper()
	problem, ok := err.(*diag.Error)
	if !ok {
		t.Fatalf("error %v is no *diag.Error", err)
	}
	if problem.Pos.Line != at || problem.Pos.Col < 1 || problem.Pos.Col > length+1 {
		t.Errorf("position %v is outside of line %d with %d bytes", problem.Pos, at, length)
	}
}

// FuzzLines checks a format whose trajectories stand on several lines.
func FuzzLines(f *testing.F, format *trace.Format, seeds ...string) {
	for _, seed := range seeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parts := map[string][]trace.Fragment{}
		var keys []string
		var all []*trace.Trajectory
		for i, l := range strings.Split(text, "\n") {
			fragments, err := format.Decode(trace.Record{Data: []byte(l), File: "f", Line: i + 1, Col: 1})
			if err != nil {
				CheckPosition(t, err, i+1, len(l))
			}
			for _, fragment := range fragments {
				if fragment.Trajectory != nil {
					all = append(all, fragment.Trajectory)
					continue
				}
				if parts[fragment.Key] == nil {
					keys = append(keys, fragment.Key)
				}
				parts[fragment.Key] = append(parts[fragment.Key], fragment)
			}
		}
		for _, key := range keys {
			trajectories, err := format.Assemble(key, parts[key])
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, trajectories...)
		}
		for _, x := range all {
			if x.ID == "" {
				x.ID = "f:1" // as the Reader does
			}
			CheckRoundTrip(t, x)
		}
	})
}

// CheckDecoder checks a decoder on a record: that it does not panic, that its
// problem has a code and a place in the record, and that what it reads can be
// written as ATIF and comes back.
func CheckDecoder(t *testing.T, format *trace.Format, text []byte) {
	record := trace.Record{Data: text, File: "f", Line: 7, Col: 3}
	before := bytes.Clone(text)
	fragments, err := format.Decode(record)
	if !bytes.Equal(before, text) {
		t.Fatal("the record has been changed")
	}
	if err != nil {
		problem, ok := err.(*diag.Error)
		if !ok || problem.Code == "" || problem.Msg == "" || problem.Pos.File != "f" {
			t.Fatalf("problem %#v", err)
		}
		last := record.At(len(text))
		if problem.Pos.Compare(record.Pos()) < 0 || problem.Pos.Compare(last) > 0 {
			t.Fatalf("problem at %v, the record is from %v to %v", problem.Pos, record.Pos(), last)
		}
	}
	if (err == nil) != (len(fragments) > 0) {
		t.Fatalf("%d fragments and %v", len(fragments), err)
	}
	for _, tr := range JoinedAlone(t, format, fragments) {
		for i := range tr.Calls {
			if tr.Calls[i].Turn >= len(tr.Turns) || tr.Calls[i].Turn < -1 {
				t.Fatalf("call %d is of turn %d of %d", i, tr.Calls[i].Turn, len(tr.Turns))
			}
		}
		if tr.ID == "" {
			tr.ID = "f:7" // as the Reader does
		}
		CheckRoundTrip(t, tr)
	}
}

func FuzzDecoder(f *testing.F, format *trace.Format, seeds []string) {
	for _, seed := range seeds {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) { CheckDecoder(t, format, text) })
}

// FuzzFormat holds, for any record: no panic, errors inside the record, a
// consistent trajectory that can be written, the same twice.
func FuzzFormat(f *testing.F, format *trace.Format, seeds ...string) {
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
	f.Fuzz(func(t *testing.T, data []byte) { CheckFormat(t, format, data) })
}

// CheckFormat holds the same of one text.
func CheckFormat(t *testing.T, format *trace.Format, data []byte) {
	if len(data) > 1<<16 {
		return
	}
	all, depicted := readAll(t, format, data)
	if _, again := readAll(t, format, data); depicted != again {
		t.Fatal("not the same twice")
	}
	for _, tr := range all {
		CheckConsistent(t, tr)
		if _, err := atif.Append(nil, tr); err != nil {
			t.Fatal(err)
		}
	}
}

// readAll reads a text as a file of a format, without a Reader: its goroutines make
// coverage differ from run to run, and fuzzing then learns nothing.
func readAll(t *testing.T, format *trace.Format, text []byte) (all []*trace.Trajectory, depicted string) {
	t.Helper()
	split := format.Split
	if split == nil {
		split = trace.SplitRecords
	}
	head, _ := trace.NewHead(text, true)
	var open []trace.Fragment
	for r, err := range split(&trace.Input{Reader: bytes.NewReader(text), File: "f", Container: head.Container, Whole: format.Detect(head).Whole}) {
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
			} else {
				open = append(open, fragment)
			}
		}
	}
	for _, parts := range together(open) {
		joined, err := format.Assemble(parts[0].Key, parts)
		if err == nil {
			all = append(all, joined...)
		}
	}
	for _, tr := range all {
		if tr.ID == "" {
			tr.ID = "f:1" // as the Reader does
		}
	}
	return all, DepictAll(all)
}

// together groups fragments that share a key or an alias, in order of appearance.
func together(fragments []trace.Fragment) (groups [][]trace.Fragment) {
	of := map[string]int{}
	for _, f := range fragments {
		keys := append([]string{f.Key}, f.Aliases...)
		at := len(groups)
		for _, k := range keys {
			if g, ok := of[k]; ok {
				at = min(at, g)
			}
		}
		if at == len(groups) {
			groups = append(groups, nil)
		}
		for _, k := range keys {
			if g, ok := of[k]; ok && g != at {
				groups[at] = append(groups[at], groups[g]...)
				groups[g] = nil
				for other, in := range of {
					if in == g {
						of[other] = at
					}
				}
			}
			of[k] = at
		}
		groups[at] = append(groups[at], f)
	}
	groups = slices.DeleteFunc(groups, func(g []trace.Fragment) bool { return len(g) == 0 })
	for _, g := range groups {
		slices.SortStableFunc(g, func(a, b trace.Fragment) int { return cmp.Compare(a.Order, b.Order) })
	}
	return groups
}

// CheckConsistent checks that turns and calls fit together.
func CheckConsistent(t testing.TB, tr *trace.Trajectory) {
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

// ReadProblems reads files with all formats and returns trajectories and problems.
// For any number of workers every trajectory is found again.
func ReadProblems(t *testing.T, o trace.Options, files ...string) (out []*trace.Trajectory, problems []string) {
	t.Helper()
	for _, workers := range []int{4, 1} {
		o.Workers = workers
		out, problems = readTwice(t, o, files)
	}
	return out, problems
}

func readTwice(t *testing.T, o trace.Options, files []string) (out []*trace.Trajectory, problems []string) {
	t.Helper()
	if o.Formats == nil {
		o.Formats = formats.All
	}
	r, err := trace.Open(files, o)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var refs []trace.Ref
	for x, err := range r.All() {
		if problem, ok := errors.AsType[*diag.Error](err); ok {
			problems = append(problems, problem.Error())
		} else if err != nil {
			t.Fatal(err)
		} else {
			out, refs = append(out, x), append(refs, x.Ref)
		}
	}
	i := 0
	for x, err := range r.At(refs) {
		if err != nil {
			t.Errorf("a second time: %v", err)
		} else if Depict(x) != Depict(out[i]) || x.Source != out[i].Source {
			t.Errorf("a second time trajectory %d is\n%s\nand was\n%s", i, Depict(x), Depict(out[i]))
		} else {
			i++
		}
	}
	if i != len(out) {
		t.Errorf("%d of %d trajectories are found again", i, len(out))
	}
	return out, problems
}
