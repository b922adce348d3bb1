package export

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/awo-dev/awo/trace"
)

// TestControls wants no control character of Latin 1 in what is written, however it is
// cut, and the same value of it.
func TestControls(t *testing.T) {
	const text = "a\u009b31m\u0080\u00a0é\u009f\u00ff" + "\u0085"
	line, err := json.Marshal(text)
	if err != nil {
		t.Fatal(err)
	}
	for size := 1; size <= len(line); size++ {
		var out bytes.Buffer
		p := &escaping{to: &out}
		for rest := line; len(rest) > 0; rest = rest[min(size, len(rest)):] {
			if n, err := p.Write(rest[:min(size, len(rest))]); err != nil || n != min(size, len(rest)) {
				t.Fatal(n, err)
			}
		}
		var got string
		if err := json.Unmarshal(out.Bytes(), &got); err != nil || got != text {
			t.Errorf("in pieces of %d: %q, %v", size, got, err)
		}
		if bytes.Contains(out.Bytes(), []byte("\xc2\x9b")) || !bytes.Contains(out.Bytes(), []byte(`\u009b`)) {
			t.Errorf("in pieces of %d: %q", size, out.Bytes())
		}
	}
	for _, f := range Formats {
		var out bytes.Buffer
		w := f.NewWriter(&out)
		run := &trace.Trajectory{ID: "r", Calls: []trace.Call{{Tool: trace.Intern("get\u009b31m"), Turn: 0, Origin: trace.OriginModel}}, Turns: []trace.Turn{{NumCalls: 1}}}
		if err := w.Add(run); err != nil {
			t.Fatal(f.Name, err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(f.Name, err)
		}
		if bytes.Contains(out.Bytes(), []byte("\u009b")) || !bytes.Contains(out.Bytes(), []byte("get")) {
			t.Errorf("%s writes %q", f.Name, out.Bytes())
		}
	}
}
