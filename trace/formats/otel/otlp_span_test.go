package otel

import (
	"testing"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
)

// FuzzOTLPAttributes holds that attributes are read as those of their Value are,
// whatever is wrapped in them, and however.
func FuzzOTLPAttributes(f *testing.F) {
	for _, text := range []string{
		`[{"key":"a","value":{"stringValue":"x\ny"}},{"key":"a","value":{"intValue":"12"}},{"value":{"boolValue":true},"key":"0"}]`,
		`[{"key":"a","value":{"intValue":1e3}},{"key":"b","value":{"int_value":"x"}},{"key":"c","value":{"doubleValue":"0.50"}}]`,
		`[{"key":"a","value":{"stringValue":"x","intValue":"1"}},{"key":"b","value":{"stringValue":"x","arrayValue":{"values":[{"intValue":"1"},{}]}}}]`,
		`[{"key":"a","value":{"kvlistValue":{"values":[{"key":"k","value":{"stringValue":"v"}}]}}},{"key":"b","value":{"bytes_value":"AA=="}}]`,
		`[{"key":"a","value":{"stringValue":"x","stringValue":"y"}},{"key":"a","key":"b","value":{"stringValue":1}},{"key":1,"value":{}},{"key":"n"},null,[1]]`,
		`[{"key":"a","value":{"other":{"stringValue":"x"}}},{"key":"b","value":{"boolValue":{"x":[1]}}},{"key":"c","value":"x"},{"key":"c","value":null}]`,
		`{"a":"b","c":{"d":1}}`, `null`, `"text"`, `[]`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		whole, err := trace.ParseValue([]byte(text))
		if err != nil {
			return
		}
		var r otlpReader
		c := jsonscan.New([]byte(text))
		got, want := r.attributes(&c), otlpAttributes(whole)
		if !got.Equal(want) || c.End() != nil {
			t.Errorf("%s is read as %s, want %s", text, got.AppendCanonical(nil), want.AppendCanonical(nil))
		}
	})
}
