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
	Tool          string         `json:"tool"`
	Calls         int            `json:"calls"`
	Trajectories  int            `json:"trajectories"`
	OK            int            `json:"ok"`
	Failed        int            `json:"failed"`
	StatusUnknown int            `json:"status_unknown"`
	ErrorRate     entropy.Figure `json:"error_rate"`
	ErrorInterval stat.Interval  `json:"error_rate_interval"`
	NextBits      entropy.Figure `json:"next_bits"` // plug-in entropy of what follows it
	Latency       spreadJSON     `json:"latency_seconds"`
	Result        spreadJSON     `json:"result_bytes"`
	Turns         int            `json:"turns"`            // that call it
	TurnsUsage    int            `json:"turns_with_usage"` // of these
	InputTokens   entropy.Figure `json:"input_tokens_per_turn"`
	OutputTokens  entropy.Figure `json:"output_tokens_per_turn"`
}

// spreadJSON is a magnitude of N calls.
type spreadJSON struct {
	N      int            `json:"n"`
	Median entropy.Figure `json:"median"`
	P95    entropy.Figure `json:"p95"`
}

// minTail is how many values a 95th percentile needs: with fewer it is the
// largest of them.
const minTail = 20

func spread(d *completeness.Distribution, unit float64) spreadJSON {
	out := spreadJSON{N: d.N(), Median: entropy.Figure(d.Quantile(0.5) / unit), P95: entropy.None()}
	if d.N() >= minTail {
		out.P95 = entropy.Figure(d.Quantile(0.95) / unit)
	}
	return out
}

// tools returns what is known of each tool that a model called, most calls
// first.
func (f *findings) tools() []toolJSON {
	next := map[string]entropy.Figure{}
	for _, c := range entropy.Contexts(f.counts, entropy.ContextOptions{Top: 1}) {
		next[f.name(c.Symbols[0])] = entropy.Figure(c.Bits)
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
			ErrorRate: entropy.None(), ErrorInterval: stat.NoInterval("no rate, no interval"), NextBits: entropy.None(),
			Latency: spread(&p.Latency, float64(time.Second)), Result: spread(&p.Result, 1),
			Turns: p.Turns, TurnsUsage: p.TurnsUsage, InputTokens: entropy.None(), OutputTokens: entropy.None(),
		}
		if bits, ok := next[s.Name]; ok {
			tool.NextBits = bits
		}
		if known := s.Judged(); known > 0 {
			tool.ErrorRate = entropy.Figure(float64(s.Failed) / float64(known))
			tool.ErrorInterval = cli.Wilson(s.Failed, known)
		}
		if p.TurnsUsage > 0 {
			tool.InputTokens = entropy.Figure(float64(p.Input) / float64(p.TurnsUsage))
			tool.OutputTokens = entropy.Figure(float64(p.Output) / float64(p.TurnsUsage))
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
	table := report.NewTable("tools", "",
		report.Column{Key: "tool", Max: 44},
		report.Column{Key: "calls", Align: report.Right},
		report.Column{Key: "trajectories", Title: "in trajectories", Align: report.Right},
		report.Column{Key: "error_rate", Title: "failed", Unit: "%", Align: report.Right},
		report.Column{Key: "error", Title: "95 % interval", Unit: "%", Interval: true, Align: report.Right},
		report.Column{Key: "next_bits", Title: "bits after it", Align: report.Right},
	)
	for _, t := range tools {
		rate, interval := report.Missing("the traces do not say which calls failed"), report.Missing("no rate, no interval")
		if t.ErrorInterval.Known() {
			rate, interval = share(t.ErrorRate), report.ShareRange(t.ErrorInterval, 1)
		}
		next := report.Missing("nothing ever follows it")
		if t.NextBits.Known() {
			next = bits(t.NextBits)
		}
		table.Add(report.Name(t.Tool), report.Int(t.Calls), report.Int(t.Trajectories), rate, interval, next)
	}
	table.Note("Bits after it: plug-in entropy of the next tool, too low for tools with few calls. Tools that are called often and leave little open are where routines are.")
	return table
}

// toolCostTable is what the calls of tools took, with columns for what some
// trace records; nil if none records anything.
func toolCostTable(tools []toolJSON) *report.Table {
	type part struct {
		recorded bool
		note     string
		columns  []report.Column
		cells    func(toolJSON) []report.Cell
	}
	result, latency, tokens := false, false, false
	for _, t := range tools {
		result, latency, tokens = result || t.Result.N > 0, latency || t.Latency.N > 0, tokens || t.TurnsUsage > 0
	}
	right := func(key, title, unit string) report.Column {
		return report.Column{Key: key, Title: title, Unit: unit, Align: report.Right}
	}
	parts := []part{
		{
			result, "results",
			[]report.Column{right("results", "results", ""), right("result_bytes_median", "median", "bytes"), right("result_bytes_p95", "95 % below", "bytes")},
			func(t toolJSON) []report.Cell { return spreadCells(t.Result, 0, "no result is recorded") },
		},
		{
			latency, "times of calls",
			[]report.Column{right("timed", "timed calls", ""), right("latency_median", "median", "s"), right("latency_p95", "95 % below", "s")},
			func(t toolJSON) []report.Cell { return spreadCells(t.Latency, 2, "no times are recorded") },
		},
		{
			tokens, "tokens of turns",
			[]report.Column{right("turns_with_usage", "turns with tokens", ""), right("input_tokens", "in a turn", "tokens"), right("output_tokens", "out a turn", "tokens")},
			func(t toolJSON) []report.Cell {
				if t.TurnsUsage == 0 {
					none := report.Missing("no tokens are recorded")
					return []report.Cell{report.Int(0), none, none}
				}
				return []report.Cell{report.Int(t.TurnsUsage), number(t.InputTokens, 0), number(t.OutputTokens, 0)}
			},
		},
	}
	columns := []report.Column{{Key: "tool", Max: 44}}
	var missing []string
	for _, p := range parts {
		if p.recorded {
			columns = append(columns, p.columns...)
		} else {
			missing = append(missing, p.note)
		}
	}
	if len(missing) == len(parts) {
		return nil
	}
	table := report.NewTable("tool-costs", "What calls took", columns...)
	for _, t := range tools {
		cells := []report.Cell{report.Name(t.Tool)}
		for _, p := range parts {
			if p.recorded {
				cells = append(cells, p.cells(t)...)
			}
		}
		table.Add(cells...)
	}
	if result {
		table.Note("Bytes of the text of results, which every later turn reads again.")
	}
	if tokens {
		table.Note("Tokens are means over the model turns that call the tool; a turn that calls several counts for each of them.")
	}
	for _, what := range missing {
		table.Note("Not recorded: %s.", what)
	}
	return table
}

func spreadCells(s spreadJSON, digits int, none string) []report.Cell {
	if s.N == 0 {
		return []report.Cell{report.Int(0), report.Missing(none), report.Missing(none)}
	}
	p95 := report.Missing("fewer than 20 values have no 95th percentile")
	if s.P95.Known() {
		p95 = number(s.P95, digits)
	}
	return []report.Cell{report.Int(s.N), number(s.Median, digits), p95}
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
	table := report.NewTable("habits", "Where the next call is most and least certain",
		report.Column{Key: "tool", Title: "after", Max: 44},
		report.Column{Key: "n", Title: "times", Align: report.Right},
		report.Column{Key: "bits", Title: "bits", Align: report.Right},
		report.Column{Key: "weight_bits", Title: "effect on the mean", Unit: "bits", Align: report.Right},
		report.Column{Key: "next", Title: "mostly comes", Max: 44},
		report.Column{Key: "next_share", Title: "share", Unit: "%", Align: report.Right},
		report.Column{Key: "next_share_interval", Title: "95 % interval", Unit: "%", Interval: true, Align: report.Right},
	)
	for i, h := range habits {
		if !complete && i >= habitsShown && i < len(habits)-habitsShown {
			continue
		}
		table.Add(report.Name(h.Tool), report.Int64(int64(h.N)), report.Float(h.Bits, 2), report.Float(h.Weight, 3),
			report.Name(h.Next), report.Share(h.NextShare, 0), successorInterval(h.Interval))
	}
	if hidden := len(habits) - 2*habitsShown; hidden > 0 && !complete {
		table.Note("The %d tools that lower the mean uncertainty most, and the %d that raise it most; %s between them in JSON and CSV.", habitsShown, habitsShown, cli.CountOf(hidden, "tool"))
	}
	table.Note("Effect on the mean: share of the calls times (bits after this tool less the mean), with Miller-Madow's correction. Negative: this is where a meta-tool or a guess pays. Positive: this is where the model decides.")
	return table
}

func successorInterval(i stat.Interval) report.Cell { return report.ShareRange(i, 1) }
