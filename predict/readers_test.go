package predict

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
	"github.com/awo-dev/awo/trace/holdout"
)

// asking is how the tests below ask the readers of other languages.
type asking struct {
	State  int       `json:"state"`
	Calls  []string  `json:"calls"`
	Ranked []string  `json:"ranked"`
	P      []float64 `json:"p"`
}

const pythonDriver = `
import json, sys
sys.path.insert(0, sys.argv[1])
import awo_inertia as a
s = a.Snapshot.open(sys.argv[2])
out = []
for q in json.load(open(sys.argv[3])):
    p, rest = s.distribution(q["calls"], q["state"])
    out.append({"ranked": [t for t, _ in s.predict(q["calls"], q["state"], len(p))], "p": p + [rest]})
json.dump(out, sys.stdout)
`

const nodeDriver = `
import { readFileSync } from "node:fs"
import { pathToFileURL } from "node:url"
const [dir, file, asked] = process.argv.slice(2)
const { Snapshot } = await import(pathToFileURL(dir + "/inertia.mjs"))
const s = new Snapshot(readFileSync(file))
const out = JSON.parse(readFileSync(asked)).map((q) => {
  const { p, unknown } = s.distribution(q.calls, q.state)
  return { ranked: s.predict(q.calls, q.state, p.length).map((x) => x.tool), p: [...p, unknown] }
})
process.stdout.write(JSON.stringify(out))
`

// The readers in other languages agree with this one on every held-out decision:
// in ranking exactly, and in probabilities to 1e-9.
func TestReadersAgree(t *testing.T) {
	file, asked, want := heldOut(t)
	readers, err := filepath.Abs("readers")
	if err != nil {
		t.Fatal(err)
	}
	for _, reader := range []struct{ program, driver, name string }{{"python3", pythonDriver, "driver.py"}, {"node", nodeDriver, "driver.mjs"}} {
		t.Run(reader.program, func(t *testing.T) {
			program, err := exec.LookPath(reader.program)
			if err != nil {
				t.Skipf("%s is not installed", reader.program)
			}
			driver := filepath.Join(t.TempDir(), reader.name)
			if err := os.WriteFile(driver, []byte(reader.driver), 0o666); err != nil {
				t.Fatal(err)
			}
			command := exec.CommandContext(t.Context(), program, driver, readers, file, asked)
			command.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
			out, err := command.Output()
			if err != nil {
				t.Fatalf("%v: %s", err, err.(*exec.ExitError).Stderr)
			}
			var got []asking
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			compareNext(t, got, want)
			t.Logf("%d decisions agree", len(want))
		})
	}
}

func compareNext(t *testing.T, got, want []asking) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d answers to %d questions", len(got), len(want))
	}
	for i, w := range want {
		for s := range w.P {
			if d := math.Abs(got[i].P[s] - w.P[s]); !(d <= 1e-9) {
				t.Fatalf("after %v symbol %d has %.15g, here %.15g", w.Calls, s, got[i].P[s], w.P[s])
			}
		}
		for j := range w.Ranked {
			if got[i].Ranked[j] != w.Ranked[j] {
				t.Fatalf("after %v place %d is %q, here %q", w.Calls, j, got[i].Ranked[j], w.Ranked[j])
			}
		}
	}
}

// heldOut trains a snapshot on four fifths of the office's tasks, and asks about
// every decision of the others.
func heldOut(t *testing.T) (file, questions string, want []asking) {
	t.Helper()
	r, err := trace.Open([]string{"../testdata/office/trajectories.jsonl.gz"}, trace.Options{Formats: formats.All})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	tested := holdout.ByTask(0.2, 1)
	g := NewGraph(3)
	var c Observer
	var test []*Run
	for x, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		if tested.Of(x) == holdout.Test {
			test = append(test, NewRun(x, c.Observe(x, nil)))
		} else {
			g.Add(c.Observe(x, nil))
		}
	}
	m := g.Model(ModelOptions{})
	p := make([]float64, m.Alphabet())
	predictor := NewPredictor(m, PredictorOptions{})
	for _, run := range test {
		for i := range run.Observation.Decisions {
			d := &run.Observation.Decisions[i]
			a := asking{State: int(d.State), Calls: []string{}}
			before := run.History.Before(d.Before)
			for _, name := range before {
				a.Calls = append(a.Calls, name.Value())
			}
			rest := m.Distribution(m.ContextOf(d.State, before), p)
			a.P = append(append(a.P, p...), rest)
			for _, r := range predictor.rank(d.State, before, len(p)) {
				a.Ranked = append(a.Ranked, nameText(m.tools[r].Name))
			}
			want = append(want, a)
		}
	}
	dir := t.TempDir()
	file, questions = filepath.Join(dir, "inertia.awo"), filepath.Join(dir, "asked.json")
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{file: m.AppendSnapshot(nil, g), questions: text} {
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return file, questions, want
}
