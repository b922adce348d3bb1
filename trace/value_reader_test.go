package trace_test

import (
	"strings"
	"testing"

	"github.com/awo-dev/awo/trace"
)

// TestValueReader reads one call after the other with one reader: each is what it
// is by itself, and stays that while others are read.
func TestValueReader(t *testing.T) {
	long := `[` + strings.Repeat(`{"a":[1,2,"x\\ny"]},`, 3000) + `null]`
	texts := []string{
		`{"b":1,"a":{"c":[1,2,{"d":"e"}]}}`, `{"a":"\u00e9\"quoted\""}`, `[1,[2,[3]]]`, long, `"{\"inner\":\"{\\\"x\\\":1}\"}"`, `not json`, `{"broken":`, `7`, `""`, ``, `null`,
	}
	var calls []trace.Call
	for _, text := range texts {
		quoted := trace.NewString(text).AppendCanonical(nil)
		calls = append(calls,
			trace.Call{Args: trace.TextOf(text), Result: trace.TextOf(text), HasResult: true},
			trace.Call{Args: trace.Raw{Data: quoted, Form: trace.FormString}, Result: trace.Raw{Data: quoted, Form: trace.FormString}, HasResult: true},
			trace.Call{Result: trace.Raw{Data: []byte(`[{"type":"text","text":` + string(quoted) + `}]`), Form: trace.FormParts}, HasResult: true},
			trace.Call{HasResult: true},
			trace.Call{},
		)
	}
	var r trace.ValueReader
	type read struct {
		args, result     trace.Value
		argsOK, resultOK bool
	}
	all := make([]read, len(calls))
	for i := range calls {
		all[i].args, all[i].argsOK = r.Args(&calls[i])
		all[i].result, all[i].resultOK = r.Result(&calls[i])
	}
	for i := range calls {
		if v, ok := calls[i].ArgsValue(); ok != all[i].argsOK || !v.Equal(all[i].args) {
			t.Errorf("the arguments of call %d are another value", i)
		}
		if v, ok := calls[i].ResultValue(); ok != all[i].resultOK || !v.Equal(all[i].result) {
			t.Errorf("the result of call %d is another value", i)
		}
	}
}

// BenchmarkValueReader reads values as tools take and return them, with a reader
// that is kept and one at a time.
func BenchmarkValueReader(b *testing.B) {
	for _, test := range []struct{ name, text string }{
		{"arguments", `{"access_token":"token-81","order_id":"W-4411","quantity":2}`},
		{"record", `{"id":"W-4411","status":"open","customer":{"id":"c-17","name":"Ana Diaz"},"lines":[{"sku":"A-1","n":2,"price":4.5},{"sku":"B-7","n":1,"price":11}],"notes":["call back","a \"gift\""],"total":20.0}`},
	} {
		call := trace.Call{Args: trace.Raw{Data: trace.NewString(test.text).AppendCanonical(nil), Form: trace.FormString}}
		b.Run(test.name+"/kept", func(b *testing.B) {
			b.SetBytes(int64(len(test.text)))
			b.ReportAllocs()
			var r trace.ValueReader
			for b.Loop() {
				r.Args(&call)
			}
		})
		b.Run(test.name+"/alone", func(b *testing.B) {
			b.SetBytes(int64(len(test.text)))
			b.ReportAllocs()
			for b.Loop() {
				call.ArgsValue()
			}
		})
	}
}
