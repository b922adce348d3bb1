package export_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/awo-dev/awo/cost"
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

// Lexical spaces of XML Schema that the schema of XES names.
var (
	xmlName   = regexp.MustCompile(`^[A-Za-z_:][A-Za-z0-9_:.-]*$`)
	xmlNCName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
	xmlToken  = regexp.MustCompile(`^$|^[^\s]+( [^\s]+)*$`)
	decimal   = regexp.MustCompile(`^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)$`)
	long      = regexp.MustCompile(`^[+-]?[0-9]{1,18}$`)
	double    = regexp.MustCompile(`^(NaN|-?INF|[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?)$`)
	dateTime  = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})$`)
	anything  = regexp.MustCompile(`(?s)^.*$`)
)

// xesElement is what the schema of IEEE 1849-2016 (xes-ieee-1849-2016.xsd) says of an
// element, in our words: the schema itself is not ours to pass on.
type xesElement struct {
	attributes map[string]*regexp.Regexp
	optional   []string
	children   []string // in their order; "value" is any of values
}

// values are the elements that hold the value of an attribute.
var values = []string{"string", "date", "int", "float", "boolean"}

var xesElements = map[string]xesElement{
	"log":        {attributes: map[string]*regexp.Regexp{"xes.version": decimal, "xes.features": xmlToken}, optional: []string{"xes.features"}, children: []string{"extension", "global", "classifier", "value", "trace", "event"}},
	"extension":  {attributes: map[string]*regexp.Regexp{"name": xmlNCName, "prefix": xmlNCName, "uri": xmlToken}},
	"global":     {attributes: map[string]*regexp.Regexp{"scope": xmlNCName}, optional: []string{"scope"}, children: []string{"value"}},
	"classifier": {attributes: map[string]*regexp.Regexp{"name": xmlNCName, "scope": xmlNCName, "keys": xmlToken}, optional: []string{"scope"}},
	"trace":      {children: []string{"value", "event"}},
	"event":      {children: []string{"value"}},
	"string":     {attributes: map[string]*regexp.Regexp{"key": xmlName, "value": anything}, children: []string{"value"}},
	"date":       {attributes: map[string]*regexp.Regexp{"key": xmlName, "value": dateTime}, children: []string{"value"}},
	"int":        {attributes: map[string]*regexp.Regexp{"key": xmlName, "value": long}, children: []string{"value"}},
	"float":      {attributes: map[string]*regexp.Regexp{"key": xmlName, "value": double}, children: []string{"value"}},
	"boolean":    {attributes: map[string]*regexp.Regexp{"key": xmlName, "value": regexp.MustCompile(`^(true|false|0|1)$`)}, children: []string{"value"}},
}

// xesFaults holds a log to the schema of XES, and to what the standard says beside it: the
// keys of an element differ, and those of a classifier are declared as global attributes.
// It also returns how many elements of each name there are.
func xesFaults(data []byte) (faults []string, counts map[string]int) {
	fault := func(format string, args ...any) { faults = append(faults, fmt.Sprintf(format, args...)) }
	type level struct {
		name string
		at   int
		keys map[string]bool
	}
	var stack []level
	counts = map[string]int{}
	declared := map[string]bool{} // keys of global attributes of events
	scope := ""
	for d := xml.NewDecoder(bytes.NewReader(data)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return faults, counts
		}
		if err != nil {
			fault("%v", err)
			return faults, counts
		}
		switch e := token.(type) {
		case xml.EndElement:
			stack = stack[:len(stack)-1]
		case xml.StartElement:
			name := e.Name.Local
			counts[name]++
			rule, known := xesElements[name]
			if !known || e.Name.Space != "http://www.xes-standard.org/" {
				fault("<%s> of %q is no element of XES", name, e.Name.Space)
			}
			attributes := map[string]string{}
			for _, a := range e.Attr {
				if a.Name.Local == "xmlns" {
					continue
				}
				attributes[a.Name.Local] = a.Value
				if rule.attributes[a.Name.Local] == nil {
					fault("<%s> has no attribute %s", name, a.Name.Local)
				} else if !rule.attributes[a.Name.Local].MatchString(a.Value) {
					fault("<%s %s=%q>", name, a.Name.Local, a.Value)
				}
			}
			for want := range rule.attributes {
				if _, ok := attributes[want]; !ok && !slices.Contains(rule.optional, want) {
					fault("<%s> without %s", name, want)
				}
			}
			if len(stack) == 0 {
				if name != "log" {
					fault("the log begins with <%s>", name)
				}
			} else {
				in, kind := &stack[len(stack)-1], name
				if slices.Contains(values, name) {
					kind = "value"
					if in.keys[attributes["key"]] {
						fault("<%s> has %s twice", in.name, attributes["key"])
					}
					in.keys[attributes["key"]] = true
				}
				at := slices.Index(xesElements[in.name].children, kind)
				if at < in.at {
					fault("<%s> in <%s>, or behind what comes later", name, in.name)
				}
				in.at = max(at, 0)
				if in.name == "global" && scope == "event" {
					declared[attributes["key"]] = true
				}
			}
			switch name {
			case "global":
				scope = attributes["scope"]
			case "classifier":
				for _, key := range strings.Fields(attributes["keys"]) {
					if !declared[key] {
						fault("the classifier %s needs %s, which is no global attribute of events", attributes["name"], key)
					}
				}
			}
			stack = append(stack, level{name, 0, map[string]bool{}})
		}
	}
}

// TestXES holds a log to the schema and the rules of IEEE 1849-2016, and shows that this
// notices what they forbid.
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
	faults, counts := xesFaults(data)
	for _, f := range faults[:min(len(faults), 10)] {
		t.Error(f)
	}
	if counts["trace"] != 301 || counts["event"] < 2000 {
		t.Errorf("%d traces, %d events", counts["trace"], counts["event"])
	}
	for _, change := range [][2]string{
		{`xes.version="1849.2016"`, `xes.version="1849-2016"`},
		{`name="ToolAndTransition"`, `name="Tool and transition"`},
		{`<global scope="trace">`, `<globe scope="trace">`},
		{`<int key="awo:turn" value="1"/>`, `<int key="awo:turn" value="one"/>`},
		{`<int key="awo:turn" value="1"/>`, `<int key="awo:turn"/>`},
		{`<int key="awo:turn" value="1"/>`, `<int key="concept:name" value="1"/>`},
		{`<int key="awo:turn" value="1"/>`, `<trace></trace>`},
		{`keys="concept:name lifecycle:transition"`, `keys="concept:name org:resource"`},
		{`xmlns="http://www.xes-standard.org/"`, `xmlns="http://example.org/"`},
	} {
		broken := bytes.Replace(data, []byte(change[0]), []byte(change[1]), 1)
		if bytes.Equal(broken, data) {
			t.Errorf("%s is not in the log", change[0])
		}
		if faults, _ := xesFaults(broken); len(faults) == 0 {
			t.Errorf("%s instead of %s is let through", change[1], change[0])
		}
	}
}

// ocelSchema asks of a log what the schema of OCEL 2.0 does (section 8.2 of its
// specification, ocel20-schema-json.json), written anew, and that times are of UTC.
const ocelSchema = `{"type":"object","required":["eventTypes","objectTypes","events","objects"],"properties":{
 "eventTypes":{"type":"array","items":{"$ref":"#/$defs/kind"}},"objectTypes":{"type":"array","items":{"$ref":"#/$defs/kind"}},
 "events":{"type":"array","items":{"type":"object","required":["id","type","time"],"properties":{
  "id":{"type":"string"},"type":{"type":"string"},"time":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$"},
  "attributes":{"type":"array","items":{"type":"object","required":["name","value"],"properties":{"name":{"type":"string"},"value":{"type":"string"}}}},
  "relationships":{"$ref":"#/$defs/relations"}}}},
 "objects":{"type":"array","items":{"type":"object","required":["id","type"],"properties":{
  "id":{"type":"string"},"type":{"type":"string"},"relationships":{"$ref":"#/$defs/relations"},
  "attributes":{"type":"array","items":{"type":"object","required":["name","value","time"],"properties":{"name":{"type":"string"},"value":{"type":"string"},"time":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?Z$"}}}}}}}},
 "$defs":{"kind":{"type":"object","required":["name","attributes"],"properties":{"name":{"type":"string"},"attributes":{"type":"array","items":{"type":"object","required":["name","type"],"properties":{"name":{"type":"string"},"type":{"enum":["string","time","integer","float","boolean"]}}}}}},
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

// TestCalls: the rows of calls add up to the turns, tokens and money of the traces, and hold
// no value.
func TestCalls(t *testing.T) {
	list := read(t, office)
	data, _ := write(t, "calls", list)
	rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	column := func(name string) int { return slices.Index(rows[0], name) }
	turns, calls, input, usd := map[string]bool{}, 0, 0.0, 0.0
	for _, row := range rows[1:] {
		turns[row[column("trajectory")]+" "+row[column("turn")]] = true
		if row[column("call")] != "" {
			calls++
		}
		tokens, _ := strconv.ParseFloat(row[column("input_tokens")], 64)
		paid, _ := strconv.ParseFloat(row[column("usd")], 64)
		input, usd = input+tokens, usd+paid
	}
	meter, wantTurns, wantCalls, want := cost.NewMeter(cost.Options{NoCounting: true}), 0, 0, cost.Totals{}
	for _, tr := range list {
		wantTurns, wantCalls = wantTurns+len(tr.Turns), wantCalls+len(tr.Calls)
		want.Add(meter.Trajectory(tr).Total())
		for i := range tr.Calls {
			for _, value := range regexp.MustCompile(`"[^"]{12,}"`).FindAll(tr.Calls[i].Args.Content(), -1) {
				if value = bytes.Trim(value, `"`); bytes.Contains(data, value) {
					t.Errorf("%s is a value", value)
				}
			}
		}
	}
	if len(turns) != wantTurns || calls != wantCalls || math.Abs(input-float64(want.Input)) > 1 || math.Abs(usd-want.Paid) > 1e-9 {
		t.Errorf("%d turns, %d calls, %v tokens, %v USD; want %d, %d, %d, %v", len(turns), calls, input, usd, wantTurns, wantCalls, want.Input, want.Paid)
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
		case "calls":
			if rows := bytes.Count(data, []byte("\n")); rows != 1 {
				t.Errorf("%d rows", rows)
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
