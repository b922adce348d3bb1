package backtest

import (
	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/metatool"
	"github.com/awo-dev/awo/metatool/bind"
	"github.com/awo-dev/awo/prefetch"
)

// Selection says which meta-tools are offered.
type Selection string

// The selections. The zero value is SelectTurns.
const (
	// SelectTurns takes what saves turns beyond what others save.
	SelectTurns Selection = "turns"
	// SelectNet takes what saves more money than its definition costs, or more
	// tokens where no price is known, or turns where no usage is recorded.
	SelectNet Selection = "net"
	// SelectAll takes all that can be bound and do not overlap, as in the paper.
	SelectAll Selection = "all"
)

// ChooseOptions say how Choose works. The zero value is the default.
type ChooseOptions struct {
	Select   Selection
	MinTurns int // of SelectTurns: how many calling turns each must add; 0 means 1
	// KeepMinTurns holds MinTurns whatever threshold is tried; else that stands for it.
	KeepMinTurns bool
	MaxTools     int // at most so many; 0 sets no bound

	// MinAgreement is the share of its places at which a meta-tool must be exact
	// in replay; 0 means DefaultMinAgreement, a negative number none.
	MinAgreement float64

	// None offers nothing: a verdict may be against it.
	None bool

	// Beside are rules by which reads are made ahead: what is chosen adds to what they
	// save. nil for none.
	Beside *prefetch.Set

	// Batches offers also what makes calls that do not need each other; see
	// metatool.Batch.
	Batches bool
	// WritePrecision is the lower bound of precision (95 %) from which on a meta-tool is
	// offered that writes beyond its first call; 0 means DefaultWritePrecision, a
	// negative number offers all.
	WritePrecision float64

	Meter   *cost.Meter // nil: one with the default prices
	Fit     *cost.Fit   // scales what was counted; may be nil
	Workers int
}

// DefaultMinAgreement is ChooseOptions.MinAgreement where nothing else is said.
const DefaultMinAgreement = 0.95

// DefaultWritePrecision is ChooseOptions.WritePrecision where nothing else is said: no
// exception in 35 moments.
const DefaultWritePrecision = 0.9

// Reasons why a meta-tool is not chosen, beside its refusals. They are stable.
const (
	ReasonDisagrees = "disagrees-in-replay"
	ReasonNothing   = "saves-nothing"
	ReasonDominated = "dominated-by" // Left.By
	ReasonCosts     = "costs-more-than-it-saves"
	ReasonFails     = "fails-more-often"   // its calls fail more often together than apart; see Failures
	ReasonBatch     = "batch"              // its calls do not need each other: parallel calls do the same
	ReasonWrites    = "writes-in-vain"     // it writes, and the rest does not follow often enough
	ReasonVerdict   = "verdict"            // nothing is offered; see ChooseOptions.None
	ReasonFew       = "adds-too-few-turns" // fewer than ChooseOptions.MinTurns
	ReasonMaxTools  = "max-tools"
	ReasonOverlaps  = "overlaps" // of SelectAll: its occurrences are others' too
)

// ByReading is Left.By where reading ahead saves what a meta-tool would.
const ByReading = "reading ahead"

// Choice is which meta-tools are offered, and why the others are not.
type Choice struct {
	Unit    string // what gains are counted in: "turns", "tokens" or "usd"
	Options ChooseOptions

	Chosen []Gain // in the order in which they were taken: the gain curve
	Left   []Left // in the order of the definitions, without those that were refused

	Trajectories int
	Turns        int     // model turns, each of which reads the definitions
	CallingTurns int     // of them
	TokenPrice   float64 // what one token of definitions costs over all turns, in the unit

	// Money is what the chosen ones save and cost where most turns record usage and
	// have a price, whatever the unit.
	Money *Money

	chooser *chooser  // to choose anew; see Withdraw and Settle
	parts   []*Choice // of ChooseApart
}

// Money is what a set of meta-tools is worth on the traces, in US dollars: Saved
// by the turns that it removes, less Definitions, which every turn reads.
type Money struct{ Saved, Definitions float64 }

// Gain is what a meta-tool adds to those taken before it.
type Gain struct {
	Definition *bind.Definition
	Tokens     int64 // of its definition
	Turns      int   // calling turns saved by all so far
	TurnsAdded int   // of them by this one
	Calls      int   // by how many calls all so far make the trajectories shorter
	CallsAdded int
	Net        float64 // in the unit, all so far, definitions paid
	NetAdded   float64
	// BreakEven is how many tokens of definition would eat up what it saves:
	// infinite where tokens cost nothing.
	BreakEven float64
	Replay    Agreement
	Failures  Failures
	Use       Use

	blind toolUse
}

// Left is a meta-tool that is not offered.
type Left struct {
	Definition *bind.Definition
	Reason     string
	By         string // ReasonDominated: a chosen one that does what it would, or ByReading
	Tokens     int64
	Replay     Agreement
	Failures   Failures
	Use        Use

	// Saves is what it would save beside the chosen ones, in the unit, and Costs what
	// its definition costs: known for ReasonCosts.
	Saves, Costs float64
}

// IsAnti reports whether it is left out as an anti-meta-tool: it fails more often
// than its parts, or costs more than it saves.
func (l *Left) IsAnti() bool { return l.Reason == ReasonFails || l.Reason == ReasonCosts }

// Agreement is what the replay of a meta-tool showed at the places where it would
// save a turn.
type Agreement struct {
	Places int `json:"places"`       // they overlap
	Exact  int `json:"exact"`        // at which it made the recorded calls
	Saves  int `json:"inputs_known"` // of the exact ones, those whose inputs were known
	// NotComparable are places beside these: the recording lacks a result there.
	NotComparable int `json:"not_comparable"`
}

// Agrees reports whether it was exact at a share of the places at least.
func (a *Agreement) Agrees(share float64) bool {
	return float64(a.Exact) >= share*float64(a.Places)
}

// Tools returns the chosen meta-tools in the order of the gain curve.
func (c *Choice) Tools() []*metatool.Tool {
	var out []*metatool.Tool
	for i := range c.Chosen {
		out = append(out, &c.Chosen[i].Definition.Tool)
	}
	return out
}

// uses returns what blind use of the chosen ones is worth, in their order.
func (c *Choice) uses() []toolUse {
	var out []toolUse
	for i := range c.Chosen {
		out = append(out, c.Chosen[i].blind)
	}
	return out
}

// Settle gives up what choosing anew takes; Withdraw must not be called any more.
func (c *Choice) Settle() {
	c.chooser = nil
	for _, part := range c.parts {
		part.Settle()
	}
}

// again chooses anew with other options, from what was read; beside are the turns that
// reading ahead saves, by trajectory, nil for none.
func (c *Choice) again(o ChooseOptions, beside [][]span) {
	x := c.chooser
	x.beside = beside
	for _, it := range x.items {
		it.chosen, it.cannot, it.by, it.reason = false, false, "", ""
	}
	c.Options = o.filled()
	c.Chosen, c.Left, c.Money, c.TokenPrice = nil, nil, nil, 0
	x.weigh()
	x.run()
	x.count()
}
