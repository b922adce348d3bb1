package extraction

import (
	"fmt"
	"strings"

	"github.com/awo-dev/awo/backtest"
	"github.com/awo-dev/awo/cmd/internal/cli"
	"github.com/awo-dev/awo/cmd/internal/recommend"
	"github.com/awo-dev/awo/internal/emit"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/merge"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/metatool/compile"
	"github.com/awo-dev/awo/prefetch/stored"
)

// extraction is what was found and what became of it.
type extraction struct {
	figures
	metaTools   []metaTool
	recommended *recommend.Result // nil if it was not asked for
	agents      []recommend.Agent // empty where there is one agent
	curve       []gain
	assumptions []compile.Assumption // tools taken to read only
	findings    []cli.Finding
	prefetch    []stored.Rule // prefetch rules
}

// figures are those of `awo extract`.
type figures struct {
	Input       cli.InputJSON      `json:"input"`
	Threshold   int                `json:"threshold"`
	Algorithm   string             `json:"algorithm"`
	CallsBefore int                `json:"calls_before"`
	CallsAfter  int                `json:"calls_after"`
	TurnsBefore int                `json:"calling_turns_before"`
	TurnsSaved  int                `json:"turns_saved"` // upper bound
	Emitted     emitted            `json:"emitted"`
	Recommended *recommend.Figures `json:"recommendation"` // null if it was not asked for
	Choice      choiceFigures      `json:"choice"`
	Prefetch    stat.Figure        `json:"prefetch_threshold"` // P(use) from which on a read is made ahead
}

type metaTool struct {
	Name        string   `json:"name"`
	Tools       []string `json:"tools"`
	Calls       []string `json:"calls"` // labels
	Support     int      `json:"support"`
	Served      int      `json:"support_served,omitempty"` // of support: where the calls were steps of meta-tools only
	Occurrences int      `json:"occurrences"`
	TurnsSaved  int      `json:"turns_saved"` // of what is offered: after those chosen before it; else alone, in order of extraction
	Status      string   `json:"status"`      // statusEmitted or statusLeftOut
	Reason      string   `json:"reason"`      // why it was left out

	Inputs   []string        `json:"inputs"`   // names, those that may be left out with a ? behind
	Bindings []boundArgument `json:"bindings"` // by step, then argument
	Refusals []bind.Refusal  `json:"refusals"`
	Returns  []int           `json:"returns"` // steps whose results are returned, from 0

	Plumbing []bind.Plumbing `json:"plumbing"` // steps whose results are left out of the answer, and why

	DefinitionTokens int64               `json:"definition_tokens"` // 0 for those that cannot be offered
	Replay           backtest.Agreement  `json:"replay"`
	Holdout          *backtest.Agreement `json:"holdout,omitempty"`

	Kind      string      `json:"kind"`      // chain, walk or batch
	Moments   int         `json:"moments"`   // at which its first call was made, and it could have been used
	Precision stat.Figure `json:"precision"` // of them, the share at which the rest followed
	// PrecisionInterval takes moments for independent.
	PrecisionInterval stat.Interval `json:"precision_interval"`

	Anti     bool               `json:"anti_meta_tool"` // it fails more often than its parts, or costs more than it saves
	Failures *emit.FailuresJSON `json:"failures,omitempty"`
	Cost     *antiCostJSON      `json:"cost,omitempty"` // of what costs more than it saves
}

// boundArgument says where an argument comes from, in words and without values but
// the constants that may be shown.
type boundArgument struct {
	Step        int     `json:"step"` // from 0
	Argument    string  `json:"argument"`
	Kind        string  `json:"kind"`
	From        string  `json:"from"`
	Withheld    bool    `json:"withheld,omitempty"` // an input although it always had one value, which may be a secret
	Agree       int     `json:"agree"`              // occurrences in which the binding gives what was recorded
	Occurrences int     `json:"occurrences"`
	LinkAgree   int     `json:"link_agree"` // the same of the link that it follows, over all traces; 0 without one
	LinkUses    int     `json:"link_uses"`
	ExtraMean   float64 `json:"extra_mean"` // of a walk over a list: calls that no run made, an occurrence
	ExtraP95    int     `json:"extra_p95"`
}

// What became of a meta-tool that was found.
const (
	statusEmitted = "emitted"
	statusLeftOut = "left-out"
)

// refusalText says why a meta-tool cannot be offered, by stable codes.
func refusalText(t *bind.Definition) string {
	var reasons []string
	for _, r := range t.Refusals {
		at := fmt.Sprintf("step %d", r.Step+1)
		if r.Argument != "" {
			at += ", " + r.Argument
		}
		reasons = append(reasons, fmt.Sprintf("%s (%s)", r.Code, at))
	}
	return strings.Join(reasons, ", ")
}

type emitted struct {
	MetaTools  int `json:"meta_tools"`
	CallsAfter int `json:"calls_after"`
	TurnsSaved int `json:"turns_saved"`
}

func extractionResult(in *cli.Intake, o Options, compiled *extractCompilation, masker *merge.Masker) *extraction {
	found := compiled.Extraction
	out := &extraction{figures: figures{
		Input: in.JSON(), Threshold: compiled.threshold, Algorithm: o.algorithm(), Prefetch: stat.Unknown("prefetch rules are made together with artefacts"),
		CallsBefore: found.Calls, CallsAfter: found.CallsAfter, TurnsBefore: found.Turns, TurnsSaved: found.TurnsSaved(),
	}, findings: in.Findings.List()}
	out.Emitted = emitted{CallsAfter: out.CallsBefore}
	if n := len(compiled.choice.Chosen); n > 0 {
		last := compiled.choice.Chosen[n-1]
		out.Emitted = emitted{MetaTools: n, CallsAfter: out.CallsBefore - last.Calls, TurnsSaved: last.Turns}
	}
	out.recommended, out.agents = compiled.recommended, compiled.apart
	if out.recommended != nil {
		out.Recommended = &out.recommended.Figures
	}
	compiled.chosen(out)
	out.assumptions = compiled.Assumptions
	for _, t := range compiled.Definitions {
		c := t.Candidate
		m := metaTool{
			Name: t.Name, Refusals: t.Refusals, Returns: t.Output.Steps, Kind: string(t.Kind()), Plumbing: t.Plumbing,
			Support: c.Support, Served: compiled.served.support(c, compiled.Merged.Walks), Occurrences: len(c.Occurrences), TurnsSaved: c.TurnsSaved, Status: statusEmitted,
		}
		for i, step := range t.Steps {
			m.Tools = append(m.Tools, step.Tool)
			if i < len(c.Labels) {
				m.Calls = append(m.Calls, masker.Label(c.Labels[i]))
			} else {
				m.Calls = append(m.Calls, step.Name)
			}
		}
		m.bind(t)
		m.choose(t, compiled)
		out.metaTools = append(out.metaTools, m)
	}
	return out
}

// bind says where the arguments come from.
func (m *metaTool) bind(t *bind.Definition) {
	for _, in := range t.Inputs {
		name := in.Name
		if !in.Required {
			name += "?"
		}
		m.Inputs = append(m.Inputs, name)
	}
	for i := range t.Bound {
		b := &t.Bound[i]
		one := boundArgument{
			Step: b.Step, Argument: b.Argument, Kind: b.Binding.Kind.String(), From: bind.Words(&b.Binding), Withheld: b.Withheld,
			Agree: b.Evidence.Agree, Occurrences: b.Evidence.Occurrences, ExtraMean: b.Evidence.ExtraMean, ExtraP95: b.Evidence.ExtraP95,
		}
		if b.Binding.Kind == metatool.BindInput {
			one.From = "input " + b.Binding.Input
		}
		if j := b.Evidence.Judgment; j != nil {
			one.LinkAgree, one.LinkUses = j.Agree, j.Uses
		}
		m.Bindings = append(m.Bindings, one)
	}
}
