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
