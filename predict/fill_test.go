package predict

import (
	"fmt"
	"testing"

	"github.com/awo-dev/awo/trace"
)

// walk is a trajectory that looks up every order of a user, with ids of its own.
func walk(i int) *trace.Trajectory {
	user, x, y := fmt.Sprintf("user_%d", i), fmt.Sprintf("W%03dA", i), fmt.Sprintf("W%03dB", i)
	return trajectoryOf(fmt.Sprint(i), ">I am "+user,
		fmt.Sprintf(`get_user={"user_id":%q}={"orders":[{"id":%q},{"id":%q}]}`, user, x, y),
		fmt.Sprintf(`get_order={"id":%q}={"state":"open"}`, x),
		fmt.Sprintf(`get_order={"id":%q}={"state":"open"}`, y), ".")
}

func trained(n int) []*Run {
	var runs []*Run
	for i := range n {
		runs = append(runs, runOf(walk(i)))
	}
	return runs
}

func modelOf(runs []*Run) *Model {
	g := NewGraph(3)
	for _, r := range runs {
		g.Add(r.Observation)
	}
	return g.Model(ModelOptions{})
}

func TestFillFromListAndText(t *testing.T) {
	m := modelOf(trained(12))
	h := runOf(walk(99))
	for i, want := range []string{`"user_99"`, `"W099A"`, `"W099B"`} {
		d := &h.Observation.Decisions[i]
		fill := m.fill(h.History.viewAt(d), m.Symbol(d.Next), &FillOptions{})
		if !fill.Complete || len(fill.Args) != 1 || fill.Args[0].Value != want {
			t.Errorf("turn %d is filled with %+v, want %s", i, fill, want)
			continue
		}
		source := FromCall
		if i == 0 {
			source = FromText
		}
		if fill.Args[0].Source != source {
			t.Errorf("turn %d is filled from %v", i, fill.Args[0].Source)
		}
	}
	// The list is used up: there is no third call.
	d := h.Observation.Decisions[3]
	if fill := m.fill(h.History.viewAt(&d), m.Symbol(trace1("get_order")), &FillOptions{}); fill.Complete {
		t.Errorf("an element of an exhausted list: %+v", fill)
	}
	// What a later turn returned is not known before it.
	if fill := m.fill(h.History.viewAt(&h.Observation.Decisions[0]), m.Symbol(trace1("get_order")), &FillOptions{}); fill.Complete {
		t.Errorf("filled from the future: %+v", fill)
	}
}

// AutoTool asks dependencies, then the key state, then heuristics; the default takes what
// is most often right.
func TestFillInOrder(t *testing.T) {
	m := modelOf(trained(12))
	a, err := ParseAdapter("a.yaml", []byte("version: 1\nstate:\n  - {key: k, from: {tool: get_user, arg: user_id}, fills: [{tool: get_order, arg: id}, {tool: get_user, arg: user_id}]}\n"))
	if err != nil {
		t.Fatal(err)
	}
	h := runOf(walk(99))
	d := &h.Observation.Decisions[1]
	order := m.Symbol(trace1("get_order"))
	for _, c := range []struct {
		symbol  uint32
		ordered bool
		want    Source
	}{{order, true, FromCall}, {m.Symbol(trace1("get_user")), true, FromState}, {order, false, FromCall}, {m.Symbol(trace1("get_user")), false, FromState}} {
		fill := m.fill(h.History.viewAt(d), c.symbol, &FillOptions{Adapter: a, Ordered: c.ordered})
		if len(fill.Args) != 1 || fill.Args[0].Source != c.want {
			t.Errorf("ordered %v: %+v, want %v", c.ordered, fill.Args, c.want)
		}
	}
}

// The element of a list that the user has named comes before the others.
func TestFillPrefersWhatTheUserNamed(t *testing.T) {
	m := modelOf(trained(12))
	h := runOf(trajectoryOf("x", ">I am user_7, and it is about W555B",
		`get_user={"user_id":"user_7"}={"orders":[{"id":"W555A"},{"id":"W555B"}]}`, "."))
	fill := m.fill(h.History.viewAt(&h.Observation.Decisions[1]), m.Symbol(trace1("get_order")), &FillOptions{})
	if len(fill.Args) != 1 || fill.Args[0].Value != `"W555B"` || !fill.Args[0].Named {
		t.Errorf("filled with %+v", fill.Args)
	}
}

// A value that the schema does not allow fills nothing.
func TestFillKeepsToSchemas(t *testing.T) {
	m := modelOf(trained(12))
	h := runOf(walk(99))
	d := &h.Observation.Decisions[1]
	schemas := SchemasOf([]trace.ToolDef{{Name: trace1("get_order"), Input: trace.JSONOf([]byte(`{"properties":{"id":{"type":"integer"}}}`))}})
	for _, o := range []FillOptions{{Schemas: schemas}} {
		if fill := m.fill(h.History.viewAt(d), m.Symbol(trace1("get_order")), &o); fill.Complete {
			t.Errorf("%+v fills in %+v", o, fill)
		}
	}
	for _, c := range []struct {
		schema, value string
		fits          bool
	}{
		{`{"type":"string","enum":["a","b"]}`, `"c"`, false},
		{`{"enum":["a",1]}`, `1`, true},
		{`{"type":["null","number"]}`, `1.5`, true},
		{`{"type":"integer"}`, `1.5`, false},
		{`{"type":"boolean"}`, `true`, true},
		{`{"type":"array"}`, `{}`, false},
		{`{}`, `{}`, true},
	} {
		s := SchemasOf([]trace.ToolDef{{Name: trace1("t"), Input: trace.JSONOf([]byte(`{"properties":{"p":` + c.schema + `}}`))}})
		if s.Fits(trace1("t"), "p", c.value) != c.fits {
			t.Errorf("%s allows %s: %v", c.schema, c.value, !c.fits)
		}
	}
}

func TestFillRepeatsNothing(t *testing.T) {
	var runs []*Run
	for i := range 12 {
		user := fmt.Sprintf("user_%d", i)
		runs = append(runs, runOf(trajectoryOf(user, ">hi", fmt.Sprintf(`a={"id":%q}`, user), fmt.Sprintf(`b={"id":%q}`, user))))
	}
	m := modelOf(runs)
	h := runOf(trajectoryOf("x", ">hi", `a={"id":"user_9"}`, `b={"id":"user_9"}`, "."))
	d := &h.Observation.Decisions[2]
	if fill := m.fill(h.History.viewAt(d), m.Symbol(trace1("b")), &FillOptions{}); !fill.Complete || !fill.Repeated {
		t.Errorf("the same call again is %+v", fill)
	}
	p := NewPredictor(m, PredictorOptions{Any: true})
	p.each(h.History, d, func(f Firing) {
		if f.Repeated {
			t.Errorf("fires the same call again: %+v", f)
		}
	})
}

func TestShapes(t *testing.T) {
	for _, c := range []struct{ text, shape string }{
		{"mia_li_3668", "a_a_94"},
		{"EHGLP3", "X6"},
		{"2024-05-20", "94-92-92"},
		{"#W5918442", "#X8"},
		{"hello", ""},
		{"JFK", "A3"},
		{"a@b.org", "a@a.a"},
		{"I", ""},
		{"Zürich1", ""},
	} {
		if shape, _ := shapeOf(c.text); shape != c.shape && c.shape != "" {
			t.Errorf("%s has the shape %q, want %q", c.text, shape, c.shape)
		}
		if _, ok := shapeOf(c.text); ok != (c.shape != "") {
			t.Errorf("%s is an identifier: %v", c.text, ok)
		}
	}
	got := words(`My id is mia_li_3668, order "#W5918442".`)
	if len(got) != 2 || got[0].text != "mia_li_3668" || got[1].text != "#W5918442" {
		t.Errorf("identifiers are %v", got)
	}
}

// Only tools that are declared to read fire by default, and never right after the
// user has spoken.
func TestFireIsCareful(t *testing.T) {
	runs := trained(12)
	m := modelOf(runs)
	h := runOf(walk(99))
	reads := func(n trace.Name) Effect {
		if n.Value() == "get_order" {
			return EffectReads
		}
		return EffectUnknown
	}
	for _, c := range []struct {
		name  string
		o     PredictorOptions
		turn  int
		fires bool
	}{
		{"nothing is declared", PredictorOptions{}, 1, false},
		{"declared", PredictorOptions{Effects: reads}, 1, true},
		{"after the user", PredictorOptions{Any: true}, 0, false},
		{"after the user, asked for", PredictorOptions{Any: true, AfterUser: true}, 0, true},
		{"not available", PredictorOptions{Any: true, Available: func(trace.Name) bool { return false }}, 1, false},
	} {
		f, ok := NewPredictor(m, c.o).Fire(h.History, &h.Observation.Decisions[c.turn])
		if ok != c.fires {
			t.Errorf("%s: fires %v (%+v)", c.name, ok, f)
		}
	}
}
