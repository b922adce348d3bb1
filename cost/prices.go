package cost

import (
	_ "embed"
	"strings"
	"sync"
	"time"

	"github.com/awo-dev/awo/diag"
)

// Price is what the tokens of some models cost, in US dollars for a million.
type Price struct {
	Models []string // globs, * any run of characters; matched without case

	// From and Until bound the days on which the price holds, Until not included;
	// zero where it is open.
	From, Until time.Time

	Input  float64
	Cached float64 // read from a cache; that of Input where HasCached is false
	Write  float64 // written to a cache; 0 where that costs what Input does
	Hour   float64 // written to a cache for an hour; 0: twice the input where Write is known
	Output float64

	HasCached bool
	Source    string    // where the price was read
	AsOf      time.Time // when it was
	Pos       diag.Pos  // of the entry
}

// USD returns the price of tokens: fresh ones are neither read from a cache nor
// written to it.
func (p *Price) USD(fresh, cached, write, output int64) float64 {
	c, w := p.Input, p.Input
	if p.HasCached {
		c = p.Cached
	}
	if p.Write > 0 {
		w = p.Write
	}
	return (float64(fresh)*p.Input + float64(cached)*c + float64(write)*w + float64(output)*p.Output) / 1e6
}

// Doubt says why the price may be wrong, as its source ends: "third party" if a list
// quotes the provider, "not verified" if it is from memory, else "".
func (p *Price) Doubt() string {
	for _, doubt := range Doubts {
		if strings.HasSuffix(p.Source, "("+doubt+")") {
			return doubt
		}
	}
	return ""
}

// ThirdParty is the doubt about a price that a list quotes from the provider.
const ThirdParty = "third party"

// Doubts are what Price.Doubt may say.
var Doubts = []string{ThirdParty, "not verified"}

// forAnHour returns what tokens written to a cache cost beyond that because they are kept
// for an hour. Of Anthropic's models a write for five minutes is 1.25
// times the input, and one for an hour twice it.
func (p *Price) forAnHour(tokens float64) float64 {
	hour := p.Hour
	if hour == 0 {
		hour = 2 * p.Input
	}
	if p.Write == 0 || tokens <= 0 {
		return 0
	}
	return tokens * (hour - p.Write) / 1e6
}

// Table is prices in the order in which they are looked up.
type Table struct {
	Prices []*Price
}

//go:embed prices.yaml
var builtin []byte

// Default returns the table that awo brings along: list prices of the public
// price pages, each with its source and the day it was read for. Contracts,
// batches, regions and tiers of long contexts are not in it.
var Default = sync.OnceValue(func() *Table {
	t, err := ParseTable("prices.yaml", builtin)
	if err != nil {
		panic("cost: the embedded prices: " + err.Error())
	}
	return t
})

// With returns a table in which the prices of t stand before those of o.
func (t *Table) With(o *Table) *Table {
	return &Table{Prices: append(append([]*Price{}, t.Prices...), o.Prices...)}
}

// Lookup returns the price of a model on a day, nil if there is none. The first
// entry counts that names the model and holds on the day; where the day is not
// known, the first that names it and is not closed, else the first that names it.
// A model is looked up as it is recorded and then without what stands before its
// last slash, where gateways put the provider ("azure/gpt-4o"). A price for "*" covers a
// model that is not recorded, too.
func (t *Table) Lookup(model string, at time.Time) *Price {
	model = strings.ToLower(model)
	if p := t.named(model, at); p != nil {
		return p
	}
	if i := strings.LastIndexByte(model, '/'); i >= 0 {
		return t.named(model[i+1:], at)
	}
	return nil
}

func (t *Table) named(model string, at time.Time) *Price {
	var closed *Price
	for _, p := range t.Prices {
		if !p.matches(model) {
			continue
		}
		switch {
		case at.IsZero() && p.Until.IsZero():
			return p
		case at.IsZero():
			if closed == nil {
				closed = p
			}
		case !at.Before(p.From) && (p.Until.IsZero() || at.Before(p.Until)):
			return p
		}
	}
	return closed
}

func (p *Price) matches(model string) bool {
	for _, glob := range p.Models {
		if matchGlob(strings.ToLower(glob), model) {
			return true
		}
	}
	return false
}

// matchGlob reports whether s is what the pattern says, * being any run of
// characters. It takes time in proportion to the product of the lengths.
func matchGlob(pattern, s string) bool {
	star, mark := -1, 0
	p, i := 0, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && pattern[p] == s[i]:
			p, i = p+1, i+1
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}
