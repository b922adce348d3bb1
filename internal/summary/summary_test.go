package summary

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/partition"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/internal/sealed"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/completeness"
)

const office = "../../testdata/office/trajectories.jsonl.gz"

func choosing(choices ...Option) Options {
	return Options{
		Labels: []Label{
			{Name: "model", Of: func(t *trace.Trajectory) string { return t.Model }},
			{Name: "outcome", Of: func(t *trace.Trajectory) string { return t.Outcome.String() }},
		},
		Choices: choices,
	}
}

// of returns the summary of trajectories; part k of them has an input of its own.
func of(k int, list ...*trace.Trajectory) *Summary {
	s := New(choosing())
	for _, t := range list {
		s.Add(t)
		addNamed(s, t)
	}
	s.AddIntake(intake(k))
	s.AddInput(sha256.Sum256([]byte{byte(k), byte(k >> 8)}))
	return s
}

// addNamed adds to sums by name what follows from a trajectory.
func addNamed(s *Summary, t *trace.Trajectory) {
	for i := range t.Calls {
		if tool := t.Calls[i].Tool.Value(); strings.Contains(tool, "search") {
			s.AddTaskN(t.TaskKey(), "searches."+tool, 1)
		}
		s.AddN("calls."+t.Calls[i].Tool.Value(), 1)
	}
}

func intake(k int) Intake {
	in := Intake{Files: 1, Records: k, Bounds: map[string]Bound{"places": {Places: 1, LeftOut: k}}}
	in.Problems.AddN("json-syntax", k)
	in.Left[2] = k
	return in
}

// stored returns a summary as it is read from a file.
func stored(t rapid.TB, s *Summary) *Summary {
	t.Helper()
	read, err := Read("part", s.Append(nil))
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
		whole := New(choosing())
		var parts []*Summary
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
		merged := partition.Merged(r, parts, func(s *Summary) *Summary { return stored(t, s) }, func(into, from *Summary) {
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
	written, err := json.Marshal(s.content())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{list[0].ID, list[0].TaskKey(), "trajectories.jsonl"} {
		if bytes.Contains(written, []byte(text)) {
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
	other := New(choosing(Option{Name: "min-length", Value: "2"}))
	labels := New(Options{})
	for _, x := range []struct {
		part *Summary
		want string
	}{{of(1, list...), CodeOverlap}, {other, CodeOptions}, {labels, CodeOptions}} {
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
	whole := of(1, recordings.Read(t, office)[:9]...)
	data := whole.Append(nil)
	changed := func(change func(*Content)) []byte {
		c := whole.content()
		change(c)
		return kind.Encode(c)
	}
	for name, x := range map[string]struct {
		data []byte
		want string
	}{
		"nothing":     {nil, CodeForeign},
		"other":       {[]byte(`{"messages":[]}`), CodeForeign},
		"head":        {data[:20], CodeTruncated},
		"half":        {data[:len(data)/2], CodeTruncated},
		"earlier":     {(sealed.Kind{Name: "summary", Schema: "awo.summary-data/v0"}).Encode(whole.content()), CodeVersion},
		"whole":       {data, ""},
		"the same":    {changed(func(*Content) {}), ""},
		"order":       {changed(func(c *Content) { c.Tools[0], c.Tools[1] = c.Tools[1], c.Tools[0] }), CodeCorrupt},
		"twice":       {changed(func(c *Content) { c.Rows = append(c.Rows, c.Rows[0]) }), CodeCorrupt},
		"too many":    {changed(func(c *Content) { c.Rows[0].N++ }), CodeCorrupt},
		"no such row": {changed(func(c *Content) { c.Rows[0].Sequence = 1 << 20 }), CodeCorrupt},
		"below 0":     {changed(func(c *Content) { c.Tally[4] = -1 }), CodeCorrupt},
		"tokens":      {changed(func(c *Content) { c.Turns[0].Cached = c.Turns[0].Input + 1 }), CodeCorrupt},
		"no input":    {changed(func(c *Content) { c.Inputs[0] = "x" }), CodeCorrupt},
	} {
		if _, err := Read("x", x.data); code(err) != x.want {
			t.Errorf("%s: %v, want %q", name, err, x.want)
		}
	}
}

// Of 2,000 damaged copies none gives another content.
func TestDamaged(t *testing.T) {
	data := of(1, recordings.Read(t, office)[:9]...).Append(nil)
	r := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for range 2000 {
		damaged := bytes.Clone(data)
		if r.IntN(2) == 0 {
			damaged = damaged[:r.IntN(len(data))]
		} else {
			damaged[r.IntN(len(data))] ^= 1 << r.IntN(8)
		}
		s, err := Read("x", damaged)
		if err != nil {
			refused++
		} else if !bytes.Equal(s.Append(nil), data) {
			t.Fatal("a damaged copy gives another content")
		}
	}
	if refused < 1900 { // a few bits of the header of gzip mean nothing
		t.Errorf("%d copies are refused", refused)
	}
}

// FuzzRead wants of any content a problem, or a summary that is written as it was read.
func FuzzRead(f *testing.F) {
	list := recordings.Read(f, office)
	for _, n := range []int{0, 1, 4} {
		text, err := json.Marshal(of(n, list[:n]...).content())
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) {
			return
		}
		s, err := Read("x", kind.Encode(json.RawMessage(text)))
		if err != nil {
			if !strings.HasPrefix(code(err), "summary-") {
				t.Fatalf("%v has no code", err)
			}
			return
		}
		if again, err := Read("x", s.Append(nil)); err != nil || !bytes.Equal(again.Append(nil), s.Append(nil)) {
			t.Fatal("it is not written as it was read")
		}
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
