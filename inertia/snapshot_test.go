package inertia

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/trace/holdout"
)

// calibrated is a small model with everything in it, and its graph.
func calibrated(t testing.TB) (*Model, *Graph) {
	t.Helper()
	var observations []*Observation
	var histories []*History
	for _, r := range trained(20) {
		observations, histories = append(observations, r.Observation), append(histories, r.History)
	}
	part := holdout.HashFolds(5, 1).Of
	parts := NewTrained(3, observations, part)
	g := parts.Graph(-1)
	g.Declare(trace1("get_order"), EffectReads)
	g.Define(ToolInfo{Name: trace1("get_user"), Description: "Look somebody up.", Schema: true, Required: []string{"user_id"}})
	m := parts.Calibrated(ModelOptions{}, PredictorOptions{Any: true}, histories, part)
	full := g.Model(ModelOptions{Order: m.Info.Order, NoState: m.Info.NoState})
	full.calibration = m.calibration
	return full, g
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
	defer s.Close()
	if err := s.Verify(); err != nil {
		t.Fatal(err)
	}
	back, err := s.Model()
	if err != nil {
		t.Fatal(err)
	}
	if back.print() != m.print() || fmt.Sprint(back.calibration) != fmt.Sprint(m.calibration) {
		t.Errorf("the model came back as\n%s\nwant\n%s", back.print(), m.print())
	}
	graph, err := s.Graph()
	if err != nil {
		t.Fatal(err)
	}
	if again := m.AppendSnapshot(nil, graph); !bytes.Equal(again, data) {
		t.Error("the counts that came back give another file")
	}
	if bare := m.AppendSnapshot(nil, nil); len(bare) >= len(data) {
		t.Error("without counts the file is as large")
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

// The sections are what the schema says, by the compiler that others use.
func TestSnapshotFitsSchema(t *testing.T) {
	flatc, err := exec.LookPath("flatc")
	if err != nil {
		t.Skip("flatc is not installed")
	}
	m, g := calibrated(t)
	s, err := Read("x", m.AppendSnapshot(nil, g))
	if err != nil {
		t.Fatal(err)
	}
	roots := map[uint32]string{
		sectionInfo: "Info", sectionTools: "Tools", sectionContexts: "Contexts", sectionScores: "Scores",
		sectionRules: "Rules", sectionCalibration: "Calibration", sectionCounts: "Counts",
	}
	dir := t.TempDir()
	for _, e := range s.sections {
		file := filepath.Join(dir, roots[e.kind]+".bin")
		if err := os.WriteFile(file, e.data, 0o666); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(flatc, "--json", "--raw-binary", "--strict-json", "-o", dir, "--root-type", "awo.inertia."+roots[e.kind], "snapshot.fbs", "--", file).CombinedOutput()
		if err != nil {
			t.Errorf("%s: %v\n%s", roots[e.kind], err, out)
		}
	}
	tools, err := os.ReadFile(filepath.Join(dir, "Tools.json"))
	if err != nil || !strings.Contains(string(tools), `"Look somebody up."`) {
		t.Errorf("flatc reads the tools as %s (%v)", tools, err)
	}
}

func TestSnapshotProblems(t *testing.T) {
	m, g := calibrated(t)
	data := m.AppendSnapshot(nil, g)
	change := func(at int, b byte) []byte {
		d := bytes.Clone(data)
		d[at] ^= b
		return d
	}
	for _, c := range []struct {
		name string
		data []byte
		code string
	}{
		{"empty", nil, CodeSnapshotForeign},
		{"foreign", []byte("PK\x03\x04 something else altogether, long enough"), CodeSnapshotForeign},
		{"newer", change(8, 3), CodeSnapshotNewer},
		{"header only", data[:20], CodeSnapshotTruncated},
		{"truncated", data[:len(data)-100], CodeSnapshotTruncated},
		{"longer", append(bytes.Clone(data), 0), CodeSnapshotTruncated},
		{"a wrong offset", change(headerSize+8, 16), CodeSnapshotCorrupt},
		{"a wrong checksum", change(24, 1), CodeSnapshotCorrupt},
	} {
		path := filepath.Join(t.TempDir(), "x.awo")
		if err := os.WriteFile(path, c.data, 0o666); err != nil {
			t.Fatal(err)
		}
		for _, open := range []func() (*Snapshot, error){func() (*Snapshot, error) { return Open(path) }, func() (*Snapshot, error) { return Read("x", c.data) }} {
			_, err := open()
			if e, ok := errors.AsType[*diag.Error](err); !ok || e.Code != c.code {
				t.Errorf("%s: %v, want %s", c.name, err, c.code)
			}
		}
	}
	// A flipped bit in any section is found by Verify.
	for at := headerSize; at < len(data); at += 37 {
		s, err := Read("x", change(at, 4))
		if err == nil {
			err = s.Verify()
		}
		inPadding := true
		whole, _ := Read("x", data)
		for _, e := range whole.sections {
			first := bytes.Index(data, e.data)
			inPadding = inPadding && (at < first || at >= first+len(e.data))
		}
		if err == nil && !inPadding {
			t.Fatalf("a flipped bit at %d is not noticed", at)
		}
	}
	if _, err := Open(filepath.Join(t.TempDir(), "none.awo")); err == nil {
		t.Error("a missing file opens")
	}
	s, err := Read("x", m.AppendSnapshot(nil, nil))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Graph(); err == nil {
		t.Error("a snapshot without counts gives a graph")
	}
}

// No value of an argument or a result is in a snapshot.
func TestSnapshotHoldsNoValues(t *testing.T) {
	m, g := calibrated(t)
	data := m.AppendSnapshot(nil, g)
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
	data := m.AppendSnapshot(nil, g)
	f.Add(data, 100, byte(1))
	f.Add(data[:len(data)/2], 0, byte(0))
	f.Add([]byte(snapshotMagic), 0, byte(0))
	for at := 0; at < len(data); at += 101 {
		f.Add(data, at, byte(255))
	}
	f.Fuzz(func(t *testing.T, data []byte, at int, change byte) {
		data = bytes.Clone(data)
		if len(data) > 0 {
			data[uint(at)%uint(len(data))] ^= change
		}
		resign(data)
		s, err := Read("x", data)
		if err != nil {
			return
		}
		verified := s.Verify()
		m, err := s.Model()
		if err != nil {
			return
		}
		h := runOf(walk(7))
		p := NewPredictor(m, PredictorOptions{Any: true, AfterUser: true})
		for i := range h.Observation.Decisions {
			d := &h.Observation.Decisions[i]
			p.Next(h.History, d, 3)
			p.Fire(h.History, d)
			m.Candidates(names("get_user", "get_order"), 0.5, nil)
		}
		if g, err := s.Graph(); err == nil {
			g.Model(ModelOptions{})
		} else if verified == nil && s.HasCounts() {
			t.Fatalf("a verified snapshot has no graph: %v", err)
		}
	})
}

// resign makes the checksum of the header right, so that what lies behind it is
// tried too.
func resign(data []byte) {
	if len(data) < headerSize {
		return
	}
	n := int(uint32(data[12]) | uint32(data[13])<<8)
	if headerSize+entrySize*n > len(data) {
		return
	}
	sum := headerSum(data[:headerSize+entrySize*n])
	for i := range 4 {
		data[24+i] = byte(sum >> (8 * i))
	}
}

// Many agents predict with one model while another is swapped in.
func TestConcurrentUse(t *testing.T) {
	m, g := calibrated(t)
	path := filepath.Join(t.TempDir(), "inertia.awo")
	if err := os.WriteFile(path, m.AppendSnapshot(nil, g), 0o666); err != nil {
		t.Fatal(err)
	}
	var current Current
	if err := current.Load(path); err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			run := runOf(walk(i))
			for range 50 {
				m := current.Model()
				p := NewPredictor(m, PredictorOptions{Any: true})
				for j := range run.Observation.Decisions {
					if next, _ := p.Next(run.History, &run.Observation.Decisions[j], 1); len(next) != 1 {
						t.Error("nothing is predicted")
					}
				}
			}
		})
	}
	for range 20 {
		if err := current.Load(path); err != nil {
			t.Fatal(err)
		}
	}
	all.Wait()
}
