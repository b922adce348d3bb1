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

type toolJSON struct {
	Tool          string        `json:"tool"`
	Calls         int           `json:"calls"`
	Trajectories  int           `json:"trajectories"`
	OK            int           `json:"ok"`
	Failed        int           `json:"failed"`
	StatusUnknown int           `json:"status_unknown"`
	ErrorRate     stat.Figure   `json:"error_rate"`
	ErrorInterval stat.Interval `json:"error_rate_interval"`
	NextBits      stat.Figure   `json:"next_bits"` // plug-in entropy of what follows it
	Latency       spreadJSON    `json:"latency_seconds"`
	Result        spreadJSON    `json:"result_bytes"`
	Turns         int           `json:"turns"`            // that call it
	TurnsUsage    int           `json:"turns_with_usage"` // of these
	InputTokens   stat.Figure   `json:"input_tokens_per_turn"`
	OutputTokens  stat.Figure   `json:"output_tokens_per_turn"`
}

// spreadJSON is a magnitude of N calls.
type spreadJSON struct {
	N      int         `json:"n"`
	Median stat.Figure `json:"median"`
	P95    stat.Figure `json:"p95"`
}

// noUsage is why tokens of turns are not known.
const noUsage = "no tokens are recorded"

// minTail is how many values a 95th percentile needs: with fewer it is the
// largest of them.
const minTail = 20

func spread(d *completeness.Distribution, unit float64, none string) spreadJSON {
	out := spreadJSON{d.N(), stat.Unknown(none), stat.Unknown(none)}
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
func (f *findings) tools() []toolJSON {
	next := map[string]stat.Figure{}
	for _, c := range entropy.Contexts(f.counts, entropy.ContextOptions{Top: 1}) {
		next[f.name(c.Symbols[0])] = stat.Known(c.Bits)
	}
	profiles := map[string]*completeness.ToolProfile{}
	for _, p := range f.profile.Tools() {
		profiles[p.Name] = p
	}
	var out []toolJSON
	for _, s := range f.facts.Tools() {
		if s.Calls == 0 {
			continue
		}
		p := profiles[s.Name]
		tool := toolJSON{
			Tool: s.Name, Calls: s.Calls, Trajectories: s.Trajectories, OK: s.OK, Failed: s.Failed, StatusUnknown: s.StatusUnknown,
			ErrorRate: stat.Ratio(s.Failed, s.Judged(), "the traces do not say which calls failed"), ErrorInterval: stat.NoInterval("no rate, no interval"), NextBits: stat.Unknown("nothing ever follows it"),
			Latency: spread(&p.Latency, float64(time.Second), "no times are recorded"), Result: spread(&p.Result, 1, "no result is recorded"),
			Turns: p.Turns, TurnsUsage: p.TurnsUsage, InputTokens: stat.Ratio(int(p.Input), p.TurnsUsage, noUsage), OutputTokens: stat.Ratio(int(p.Output), p.TurnsUsage, noUsage),
		}
		if bits, ok := next[s.Name]; ok {
			tool.NextBits = bits
		}
		if known := s.Judged(); known > 0 {
			tool.ErrorInterval = cli.Wilson(s.Failed, known)
		}
		out = append(out, tool)
	}
	return out
}

// toolTables are what is known of each tool: how often and how well it was
// called, and what its calls took.
func toolTables(f *findings, complete bool) []report.Block {
	tools := f.tools()
	shown := tools
	if !complete {
		shown = tools[:min(cli.ToolsShown, len(tools))]
	}
	first, second := toolTable(shown), toolCostTable(shown)
	unknown := 0
	for _, t := range tools {
		unknown += t.StatusUnknown
	}
	if unknown > 0 {
		first.Note("%s of unknown status count neither as failed nor as successful.", cli.CountOf(unknown, "call"))
	}
	if len(tools) > len(shown) {
		first.Note("%s more in JSON and CSV.", cli.CountOf(len(tools)-len(shown), "tool"))
	}
	if second == nil {
		return []report.Block{first}
	}
	return []report.Block{first, second}
}

func toolTable(tools []toolJSON) *report.Table {
	table := report.TableOf("tools", "", tools, []report.Column{
		{Key: "tool", Max: 44},
		{Key: "calls"},
		{Key: "trajectories", Title: "in trajectories"},
		{Key: "error_rate", Title: "failed", Unit: "%"},
		{Key: "error", From: "error_rate_interval", Title: "95 % interval", Unit: "%", Align: report.Right},
		{Key: "next_bits", Title: "bits after it", Digits: 2},
	})
	table.Note("Bits after it: plug-in entropy of the next tool, too low for tools with few calls. Tools that are called often and leave little open are where routines are.")
	return table
}

// toolCostTable is what the calls of tools took, with columns for what some
// trace records; nil if none records anything.
func toolCostTable(tools []toolJSON) *report.Table {
	result, latency, tokens := false, false, false
	for _, t := range tools {
		result, latency, tokens = result || t.Result.N > 0, latency || t.Latency.N > 0, tokens || t.TurnsUsage > 0
	}
	if !result && !latency && !tokens {
		return nil
	}
	table := report.TableOf("tool-costs", "What calls took", tools, []report.Column{
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
	return table
}

// habitJSON is how much what follows one tool adds to the uncertainty.
type habitJSON struct {
	Tool      string        `json:"tool"`
	N         uint64        `json:"n"`    // how often something followed
	Bits      float64       `json:"bits"` // Miller-Madow, of what followed
	Weight    float64       `json:"weight_bits"`
	Next      string        `json:"next"` // the commonest successor
	NextShare float64       `json:"next_share"`
	Interval  stat.Interval `json:"next_share_interval"`
}

// habits returns the tools in order of what they do to the mean uncertainty
// after one call: those that lower it most first, those that raise it most last.
// Weights add up to 0.
func (f *findings) habits() []habitJSON {
	if f.counts.MaxOrder() < 1 {
		return nil
	}
	var out []habitJSON
	mean := 0.0
	for _, c := range f.single {
		h := habitJSON{
			Tool: f.name(c.Symbols[0]), N: c.N, Bits: c.Bits + float64(c.Distinct-1)/(2*float64(c.N)*math.Ln2),
			Next: f.name(c.Next[0].Symbol), NextShare: c.Next[0].Share, Interval: c.Next[0].Interval,
		}
		mean += c.Share * h.Bits
		out = append(out, h)
	}
	for i, c := range f.single {
		out[i].Weight = c.Share * (out[i].Bits - mean)
	}
	slices.SortStableFunc(out, func(a, b habitJSON) int {
		return cmp.Or(cmp.Compare(a.Weight, b.Weight), cmp.Compare(a.Tool, b.Tool))
	})
	return out
}

// habitsShown is how many tools each end of the table of habits lists.
const habitsShown = 5

// habitTable lists the tools after which the next call is most and least
// certain, weighted by how often they occur; nil if there are too few.
func habitTable(f *findings, complete bool) *report.Table {
	habits := f.habits()
	if len(habits) < 2 {
		return nil
	}
	shown, hidden := habits, len(habits)-2*habitsShown
	if hidden > 0 && !complete {
		shown = slices.Concat(habits[:habitsShown], habits[len(habits)-habitsShown:])
	}
	table := report.TableOf("habits", "Where the next call is most and least certain", shown, []report.Column{
		{Key: "tool", Title: "after", Max: 44},
		{Key: "n", Title: "times"},
		{Key: "bits", Digits: 2},
		{Key: "weight_bits", Title: "effect on the mean", Unit: "bits", Digits: 3},
		{Key: "next", Title: "mostly comes", Max: 44},
		{Key: "next_share", Title: "share", Unit: "%", Digits: report.Whole},
		{Key: "next_share_interval", Title: "95 % interval", Unit: "%", Align: report.Right},
	})
	if hidden > 0 && !complete {
		table.Note("The %d tools that lower the mean uncertainty most, and the %d that raise it most; %s between them in JSON and CSV.", habitsShown, habitsShown, cli.CountOf(hidden, "tool"))
	}
	table.Note("Effect on the mean: share of the calls times (bits after this tool less the mean), with Miller-Madow's correction. Negative: this is where a meta-tool or a guess pays. Positive: this is where the model decides.")
	return table
}
