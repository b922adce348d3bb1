package dataflow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/bounds"
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/trace"
)

// equalText writes the equal sources of all uses.
func equalText(f *dataflow.Flow) []string {
	var out []string
	for i := range f.Uses {
		u := &f.Uses[i]
		var list []string
		for j := range u.Sources {
			if s := &u.Sources[j]; s.Relation == dataflow.Equal {
				list = append(list, fmt.Sprintf("%v@%d", f.Slots[s.Slot], s.Call))
			}
		}
		slices.Sort(list)
		out = append(out, fmt.Sprintf("%d %v %v: %s", u.Call, f.Slots[u.Param], u.Kind, strings.Join(list, " ")))
	}
	return out
}

// TestCollectEqual: of equal values it finds what Collect does, with the same values of calls
// and the same bounds.
func TestCollectEqual(t *testing.T) {
	list := read(t, "../../testdata/office/trajectories.jsonl.gz")
	for _, name := range []string{"taubench/gpt-4o-airline.json", "tau2/retail_gpt-4.1.json"} {
		t.Run(name, func(t *testing.T) { list = append(list, read(t, recorded(t, name))...) })
	}
	tools := run("a value in many places")
	for i := range 300 {
		tools.user("it is y1z").call(fmt.Sprintf("tool%d", i), `{"x":"y1z","n":7,"s":"7","of":{"x":["y1z",7]}}`, `{"z":"y1z","n":"7","m":7.0,"in":"{\"z\":[\"y1z\"]}"}`)
	}
	texts := run("a value in many texts")
	for i := range 200 {
		texts.call(fmt.Sprintf("tell%d", i), `{}`, `{"text":"it is y1z, said one"}`)
	}
	texts.call("get", `{}`, `{"id":"y1z"}`).call("put", `{"id":"y1z"}`, ``)
	large := run("many values")
	for i := range 300 {
		large.call("get", fmt.Sprintf(`{"id":"id-%d"}`, i), fmt.Sprintf(`{"next":"id-%d","text":"%s"}`, i+1, strings.Repeat(fmt.Sprint("word", i, " "), 300)))
	}
	for i := range 3 {
		words := make([]string, 100_000)
		for j := range words {
			words[j] = fmt.Sprint("w", i, "x", j)
		}
		large.call("list", `{}`, fmt.Sprintf(`{"text":%q}`, strings.Join(words, " ")))
	}
	large.call("get", `{"id":"id-7"}`, ``)
	list = append(list, &tools.t, &texts.t, &large.t)
	var c dataflow.Collector
	for _, trajectory := range list {
		var reached [2]bounds.Reached
		trajectory.Reached = &reached[0]
		want := c.Collect(trajectory)
		trajectory.Reached = &reached[1]
		got := c.CollectEqual(trajectory)
		if a, b := equalText(got), equalText(want); !slices.Equal(a, b) {
			for i := range min(len(a), len(b)) {
				if a[i] != b[i] {
					t.Fatalf("%s: got\n%s\nwant\n%s", trajectory.ID, a[i], b[i])
				}
			}
			t.Fatalf("%s: %d uses, want %d", trajectory.ID, len(a), len(b))
		}
		for i := range trajectory.Calls {
			if !got.Arguments(i).Equal(want.Arguments(i)) || !got.Result(i).Equal(want.Result(i)) {
				t.Fatalf("%s: call %d has other values", trajectory.ID, i)
			}
		}
		c.Release(got)
		if a, b := reached[1].Reports(), reached[0].Reports(); !slices.Equal(a, b) {
			t.Errorf("%s: reached %v, want %v", trajectory.ID, a, b)
		}
	}
}

// BenchmarkCollectEqual collects the bundled traces, beside Collect.
func BenchmarkCollectEqual(b *testing.B) {
	list := read(b, "../../testdata/office/trajectories.jsonl.gz")
	var c dataflow.Collector
	for name, collect := range map[string]func(*trace.Trajectory) *dataflow.Flow{"all": c.Collect, "equal": c.CollectEqual} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				for _, t := range list {
					c.Release(collect(t))
				}
			}
		})
	}
}
