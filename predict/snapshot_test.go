package predict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/sealed"
)

// calibrated is a small model with everything in it, and its graph.
func calibrated(t testing.TB) (*Model, *Graph) {
	t.Helper()
	l := NewLearner(3, 1)
	for _, r := range trained(20) {
		l.Add(r.History.t, r.Observation)
	}
	g := l.Graph()
	g.Declare(trace1("get_order"), EffectReads)
	g.Define(ToolInfo{Name: trace1("get_user"), Description: "Look somebody up.", Schema: true, Required: []string{"user_id"}})
	c := l.Calibration(ModelOptions{}, PredictorOptions{Any: true})
	if c.Examples == 0 {
		t.Fatal("there are no examples")
	}
	return g.Model(ModelOptions{}).Calibrated(c), g
}

func TestSnapshotRoundTrip(t *testing.T) {
	m, g := calibrated(t)
	data := m.AppendSnapshot(nil, g)
	path := filepath.Join(t.TempDir(), "inertia.awo")
	if err := os.WriteFile(path, data, 0o666); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	if s.Model.print() != m.print() || fmt.Sprint(s.Model.calibration) != fmt.Sprint(m.calibration) {
		t.Errorf("the model came back as\n%s\nwant\n%s", s.Model.print(), m.print())
	}
	if again := s.Model.AppendSnapshot(nil, s.Graph); !bytes.Equal(again, data) {
		t.Error("the counts that came back give another file")
	}
}

// A file of graphs that were merged in any order is the same, byte for byte.
func TestSnapshotBytesDoNotDependOnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all []*Observation
		for i := range rapid.IntRange(1, 6).Draw(t, "n") {
			all = append(all, runOf(drawn(t, fmt.Sprint(i))).Observation)
		}
		file := func(order []*Observation) []byte {
			g := NewGraph(2)
			for _, o := range order {
				g.Add(o)
			}
			return g.Model(ModelOptions{}).AppendSnapshot(nil, g)
		}
		if !bytes.Equal(file(all), file(rapid.Permutation(all).Draw(t, "order"))) {
			t.Fatal("another order of the input gives other bytes")
		}
	})
}

func TestSnapshotProblems(t *testing.T) {
	m, g := calibrated(t)
	data := m.AppendSnapshot(nil, g)
	if s, err := Read("x", data); err != nil || s.Model.Contexts() < 10 {
		t.Fatal(err)
	}
	other := sealed.Kind{Name: "snapshot", Schema: "awo.snapshot-data/v9"}
	for _, c := range []struct {
		name string
		data []byte
		code string
	}{
		{"empty", nil, CodeSnapshotForeign},
		{"foreign", []byte("PK\x03\x04 something else altogether, long enough"), CodeSnapshotForeign},
		{"another file of awo", (sealed.Kind{Name: "x", Schema: "awo.x/v1"}).Encode(1), CodeSnapshotForeign},
		{"newer", other.Encode(m.data(g)), CodeSnapshotVersion},
		{"head only", data[:20], CodeSnapshotTruncated},
		{"truncated", data[:len(data)-100], CodeSnapshotTruncated},
		{"longer", append(bytes.Clone(data), 0), CodeSnapshotTruncated},
		{"no order", snapshotKind.Encode(&SnapshotData{}), CodeSnapshotCorrupt},
		{"another type", snapshotKind.Encode([]int{1}), CodeSnapshotCorrupt},
	} {
		_, err := Read("x", c.data)
		if e, ok := errors.AsType[*diag.Error](err); !ok || e.Code != c.code {
			t.Errorf("%s: %v, want %s", c.name, err, c.code)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none.awo")); err == nil {
		t.Error("a missing file opens")
	}
}

// What is examined for the calibration does not depend on the order of trajectories, also
// where they are more than are examined.
func TestLearnerOrder(t *testing.T) {
	runs := trained(40)
	rapid.Check(t, func(t *rapid.T) {
		file := func(order []*Run) []byte {
			l := NewLearner(3, 1)
			l.most = 7
			for _, r := range order {
				l.Add(r.History.t, r.Observation)
			}
			g := l.Graph()
			return g.Model(ModelOptions{}).Calibrated(l.Calibration(ModelOptions{}, PredictorOptions{Any: true})).AppendSnapshot(nil, g)
		}
		if !bytes.Equal(file(runs), file(rapid.Permutation(runs).Draw(t, "order"))) {
			t.Fatal("another order of the input gives other bytes")
		}
	})
}

// Of 2,000 damaged copies none gives another content, and all that do not give this one
// are an error.
func TestDamagedSnapshots(t *testing.T) {
	m, g := calibrated(t)
	data := m.AppendSnapshot(nil, g)
	r := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for range 2000 {
		damaged := bytes.Clone(data)
		switch r.IntN(3) {
		case 0:
			damaged[r.IntN(len(data))] ^= 1 << r.IntN(8)
		case 1:
			damaged = damaged[:r.IntN(len(data))]
		default:
			at := r.IntN(len(data))
			damaged = append(damaged[:at], damaged[min(at+1+r.IntN(9), len(data)):]...)
		}
		s, err := Read("x", damaged)
		if err != nil {
			refused++
		} else if !bytes.Equal(s.Model.AppendSnapshot(nil, s.Graph), data) {
			t.Fatal("a damaged copy gives another content")
		}
	}
	if refused < 1900 { // a few bits of the header of gzip mean nothing
		t.Errorf("%d copies are refused", refused)
	}
}

// No value of an argument or a result is in a snapshot.
func TestSnapshotHoldsNoValues(t *testing.T) {
	m, g := calibrated(t)
	data, err := json.Marshal(m.data(g))
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{"user_3", "W003A", "W003B", "open"} {
		if bytes.Contains(data, []byte(secret)) {
			t.Errorf("the value %q is in the snapshot", secret)
		}
	}
}

// Whatever a file holds, reading it and predicting with it ends in an error or in
// a prediction, and never in a crash.
func FuzzSnapshot(f *testing.F) {
	m, g := calibrated(f)
	text, err := json.Marshal(m.data(g))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"model":{"order":2},"counts":{"parents":[0,7],"symbols":[1,1]}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		if !json.Valid(text) {
			return
		}
		s, err := Read("x", snapshotKind.Encode(json.RawMessage(text)))
		if err != nil {
			return
		}
		h := runOf(walk(7))
		p := NewPredictor(s.Model, PredictorOptions{Any: true, AfterUser: true})
		for i := range h.Observation.Decisions {
			d := &h.Observation.Decisions[i]
			p.Next(h.History, d, 3)
			p.Fire(h.History, d)
			s.Model.Candidates(names("get_user", "get_order"), 0.5, nil)
		}
	})
}
