package predict_test

import (
	"fmt"

	"github.com/awo-dev/awo/predict"
	"github.com/awo-dev/awo/trace"
)

// lookup is a run in which a user is looked up, and then the user's order.
func lookup(task, user, order string) *trace.Trajectory {
	call := func(turn int, tool, args, result string) trace.Call {
		return trace.Call{
			Tool: trace.Intern(tool), Turn: turn, Args: trace.JSONOf([]byte(args)),
			Result: trace.JSONOf([]byte(result)), HasResult: true, Status: trace.StatusOK,
		}
	}
	return &trace.Trajectory{
		Task:     task,
		Messages: []trace.Message{{Text: trace.TextOf("I am " + user)}},
		Turns:    []trace.Turn{{FirstCall: 0, NumCalls: 1}, {FirstCall: 1, NumCalls: 1}, {FirstCall: 2}},
		Calls: []trace.Call{
			call(0, "find_user", `{"name":"`+user+`"}`, `{"order":"`+order+`"}`),
			call(1, "get_order", `{"id":"`+order+`"}`, `{"state":"open"}`),
		},
	}
}

// A graph is built in one pass, and its model predicts the next turn.
func Example() {
	var observer predict.Observer
	graph := predict.NewGraph(3)
	for i := range 10 {
		task := fmt.Sprint(i)
		graph.Add(observer.Observe(lookup(task, "user_"+task, "order_"+task), nil))
	}
	model := graph.Model(predict.ModelOptions{})

	run := lookup("new", "user_99", "order_99")
	run.Turns, run.Calls = run.Turns[:1], run.Calls[:1] // the run so far
	history := predict.NewLiveHistory(run)
	now := history.Now()
	predictor := predict.NewPredictor(model, predict.PredictorOptions{Any: true})
	call, ok := predictor.Fire(history, &now)
	fmt.Println(ok, model.Tools()[call.Symbol-1].Name.Value(), call.Call.Args[0].Param, call.Call.Args[0].Value)
	fmt.Println("the gate allows it:", predict.Gate{}.Allows(history.Events()))
	// Output:
	// true get_order id "order_99"
	// the gate allows it: false
}
