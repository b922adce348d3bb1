package emit

import (
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/prefetch/stored"
)

// What modules share is found by its marks: a runtime that lost one, or has one twice,
// makes no module.
func TestSharedRuntime(t *testing.T) {
	const text = "before FROM shared TO after"
	if got, err := between(text, "FROM", "TO"); err != nil || got != "FROM shared " {
		t.Errorf("got %q, %v", got, err)
	}
	for _, wrong := range []string{"before shared TO after", "FROM shared", "TO FROM", "FROM FROM TO", "FROM TO TO", ""} {
		if got, err := between(wrong, "FROM", "TO"); err == nil {
			t.Errorf("%q gives %q", wrong, got)
		}
	}
	in := Results{Prefetch: &stored.File{Set: prefetch.Set{Reads: []string{"a"}, Rules: []prefetch.Rule{
		{ID: "r", Source: prefetch.Source{Tool: "a", Path: jsonpath.Path{{Kind: jsonpath.Member, Name: "x"}}}, Target: prefetch.Target{Tool: "a", Argument: "id"}, Depth: 1},
	}}}}
	for _, module := range []struct {
		emitter Emitter
		defines []string
		runtime *string
		mark    string
	}{
		{PrefetchPython, []string{"def _select(", "\ndef with_prefetch("}, &pythonRuntime, "def _is_type("},
		{PrefetchTypeScript, []string{"const select:", "export const withPrefetch:", "const parse:", "const stringify:"}, &typeScriptRuntime, "const isType:"},
	} {
		files, err := module.emitter.Emit(in)
		if err != nil || len(files) != 1 {
			t.Fatalf("%s: %d files, %v", module.emitter.Name, len(files), err)
		}
		made := string(files[0].Data)
		for _, what := range module.defines {
			if strings.Count(made, what) != 1 {
				t.Errorf("%s has %q %d times, want once", module.emitter.Name, what, strings.Count(made, what))
			}
		}
		if strings.Contains(made, module.mark) || strings.Contains(made, "@SHARED@") {
			t.Errorf("%s holds a mark", module.emitter.Name)
		}
		whole := *module.runtime
		*module.runtime = strings.Replace(whole, module.mark, "", 1)
		if _, err := module.emitter.Emit(in); err == nil {
			t.Errorf("%s is made without the mark %q", module.emitter.Name, module.mark)
		}
		*module.runtime = whole
	}
}
