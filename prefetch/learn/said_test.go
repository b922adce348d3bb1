package learn

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/deal"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/trace"
)

func TestShapesOf(t *testing.T) {
	for _, test := range []struct {
		values []string
		want   string
	}{
		{[]string{"#W1234567", "#W7654321", "#W0000001"}, "[#A9{7}]"},
		{[]string{"mia_li_3668", "sara_doe_496", "noah_muller_9847"}, "[a+_a+_9+]"},
		{[]string{"mia.li@example.com", "x@y.org"}, "[email]"},
		{[]string{"EHGLP3", "4WQ150", "VAAOXJ", "M05KNL", "IFOYYZ", "XEWRD9", "3RK2T9", "1N99U6"}, "[X{6}]"},
		{[]string{"12.5", "13.75", "9.99"}, "[9+.9+]"},
		{[]string{"19122", "19123", "19124"}, "[9{5}]"},
	} {
		if got := fmt.Sprint(shapesOf(test.values)); got != test.want {
			t.Errorf("%v have the shapes %s, want %s", test.values, got, test.want)
		}
	}
}

// customers are runs of a shop in which a customer says who she is, in words of her own, and
// is looked up by three arguments; then an order that she named before.
func customers(n int) []*trace.Trajectory {
	var out []*trace.Trajectory
	for i := range n {
		first, last := "N"+strings.Repeat("a", 2+i%5)+string(rune('b'+i%20)), "L"+strings.Repeat("o", 2+i%4)+string(rune('c'+i%20))
		s := (&scripted.Run{}).User(fmt.Sprintf("Where is #W%d?", 100000+i))
		s.T.Turns = append(s.T.Turns, trace.Turn{FirstCall: 0}) // who are you?
		s.Call("list_offers", `{}`, `[]`)
		s.Call("list_offers", `{}`, `[]`)
		s.User(fmt.Sprintf("My name is %s %s, zip %d", first, last, 10000+i))
		s.Call("find_customer", fmt.Sprintf(`{"first":%q,"last":%q,"zip":"%d"}`, first, last, 10000+i), fmt.Sprintf(`"u%d"`, i))
		s.Call("get_order", fmt.Sprintf(`{"id":"#W%d"}`, 100000+i), `{"ok":true}`)
		s.T.Task = fmt.Sprint("task", i)
		out = append(out, &s.T)
	}
	return out
}

// TestSaid learns what the user gives: several arguments of one message, the words before
// them, and that an order is looked at only when it is known who asks. No value is kept.
func TestSaid(t *testing.T) {
	runs := customers(30)
	r := survey(t, runs, Options{Reads: byName}).Choose(ChooseOptions{})
	got := map[string]string{}
	for i := range r.Set.Rules {
		rule := &r.Set.Rules[i]
		got[rule.ID] = fmt.Sprint(rule.Source.Kind, " ", rule.Source.Slots, " after ", rule.Source.Trust, " ", r.Evidence[i].Used, " of ", r.Evidence[i].Offered)
	}
	for id, want := range map[string]string{
		"user-find_customer": "user [{first [Aa+] false false [] [is my name where zip]} {last [Aa+] false false [] [is my name where zip]} {zip [9{5}] false false [] []}] after [] 30 of 30",
		"user-get_order":     "user [{id [#A9{6}] false false [] []}] after [find_customer] 30 of 30",
		"none-list_offers":   "none [] after [] 30 of 30",
	} {
		if got[id] != want {
			t.Errorf("%s: %s, want %s", id, got[id], want)
		}
	}
	if err := r.Set.Check(); err != nil {
		t.Error(err)
	}
	text, err := r.File().Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, run := range runs {
		for i := range run.Calls {
			v, _ := run.Calls[i].ArgsValue()
			for _, m := range v.Members {
				if strings.Contains(string(text), m.Value.Text) {
					t.Errorf("the rules hold %q", m.Value.Text)
				}
			}
		}
	}
}

// TestSaidIsRejected lists what users say and is seldom asked for among what no rule is made of.
func TestSaidIsRejected(t *testing.T) {
	var runs []*trace.Trajectory
	for i := range 20 {
		text := "These are mine:"
		for k := range 12 {
			text += fmt.Sprintf(" #W%06d", 1000*i+37*k)
		}
		s := (&scripted.Run{}).User(text)
		s.Call("get_order", fmt.Sprintf(`{"id":"#W%06d"}`, 1000*i+37*5), `{"state":"sent"}`)
		s.Call("note", `{}`, `"ok"`)
		s.T.Task = fmt.Sprint("task-", i)
		runs = append(runs, &s.T)
	}
	r := survey(t, runs, Options{Reads: byName}).Choose(ChooseOptions{})
	if len(r.Set.Rules) > 0 {
		t.Errorf("rules %+v", r.Set.Rules)
	}
	if !slices.ContainsFunc(r.Rejected, func(x Rejected) bool {
		return x.Rule.Source.Kind == prefetch.KindUser && x.Reason == "used-too-seldom"
	}) {
		t.Errorf("rejected %+v", r.Rejected)
	}
}

// TestSaidGeneralises learns from 20 tasks of each recorded set, drawn five times, and looks
// at the others: of the reads whose arguments stood in a message, how many are offered, and
// of what is offered, how much is used.
func TestSaidGeneralises(t *testing.T) {
	for file, least := range map[string]float64{
		"tau2/airline_azure-gpt-4o.json": .8, "tau2/retail_gpt-4.1.json": .8, "taubench/gpt-4o-airline.json": .8,
		"tau2/retail_toolorchestra-gpt-5.json": .7, // where customers are known by name, e-mail address or user ID, and say it in many ways
	} {
		list := recordings.Read(t, recordings.Recorded(t, file))
		var g generalised
		for seed := range uint64(5) {
			g.learn(list, seed, t)
		}
		t.Logf("%s: %d of %d reads are offered, %d of %d offers are used", file, g.offered, g.stood, g.used, g.offers)
		if float64(g.offered) < least*float64(g.stood) {
			t.Errorf("%s: %d of %d reads are offered, want %v", file, g.offered, g.stood, least)
		}
		if float64(g.used) < .3*float64(g.offers) {
			t.Errorf("%s: %d of %d offers are used, want 30 %%", file, g.used, g.offers)
		}
	}
}

type generalised struct{ stood, offered, used, offers int }

func (g *generalised) learn(list []*trace.Trajectory, seed uint64, t *testing.T) {
	tasks := map[string]bool{}
	for _, one := range list {
		tasks[one.TaskKey()] = true
	}
	order := slices.SortedFunc(maps.Keys(tasks), func(a, b string) int {
		x, y := deal.Rank(deal.HashOf(a), seed), deal.Rank(deal.HashOf(b), seed)
		return bytes.Compare(x[:], y[:])
	})
	var train, test []*trace.Trajectory
	for _, one := range list {
		if slices.Contains(order[:20], one.TaskKey()) {
			train = append(train, one)
		} else {
			test = append(test, one)
		}
	}
	r := survey(t, train, Options{Reads: byName}).Choose(ChooseOptions{NoIntervals: true})
	r.Keep(func(i int) bool { return r.Set.Rules[i].Source.Kind == prefetch.KindUser })
	m := NewMeasure(&r.Set)
	for _, one := range test {
		m.Add(m.Observe(one))
		run := read(one, func(tool string) bool { return byName(trace.Intern(tool)) })
		first := run.firstSaid(m.survey.candidates)
		for _, said := range sayings(run) {
			if len(said.slots) == 0 || len(said.others) > 0 {
				continue
			}
			g.stood++
			if _, is := first[said.key]; is {
				g.offered++
			}
		}
	}
	for _, e := range m.Evidence(1) {
		g.used, g.offers = g.used+e.Used, g.offers+e.Offered
	}
}
