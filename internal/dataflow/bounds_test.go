package dataflow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/awo-dev/awo/internal/dataflow"
)

// TestBounds: what is beyond the documented bounds is left out and counted, and
// the rest is found as ever.
func TestBounds(t *testing.T) {
	wide := func(n int) string { // n records of 100 members, all with names of their own
		var b strings.Builder
		b.WriteByte('[')
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteByte('{')
			for k := range 100 {
				if k > 0 {
					b.WriteByte(',')
				}
				fmt.Fprintf(&b, `"m%c%c_%c%c%c":"v%d"`, 'a'+i%26, 'a'+i/26, 'a'+k%26, 'a'+k/26, 'a'+i/676, i*k)
			}
			b.WriteByte('}')
		}
		return b.String() + "]"
	}
	manyTools := func(s *script) {
		for i := range 600 {
			s.call(fmt.Sprintf("tool%d", i), `{"x":"y1z"}`, `{"z":"y1z"}`)
		}
	}
	for _, tc := range []struct {
		name    string
		fill    func(s *script)
		dropped bool
	}{
		{"places", func(s *script) { s.call("wide", `{}`, wide(700)) }, true},
		{"depth of results", func(s *script) {
			s.call("deep", `{}`, strings.Repeat(`[`, 900)+`"bottom"`+strings.Repeat(`]`, 900))
		}, true},
		{"depth of arguments", func(s *script) {
			s.call("deep", `{"x":`+strings.Repeat(`{"x":`, 900)+`"bottom"`+strings.Repeat(`}`, 901), `{}`)
		}, true},
		{"tools", manyTools, true},
		{"a large map is a list", func(s *script) {
			var members []string
			for i := range 5000 {
				members = append(members, fmt.Sprintf(`"%s":{"id":"m%d"}`, strings.Repeat("x", i%50)+fmt.Sprint(i), i))
			}
			s.call("map", `{}`, "{"+strings.Join(members, ",")+"}")
		}, false},
		{"JSON text in JSON text, again and again", func(s *script) {
			text := `{"k":"bottom"}`
			for range 12 {
				text = fmt.Sprintf(`{"k":%q}`, text)
				if len(text) > 1<<20 {
					break
				}
			}
			s.call("nest", `{}`, text)
		}, false},
		{"many pieces of one argument", func(s *script) {
			words := strings.Fields("alpha bravo charlie delta echo foxtrot golf hotel india juliet kilo lima mike november oscar papa quebec romeo sierra tango")
			for range 3 {
				for i, w := range words {
					s.call(fmt.Sprintf("word%d", i), `{}`, fmt.Sprintf(`{"a":%q,"b":%q,"c":[%q]}`, w, w, w))
				}
			}
			s.call("say", fmt.Sprintf(`{"text":%q}`, strings.Join(words, " ")), ``)
		}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			scripts := many(8, func(i int) *script {
				token := fmt.Sprintf(`{"token":"tok-%d"}`, i)
				s := run("r").call("login", `{}`, token)
				tc.fill(s)
				return s.call("use", token, ``)
			})
			set := corpus(scripts...)
			if (set.Dropped > 0) != tc.dropped {
				t.Errorf("%d dropped", set.Dropped)
			}
			if k := link(t, set, "login.token", "use(token)"); k.Verdict != dataflow.Accepted || k.Hits != 8 {
				t.Errorf("%s, %d hits", k.Verdict, k.Hits)
			}
		})
	}
}

// TestManyValuesAndTemplates goes beyond what is counted exactly: bounds take
// its place, and what is true is still accepted.
func TestManyValuesAndTemplates(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	var c dataflow.Collector
	l := dataflow.NewLinks()
	words := strings.Fields("one two three four five six seven eight nine ten eleven twelve")
	const n = 12_000
	for i := range n {
		id := fmt.Sprintf("id-%d", i)
		s := run("r").
			call("get", `{}`, fmt.Sprintf(`{"id":"%s","word":"%s","all":["%s","b%d"]}`, id, words[dice(2*i, 12)], id, i)).
			call("put", fmt.Sprintf(`{"id":"%s","kind":"%s","note":"%s %d or so","title":"Re: %s"}`, id, words[dice(2*i+1, 12)], words[dice(3*i, 12)], i*7, id), ``)
		l.Add(c.Collect(&s.t))
	}
	set := l.Set()
	for to, want := range map[string]dataflow.Verdict{"put(id)": dataflow.Accepted, "put(kind)": dataflow.Chance, "put(title)": dataflow.Accepted} {
		from := map[string]string{"put(id)": "get.id", "put(kind)": "get.word", "put(title)": "get.id"}[to]
		k := link(t, set, from, to)
		if k.Verdict != want || k.Trials != n {
			t.Errorf("%s from %s: %s, %d of %d, chance %.4f, log10 p %.1f", to, from, k.Verdict, k.Hits, k.Trials, k.Chance, k.Log10P)
		}
		if to == "put(id)" && (k.Exact || !k.AtLeast || k.Chance > 0.02) {
			t.Errorf("the chance of %d different ids is %v, exact %v", n, k.Chance, k.Exact)
		}
	}
	for _, k := range set.Accepted(dataflow.Slot{Side: dataflow.Input, Tool: set.Links[0].To.Tool, Path: "$.note"}) {
		t.Errorf("a note is taken for %q from %v", k.Template, k.From)
	}
	for _, p := range set.Params {
		if p.Param.String() == "put(title)" && p.Shares[0].Count < n-2 {
			t.Errorf("%d of %d titles are attributed, %d found no room", p.Shares[0].Count, n, p.Unattributed)
		}
	}
}
