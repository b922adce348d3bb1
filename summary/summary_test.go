package summary_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/inertia"
	"github.com/awo-dev/awo/internal/partition"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/summary"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/completeness"
)

const office = "../testdata/office/trajectories.jsonl.gz"

func options(choices ...summary.Option) summary.Options {
	return summary.Options{
		Labels: []summary.Label{
			{Name: "model", Of: func(t *trace.Trajectory) string { return t.Model }},
			{Name: "outcome", Of: func(t *trace.Trajectory) string { return t.Outcome.String() }},
		},
		Choices: choices,
	}
}

// of returns the summary of trajectories; part k of them has an input of its own.
func of(k int, list ...*trace.Trajectory) *summary.Summary {
	s := summary.New(options())
	for _, t := range list {
		s.Add(t)
		addNamed(s, t)
	}
	s.AddIntake(intake(k))
	s.AddInput(sha256.Sum256([]byte{byte(k), byte(k >> 8)}))
	return s
}

// addNamed adds to sums and sets by name what follows from a trajectory.
func addNamed(s *summary.Summary, t *trace.Trajectory) {
	see := s.Different("tools")
	for i := range t.Calls {
		if tool := t.Calls[i].Tool.Value(); strings.Contains(tool, "search") {
			s.AddTaskN(t.TaskKey(), "searches."+tool, 1)
		}
		s.AddN("calls."+t.Calls[i].Tool.Value(), 1)
		hash := sha256.Sum256([]byte(t.Calls[i].Tool.Value()))
		see(binary.LittleEndian.Uint64(hash[:]))
	}
}

func intake(k int) summary.Intake {
	in := summary.Intake{Files: 1, Records: k, Bounds: map[string]summary.Bound{"places": {Places: 1, LeftOut: k}}}
	in.Problems.AddN("json-syntax", k)
	in.Left[2] = k
	return in
}

// stored returns a summary as it is read from a file.
func stored(t rapid.TB, s *summary.Summary) *summary.Summary {
	t.Helper()
	read, err := summary.Read("part", s.Append(nil))
	if err != nil {
		t.Fatal(err)
	}
	return read
}

// TestPartitions wants the summary of any parts, merged in any order and by any tree, to
// be byte for byte that of the whole.
func TestPartitions(t *testing.T) {
	list := recordings.Read(t, office)[:60]
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 12).Draw(t, "parts")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		whole := summary.New(options())
		var parts []*summary.Summary
		for k, chosen := range partition.Of(r, n, list) {
			parts = append(parts, of(k, chosen...))
			for _, one := range chosen {
				whole.Add(one)
				addNamed(whole, one)
			}
			whole.AddIntake(intake(k))
			whole.AddInput(sha256.Sum256([]byte{byte(k), byte(k >> 8)}))
		}
		want := whole.Append(nil)
		merged := partition.Merged(r, parts, func(s *summary.Summary) *summary.Summary { return stored(t, s) }, func(into, from *summary.Summary) {
			if err := into.Merge(from, false); err != nil {
				t.Fatal(err)
			}
		})
		if got := merged.Append(nil); !bytes.Equal(got, want) {
			t.Fatalf("%d parts give other bytes: %d of %d", n, len(got), len(want))
		}
		if got := stored(t, whole).Append(nil); !bytes.Equal(got, want) {
			t.Fatal("reading changes the bytes")
		}
	})
}

// TestTaskSums wants sums by task back that went in, of the tasks that have some, in
// order.
func TestTaskSums(t *testing.T) {
	list := recordings.Read(t, office)[:60]
	s := stored(t, of(1, list...))
	want := map[[16]byte]int{}
	const tool = "contacts_search"
	for _, one := range list {
		for i := range one.Calls {
			if one.Calls[i].Tool.Value() == tool {
				sum := sha256.Sum256([]byte(one.TaskKey()))
				want[[16]byte(sum[:])]++
			}
		}
	}
	got := maps.Collect(s.TaskSums("searches." + tool))
	if len(want) < 5 || !maps.Equal(got, want) {
		t.Errorf("%d tasks, want %d", len(got), len(want))
	}
	var last [16]byte
	for task := range s.TaskSums("searches." + tool) {
		if bytes.Compare(task[:], last[:]) <= 0 {
			t.Error("tasks are not in order")
		}
		last = task
	}
	for range s.TaskSums("nothing") {
		t.Error("there is a sum of what nobody counted")
	}
}

// TestVersions wants the lowest version that holds what was counted, so that who counts
// nothing new writes what was written before.
func TestVersions(t *testing.T) {
	list := recordings.Read(t, office)[:9]
	plain, taught := summary.New(options()), summary.New(summary.Options{Lessons: inertia.NewLessons(2, 1)})
	for _, one := range list {
		plain.Add(one)
		taught.Add(one)
	}
	version := func(s *summary.Summary) uint32 { return binary.LittleEndian.Uint32(s.Append(nil)[8:]) }
	if a, b := version(plain), version(taught); a != 3 || b != 5 {
		t.Errorf("versions %d and %d, want 3 and 5", a, b)
	}
	plain.AddTaskN(list[0].TaskKey(), "x", 1)
	taught.AddTaskN(list[0].TaskKey(), "x", 1)
	if a, b := version(plain), version(taught); a != 5 || b != 5 {
		t.Errorf("versions %d and %d, want 5", a, b)
	}
	if read := stored(t, taught); read.Lessons() == nil || !bytes.Equal(read.Append(nil), taught.Append(nil)) {
		t.Error("lessons are lost behind sums by task")
	}
	if read := stored(t, plain); read.Lessons() != nil {
		t.Error("there are lessons that nobody counted")
	}
}

// TestCorpus wants the sequences back that went in, and the figures beside them.
func TestCorpus(t *testing.T) {
	list := recordings.Read(t, office)
	s := stored(t, of(1, list...))
	var facts completeness.Facts
	in := trace.NewCorpus(trace.CorpusOptions{Group: func(t *trace.Trajectory) string { return t.Model }})
	for _, one := range list {
		in.Add(one)
		facts.Add(one)
	}
	out, err := s.Corpus("model")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := multiset(out), multiset(in); !reflect.DeepEqual(got, want) {
		t.Errorf("%d different sequences in groups, want %d", len(got), len(want))
	}
	if got, want := len(out.Tasks()), len(in.Tasks()); got != want {
		t.Errorf("%d tasks, want %d", got, want)
	}
	if got, want := s.Facts().Tools(), facts.Tools(); !reflect.DeepEqual(got, want) {
		t.Errorf("tools are\n%+v, want\n%+v", got, want)
	}
	if got, want := s.Facts().Tally.Capabilities(), facts.Capabilities(); !reflect.DeepEqual(got, want) {
		t.Errorf("capabilities are\n%+v, want\n%+v", got, want)
	}
	for _, text := range []string{list[0].ID, list[0].TaskKey(), "trajectories.jsonl"} {
		if bytes.Contains(s.Append(nil), []byte(text)) {
			t.Errorf("the file holds %q", text)
		}
	}
}

func multiset(c *trace.Corpus) map[string]int {
	out := map[string]int{}
	for i := range c.Len() {
		var b strings.Builder
		b.WriteString(c.Groups()[c.Group(i)] + ":")
		for _, tool := range c.Sequence(i).Tools {
			b.WriteString(" " + c.Tools()[tool].Value())
		}
		out[b.String()]++
	}
	return out
}

// TestTallyIsWhole wants every count of a tally and of a tool among those that are kept.
func TestTallyIsWhole(t *testing.T) {
	var tally completeness.Tally
	var tool completeness.ToolSummary
	for _, x := range []struct {
		v       reflect.Value
		figures int
	}{{reflect.ValueOf(tally), len(tally.Figures())}, {reflect.ValueOf(tool), len(tool.Figures())}} {
		n := 0
		for i := range x.v.NumField() {
			if x.v.Field(i).Kind() == reflect.Int {
				n++
			}
		}
		if n != x.figures {
			t.Errorf("%s has %d counts, and %d are kept", x.v.Type(), n, x.figures)
		}
	}
}

func code(err error) string {
	if e, ok := err.(*diag.Error); ok {
		return e.Code
	}
	return ""
}

func TestMergeRefuses(t *testing.T) {
	list := recordings.Read(t, office)[:9]
	a := of(1, list...)
	before := a.Append(nil)
	other := summary.New(options(summary.Option{Name: "min-length", Value: "2"}))
	labels := summary.New(summary.Options{})
	for _, x := range []struct {
		part *summary.Summary
		want string
	}{{of(1, list...), summary.CodeOverlap}, {other, summary.CodeOptions}, {labels, summary.CodeOptions}} {
		if err := a.Merge(x.part, false); code(err) != x.want {
			t.Errorf("merging gives %v, want %s", err, x.want)
		}
		if !bytes.Equal(a.Append(nil), before) {
			t.Error("a refused part was counted")
		}
	}
	if err := a.Merge(of(1, list...), true); err != nil || a.Facts().Tally.Trajectories != 18 {
		t.Errorf("with overlap: %v, %d trajectories", err, a.Facts().Tally.Trajectories)
	}
}

func TestReadRefuses(t *testing.T) {
	data := of(1, recordings.Read(t, office)[:9]...).Append(nil)
	change := func(at int, b byte) []byte {
		out := bytes.Clone(data)
		out[at] ^= b
		return out
	}
	for name, x := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":      {nil, summary.CodeForeign},
		"other":        {[]byte(`{"messages":[]}`), summary.CodeForeign},
		"head":         {data[:20], summary.CodeTruncated},
		"half":         {data[:len(data)/2], summary.CodeTruncated},
		"longer":       {append(bytes.Clone(data), 0), summary.CodeTruncated},
		"earlier":      {change(8, 1), summary.CodeVersion},         // version 4
		"by task":      {sealed(change(8, 6)), summary.CodeCorrupt}, // version 3
		"version":      {change(8, 7), summary.CodeVersion},         // version 2
		"later":        {change(8, 3), summary.CodeVersion},         // version 6
		"bit":          {change(len(data)/2, 1), summary.CodeCorrupt},
		"checksum":     {change(len(data)-1, 1), summary.CodeCorrupt},
		"body":         {sealed(change(len(data)-33, 0x80)), summary.CodeCorrupt},
		"options":      {sealed(change(30, 1)), summary.CodeCorrupt},
		"whole":        {data, ""},
		"sealed again": {sealed(data), ""},
	} {
		if _, err := summary.Read("x", x.data); code(err) != x.want {
			t.Errorf("%s: %v, want %q", name, err, x.want)
		}
	}
}

// sealed gives a file the size and the checksum that it should have.
func sealed(data []byte) []byte {
	if len(data) < 56+sha256.Size {
		return data
	}
	out := bytes.Clone(data)
	binary.LittleEndian.PutUint64(out[16:], uint64(len(out)))
	sum := sha256.Sum256(out[:len(out)-sha256.Size])
	copy(out[len(out)-sha256.Size:], sum[:])
	return out
}

// FuzzRead wants of any bytes a problem, or a summary that is written as it was read.
func FuzzRead(f *testing.F) {
	list := recordings.Read(f, office)
	for _, n := range []int{0, 1, 4} {
		f.Add(of(n, list[:n]...).Append(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = sealed(data)
		s, err := summary.Read("x", data)
		if err != nil {
			if !strings.HasPrefix(code(err), "summary-") {
				t.Fatalf("%v has no code", err)
			}
			return
		}
		if s.Lessons() == nil && !bytes.Equal(s.Append(nil), data) { // bytes may be compressed in many ways
			t.Fatal("it is not written as it was read")
		}
		s.Distinct("tools").Count()
		if s.Facts().Tally.Trajectories < 1000 {
			if _, err := s.Corpus("model"); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Merge(s, true); err != nil {
			t.Fatal(err)
		}
	})
}
