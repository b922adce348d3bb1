package cost

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/yamlsrc"
)

// The codes of problems with a price table.
const (
	CodePriceShape   = "price-shape"   // something is not what the table wants there
	CodePriceField   = "price-field"   // a field that there is not
	CodePriceMissing = "price-missing" // a field that has to be there
	CodePriceValue   = "price-value"   // a price, day or pattern that cannot be one
)

// maxPrice is the highest price in US dollars for a million tokens that is
// believed: above it a unit was mistaken.
const maxPrice = 1e5

// ParseTable reads a price table in YAML or JSON: `version: 1` and a list
// `prices`, whose entries have `models` (a glob or a list), `input`, `output`, and
// may have `cached_input`, `cache_write`, `cache_write_1h`, `from`, `until`, `source`, `as_of`. The
// error is a diag.List of every mistake, sorted by position; file is only a name.
func ParseTable(file string, src []byte) (*Table, error) {
	doc, problems := yamlsrc.Parse(file, src, yamlsrc.Options{})
	p := priceParser{problems: problems}
	t := &Table{}
	switch root := doc.Root; {
	case root == nil && len(problems) == 0:
		p.report(diag.Pos{File: file, Line: 1, Col: 1}, CodePriceMissing, "the file is empty: a price table begins with `version: 1`")
	case root == nil:
	default:
		t.Prices = p.table(root)
	}
	p.problems.Sort()
	if err := p.problems.Errors().Err(); err != nil {
		return nil, err
	}
	return t, nil
}

type priceParser struct{ problems diag.List }

func (p *priceParser) report(pos diag.Pos, code, format string, args ...any) {
	p.problems = append(p.problems, diag.New(pos, code, format, args...))
}

// fields checks that n is a mapping of known fields.
func (p *priceParser) fields(n *yamlsrc.Node, what string, known ...string) bool {
	if n.Kind != yamlsrc.Mapping {
		if !n.Bad {
			p.report(n.Pos, CodePriceShape, "%s is a mapping, this is %s", what, n.Kind)
		}
		return false
	}
	for _, e := range n.Entries {
		if slices.Contains(known, e.Key.Text) || e.Key.Bad {
			continue
		}
		problem := diag.New(e.Key.Pos, CodePriceField, "%s has no such field", what)
		if near := diag.Nearest(e.Key.Text, known); near != "" {
			problem.Note(diag.Pos{}, "did you mean %q?", near)
		}
		p.problems = append(p.problems, problem)
	}
	return true
}

func (p *priceParser) table(root *yamlsrc.Node) []*Price {
	if !p.fields(root, "a price table", "version", "prices") {
		return nil
	}
	if v := root.Lookup("version"); v == nil {
		p.report(root.Pos, CodePriceMissing, "a price table begins with `version: 1`")
	} else if n, ok := v.Int(); !ok || n != 1 {
		p.report(v.Pos, CodePriceValue, "the version of price tables is 1")
	}
	list := root.Lookup("prices")
	if list == nil {
		p.report(root.Pos, CodePriceMissing, "a price table has a list `prices`")
		return nil
	}
	if list.Kind != yamlsrc.Sequence {
		p.report(list.Pos, CodePriceShape, "`prices` is a list, this is %s", list.Kind)
		return nil
	}
	var out []*Price
	for _, e := range list.Entries {
		if price := p.price(e.Value); price != nil {
			out = append(out, price)
		}
	}
	return out
}

func (p *priceParser) price(n *yamlsrc.Node) *Price {
	if !p.fields(n, "a price", "models", "from", "until", "input", "cached_input", "cache_write", "cache_write_1h", "output", "source", "as_of") {
		return nil
	}
	price := &Price{
		Pos: n.Pos, Models: p.models(n),
		From: p.day(n, "from"), Until: p.day(n, "until"), AsOf: p.day(n, "as_of"),
	}
	price.Input, _ = p.amount(n, "input", true)
	price.Output, _ = p.amount(n, "output", true)
	price.Cached, price.HasCached = p.amount(n, "cached_input", false)
	price.Write, _ = p.amount(n, "cache_write", false)
	price.Hour, _ = p.amount(n, "cache_write_1h", false)
	if s := n.Lookup("source"); s != nil && s.Kind == yamlsrc.Scalar {
		price.Source = s.Text
	}
	if !price.Until.IsZero() && !price.From.Before(price.Until) {
		p.report(n.Lookup("until").Pos, CodePriceValue, "`until` is the first day on which the price no longer holds, so it comes after `from`")
	}
	return price
}

func (p *priceParser) models(n *yamlsrc.Node) []string {
	v := n.Lookup("models")
	if v == nil {
		p.report(n.Pos, CodePriceMissing, "a price says for which `models` it is")
		return nil
	}
	nodes := []*yamlsrc.Node{v}
	if v.Kind == yamlsrc.Sequence {
		nodes = nodes[:0]
		for _, e := range v.Entries {
			nodes = append(nodes, e.Value)
		}
	}
	var out []string
	for _, m := range nodes {
		if m.Kind != yamlsrc.Scalar || strings.TrimSpace(m.Text) == "" {
			p.report(m.Pos, CodePriceValue, "`models` is a name or a list of names, * stands for any characters")
			continue
		}
		out = append(out, m.Text)
	}
	if len(nodes) == 0 {
		p.report(v.Pos, CodePriceMissing, "a price says for which `models` it is")
	}
	return out
}

func (p *priceParser) amount(n *yamlsrc.Node, field string, required bool) (float64, bool) {
	v := n.Lookup(field)
	if v == nil {
		if required {
			p.report(n.Pos, CodePriceMissing, "a price has `%s`, in US dollars for a million tokens", field)
		}
		return 0, false
	}
	f, ok := v.Float()
	if !ok || math.IsNaN(f) || f < 0 || f > maxPrice {
		p.report(v.Pos, CodePriceValue, "`%s` is US dollars for a million tokens: a number from 0 to 100000", field)
		return 0, false
	}
	return f, true
}

func (p *priceParser) day(n *yamlsrc.Node, field string) time.Time {
	v := n.Lookup(field)
	if v == nil {
		return time.Time{}
	}
	at, err := time.Parse(time.DateOnly, v.Text)
	if v.Kind != yamlsrc.Scalar || err != nil || at.Year() < 1970 {
		p.report(v.Pos, CodePriceValue, "`%s` is a day such as 2026-03-01", field)
		return time.Time{}
	}
	return at
}
