package emit_test

import (
	"bytes"
	"iter"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/stategraph"
	"github.com/awo-dev/awo/trace"
)

// TestNoSecretInAnyFile emits meta-tools that log in with stored passwords and
// looks for every text that a call took or returned, but for the constants that
// many tasks share.
func TestNoSecretInAnyFile(t *testing.T) {
	const folder = "../../testdata/office/"
	set := recordings.Rules(t, folder+"rules.yaml")
	list := recordings.Read(t, folder+"trajectories.jsonl.gz")
	for _, algorithm := range []compile.Algorithm{compile.AWO, compile.Patterns} {
		c := compile.Run(corpus.Filled(list, corpus.Options{Rules: set}), set, compile.Options{Algorithm: algorithm})
		names := c.Merged.Names(c.Merged.Masker(false))
		view, err := c.Merged.Graph.Select(stategraph.Selection{}, names)
		if err != nil {
			t.Fatal(err)
		}
		offered := slices.DeleteFunc(c.Definitions, func(d *bind.Definition) bool { return d.Refusals != nil })
		if len(offered) == 0 {
			t.Fatal("nothing is offered")
		}
		files := all(t, emit.Results{View: view, Names: names, Tools: offered})
		looked := 0
		for secret := range texts(list) {
			for _, f := range files {
				if bytes.Contains(f.Data, []byte(secret)) {
					t.Errorf("%s: %s holds %q", algorithm, f.Name, secret)
				}
			}
			looked++
		}
		if looked < 500 {
			t.Errorf("only %d texts were looked for", looked)
		}
	}
}

// texts yields the texts of nine bytes or more that calls of at most four
// trajectories took, or that came back as password or token.
func texts(list []*trace.Trajectory) iter.Seq[string] {
	seen := map[string]map[int]bool{}
	secrets := map[string]bool{}
	var add func(i int, name string, v trace.Value)
	add = func(i int, name string, v trace.Value) {
		if v.Kind == trace.String && len(v.Text) >= 9 {
			if seen[v.Text] == nil {
				seen[v.Text] = map[int]bool{}
			}
			seen[v.Text][i] = true
			secrets[v.Text] = secrets[v.Text] || name == "password" || name == "access_token"
		}
		for _, e := range v.Elems {
			add(i, name, e)
		}
		for _, m := range v.Members {
			add(i, m.Name, m.Value)
		}
	}
	for i, one := range list {
		for j := range one.Calls {
			args, _ := one.Calls[j].ArgsValue()
			add(i, "", args)
			if result, ok := one.Calls[j].ResultValue(); ok {
				add(i, "", result)
			}
		}
	}
	// What definitions list is no secret.
	for i := range list[0].Tools {
		definition := list[0].Tools[i].Input.Text()
		maps.DeleteFunc(seen, func(text string, _ map[int]bool) bool { return strings.Contains(definition, text) })
	}
	return func(yield func(string) bool) {
		for text, in := range seen {
			if (secrets[text] || len(in) <= 4) && !yield(text) {
				return
			}
		}
	}
}
