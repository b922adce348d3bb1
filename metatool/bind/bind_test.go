package bind_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/recordings"
	"github.com/awo-dev/awo/internal/scripted"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/candidate"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/trace"
)

// bindShop binds a chain that begins with the first call of every run: the
// tools in order, with a * behind one that walks a list.
func bindShop(t *testing.T, list []*trace.Trajectory, ruleFile string, o bind.Options, tools ...string) []*bind.Definition {
	t.Helper()
	c := compiled(t, list, recordings.Parse(t, "rules.json", []byte(ruleFile)), compile.Options{})
	chain := &candidate.Candidate{Support: len(list)}
	for i, tool := range tools {
		name, each := strings.CutSuffix(tool, "*")
		step := candidate.PatternStep{Tool: trace.Intern(name), Name: name, From: -1}
		if each {
			k := slices.IndexFunc(c.Set.Links, func(k dataflow.Link) bool {
				return k.To.ToolName() == name && k.From.Side == dataflow.Output && strings.HasSuffix(k.From.Path, "[*]") && k.Verdict == dataflow.Accepted
			})
			if k < 0 {
				t.Fatalf("no list leads to %s", name)
			}
			step.Each = &c.Set.Links[k]
			for j := range tools[:i] {
				if tools[j] == step.Each.From.ToolName() {
					step.From = j
				}
			}
		}
		chain.Pattern = append(chain.Pattern, step)
	}
	for i, one := range list {
		first, _ := c.Merged.Walks.Of(i)
		at := candidate.Occurrence{Trajectory: i, First: first}
		call := 0
		for k := range tools {
			name, each := strings.CutSuffix(tools[k], "*")
			n := 1
			for each && call+n < len(one.Calls) && one.Calls[call+n].Tool.Value() == name {
				n++
			}
			at.Counts = append(at.Counts, int32(n))
			call += n
		}
		chain.Occurrences = append(chain.Occurrences, at)
	}
	b := bind.New(c.Merged, c.Set, c.Judgments, []*candidate.Candidate{chain}, o)
	var collector dataflow.Collector
	for i, one := range list {
		if b.Wants(i) {
			b.Add(b.Observe(i, bind.NewView(one, collector.Collect(one))))
		}
	}
	return b.Definitions()
}

// summarize writes a definition for tests.
func summarize(d *bind.Definition) string {
	var b strings.Builder
	for i := range d.Steps {
		s := &d.Steps[i]
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(s.Tool)
		if s.Each != nil {
			fmt.Fprintf(&b, " each %s", formOf(s.Each))
		}
		for _, a := range s.Args {
			fmt.Fprintf(&b, " %s=%s", a.Name, formOf(&a.Binding))
			if a.Optional {
				b.WriteByte('?')
			}
		}
	}
	for _, r := range d.Refusals {
		fmt.Fprintf(&b, " !%s %d.%s", r.Code, r.Step, r.Argument)
	}
	return b.String()
}

func formOf(x *metatool.Binding) string {
	text := ""
	switch x.Kind {
	case metatool.BindConst:
		text = string(x.Const.AppendCanonical(nil))
	case metatool.BindStep:
		text = fmt.Sprintf("%d%s", x.Step, x.Path)
	case metatool.BindElement:
		text = "@" + x.Path.String()
	case metatool.BindTemplate:
		text = strings.ReplaceAll(x.Template, jsonpath.Hole, "{"+formOf(&x.Parts[0])+"}")
	case metatool.BindInput:
		text = "<" + x.Input + ">"
	}
	if x.Key != nil {
		text += " key " + formOf(x.Key)
	}
	return text + [...]string{"", ":string", ":number"}[x.Coerce]
}

func all(n int) func(int) (int, int) { return func(int) (int, int) { return n, n } }

// bindCases are chains with what becomes of them.
var bindCases = []struct {
	name  string
	tools []string
	reads func(run int) (has, reads int)
	then  func(run int, s *scripted.Run)
	want  []string
}{
	{
		"a result and a shared input",
		[]string{"login", "customer"},
		all(3), nil,
		[]string{"login name=<name>; customer name=<name> token=0$.token"},
	},
	{
		"a list that is walked",
		[]string{"login", "customer", "order*"},
		all(3), nil,
		[]string{"login name=<name>; customer name=<name> token=0$.token; order each 1$.orders[*] id=@$ token=0$.token"},
	},
	{
		"a list of which a part is read",
		[]string{"login", "customer", "order*"},
		func(run int) (int, int) { return 4, 1 + run%3 }, nil,
		[]string{"login name=<name>; customer name=<name> token=0$.token; order each 1$.orders[*] id=@$ token=0$.token"},
	},
	{
		"text around a result",
		[]string{"login", "customer", "weather"},
		func(int) (int, int) { return 2, 0 },
		func(run int, s *scripted.Run) {
			s.Call("weather", fmt.Sprintf(`{"place":"the city of city-%d, today"}`, run), `{}`)
		},
		[]string{"login name=<name>; customer name=<name> token=0$.token; weather place=the city of {1$.city}, today"},
	},
	{
		"what only the model knew",
		[]string{"login", "customer", "write"},
		func(int) (int, int) { return 2, 0 },
		func(run int, s *scripted.Run) {
			s.Call("write", fmt.Sprintf(`{"text":"thought %d%d%d"}`, run, run, run), `{}`)
		},
		[]string{
			"login name=<name>; customer name=<name> token=0$.token; write text=<text> !unknown-before-chain 2.text",
			"login name=<name>; customer name=<name> token=0$.token",
		},
	},
	{
		"a constant",
		[]string{"login", "weather"},
		func(int) (int, int) { return 2, 0 },
		func(run int, s *scripted.Run) {
			s.T.Calls, s.T.Turns = s.T.Calls[:1], s.T.Turns[:1]
			s.Call("weather", `{"unit":"degrees","api_key":"0"}`, `{}`)
		},
		[]string{`login name=<name>; weather api_key=<api_key> unit=<unit>`}, // the word may be a secret
	},
	{
		"a constant that the definition names",
		[]string{"login", "weather"},
		func(int) (int, int) { return 2, 0 },
		func(run int, s *scripted.Run) {
			s.T.Calls, s.T.Turns = s.T.Calls[:1], s.T.Turns[:1]
			s.Call("weather", `{"unit":"degrees","api_key":"0","days":3,"now":true,"place":"Brighton"}`, `{}`)
			s.T.Tools = []trace.ToolDef{{Name: trace.Intern("weather"), Description: trace.TextOf("The weather, in degrees or kelvin.")}}
		},
		[]string{`login name=<name>; weather api_key=<api_key> days=3 now=true place=<place> unit="degrees"`},
	},
	{
		"a number as text",
		[]string{"login", "parcel"},
		func(int) (int, int) { return 2, 0 },
		func(run int, s *scripted.Run) {
			s.T.Calls, s.T.Turns = nil, nil
			s.Call("login", fmt.Sprintf(`{"name":"customer-%d"}`, run), fmt.Sprintf(`{"number":%d}`, 5000+7*run))
			s.Call("parcel", fmt.Sprintf(`{"number":"%d"}`, 5000+7*run), `{}`)
		},
		[]string{"login name=<name>; parcel number=0$.number:string"},
	},
	{
		"an argument that is left out at times",
		[]string{"login", "parcel"},
		func(int) (int, int) { return 2, 0 },
		func(run int, s *scripted.Run) {
			s.T.Calls, s.T.Turns = s.T.Calls[:1], s.T.Turns[:1]
			args := fmt.Sprintf(`{"token":"token-%d"}`, run)
			if run%2 == 0 {
				args = fmt.Sprintf(`{"token":"token-%d","who":"customer-%d"}`, run, run)
			}
			s.Call("parcel", args, `{}`)
		},
		[]string{"login name=<name>; parcel token=0$.token who=<who>?"},
	},
	{
		"writing to a part of a list",
		[]string{"login", "customer", "cancel*"},
		func(int) (int, int) { return 4, 0 },
		func(run int, s *scripted.Run) {
			for k := range 1 + run%3 {
				s.Call("cancel", fmt.Sprintf(`{"id":"order-%d-%d"}`, run, k), `{}`)
			}
		},
		[]string{
			"login name=<name>; customer name=<name> token=0$.token; cancel each 1$.orders[*] id=@$ !fan-out-partial 2.id",
			"login name=<name>; customer name=<name> token=0$.token",
		},
	},
	{
		"writing to a whole list",
		[]string{"login", "customer", "cancel*"},
		func(int) (int, int) { return 3, 0 },
		func(run int, s *scripted.Run) {
			for k := range 3 {
				s.Call("cancel", fmt.Sprintf(`{"id":"order-%d-%d"}`, run, k), `{}`)
			}
		},
		[]string{"login name=<name>; customer name=<name> token=0$.token; cancel each 1$.orders[*] id=@$"},
	},
}

func TestBind(t *testing.T) {
	for _, test := range bindCases {
		t.Run(test.name, func(t *testing.T) {
			var got []string
			for _, d := range bindShop(t, scripted.Shop(20, test.reads, test.then), scripted.ShopRules, bind.Options{}, test.tools...) {
				got = append(got, summarize(d))
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}

// TestWithheldConstant: a text that all calls have, and that nobody published, is an input
// that says so, unless a rule has the word or allows the values.
func TestWithheldConstant(t *testing.T) {
	runs := func() []*trace.Trajectory {
		return scripted.Shop(20, all(2), func(_ int, s *scripted.Run) {
			s.T.Calls, s.T.Turns = s.T.Calls[:1], s.T.Turns[:1]
			s.Call("weather", `{"unit":"swordfish"}`, `{}`)
		})
	}
	for rule, withheld := range map[string]bool{
		``: true,
		`{"id": "v", "kind": "values", "match": {"tool": "weather", "arg": "unit"}, "values": "allow"},`: false,
		`{"id": "v", "kind": "values", "match": {"tool": "login"}, "values": "allow"},`:                  true,
		`{"id": "v", "kind": "barrier", "match": {"tool": "pay", "args": {"unit": "swordfish"}}},`:       false,
	} {
		set := strings.Replace(scripted.ShopRules, `"rules": [`, `"rules": [`+rule, 1)
		d := bindShop(t, runs(), set, bind.Options{}, "login", "weather")[0]
		i := slices.IndexFunc(d.Bound, func(b bind.BoundArgument) bool { return b.Argument == "unit" })
		if i < 0 || d.Bound[i].Withheld != withheld || strings.Contains(marshal(d.Tool), "swordfish") == withheld {
			t.Errorf("%s: %s", rule, marshal(d.Tool))
		}
		if said := strings.Contains(marshal(d.Inputs), "not written here"); said != withheld {
			t.Errorf("%s: the input says so: %t", rule, said)
		}
	}
}

// TestFewRunsProveNothing: fewer than 16 occurrences must agree, and what the
// pooled evidence of few runs does not bear is no binding.
func TestFewRunsProveNothing(t *testing.T) {
	defs := bindShop(t, scripted.Shop(6, all(2), nil), scripted.ShopRules, bind.Options{}, "login", "customer", "order*")
	if len(defs) == 0 || defs[0].Refusals == nil {
		t.Errorf("six runs are enough: %s", summarize(defs[0]))
	}
}

func TestMaxExtra(t *testing.T) {
	runs := func(run int) (int, int) { return 6, 1 }
	for extra, refused := range map[int]bool{-1: true, 4: true, 5: false} {
		d := bindShop(t, scripted.Shop(20, runs, nil), scripted.ShopRules, bind.Options{MaxExtra: extra}, "login", "customer", "order*")[0]
		if got := d.Refusals != nil; got != refused {
			t.Errorf("five extra reads, at most %d: %s", extra, summarize(d))
		}
	}
}

// TestOutputs: every result is returned, but for what rules call plumbing; what later
// calls took arguments from, and the last result, are returned all the same.
func TestOutputs(t *testing.T) {
	then := func(run int, s *scripted.Run) {
		s.User("go on").Call("weather", fmt.Sprintf(`{"place":"city-%d"}`, run), `{}`)
	}
	plumbing := strings.Replace(scripted.ShopRules, `"rules": [`, `"rules": [{"id": "plumbing", "kind": "plumbing", "match": {"tool": "*"}}, `, 1)
	if plumbing == scripted.ShopRules {
		t.Fatal("no rule was added")
	}
	for _, test := range []struct {
		then  func(int, *scripted.Run)
		rules string
		want  string
	}{{nil, scripted.ShopRules, "[0 1 2]"}, {nil, plumbing, "[2]"}, {then, plumbing, "[1 2]"}} {
		d := bindShop(t, scripted.Shop(20, all(2), test.then), test.rules, bind.Options{}, "login", "customer", "order*")[0]
		if got := fmt.Sprint(d.Output.Steps); got != test.want {
			t.Errorf("returns %s, want %s", got, test.want)
		}
	}
}

func TestExpectations(t *testing.T) {
	d := bindShop(t, scripted.Shop(20, all(2), nil), scripted.ShopRules, bind.Options{}, "login", "customer", "order*")[0]
	var got []string
	for i := range d.Steps {
		for _, e := range d.Steps[i].Expect {
			got = append(got, fmt.Sprintf("%d%s", i, e.Path))
		}
	}
	if want := []string{"0$.token", "1$.orders"}; !slices.Equal(got, want) {
		t.Errorf("expects %q, want %q", got, want)
	}
}

var named = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]{0,63}$`)

// TestHostile compiles runs with names and values that look like expressions,
// code and paths. Nothing of it may reach a name, and no run may end it.
func TestHostile(t *testing.T) {
	word := rapid.SampledFrom([]string{
		"a", "b", "c", `"`, "\n", "../../x", "$.a[*]", "{$inputs.x}", "[?@.a == 'b']", "\u202e", strings.Repeat("n", 300), "", "\x00", "'); --",
	})
	rapid.Check(t, func(rt *rapid.T) {
		tools := rapid.SliceOfN(word, 2, 4).Draw(rt, "tools")
		args := rapid.SliceOfNDistinct(word, 0, 3, rapid.ID[string]).Draw(rt, "arguments")
		var list []*trace.Trajectory
		for run := range 8 {
			s := (&scripted.Run{}).User(fmt.Sprint("run ", run))
			last := ""
			for _, tool := range tools {
				given, result := map[string]any{}, map[string]any{}
				for i, a := range args {
					given[a] = last
					result[a] = []any{map[string]any{a: fmt.Sprintf("{$inputs.%d}%d'\"", run, i)}, run, nil}
					last = fmt.Sprintf("{$inputs.%d}%d'\"", run, i)
				}
				s.Call(tool, marshal(given), marshal(result))
			}
			list = append(list, &s.T)
		}
		for _, algorithm := range []compile.Algorithm{compile.AWO, compile.Patterns} {
			for _, d := range compiled(t, list, nil, compile.Options{Algorithm: algorithm, Workers: 2}).Definitions {
				if !named.MatchString(d.Name) {
					rt.Errorf("name %q", d.Name)
				}
				for _, in := range d.Inputs {
					if !named.MatchString(in.Name) || strings.Contains(in.Name, "-") {
						rt.Errorf("input %q", in.Name)
					}
				}
				if strings.Contains(d.Description, "$inputs.7") || strings.Contains(string(d.InputSchema().AppendCanonical(nil)), "$inputs.7") {
					rt.Errorf("a value is in %s", d.Description)
				}
			}
		}
	})
}

func marshal(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
