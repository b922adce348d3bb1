package analysis

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/entropy"
	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/trace/completeness"
)

type tool struct {
	Tool          string        `json:"tool"`
	Calls         int           `json:"calls"`
	Trajectories  int           `json:"trajectories"`
	OK            int           `json:"ok"`
	Failed        int           `json:"failed"`
	StatusUnknown int           `json:"status_unknown"`
	ErrorRate     stat.Estimate `json:"error_rate"`
	NextBits      stat.Figure   `json:"next_bits"` // plug-in entropy of what follows it
	Latency       spread        `json:"latency_seconds"`
	Result        spread        `json:"result_bytes"`
	Turns         int           `json:"turns"`            // that call it
	TurnsUsage    int           `json:"turns_with_usage"` // of these
	InputTokens   stat.Figure   `json:"input_tokens_per_turn"`
	OutputTokens  stat.Figure   `json:"output_tokens_per_turn"`
}

// spread is a magnitude of N calls.
type spread struct {
	N      int         `json:"n"`
	Median stat.Figure `json:"median"`
	P95    stat.Figure `json:"p95"`
}

// noUsage is why tokens of turns are not known.
const noUsage = "no tokens are recorded"

// minTail is how many values a 95th percentile needs: with fewer it is the
// largest of them.
const minTail = 20

func spreadOf(d *completeness.Distribution, unit float64, none string) spread {
	out := spread{d.N(), stat.Unknown(none), stat.Unknown(none)}
	if d.N() > 0 {
		out.Median, out.P95 = stat.Known(d.Quantile(0.5)/unit), stat.Unknown("fewer than 20 values have no 95th percentile")
	}
	if d.N() >= minTail {
		out.P95 = stat.Known(d.Quantile(0.95) / unit)
	}
	return out
}

// tools returns what is known of each tool that a model called, most calls
// first.
func (f *findings) tools() []tool {
	next := map[string]stat.Figure{}
	for _, c := range entropy.Contexts(f.counts, entropy.ContextOptions{Top: 1}) {
		next[f.name(c.Symbols[0])] = stat.Known(c.Bits)
	}
	profiles := map[string]*completeness.ToolProfile{}
	for _, p := range f.profile.Tools() {
		profiles[p.Name] = p
	}
	var out []tool
	for _, s := range f.facts.Tools() {
		if s.Calls == 0 {
			continue
		}
		p := profiles[s.Name]
		one := tool{
			Tool: s.Name, Calls: s.Calls, Trajectories: s.Trajectories, OK: s.OK, Failed: s.Failed, StatusUnknown: s.StatusUnknown,
			ErrorRate: stat.ShareOf(s.Failed, s.Judged(), "the traces do not say which calls failed"), NextBits: stat.Unknown("nothing ever follows it"),
			Latency: spreadOf(&p.Latency, float64(time.Second), "no times are recorded"), Result: spreadOf(&p.Result, 1, "no result is recorded"),
			Turns: p.Turns, TurnsUsage: p.TurnsUsage, InputTokens: stat.Ratio(int(p.Input), p.TurnsUsage, noUsage), OutputTokens: stat.Ratio(int(p.Output), p.TurnsUsage, noUsage),
		}
		if bits, ok := next[s.Name]; ok {
			one.NextBits = bits
		}
		out = append(out, one)
	}
	return out
}

// toolTables are what is known of each tool: how often and how well it was
// called, and what its calls took.
func toolTables(f *findings) []report.Block {
	tools := f.tools()
	first, second := toolTable(tools), toolCostTable(tools)
	unknown := 0
	for _, t := range tools {
		unknown += t.StatusUnknown
	}
	first.NoteIf(unknown > 0, "%s of unknown status count neither as failed nor as successful.", cli.CountOf(unknown, "call"))
	return []report.Block{first.IfAny(), second}
}

func toolTable(tools []tool) *report.Table {
	table := report.TableOf("tools", "", tools, []report.Column{
		{Key: "tool", Max: 44},
		{Key: "calls"},
		{Key: "trajectories", Title: "in trajectories"},
		{Key: "error_rate", Title: "failed", Unit: "%"},
		{Key: "next_bits", Title: "bits after it", Digits: 2},
	})
	table.Most = cli.ToolsShown
	table.Note("Bits after it: plug-in entropy of the next tool, too low for tools with few calls. Tools that are called often and leave little open are where routines are.")
	return table
}

// toolCostTable is what the calls of tools took, with columns for what some
// trace records; nil if none records anything.
func toolCostTable(tools []tool) *report.Table {
	result, latency, tokens := false, false, false
	for _, t := range tools {
		result, latency, tokens = result || t.Result.N > 0, latency || t.Latency.N > 0, tokens || t.TurnsUsage > 0
	}
	if !result && !latency && !tokens {
		return nil
	}
	table := report.TableOf("tool_costs", "What calls took", tools, []report.Column{
		{Key: "tool", Max: 44},
		{Key: "results", From: "result_bytes.n", Hide: !result},
		{Key: "result_bytes_median", From: "result_bytes.median", Title: "median", Unit: "bytes", Hide: !result},
		{Key: "result_bytes_p95", From: "result_bytes.p95", Title: "95 % below", Unit: "bytes", Hide: !result},
		{Key: "timed", From: "latency_seconds.n", Title: "timed calls", Hide: !latency},
		{Key: "latency_median", From: "latency_seconds.median", Title: "median", Unit: "s", Digits: 2, Hide: !latency},
		{Key: "latency_p95", From: "latency_seconds.p95", Title: "95 % below", Unit: "s", Digits: 2, Hide: !latency},
		{Key: "turns_with_usage", Title: "turns with tokens", Hide: !tokens},
		{Key: "input_tokens", From: "input_tokens_per_turn", Title: "in a turn", Unit: "tokens", Hide: !tokens},
		{Key: "output_tokens", From: "output_tokens_per_turn", Title: "out a turn", Unit: "tokens", Hide: !tokens},
	})
	table.NoteIf(result, "Bytes of the text of results, which every later turn reads again.")
	table.NoteIf(tokens, "Tokens are means over the model turns that call the tool; a turn that calls several counts for each of them.")
	table.NoteIf(!result, "Not recorded: results.")
	table.NoteIf(!latency, "Not recorded: times of calls.")
	table.NoteIf(!tokens, "Not recorded: tokens of turns.")
	table.Most = cli.ToolsShown
	return table.View()
}

// habit is how much what follows one tool adds to the uncertainty.
type habit struct {
	Tool      string        `json:"tool"`
	N         uint64        `json:"n"`    // how often something followed
	Bits      float64       `json:"bits"` // Miller-Madow, of what followed
	Weight    float64       `json:"weight_bits"`
	Next      string        `json:"next"` // the commonest successor
	NextShare stat.Estimate `json:"next_share"`
}

// habits returns the tools in order of what they do to the mean uncertainty
// after one call: those that lower it most first, those that raise it most last.
// Weights add up to 0.
func (f *findings) habits() []habit {
	if f.counts.MaxOrder() < 1 {
		return nil
	}
	var out []habit
	mean := 0.0
	for _, c := range f.single {
		h := habit{
			Tool: f.name(c.Symbols[0]), N: c.N, Bits: c.Bits + float64(c.Distinct-1)/(2*float64(c.N)*math.Ln2),
			Next: f.name(c.Next[0].Symbol), NextShare: stat.Estimate{Figure: stat.Known(c.Next[0].Share), Interval: c.Next[0].Interval},
		}
		mean += c.Share * h.Bits
		out = append(out, h)
	}
	for i, c := range f.single {
		out[i].Weight = c.Share * (out[i].Bits - mean)
	}
	slices.SortStableFunc(out, func(a, b habit) int {
		return cmp.Or(cmp.Compare(a.Weight, b.Weight), cmp.Compare(a.Tool, b.Tool))
	})
	return out
}

// habitsShown is how many tools each end of the table of habits lists.
const habitsShown = 5

// habitTables list the tools after which the next call is most and least certain, weighted by
// how often they occur: texts have both ends of the list.
func habitTables(f *findings) []report.Block {
	habits := f.habits()
	table := func(rows []habit) *report.Table {
		return report.TableOf("habits", "Where the next call is most and least certain", rows, []report.Column{
			{Key: "tool", Title: "after", Max: 44},
			{Key: "n", Title: "times"},
			{Key: "bits", Digits: 2},
			{Key: "weight_bits", Title: "effect on the mean", Unit: "bits", Digits: 3},
			{Key: "next", Title: "mostly comes", Max: 44},
			{Key: "next_share", Title: "share", Unit: "%"},
		})
	}
	all := table(habits).Hidden()
	if len(habits) < 2 {
		return []report.Block{all}
	}
	shown, left := habits, len(habits)-2*habitsShown
	if left > 0 {
		shown = slices.Concat(habits[:habitsShown], habits[len(habits)-habitsShown:])
	}
	ends := table(shown).View()
	ends.NoteIf(left > 0, "The %d tools that lower the mean uncertainty most, and the %d that raise it most; %s between them with --table habits.", habitsShown, habitsShown, cli.CountOf(left, "tool"))
	ends.Note("Effect on the mean: share of the calls times (bits after this tool less the mean), with Miller-Madow's correction. Negative: this is where a meta-tool or a guess pays. Positive: this is where the model decides.")
	return []report.Block{all, ends}
}
