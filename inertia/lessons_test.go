package inertia

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/internal/partition"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/trace"
)

const office = "../testdata/office/trajectories.jsonl.gz"

// observed is a trajectory and what it teaches.
type observed struct {
	t *trace.Trajectory
	o *Observation
}

func observe(list ...*trace.Trajectory) (out []observed) {
	var w Observer
	for _, t := range list {
		out = append(out, observed{t, w.Observe(t)})
	}
	return out
}

// learnt returns the lessons of trajectories, with room for so many in the sample.
func learnt(room int, list ...observed) *Lessons {
	l := NewLessons(2, 7)
	l.sample.most = room
	for _, x := range list {
		l.Add(x.t, x.o)
	}
	return l
}

// stored returns lessons as they are read.
func stored(t rapid.TB, l *Lessons) *Lessons {
	t.Helper()
	read, ok := ReadLessons(l.Append(nil))
	if !ok {
		t.Fatal("lessons cannot be read")
	}
	read.sample.most = l.sample.most
	return read
}

// TestLessonsOfParts wants the lessons of any parts, merged in any order and by any tree,
// to be byte for byte those of the whole, with a sample that is full and one that is not,
// of trajectories of which some are there twice.
func TestLessonsOfParts(t *testing.T) {
	recorded := recordings.Read(t, office)[:12]
	list := append(slices.Clone(recorded), recorded[:3]...)
	for i := range 3 {
		again := *list[i] // another trajectory of the same name
		again.Calls = again.Calls[:len(again.Calls)/2]
		list = append(list, &again)
	}
	all := observe(list...)
	rapid.Check(t, func(t *rapid.T) {
		room := rapid.SampledFrom([]int{1, 4, 8, 1000}).Draw(t, "room")
		n := rapid.IntRange(1, 8).Draw(t, "parts")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		var parts []*Lessons
		for _, chosen := range partition.Of(r, n, all) {
			parts = append(parts, learnt(room, chosen...))
		}
		whole := learnt(room, all...)
		want := whole.Append(nil)
		merged := partition.Merged(r, parts, func(l *Lessons) *Lessons { return stored(t, l) }, (*Lessons).Merge)
		if got := merged.Append(nil); !bytes.Equal(got, want) {
			t.Fatalf("%d parts give other bytes: %d of %d", n, len(got), len(want))
		}
		if got := stored(t, whole).Append(nil); !bytes.Equal(got, want) {
			t.Fatal("reading changes the bytes")
		}
	})
}

// TestLessonsTeach wants lessons that were read to give the snapshot of those that were
// not, and that of a model calibrated on the trajectories themselves.
func TestLessonsTeach(t *testing.T) {
	list := recordings.Read(t, office)[:120]
	l := learnt(1000, observe(list...)...)
	file := func(l *Lessons) []byte {
		m, ok := l.Model(ModelOptions{HalfLife: 3}, PredictorOptions{Any: true})
		if !ok {
			t.Fatal("there is no model")
		}
		return m.AppendSnapshot(nil, l.Trained().Graph(-1))
	}
	want := file(l)
	if !bytes.Equal(file(stored(t, l)), want) {
		t.Error("lessons that were read teach something else")
	}
	var histories []*History
	for _, x := range list {
		histories = append(histories, NewHistory(x))
	}
	m := l.trained.Calibrated(ModelOptions{HalfLife: 3}, PredictorOptions{Any: true}, histories, l.part)
	if got := m.AppendSnapshot(nil, l.trained.Graph(-1)); !bytes.Equal(got, want) {
		t.Error("the trajectories teach something else than their digests")
	}
	if m.calibration.Examples < 500 {
		t.Errorf("%d examples", m.calibration.Examples)
	}
	if _, ok := stored(t, l).Model(ModelOptions{}, PredictorOptions{Fill: FillOptions{Adapter: &Adapter{}}}); ok {
		t.Error("an adapter reads values that are not there")
	}
	for _, text := range []string{list[0].ID, list[0].TaskKey()} {
		if bytes.Contains(l.appendWhole(nil), []byte(text)) {
			t.Errorf("the lessons hold %q", text)
		}
	}
}

// FuzzReadLessons wants of any bytes no lessons, or some that are merged and teach. Its seeds
// are small: minimising those of recorded trajectories takes longer than any run.
func FuzzReadLessons(f *testing.F) {
	var done scripted.Run
	done.User("find 7").Call("find", `{"id":7}`, `{"found":["a-1","a-1"]}`).Call("get", `{"id":"a-1"}`, `null`)
	for _, l := range []*Lessons{learnt(2), learnt(2, observe(&done.T)...), learnt(1, observe(&done.T, &done.T)...)} {
		f.Add(l.appendWhole(nil))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		l, ok := readLessons(data)
		if !ok {
			return
		}
		if again, ok := readLessons(slices.Clone(l.appendWhole(nil))); !ok || !bytes.Equal(again.appendWhole(nil), l.appendWhole(nil)) {
			t.Fatal("they are not read as they were written")
		}
		m, ok := l.Model(ModelOptions{}, PredictorOptions{Any: true})
		if ok {
			m.AppendSnapshot(nil, l.Trained().Graph(-1))
		}
		if _, _, held := l.HeldOut(1, ModelOptions{}, PredictorOptions{Any: true}); held != ok {
			t.Fatal("a part is read, and not all of them")
		}
		l.Merge(l)
	})
}

// TestModelInAnyOrder wants the parts of a calibration to be worked on in any order, or at
// once, for the same model.
func TestModelInAnyOrder(t *testing.T) {
	lessons := learnt(1000, observe(recordings.Read(t, office)[:150]...)...)
	snapshot := func(each func(n int, do func(i int))) []byte {
		m, ok := lessons.Model(ModelOptions{}, PredictorOptions{Any: true, Each: each})
		if !ok {
			t.Fatal("no model")
		}
		return m.AppendSnapshot(nil, lessons.Trained().Graph(-1))
	}
	want := snapshot(nil)
	backwards := func(n int, do func(i int)) {
		for i := range n {
			do(n - 1 - i)
		}
	}
	atOnce := func(n int, do func(i int)) {
		var group sync.WaitGroup
		for i := range n {
			group.Go(func() { do(i) })
		}
		group.Wait()
	}
	for i, each := range []func(int, func(int)){backwards, atOnce} {
		if !bytes.Equal(snapshot(each), want) {
			t.Errorf("order %d gives another model", i)
		}
	}
}
