package dataflow_test

import (
	"fmt"
	"testing"

	"github.com/awo-dev/awo/internal/dataflow"
)

func TestPooledParameters(t *testing.T) {
	// Six users; every tool takes the token of the login, but `close` was only
	// ever used by two of them, and `count` by one: its names speak for it.
	scripts := []*script{}
	for i := range 48 {
		user := i % 6
		token := fmt.Sprintf(`{"token":"t0k3n-%d"}`, user)
		s := run("r").call("login", `{}`, token).call("open", token, ``)
		if user < 2 {
			s.call("close", token, ``)
		}
		if user == 5 {
			s.call("count", token, ``)
		}
		scripts = append(scripts, s)
	}
	set := corpus(scripts...)
	for to, want := range map[string]dataflow.Verdict{"open(token)": dataflow.Accepted, "close(token)": dataflow.Accepted, "count(token)": dataflow.Accepted} {
		k := link(t, set, "login.token", to)
		if k.Verdict != want || k.Pooled != (to != "open(token)") {
			t.Errorf("%s: %s, pooled %v, log10 p %.2f", to, k.Verdict, k.Pooled, k.Log10P)
		}
	}
}

func TestPoolNeedsValues(t *testing.T) {
	// Equal constants under one name in several tools prove nothing together.
	scripts := many(60, func(i int) *script {
		minutes := fmt.Sprintf(`{"minutes":%d}`, []int{30, 45}[i%2])
		return run("r").call("invoices", `{}`, `{"net_days":30}`).call("book", minutes, ``).call("block", minutes, ``)
	})
	for i, k := range corpus(scripts...).Links {
		if k.Verdict == dataflow.Accepted && k.From.Side == dataflow.Output {
			t.Errorf("link %d: %v from %v is accepted", i, k.To, k.From)
		}
	}
}

// pages is a search whose second page is asked for in two trajectories of six.
// Without that there may be a third call of the tool that asks for none.
func pages(tool string, i int, said, page string) *script {
	s := run("r").call(tool, fmt.Sprintf(`{"query":"q%d"}`, i), fmt.Sprintf(`{"rows":["r%d"],"%s":%s}`, i, said, page))
	if i%3 == 0 {
		s.call(tool, fmt.Sprintf(`{"query":"q%d","page":2}`, i), fmt.Sprintf(`{"rows":["s%d"],"%s":null}`, i, said))
	}
	return s
}

func TestPresence(t *testing.T) {
	// The parameter has one value, but only where the result tells of it.
	told := many(30, func(i int) *script {
		page := "null"
		if i%3 == 0 {
			page = "2"
		}
		return pages("search", i, "more", page)
	})
	if k := link(t, corpus(told...), "search.more", "search(page)"); k.Verdict != dataflow.Accepted || !k.Present || k.Chance > 0.5 {
		t.Errorf("%s, present %v, chance %.3f, log10 p %.2f", k.Verdict, k.Present, k.Chance, k.Log10P)
	}
	// The result always says 2: it tells nothing.
	always := many(30, func(i int) *script { return pages("search", i, "more", "2") })
	if k := link(t, corpus(always...), "search.more", "search(page)"); k.Verdict != dataflow.Constant || k.Present {
		t.Errorf("%s, present %v, log10 p %.2f", k.Verdict, k.Present, k.Log10P)
	}
	// Half of the uses are where the result said nothing.
	half := many(60, func(i int) *script {
		page := "null"
		if i%6 == 0 {
			page = "2"
		}
		return pages("search", i, "more", page)
	})
	if k := link(t, corpus(half...), "search.more", "search(page)"); k.Verdict == dataflow.Accepted {
		t.Errorf("accepted, present %v, rate %.2f", k.Present, k.Rate)
	}
}

func TestNamesOfOtherTools(t *testing.T) {
	// Every list has two pages, so that nothing but its names tells that the next
	// one is meant; those of the search prove it.
	both := func(said string) []*script {
		return many(60, func(i int) *script {
			if i%2 == 0 {
				s := run("r").call("list", `{}`, fmt.Sprintf(`{"rows":["r%d"],"%s":2}`, i, said))
				return s.call("list", `{"page":2}`, fmt.Sprintf(`{"rows":["s%d"],"%s":null}`, i, said))
			}
			page := "null"
			if i%3 == 0 {
				page = "2"
			}
			return pages("search", i, "next_page", page)
		})
	}
	if k := link(t, corpus(both("next_page")...), "list.next_page", "list(page)"); k.Verdict != dataflow.Accepted || !k.Pooled {
		t.Errorf("%s, pooled %v", k.Verdict, k.Pooled)
	}
	if k := link(t, corpus(both("columns")...), "list.columns", "list(page)"); k.Verdict != dataflow.Constant {
		t.Errorf("columns are taken for a page: %s", k.Verdict)
	}
}

func TestNamesAreRefusedByTheCorpus(t *testing.T) {
	// Two of three links with one name on both sides are coincidence, so the name
	// says nothing for a fourth that has two values only.
	scripts := many(40, func(i int) *script {
		s := run("r").call("see", `{}`, fmt.Sprintf(`{"size":%d,"level":%d,"shade":%d}`, 100+dice(i, 4), 200+dice(i+70, 4), 300+i/20))
		return s.call("set", fmt.Sprintf(`{"size":%d,"level":%d,"shade":%d}`, 100+dice(3*i+1, 4), 200+dice(5*i+2, 4), 300+i/20), ``)
	})
	set := corpus(scripts...)
	for _, name := range []string{"size", "level", "shade"} {
		if k := link(t, set, "see."+name, "set("+name+")"); k.Verdict == dataflow.Accepted {
			t.Errorf("%s: accepted, pooled %v, log10 p %.2f", name, k.Pooled, k.Log10P)
		}
	}
}

func TestNamesInTexts(t *testing.T) {
	// Two values are few, but the task says what they are; the folder of the other
	// tool shows that this is how tasks speak.
	scripts := many(24, func(i int) *script {
		minutes := 30 + 15*(i/12)
		s := run("r").user(fmt.Sprintf("A %d minute meeting, with notes in the folder box%d, at %d degrees", minutes, i%8, 20+i/12))
		return s.call("meet", fmt.Sprintf(`{"minutes":%d,"heat":%d}`, minutes, 20+i/12), ``).call("file", fmt.Sprintf(`{"folder":"box%d"}`, i%8), ``)
	})
	set := corpus(scripts...)
	if k := link(t, set, "task", "meet(minutes)"); k.Verdict != dataflow.Accepted || !k.Pooled {
		t.Errorf("minutes: %s, pooled %v, log10 p %.2f, around %q %q", k.Verdict, k.Pooled, k.Log10P, k.Before, k.After)
	}
	if k := link(t, set, "task", "meet(heat)"); k.Verdict != dataflow.FewValues {
		t.Errorf("heat: %s, pooled %v", k.Verdict, k.Pooled)
	}
}
