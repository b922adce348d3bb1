package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
)

// A hostileCase is an input whose one dimension grows.
type hostileCase struct {
	name string
	what string // what there are n of
	size int    // n of the smaller of the two inputs that are compared
	make func(n int) []byte
}

// cases are the dimensions that somebody who wants awo to hang would try.
var cases = []hostileCase{
	{"keys", "arguments of one call", 2_500, func(n int) []byte { return runs(8, keys(n, true)) }},
	{"same-keys", "equal keys in the arguments of one call", 25_000, func(n int) []byte { return runs(8, keys(n, false)) }},
	{"digits", "digits of a number", 25_000, func(n int) []byte {
		return runs(8, call("get", `{"n":`+strings.Repeat("7", n)+`}`, `{"m":`+strings.Repeat("7", n)+`}`))
	}},
	{"leaves", "values in a result", 10_000, func(n int) []byte {
		return runs(8, call("list", `{}`, listOf(n)), call("get", `{"id":"id-7"}`, `{"ok":true}`))
	}},
	{"text-in-text", "levels of JSON in text in JSON", 8, func(n int) []byte {
		return runs(8, call("get", `{}`, nested(n)), call("put", `{"v":"deep-value"}`, `{}`))
	}},
	{"definition-depth", "levels of a schema", 150, func(n int) []byte { return defined(deepSchema(n)) }},
	{"definition-properties", "properties of a schema", 5_000, func(n int) []byte { return defined(wideSchema(n)) }},
	{"definition-enum", "values of an enum", 25_000, func(n int) []byte { return defined(enumSchema(n)) }},
	{"tools", "different tools", 2_500, func(n int) []byte {
		var out bytes.Buffer
		for i := range n {
			out.Write(runs(1, call(fmt.Sprintf("tool_%d", i), `{}`, `{}`), call(fmt.Sprintf("then_%d", i), `{}`, `{}`)))
		}
		return out.Bytes()
	}},
	{"calls", "calls of one trajectory", 2_500, func(n int) []byte {
		var all []exchange
		for i := range n {
			all = append(all, call([]string{"find", "get", "put"}[i%3], fmt.Sprintf(`{"id":"id-%d"}`, i), fmt.Sprintf(`{"next":"id-%d"}`, i+1)))
		}
		return runs(1, all...)
	}},
	{"agents", "agents that call one another", 2_500, func(n int) []byte {
		return spans(n, func(i int) span { return span{kind: "agent", parent: i - 1, at: i} })
	}},
	{"tool-spans", "tool spans of one parent", 5_000, func(n int) []byte {
		return spans(n, func(i int) span { return span{kind: "tool", parent: -1 + min(i, 1), at: i} })
	}},
	{"chat-spans", "model spans of one parent", 5_000, func(n int) []byte {
		return spans(n, func(i int) span { return span{kind: "chat", parent: -1 + min(i, 1), at: i} })
	}},
	{"one-time", "spans of one time", 5_000, func(n int) []byte {
		return spans(n, func(i int) span { return span{kind: []string{"chat", "tool"}[i%2], parent: -1 + min(i, 1)} })
	}},
	{"cycles", "spans that are parents of one another in pairs", 5_000, func(n int) []byte {
		return spans(n, func(i int) span { return span{kind: []string{"chat", "tool"}[i%2], parent: i ^ 1, at: i} })
	}},
	{"conversations", "conversations, each the history of the next", 100, func(n int) []byte {
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

func keys(n int, different bool) exchange {
	var b strings.Builder
	b.WriteByte('{')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		name := "key"
		if different {
			name = fmt.Sprintf("key_%d", i)
		}
		fmt.Fprintf(&b, "%q:\"value %d\"", name, i)
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
		fmt.Fprintf(&b, `{"id":"id-%d","n":%d}`, i, i)
	}
	b.WriteByte(']')
	return b.String()
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

func defined(schema string) []byte {
	const head = `{"model":"m","messages":[{"role":"user","content":"Task %d"},{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"get","arguments":"{}"}}]},{"role":"tool","tool_call_id":"1","content":"{}"}],"tools":[{"type":"function","function":{"name":"get","description":"d","parameters":%s}}]}` + "\n"
	var out bytes.Buffer
	for i := range 8 {
		fmt.Fprintf(&out, head, i, schema)
	}
	return out.Bytes()
}

func deepSchema(n int) string {
	return strings.Repeat(`{"type":"object","properties":{"a":`, n) + `{"type":"string"}` + strings.Repeat(`}}`, n)
}

func wideSchema(n int) string {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"p%d":{"type":"string","description":"property %d"}`, i, i)
	}
	b.WriteString(`}}`)
	return b.String()
}

func enumSchema(n int) string {
	var b strings.Builder
	b.WriteString(`{"type":"object","properties":{"a":{"type":"string","enum":[`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"value %d"`, i)
	}
	b.WriteString(`]}}}`)
	return b.String()
}

// A span is one of a trace; its parent is the number of another, -1 for none.
type span struct {
	kind       string
	parent, at int
}

// spans writes a trace as OTLP with the conventions for generative AI. The first span
// is what those without a kind of their own hang from.
func spans(n int, of func(i int) span) []byte {
	start := time.Date(2026, 1, 2, 10, 0, 0, 0, time.UTC).UnixNano()
	var out bytes.Buffer
	for i := range n {
		s := of(i)
		attribute := func(key, value string) string {
			return fmt.Sprintf(`{"key":%q,"value":{"stringValue":%s}}`, key, quoted(value))
		}
		var attributes []string
		name := ""
		switch s.kind {
		case "agent":
			name = "invoke_agent"
			attributes = append(attributes, attribute("gen_ai.operation.name", "invoke_agent"), attribute("gen_ai.agent.name", fmt.Sprint("a", i%7)))
		case "tool":
			name = "execute_tool"
			attributes = append(attributes, attribute("gen_ai.operation.name", "execute_tool"), attribute("gen_ai.tool.name", fmt.Sprint("t", i%5)),
				attribute("gen_ai.tool.call.arguments", fmt.Sprintf(`{"id":%d}`, i)), attribute("gen_ai.tool.call.result", fmt.Sprintf(`{"next":%d}`, i+1)))
		default:
			name = "chat"
			attributes = append(attributes, attribute("gen_ai.operation.name", "chat"), attribute("gen_ai.request.model", "m"),
				attribute("gen_ai.input.messages", `[{"role":"user","parts":[{"type":"text","content":"go on"}]}]`),
				attribute("gen_ai.output.messages", fmt.Sprintf(`[{"role":"assistant","parts":[{"type":"tool_call","id":"c%d","name":"t%d","arguments":{"id":%d}}]}]`, i, i%5, i)))
		}
		parent := ""
		if s.parent >= 0 {
			parent = fmt.Sprintf(`"parentSpanId":"%016x",`, s.parent+1)
		}
		at := start + int64(s.at)*1000
		fmt.Fprintf(&out, `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"0af7651916cd43dd8448eb211c80319c","spanId":"%016x",%s"name":%q,"startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[%s]}]}]}]}`+"\n",
			i+1, parent, name, at, at+500, strings.Join(attributes, ","))
	}
	return out.Bytes()
}
