package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/testdata/gen/office"
	"github.com/awo-dev/awo/testdata/gen/truth"
)

// committed is the folder with the committed corpus.
const committed = "../office"

// atif is what the tests read of a line of ATIF.
type atif struct {
	SessionID string `json:"session_id"`
	Steps     []struct {
		Source  string
		Message string
		Calls   []struct {
			ID   string         `json:"tool_call_id"`
			Tool string         `json:"function_name"`
			Args map[string]any `json:"arguments"`
		} `json:"tool_calls"`
		Observation struct {
			Results []struct {
				ID      string `json:"source_call_id"`
				Content string
			}
		}
	}
	Extra struct {
		Awo struct{ Task, Trial, Outcome string }
	}
}

// call is one call of a line, with what came before it.
type call struct {
	tool      string
	args      map[string]any
	result    any // parsed, or the text
	has       bool
	turn      int
	afterUser bool
	users     []string
}

func (a *atif) calls(t *testing.T) []call {
	t.Helper()
	var calls []call
	var users []string
	turn, user := 0, false
	for _, s := range a.Steps {
		switch s.Source {
		case "user":
			users = append(users[:len(users):len(users)], s.Message)
			user = len(calls) > 0
		case "agent":
			at := make(map[string]int)
			for _, c := range s.Calls {
				at[c.ID] = len(calls)
				calls = append(calls, call{tool: c.Tool, args: c.Args, turn: turn, afterUser: user, users: users})
				user = false
			}
			for _, r := range s.Observation.Results {
				c := &calls[at[r.ID]]
				c.has, c.result = true, r.Content
				var v any
				d := json.NewDecoder(strings.NewReader(r.Content))
				d.UseNumber()
				if d.Decode(&v) == nil {
					c.result = v
				}
			}
			turn++
		}
	}
	return calls
}

// leaves returns the leaves of parsed JSON by their paths.
func leaves(path string, v any, into map[string]string) {
	switch v := v.(type) {
	case map[string]any:
		for name, w := range v {
			p := name
			if path != "" {
				p = path + "." + name
			}
			leaves(p, w, into)
		}
	case []any:
		for i, w := range v {
			leaves(fmt.Sprintf("%s[%d]", path, i), w, into)
		}
	default:
		into[path] = fmt.Sprint(v)
	}
}

func lines(t *testing.T) []atif {
	t.Helper()
	var list []atif
	for line := range bytes.Lines(recordings.Unpacked(t, filepath.Join(committed, committedRuns))) {
		var a atif
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&a); err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	return list
}

// TestCommittedCorpus: the committed files are what the generator gives. Run
// `go run ./testdata/gen -corpus testdata/office` after a change.
func TestCommittedCorpus(t *testing.T) {
	dir := t.TempDir()
	if err := run([]string{"-q", "-corpus", dir}, io.Discard, io.Discard); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(recordings.Unpacked(t, filepath.Join(dir, committedRuns)), recordings.Unpacked(t, filepath.Join(committed, committedRuns))) {
		t.Errorf("%s is not what the generator gives", committedRuns)
	}
	got, err := os.ReadFile(filepath.Join(dir, committedTruth))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(committed, committedTruth))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the generator gives", committedTruth)
	}
}

// TestTruthIsAboutTheTraces reads the committed files as others do and holds
// what one says against the other: calls, sources and counts.
func TestTruthIsAboutTheTraces(t *testing.T) {
	file, err := truth.Open(filepath.Join(committed, committedTruth))
	if err != nil {
		t.Fatal(err)
	}
	runs := lines(t)
	if len(runs) != len(file.Trajectories) || len(runs) != file.Totals.Trajectories {
		t.Fatalf("%d traces, %d truths, total %d", len(runs), len(file.Trajectories), file.Totals.Trajectories)
	}
	var totals truth.Totals
	for i := range runs {
		tr := &file.Trajectories[i]
		calls := runs[i].calls(t)
		if tr.ID != runs[i].SessionID || tr.Task != runs[i].Extra.Awo.Task || len(tr.Calls) != len(calls) || tr.Solved != (runs[i].Extra.Awo.Outcome == "success") {
			t.Fatalf("%s and %s differ", tr.ID, runs[i].SessionID)
		}
		for k, c := range calls {
			x := tr.Calls[k]
			if x.Tool != c.tool || x.Turn != c.turn || x.AfterUser != c.afterUser || (x.Status == "unknown") == c.has {
				t.Fatalf("%s call %d is %+v", tr.ID, k, x)
			}
			args := make(map[string]string)
			leaves("", c.args, args)
			if !slices.Equal(slices.Sorted(maps.Keys(args)), slices.Sorted(maps.Keys(x.Args))) {
				t.Fatalf("%s call %d has arguments %v", tr.ID, k, slices.Sorted(maps.Keys(args)))
			}
			for path, s := range x.Args {
				holds(t, tr, calls, k, path, args[path], s)
				totals.Args++
			}
			totals.Calls++
			if x.Status == "failed" {
				totals.Failed++
			}
		}
	}
	if totals.Args != file.Totals.Args || totals.Calls != file.Totals.Calls || totals.Failed != file.Totals.Failed {
		t.Errorf("counted %+v, totals are %+v", totals, file.Totals)
	}
}

func holds(t *testing.T, tr *truth.Trajectory, calls []call, k int, path, value string, s truth.Source) {
	t.Helper()
	fail := func(what string) {
		t.Helper()
		t.Fatalf("%s call %d %s: %s", tr.ID, k, path, what)
	}
	at := func(call int) map[string]string {
		found := make(map[string]string)
		leaves("", calls[call].result, found)
		return found
	}
	switch s.From {
	case truth.Result:
		if s.Call >= k || calls[s.Call].turn >= calls[k].turn || at(s.Call)[s.Path] != value {
			fail("not at its source")
		}
		if !tr.Judge(k, path, truth.Claim{From: truth.Result, Call: s.Call, Path: s.Path}) {
			fail("the judge refuses the source itself")
		}
	case truth.Task:
		if !s.Date && !strings.Contains(calls[k].users[0], value) {
			fail("not in the task")
		}
	case truth.User:
		if s.Message == 0 || !strings.Contains(calls[k].users[s.Message], value) {
			fail("not in the message")
		}
	case truth.Template:
		text := ""
		for _, p := range s.Parts {
			text += p.Text
		}
		if text != value {
			fail("not what its template gives")
		}
	case truth.Model, truth.Constant:
		if !tr.Judge(k, path, truth.Claim{From: truth.Model}) {
			fail("the judge does not know that only the model knew it")
		}
	default:
		fail("unknown source " + s.From)
	}
	for _, p := range s.Not {
		found := false
		for path, v := range at(p.Call) {
			found = found || office.Pattern(path) == p.Path && v == value
		}
		if !found {
			fail("does not equal what it must not be taken from")
		}
		if tr.Judge(k, path, truth.Claim{From: truth.Result, Call: p.Call, Path: p.Path}) {
			fail("the judge accepts a lookalike")
		}
	}
}

// TestChainsAreWhereTheTruthSays holds every occurrence against the traces: the
// tools, that nothing comes between, that nothing failed, and that values which
// the chain binds are equal. And it finds the occurrences of the logins itself.
func TestChainsAreWhereTheTruthSays(t *testing.T) {
	file, err := truth.Open(filepath.Join(committed, committedTruth))
	if err != nil {
		t.Fatal(err)
	}
	chains := make(map[string]truth.Chain)
	for _, c := range file.Chains {
		chains[c.ID] = c
	}
	counts := make(map[string]int)
	logins := make(map[string]int)
	runs := lines(t)
	for i := range runs {
		tr := &file.Trajectories[i]
		calls := runs[i].calls(t)
		for _, occurrence := range tr.Chains {
			chain, ok := chains[occurrence.Chain]
			if !ok || len(chain.Steps) != len(occurrence.Steps) {
				t.Fatalf("%s: occurrence %+v", tr.ID, occurrence)
			}
			counts[chain.ID]++
			next := occurrence.Steps[0][0]
			for k, taken := range occurrence.Steps {
				if len(taken) > 1 && !chain.Steps[k].Each {
					t.Fatalf("%s: %d calls of one step", tr.ID, len(taken))
				}
				for _, n := range taken {
					if n != next || tr.Calls[n].Tool != chain.Steps[k].Tool || tr.Calls[n].Status != "ok" || n > occurrence.Steps[0][0] && calls[n].afterUser {
						t.Fatalf("%s: %s at call %d", tr.ID, chain.ID, n)
					}
					bindingsHold(t, tr, chain, occurrence, k, n)
					next++
				}
			}
		}
		for k := 1; k < len(calls); k++ {
			app, isLogin := strings.CutSuffix(calls[k].tool, "_login")
			if isLogin && calls[k-1].tool == "supervisor_show_passwords" && calls[k-1].turn < calls[k].turn && !calls[k].afterUser &&
				tr.Calls[k].Status == "ok" && tr.Calls[k-1].Status == "ok" && tr.Calls[k].Args["password"].Call == k-1 {
				logins["login-"+app]++
			}
		}
	}
	for id, c := range chains {
		if counts[id] != file.Totals.Chains[id].Occurrences {
			t.Errorf("%s: %d occurrences, the total is %+v", id, counts[id], file.Totals.Chains[id])
		}
		if strings.HasPrefix(id, "login-") && counts[id] != logins[id] {
			t.Errorf("%s: %d occurrences, found %d", id, counts[id], logins[id])
		}
		if c.Find == truth.Must && counts[id] < 5 {
			t.Errorf("%s: too few occurrences to be found: %d", id, counts[id])
		}
		if c.Find == truth.MustNot && (counts[id] < 5 || c.Blocked == "") {
			t.Errorf("%s: %d occurrences, blocked by %q", id, counts[id], c.Blocked)
		}
	}
}

func bindingsHold(t *testing.T, tr *truth.Trajectory, chain truth.Chain, occurrence truth.ChainOccurrence, step, n int) {
	t.Helper()
	for arg, b := range chain.Steps[step].Bind {
		for path, s := range tr.Calls[n].Args {
			if office.Pattern(path) != arg {
				continue
			}
			switch {
			case b.Model:
				if s.From != truth.Model {
					t.Fatalf("%s call %d: %s comes from %s", tr.ID, n, path, s.From)
				}
			case b.Template != "":
				part := s.Parts[len(s.Parts)-1]
				if part.Source.Call != occurrence.Steps[b.Step][0] || strings.Replace(b.Template, "{}", part.Text, 1) != s.Parts[0].Text+part.Text {
					t.Fatalf("%s call %d: %s is no %s", tr.ID, n, path, b.Template)
				}
			case s.From != truth.Result || s.Call != occurrence.Steps[b.Step][0] || office.Pattern(s.Path) != b.Path || s.Key != b.Key || b.Is != "" && s.Is != b.Is:
				t.Fatalf("%s call %d: %s comes from %+v, not %+v", tr.ID, n, path, s, b)
			}
		}
	}
}

// TestReadme: the figures in the corpus's README are those of its truth file.
func TestReadme(t *testing.T) {
	file, err := truth.Open(filepath.Join(committed, committedTruth))
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(committed, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(strings.Fields(string(b)), " ")
	thousands := func(n int) string {
		if n < 1000 {
			return fmt.Sprint(n)
		}
		return fmt.Sprintf("%d,%03d", n/1000, n%1000)
	}
	n := file.Totals
	for _, want := range []string{
		fmt.Sprintf("%d tools.", len(file.Tools)),
		fmt.Sprintf("%d tasks, %d runs (%d without calls, %d solved), %s calls of %d tools (%d failed, %d without a result)",
			n.Tasks, n.Trajectories, n.Empty, n.Solved, thousands(n.Calls), n.Tools, n.Failed, n.NoResult),
		fmt.Sprintf("%s turns, %s of which call, %d user messages", thousands(n.Turns), thousands(n.CallingTurns), n.UserMessages),
		fmt.Sprintf("%s argument leaves: %s from results, %s from the task, %d from later user messages, %d templates, %d known to the model only, %d constants",
			thousands(n.Args), thousands(n.ArgsFrom[truth.Result]), thousands(n.ArgsFrom[truth.Task]), n.ArgsFrom[truth.User],
			n.ArgsFrom[truth.Template], n.ArgsFrom[truth.Model], n.ArgsFrom[truth.Constant]),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("README.md does not say %q", want)
		}
	}
}
