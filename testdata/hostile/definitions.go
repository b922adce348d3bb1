package main

import (
	"bytes"
	"fmt"
	"strings"
)

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

// catalogue is eight tasks whose requests define n tools, of which two are called.
func catalogue(n int, name func(i int) string) []byte {
	var tools strings.Builder
	for i := range n {
		fmt.Fprintf(&tools, `,{"type":"function","function":{"name":%q,"description":"Tool number %d.","parameters":{"type":"object","properties":{"id":{"type":"string"}}}}}`, name(i), i)
	}
	var out bytes.Buffer
	for i := range 8 {
		one := runs(1, call(name(0), fmt.Sprintf(`{"id":"id-%d"}`, i), fmt.Sprintf(`{"next":"id-%d"}`, i+100)), call(name(1), fmt.Sprintf(`{"id":"id-%d"}`, i+100), `{"ok":true}`))
		one = bytes.Replace(one, []byte("Task 0"), fmt.Appendf(nil, "Task %d", i), 1)
		out.Write(bytes.TrimSuffix(one, []byte("}\n")))
		fmt.Fprintf(&out, `,"tools":[%s]}`+"\n", tools.String()[1:])
	}
	return out.Bytes()
}
