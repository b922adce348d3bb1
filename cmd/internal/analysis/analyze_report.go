package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/entropy"
	"github.com/awo-dev/awo/internal/report"
)

// analysisDocument puts the findings into words and tables for a reader who has
// not read the papers.
func analysisDocument(in *cli.Intake, f *findings, o analyzeOptions) *report.Document {
	d := &report.Document{Title: "How predictable are the calls?", Answer: f.answer(), Lines: report.ScreenLines, Figures: f.figures(in)}
	d.Add(in.Summary())
	none := in.Tally.Calls == 0
	if in.Summaries() > 0 {
		d.Note("tables.findings", storedNote)
	}
	if !none {
		in.Findings.Section(d, cli.FindingsShown)
	}
	d.Add(followTable(f))
	d.Details()
	d.Section("All findings", in.Findings.Table())
	d.Section("How predictable is the next call?", report.Paragraph(f.analysis.Verdict.Sentence), orderTable(f))
	one := f.analysis.Distinct < 2 // tool, so that there is nothing to predict
	d.Section("Does one more call of memory help?", unless(one, testTable("tests", f.analysis.Tests, o)))
	d.Section("What follows what", unless(one || o.Order == 0, successorTable(f, o)), unless(one, topTable(f)))
	d.Section("Tools", toolTable(f))
	d.Section("Turns", f.decisions.table())
	d.Section("Whole trajectories", unless(none, variantTable(in, f)))
	d.Add(convergenceTables(f)...)
	if f.sources != nil {
		d.Section("Where arguments come from", sourceTables(f.sources, o)...)
	}
	if len(f.groups) > 0 {
		d.Section("Groups by "+o.By, groupTable(f), testTable("tests_within_groups", f.within, o), shiftTable(f))
	}
	return d
}

// unless returns a table, which texts do not have where that is so.
func unless(is bool, t *report.Table) *report.Table {
	if is {
		return t.Hidden()
	}
	return t
}

func orderTable(f *findings) *report.Table {
	table := report.TableOf("orders", "Conditional entropy of the next tool given the last k calls, bits", f.orders(), []report.Column{
		{Key: "k"},
		{Key: "held_out_bits", Title: "on unseen tasks", Digits: 2},
		{Key: "bits", Title: "plug-in", Digits: 2},
		{Key: "miller_madow_bits", Title: "Miller-Madow", Digits: 2},
		{Key: "n", Title: "calls"},
		{Key: "contexts"},
		{Key: "singletons", Title: "seen once"},
	})
	table.Note("0 bits: the next tool is certain. %.2f bits (log2 of %s): any tool is as likely. Each bit less halves the choice.",
		f.analysis.HMax.Float(), cli.CountOf(f.analysis.Distinct, "tool"))
	if h := f.analysis.HeldOut; h != nil && h.N > 0 {
		table.Note("The figure to trust is the first: the mean loss on tasks that the predictor has not seen (interpolated Kneser-Ney, %s in %d folds; interval by bootstrap over tasks).", cli.CountOf(h.Tasks, "task"), h.Folds)
	}
	table.Note("The plug-in falls towards 0 when contexts are seen once, whether there are habits or not.")
	for k, order := range f.analysis.Orders {
		if order.BiasDominated {
			table.Note("From k = %d on the plug-in and its Miller-Madow correction are dominated by bias: more than one in twenty of their windows was seen once.", k)
			break
		}
	}
	for _, order := range f.analysis.Orders {
		for _, w := range order.Warnings {
			if w.Code != entropy.WarnBias {
				table.Note("k = %d: %s.", order.K, strings.TrimSuffix(w.Msg, "."))
			}
		}
	}
	if h := f.analysis.HeldOut; h != nil {
		for _, w := range h.Warnings {
			table.Note("Unseen tasks: %s.", strings.TrimSuffix(w.Msg, "."))
		}
	}
	return table
}

func testTable(id string, tests []entropy.Test, o analyzeOptions) *report.Table {
	title := ""
	if id != "tests" {
		title = "The same tests within groups, which differences between them cannot make reject"
	}
	g2 := "g2"
	if o.Preset == "autotool" {
		g2 = "g2_paper"
	}
	table := report.TableOf(id, title, tests, []report.Column{
		{Key: "orders", Cell: report.By(func(t *entropy.Test) report.Cell { return report.Textf("%d against %d", t.From, t.To) })},
		{Key: "effect", Title: "uncertainty removed", Unit: "%"},
		{Key: "g2", From: g2, Title: "G2", Digits: 1},
		{Key: "df"},
		{Key: "log10_p", Title: "log10 p", Digits: 1},
		{Key: "monte_carlo_p", Title: "Monte Carlo p", Align: report.Right, Cell: report.By(func(t *entropy.Test) report.Cell {
			switch {
			case t.N == 0 || t.DF <= 0:
				return report.Missing("there is nothing to exchange")
			case t.MonteCarlo != nil:
				return report.Float(t.MonteCarlo.P, 3)
			case o.Permutations == 0:
				return report.Missing("--permutations 0")
			}
			return report.Missing("the chi-square test is reliable here")
		})},
		{Key: "n", Title: "calls"},
	})
	if len(tests) == 0 {
		return table.IfAny()
	}
	table.Note("G2 compares a chain of one order with the next on the same windows; the null hypothesis is that the older call does not matter. df by the convention %q; JSON has all three.", string(tests[0].Convention))
	table.Note("A small p shows memory, or a mixture of kinds of task: test within groups (--by) to tell them apart.")
	if sparse(tests) {
		table.Note("Where cells expect fewer than 5 calls the chi-square p is unreliable and the Monte Carlo p (successors exchanged within contexts, %s) takes its place.", cli.CountOf(o.Permutations, "sample"))
	}
	for _, t := range tests {
		for _, w := range t.Warnings {
			if w.Code == entropy.WarnDifferentSample || w.Code == entropy.WarnShortened || w.Code == entropy.WarnNoWindows {
				table.Note("%d against %d: %s.", t.From, t.To, strings.TrimSuffix(w.Msg, "."))
			}
		}
	}
	return table
}

func sparse(tests []entropy.Test) bool {
	for _, t := range tests {
		for _, w := range t.Warnings {
			if w.Code == entropy.WarnSmallExpected {
				return true
			}
		}
	}
	return false
}

func successorTable(f *findings, o analyzeOptions) *report.Table {
	table := report.TableOf("successors", "", f.successors(), []report.Column{
		{Key: "context", Title: "after", Max: 70, Join: " → "},
		{Key: "n", Title: "times"},
		{Key: "tool", Title: "comes", Max: 40},
		{Key: "count", Title: "times"},
		{Key: "share", Unit: "%"},
	})
	table.Note("Counted on these traces; intervals are bootstraps over tasks.%s", shownText(o))
	return table
}

// shownText says what part of the contexts is listed.
func shownText(o analyzeOptions) string {
	switch {
	case o.Contexts > 0 && o.Top > 0:
		return fmt.Sprintf(" The %d commonest contexts of each length, their %d commonest successors (--contexts, --top).", o.Contexts, o.Top)
	case o.Contexts > 0:
		return fmt.Sprintf(" The %d commonest contexts of each length (--contexts).", o.Contexts)
	case o.Top > 0:
		return fmt.Sprintf(" Of each context the %d commonest successors (--top).", o.Top)
	}
	return ""
}

func topTable(f *findings) *report.Table {
	var rows []topShares
	for i, shares := range f.topShares {
		rows = append(rows, topShares{K: i + 1, Shares: shares})
	}
	columns := []report.Column{{Key: "k", Title: "calls known"}}
	for _, m := range []int{1, 2, 3, 5} {
		columns = append(columns, report.Column{Key: fmt.Sprintf("top_%d", m), Title: fmt.Sprintf("top %d", m), Unit: "%", Align: report.Right, Cell: report.By(func(t *topShares) report.Cell {
			if len(t.Shares) == 0 {
				return report.Missing("no trajectory is long enough")
			}
			return report.Share(t.Shares[min(m, len(t.Shares))-1].Share, 0)
		})})
	}
	table := report.TableOf("top_shares", "How often the next tool is among the m commonest successors", rows, columns).IfAny()
	table.Note("In sample: long contexts that were seen once are always right here, and never again.")
	return table
}

// variantsShown is how many variants the text lists.
const variantsShown = 8

func variantTable(in *cli.Intake, f *findings) *report.Table {
	calling := in.Tally.Trajectories - in.Tally.Empty
	table := report.TableOf("variants", "The commonest sequences of tools", f.commonest(calling), []report.Column{
		{Key: "trajectories"},
		{Key: "share", Unit: "%"},
		{Key: "calls", Align: report.Right, Cell: report.By(func(v *variant) report.Cell { return report.Int(len(v.Tools)) })},
		{Key: "tools", Title: "sequence", Max: 76, Wrap: true, Cell: report.By(func(v *variant) report.Cell { return report.Name(sequenceText(v.Tools)) })},
	})
	table.Most = variantsShown
	once := 0
	for _, v := range f.variants {
		if v.Trajectories == 1 {
			once++
		}
	}
	table.Note("%s with calls: %s, of which %s occur once.", cli.CountOf(calling, "trajectory"), cli.CountOf(len(f.variants), "different sequence"), report.Grouped(once))
	if len(f.steps) > 0 {
		s := f.steps[0]
		text := fmt.Sprintf("%.0f %% of them begin with the same call", 100*s.Share)
		if len(f.steps) > 2 {
			text += fmt.Sprintf(", %.0f %% with the same 2, %.0f %% with the same 3", 100*f.steps[1].Share, 100*f.steps[2].Share)
		}
		table.Note("%s (by tool name).", text)
	}
	return table
}

// sequenceText shortens a sequence: runs of one tool as tool ×n, and the middle
// of long ones left out.
func sequenceText(names []string) string {
	var parts []string
	for i := 0; i < len(names); {
		n := 1
		for i+n < len(names) && names[i+n] == names[i] {
			n++
		}
		part := names[i]
		if n > 1 {
			part += fmt.Sprintf(" ×%d", n)
		}
		parts = append(parts, part)
		i += n
	}
	const most = 8
	if len(parts) > most {
		parts = append(append(parts[:most-1:most-1], "…"), parts[len(parts)-1])
	}
	return strings.Join(parts, " → ")
}

func groupTable(f *findings) *report.Table {
	table := report.TableOf("groups", "", f.groups, []report.Column{
		{Key: "group", Max: 50},
		{Key: "trajectories"},
		{Key: "calls"},
		{Key: "h0_bits", Title: "bits, k = 0", Digits: 2},
		{Key: "h1_bits", Title: "bits, k = 1", Digits: 2},
	})
	table.Note("Plug-in entropies, which are lower in smaller groups: compare groups by the tests below.")
	return table
}

func shiftTable(f *findings) *report.Table {
	table := report.TableOf("differences", fmt.Sprintf("Do the others follow other habits than %s?", report.Escape(f.groups[0].Group)), f.shifts, []report.Column{
		{Key: "group", From: "groups.1", Max: 50},
		{Key: "effect_bits", Title: "difference", Unit: "bits a call", Digits: 3},
		{Key: "effect_bias_bits", Title: "of which chance", Digits: 3},
		{Key: "p", Title: "permutation p", Align: report.Right, Cell: report.By(func(s *shift) report.Cell {
			if s.Permutation == nil {
				return report.Missing("groups cannot be exchanged between tasks here")
			}
			return report.Float(s.Permutation.P, 3)
		})},
		{Key: "n", From: "n.1", Title: "calls"},
	})
	table.Note("What knowing the group tells about the next call, given the last one. The p exchanges groups between whole tasks, because calls of one task are not independent.")
	return table
}

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
		return fmt.Sprintf("The agents follow no habit that carries over to other tasks: the next call stays as uncertain as a choice among %s.", choices(from))
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
	if to < decidedBits {
		return fmt.Sprintf("The agents are %s: knowing %s all but decides the next one, which is else a choice among %s, on tasks not seen before.", grade, known, choices(from))
	}
	return fmt.Sprintf("The agents are %s: knowing %s, the next one is as uncertain as a choice among %s (%s without), on unseen tasks.", grade, known, choices(to), choices(from))
}

// decidedBits is how many bits leave nothing to choose: with a decimal there is one tool.
const decidedBits = 0.07

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
