package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/entropy"
	"github.com/awo-dev/awo/internal/report"
)

// answer says in a plain sentence how habitual the calls are.
func (f *findings) answer() string { return habitWords(&f.analysis) }

// From which share of the bits on that knowing the last calls takes away, on tasks not
// seen before, agents are said to be habitual, or somewhat so.
const (
	isHabitual = 0.35
	isSomewhat = 0.1
)

func habitWords(a *entropy.Analysis) string {
	v := &a.Verdict
	h := a.HeldOut
	switch v.Code {
	case entropy.VerdictEmpty:
		return "There are no calls, so there is nothing to measure."
	case entropy.VerdictOneSymbol:
		return "Every call is of the same tool, so there is nothing to predict."
	case entropy.VerdictInsufficient:
		return "Whether these agents follow habits cannot be said: " + lower(v.Sentence)
	}
	if v.Basis != "held-out" || h == nil || h.N == 0 {
		return "Whether habits carry over to other tasks was not tried: " + lower(v.Sentence)
	}
	from, to := h.Orders[0].Bits.Float(), h.Orders[max(v.Order, 0)].Bits.Float()
	if v.Order <= 0 || from <= 0 {
		return fmt.Sprintf("The agents follow no habit that carries over to other tasks: the next call stays a choice among %s.", choices(from))
	}
	grade := "hardly habitual"
	switch taken := (from - to) / from; {
	case taken >= isHabitual:
		grade = "habitual"
	case taken >= isSomewhat:
		grade = "somewhat habitual"
	}
	known := "the last call"
	if v.Order > 1 {
		known = fmt.Sprintf("the last %d calls", v.Order)
	}
	if to < decided {
		return fmt.Sprintf("The agents are %s: knowing %s all but decides the next one, which is else a choice among %s, on tasks not seen before.", grade, known, choices(from))
	}
	return fmt.Sprintf("The agents are %s: knowing %s, the next one is a choice among %s instead of %s, on tasks not seen before.", grade, known, choices(to), choices(from))
}

// decided is how many bits leave nothing to choose: with a decimal there is one tool.
const decided = 0.07

// choices says among how many equally likely tools a call with so many bits is chosen.
func choices(bits float64) string {
	n := math.Exp2(bits)
	if n < 9.95 {
		return fmt.Sprintf("%.1f tools", n)
	}
	return fmt.Sprintf("%.0f tools", n)
}

func lower(s string) string {
	if len(s) > 1 && s[0] >= 'A' && s[0] <= 'Z' && s[1] >= 'a' && s[1] <= 'z' {
		return string(s[0]+'a'-'A') + s[1:]
	}
	return s
}

// followTable shows the firmest habits: after which call comes which.
func followTable(f *findings) *report.Table {
	type pair struct {
		After string  `json:"after"`
		Comes string  `json:"comes"`
		Share float64 `json:"share"`
		Times uint64  `json:"times"`
		Of    uint64  `json:"of"`
	}
	var pairs []pair
	for _, c := range f.single {
		if len(c.Symbols) == 1 && len(c.Next) > 0 {
			n := c.Next[0].N
			pairs = append(pairs, pair{f.name(c.Symbols[0]), f.name(c.Next[0].Symbol), float64(n) / float64(c.N), n, c.N})
		}
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Or(cmp.Compare(b.Times, a.Times), cmp.Compare(a.After, b.After)) })
	table := report.TableOf("follows", "What follows what most often", pairs, []report.Column{
		{Key: "after", Max: 36},
		{Key: "comes", Max: 36},
		{Key: "share", Unit: "%", Digits: report.Whole},
		{Key: "times"},
		{Key: "of"},
	})
	table.Brief, table.Most = 5, cli.ToolsShown
	return table.IfAny().View()
}
