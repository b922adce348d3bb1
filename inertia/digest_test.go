package inertia

import (
	"bytes"
	"slices"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
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
		h := readDigest(digest, keptBytes(x), known)
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
