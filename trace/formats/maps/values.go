package maps

import (
	"bytes"
	"slices"

	"github.com/awo-dev/awo/internal/jsonscan"
	"github.com/awo-dev/awo/trace"
)

// object returns an object of names and values; a value of no kind is left out.
func object(namesAndValues ...any) trace.Value {
	o := trace.Value{Kind: trace.Object}
	for i := 0; i < len(namesAndValues); i += 2 {
		if v := namesAndValues[i+1].(trace.Value); v.Kind != trace.Null {
			o.Members = append(o.Members, trace.Member{Name: namesAndValues[i].(string), Value: v})
		}
	}
	o.Members = trace.SortedMembers(o.Members)
	return o
}

// rawObject returns an object of names and values, which are texts or JSON.
func rawObject(namesAndValues ...any) []byte {
	out := []byte{'{'}
	for i := 0; i < len(namesAndValues); i += 2 {
		if raw, ok := namesAndValues[i+1].([]byte); ok && raw == nil {
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(jsonscan.AppendQuoted(out, namesAndValues[i].(string)), ':')
		switch v := namesAndValues[i+1].(type) {
		case string:
			out = jsonscan.AppendQuoted(out, v)
		case []byte:
			out = append(out, v...)
		}
	}
	return append(out, '}')
}

// listOf returns a list of elements.
func listOf(elements [][]byte) []byte {
	return slices.Concat([]byte{'['}, bytes.Join(elements, []byte{','}), []byte{']'})
}
