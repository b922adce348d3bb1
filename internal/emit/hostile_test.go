package emit_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/arazzo"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/prefetch/learn"
	"github.com/awo-dev/awo/prefetch/stored"
	"github.com/awo-dev/awo/rules"
	"github.com/awo-dev/awo/stategraph"
	"github.com/awo-dev/awo/trace"
)

// hostileNames are names of tools and arguments that some language, path or
// terminal takes for something else.
var hostileNames = []string{
	`a"b`, "a'b", "a\nb", "a\r\nb", "../../etc/passwd", `..\..\windows`, "C:\\x", "/", ".", "..", "", " ", "a b", "null", "~", "yes", "1e3", "---", "- a", "a: b", "#a",
	"$inputs.x", "{$inputs.x}", "$steps.a.outputs.result", "${x}", "{{x}}", "{x}", "{0}", "?a=b", "%2e%2e%2f", "a~1b", "$.a[*]", "[?@.a == 'b']", "</script>", "<!--", "`x`",
	"\x1b[31m", "\u202e", "\u2028", "\x00", "\ufffd", "é", "日本", "CON", "__proto__", strings.Repeat("n", 300), strings.Repeat("ü", 300),
}

// hostileRuns are runs in which each tool is named by the text, its arguments,
// the members of its result, and the constant that it takes too. Six runs are
// about the same customer, so that Algorithm 1 finds chains without rules.
func hostileRuns(name string) []*trace.Trajectory {
	quote := func(s string) string {
		b, _ := json.Marshal(s)
		return string(b)
	}
	var list []*trace.Trajectory
	for run := range 60 {
		t := &trace.Trajectory{ID: fmt.Sprintf("run %d", run), Task: fmt.Sprint("task ", run/2)}
		i := run % 10
		t.Messages = []trace.Message{{Role: trace.RoleUser, Text: trace.TextOf(fmt.Sprintf("Look at customer c-%04d.", i))}}
		call := func(tool, args, result string) {
			t.Turns = append(t.Turns, trace.Turn{FirstCall: len(t.Calls), NumCalls: 1})
			t.Calls = append(t.Calls, trace.Call{
				Tool: trace.Intern(tool), Turn: len(t.Turns) - 1, Args: trace.JSONOf([]byte(args)), Result: trace.JSONOf([]byte(result)), HasResult: true, Status: trace.StatusOK,
			})
		}
		key := quote(name)
		call(name, fmt.Sprintf(`{%s:"c-%04d"}`, key, i), fmt.Sprintf(`{%s:{"id":"o-%04d-%d"},"list":[{%s:"x-%d-1"},{%s:"x-%d-2"}]}`, key, i, 7*i, key, i, key, i))
		call(name+" 2", fmt.Sprintf(`{%s:"o-%04d-%d","const":%s}`, key, i, 7*i, key), `{"ok":true}`)
		call(name+" 3", fmt.Sprintf(`{%s:"x-%d-1"}`, key, i), `{"n":1}`)
		call(name+" 3", fmt.Sprintf(`{%s:"x-%d-2"}`, key, i), `{"n":2}`)
		list = append(list, t)
	}
	return list
}

func compiledRuns(t testing.TB, list []*trace.Trajectory, set *rules.Set, algorithm compile.Algorithm) *compile.Compilation {
	t.Helper()
	return compile.Run(corpus.Filled(list, corpus.Options{Rules: set}), set, compile.Options{Algorithm: algorithm})
}

// emitted writes what is offered as every artefact.
func emitted(t testing.TB, c *compile.Compilation, reads *stored.File) ([]*bind.Definition, map[string][]byte) {
	t.Helper()
	names := c.Merged.Names(c.Merged.Masker(false))
	view, err := c.Merged.Graph.Select(stategraph.Selection{}, names)
	if err != nil {
		t.Fatal(err)
	}
	offered := slices.DeleteFunc(slices.Clone(c.Definitions), func(d *bind.Definition) bool { return d.Refusals != nil })
	var operations []arazzo.Operation
	for _, one := range c.Merged.Catalog.Tools() {
		operations = append(operations, arazzo.Operation{Name: one.Name.Value(), Description: one.Definition.Description, Input: bind.ArgumentsSchema(&one.Definition)})
	}
	found := emit.Found{Threshold: 5, Algorithm: "test", Walks: c.Merged.Walks}
	for _, d := range c.Definitions {
		found.Candidates = append(found.Candidates, emit.FoundCandidate{Definition: d, Ending: c.Ending(d.Candidate)})
	}
	files := map[string][]byte{}
	for _, f := range all(t, emit.Results{View: view, Names: names, Tools: offered, Operations: operations, Found: found, Prefetch: reads}) {
		files[f.Name] = f.Data
	}
	return offered, files
}

// learntReads learns which reads follow from which answers, all tools being taken to read.
func learntReads(t testing.TB, list []*trace.Trajectory) *stored.File {
	t.Helper()
	survey := learn.NewSurvey(corpus.Filled(list, corpus.Options{}), learn.Options{Reads: func(trace.Name) bool { return true }})
	return survey.Choose(learn.ChooseOptions{}).File()
}

// TestHostileRuns compiles runs whose names and values look like something
// else, reads every artefact back, and replays what was read.
func TestHostileRuns(t *testing.T) {
	set, err := rules.Parse("r.json", []byte(`{"version": 1, "rules": [{"id": "reads", "kind": "effect", "match": {"tool": "*"}, "effect": "accessor", "values": "allow"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	artefacts := []string{emit.EvidenceFolder + ".gitignore"}
	for _, e := range emit.Emitters {
		if e.Name != emit.Inertia.Name { // its bytes are made by package inertia
			artefacts = append(artefacts, e.Name)
		}
	}
	slices.Sort(artefacts)
	for _, name := range hostileNames {
		for _, algorithm := range []compile.Algorithm{compile.AWO, compile.Patterns} {
			t.Run(fmt.Sprintf("%s/%.20q", algorithm, name), func(t *testing.T) {
				list := hostileRuns(name)
				c := compiledRuns(t, list, set, algorithm)
				reads := learntReads(t, list)
				offered, files := emitted(t, c, reads)
				if len(offered) == 0 {
					t.Fatal("nothing is offered")
				}
				var got []string
				for file, data := range files {
					if got = append(got, file); strings.HasSuffix(file, ".json") && !json.Valid(data) {
						t.Errorf("%s is no JSON", file)
					}
					if i := slices.IndexFunc(data, func(b byte) bool { return b < 0x20 && b != '\n' || b == 0x7f }); i >= 0 {
						t.Errorf("%s holds the control character %#x", file, data[i])
					}
				}
				want := artefacts
				if name == "" { // a tool without a name is none that can be asked
					want = slices.DeleteFunc(slices.Clone(want), func(file string) bool { return strings.HasPrefix(file, "prefetch.") })
				}
				if slices.Sort(got); !slices.Equal(got, want) {
					t.Errorf("files are %+v", got)
				}
				if name != "" {
					back, err := stored.Decode(stored.Name, files[stored.Name])
					if err != nil {
						t.Fatal(err)
					}
					if fmt.Sprintf("%+v", back.Set) != fmt.Sprintf("%+v", reads.Set) {
						t.Errorf("rules are %+v, and were %+v", back.Set, reads.Set)
					}
				}
				read, err := arazzo.Parse(arazzo.File, files[arazzo.File])
				if err != nil {
					t.Fatal(err)
				}
				constants := 0
				v := replay.NewVerifier(read)
				for _, one := range list {
					v.Add(v.Check(one, nil))
				}
				for i, made := range v.Verifications() {
					for k := range read[i].Steps {
						got, want := &read[i].Steps[k], &offered[i].Steps[k]
						if got.Tool != want.Tool || !strings.HasPrefix(got.Tool, name) {
							t.Errorf("step %d calls %q, which was %q", k, got.Tool, want.Tool)
						}
						for a := range got.Args {
							if got.Args[a].Name != want.Args[a].Name || got.Args[a].Name != name && got.Args[a].Name != "const" {
								t.Errorf("step %d takes %q, which was %q", k, got.Args[a].Name, want.Args[a].Name)
							}
							if b := got.Args[a].Binding; b.Kind == metatool.BindConst && got.Args[a].Name == "const" {
								if constants++; b.Const.Kind != trace.String || b.Const.Text != name {
									t.Errorf("the constant %q is read as %v", name, b.Const)
								}
							}
						}
					}
					if made.Occurrences == 0 || made.Exact != made.Occurrences {
						t.Errorf("%d of %d places are exact: %+v", made.Exact, made.Occurrences, made.Disagreements)
					}
				}
				if constants == 0 {
					t.Error("no constant was written")
				}
				checkOperations(t, files[arazzo.OpenAPIFile], read)
				checkMCP(t, files["metatools.mcp.json"], read)
			})
		}
	}
}
