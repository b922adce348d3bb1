package mapped_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats/mapped"
	"github.com/awo-dev/awo/trace/formats/testdata/formattest"
)

// layouts are logs as nobody else writes them, with what a person counts in them:
// trajectories, turns, calls by name, results, failed calls, messages of the user.
var layouts = []struct {
	name, text, want string
}{
	{
		"steps in a document", `{"run_id":"r1","question":"Weather in Paris?","steps":[
 {"thought":"look","action":"get_weather","action_input":{"city":"Paris"},"observation":"Sunny"},
 {"thought":"more","action":"get_time","action_input":{"city":"Paris"},"observation":"12:00"}],"final_answer":"It is sunny.","success":true}`,
		"1 3 get_weather,get_time 2 0 1",
	},
	{"a call a line", `{"ts":1700000000,"session":"a","tool":"search","args":{"q":"x"},"output":{"n":3},"error":null}
{"ts":1700000001,"session":"a","tool":"open","args":{"id":3},"output":"page","error":null}
{"ts":1700000002,"session":"b","tool":"search","args":{"q":"y"},"output":null,"error":"timeout"}
`, "2 3 search,open,search 2 1 0"},
	{"events with kinds", `{"kind":"user_said","chat_id":7,"text":"hi","at":"2026-01-01T00:00:00Z"}
{"kind":"bot_action","chat_id":7,"function":"lookup","payload":{"k":1},"call_id":"x1","at":"2026-01-01T00:00:01Z"}
{"kind":"bot_action","chat_id":7,"function":"fetch","payload":{"k":2},"call_id":"x2","at":"2026-01-01T00:00:01Z"}
{"kind":"action_result","chat_id":7,"call_id":"x2","result":"two","at":"2026-01-01T00:00:02Z"}
{"kind":"action_result","chat_id":7,"call_id":"x1","result":"one","at":"2026-01-01T00:00:02Z"}
{"kind":"bot_said","chat_id":7,"text":"done","at":"2026-01-01T00:00:03Z"}
`, "1 3 lookup,fetch 2 0 1"},
	{
		"runs of steps of calls", `{"version":2,"runs":[{"id":"r1","prompt":"go","steps":[
 {"index":0,"model":"m","usage":{"in":10,"out":2},"invocations":[{"tool_name":"a","parameters":{"x":1},"result":"1"},{"tool_name":"b","parameters":{"x":2},"result":"2"}]},
 {"index":1,"model":"m","usage":{"in":12,"out":2},"invocations":[{"tool_name":"c","parameters":{},"result":"3"}]}]},
 {"id":"r2","prompt":"stop","steps":[{"index":0,"model":"m","usage":{"in":5,"out":1},"invocations":[{"tool_name":"a","parameters":{"x":3},"result":"4"}]}]}]}`,
		"2 3 a,b,c,a 4 0 2",
	},
	{"speakers with actions", `{"conversation":[{"speaker":"CUSTOMER","utterance":"book it"},
 {"speaker":"AGENT","utterance":"sure","actions":[{"name":"book","args":{"id":1},"response":{"ok":true}}]},
 {"speaker":"AGENT","utterance":"booked"}]}
{"conversation":[{"speaker":"CUSTOMER","utterance":"cancel"},
 {"speaker":"AGENT","utterance":"ok","actions":[{"name":"cancel","args":{"id":1},"response":{"ok":true}}]}]}
`, "2 3 book,cancel 2 0 2"},
	{
		"a nested function", `[{"episode":1,"trace":[{"id":"c1","function":{"name":"f","arguments":"{\"a\":1}"},"output":"x"},{"id":"c2","function":{"name":"g","arguments":"{}"},"output":"y"}]}]`,
		"1 2 f,g 2 0 0",
	},
}

// summary counts what was read.
func summary(all []*trace.Trajectory) string {
	var turns, results, failed, users int
	var tools []string
	for _, t := range all {
		turns += len(t.Turns)
		for i := range t.Calls {
			c := &t.Calls[i]
			tools = append(tools, c.Tool.Value())
			if c.HasResult {
				results++
			}
			if c.Status == trace.StatusFailed {
				failed++
			}
			if c.ArgsMissing() {
				tools = append(tools, "without arguments")
			}
		}
		for _, m := range t.Messages {
			if m.Role == trace.RoleUser {
				users++
			}
		}
	}
	return fmt.Sprintf("%d %d %s %d %d %d", len(all), turns, strings.Join(tools, ","), results, failed, users)
}

// values returns the records of a text: lines, or one document.
func values(t *testing.T, text string) (out []trace.Value) {
	t.Helper()
	h := formattest.HeadOf(text, len(text))
	for _, r := range h.Records {
		v, err := trace.ParseValue(r.Raw)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// read reads a text by a map, as a run of awo does.
func read(t *testing.T, m *mapped.Map, text string) (all []*trace.Trajectory) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "log.json")
	formattest.WriteFile(t, file, text)
	r, err := trace.Open([]string{file}, trace.Options{Formats: []trace.Format{m.Format()}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for tr, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		tr.Source.File, tr.ID = "log.json", strings.ReplaceAll(tr.ID, filepath.Dir(file), "")
		all = append(all, tr)
	}
	return all
}

// TestDraftsWorkAsPrinted reads layouts that were never seen by the map that is drafted
// for them, without changing a letter of it.
func TestDraftsWorkAsPrinted(t *testing.T) {
	for _, layout := range layouts {
		t.Run(layout.name, func(t *testing.T) {
			draft, ok := mapped.Draft(values(t, layout.text))
			if !ok {
				t.Fatal("no draft")
			}
			m, problems := mapped.Parse("map.yaml", []byte(draft))
			if problems != nil {
				t.Fatalf("%v\n%s", problems, draft)
			}
			all := read(t, m, layout.text)
			for _, tr := range all {
				formattest.CheckConsistent(t, tr)
				formattest.CheckRoundTrip(t, tr)
			}
			if got := summary(all); got != layout.want {
				t.Errorf("got %s, want %s\n%s", got, layout.want, draft)
			}
			again, _ := mapped.Draft(values(t, layout.text))
			if again != draft {
				t.Error("the second draft is another")
			}
		})
	}
}

// TestNoDraft holds that nothing is proposed where nothing is called.
func TestNoDraft(t *testing.T) {
	for _, text := range []string{`{"name":"x","version":"1","dependencies":{"a":"1"}}`, `{"tools":[{"name":"f","description":"d","parameters":{"type":"object","properties":{}}}]}`, `[1,2]`} {
		if draft, ok := mapped.Draft(values(t, text)); ok {
			t.Errorf("%s: %s", text, draft)
		}
	}
}

// TestProblemsHavePlaces holds where what is wrong with a map is said.
func TestProblemsHavePlaces(t *testing.T) {
	for text, want := range map[string]string{
		"tool: $.a[\n":                  "m:1:11: map-path",
		"tool: a.b\n":                   "m:1:7: map-path",
		"tol: $.a\ntool: $.b\n":         "m:1:1: map-field",
		"text: $.a\n":                   "m:1:1: map-missing",
		"tool: $.a\nroles: [user]\n":    "m:2:8: map-shape",
		"tool: $.a\nroles: {x: bot}\n":  "m:2:12: map-shape",
		"tool: $.a\ntokens: {in: $}\n":  "m:2:10: map-field",
		"":                              "m:1:1: map-missing",
		"- tool\n":                      "m:1:1: map-shape",
		"tool: $.a\nanswers: $.id\n":    "m:1:1: map-missing",
		"tool: {path: $.a}\n":           "m:1:7: map-shape",
		"tool: $.a\nhook: x\n":          "m:2:7: map-field",
		"tool: $.a\nstatuses: [x]\n":    "m:2:11: map-shape",
		"tool: $.a\nstatuses: {x: y}\n": "m:2:15: map-shape",
		"tool: $.a ~ 'x'\n":             "m:1:7: map-path",
		"tool: $.a + b.c\n":             "m:1:13: map-path",
	} {
		m, problems := mapped.Parse("m", []byte(text))
		if m != nil || len(problems) == 0 {
			t.Errorf("%q: no problem", text)
			continue
		}
		if got := fmt.Sprintf("%s: %s", problems[0].Pos, problems[0].Code); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestPathsOfMaps holds what alternatives, joined texts, groups of regular expressions and
// paths into the document find, and how words are mapped.
func TestPathsOfMaps(t *testing.T) {
	m, problems := mapped.Parse("m", []byte(`records: $.runs[*]
whole: ^.batch + '/' + $.id
task: ^.missing + $.id | $.name ~ '^task (.*)$'
events: $.log[*] & $.more[*]
role: $.who
roles: {"*": system, u: user, m: assistant, r: tool}
text: $.said
tool: $.call
arguments: $.with
answers: $.of
id: $.n
result: $.got
status: $.end
statuses: {"0|done": ok, "*": failed}
`))
	if problems != nil {
		t.Fatal(problems)
	}
	all := read(t, m, `{"batch":"b","runs":[{"id":1,"name":"task x","log":[{"who":"u","said":"go"},{"who":"m","call":"f","n":"1","with":{}},{"who":"m","call":"g","n":"2","with":{}},{"who":"r","of":"1","got":"a","end":"done"}],"more":[{"who":"r","of":"2","got":"b","end":"late"},{"who":"other","said":"note"}]}]}`)
	if len(all) != 1 || all[0].ID != "b/1" || all[0].Task != "x" || len(all[0].Calls) != 2 || len(all[0].Messages) != 2 {
		t.Fatalf("got %s", formattest.DepictAll(all))
	}
	if x := all[0]; x.Calls[0].Status != trace.StatusOK || x.Calls[1].Status != trace.StatusFailed || x.Messages[1].Role != trace.RoleSystem {
		t.Errorf("got %s", formattest.Depict(x))
	}
}

// FuzzMap reads any records by any map, and drafts one for them.
func FuzzMap(f *testing.F) {
	for _, layout := range layouts {
		for _, other := range layouts {
			var records []trace.Value
			for _, r := range formattest.HeadOf(other.text, len(other.text)).Records {
				v, err := trace.ParseValue(r.Raw)
				if err != nil {
					f.Fatal(err)
				}
				records = append(records, v)
			}
			draft, _ := mapped.Draft(records)
			f.Add(draft, layout.text)
		}
	}
	f.Fuzz(func(t *testing.T, text, record string) {
		if v, err := trace.ParseValue([]byte(record)); err == nil {
			if draft, ok := mapped.Draft([]trace.Value{v}); ok {
				if _, problems := mapped.Parse("f", []byte(draft)); problems != nil {
					t.Fatalf("%v\n%s", problems, draft)
				}
			}
		}
		m, _ := mapped.Parse("f", []byte(text))
		if m == nil {
			return
		}
		format := m.Format()
		formattest.CheckDecoder(t, &format, []byte(record))
	})
}

// TestDraftChecked reads the records with the draft that was made from them.
func TestDraftChecked(t *testing.T) {
	row := func(id int) string {
		return fmt.Sprintf(`{"call_id":"c%d","tool_name":"find","args":{"n":%d},"result":"r%d"}`, id, id, id)
	}
	for _, test := range []struct {
		name  string
		lines []string
		want  []string
		not   string
	}{
		{
			"objects by name",
			[]string{`{"operations":{"a":` + row(1) + `,"b":` + row(2) + `,"c":` + row(3) + `}}`},
			[]string{"events: $.operations[*]", "3 calls of 3, 1 record of 1"},
			"less than 90 %",
		},
		{"calls that stand again", []string{row(1), row(2), row(1), row(2), row(3)}, []string{"once: $.call_id", "3 calls of 3"}, "more than once"},
		{
			"a type that is no role",
			[]string{`{"calls":[{"id":"x","type":"function","function":{"name":"f","arguments":{"a":1}}}],"tool_calls":1}`, `{"other":1}`},
			[]string{"tool: $.function.name", "1 call of 1, 1 record of 2", "It explains less than 90 %"},
			"roles:",
		},
	} {
		var records []trace.Value
		for _, line := range test.lines {
			v, err := trace.ParseValue([]byte(line))
			if err != nil {
				t.Fatal(err)
			}
			records = append(records, v)
		}
		draft, ok := mapped.Draft(records)
		if !ok {
			t.Fatalf("%s: there is no draft", test.name)
		}
		for _, want := range test.want {
			if !strings.Contains(draft, want) {
				t.Errorf("%s: %q is not in\n%s", test.name, want, draft)
			}
		}
		if strings.Contains(draft, test.not) {
			t.Errorf("%s: %q is in\n%s", test.name, test.not, draft)
		}
	}
}
