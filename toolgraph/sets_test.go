package toolgraph

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/toolgraph/catalog"
)

// The public sets that figures are computed on.

func readCatalog(t testing.TB, file string) *catalog.Catalog {
	t.Helper()
	return parsed(t, file, recordings.Bytes(t, recordings.Recorded(t, "toolgraph/"+file)))
}

func parsed(t testing.TB, file string, data []byte) *catalog.Catalog {
	t.Helper()
	tools, problems := catalog.Parse(file, data)
	if err := problems.Err(); err != nil {
		t.Fatal(err)
	}
	c, _ := catalog.New(tools)
	return c
}

func decodeLines[T any](t testing.TB, file string) (out []T) {
	t.Helper()
	for line := range strings.Lines(string(recordings.Bytes(t, recordings.Recorded(t, "toolgraph/"+file)))) {
		var v T
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			t.Fatal(err)
		}
		out = append(out, v)
	}
	return out
}

// A gold task names the tools that it takes, in order.
type gold struct {
	Text, Target string
	Tools        []string
}

// pairsOf returns the different pairs of tools of links, in order.
func pairsOf(c *catalog.Catalog, links []Link) [][2]int32 {
	var out [][2]int32
	for _, l := range links {
		a, ok1 := c.Find(l.From)
		b, ok2 := c.Find(l.To)
		if ok1 && ok2 && a != b {
			out = append(out, [2]int32{int32(a), int32(b)})
		}
	}
	slices.SortFunc(out, func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
	return slices.Compact(out)
}

func observed(t testing.TB, file string) *Observed {
	t.Helper()
	var o Observed
	for _, one := range recordings.Read(t, recordings.Recorded(t, "toolgraph/"+file)) {
		o.Observe(one)
	}
	return &o
}

func followLinks(o *Observed) []Link {
	var out []Link
	for s := range o.Follows {
		out = append(out, Link{From: s.From, To: s.To})
	}
	return out
}

func taskLinks(tasks []gold) []Link {
	var out []Link
	for _, g := range tasks {
		for i := 1; i < len(g.Tools); i++ {
			out = append(out, Link{From: g.Tools[i-1], To: g.Tools[i]})
		}
	}
	return out
}

// nestful returns the tools of NESTFUL with the links that its answers write as
// references ($var1.field$).
func nestful(t testing.TB) (*catalog.Catalog, []Link) {
	t.Helper()
	type object = map[string]any
	var list []any
	var links []Link
	read := func(file string, v any) {
		if err := json.Unmarshal(recordings.Bytes(t, recordings.Recorded(t, "nestful/"+file)), v); err != nil {
			t.Fatal(err)
		}
	}
	for _, set := range []string{"executable", "non-executable-sgd", "non-executable-glaive"} {
		var specs []object
		read(set+"-spec.json", &specs)
		for _, s := range specs {
			properties, required := object{}, []string{}
			for _, kind := range []string{"query_parameters", "arguments", "path_parameters", "body_parameters"} {
				of, _ := s[kind].(object)
				for name, v := range of {
					schema := v.(object)
					if schema["required"] == true {
						required = append(required, name)
					}
					delete(schema, "required")
					properties[name] = schema
				}
			}
			list = append(list, object{
				"name": s["name"], "description": s["description"],
				"inputSchema":  object{"type": "object", "properties": properties, "required": required},
				"outputSchema": object{"type": "object", "properties": s["output_parameters"]},
			})
		}
		var rows []struct {
			Output []struct {
				Name, Label string
				Arguments   object
			}
		}
		read(set+"-data.json", &rows)
		for _, r := range rows {
			by := map[string]string{}
			for _, o := range r.Output {
				by[o.Label] = o.Name
				for param, v := range o.Arguments {
					text, _ := v.(string)
					from, _, _ := strings.Cut(strings.Trim(text, "$"), ".")
					if strings.HasPrefix(text, "$") && by[from] != "" {
						links = append(links, Link{by[from], o.Name, param})
					}
				}
			}
		}
	}
	data, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	return parsed(t, "nestful", data), links
}

// A public set is a catalogue with links to learn from.
type public struct {
	name  string
	m     *matcher
	pairs [][2]int32
}

func newPublic(name string, c *catalog.Catalog, o *Observed, links []Link) public {
	if o == nil {
		o = &Observed{}
	}
	tools, _ := completed(c, o, nil)
	f := newFrame(tools)
	effect, _ := effects(f.tools)
	reads := make([]bool, len(effect))
	for i, e := range effect {
		reads[i] = e == Reads
	}
	return public{name, newMatcher(f, reads), pairsOf(c, links)}
}

func toolLinkOS(t testing.TB) public {
	return newPublic("toollinkos", readCatalog(t, "toollinkos/tools.json"), nil, decodeLines[Link](t, "toollinkos/links.jsonl"))
}

func ultraTool(t testing.TB) public {
	o := observed(t, "ultratool260/traces.atif.jsonl")
	return newPublic("ultratool", readCatalog(t, "ultratool260/tools.json"), o, followLinks(o))
}

// publicSets returns the sets that the shipped predictor is fitted on.
func publicSets(t testing.TB) []public {
	o := observed(t, "livemcp/traces.atif.jsonl")
	sets := []public{toolLinkOS(t), ultraTool(t), newPublic("livemcp", readCatalog(t, "livemcp/tools.json"), o, followLinks(o))}
	c, links := nestful(t)
	sets = append(sets, newPublic("nestful", c, nil, links))
	for _, set := range []string{"tmdb", "spotify"} {
		sets = append(sets, newPublic(set, readCatalog(t, "restbench-"+set+"/tools.json"), nil, taskLinks(decodeLines[gold](t, "restbench-"+set+"/tasks.jsonl"))))
	}
	return sets
}
