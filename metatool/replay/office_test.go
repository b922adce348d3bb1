package replay_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/testdata/gen/encode"
	"github.com/awo-dev/awo/testdata/gen/office"
	"github.com/awo-dev/awo/testdata/gen/truth"
	"github.com/awo-dev/awo/trace"
)

const officeFolder = "../../testdata/office"

// officeRules parses the rules of the office world.
func officeRules(t testing.TB) *rules.Set {
	t.Helper()
	return recordings.Rules(t, officeFolder+"/rules.yaml")
}

// officeRuns generates runs of the office world, and what is true of it.
func officeRuns(t testing.TB, n int) ([]*trace.Trajectory, *truth.File) {
	t.Helper()
	world, err := office.New(office.Options{Trajectories: n, Tokens: office.Approximate, Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for run := range world.Runs() {
		text = append(encode.ATIF(text, run), '\n')
	}
	path := filepath.Join(t.TempDir(), "runs.jsonl")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return recordings.Read(t, path), world.Facts()
}

// inTruth writes a path as the truth file does: "messages[].id".
func inTruth(path jsonpath.Path) string {
	var b strings.Builder
	for _, s := range path {
		switch {
		case s.Kind != jsonpath.Member:
			b.WriteString("[]")
		case b.Len() > 0:
			b.WriteString("." + s.Name)
		default:
			b.WriteString(s.Name)
		}
	}
	return b.String()
}

// source returns the step and path that a binding reads, with Each put in front
// of what it reads in an element.
func source(step *metatool.Step, b *metatool.Binding) (int, jsonpath.Path, bool) {
	switch {
	case b.Kind == metatool.BindStep:
		return b.Step, b.Path, true
	case b.Kind == metatool.BindElement && step.Each.Kind == metatool.BindStep:
		return step.Each.Step, slices.Concat(step.Each.Path, b.Path), true
	case b.Kind == metatool.BindTemplate:
		return source(step, &b.Parts[0])
	}
	return 0, nil, false
}

// holds reports whether a meta-tool has the steps of a chain in a row, bound as
// the truth says. Other arguments may come from anywhere.
func holds(tool *metatool.Tool, c *truth.Chain) bool {
	for first := range tool.Steps {
		if first+len(c.Steps) <= len(tool.Steps) && holdsAt(tool, c, first) {
			return true
		}
	}
	return false
}

// calls reports whether a meta-tool makes the calls of a chain in a row, whatever
// it passes.
func calls(tool *metatool.Tool, c *truth.Chain) bool {
	for first := 0; first+len(c.Steps) <= len(tool.Steps); first++ {
		same := true
		for k := range c.Steps {
			same = same && tool.Steps[first+k].Tool == c.Steps[k].Tool
		}
		if same {
			return true
		}
	}
	return false
}

func holdsAt(tool *metatool.Tool, c *truth.Chain, first int) bool {
	for k, want := range c.Steps {
		step := &tool.Steps[first+k]
		if step.Tool != want.Tool || (step.Each != nil) != want.Each {
			return false
		}
		for name, bind := range want.Bind {
			i := slices.IndexFunc(step.Args, func(a metatool.Argument) bool { return a.Name == name })
			if i < 0 {
				return false
			}
			from, path, ok := source(step, &step.Args[i].Binding)
			if !ok || from != first+bind.Step || inTruth(path) != bind.Path {
				return false
			}
			filter := slices.IndexFunc(path, func(s jsonpath.Step) bool { return s.Kind == jsonpath.Filter })
			if bind.Is != "" && (filter < 0 || path[filter].Name != bind.Key || path[filter].Value.Text != bind.Is) {
				return false
			}
		}
	}
	return true
}

// coincides returns the planted coincidence that an argument of a meta-tool is
// taken for, "" if there is none.
func coincides(tool *metatool.Tool, known *truth.File) string {
	for k := range tool.Steps {
		step := &tool.Steps[k]
		for i := range step.Args {
			from, path, ok := source(step, &step.Args[i].Binding)
			if !ok {
				continue
			}
			for _, c := range known.Coincidences {
				if c.To.Tool == step.Tool && c.To.Path == step.Args[i].Name && c.From.Tool == tool.Steps[from].Tool && c.From.Path == inTruth(path) {
					return c.ID
				}
			}
		}
	}
	return ""
}

// offeredChains counts the planted chains that should be found and are, and
// fails for what should not be.
func offeredChains(t *testing.T, tools []*metatool.Tool, known *truth.File) (must int, missing []string) {
	t.Helper()
	for i := range known.Chains {
		chain := &known.Chains[i]
		switch chain.Find {
		case truth.MustNot:
			if at := slices.IndexFunc(tools, func(tool *metatool.Tool) bool { return calls(tool, chain) }); at >= 0 {
				t.Errorf("%s is %s, though only the model knew %s", chain.ID, tools[at].Name, chain.Blocked)
			}
		case truth.Must:
			must++
			if !slices.ContainsFunc(tools, func(tool *metatool.Tool) bool { return holds(tool, chain) }) {
				missing = append(missing, chain.ID)
			}
		}
	}
	for _, tool := range tools {
		if id := coincides(tool, known); id != "" {
			t.Errorf("%s takes an argument from where its value stands by coincidence: %s", tool.Name, id)
		}
	}
	return must, missing
}

// TestOffice compiles the office world, writes the meta-tools, reads them back
// and replays them in every run.
func TestOffice(t *testing.T) {
	set := officeRules(t)
	known, err := truth.Open(officeFolder + "/truth.json")
	if err != nil {
		t.Fatal(err)
	}
	list := recordings.Read(t, officeFolder+"/trajectories.jsonl.gz")
	c := compiled(t, list, set, compile.Options{Algorithm: compile.Patterns})
	tools := writtenAndRead(t, c)
	must, missing := offeredChains(t, tools, known)
	t.Logf("%d meta-tools; %d of %d planted chains are offered, not %q", len(tools), must-len(missing), must, missing)
	if len(missing) > 0 {
		t.Errorf("%q are not offered", missing)
	}
	logins := map[string]bool{}
	places, exact := 0, 0
	for _, v := range replayed(tools, list, set) {
		places, exact = places+v.Occurrences, exact+v.Exact
		if v.Occurrences == 0 {
			t.Errorf("%s is made nowhere", v.Tool.Name)
		}
		app, ok := loginOf(v.Tool)
		if !ok {
			continue
		}
		logins[app] = true
		for _, in := range v.Tool.Inputs {
			if in.Step < 2 && in.Name != "username" {
				t.Errorf("%s wants %s to log in to %s", v.Tool.Name, in.Name, app)
			}
		}
		t.Logf("%s: %d of %d places exact, %d save %d turns", v.Tool.Name, v.Exact, v.Occurrences, v.Saves, v.TurnsSaved)
		// What comes behind the login may differ once (a last page that an agent did
		// not read), and is then not chosen; the login itself never does.
		for step, tally := range v.Steps[:2] {
			if tally.Exact != tally.Total || tally.Total != v.Occurrences {
				t.Errorf("%s: step %d is exact in %d of %d places", v.Tool.Name, step+1, tally.Exact, v.Occurrences)
			}
		}
	}
	t.Logf("%d of %d places are exact", exact, places)
	if agreement := float64(exact) / float64(places); agreement < 0.95 {
		t.Errorf("%.3f of the places are exact", agreement)
	}
	for _, app := range []string{"mail", "calendar", "files", "payments", "tickets"} {
		if !logins[app] {
			t.Errorf("there is no meta-tool that begins by logging in to %s with the stored password", app)
		}
	}
	for _, walk := range [][2]string{{"mail_search", "mail_read"}, {"files_list", "files_read"}, {"calendar_list_events", "calendar_get_event"}, {"tickets_search", "tickets_get"}} {
		if !slices.ContainsFunc(tools, func(tool *metatool.Tool) bool { return walks(tool, walk[0], walk[1]) }) {
			t.Errorf("%s and then %s of each are no meta-tool", walk[0], walk[1])
		}
	}
}

// loginOf returns the application that a meta-tool logs in to in its first two
// steps, with the password that a filter picks out of the stored ones and no
// input but the user's name.
func loginOf(tool *metatool.Tool) (app string, ok bool) {
	if len(tool.Steps) < 2 || tool.Steps[0].Tool != "supervisor_show_passwords" || tool.Steps[0].Each != nil {
		return "", false
	}
	step := &tool.Steps[1]
	if app, ok = strings.CutSuffix(step.Tool, "_login"); !ok {
		return "", false
	}
	for i := range step.Args {
		a := &step.Args[i]
		filter := slices.IndexFunc(a.Binding.Path, func(s jsonpath.Step) bool { return s.Kind == jsonpath.Filter })
		switch {
		case a.Name == "username" && (a.Binding.Kind == metatool.BindInput || a.Binding.Kind == metatool.BindStep && a.Binding.Step == 0):
		case a.Name != "password" || a.Binding.Kind != metatool.BindStep || filter < 0 || a.Binding.Path[filter].Open || a.Binding.Path[filter].Value.Text != app:
			return "", false
		}
	}
	return app, true
}

// TestOfficeRefusals: Algorithm 1 finds chains that go on with what only the
// model chose; they are refused, with the argument that blocks them.
func TestOfficeRefusals(t *testing.T) {
	set := officeRules(t)
	known, err := truth.Open(officeFolder + "/truth.json")
	if err != nil {
		t.Fatal(err)
	}
	c := compiled(t, recordings.Read(t, officeFolder+"/trajectories.jsonl.gz"), set, compile.Options{Algorithm: compile.AWO})
	offeredChains(t, writtenAndRead(t, c), known)
	var blocked []string
	for _, d := range c.Definitions {
		for _, r := range d.Refusals {
			if r.Code == "unknown-before-chain" {
				blocked = append(blocked, d.Steps[r.Step].Tool+"."+r.Argument)
			}
		}
	}
	t.Logf("refused for %q", blocked)
	for _, want := range []string{"mail_read.message_id", "files_read.file_id", "calendar_find_slot.minutes"} {
		if !slices.Contains(blocked, want) {
			t.Errorf("no chain is refused because nothing before it tells %s", want)
		}
	}
}

// TestOfficeWithMoreRuns: with a thousand runs every planted chain is offered.
func TestOfficeWithMoreRuns(t *testing.T) {
	set := officeRules(t)
	list, known := officeRuns(t, 1000)
	c := compiled(t, list, set, compile.Options{Algorithm: compile.Patterns, Workers: 2})
	tools := writtenAndRead(t, c)
	must, missing := offeredChains(t, tools, known)
	t.Logf("%d meta-tools; %d of %d planted chains are offered", len(tools), must-len(missing), must)
	if len(missing) > 0 {
		t.Errorf("%q are not offered", missing)
	}
}
