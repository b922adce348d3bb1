package trace

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/awo-dev/awo/diag"
)

// sharedFile returns a file kept beside the project, or skips the test.
func sharedFile(t testing.TB, path ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{"..", "..", "shared"}, path...)...))
	if err != nil {
		t.Skip("the recorded traces are not there")
	}
	return b
}

// recordsOf splits a text as the Reader does.
func recordsOf(t testing.TB, f *Format, text []byte, c Container) []Record {
	t.Helper()
	split := f.Split
	if split == nil {
		split = SplitRecords
	}
	whole := f.Detect(func() Head { h, _ := newHead(text, true); return h }()).Whole
	var records []Record
	for r, err := range split(&Input{Reader: bytes.NewReader(text), File: "f", Container: c, Whole: whole}) {
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, r)
	}
	return records
}

// decodeAll reads all trajectories of a text.
func decodeAll(t testing.TB, f *Format, text []byte, c Container) []*Trajectory {
	t.Helper()
	var out []*Trajectory
	for _, r := range recordsOf(t, f, text, c) {
		fragments, err := f.Decode(r)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, joinedAlone(t, f, fragments)...)
	}
	return out
}

// decodeOne reads a text that is one record with one trajectory.
func decodeOne(t testing.TB, f *Format, text string) *Trajectory {
	t.Helper()
	fragments, err := f.Decode(Record{Data: []byte(text), File: "f", Line: 1, Col: 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(fragments) != 1 {
		t.Fatalf("%d fragments, want 1", len(fragments))
	}
	return joinedAlone(t, f, fragments)[0]
}

// joinedAlone returns the trajectories of fragments that no other record has more of.
func joinedAlone(t testing.TB, f *Format, fragments []Fragment) (out []*Trajectory) {
	t.Helper()
	for i, fragment := range fragments {
		if fragment.Trajectory != nil {
			out = append(out, fragment.Trajectory)
			continue
		}
		joined, err := f.Assemble(fragment.Key, fragments[i:i+1])
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range joined {
			if x.ID == fragment.Pos.String() { // which the Reader gives to others
				x.ID = ""
			}
		}
		out = append(out, joined...)
	}
	return out
}

// decodeError returns the problem of a record that cannot be read.
func decodeError(t testing.TB, f *Format, text string) *diag.Error {
	t.Helper()
	fragments, err := f.Decode(Record{Data: []byte(text), File: "f", Line: 3, Col: 1})
	problem, ok := err.(*diag.Error)
	if !ok {
		t.Fatalf("%q: %d fragments and error %v, want a *diag.Error", text, len(fragments), err)
	}
	return problem
}

// jsonString returns s as a JSON string token.
func jsonString(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return b
}
