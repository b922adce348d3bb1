package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
)

// An exchange is a call and its result.
type exchange struct{ tool, arguments, result string }

func call(tool, arguments, result string) exchange { return exchange{tool, arguments, result} }

// runs writes a conversation in OpenAI's format so many times, each a task of its own.
func runs(times int, calls ...exchange) []byte {
	var out bytes.Buffer
	for i := range times {
		fmt.Fprintf(&out, `{"model":"m","messages":[{"role":"user","content":"Task %d"}`, i)
		for k, c := range calls {
			fmt.Fprintf(&out, `,{"role":"assistant","content":null,"tool_calls":[{"id":"%d","type":"function","function":{"name":%s,"arguments":%s}}]},{"role":"tool","tool_call_id":"%d","content":%s}`,
				k, quoted(c.tool), quoted(c.arguments), k, quoted(c.result))
		}
		out.WriteString("]}\n")
	}
	return out.Bytes()
}

func quoted(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err) // a string has a form in JSON
	}
	return string(out)
}

// first is the least number in values: all have as many digits, or nearly, so that short
// numbers, which mean less, are not a part of small inputs alone.
const first = 1000

func keys(n int, different bool) exchange {
	var b strings.Builder
	b.WriteByte('{')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		name := "key"
		if different {
			name = fmt.Sprintf("key_%d", first+i)
		}
		fmt.Fprintf(&b, "%q:\"value %d\"", name, first+i)
	}
	b.WriteByte('}')
	return call("put", b.String(), b.String())
}

func listOf(n int) string {
	var b strings.Builder
	b.WriteByte('[')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":"id-%d","n":%d}`, first+i, first+i)
	}
	b.WriteByte(']')
	return b.String()
}

// sameOf is a list of n elements of one content.
func sameOf(n int) string {
	return "[" + strings.TrimSuffix(strings.Repeat(`{"id":"id-7","of":"id-7"},`, n), ",") + "]"
}

// nested puts JSON into a text of JSON, again and again; each level doubles the
// backslashes of those within, up to a size at which nothing is learnt from more.
func nested(levels int) string {
	text := `{"v":"deep-value"}`
	for range levels {
		if len(text) > 1<<20 {
			break
		}
		text = `{"t":` + quoted(text) + `}`
	}
	return text
}

// manyKeys is a call with n arguments and n members of its result whose names no other call
// has.
func manyKeys(of, n int) exchange {
	var arguments, result strings.Builder
	for i := range n {
		fmt.Fprintf(&arguments, `,"a%d_%d":%d`, of, i, first+i)
		fmt.Fprintf(&result, `,"r%d_%d":%d`, of, i, first+i)
	}
	return call("put", "{"+arguments.String()[1:]+"}", "{"+result.String()[1:]+"}")
}

// parallel is so many tasks with n calls of one turn.
func parallel(tasks, n int) []byte {
	var out bytes.Buffer
	for task := range tasks {
		fmt.Fprintf(&out, `{"model":"m","messages":[{"role":"user","content":"Task %d"},{"role":"assistant","content":null,"tool_calls":[`, task)
		for i := range n {
			if i > 0 {
				out.WriteByte(',')
			}
			fmt.Fprintf(&out, `{"id":"%d","type":"function","function":{"name":"get","arguments":"{\"id\":\"id-%d\"}"}}`, i, first+i)
		}
		out.WriteString("]}")
		for i := range n {
			fmt.Fprintf(&out, `,{"role":"tool","tool_call_id":"%d","content":"{\"next\":\"id-%d\"}"}`, i, first+i+1)
		}
		out.WriteString("]}\n")
	}
	return out.Bytes()
}

// toolGroups is n groups of three tools, of which one lists, one gets what is listed, and one
// tells its price, in 20 tasks each.
func toolGroups(n int) []byte {
	var out bytes.Buffer
	for group := range n {
		for run := range 20 {
			id := func(i int) string { return fmt.Sprintf("id-%d-%d", run, i) } // of all groups alike
			fmt.Fprintf(&out, `{"model":"m","messages":[{"role":"user","content":"Task %d of group %d"}`, run, group)
			for i, c := range []exchange{
				call(fmt.Sprintf("list_%d", group), fmt.Sprintf(`{"query":"q%d"}`, run), fmt.Sprintf(`{"items":[{"id":%q},{"id":%q}]}`, id(0), id(1))),
				call(fmt.Sprintf("get_%d", group), fmt.Sprintf(`{"id":%q}`, id(0)), fmt.Sprintf(`{"name":"n%d","sku":%q}`, run, id(2))),
				call(fmt.Sprintf("price_%d", group), fmt.Sprintf(`{"sku":%q}`, id(2)), fmt.Sprintf(`{"price":%d}`, first+run)),
			} {
				fmt.Fprintf(&out, `,{"role":"assistant","content":null,"tool_calls":[{"id":"%d","type":"function","function":{"name":%s,"arguments":%s}}]},{"role":"tool","tool_call_id":"%d","content":%s}`,
					i, quoted(c.tool), quoted(c.arguments), i, quoted(c.result))
			}
			out.WriteString("]}\n")
		}
	}
	return out.Bytes()
}
