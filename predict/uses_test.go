package predict

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/trace"
)

// counted is how often each rule could be applied to each parameter, as an Observation says.
func counted(o *Observation) map[string]int {
	out := map[string]int{}
	for _, n := range o.uses {
		u := n.use
		rule := o.rules[u.rule]
		add := func(right bool, n uint64) {
			if n > 0 {
				out[usesKey(o.params[u.param].paramOf, rule, u.class, right)] += int(n)
			}
		}
		add(true, n.Right)
		if rule.side == dataflow.Task || rule.path == "" {
			add(false, n.Tried-n.Right)
		}
	}
	return out
}

func usesKey(s paramOf, rule ruleKey, class Class, right bool) string {
	return fmt.Sprintf("%s(%s) %v %q %q class %d right %v", nameText(s.tool), s.param, rule.side, nameText(rule.tool), rule.path, class, right)
}

// countedSlowly says the same from the views of single calls.
func countedSlowly(t *trace.Trajectory) map[string]int {
	var c dataflow.Collector
	out, h, flow := map[string]int{}, NewHistory(t), c.Collect(t)
	for i := range flow.Uses {
		u := &flow.Uses[i]
		name, isMember := strings.CutPrefix(flow.Slots[u.Param].Path, "$.")
		place, ok := slices.BinarySearch(h.calls, u.Call)
		if !ok || !isMember || strings.ContainsAny(name, ".[") {
			continue
		}
		v, s := h.view(place), paramOf{t.Calls[u.Call].Tool, name}
		arg, _ := h.argument(u.Call, name)
		once := map[string]bool{}
		count := func(rule ruleKey, class Class, right bool) { once[usesKey(s, rule, class, right)] = true }
		var shapes []string
		for m := range v.messages {
			if t.Messages[m].Role == trace.RoleUser {
				for _, w := range h.messageWords(m) {
					shapes = append(shapes, w.shape)
				}
			}
		}
		for _, shape := range shapes {
			if got, ok := v.readText(shape, s.tool, name); ok {
				count(ruleKey{dataflow.Task, noName, shape}, v.class(s.tool, -1), isSame(&got, &arg))
			}
		}
		for _, call := range v.sources() {
			from, class := t.Calls[call].Tool, v.class(s.tool, call)
			count(ruleKey{dataflow.Output, from, ""}, class, false)
			count(ruleKey{dataflow.Input, from, ""}, class, false)
			for _, source := range u.Sources {
				slot := flow.Slots[source.Slot]
				if source.Relation != dataflow.Equal || slot.Side > dataflow.Input || source.Call != call || strings.Contains(slot.Path, "['") {
					continue
				}
				paths := []string{slot.Path}
				if open := openableOf(slot.Path); slot.Side == dataflow.Output && open.each != nil {
					held, _ := h.result(call)
					paths = append(paths, open.paths(held, nameParts(nameText(s.tool)), new([]trace.Value))...)
				}
				for _, path := range paths {
					key := ruleKey{slot.Side, from, path}
					if got, ok := v.read(key, call, s.tool, name); ok && isSame(&got.value, &arg) {
						count(key, class, true)
					}
				}
			}
		}
		for key := range once {
			out[key]++
		}
	}
	return out
}

// TestUses wants one reading of a trajectory to count what looking at each of its calls by
// itself does, whatever the order of turns.
func TestUses(t *testing.T) {
	list := recordings.Read(t, "../testdata/office/trajectories.jsonl.gz")[:60]
	for i := range 200 {
		x := odd(uint64(i))
		if i%4 == 0 {
			r := rand.New(rand.NewPCG(uint64(i), 5))
			for k := range x.Calls {
				x.Calls[k].Turn = r.IntN(4) - 1
			}
			for k := range x.Messages {
				x.Messages[k].Turn = r.IntN(4)
			}
		}
		list = append(list, x)
	}
	var w Observer
	n := 0
	for _, x := range list {
		got, want := counted(w.Observe(x, nil)), countedSlowly(x)
		if !maps.Equal(got, want) {
			for key := range want {
				if got[key] != want[key] {
					t.Errorf("%s: %s: %d, want %d", x.ID, key, got[key], want[key])
				}
			}
			for key := range got {
				if want[key] == 0 {
					t.Errorf("%s: %s: %d, want none", x.ID, key, got[key])
				}
			}
		}
		n += len(want)
	}
	if n < 1000 {
		t.Errorf("%d uses", n)
	}
}

// TestWords wants the words of a text to be those between blanks and signs.
func TestWords(t *testing.T) {
	const text = `See (A-17), "b_2"; <c@d.example>! Plain Words and AB, ü-1: ..x9.. 12 ` + "\x00z.3\tE"
	var got []string
	for _, w := range words(text) {
		got = append(got, w.text+" "+w.shape)
	}
	want := []string{"A-17 a-92", "b_2 a_91", "c@d.example a@a.a", "z.3 a.91"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestNameParts(t *testing.T) {
	if got, want := nameParts("simple_note.login"), []string{"simple", "simple_note", "simple_note.login", "note", "note.login", "login"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The record of a list that the tool's name names is found, wherever it stands; and
// neither its values nor its key are kept.
func TestFillByName(t *testing.T) {
	g := NewGraph(2)
	for i := range 12 {
		records := []string{
			fmt.Sprintf(`{"app":"mail","password":"pm%d"}`, i), fmt.Sprintf(`{"app":"files","password":"pf%d"}`, i), fmt.Sprintf(`{"app":"chat","password":"pc%d"}`, i),
		}
		for range i % 3 {
			records = append(records[1:], records[0])
		}
		list := fmt.Sprintf(`passwords={}={"all":[%s,%s,%s]}`, records[0], records[1], records[2])
		tool, password := "mail_login", fmt.Sprintf("pm%d", i)
		if i%2 > 0 {
			tool, password = "files_login", fmt.Sprintf("pf%d", i)
		}
		g.Add(runOf(trajectoryOf(fmt.Sprint(i), list, fmt.Sprintf(`%s={"password":%q}`, tool, password))).Observation)
	}
	m := g.Model(ModelOptions{})
	data, err := json.Marshal(m.data(g))
	if err != nil {
		t.Fatal(err)
	}
	for _, value := range []string{"pm3", "pf4", "chat"} {
		if bytes.Contains(data, []byte(value)) {
			t.Errorf("the snapshot holds the value %q", value)
		}
	}
	fill := func(list string) Fill {
		h := NewHistory(trajectoryOf("new", "passwords={}="+list))
		d := h.Now()
		return m.fill(h.viewAt(&d), m.Symbol(trace1("mail_login")), &FillOptions{})
	}
	got := fill(`{"all":[{"app":"chat","password":"x"},{"app":"files","password":"y"},{"app":"mail","password":"z"}]}`)
	if !got.Complete || len(got.Args) != 1 || got.Args[0].Value != `"z"` || got.Args[0].List {
		t.Errorf("filled in %+v", got)
	}
	for _, list := range []string{
		`{"all":[{"app":"mail","password":null}]}`,
		`{"all":[{"app":5,"password":"z"},"mail",["mail"]]}`,
	} {
		for _, a := range fill(list).Args {
			if a.Share > 0.9 { // what is left is the walk over the list
				t.Errorf("of %s filled in %+v", list, a)
			}
		}
	}
}

// odd is a trajectory of random values, of which many are equal in one way or another.
func odd(seed uint64) *trace.Trajectory {
	r := rand.New(rand.NewPCG(seed, 3))
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	texts := []string{
		"mail", "files", "list", "order-17", "order-18", "A17", "a@b.example", "", "17", "#0", "##1", "#1", "0", "1", "Grüße-1", "two words", "x\u0000-1", "mail_list",
	}
	var value func(depth int) string
	value = func(depth int) string {
		switch n := r.IntN(10); {
		case n < 5 || depth > 3:
			return fmt.Sprintf("%q", pick(texts...))
		case n < 7:
			return pick("0", "1", "1.0", "17", "1e2", "true", "false", "null")
		case n == 7:
			return "[" + value(depth+1) + "," + value(depth+1) + "," + value(depth+1) + "]"
		}
		return fmt.Sprintf(`{"id":%s,%q:%s,%q:%s}`, value(depth+1), pick("name", "account_name", "to"), value(depth+1), pick("a b", "order-17", "é", "zz"), value(depth+1))
	}
	t := &trace.Trajectory{ID: fmt.Sprint("odd-", seed), Task: fmt.Sprint("odd task ", seed/2)}
	for n := range 2 + r.IntN(7) {
		if r.IntN(2) == 0 {
			text := fmt.Sprintf("Use %s or (%s), and %s.", pick(texts...), pick(texts...), pick(texts...))
			t.Messages = append(t.Messages, trace.Message{Role: pick2(r, trace.RoleUser, trace.RoleSystem), Text: trace.TextOf(text), Turn: len(t.Turns), Call: n})
		}
		if r.IntN(4) > 0 || n == 0 {
			t.Turns = append(t.Turns, trace.Turn{FirstCall: n})
		}
		t.Turns[len(t.Turns)-1].NumCalls++
		c := trace.Call{Tool: trace.Intern(pick("mail_list", "files_get", "order")), Turn: len(t.Turns) - 1, Status: pick2(r, trace.StatusOK, trace.StatusFailed)}
		c.Args = trace.JSONOf([]byte(pick(fmt.Sprintf(`{"id":%s,"to":%s}`, value(2), value(2)), fmt.Sprintf(`{"id":%s}`, value(3)), "[1]", "{")))
		if c.HasResult = r.IntN(6) > 0; c.HasResult {
			c.Result = pick2(r, trace.JSONOf([]byte(value(0))), trace.TextOf(value(0)))
		}
		t.Calls = append(t.Calls, c)
	}
	return t
}

func pick2[T any](r *rand.Rand, a, b T) T {
	if r.IntN(3) > 0 {
		return a
	}
	return b
}
