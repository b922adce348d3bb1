package inertia

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/trace"
)

// TestDigest wants a digest to give the examples that its trajectory gives, and none of
// its values.
func TestDigest(t *testing.T) {
	list := recordings.Read(t, "../testdata/office/trajectories.jsonl.gz")
	for i := range 30 {
		list = append(list, walk(i))
	}
	var w Observer
	g := NewGraph(3)
	for _, x := range list {
		g.Add(w.Observe(x))
	}
	p, known, examples := NewPredictor(g.Model(ModelOptions{}), PredictorOptions{Any: true}), g.vocabulary(), 0
	for _, x := range list {
		digest := appendDigest(nil, x)
		left := maxElements
		h, _ := readDigest(digest, keptBytes(x), known, &left)
		if h == nil {
			t.Fatalf("the digest of %s contradicts itself", x.ID)
		}
		want, got := p.examples(NewHistory(x), nil), p.examples(h, nil)
		if !slices.Equal(got, want) {
			for i := range want {
				if i < len(got) && got[i] != want[i] {
					t.Logf("\n%+v\n%+v", got[i], want[i])
				}
			}
			t.Fatalf("the digest of %s gives %d examples and the trajectory %d, or others", x.ID, len(got), len(want))
		}
		examples += len(want)
		for i := range x.Calls {
			for _, m := range NewHistory(x).argsValue(i).Members {
				if m.Value.Kind == trace.String && len(m.Value.Text) > 5 && bytes.Contains(digest, []byte(m.Value.Text)) {
					t.Errorf("the digest of %s has %q", x.ID, m.Value.Text)
				}
			}
		}
	}
	if examples < 1000 {
		t.Errorf("%d examples", examples)
	}
}

// TestDigestRoom wants a digest whose lists have more elements than there is room for to be
// passed over, whatever stands in few bytes, and what room it has stay with the others.
func TestDigestRoom(t *testing.T) {
	var run scripted.Run
	run.User("all").Call("list", `{}`, "["+strings.Repeat("0,", 9999)+"0]").Call("list", `{}`, `[1,2]`)
	digest := appendDigest(nil, &run.T)
	if len(digest) > 200 {
		t.Fatalf("the digest has %d bytes", len(digest))
	}
	for room, want := range map[int]bool{10_001: false, 10_002: true, maxElements: true} {
		left := room
		h, ok := readDigest(digest, keptBytes(&run.T), vocabulary{}, &left)
		if !ok || (h != nil) != want {
			t.Errorf("room for %d: history %t, right %t", room, h != nil, ok)
		}
		if used := room - left; want && used != 10_002 || !want && used != 0 {
			t.Errorf("room for %d: %d are taken", room, used)
		}
	}
	left := maxElements
	if h, ok := readDigest(digest, 1000, vocabulary{}, &left); h != nil || ok || left != maxElements {
		t.Error("a trajectory of 1000 bytes has 10,000 values")
	}
	// Many such digests have the room of one: the sample is read as far as it reaches.
	l := NewLessons(2, 7)
	l.elements = 25_000
	for i := range 5 {
		one := run.T
		one.ID = fmt.Sprint(i)
		l.Add(&one, observe(&one)[0].o)
	}
	runs, ok := l.Sampled()
	n := 0
	for _, part := range runs {
		n += len(part)
	}
	if !ok || n != 2 {
		t.Errorf("%d trajectories are read, want 2", n)
	}
}

// FuzzReadDigest wants of any bytes no history, or one that can be predicted, within the
// room that it has.
func FuzzReadDigest(f *testing.F) {
	var w Observer
	g := NewGraph(2)
	var run scripted.Run
	run.User("find a-1 or B-2").Call("find", `{"id":"a-1"}`, `{"found":[{"id":"B-2","n":7},{"id":"B-2","n":7}]}`)
	run.Call("get", `{"id":"B-2","n":7}`, `"ok"`)
	for _, x := range []*trace.Trajectory{&run.T, walk(1), {}} {
		g.Add(w.Observe(x))
		f.Add(appendDigest(nil, x))
	}
	p, known := NewPredictor(g.Model(ModelOptions{}), PredictorOptions{Any: true}), g.vocabulary()
	f.Fuzz(func(t *testing.T, data []byte) {
		left := 1000
		h, ok := readDigest(data, 5000, known, &left)
		if h == nil {
			if left != 1000 {
				t.Fatal("room is taken for nothing")
			}
			return
		}
		if !ok || left < 0 {
			t.Fatalf("a history that contradicts itself, or %d beyond its room", -left)
		}
		p.examples(h, nil)
	})
}
