package backtest

import (
	"slices"

	"github.com/awo-dev/awo/cost"
	"github.com/awo-dev/awo/internal/corpus"
	"github.com/awo-dev/awo/internal/dataflow"
	"github.com/awo-dev/awo/metatool/replay"
	"github.com/awo-dev/awo/predict/effects"
	"github.com/awo-dev/awo/prefetch/learn"
)

// Technique is a way of making agents cheaper that can be learnt from traces.
// A further one is a file with a value, and a line in Techniques.
type Technique struct {
	Name string // stable, such as "patterns"
	Doc  string // what it does, in a few words

	Parts []string // of a combination of techniques: their names

	// ways are what the training part is compiled into for it: all techniques
	// share the reading. offer is set where it offers one of them.
	ways  []way
	offer *offer

	// Train learns from the training part.
	Train func(p *Part) Trained
}

// Techniques are all techniques, in the order in which they are reported.
var Techniques = slices.Concat([]Technique{none, batch, awoPaper, awo, patterns, register, inertial}, prefetchTechniques, []Technique{all}, codeTechniques)

// Trained is a technique that has learnt.
type Trained interface {
	// Find says what the technique would have done in a test trajectory. It is
	// pure: several may be under way.
	Find(c *Case) *Finding
	// Saving returns the tokens and money that this saves, negative where it costs
	// more. It is called by one goroutine.
	Saving(c *Case, f *Finding) cost.Totals
	// Summary says what was learnt, and what it needs to know of a case.
	Summary() Learnt
}

// Learnt is what a technique took from the training part.
type Learnt struct {
	MetaTools        int   // that agents are offered
	DefinitionTokens int64 // of their definitions, which every turn reads
	Anti             int   // anti-meta-tools that were left out; see Left.IsAnti
	Rules            int   // that reads are made ahead by
	Labels           bool  // Case.Steps are needed
	Notes            []string
}

// Part is what a technique may learn from.
type Part struct {
	Runs    []*corpus.Run // to learn from
	Options Options

	meter    *cost.Meter
	fit      *cost.Fit
	compiled map[way]*compiled
	links    *dataflow.Set   // once they were looked for
	secrets  map[string]bool // tools that return credentials, once it was compiled
	chosen   map[chosenWay]*chosen
	pool     pool // of all that is chosen
	sets     map[string]*toolset
	combined map[combination]*together
	readers  map[readings]*reader
	read     map[float64][][]span // turns that readers save, by trajectory
	habits   *habits
	survey   *learn.Survey
	judged   *effects.Known
	code     *learntCode
}

// Case is a test trajectory.
type Case struct {
	*corpus.Run
	Steps   []labelledStep // under the rules, where a technique asks for them
	Account *cost.Account  // known to Saving only; nil if nothing is known of tokens

	// What several techniques build on; see tested.look.
	uses    *replay.Uses         // of the meta-tools of the pool
	asked   *askedCalls          // the calls as readers look at them
	ahead   map[*reader]*Finding // what is read ahead beside nothing
	avoided []bool               // the calls that inertia would make
	wrong   int                  // calls that inertia would make and nobody did
}

// labelledStep is a step of a trajectory with its label as text.
type labelledStep struct {
	label       string
	call, calls int32
	cut         bool // a barrier or a cut is before it
	inserted    bool
}

// Finding is what a technique would have done in a trajectory.
type Finding struct {
	Used    bool     // it would have done anything
	Removed []int    // turns that there would be without, in order
	Reading *Reading // what was read ahead; nil for nothing
	Added   int      // model calls that there would be beside those recorded

	// Places of meta-tools that would have saved a turn, those of them that were
	// exact in replay, and those of these whose inputs were known; see
	// execute.Place.
	Places, Exact, Known int
	NotComparable        int // places beside these: the recording lacks a result there

	Blind *Blind // the same if meta-tools are used blindly; nil where none are offered

	Wrong      int   // calls that would be made without the model and were not
	Attributed []int // of a combination: the turns of Removed, by part

	shares []share // of a combination: what its parts do
	vain   []vain  // what meta-tools read in vain

	Programs *Programs // of techniques that write programs; else nil
	written  []program

	handBacks int // uses of meta-tools that end early: the model has to see what came of it
}

// none does nothing: what everything is compared with.
var none = Technique{
	Name: "none", Doc: "what was recorded",
	Train: func(*Part) Trained { return nothing{} },
}

type nothing struct{}

func (nothing) Find(*Case) *Finding                { return &Finding{} }
func (nothing) Saving(*Case, *Finding) cost.Totals { return cost.Totals{} }
func (nothing) Summary() Learnt                    { return Learnt{} }
