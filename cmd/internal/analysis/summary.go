package analysis

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/worth"
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/entropy"
	"github.com/awo-dev/awo/entropy/ngram"
	"github.com/awo-dev/awo/internal/deal"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace"
	"github.com/awo-dev/awo/trace/completeness"
)

// NewSummary returns `awo summary`.
func NewSummary(a *cli.App) *cobra.Command {
	c := &cobra.Command{
		Use:   "summary FILES...",
		Short: "Say on one screen what traces are, what they cost and what is wrong",
		Long: `Say on one screen what these traces are, what they cost and on what, how habitual the
agents are, and what is wrong with them: loops, retries, failing tools, reads one by
one that need not wait, turns without a call. Then it says what to type next.

` + "`awo FILES...` without a command does the same." + `

Tokens that the traces do not record are counted from their texts and said to be
estimates. docs/glossary.md explains the words.

` + cli.FilesHelp,
		Example: `  awo summary traces/
  awo traces/
  awo summary traces/ --rules rules.yaml --format json`,
		GroupID: cli.GroupLook,
	}
	cli.Uses(c, cli.UseTraces, cli.UseRules, cli.UsePrices)
	return cli.Work(a, c, summarise)
}

// screen are the figures of `awo summary`.
type screen struct {
	Input  cli.InputJSON `json:"input"`
	Models []string      `json:"models"`
	Days   stat.Figure   `json:"days"` // from the first to the last recorded time
	Bill
	Cost  spent    `json:"cost"`
	Habit habitual `json:"habit"`
}

// Bill is what was paid, in US dollars.
type Bill struct {
	Paid          stat.Figure   `json:"paid_usd"`           // as recorded, else at list prices, turn by turn
	Recorded      stat.Figure   `json:"recorded_usd"`       // of turns that record it
	List          stat.Figure   `json:"list_usd"`           // of turns with a price
	PerTrajectory stat.Figure   `json:"usd_per_trajectory"` // of those with a cost
	PaidRange     stat.Interval `json:"paid_usd_range"`     // 95 %, where some of it is estimated
	TokensRange   stat.Interval `json:"tokens_range"`
}

type spent struct {
	Tokens     int64       `json:"tokens"`
	EachTokens stat.Figure `json:"tokens_per_trajectory"`
	CostUSD    stat.Figure `json:"cost_usd"`
	Estimated  int         `json:"estimated_turns"`
	Unpriced   int         `json:"unpriced_turns"`
	MostSpent  []mostSpent `json:"most_spent"` // what most of it goes on
	InSentence string      `json:"sentence"`
}

// mostSpent is what the turns that call a tool cost of all, in money where prices are
// known and else in tokens.
type mostSpent struct {
	Tool  string  `json:"tool"` // "" for turns without a call
	Share float64 `json:"share"`
}

type habitual struct {
	Order      int         `json:"order"` // -1 where nothing can be said
	Before     stat.Figure `json:"bits_before"`
	After      stat.Figure `json:"bits_after"`
	Choices    stat.Figure `json:"choices_before"` // equally likely tools that these bits choose among
	Left       stat.Figure `json:"choices_after"`
	Tasks      int         `json:"tasks"`
	InSentence string      `json:"sentence"`
}

// summaryOrder is how many calls a summary looks back.
const summaryOrder = 2

func summarise(j *cli.Job, _ struct{}, files []string) error {
	meter := j.Meter()
	in, err := j.Intake(files, trace.Options{Spool: true})
	if err != nil {
		return err
	}
	in.Shell = j.Splitter(j.Set)
	in.Facts, in.Findings = &completeness.Facts{}, j.NewFindings(meter)
	corpus := trace.NewCorpus(trace.CorpusOptions{})
	account, err := worth.Account(j, in, in.All(), meter, worth.CostOptions{}, func(t *trace.Trajectory, _ *cost.Account) { corpus.Add(t) })
	if err != nil {
		return err
	}
	costs := account.Costs(in)
	out := screen{Input: in.JSON(), Days: days(in.Facts), Bill: Bill{costs.PaidUSD, costs.RecordedUSD, costs.ListUSD, costs.PerTrajectory, costs.PaidRange, costs.TokensRange}, Cost: spentOn(costs), Habit: habitOf(j, corpus, j.Seed)}
	for _, m := range in.Facts.Models() {
		if m.Name != "" {
			out.Models = append(out.Models, m.Name)
		}
	}
	d := summaryDocument(in, out, account)
	d.Next = []string{
		j.Then(files, "what meta-tools and others would save", "backtest", "{}"),
		j.Then(files, "all findings, with examples", "findings", "{}", "--details"),
	}
	return j.Result(d)
}

// habitOf measures how far the last calls tell the next one, on tasks left out.
func habitOf(j *cli.Job, corpus *trace.Corpus, seed uint64) habitual {
	counter := ngram.NewCounter(summaryOrder)
	var sequences [][]uint32
	var tasks []uint32
	for i, tools := range corpus.Sequences() {
		counter.Add(tools)
		sequences, tasks = append(sequences, tools), append(tasks, corpus.Task(i))
	}
	options := entropy.Options{Permutations: -1, Seed: seed, Each: j.Each()}
	analysis := entropy.Analyze(counter.Counts(), options)
	analysis.AddHeldOut(ngram.HeldOut(summaryOrder, sequences, tasks, ngram.HeldOutOptions{Folds: 10, Seed: seed, Each: j.Each(), Hash: func(task uint32) deal.Hash { return corpus.Tasks()[task] }}), options)
	out := habitual{Order: analysis.Verdict.Order, Before: stat.Unknown(noHeldOut), After: stat.Unknown(noHeldOut), Choices: stat.Unknown(noHeldOut), Left: stat.Unknown(noHeldOut), InSentence: habitWords(&analysis)}
	if h := analysis.HeldOut; h != nil && h.N > 0 {
		out.Tasks = h.Tasks
		out.Before, out.After = h.Orders[0].Bits, h.Orders[max(0, min(out.Order, len(h.Orders)-1))].Bits
		out.Choices, out.Left = stat.Known(math.Exp2(out.Before.Float())), stat.Known(math.Exp2(out.After.Float()))
	}
	return out
}

// days is how many days the traces span.
func days(facts *completeness.Facts) stat.Figure {
	if facts.First.IsZero() || facts.Last.IsZero() {
		return stat.Unknown("no time is recorded")
	}
	return stat.Count(int(facts.Last.Sub(facts.First).Hours()/24) + 1)
}

// spentOn says what was spent, and names the three things that most of it went on.
func spentOn(c worth.Costs) spent {
	out := spent{Tokens: c.Tokens, EachTokens: c.EachTokens, CostUSD: c.PaidUSD, Estimated: c.Estimated, Unpriced: c.Unpaid, MostSpent: []mostSpent{}, InSentence: worth.CostAnswer(c)}
	for _, t := range c.Tools {
		if share, ok := t.Share.Value(); ok {
			out.MostSpent = append(out.MostSpent, mostSpent{t.Tool, share})
		}
	}
	slices.SortStableFunc(out.MostSpent, func(a, b mostSpent) int { return cmp.Compare(b.Share, a.Share) })
	out.MostSpent = out.MostSpent[:min(len(out.MostSpent), 3)]
	return out
}

func summaryDocument(in *cli.Intake, out screen, account *worth.CostFindings) *report.Document {
	d := &report.Document{Title: "Summary", Answer: summaryAnswer(in, in.Findings.List(), out.Cost), Lines: report.ScreenLines, Figures: out}
	y := in.Tally
	what := fmt.Sprintf("%s with %s of %s in %s and %s", cli.CountOf(y.Trajectories, "trajectory"), cli.CountOf(y.Calls, "call"), cli.CountOf(y.Tools(), "tool"), cli.CountOf(y.LLMTurns, "model turn"), cli.CountOf(y.UserMessages, "user message"))
	if n := len(out.Models); n > 0 {
		what += ", by " + strings.Join(out.Models[:min(n, 3)], ", ")
		if n > 3 {
			what += " and " + cli.CountOf(n-3, "more model")
		}
	}
	if n, ok := out.Days.Value(); ok {
		what += ", over " + cli.CountOf(int(n), "day")
	}
	d.Section("What this is", report.Paragraph(what+"."))
	costs := out.Cost.InSentence
	var most []string
	for _, m := range out.Cost.MostSpent[min(len(out.Cost.MostSpent), 1):] {
		most = append(most, fmt.Sprintf("%s %.0f %%", cmp.Or(m.Tool, "turns that call nothing"), 100*m.Share))
	}
	if len(most) > 0 {
		costs += " Then: " + strings.Join(most, ", ") + "."
	}
	d.Section("What it costs", report.Paragraph(costs))
	d.Section("How long it takes", account.Waits())
	d.Section("How habitual it is", report.Paragraph(out.Habit.InSentence))
	in.Findings.Section(d, cli.FindingsShown)
	d.Details()
	d.Section("All findings", cli.FindingsTable(in.Findings.List()).IfAny())
	d.Section("How long it takes, by tool", account.WaitTable())
	return d
}

// summaryAnswer says in a sentence what it costs and what to do first.
func summaryAnswer(in *cli.Intake, wrong []cli.Finding, costs spent) string {
	price := fmt.Sprintf("took %s tokens", cli.Grouped(costs.Tokens))
	if usd, ok := costs.CostUSD.Value(); ok {
		price = fmt.Sprintf("cost %s USD", cli.Dollars(usd))
	} else if costs.Tokens == 0 {
		price = "do not say what they cost"
	}
	text := fmt.Sprintf("%s %s", cli.CountOf(in.Tally.Trajectories, "trajectory"), price)
	if len(wrong) == 0 {
		return text + ", and no problem with the agents was found."
	}
	return text + ". Fix this first: " + cli.FindingName(&wrong[0]) + "."
}
