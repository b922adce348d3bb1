package inertia

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
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

// event is what the readers are told of a run.
type event struct {
	User   *string         `json:"user,omitempty"`
	Tool   string          `json:"tool,omitempty"`
	Args   json.RawMessage `json:"args,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Turn   *int            `json:"turn,omitempty"`
}

// askedRun asks for calls of a run, each with what was known before.
type askedRun struct {
	Events  []event                    `json:"events"`
	Schemas map[string]json.RawMessage `json:"schemas"`
	Asks    []askedFill                `json:"asks"`
}

type askedFill struct {
	Before int    `json:"before"` // events
	Tool   string `json:"tool"`
}

// filledCall is how a call was filled in.
type filledCall struct {
	Args     json.RawMessage `json:"args"`
	Complete bool            `json:"complete"`
	Repeated bool            `json:"repeated"`
	Sources  []string        `json:"sources"`
	Shares   []float64       `json:"shares"`
}

// asked is everything that the readers are asked, answered what they say.
type asked struct {
	Next []asking   `json:"next"`
	Runs []askedRun `json:"runs"`
}

type answered struct {
	Next  []asking     `json:"next"`
	Fills []filledCall `json:"fills"`
}

const pythonDriver = `
import json, sys
sys.path.insert(0, sys.argv[1])
import awo_inertia as a
s = a.Snapshot.open(sys.argv[2])
s.verify()
out, filled = [], []
asked = json.load(open(sys.argv[3]))
for q in asked["next"]:
    p, rest = s.distribution(q["calls"], q["state"])
    out.append({"ranked": [t for t, _ in s.predict(q["calls"], q["state"], len(p))], "p": p + [rest]})
for run in asked["runs"]:
    for q in run["asks"]:
        f = s.fill(q["tool"], run["events"][: q["before"]], run["schemas"].get(q["tool"]))
        filled.append({"args": f.args, "complete": f.complete, "repeated": f.repeated,
            "sources": [x.source for x in f.filled], "shares": [x.share for x in f.filled]})
json.dump({"next": out, "fills": filled}, sys.stdout)
`

const nodeDriver = `
import { readFileSync } from "node:fs"
import { pathToFileURL } from "node:url"
const [dir, file, asked] = process.argv.slice(2)
const { Snapshot } = await import(pathToFileURL(dir + "/inertia.mjs"))
const s = new Snapshot(readFileSync(file))
s.verify()
const { next, runs } = JSON.parse(readFileSync(asked))
const out = next.map((q) => {
  const { p, unknown } = s.distribution(q.calls, q.state)
  return { ranked: s.predict(q.calls, q.state, p.length).map((x) => x.tool), p: [...p, unknown] }
})
const fills = runs.flatMap((run) => run.asks.map((q) => {
  const f = s.fill(q.tool, run.events.slice(0, q.before), run.schemas[q.tool])
  return { args: f.args, complete: f.complete, repeated: f.repeated, sources: f.filled.map((x) => x.source), shares: f.filled.map((x) => x.share) }
}))
process.stdout.write(JSON.stringify({ next: out, fills }))
`

// The readers in other languages agree with this one on every held-out decision:
// in ranking exactly, in probabilities to 1e-9, and in every argument that they
// fill in.
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
			var got answered
			if err := json.Unmarshal(out, &got); err != nil {
				t.Fatal(err)
			}
			want.compareNext(t, got.Next)
			want.compareFills(t, got.Fills)
			t.Logf("%d decisions and %d calls agree", len(want.Next), len(want.Fills))
		})
	}
}

func (want *answered) compareNext(t *testing.T, got []asking) {
	t.Helper()
	if len(got) != len(want.Next) {
		t.Fatalf("%d answers to %d questions", len(got), len(want.Next))
	}
	for i, w := range want.Next {
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

func (want *answered) compareFills(t *testing.T, got []filledCall) {
	t.Helper()
	if len(got) != len(want.Fills) {
		t.Fatalf("%d calls filled in, asked for %d", len(got), len(want.Fills))
	}
	for i, w := range want.Fills {
		args, err := trace.AppendCanonical(nil, got[i].Args)
		if err != nil {
			t.Fatal(err)
		}
		got[i].Args = args
		if !reflect.DeepEqual(got[i], w) {
			t.Fatalf("call %d is filled in as\n%s %+v\nhere\n%s %+v", i, got[i].Args, got[i], w.Args, w)
		}
	}
}

// heldOut trains a snapshot on four fifths of the office's tasks, and asks about
// every decision of the others, and for the arguments of the likeliest calls.
func heldOut(t *testing.T) (file, questions string, want answered) {
	t.Helper()
	r, err := trace.Open([]string{"../testdata/office/trajectories.jsonl.gz"}, trace.Options{Formats: formats.All})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	folds := holdout.HashFolds(5, 1)
	g := NewGraph(3)
	var c Observer
	var test []*Run
	for x, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		if folds.Of(x.TaskKey()) == 0 {
			test = append(test, NewRun(x, c.Observe(x)))
		} else {
			g.Add(c.Observe(x))
		}
	}
	g.Compose(MetaTool{Name: trace.Intern("look_up_and_read"), First: g.names[1], Counts: Counts{OK: 3}})
	m := g.Model(ModelOptions{})
	p := make([]float64, m.Alphabet())
	predictor := NewPredictor(m, PredictorOptions{})
	var ask asked
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
			for _, r := range predictor.Rank(d.State, before, len(p)) {
				a.Ranked = append(a.Ranked, nameText(r.Tool))
			}
			want.Next = append(want.Next, a)
		}
		r := askRun(run, predictor, &want)
		ask.Runs = append(ask.Runs, r)
	}
	ask.Next = want.Next
	dir := t.TempDir()
	file, questions = filepath.Join(dir, "inertia.awo"), filepath.Join(dir, "asked.json")
	text, err := json.Marshal(ask)
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

// askRun asks for the arguments of the calls that are likeliest at each decision of
// a run, and for those of the call that was made.
func askRun(run *Run, predictor *Predictor, want *answered) askedRun {
	h, m := run.History, predictor.model
	t := h.t
	r := askedRun{Events: []event{}, Schemas: map[string]json.RawMessage{}}
	for i := range t.Tools {
		if d := &t.Tools[i]; !d.Input.IsZero() {
			r.Schemas[d.Name.Value()] = json.RawMessage(d.Input.Text())
		}
	}
	options := FillOptions{Schemas: SchemasOf(t.Tools)}
	calls, messages := 0, 0
	for i := range run.Observation.Decisions {
		d := &run.Observation.Decisions[i]
		if d.State == StateInside {
			continue
		}
		v := h.viewAt(d)
		for ; messages < v.messages; messages++ {
			if x := &t.Messages[messages]; x.Role == trace.RoleUser {
				text := x.Text.Text()
				r.Events = append(r.Events, event{User: &text})
			}
		}
		for ; calls < v.before; calls++ {
			r.Events = append(r.Events, callEvent(&t.Calls[h.calls[calls]]))
		}
		asks := map[uint32]bool{m.Symbol(d.Next): true}
		for _, p := range predictor.Rank(d.State, h.Before(d.Before), 3) {
			asks[p.Symbol] = true
		}
		for symbol := 1; symbol < m.Alphabet(); symbol++ {
			if !asks[uint32(symbol)] {
				continue
			}
			r.Asks = append(r.Asks, askedFill{len(r.Events), m.tools[symbol].Name.Value()})
			want.Fills = append(want.Fills, filledOf(m.fill(v, uint32(symbol), &options)))
		}
	}
	return r
}

func callEvent(c *trace.Call) event {
	args, _ := c.ArgsValue()
	e := event{Tool: c.Tool.Value(), Args: args.AppendCanonical(nil)}
	switch {
	case c.HasResult && c.Result.Form == trace.FormJSON:
		e.Result = json.RawMessage(c.Result.Text())
	case c.HasResult && !c.Result.IsZero():
		e.Result = trace.NewString(c.Result.Text()).AppendCanonical(nil)
	}
	if c.Turn >= 0 {
		e.Turn = &c.Turn
	}
	return e
}

func filledOf(f Fill) filledCall {
	out := filledCall{Complete: f.Complete, Repeated: f.Repeated, Sources: []string{}, Shares: []float64{}}
	args := trace.Value{Kind: trace.Object}
	for _, a := range f.Args {
		value, _ := trace.ParseValue([]byte(a.Value))
		args.Members = append(args.Members, trace.Member{Name: a.Param, Value: value})
		out.Sources, out.Shares = append(out.Sources, a.Source.String()), append(out.Shares, a.Share)
	}
	out.Args = args.AppendCanonical(nil)
	return out
}
