package formattest

import (
	"strings"
	"testing"
)

func TestCheckATIF(t *testing.T) {
	valid := `{"schema_version":"ATIF-v1.7","agent":{"name":"a","version":"1"},"final_metrics":{},"steps":[{"step_id":1,"source":"user","message":"x"},{"step_id":2,"source":"agent","message":"","tool_calls":[{"tool_call_id":"1","function_name":"f","arguments":{}}],"observation":{"results":[{"source_call_id":"1","content":"r"}]}}]}` + "\n"
	if err := checkATIF([]byte(valid)); err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"step_id":2`, `"step_id":3`},
		{`"source":"user"`, `"source":"human"`},
		{`"source_call_id":"1"`, `"source_call_id":"2"`},
		{`"arguments":{}`, `"arguments":[]`},
		{`"message":"x"`, `"text":"x"`},
		{`"message":"x"`, `"message":"x","metrics":{}`},
		{`"version":"1"`, `"model_name":"1"`},
		{`"content":"r"`, `"content":{"a":1}`},
		{`"content":"r"`, `"content":[{"type":"text"}]`},
		{`"message":""`, `"message":"","llm_call_count":0,"metrics":{}`},
		{`ATIF-v1.7`, `ATIF-v1.8`},
		{`"source":"agent",`, `"source":"agent","extra":{"awo":{}},`},
	} {
		broken := strings.Replace(valid, change[0], change[1], 1)
		if broken == valid || checkATIF([]byte(broken)) == nil {
			t.Errorf("%s for %s is not noticed", change[1], change[0])
		}
	}
}
