package main

import (
	"bytes"
	"fmt"
	"strings"
)

// A hostileCase is an input whose one dimension grows.
type hostileCase struct {
	name string
	what string // what there are n of
	size int    // n of the larger of the two inputs that are compared
	make func(n int) []byte
}

// cases are the dimensions that somebody who wants awo to hang would try.
var cases = []hostileCase{
	{"keys", "arguments of one call", 10_000, func(n int) []byte { return runs(8, keys(n, true)) }},
	{"distinct-keys", "arguments and members of a result that no other call has", 400_000, func(n int) []byte {
		all := make([]exchange, max(n/1000, 1))
		for i := range all {
			all[i] = manyKeys(i, 500)
		}
		return runs(2, all...)
	}},
	{"parallel-calls", "calls of one turn", 40_000, func(n int) []byte {
		return parallel(2, n)
	}},
	{"tool-groups", "groups of three tools, of 20 runs each", 140, toolGroups},
	{"names-of-one-length", "different tools with names of one length, each defined", 40_000, func(n int) []byte {
		return catalogue(n, func(i int) string { return fmt.Sprintf("tool_%08d", i) })
	}},
	{"catalogue", "tools that one request defines", 50_000, func(n int) []byte {
		return catalogue(n, func(i int) string {
			return fmt.Sprintf("%s_%s_%d", []string{"get", "list", "set"}[i%3], []string{"order", "user", "item", "room"}[i/3%4], i)
		})
	}},
	{"same-keys", "equal keys in the arguments of one call", 100_000, func(n int) []byte { return runs(8, keys(n, false)) }},
	{"digits", "digits of a number", 100_000, func(n int) []byte {
		return runs(8, call("get", `{"n":`+strings.Repeat("7", n)+`}`, `{"m":`+strings.Repeat("7", n)+`}`))
	}},
	{"leaves", "values in a result", 40_000, func(n int) []byte {
		return runs(8, call("list", `{}`, listOf(n)), call("get", `{"id":"id-1007"}`, `{"ok":true}`))
	}},
	{"one-value", "places of one value in a result", 40_000, func(n int) []byte {
		return runs(8, call("list", `{}`, sameOf(n)), call("get", `{"id":"id-7"}`, `{"ok":true}`))
	}},
	{"text-in-text", "levels of JSON in text in JSON", 16, func(n int) []byte {
		return runs(8, call("get", `{}`, nested(n)), call("put", `{"v":"deep-value"}`, `{}`))
	}},
	{"depth", "levels of a result", 900, func(n int) []byte {
		return runs(8, call("get", `{}`, strings.Repeat(`{"a":[`, n/2)+`"id-7"`+strings.Repeat(`]}`, n/2)), call("put", `{"id":"id-7"}`, `{}`))
	}},
	{"definition-depth", "levels of a schema", 300, func(n int) []byte { return defined(deepSchema(n)) }},
	{"definition-properties", "properties of a schema", 20_000, func(n int) []byte { return defined(wideSchema(n)) }},
	{"definition-enum", "values of an enum", 100_000, func(n int) []byte { return defined(enumSchema(n)) }},
	{"tools", "different tools", 100_000, func(n int) []byte { return manyTools(n/2, 2) }},
	{"tool-chains", "different tools, three in a row each in three tasks", 33_000, func(n int) []byte {
		var out bytes.Buffer
		for range 3 {
			out.Write(manyTools(n/3, 3))
		}
		return out.Bytes()
	}},
	{"calls", "calls of one trajectory", 100_000, oneLong},
	{"two-long", "calls of two trajectories that end with an answer", 200_000, func(n int) []byte { return answered(2, n/2) }},
	{"million-calls", "calls of one trajectory", 1_000_000, oneLong},
	{"agents", "agents that call one another", 100_000, func(n int) []byte {
		return spans(n, func(i int) span { return span{kind: "agent", parent: i - 1, at: i} })
	}},
	{"speaking-agents", "agents that call one another, each with a model span", 50_000, func(n int) []byte {
		return spans(2*n, func(i int) span {
			if i%2 == 0 {
				return span{kind: "agent", parent: i - 2, at: i}
			}
			return span{kind: "chat", parent: i - 1, at: i}
		})
	}},
	{"sub-agents", "agents of one agent, each with a model span", 50_000, func(n int) []byte {
		return spans(1+2*n, func(i int) span {
			if i%2 == 1 {
				return span{kind: "agent", parent: 0, at: i, name: fmt.Sprint("agent-", i)}
			}
			if i == 0 {
				return span{kind: "agent", parent: -1}
			}
			return span{kind: "chat", parent: i - 1, at: i}
		})
	}},
	{"tool-spans", "tool spans of one parent", 100_000, func(n int) []byte {
		return spans(n, func(i int) span { return span{kind: "tool", parent: -1 + min(i, 1), at: i} })
	}},
	{"chat-spans", "model spans of one parent", 100_000, func(n int) []byte {
		return spans(n, func(i int) span { return span{kind: "chat", parent: -1 + min(i, 1), at: i} })
	}},
	{"link-spans", "spans without a meaning, one below the other, with a call at the end", 100_000, func(n int) []byte {
		return spans(n, func(i int) span { return span{kind: []string{"link", "tool"}[i/(n-1)], parent: i - 1, at: i} })
	}},
	{"one-record", "spans of one record", 60_000, func(n int) []byte {
		return oneRecord(spans(n, func(i int) span { return span{kind: []string{"chat", "tool"}[i%2], parent: -1 + min(i, 1), at: i} }))
	}},
	{"one-time", "spans of one time", 100_000, func(n int) []byte {
		return spans(n, func(i int) span { return span{kind: []string{"chat", "tool"}[i%2], parent: -1 + min(i, 1)} })
	}},
	{"cycles", "spans that are parents of one another in pairs", 100_000, func(n int) []byte {
		return spans(n, func(i int) span { return span{kind: []string{"chat", "tool"}[i%2], parent: i ^ 1, at: i} })
	}},
	{"one-cycle", "spans of one circle", 50_000, func(n int) []byte {
		return spans(n, func(i int) span { return span{kind: []string{"chat", "tool"}[i%2], parent: (i + 1) % n, at: i} })
	}},
	{"langsmith-cycle", "runs of one circle, of LangSmith", 50_000, langSmithCircle},
	{"langfuse-cycle", "observations of one circle, of Langfuse", 50_000, langfuseCircle},
	{"phoenix-cycle", "spans of one circle, of Phoenix", 50_000, phoenixCircle},
	{"conversations", "conversations, each begun below a span of the one before", 100_000, func(n int) []byte {
		return spans(n, func(i int) span {
			return span{kind: []string{"chat", "tool"}[i%2], parent: i - 1, at: i, conversation: fmt.Sprint("c", i)}
		})
	}},
	{"responses", "responses, each the next of the one before", 100_000, func(n int) []byte {
		var out bytes.Buffer
		for i := range n {
			previous := ""
			if i > 0 {
				previous = fmt.Sprintf(`"previous_response_id":"resp_%d",`, i-1)
			}
			fmt.Fprintf(&out, `{"request":{"model":"m",%s"input":[{"role":"user","content":"go on %d"}]},"response":{"id":"resp_%d","object":"response","model":"m","status":"completed","output":[{"type":"function_call","call_id":"c%d","name":"t%d","arguments":"{\"id\":%d}"}]}}`+"\n",
				previous, i, i, i, i%5, i)
		}
		return out.Bytes()
	}},
	{"history", "requests, each with the history of the one before", 400, func(n int) []byte {
		var out bytes.Buffer
		for i := range n {
			var all []exchange
			for k := range i + 1 {
				all = append(all, call("get", fmt.Sprintf(`{"id":%d}`, k), `{"ok":true}`))
			}
			out.Write(runs(1, all...))
		}
		return out.Bytes()
	}},
}

// oneLong is one trajectory of n calls, each of which passes a value on to the next.
func oneLong(n int) []byte {
	all := make([]exchange, n)
	for i := range all {
		all[i] = call([]string{"find", "get", "put"}[i%3], fmt.Sprintf(`{"id":"id-%d"}`, i), fmt.Sprintf(`{"next":"id-%d"}`, i+1))
	}
	return runs(1, all...)
}

// answered is so many tasks of n calls, of which each passes a value of its own task on to
// the next, and the last turn answers.
func answered(tasks, n int) []byte {
	var out bytes.Buffer
	for task := range tasks {
		value := func(i int) string { return fmt.Sprintf("id-%d", 100_000+1000*n*task+7*i) }
		fmt.Fprintf(&out, `{"model":"m","messages":[{"role":"user","content":"Task %d: %s"}`, task, value(0))
		for i := range n {
			c := call([]string{"find", "get", "put"}[i%3], fmt.Sprintf(`{"id":%q}`, value(i)), fmt.Sprintf(`{"next":%q}`, value(i+1)))
			fmt.Fprintf(&out, `,{"role":"assistant","content":null,"tool_calls":[{"id":"%d","type":"function","function":{"name":%s,"arguments":%s}}]},{"role":"tool","tool_call_id":"%d","content":%s}`,
				i, quoted(c.tool), quoted(c.arguments), i, quoted(c.result))
		}
		out.WriteString(`,{"role":"assistant","content":"Done."}]}` + "\n")
	}
	return out.Bytes()
}

// friendly is traces from which meta-tools come: those of the tools find, get and put, so
// that verify looks for them in the hostile inputs.
func friendly() []byte { return answered(60, 3) }

// manyTools is n tasks of so many calls, each of a tool of its own.
func manyTools(n, calls int) []byte {
	var out bytes.Buffer
	for i := range n {
		var all []exchange
		for k := range calls {
			all = append(all, call(fmt.Sprintf("tool_%d_%d", k, i), fmt.Sprintf(`{"id":"id-%d-%d"}`, i, k), fmt.Sprintf(`{"next":"id-%d-%d"}`, i, k+1)))
		}
		out.Write(runs(1, all...))
	}
	return out.Bytes()
}
