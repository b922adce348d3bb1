package emit_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/arazzo"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/metatool/execute"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/trace"
)

// nested are runs that look up a user, each of the user's orders, and each product in
// them; an order is a text that holds JSON.
func nested() []*trace.Trajectory {
	var list []*trace.Trajectory
	for i := 100; i < 124; i++ {
		s := &scripted.Run{}
		s.T.ID, s.T.Task = fmt.Sprint("run-", i), fmt.Sprint(i)
		s.User(fmt.Sprintf("I am user-%d.", i))
		var orders, products []string
		for k := range 1 + i%3 {
			orders = append(orders, fmt.Sprintf(`"order-%d-%d"`, i, k))
		}
		s.Call("get_user", fmt.Sprintf(`{"id":"user-%d"}`, i), `{"orders":[`+strings.Join(orders, ",")+`]}`)
		for k, order := range orders {
			var items []string
			for n := range 1 + (i+k)%2 {
				product := fmt.Sprintf("product-%d-%d-%d", i, k, n)
				products = append(products, product)
				items = append(items, fmt.Sprintf(`{"product":%q}`, product))
			}
			s.Call("get_order", `{"id":`+order+`}`, fmt.Sprintf("%q", `{"items":[`+strings.Join(items, ",")+`]}`))
		}
		for _, product := range products {
			s.Call("get_product", fmt.Sprintf(`{"id":%q}`, product), fmt.Sprintf(`{"price":%d}`, i*31+len(product)))
		}
		list = append(list, &s.T)
	}
	return list
}

// TestModulesWalkWalks walks the lists in what a walk returned: in Go, in the modules, and
// read back from Arazzo, as agents did.
func TestModulesWalkWalks(t *testing.T) {
	list := nested()
	c := compile.Run(corpus.Filled(list, corpus.Options{}), nil, compile.Options{Algorithm: compile.Patterns})
	var tool *bind.Definition
	for _, d := range c.Definitions {
		if len(d.Steps) == 3 && d.Refusals == nil {
			tool = d
		}
	}
	if tool == nil || tool.Steps[2].Each == nil || tool.Steps[2].Each.Path.String() != "$[*].items[*]" || tool.Steps[2].Each.Step != 1 {
		t.Fatalf("found %+v", tool)
	}
	if e := tool.Steps[1].Expect; len(e) != 1 || e[0].Path.String() != "$.items" {
		t.Errorf("of an order is expected %v", e)
	}
	all := programs(t, []*bind.Definition{tool})
	read, err := arazzo.Parse(arazzo.File, arazzo.Append(nil, []*metatool.Tool{&tool.Tool}))
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range list {
		o, ok := replay.NewSequence(one, nil).At(&tool.Tool, 0)
		if !ok || o.Len() != len(one.Calls) {
			t.Fatalf("%s is not made in %s", tool.Name, one.ID)
		}
		inputs, missing := replay.Inputs(&tool.Tool, one, o)
		if missing != "" {
			t.Fatalf("%s: %s is not known", one.ID, missing)
		}
		s := session{tool: tool, inputs: inputs, caller: func() execute.Caller { return replay.NewRecordings(one, 0) }}
		want, same := s.compare(t, all)
		if again := execute.Run(t.Context(), read[0], inputs, s.caller(), execute.Options{}); string(again.AppendAnswer(nil, read[0], execute.AnswerOptions{})) != string(answerOf(t, &s)) {
			t.Errorf("%s: read from Arazzo it answers something else", one.ID)
		}
		if _, calls := s.want(t); len(calls) != len(one.Calls) || !same || stateOf(t, want) != "done" {
			t.Fatalf("%s: %d calls where there were %d, and %s", one.ID, len(calls), len(one.Calls), want)
		}
	}
}

func answerOf(t *testing.T, s *session) []byte {
	t.Helper()
	return execute.Run(t.Context(), &s.tool.Tool, s.inputs, s.caller(), execute.Options{}).AppendAnswer(nil, &s.tool.Tool, execute.AnswerOptions{})
}
