package export_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/awo-dev/awo/internal/export"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/formats"
)

const office = "../../testdata/office/trajectories.jsonl.gz"

func read(t *testing.T, file string) []*trace.Trajectory {
	t.Helper()
	r, err := trace.Open([]string{file}, trace.Options{Formats: formats.All})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var list []*trace.Trajectory
	for tr, err := range r.All() {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, tr)
	}
	return list
}

func write(t *testing.T, format string, list []*trace.Trajectory) ([]byte, *export.Writer) {
	t.Helper()
	f, err := export.Find(format)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	w := f.NewWriter(&b)
	for _, tr := range list {
		if err := w.Add(tr); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if w.Bytes() != int64(b.Len()) {
		t.Errorf("%d bytes are said, %d were written", w.Bytes(), b.Len())
	}
	return b.Bytes(), w
}

// said is what a reader of messages must find again.
func said(t *trace.Trajectory) string {
	var b strings.Builder
	for i := range t.Messages {
		fmt.Fprintf(&b, "message %d turn %d: %s\n", t.Messages[i].Role, t.Messages[i].Turn, t.Messages[i].Text.Text())
	}
	for i := range t.Turns {
		fmt.Fprintf(&b, "turn %d: %d calls, %s\n", i, t.Turns[i].NumCalls, t.Turns[i].Text.Text())
	}
	for i := range t.Calls {
		c := &t.Calls[i]
		args, _ := trace.AppendCanonical(nil, c.Args.Content())
		fmt.Fprintf(&b, "call %s turn %d %s: %v %s\n", c.Tool.Value(), c.Turn, args, c.HasResult, c.Result.Content())
	}
	return b.String()
}

// TestReadBack writes the runs of the office as messages and as spans and reads them
// again: the same turns, calls, arguments and results.
func TestReadBack(t *testing.T) {
	list := read(t, office)
	for _, format := range []string{"openai-chat", "atif", "otlp"} {
		t.Run(format, func(t *testing.T) {
			data, w := write(t, format, list)
			if w.Lost.OtherCalls != 0 {
				t.Errorf("%d calls were left out of runs that have none to leave out", w.Lost.OtherCalls)
			}
			file := filepath.Join(t.TempDir(), "again.jsonl")
			if err := os.WriteFile(file, data, 0o600); err != nil {
				t.Fatal(err)
			}
			again := read(t, file)
			if len(again) != len(list) {
				t.Fatalf("%d trajectories, want %d", len(again), len(list))
			}
			lost := w.Lost.Messages
			for i := range list {
				if format == "otlp" { // what nobody answered is in no span
					for n := len(list[i].Messages); n > 0 && list[i].Messages[n-1].Turn == len(list[i].Turns); n-- {
						list[i].Messages = list[i].Messages[:n-1]
						lost--
					}
				}
				if got, want := said(again[i]), said(list[i]); got != want {
					t.Fatalf("trajectory %d:\n%s\nwant\n%s", i, got, want)
				}
				if format == "otlp" && (again[i].Task != list[i].Task || again[i].Outcome != list[i].Outcome) {
					t.Errorf("task %q, outcome %v", again[i].Task, again[i].Outcome)
				}
			}
			if lost != 0 {
				t.Errorf("%d messages are said to be left out", w.Lost.Messages)
			}
		})
	}
}

// hostile is a trajectory whose names would be markup, or move a cursor, with calls
// outside turns, without times and with times that go back.
func hostile() *trace.Trajectory {
	name := "<a key=\"x\">&'\x1b[31m\u009b\u202e\xff"
	at := func(s int64) time.Time { return time.Unix(s, 500).UTC() }
	score := 0.5
	return &trace.Trajectory{
		ID: name, Task: name, Agent: name, Model: name, Session: name, Score: &score, Outcome: trace.OutcomeFailure,
		Turns: []trace.Turn{{FirstCall: 0, NumCalls: 2}},
		Calls: []trace.Call{
			{Tool: trace.Intern(name), ID: "x", Args: trace.JSONOf([]byte(`{"secret":"S3CRET"}`)), Result: trace.TextOf("S3CRET"), HasResult: true, Start: at(100), End: at(101), Status: trace.StatusFailed},
			{Tool: trace.Intern("b"), ID: "x", Start: at(50)},
			{Tool: trace.Intern("c"), Turn: -1, Origin: trace.OriginCode},
		},
		Messages: []trace.Message{{Role: trace.RoleUser, Text: trace.TextOf("S3CRET")}},
	}
}

// untimed counts the calls that have neither a beginning nor an end.
func untimed(list []*trace.Trajectory) (n int) {
	for _, tr := range list {
		for i := range tr.Calls {
			if tr.Calls[i].Start.IsZero() && tr.Calls[i].End.IsZero() {
				n++
			}
		}
	}
	return n
}

var xesName = regexp.MustCompile(`^[A-Za-z_:][A-Za-z0-9_:.-]*$`)

// TestXES holds a log to what IEEE 1849-2016 asks: the order of parts of a log, one
// value of the right type in every attribute, keys that are names and differ.
func TestXES(t *testing.T) {
	list := append(read(t, office), hostile())
	data, w := write(t, "xes", list)
	if bytes.Contains(data, []byte("S3CRET")) || bytes.Contains(data, []byte("secret")) {
		t.Error("an argument or a result is in the log")
	}
	if bytes.ContainsAny(data, "\x1b\u202e\u009b") {
		t.Error("a control character is in the log")
	}
	if want := untimed(list); w.Lost.Untimed != want {
		t.Errorf("%d calls without a time, want %d", w.Lost.Untimed, want)
	}
	order := map[string]int{"extension": 1, "global": 2, "classifier": 3, "string": 4, "date": 4, "int": 4, "float": 4, "boolean": 4, "trace": 5, "event": 5}
	type level struct {
		name string
		at   int
		keys map[string]bool
	}
	var stack []level
	counts := map[string]int{}
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.StartElement:
			name := e.Name.Local
			counts[name]++
			attributes := map[string]string{}
			for _, a := range e.Attr {
				attributes[a.Name.Local] = a.Value
			}
			if len(stack) > 0 {
				in := &stack[len(stack)-1]
				if order[name] == 0 || order[name] < in.at {
					t.Fatalf("<%s> in <%s> behind what comes later", name, in.name)
				}
				in.at = order[name]
				if order[name] == 4 {
					key, value := attributes["key"], attributes["value"]
					if !xesName.MatchString(key) || in.keys[key] {
						t.Fatalf("key %q in <%s>", key, in.name)
					}
					in.keys[key] = true
					switch name {
					case "date":
						_, err = time.Parse(time.RFC3339, value)
					case "int":
						_, err = fmt.Sscanf(value, "%d", new(int))
					case "float":
						_, err = fmt.Sscanf(value, "%g", new(float64))
					}
					if err != nil {
						t.Fatalf("<%s> %s=%q: %v", name, key, value, err)
					}
				}
			} else if name != "log" || attributes["version"] == "" && attributes["xes.version"] == "" {
				t.Fatalf("the log begins with <%s> %v", name, attributes)
			}
			stack = append(stack, level{name, 0, map[string]bool{}})
		}
	}
	if counts["trace"] != 301 || counts["event"] < 2000 {
		t.Errorf("%d traces, %d events", counts["trace"], counts["event"])
	}
}

// ocelSchema says of a log what section 8.2 of the specification of OCEL 2.0 asks.
const ocelSchema = `{"type":"object","required":["eventTypes","objectTypes","events","objects"],"properties":{
 "eventTypes":{"type":"array","items":{"$ref":"#/$defs/kind"}},"objectTypes":{"type":"array","items":{"$ref":"#/$defs/kind"}},
 "events":{"type":"array","items":{"type":"object","required":["id","type","time"],"properties":{
  "id":{"type":"string"},"type":{"type":"string"},"time":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$"},
  "attributes":{"type":"array","items":{"type":"object","required":["name","value"],"properties":{"name":{"type":"string"},"value":{"type":"string"}}}},
  "relationships":{"$ref":"#/$defs/relations"}}}},
 "objects":{"type":"array","items":{"type":"object","required":["id","type"],"properties":{
  "id":{"type":"string"},"type":{"type":"string"},"relationships":{"$ref":"#/$defs/relations"},
  "attributes":{"type":"array","items":{"type":"object","required":["name","value","time"],"properties":{"name":{"type":"string"},"value":{"type":"string"},"time":{"type":"string"}}}}}}}},
 "$defs":{"kind":{"type":"object","required":["name","attributes"],"properties":{"name":{"type":"string"},"attributes":{"type":"array","items":{"type":"object","required":["name","type"]}}}},
  "relations":{"type":"array","items":{"type":"object","required":["objectId","qualifier"],"properties":{"objectId":{"type":"string"},"qualifier":{"type":"string"}}}}}}`

func TestOCEL(t *testing.T) {
	list := append(read(t, office), hostile(), &trace.Trajectory{ID: "without calls"})
	data, w := write(t, "ocel", list)
	if bytes.Contains(data, []byte("S3CRET")) || bytes.ContainsAny(data, "\x1b\u202e\u009b") {
		t.Error("a value or a control character is in the log")
	}
	if want := untimed(list); w.Lost.Untimed != want {
		t.Errorf("%d events without a time, want %d", w.Lost.Untimed, want)
	}
	var schema jsonschema.Schema
	if err := json.Unmarshal([]byte(ocelSchema), &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	if err := resolved.Validate(v); err != nil {
		t.Error(err)
	}
	var log struct {
		EventTypes, ObjectTypes []struct {
			Name       string
			Attributes []struct{ Name string }
		}
		Events, Objects []struct {
			ID, Type, Time string
			Attributes     []struct{ Name string }
			Relationships  []struct{ ObjectID string }
		}
	}
	if err := json.Unmarshal(data, &log); err != nil {
		t.Fatal(err)
	}
	declared := map[string]map[string]bool{}
	for _, kind := range append(log.EventTypes, log.ObjectTypes...) {
		declared[kind.Name] = map[string]bool{}
		for _, a := range kind.Attributes {
			declared[kind.Name][a.Name] = true
		}
	}
	objects, ids := map[string]bool{}, map[string]bool{}
	for _, o := range log.Objects {
		if objects[o.ID] {
			t.Errorf("object %s is there twice", o.ID)
		}
		objects[o.ID] = true
	}
	calls := 0
	for _, tr := range list {
		calls += len(tr.Calls)
	}
	if len(log.Events) != calls {
		t.Errorf("%d events of %d calls", len(log.Events), calls)
	}
	for _, e := range append(log.Events, log.Objects...) {
		if ids[e.ID] {
			t.Errorf("%s is there twice", e.ID)
		}
		ids[e.ID] = true
		for _, a := range e.Attributes {
			if !declared[e.Type][a.Name] {
				t.Errorf("%s has %s, which %s does not declare", e.ID, a.Name, e.Type)
			}
		}
		for _, r := range e.Relationships {
			if !objects[r.ObjectID] {
				t.Errorf("%s relates to %s, which is no object", e.ID, r.ObjectID)
			}
		}
	}
}

// TestEmpty writes logs of nothing, which have to be whole.
func TestEmpty(t *testing.T) {
	for _, f := range export.Formats {
		data, _ := write(t, f.Name, nil)
		switch f.Name {
		case "ocel":
			if !json.Valid(data) {
				t.Errorf("%s", data)
			}
		case "xes":
			if err := xml.Unmarshal(data, new(struct{})); err != nil {
				t.Error(err)
			}
		default:
			if len(data) != 0 {
				t.Errorf("%s: %s", f.Name, data)
			}
		}
		if _, err := export.Find("no such"); err == nil || !strings.Contains(err.Error(), f.Name) {
			t.Errorf("the error does not name %s: %v", f.Name, err)
		}
	}
}

// TestHostileReadsBack says that what the other formats make of odd trajectories is
// JSON, and says what was left out.
func TestHostileReadsBack(t *testing.T) {
	for _, format := range []string{"openai-chat", "otlp"} {
		data, w := write(t, format, []*trace.Trajectory{hostile()})
		if !json.Valid(data) {
			t.Errorf("%s is no JSON: %s", format, data)
		}
		if w.Lost.OtherCalls != 1 {
			t.Errorf("%s: %d calls left out, want 1", format, w.Lost.OtherCalls)
		}
		if n := bytes.Count(data, []byte("call_2")); format == "openai-chat" && n != 1 {
			t.Errorf("the second call of one id is there %d times by its own:\n%s", n, data)
		}
	}
}

func BenchmarkXES(b *testing.B) {
	r, err := trace.Open([]string{office}, trace.Options{Formats: formats.All})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	var list []*trace.Trajectory
	for tr, err := range r.All() {
		if err != nil {
			b.Fatal(err)
		}
		list = append(list, tr)
	}
	f, _ := export.Find("xes")
	b.ReportAllocs()
	for b.Loop() {
		w := f.NewWriter(io.Discard)
		for _, tr := range list {
			if err := w.Add(tr); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		b.SetBytes(w.Bytes())
	}
}
