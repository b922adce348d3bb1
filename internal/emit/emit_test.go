package emit_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/golden"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/stategraph"
	"github.com/awo-dev/awo/trace"
)

// hostile are names of tools that a trace may hold.
var hostile = []string{
	`quote " and \ back`, "two\nlines", "../../etc/passwd", "\x1b[2J\u009b2J", "\u202egnp.exe",
	strings.Repeat("long", 75), "\xff\xfe", "${x} {{y}} <script>", "",
}

// results are those of a compilation in which everything has a hostile name.
func results(t *testing.T) emit.Results {
	t.Helper()
	schema, err := trace.ParseValue([]byte(`{"type":"string","description":"a \u202e b"}`))
	if err != nil {
		t.Fatal(err)
	}
	var tools []*bind.Definition
	var b stategraph.Builder
	var walk []stategraph.Step
	for i, name := range hostile {
		tools = append(tools, &bind.Definition{
			Candidate: &candidate.Candidate{
				Labels: []stategraph.Label{stategraph.Label(i), 0}, Support: 3, Occurrences: make([]candidate.Occurrence, 4), TurnsSaved: 2,
			},
			Tool: metatool.Tool{
				Name: "tool_" + string(rune('a'+i)), Description: "Calls " + name + ".",
				Steps: []metatool.Step{
					{Tool: name, Args: []metatool.Argument{{Name: name, Binding: metatool.Binding{Kind: metatool.BindInput, Input: "q"}}}},
					{Tool: "next"},
				},
				Inputs:      []metatool.Input{{Name: "q", Argument: name, Schema: schema, Required: true}},
				Annotations: metatool.Annotations{Destructive: true, OpenWorld: true},
			},
		})
		walk = append(walk, stategraph.Step{Label: stategraph.Label(i), To: stategraph.StateID(i + 1)})
	}
	b.Add(walk, nil)
	names := stategraph.Names{
		Label: func(l stategraph.Label) string { return hostile[l] },
		Tool:  func(l stategraph.Label) string { return hostile[l] },
	}
	view, err := b.Graph().Select(stategraph.Selection{}, names)
	if err != nil {
		t.Fatal(err)
	}
	return emit.Results{View: view, Names: names, Tools: tools}
}

// all returns what all emitters make, in memory.
func all(t testing.TB, r emit.Results) []emit.File {
	t.Helper()
	files, err := emit.All(emit.Emitters, r)
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		if files[i].Data, err = files[i].Bytes(); err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// TestGraph holds the graph, which is written state by state and edge by edge, to what its
// document is as a whole.
func TestGraph(t *testing.T) {
	r := results(t)
	for _, s := range []stategraph.Selection{{}, {MaxStates: 1}, {MaxStates: 3}} {
		var err error
		if r.View, err = r.View.Graph.Select(s, r.Names); err != nil {
			t.Fatal(err)
		}
		want, err := report.MarshalJSON(r.View.Document(r.Names))
		if err != nil {
			t.Fatal(err)
		}
		files, err := emit.Graph.Emit(r)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got, err := files[0].Bytes(); err != nil || !bytes.Equal(got, want) {
				t.Errorf("the graph is\n%s\nwant\n%s\n%v", got, want, err)
			}
		}
		if err := files[0].Stream(full{}); err != errFull {
			t.Errorf("on a full disk writing says %v", err)
		}
	}
}

// full takes nothing.
type full struct{}

var errFull = errors.New("full")

func (full) Write([]byte) (int, error) { return 0, errFull }

// TestHostileNames emits everything under hostile names: files have the names
// that they always have, their JSON is valid and of printable characters only.
func TestHostileNames(t *testing.T) {
	files := all(t, results(t))
	g := golden.Open(t)
	for _, f := range files {
		if !slices.ContainsFunc(emit.Emitters, func(e emit.Emitter) bool { return e.Name == f.Name }) && f.Name != emit.EvidenceFolder+".gitignore" {
			t.Errorf("no emitter says that it makes a file %s", f.Name)
		}
		if strings.HasSuffix(f.Name, ".json") && !json.Valid(f.Data) {
			t.Errorf("%s is no JSON:\n%s", f.Name, f.Data)
		}
		if at := strings.IndexFunc(string(f.Data), func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }); at >= 0 {
			t.Errorf("%s holds %q", f.Name, f.Data[at:min(at+8, len(f.Data))])
		}
		g.Check(t, f.Name, f.Data)
	}
	if err := emit.Write(t.TempDir(), files, emit.ReplaceOwn); err != nil {
		t.Error(err)
	}
}

// TestMCP holds the tool list to the rules of the protocol (revision 2025-06-18
// and its successors: server/tools).
func TestMCP(t *testing.T) {
	files, err := emit.MCP.Emit(results(t))
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Tools []struct {
			Name        string
			Description string
			InputSchema struct {
				Type       string
				Properties map[string]any
				Required   []string
			}
			Annotations map[string]bool
		}
	}
	if err := json.Unmarshal(files[0].Data, &list); err != nil {
		t.Fatal(err)
	}
	if len(list.Tools) != len(hostile) {
		t.Fatalf("%d tools, want %d", len(list.Tools), len(hostile))
	}
	name := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	for _, tool := range list.Tools {
		if !name.MatchString(tool.Name) || tool.Description == "" || tool.InputSchema.Type != "object" {
			t.Errorf("a tool that is none: %+v", tool)
		}
		for _, required := range tool.InputSchema.Required {
			if _, ok := tool.InputSchema.Properties[required]; !ok {
				t.Errorf("%s requires %s, which is no property", tool.Name, required)
			}
		}
		for hint, want := range map[string]bool{"readOnlyHint": false, "destructiveHint": true, "idempotentHint": false, "openWorldHint": true} {
			if got, ok := tool.Annotations[hint]; !ok || got != want {
				t.Errorf("%s: %s is %v, %v", tool.Name, hint, got, ok)
			}
		}
	}
}

// TestNothingFound emits the results of traces in which nothing recurs.
func TestNothingFound(t *testing.T) {
	var b stategraph.Builder
	view, err := b.Graph().Select(stategraph.Selection{}, stategraph.Names{})
	if err != nil {
		t.Fatal(err)
	}
	files := all(t, emit.Results{View: view})
	for _, f := range files {
		if strings.HasSuffix(f.Name, ".json") && strings.Contains(string(f.Data), "null") {
			t.Errorf("%s says null where a list is empty:\n%s", f.Name, f.Data)
		}
	}
}
