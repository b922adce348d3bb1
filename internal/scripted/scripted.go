// Package scripted writes trajectories by hand, for tests.
package scripted

import (
	"encoding/json"
	"fmt"

	"github.com/awo-dev/awo/trace"
)

// Run is a trajectory in the making.
type Run struct{ T trace.Trajectory }

// User adds what the user says.
func (s *Run) User(text string) *Run {
	s.T.Messages = append(s.T.Messages, trace.Message{Role: trace.RoleUser, Text: trace.TextOf(text), Turn: len(s.T.Turns), Call: len(s.T.Calls)})
	return s
}

// Call adds a turn with a call.
func (s *Run) Call(tool, args, result string) *Run {
	s.T.Turns = append(s.T.Turns, trace.Turn{FirstCall: len(s.T.Calls)})
	return s.Also(tool, args, result)
}

// Also adds a call to the last turn.
func (s *Run) Also(tool, args, result string) *Run {
	turn := len(s.T.Turns) - 1
	s.T.Turns[turn].NumCalls++
	s.T.Calls = append(s.T.Calls, trace.Call{
		Tool: trace.Intern(tool), Args: trace.JSONOf([]byte(args)), Result: trace.JSONOf([]byte(result)), HasResult: true,
		Turn: turn, AfterUser: len(s.T.Messages) > 1 && s.T.Messages[len(s.T.Messages)-1].Turn == turn && s.T.Turns[turn].NumCalls == 1,
	})
	return s
}

// Shop returns n runs in which a customer logs in and orders are read: of as many
// as the customer has, the first ones. After them comes what then adds, which may
// be nil.
func Shop(n int, orders func(run int) (has, reads int), then func(run int, s *Run)) []*trace.Trajectory {
	var list []*trace.Trajectory
	for i := range n {
		has, reads := orders(i)
		var ids []string
		for k := range has {
			ids = append(ids, fmt.Sprintf("order-%d-%d", i, k))
		}
		text, _ := json.Marshal(ids)
		s := (&Run{}).User(fmt.Sprintf("I am customer-%d", i))
		s.Call("login", fmt.Sprintf(`{"name":"customer-%d"}`, i), fmt.Sprintf(`{"token":"token-%d"}`, i))
		s.Call("customer", fmt.Sprintf(`{"name":"customer-%d","token":"token-%d"}`, i, i), fmt.Sprintf(`{"orders":%s,"city":"city-%d"}`, text, i))
		for _, id := range ids[:reads] {
			s.Call("order", fmt.Sprintf(`{"id":"%s","token":"token-%d"}`, id, i), fmt.Sprintf(`{"parcel":"parcel-of-%s"}`, id))
		}
		if then != nil {
			then(i, s)
		}
		list = append(list, &s.T)
	}
	return list
}

// ShopRules are rules for Shop: what reads, and what may be repeated.
const ShopRules = `{"version": 1, "rules": [
	{"id": "reads", "kind": "effect", "match": {"tool": ["customer", "order", "parcel", "weather"]}, "effect": "accessor"},
	{"id": "again", "kind": "effect", "match": {"tool": "login"}, "effect": "mutator", "idempotent": true}
]}`
