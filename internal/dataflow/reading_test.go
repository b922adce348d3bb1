package dataflow_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/dataflow/jsonvalue"
	"github.com/awo-dev/awo/trace"
)

// scalars appends the scalars in v, and its names.
func scalars(list []trace.Value, v trace.Value) []trace.Value {
	if v.Kind != trace.Array && v.Kind != trace.Object {
		return append(list, v)
	}
	for _, e := range v.Elems {
		list = scalars(list, e)
	}
	for _, m := range v.Members {
		list = scalars(append(list, trace.NewString(m.Name)), m.Value)
	}
	return list
}

// askable are values that stand somewhere in a trajectory, in other forms too, and
// some that do not.
func askable(t *trace.Trajectory) []trace.Value {
	list := []trace.Value{
		{},
		trace.NewString(""), trace.NewString("nowhere at all"),
		{Kind: trace.Bool},
		{Kind: trace.Array},
		{Kind: trace.Number, Text: "7"},
		trace.NewObject(trace.Member{Name: "a", Value: trace.NewString("nowhere")}), trace.NewString("May 20, 2024"),
	}
	for i := range t.Calls {
		args, _ := t.Calls[i].ArgsValue()
		list = append(scalars(list, args), args)
		if result, ok := t.Calls[i].ResultValue(); ok {
			list = scalars(list, result)
		}
	}
	for i := range t.Messages {
		text := t.Messages[i].Text.Text()
		list = append(list, trace.NewString(text[:min(len(text), 40)]), trace.NewString(text[len(text)/2:min(len(text)/2+9, len(text))]))
	}
	for _, v := range slices.Clone(list) {
		if v.Kind == trace.Number {
			list = append(list, trace.NewString(v.Text))
		}
	}
	return list
}

// checkValues asks a reading for many values.
func checkValues(t *testing.T, c *dataflow.Collector, one *trace.Trajectory, values []trace.Value) (known int) {
	t.Helper()
	reading := c.ReadFor(one, parsed{one}, values)
	defer reading.Close(c)
	for i, v := range values {
		for call := range len(one.Calls) + 1 {
			got, want := reading.ValueKnown(i, call), knownBefore(one, call, "no tool", "x", v)
			if got != want {
				t.Fatalf("%s: %s before call %d: %v, want %v", one.ID, v.AppendCanonical(nil), call, got, want)
			}
			if want {
				known++
			}
		}
	}
	return known
}

func TestReadingOfValues(t *testing.T) {
	s := run("r").system("Today is 2024-05-15.").
		user("Book 12 seats for Amélie  Dupont on June 3rd, for 1,250 dollars.").
		call("find", `{"name":"Amélie Dupont"}`, `{"user":{"id":"amelie_17"},"by_date":{"2024-06-03":{"x":1}},"seen":"2024-05-20T10:00:00"}`).
		user("Make it window seats").
		turn(call{"price", `{"route":"JFK-LAX"}`, `{"total":431.5}`}, call{"seats", `{"row":"17F"}`, `{"free":"18A"}`}).
		call("book", `{}`, `{"no":"B7731"}`)
	odd := longRun(5)
	for i := range odd.t.Calls { // turns that are not in order, or are not known
		odd.t.Calls[i].Turn = []int{3, 1, 1, -1, 2}[i]
	}
	for _, one := range []*trace.Trajectory{&s.t, &odd.t, &longRun(8).t, &run("empty").t} {
		var c dataflow.Collector
		values := append(askable(one), trace.NewString("2024-06-03"), trace.NewString("amélie dupont"), trace.Value{Kind: trace.Number, Text: "1250"})
		known := checkValues(t, &c, one, values)
		if known == 0 && len(one.Calls) > 0 {
			t.Errorf("%s: nothing was known", one.ID)
		}
	}
}

// TestKnowledgeOffice asks for what stands in real runs.
func TestReadingOfOffice(t *testing.T) {
	const path = "../../testdata/office/trajectories.jsonl.gz"
	if _, err := os.Stat(path); err != nil {
		t.Skip("the office corpus is not there")
	}
	var c dataflow.Collector
	for i, one := range read(t, path) {
		if i%50 == 0 {
			values := askable(one)
			checkValues(t, &c, one, values[:min(len(values), 60)])
		}
	}
}

// TestSchemas: what is kept of schemas changes no answer.
func TestSchemas(t *testing.T) {
	s := run("r").user("x").call("book", `{}`, `{}`)
	var schemas dataflow.Schemas
	for _, tools := range [][]trace.ToolDef{
		{{Name: trace.Intern("book"), Input: trace.JSONOf([]byte(bookSchema))}},
		{{Name: trace.Intern("book"), Input: trace.JSONOf([]byte(bookSchema))}, {Name: trace.Intern("book"), Input: trace.TextOf("{")}},
		{{Name: trace.Intern("book"), Input: trace.JSONOf([]byte(`{"properties":{"cabin":{"const":"first"}}}`))}},
		{{Name: trace.Intern("book"), Input: trace.TextOf(bookSchema)}},
		nil,
	} {
		s.t.Tools = tools
		for range 2 {
			kept, read := schemas.EnumsOf(&s.t), new(dataflow.Schemas).EnumsOf(&s.t)
			for _, path := range []string{"$.cabin", "$.kind", "$.loop", "$.bomb", "$.legs[*].class", "$.free", "$", "no path"} {
				for _, v := range []string{`"economy"`, `"first"`, `"round_trip"`, `"aisle"`, `2`} {
					param, hash := dataflow.Slot{Side: dataflow.Input, Tool: trace.Intern("book"), Path: path}, jsonvalue.Hash(new(value(t, v)))
					if got, want := kept.Has(param, hash), read.Has(param, hash); got != want {
						t.Errorf("%s of %s: %v, want %v", v, path, got, want)
					}
				}
			}
		}
	}
	s.t.Tools = []trace.ToolDef{{Name: trace.Intern("book"), Input: trace.JSONOf([]byte(bookSchema))}}
	param := dataflow.Slot{Side: dataflow.Input, Tool: trace.Intern("book"), Path: "$.kind"}
	if !schemas.EnumsOf(&s.t).Has(param, jsonvalue.Hash(new(trace.NewString("one_way")))) {
		t.Error("one_way is listed")
	}
}

// parsed reads values anew whenever they are asked for.
type parsed struct{ *trace.Trajectory }

func (p parsed) Arguments(call int) *trace.Value {
	v, _ := p.Calls[call].ArgsValue()
	return &v
}

func (p parsed) Result(call int) *trace.Value {
	if v, ok := p.Calls[call].ResultValue(); ok {
		return &v
	}
	return new(trace.NewString(p.Calls[call].Result.Text()))
}

// wasKnown says of the arguments of a call what the flow of the whole trajectory does, of
// one by its name or of all.
func wasKnown(f *dataflow.Flow, enums dataflow.Enums, call, before int, argument string, all bool) bool {
	for i := range f.Uses {
		u := &f.Uses[i]
		if u.Call != call || u.Whole {
			continue
		}
		path, err := jsonpath.Parse(f.Slots[u.Param].Path)
		if is := err == nil && len(path) > 0 && path[0].Kind == jsonpath.Member && path[0].Name == argument; !all && !is {
			continue
		}
		if !f.KnownBefore(u, before, enums) {
			return false
		}
	}
	return true
}

// readings are trajectories with turns in order and out of it, and with other calls.
func readings(t *testing.T) []*trace.Trajectory {
	list := []*trace.Trajectory{&longRun(8).t}
	for seed := range uint64(20) {
		r := rand.New(rand.NewPCG(seed, 1))
		odd := longRun(3 + r.IntN(6))
		for i := range odd.t.Calls {
			if odd.t.Calls[i].Turn = r.IntN(5) - 1; r.IntN(4) == 0 {
				odd.t.Calls[i].Origin = trace.OriginCode
			}
		}
		for i := range odd.t.Messages {
			odd.t.Messages[i].Turn = r.IntN(5) - 1
		}
		if seed%2 == 0 {
			slices.SortStableFunc(odd.t.Calls, func(a, b trace.Call) int { return a.Turn - b.Turn })
			slices.SortStableFunc(odd.t.Messages, func(a, b trace.Message) int { return a.Turn - b.Turn })
		}
		list = append(list, &odd.t)
	}
	s := run("schemas").user("Book 12 seats on June 3rd").call("find", `{"on":"2024-06-03","n":12}`, `{"cabin":"suite","at":"{\"gate\":\"B22\"}"}`).
		call("book", `{"cabin":"economy","legs":[{"class":"aisle","x":"B22"},{"class":3}],"free":"suite","no":true,"of":{}}`, `{}`).
		call("book", `{"cabin":"suite","of":{"2024-06-03":{"y":"economy"}},"":"B22"}`, ``)
	s.t.Tools = []trace.ToolDef{{Name: trace.Intern("book"), Input: trace.JSONOf([]byte(bookSchema))}}
	list = append(list, &s.t)
	const path = "../../testdata/office/trajectories.jsonl.gz"
	if _, err := os.Stat(path); err == nil {
		list = append(list, read(t, path)[:60]...)
	}
	for _, name := range []string{"taubench/gpt-4o-airline.json", "tau2/retail_gpt-4.1.json"} {
		t.Run(name, func(t *testing.T) { list = append(list, read(t, recorded(t, name))[:20]...) })
	}
	return list
}

// TestReading: whatever is asked first, of all calls or of the first ones, the answers are
// those of the flow of the whole trajectory.
func TestReading(t *testing.T) {
	type question struct {
		call, before int
		argument     string
		all          bool
	}
	var c dataflow.Collector
	known, unknown := 0, 0
	for n, one := range readings(t) {
		if len(one.Calls) == 0 {
			continue
		}
		full, enums, r := c.Collect(one), new(dataflow.Schemas).EnumsOf(one), rand.New(rand.NewPCG(uint64(n), 2))
		var questions []question
		for call := range one.Calls {
			args, _ := one.Calls[call].ArgsValue()
			for before := range len(one.Calls) + 1 {
				questions = append(questions, question{call, before, "", true}, question{call, before, "no such", false})
				for i := range args.Members {
					questions = append(questions, question{call, before, args.Members[i].Name, false})
				}
			}
		}
		for range 4 {
			r.Shuffle(len(questions), func(i, j int) { questions[i], questions[j] = questions[j], questions[i] })
			asked := questions[:min(len(questions), 1+r.IntN(300))]
			last := slices.MaxFunc(asked, func(a, b question) int { return a.call - b.call }).call
			if r.IntN(2) == 0 {
				last = len(one.Calls) - 1
			}
			reading := c.Read(one, nil, last+1, parsed{one})
			for _, q := range asked {
				got := false
				if q.all {
					got = reading.CallKnown(q.call, q.before)
				} else {
					got = reading.ArgumentKnown(q.call, q.argument, q.before)
				}
				want := wasKnown(full, enums, q.call, q.before, q.argument, q.all)
				if got != want {
					t.Fatalf("%s: %+v: %v, want %v", one.ID, q, got, want)
				}
				if want {
					known++
				} else {
					unknown++
				}
			}
			reading.Close(&c)
		}
	}
	if known == 0 || unknown == 0 {
		t.Errorf("%d were known, %d were not", known, unknown)
	}
}

// TestReadingBounds: the bounds that are noted are those of the whole trajectory, however
// little of it is read.
func TestReadingBounds(t *testing.T) {
	deep := strings.Repeat(`{"x":`, 90) + `"bottom"` + strings.Repeat(`}`, 90)
	nested := `{"k":"bottom"}`
	for range 7 {
		nested = fmt.Sprintf(`{"k":%q}`, nested)
	}
	var wide strings.Builder
	for i := range 700 {
		fmt.Fprintf(&wide, `,{"a%d":0`, i)
		for k := range 99 {
			fmt.Fprintf(&wide, `,"m%c%d":%d`, 'a'+k%26, i*100+k, k)
		}
		wide.WriteByte('}')
	}
	list := read(t, "../../testdata/office/trajectories.jsonl.gz")[:40]
	for i, result := range []string{deep, nested, "[" + wide.String()[1:] + "]", `{"a":"\u005b1]"}`} {
		for _, form := range []func(string) trace.Raw{
			func(s string) trace.Raw { return trace.JSONOf([]byte(s)) }, trace.TextOf,
			func(s string) trace.Raw { return trace.Raw{Data: fmt.Appendf(nil, "%q", s), Form: trace.FormString} },
		} {
			s := run(fmt.Sprint("result ", i)).user("it is y1z").call("get", `{"id":"y1z"}`, `{}`).call("list", `{}`, `{}`).call("put", `{"id":"y1z"}`, `{}`)
			s.t.Calls[1].Result = form(result)
			list = append(list, &s.t)
		}
	}
	var c dataflow.Collector
	noted := 0
	for _, one := range list {
		if len(one.Calls) == 0 {
			continue
		}
		var want, got bounds.Reached
		one.Reached = &want
		c.Collect(one)
		one.Reached = &got
		r := c.Read(one, nil, len(one.Calls), parsed{one})
		r.CallKnown(0, 0)
		r.ReadBounds()
		r.Close(&c)
		if a, b := got.Reports(), want.Reports(); !slices.Equal(a, b) {
			t.Errorf("%s: reached %v, want %v", one.ID, a, b)
		}
		noted += len(want.Reports())
	}
	if noted < 6 {
		t.Errorf("%d bounds were reached", noted)
	}
}
