package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/findings"
	"github.com/awo-dev/awo/internal/report"
)

// addPrices adds the flags that say what tokens cost.
func addPrices(f *pflag.FlagSet) {
	f.String("prices", "", "price table in this YAML `FILE`; it goes before the prices that awo brings along")
	f.Var(NewChoice("auto", "recorded", "on", "off"), "caching", "which input is read from a prompt cache: what is recorded; on: all that the turn before sent; off: none; auto: what is recorded, and a recommendation weighs as if a cache that is off or broken were on")
}

// priceTable returns the prices that awo brings along, behind those of --prices if it is
// given.
func (j *Job) priceTable() (*cost.Table, error) {
	file := j.Prices
	if file == "" {
		return cost.Default(), nil
	}
	src, err := j.ReadAs("prices", file)
	if err != nil {
		return nil, diag.List{FileProblem(file, err)}
	}
	own, err := cost.ParseTable(file, src)
	if err != nil {
		return nil, err
	}
	return own.With(cost.Default()), nil
}

// Meter returns a Meter with the prices and the caching asked for.
func (j *Job) Meter() *cost.Meter {
	return j.meter(map[string]cost.Caching{"recorded": cost.CachingRecorded, "on": cost.CachingOn, "off": cost.CachingOff}[j.Caching])
}

func (j *Job) meter(caching cost.Caching) *cost.Meter {
	m := cost.NewMeter(cost.Options{Prices: j.Listed, Caching: caching})
	j.meters = append(j.meters, m)
	return m
}

// Weighing returns the Meter that a recommendation weighs ways by, and whether it takes
// prompt caching for fixed: where it is found to be off or broken, and nobody asked for what
// was recorded, what a way saves is what it saves once that is done.
func (j *Job) Weighing(meter *cost.Meter, found []findings.Finding) (by *cost.Meter, isFixed bool) {
	if !j.cachingOpen || !slices.ContainsFunc(found, func(f findings.Finding) bool { return f.Code == findings.NoCache || f.Code == findings.BrokenCache }) {
		return meter, false
	}
	return j.meter(cost.CachingOn), true
}

// MarkPrices says in a document that shows money which of the prices were not read at the
// provider, behind the answer, and returns the sentence; "" if there is nothing to say. With
// tables alone it goes to the standard error.
func (j *Job) MarkPrices(d *report.Document) string {
	said := j.doubtedPrices(func() bool { return d != nil && d.ShowsMoney() })
	switch {
	case said == "" || strings.HasSuffix(d.Answer, said): // a page of it may have been written before
	case j.Format == report.FormatCSV || j.Format == report.FormatJSONLines:
		j.Say(said)
	case j.Format == report.FormatJSON: // a note says it
	case d.Answer == "":
		d.Sections = slices.Insert(d.Sections, 0, report.Section{Blocks: []report.Block{report.Paragraph(said)}})
	default:
		d.Answer += " " + said
	}
	return said
}

// doubtOf is models whose prices are doubtful for the same reason.
type doubtOf struct {
	kind   string // of cost.Doubts
	models []string
}

// doubts returns what speaks against the prices that were used.
func (j *Job) doubts() (out []doubtOf) {
	for _, kind := range cost.Doubts {
		one := doubtOf{kind: kind}
		for _, m := range j.meters {
			for _, p := range m.Models() {
				if p.Price != nil && p.Price.Doubt() == kind && !slices.Contains(one.models, p.Model) {
					one.models = append(one.models, p.Model)
				}
			}
		}
		if len(one.models) > 0 {
			slices.Sort(one.models)
			out = append(out, one)
		}
	}
	return out
}

// doubtedPrices says it in a sentence, if money is shown, which may take a rendering to find
// out: it is asked only where a price is doubtful.
func (j *Job) doubtedPrices(shown func() bool) string {
	doubts := j.doubts()
	if len(doubts) == 0 || !shown() {
		return ""
	}
	var parts []string
	for _, d := range doubts {
		names := strings.Join(d.models[:min(len(d.models), 3)], ", ")
		if more := len(d.models) - 3; more > 0 {
			names += fmt.Sprintf(" and %d more", more)
		}
		form := "The price of %s is %s."
		switch third, several := d.kind == cost.ThirdParty, len(d.models) > 1; {
		case third && several:
			form = "The prices of %s come from a %s."
		case third:
			form = "The price of %s comes from a %s."
		case several:
			form = "The prices of %s are %s."
		}
		parts = append(parts, fmt.Sprintf(form, report.Escape(names), d.kind))
	}
	return strings.Join(parts, " ")
}
