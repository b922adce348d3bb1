package stored

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/dataflow/jsonpath"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/prefetch"
	"github.com/awo-dev/awo/trace"
)

const shop = `{
  "schema": "awo.prefetch/v2",
  "threshold": 0.3,
  "reads": [
    "customer",
    "order"
  ],
  "rules": [
    {
      "id": "customer-order",
      "source": {
        "kind": "result",
        "tool": "customer",
        "path": "$.orders[*].id",
        "slots": [],
        "trust": []
      },
      "target": {
        "tool": "order",
        "argument": "id",
        "constants": {
          "lang": "en"
        },
        "bound": [
          {
            "argument": "shop",
            "from": "element",
            "path": "$.shop"
          },
          {
            "argument": "token",
            "from": "argument",
            "path": "$.token"
          }
        ]
      },
      "when": {
        "turn": "first",
        "last": "any",
        "alone": false
      },
      "use": {
        "value": 0.5,
        "n": 40,
        "interval": {
          "lo": 0.25,
          "hi": 0.75,
          "level": 0.95,
          "n": 20,
          "method": "bootstrap"
        },
        "reason": ""
      },
      "max_elements": 3,
      "depth": 2,
      "evidence": {
        "offered": 40,
        "used": 20,
        "stale": 1,
        "trajectories": 20,
        "tasks": 20,
        "per_answer": 2,
        "tokens_used": 100.5,
        "tokens_in_vain": null
      }
    }
  ]
}
`

func path(text string) jsonpath.Path {
	p, err := jsonpath.Parse(text)
	if err != nil {
		panic(err)
	}
	return p
}

func TestShop(t *testing.T) {
	f, err := Decode("prefetch.json", []byte(shop))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Set.Check(); err != nil {
		t.Fatal(err)
	}
	want := prefetch.Rule{
		ID: "customer-order", Source: prefetch.Source{Tool: "customer", Path: path("$.orders[*].id")},
		Target: prefetch.Target{Tool: "order", Argument: "id", Others: []prefetch.Other{
			{Argument: "lang", Origin: prefetch.FromConstant, Constant: trace.NewString("en")},
			{Argument: "shop", Origin: prefetch.FromElement, Path: path("$.shop")},
			{Argument: "token", Origin: prefetch.FromArgument, Path: path("$.token")},
		}},
		When: prefetch.When{Turn: prefetch.FirstTime}, MaxElements: 3, Depth: 2,
	}
	if got := fmt.Sprintf("%+v", f.Set.Rules); got != fmt.Sprintf("%+v", []prefetch.Rule{want}) {
		t.Errorf("%s, want %+v", got, want)
	}
	again, err := f.Encode()
	if err != nil || string(again) != shop {
		t.Errorf("%v: written again it is %s", err, again)
	}
}

// said is a rule that messages lead to, as it is stored.
const said = `{"schema": "awo.prefetch/v2", "threshold": 0.3, "reads": ["find", "list", "order"], "rules": [
{"id": "user-order", "source": {"kind": "user", "tool": "", "path": "",
  "slots": [{"argument": "id", "shapes": ["#A9{7}"], "number": false, "near": false, "after": ["order", "number"], "not": ["when"]}], "trust": ["find"]},
 "target": {"tool": "order", "argument": "", "constants": {"lang": "en"}, "bound": []},
 "when": {"turn": "any", "last": "any", "alone": true}, "use": {"value": 0.5, "n": 2, "interval": null, "reason": "few"}, "max_elements": 0, "depth": 1,
 "evidence": {"offered": 2, "used": 1, "stale": 0, "trajectories": 1, "tasks": 1, "per_answer": 1, "tokens_used": 1, "tokens_in_vain": 1}},
{"id": "none-list", "source": {"kind": "none", "tool": "", "path": "", "slots": [], "trust": []},
 "target": {"tool": "list", "argument": "", "constants": {}, "bound": []},
 "when": {"turn": "any", "last": "any", "alone": false}, "use": {"value": 0.5, "n": 2, "interval": null, "reason": "few"}, "max_elements": 0, "depth": 1,
 "evidence": {"offered": 2, "used": 1, "stale": 0, "trajectories": 1, "tasks": 1, "per_answer": 1, "tokens_used": 1, "tokens_in_vain": 1}}]}`

// TestSaid reads rules without a source tool, writes them, and reads what it wrote.
func TestSaid(t *testing.T) {
	f, err := Decode("p.json", []byte(said))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Set.Check(); err != nil {
		t.Fatal(err)
	}
	r := &f.Set.Rules[0]
	if r.Source.Kind != prefetch.KindUser || len(r.Source.Slots) != 1 || r.Source.Slots[0].After[1] != "number" || r.Source.Trust[0] != "find" || !r.When.Alone {
		t.Errorf("read as %+v", r)
	}
	text, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again, err := Decode("p.json", text)
	if err != nil || !reflect.DeepEqual(again.Set, f.Set) {
		t.Errorf("%v: read again %+v, not %+v", err, again, f)
	}
	for from, to := range map[string]string{
		`"#A9{7}"`:                           `"#A9{0}"`,
		`["order", "number"]`:                `["a b"]`,
		`"kind": "user", "tool": ""`:         `"kind": "user", "tool": "find"`,
		`"kind": "none", "tool": ""`:         `"kind": "else", "tool": ""`,
		`"slots": [], "trust": []`:           `"slots": [], "trust": ["find"]`,
		`"tool": "list", "argument": ""`:     `"tool": "list", "argument": "x"`,
		`"constants": {"lang": "en"}`:        `"constants": {"id": "en"}`,
		`"alone": true`:                      `"alone": 1`,
		`"reads": ["find", "list", "order"]`: `"reads": ["find", "list"]`,
	} {
		text := strings.Replace(said, from, to, 1)
		if text == said {
			t.Fatalf("%s is not there", from)
		}
		if f, err := Decode("p.json", []byte(text)); err == nil {
			t.Errorf("%s: no problem, %+v", to, f.Set.Rules)
		}
	}
}

// Every problem has its place.
func TestProblems(t *testing.T) {
	for _, c := range []struct{ from, to, code, at string }{
		{`awo.prefetch/v2`, `awo.prefetch/v9`, CodeSchema, "2:13"},
		{`"threshold": 0.3`, `"threshold": 1.3`, CodeBad, "3:16"},
		{`"threshold": 0.3`, `"threshold": "x"`, CodeBad, "3:16"},
		{`"threshold": 0.3,`, ``, CodeMissing, "1:1"},
		{`"depth": 2`, `"depht": 2`, CodeUnknown, "55:7"},
		{`"depth": 2`, `"depth": 3`, CodeBad, "55:16"},
		{`"max_elements": 3`, `"max_elements": -1`, CodeBad, "54:23"},
		{`"max_elements": 3`, `"max_elements": 1.5`, CodeBad, "54:23"},
		{`$.orders[*].id`, `$.orders..id`, CodeBad, "14:27"},
		{`$.orders[*].id`, `$.orders[?@.a == 'b']`, CodeBad, "14:17"},
		{`"path": "$.token"`, `"path": "$.token.x"`, CodeBad, "33:21"},
		{`"from": "element"`, `"from": "elsewhere"`, CodeBad, "27:21"},
		{`"turn": "first"`, `"turn": "seldom"`, CodeBad, "38:17"},
		{`"argument": "shop"`, `"argument": "id"`, CodeRepeated, "25:11"},
		{`"argument": "shop"`, `"argument": null`, CodeBad, "26:25"},
		{"    \"customer\",\n", "", CodeWrites, "12:17"},
		{`"used": 20`, `"used": 41`, CodeBad, "58:17"},
		{`"lang": "en"`, `"lang": "` + strings.Repeat("x", 5000) + `"`, CodeBound, "22:19"},
		{`"id": "customer-order"`, `"id": 7`, CodeBad, "10:13"},
		{`"depth": 2,`, `"depth": 2`, "json-syntax", "56:7"},
	} {
		text := strings.Replace(shop, c.from, c.to, 1)
		if text == shop {
			t.Fatalf("%s is not there", c.from)
		}
		f, err := Decode("p.json", []byte(text))
		var list diag.List
		if f != nil || !errors.As(err, &list) {
			t.Errorf("%s: %v, %v", c.to, f, err)
			continue
		}
		found := ""
		for _, p := range list {
			found += fmt.Sprintf("%s %d:%d\n", p.Code, p.Pos.Line, p.Pos.Col)
		}
		if !strings.Contains(found, c.code+" "+c.at+"\n") {
			t.Errorf("%s: want %s at %s, got %s", c.to, c.code, c.at, found)
		}
	}
}

func TestRulesAreNotRepeated(t *testing.T) {
	f, err := Decode("p.json", []byte(shop))
	if err != nil {
		t.Fatal(err)
	}
	f.Set.Rules, f.Evidence = append(f.Set.Rules, f.Set.Rules[0]), append(f.Evidence, f.Evidence[0])
	text, err := f.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode("p.json", text); err == nil || !strings.Contains(err.Error(), CodeRepeated) {
		t.Errorf("%v", err)
	}
}

func TestBounds(t *testing.T) {
	if _, err := Decode("p.json", bytes.Repeat([]byte(" "), MaxBytes+1)); err == nil || !strings.Contains(err.Error(), CodeBound) {
		t.Errorf("a large file: %v", err)
	}
	rule := shop[strings.Index(shop, "    {") : strings.LastIndex(shop, "    }")+5]
	many := strings.Replace(shop, rule, strings.Repeat(rule+",", maxRules)+rule, 1)
	if len(many) < MaxBytes {
		if _, err := Decode("p.json", []byte(many)); err == nil || !strings.Contains(err.Error(), CodeBound) {
			t.Errorf("many rules: %v", err)
		}
	}
	deep := strings.Replace(shop, `"en"`, strings.Repeat("[", 500)+strings.Repeat("]", 500), 1)
	if _, err := Decode("p.json", []byte(deep)); err == nil {
		t.Error("a constant may be as deep as it likes")
	}
}

// What is written is read again, the same.
func TestRoundTrip(t *testing.T) {
	name := rapid.StringN(1, 20, 60)
	rapid.Check(t, func(t *rapid.T) {
		paths := rapid.SampledFrom([]string{"$", "$.a", "$.a[*].b", "$[0]", "$['x y'][*][*]", "$.a[2]['\u00e9']"})
		f := &File{Threshold: float64(rapid.IntRange(0, 100).Draw(t, "threshold")) / 100}
		f.Set.Reads = []string{"r1", "r2"}
		for i := range rapid.IntRange(0, 4).Draw(t, "rules") {
			r := prefetch.Rule{
				ID: fmt.Sprint(i, name.Draw(t, "id")), Source: prefetch.Source{Tool: "r1", Path: path(paths.Draw(t, "path"))},
				Target:      prefetch.Target{Tool: "r2", Argument: "0"},
				When:        prefetch.When{Turn: rapid.SampledFrom([]prefetch.Turn{"", "first", "again"}).Draw(t, "turn"), Last: rapid.SampledFrom([]prefetch.Last{"", "ok", "failed"}).Draw(t, "last")},
				MaxElements: rapid.IntRange(0, 50).Draw(t, "most"), Depth: rapid.IntRange(1, 2).Draw(t, "depth"),
			}
			for k := range rapid.IntRange(0, 3).Draw(t, "others") {
				o := prefetch.Other{Argument: fmt.Sprint(k+1, name.Draw(t, "argument")), Origin: rapid.SampledFrom([]prefetch.Origin{prefetch.FromConstant, prefetch.FromAnswer, prefetch.FromElement, prefetch.FromArgument}).Draw(t, "origin")}
				switch o.Origin {
				case prefetch.FromConstant:
					text := rapid.SampledFrom([]string{`1`, `1.5`, `12345678901234567890`, `"1"`, `"null"`, `null`, `true`, `[1,{"a":[]}]`, `"\u0001\u2028"`, `""`}).Draw(t, "constant")
					v, err := trace.ParseValue([]byte(text))
					if err != nil {
						t.Fatal(err)
					}
					o.Constant = v
				case prefetch.FromArgument:
					o.Path = jsonpath.Path{{Kind: jsonpath.Member, Name: name.Draw(t, "name")}}
				default:
					o.Path = path(paths.Draw(t, "path"))
				}
				r.Target.Others = append(r.Target.Others, o)
			}
			e := Evidence{Offered: rapid.IntRange(1, 100).Draw(t, "offered"), TokensUsed: math.NaN(), TokensVain: 7, Interval: stat.NoInterval("one task")}
			e.Used = rapid.IntRange(0, e.Offered).Draw(t, "used")
			f.Set.Rules, f.Evidence = append(f.Set.Rules, r), append(f.Evidence, e)
		}
		text, err := f.Encode()
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode("p.json", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		again, err := back.Encode()
		if err != nil || !bytes.Equal(text, again) {
			t.Fatalf("%v: %s, and then %s", err, text, again)
		}
		if len(f.Set.Rules) > 0 && fmt.Sprintf("%+v", f.Set) != fmt.Sprintf("%+v", back.Set) {
			t.Fatalf("%+v, and then %+v", f.Set, back.Set)
		}
	})
}

// Whatever the file holds: there are rules that can be followed, or problems.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(shop))
	f.Add([]byte(`{"schema":"awo.prefetch/v2","threshold":0,"reads":[],"rules":[]}`))
	f.Add([]byte(`{"schema":"awo.prefetch/v2","rules":[{"id":null,"source":[],"target":{"constants":[]}}]}`))
	f.Add([]byte(strings.Replace(shop, "$.orders[*].id", `$\u002eorders[`, 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Decode("p.json", data)
		if err != nil {
			return
		}
		if err := file.Set.Check(); err != nil {
			t.Fatalf("what was read cannot be followed: %v", err)
		}
		text, err := file.Encode()
		if err != nil {
			t.Fatal(err)
		}
		back, err := Decode("p.json", text)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		if again, _ := back.Encode(); !bytes.Equal(text, again) {
			t.Fatalf("%s, and then %s", text, again)
		}
	})
}
