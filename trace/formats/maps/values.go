package maps

import "github.com/awo-dev/awo/trace"

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
