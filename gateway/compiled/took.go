package compiled

import (
	"fmt"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/execute"
	"github.com/awo-dev/awo/trace"
)

// took says where a step took one element of a list that has several: the model, which
// would have looked at the list, is told that it was not asked.
func took(tool *metatool.Tool, o *execute.Outcome) trace.Value {
	out := trace.Value{Kind: trace.Array}
	var look func(step int, argument string, b *metatool.Binding)
	look = func(step int, argument string, b *metatool.Binding) {
		for i := range b.Parts {
			look(step, argument, &b.Parts[i])
		}
		if b.Kind != metatool.BindStep || b.Step < 0 || b.Step >= len(o.Steps) {
			return
		}
		for k, at := range b.Path {
			list, ok := b.Path[:k].Single(o.Steps[b.Step].Result)
			if at.Kind != jsonpath.Index || !ok || list.Kind != trace.Array || len(list.Elems) < 2 {
				continue
			}
			which := fmt.Sprintf("number %d of %d", at.Index+1, len(list.Elems))
			if at.Index == 0 {
				which = fmt.Sprintf("first of %d", len(list.Elems))
			}
			out.Elems = append(out.Elems, trace.NewObject(
				trace.Member{Name: "step", Value: trace.Value{Kind: trace.Number, Text: fmt.Sprint(step + 1)}},
				trace.Member{Name: "argument", Value: trace.NewString(argument)},
				trace.Member{Name: "took", Value: trace.NewString(which)}))
		}
	}
	for i := range tool.Steps {
		for k := range tool.Steps[i].Args {
			a := &tool.Steps[i].Args[k]
			look(i, a.Name, &a.Binding)
		}
	}
	return out
}
