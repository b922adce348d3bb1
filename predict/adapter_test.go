package predict

import (
	"errors"
	"testing"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/trace"
)

const adapterFile = `version: 1
state:
  - key: place
    from: {tool: go_to, arg: place}
    fills: [{tool: look, arg: place}]
  - key: hand
    from: {tool: inventory, result: '$.items[0]'}
    fills: [{tool: put, arg: object}]
  - key: place
    from: {tool: walk, result: 'You are in (\w+)'}
    fills: [{tool: look, arg: place}]
parse:
  - pattern: '^go to (?P<place>\w+)$'
    tool: go_to
`

func TestAdapterKeepsState(t *testing.T) {
	a, err := ParseAdapter("adapter.yaml", []byte(adapterFile))
	if err != nil {
		t.Fatal(err)
	}
	h := runOf(trajectoryOf("1", `go_to={"place":"desk"}={}`, `inventory={}={"items":["cup","pen"]}`, `walk={}="You are in kitchen."`,
		`go_to!={"place":"bath"}={}`, ".")).History
	v := view{h: h, before: 4}
	for _, c := range []struct{ tool, param, want string }{
		{"look", "place", `"kitchen"`}, // the newest that did not fail
		{"put", "object", `"cup"`},
		{"put", "place", ""},
	} {
		if got, _ := a.value(v, trace1(c.tool), c.param); got != c.want {
			t.Errorf("%s(%s) is %s, want %s", c.tool, c.param, got, c.want)
		}
	}
	if got, _ := a.value(view{h: h, before: 1}, trace1("look"), "place"); got != `"desk"` {
		t.Errorf("after one call the place is %s", got)
	}
}

func TestAdapterReadsActions(t *testing.T) {
	a, err := ParseAdapter("adapter.yaml", []byte(adapterFile))
	if err != nil {
		t.Fatal(err)
	}
	x := trajectoryOf("1", ">find it", ".", ">here is a desk", ".", ">thanks")
	x.Turns[0].Text, x.Turns[1].Text = trace.TextOf("go to desk"), trace.TextOf("I am done.")
	y := a.Rewrite(x)
	if len(y.Calls) != 1 || y.Calls[0].Tool.Value() != "go_to" || string(y.Calls[0].AppendCanonicalArgs(nil)) != `{"place":"desk"}` ||
		y.Calls[0].Result.Text() != "here is a desk" || y.Turns[0].NumCalls != 1 || y.Turns[1].NumCalls != 0 || len(y.Messages) != 2 {
		t.Errorf("rewritten as %+v", y)
	}
	if len(x.Calls) != 0 || len(x.Messages) != 3 {
		t.Error("the trajectory that came in was changed")
	}
	if z := a.Rewrite(y); z != y {
		t.Error("a trajectory without text actions is rewritten")
	}
}

// Results that are text have outputs where the adapter says what they hold.
func TestAdapterReadsOutputs(t *testing.T) {
	a, err := ParseAdapter("adapter.yaml", []byte("version: 1\noutputs:\n  - {tool: look, pattern: 'a (?P<seen>\\w+ \\d)'}\n  - {tool: look, pattern: 'in the (?P<room>\\w+)'}\n"))
	if err != nil {
		t.Fatal(err)
	}
	x := trajectoryOf("1", `look={}="In the kitchen: you are in the kitchen. You see a cup 1, a desk 2."`, `take={}="a cup 1"`)
	y := a.Rewrite(x)
	if got := y.Calls[0].Result.Text(); got != `{"seen":["cup 1","desk 2"],"room":"kitchen"}` {
		t.Errorf("the output is %s", got)
	}
	if y.Calls[1].Result.Text() != x.Calls[1].Result.Text() || x.Calls[0].Result.Text() == y.Calls[0].Result.Text() {
		t.Error("a result of another tool, or of what came in, was changed")
	}
	if z := a.Rewrite(y); z != y {
		t.Error("what was rewritten is rewritten again")
	}
}

func TestAdapterProblems(t *testing.T) {
	_, err := ParseAdapter("a.yaml", []byte("version: 1\nstate:\n  - {key: x, from: {tool: y, result: 'no group'}, fills: []}\nparse: 3\n"))
	list, ok := errors.AsType[diag.List](err)
	if !ok || len(list) != 2 || list[0].Code != CodeAdapterPattern || list[1].Code != CodeAdapterShape {
		t.Errorf("problems are %v", err)
	}
}

// Whatever stands in an adapter file, reading and applying it ends without a
// crash.
func FuzzAdapter(f *testing.F) {
	f.Add([]byte(adapterFile), "go to desk")
	f.Add([]byte("state: [{from: {}}]"), "")
	f.Add([]byte("{"), "")
	f.Fuzz(func(t *testing.T, src []byte, text string) {
		a, err := ParseAdapter("a.yaml", src)
		if err != nil {
			return
		}
		a.Action(text)
		x := trajectoryOf("1", `go_to={"place":"desk"}={"items":[1]}`, ".", ">"+text)
		x.Turns[1].Text = trace.TextOf(text)
		h := NewHistory(a.Rewrite(x))
		for i := range a.keys {
			for _, fill := range a.keys[i].fills {
				a.value(view{h: h, before: len(h.calls)}, trace1(fill.tool), fill.arg)
			}
		}
	})
}
