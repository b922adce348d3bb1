package cost_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/awo-dev/awo/cost"
)

func TestDefaultPrices(t *testing.T) {
	for i, p := range cost.Default().Prices {
		switch {
		case !strings.HasPrefix(p.Source, "https://") || p.AsOf.IsZero():
			t.Errorf("entry %d (%v) has no source or no day", i, p.Models)
		case p.Input <= 0 || p.Output < p.Input:
			t.Errorf("entry %d (%v): %v for input and %v for output", i, p.Models, p.Input, p.Output)
		case p.HasCached && p.Cached >= p.Input:
			t.Errorf("entry %d (%v): cached input costs %v, input %v", i, p.Models, p.Cached, p.Input)
		case p.Write > 0 && p.Write <= p.Input:
			t.Errorf("entry %d (%v): a cache write costs %v, input %v", i, p.Models, p.Write, p.Input)
		}
	}
}

func TestLookup(t *testing.T) {
	day := func(s string) time.Time {
		at, err := time.Parse(time.DateOnly, s)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	table := cost.Default()
	for _, test := range []struct {
		model string
		at    time.Time
		input float64 // 0: no price
	}{
		{"gpt-4o-2024-05-13", time.Time{}, 5},
		{"gpt-4o-2024-11-20", time.Time{}, 2.5},
		{"azure/gpt-4o-2024-11-20", day("2025-12-02"), 2.5},
		{"GPT-4o-Mini", time.Time{}, 0.15},
		{"gpt-4.1-mini-2025-04-14", time.Time{}, 0.4},
		{"o3", day("2025-06-09"), 10},
		{"o3", day("2025-06-10"), 2},
		{"o3", time.Time{}, 2},
		{"claude-sonnet-4-5-20250929", time.Time{}, 3},
		{"claude-opus-4-5-20251101", time.Time{}, 5},
		{"claude-opus-4-20250514", time.Time{}, 15},
		{"gemini-2.5-flash", day("2025-05-01"), 0},
		{"openai/gpt-oss-120b", time.Time{}, 0},
		{"gpt-4o-audio-preview", time.Time{}, 0},
		{"", time.Time{}, 0},
		{"///", time.Time{}, 0},
	} {
		p := table.Lookup(test.model, test.at)
		switch {
		case p == nil && test.input != 0:
			t.Errorf("%q has no price", test.model)
		case p != nil && p.Input != test.input:
			t.Errorf("%q costs %v, want %v", test.model, p.Input, test.input)
		}
	}
	own, err := cost.ParseTable("own.yaml", []byte("version: 1\nprices:\n  - {models: 'gpt-*-2024-*', input: 7, output: 8}\n"))
	if err != nil {
		t.Fatal(err)
	}
	if p := own.With(table).Lookup("gpt-4o-2024-11-20", time.Time{}); p == nil || p.Input != 7 || p.HasCached {
		t.Errorf("a table of one's own goes first: %+v", p)
	}
	if p := own.With(table).Lookup("gpt-4o", time.Time{}); p == nil || p.Input != 2.5 {
		t.Errorf("and the other after it: %+v", p)
	}
}

// TestParseTable: one run says everything that is wrong, where it is.
func TestParseTable(t *testing.T) {
	const src = `version: 2
price: []
prices:
  - models: []
    input: -1
    output: lots
  - modles: a
    input: 1
    output: 2
    until: 2026-13-01
  - models: a
    from: 2026-02-01
    until: 2026-01-01
    input: 1
    output: 1e9
  - just text
`
	_, err := cost.ParseTable("p.yaml", []byte(src))
	want := `p.yaml:1:10: price-value: the version of price tables is 1
p.yaml:2:1: price-field: a price table has no such field
p.yaml:4:13: price-missing: a price says for which ` + "`models`" + ` it is
p.yaml:5:12: price-value: ` + "`input`" + ` is US dollars for a million tokens: a number from 0 to 100000
p.yaml:6:13: price-value: ` + "`output`" + ` is US dollars for a million tokens: a number from 0 to 100000
p.yaml:7:5: price-field: a price has no such field
p.yaml:7:5: price-missing: a price says for which ` + "`models`" + ` it is
p.yaml:10:12: price-value: ` + "`until`" + ` is a day such as 2026-03-01
p.yaml:13:12: price-value: ` + "`until`" + ` is the first day on which the price no longer holds, so it comes after ` + "`from`" + `
p.yaml:15:13: price-value: ` + "`output`" + ` is US dollars for a million tokens: a number from 0 to 100000
p.yaml:16:5: price-shape: a price is a mapping, this is a text`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
	for _, src := range []string{"", "[]", "version: 1", "version: 1\nprices: {}", "version: 1\nprices:\n  - {models: [{}], input: 1, output: 1}"} {
		if _, err := cost.ParseTable("p.yaml", []byte(src)); err == nil {
			t.Errorf("%q is no price table", src)
		}
	}
}

func FuzzParseTable(f *testing.F) {
	for _, s := range []string{
		"version: 1\nprices:\n  - {models: 'gpt-*', input: 7, output: 8, cached_input: .5, cache_write: 9}\n",
		"version: 1\nprices:\n  - models: [a, \"b*c*\"]\n    from: 2025-01-01\n    until: 2026-01-01\n    input: 1\n    output: 2\n    source: x\n    as_of: 2025-01-01\n",
		`{"version":1,"prices":[{"models":"a","input":1,"output":2}]}`,
		"version: &a 1\nprices: [*a, {models: *a}]", "- ", "prices:", "version: 1\nprices:\n  - {input: .nan, output: .inf, models: ''}",
	} {
		f.Add([]byte(s), "a*b")
	}
	f.Fuzz(func(t *testing.T, src []byte, model string) {
		table, err := cost.ParseTable("p.yaml", src)
		if (table == nil) != (err != nil) {
			t.Fatalf("table %v, error %v", table, err)
		}
		if err != nil {
			return
		}
		for _, at := range []time.Time{{}, time.Unix(1e9, 0)} {
			if p := table.Lookup(model, at); p != nil {
				if usd := p.USD(1e6, 1e6, 1e6, 1e6); !(usd >= 0 && usd <= 4e5) {
					t.Fatalf("four million tokens for %v USD", usd)
				}
			}
		}
	})
}

// TestSources: a price that awo brings along was read at its provider, or says that it
// was not.
func TestSources(t *testing.T) {
	text, err := os.ReadFile("prices.yaml")
	if err != nil {
		t.Fatal(err)
	}
	sources := regexp.MustCompile(`(?m)^\s+source: "?([^"\n]+)"?$`).FindAllStringSubmatch(string(text), -1)
	if len(sources) < 20 {
		t.Fatalf("%d sources", len(sources))
	}
	primary := regexp.MustCompile(`^https://(platform\.claude\.com|www\.anthropic\.com|openai\.com|platform\.openai\.com|ai\.google\.dev|cloud\.google\.com)/`)
	for _, s := range sources {
		if !primary.MatchString(s[1]) && !strings.HasSuffix(s[1], "(third party)") {
			t.Errorf("%s is no page of a provider, and does not say so", s[1])
		}
	}
}
