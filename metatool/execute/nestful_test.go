package execute_test

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/arazzo"
	"github.com/awo-dev/awo/metatool/execute"
	"github.com/awo-dev/awo/trace"
)

// NESTFUL records sequences of calls whose arguments refer to earlier results
// ($var1.id$), but no results. These tests make some, so that the references are
// the truth about where arguments come from.

type nestedCall struct {
	Name      string
	Arguments map[string]any
	Label     string
}

type nestedRun struct {
	Input  string
	Output []nestedCall
}

// nestedSets are the files of sequences and of what the tools return.
var nestedSets = []struct{ data, spec string }{
	{"executable-data.json", "executable-spec.json"},
	{"non-executable-sgd-data.json", "non-executable-sgd-spec.json"},
	{"non-executable-glaive-data.json", "non-executable-glaive-spec.json"},
}

func readNested[T any](t *testing.T, name string) T {
	t.Helper()
	var out T
	if err := json.Unmarshal(recordings.Bytes(t, recordings.Recorded(t, "nestful/"+name)), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// reference is a use of an earlier result inside a text.
var reference = regexp.MustCompile(`\$(var_?\d+)((?:\.[^$]+)?)\$`)

// nestedTools answers calls as the tools might: what the specification lists,
// each leaf a text of its own, but for those that repeat an argument of the call
// by their name; and what any sequence refers to.
type nestedTools struct {
	returns map[string]any             // tool -> output_parameters
	paths   map[string][]jsonpath.Path // tool -> places that are referred to
}

func (n *nestedTools) call(tool string, args map[string]any) any {
	key, _ := json.Marshal(args)
	leaf := func(path string) any {
		if v, ok := args[path]; ok {
			return v
		}
		h := fnv.New64a()
		fmt.Fprintf(h, "%s %s %s", tool, key, path)
		return fmt.Sprintf("%s-%x", path, h.Sum64())
	}
	var build func(name string, spec any) any
	build = func(name string, spec any) any {
		s, _ := spec.(map[string]any)
		inside, _ := s["properties"].(map[string]any)
		if s["type"] == nil && len(s) > 0 && inside == nil && s["description"] == nil {
			inside = s
		}
		if len(inside) == 0 {
			return leaf(name)
		}
		out := map[string]any{}
		for member, m := range inside {
			out[member] = build(strings.TrimPrefix(name+"."+member, "."), m)
		}
		return out
	}
	out, _ := build("", map[string]any{"properties": n.returns[tool]}).(map[string]any)
	if out == nil {
		out = map[string]any{}
	}
	for _, path := range n.paths[tool] {
		insert(out, path, leaf(strings.TrimPrefix(path.String(), "$.")))
	}
	return out
}

// insert puts a leaf where a path leads.
func insert(out map[string]any, path jsonpath.Path, leaf any) {
	var at any = out
	put := func(any) {}
	for _, s := range path {
		if s.Kind == jsonpath.Index {
			list, _ := at.([]any)
			for len(list) <= s.Index {
				list = append(list, map[string]any{})
			}
			put(list)
			at, put = list[s.Index], func(v any) { list[s.Index] = v }
			continue
		}
		object, ok := at.(map[string]any)
		if !ok {
			object = map[string]any{}
			put(object)
		}
		at, put = object[s.Name], func(v any) { object[s.Name] = v }
	}
	if _, ok := at.(string); !ok {
		put(leaf)
	}
}

// pathOf reads ".company.cik" or ".author[0].id".
func pathOf(text string) jsonpath.Path {
	var path jsonpath.Path
	for _, part := range strings.Split(text, ".")[1:] {
		name, index, indexed := strings.Cut(part, "[")
		path = append(path, jsonpath.Step{Kind: jsonpath.Member, Name: name})
		if n, err := strconv.Atoi(strings.TrimSuffix(index, "]")); indexed && err == nil {
			path = append(path, jsonpath.Step{Kind: jsonpath.Index, Index: n})
		}
	}
	return path
}

// bindingOf returns what a sequence says of an argument as a binding; false if
// there is none for it.
func bindingOf(t *testing.T, v any, steps map[string]int) (metatool.Binding, bool) {
	text, ok := v.(string)
	refs := reference.FindAllStringSubmatchIndex(text, -1)
	if !ok || len(refs) == 0 {
		b, _ := json.Marshal(v)
		return metatool.Binding{Const: value(t, string(b))}, !ok && !reference.Match(b) || ok
	}
	whole := metatool.Binding{Kind: metatool.BindTemplate}
	at := 0
	for _, r := range refs {
		step, ok := steps[text[r[2]:r[3]]]
		if !ok {
			return metatool.Binding{}, false
		}
		part := metatool.Binding{Kind: metatool.BindStep, Step: step, Path: pathOf(text[r[4]:r[5]])}
		if r[0] == 0 && r[1] == len(text) {
			return part, true
		}
		whole.Template += text[at:r[0]] + jsonpath.Hole
		whole.Parts = append(whole.Parts, part)
		at = r[1]
	}
	whole.Template += text[at:]
	return whole, true
}

// resolved returns an argument with what earlier results hold in place of
// references.
func resolved(v any, results map[string]any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = resolved(v[i], results)
		}
		return out
	case string:
		read := func(ref []string) any {
			at := results[ref[1]]
			for _, s := range pathOf(ref[2]) {
				if s.Kind == jsonpath.Index {
					at = at.([]any)[s.Index]
				} else {
					at = at.(map[string]any)[s.Name]
				}
			}
			return at
		}
		if ref := reference.FindStringSubmatch(v); ref != nil && ref[0] == v {
			return read(ref)
		}
		return reference.ReplaceAllStringFunc(v, func(s string) string { return fmt.Sprint(read(reference.FindStringSubmatch(s))) })
	}
	return v
}

func loadNested(t *testing.T, data, spec string) ([]nestedRun, *nestedTools) {
	runs := readNested[[]nestedRun](t, data)
	tools := &nestedTools{map[string]any{}, map[string][]jsonpath.Path{}}
	for _, s := range readNested[[]struct {
		Name             string
		OutputParameters any `json:"output_parameters"`
	}](t, spec) {
		tools.returns[s.Name] = s.OutputParameters
	}
	for i := range runs {
		named := map[string]string{}
		runs[i].Output = slices.DeleteFunc(runs[i].Output, func(c nestedCall) bool { return c.Name == "var_result" })
		for _, c := range runs[i].Output {
			text, _ := json.Marshal(c.Arguments)
			for _, r := range reference.FindAllStringSubmatch(string(text), -1) {
				if path := pathOf(r[2]); len(path) > 0 {
					tools.paths[named[r[1]]] = append(tools.paths[named[r[1]]], path)
				}
			}
			named[c.Label] = c.Name
		}
	}
	return runs, tools
}

// TestNestedRuns runs sequences whose bindings are the references, as they are
// read back from Arazzo: every call is made with what the references mean.
func TestNestedRuns(t *testing.T) {
	for _, set := range nestedSets {
		t.Run(set.data, func(t *testing.T) {
			runs, tools := loadNested(t, set.data, set.spec)
			done, calls, references, beyond := 0, 0, 0, 0
			for i, run := range runs {
				tool := &metatool.Tool{Name: fmt.Sprint("run_", i)}
				steps, results := map[string]int{}, map[string]any{}
				var want []string
				ok, bound := len(run.Output) > 0, 0
				for _, c := range run.Output {
					step := metatool.Step{Tool: c.Name, Name: c.Name, ReadOnly: true}
					args := map[string]any{}
					for _, name := range slices.Sorted(maps.Keys(c.Arguments)) {
						b, can := bindingOf(t, c.Arguments[name], steps)
						if ok = ok && can; !ok {
							break
						}
						if b.Kind != metatool.BindConst {
							bound++
						}
						step.Args = append(step.Args, metatool.Argument{Name: name, Binding: b})
						args[name] = resolved(c.Arguments[name], results)
					}
					if !ok {
						break
					}
					text, _ := json.Marshal(args)
					want = append(want, c.Name+string(value(t, string(text)).AppendCanonical(nil)))
					tool.Steps = append(tool.Steps, step)
					steps[c.Label], results[c.Label] = len(tool.Steps)-1, tools.call(c.Name, args)
				}
				if !ok {
					beyond++
					continue
				}
				read, err := arazzo.Parse("f", arazzo.Append(nil, []*metatool.Tool{tool}))
				if err != nil {
					t.Fatal(err)
				}
				var made []string
				out := execute.Run(t.Context(), read[0], trace.NewObject(), execute.CallerFunc(func(_ context.Context, name string, args trace.Value) (execute.Result, error) {
					text := args.AppendCanonical(nil)
					made = append(made, name+string(text))
					plain := map[string]any{}
					if err := json.Unmarshal(text, &plain); err != nil {
						return execute.Result{}, err
					}
					result, _ := json.Marshal(tools.call(name, plain))
					return execute.Result{Value: value(t, string(result))}, nil
				}), execute.Options{})
				if out.State != execute.Done || !slices.Equal(made, want) {
					t.Errorf("%s: %s, %v: made\n%q, not\n%q", run.Input, out.State, out.Failure, made, want)
				}
				done, calls, references = done+1, calls+len(made), references+bound
			}
			t.Logf("%d of %d sequences run: %d calls, %d bound arguments; %d hold references inside lists or to nothing", done, len(runs), calls, references, beyond)
			if done*10 < len(runs)*9 {
				t.Errorf("only %d of %d sequences run", done, len(runs))
			}
		})
	}
}

// TestNestedSources: what dataflow finds are the references. Where a result
// repeats an argument of its call under the same name, the argument is as good a
// source.
func TestNestedSources(t *testing.T) {
	for _, set := range nestedSets {
		t.Run(set.data, func(t *testing.T) {
			runs, tools := loadNested(t, set.data, set.spec)
			var collector dataflow.Collector
			truths, found, claims, right, echoes := 0, 0, 0, 0, 0
			for i, run := range runs {
				one := &trace.Trajectory{ID: fmt.Sprint(i), Messages: []trace.Message{{Role: trace.RoleUser, Text: trace.TextOf(run.Input)}}}
				results, number := map[string]any{}, map[string]int{}
				type place struct {
					call int
					path string
				}
				truth := map[int]map[string]place{}
				for n, c := range run.Output {
					args := map[string]any{}
					truth[n] = map[string]place{}
					for name, v := range c.Arguments {
						args[name] = resolved(v, results)
						if text, ok := v.(string); ok {
							if r := reference.FindStringSubmatch(text); r != nil && r[0] == text {
								truth[n][name] = place{number[r[1]], pathOf(r[2]).String()}
							}
						}
					}
					text, _ := json.Marshal(args)
					results[c.Label], number[c.Label] = tools.call(c.Name, args), n
					result, _ := json.Marshal(results[c.Label])
					one.Turns = append(one.Turns, trace.Turn{FirstCall: n, NumCalls: 1})
					one.Calls = append(one.Calls, trace.Call{Tool: trace.Intern(c.Name), Turn: n, Args: trace.JSONOf(text), Result: trace.JSONOf(result), HasResult: true, Status: trace.StatusOK})
				}
				flow := collector.Collect(one)
				for k := range flow.Uses {
					u := &flow.Uses[k]
					want, is := truth[u.Call][flow.Slots[u.Param].Param()]
					truths += oneIf(is)
					hit, claimed, echo := false, false, false
					for j := range u.Sources {
						s := &u.Sources[j]
						if s.Relation != dataflow.Equal {
							continue
						}
						from := flow.Slots[s.Slot]
						same := s.Call == want.call && strings.ReplaceAll(from.Path, "[*]", "[0]") == want.path
						if is && from.Side == dataflow.Output && same {
							hit = true
							echo = s.Echo
						}
						if j == 0 && from.Side == dataflow.Output && !s.Echo {
							claimed = true
						}
					}
					found += oneIf(hit)
					echoes += oneIf(hit && echo)
					if claimed {
						claims++
						right += oneIf(hit)
					}
				}
			}
			t.Logf("%d references, %d found (recall %.3f; %d repeat an argument); %d results taken for a source, %d right (precision %.3f)",
				truths, found, float64(found)/float64(truths), echoes, claims, right, float64(right)/float64(claims))
			if found*100 < truths*95 || right*100 < claims*95 {
				t.Errorf("%d of %d references, %d of %d claims", found, truths, right, claims)
			}
		})
	}
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
