package rules

import (
	"regexp"

	"github.com/awo-dev/awo/diag"
)

// Set is a parsed rule file: what it says, in file order, with the position of
// everything that may be blamed later. It does not say what a rule does to a
// graph; package merge does.
type Set struct {
	File  string
	Rules []*Rule // well-formed rules in file order, included files first

	Failed  FailedPolicy  // what becomes of failed calls
	Outcome OutcomePolicy // which trajectories are read
}

// FailedPolicy is the value of `failed:`.
type FailedPolicy uint8

// The policies for failed calls. The zero value is FailedKeep.
const (
	FailedKeep  FailedPolicy = iota // a failed call is a call
	FailedDrop                      // it is left out
	FailedSplit                     // the trajectory is cut there
)

// OutcomePolicy is the value of `outcome:`.
type OutcomePolicy uint8

// The policies for trajectories. The zero value is OutcomeAll.
const (
	OutcomeAll OutcomePolicy = iota
	OutcomeSuccess
)

// Kind is the kind of a rule, as written in the file.
type Kind string

// The kinds, in the order of the stages in which they apply.
const (
	KindDrop    Kind = "drop"
	KindRename  Kind = "rename"
	KindFold    Kind = "fold"
	KindInsert  Kind = "insert"
	KindStatus  Kind = "status"
	KindDropArg Kind = "drop_arg"
	KindRewrite Kind = "rewrite"
	KindEffect  Kind = "effect"
	KindDomain  Kind = "domain"
	KindLoop    Kind = "loop"
	KindCommute Kind = "commute"
	KindBarrier Kind = "barrier"
	KindState   Kind = "state"
)

// Effect is what a call does to the world.
type Effect uint8

// The effects. The zero value is Mutator: the safe default.
const (
	Mutator   Effect = iota // writes are ordered
	Accessor                // reads commute and are idempotent
	Annotator               // notes change nothing
)

// String returns the word used in rule files.
func (e Effect) String() string { return [...]string{"mutator", "accessor", "annotator"}[e] }

// Rule is one rule. Which fields are set depends on Kind.
type Rule struct {
	ID    string
	Kind  Kind
	Doc   string
	Pos   diag.Pos
	Match Match

	Effect     Effect         // effect
	Pattern    *regexp.Regexp // rewrite; status (on the result); nil otherwise
	With       string         // rewrite: replacement, groups as ${1}
	Values     bool           // `values: allow`: the argument's values may be shown
	Domain     string         // domain
	DomainFrom *regexp.Regexp // domain: first group of a match on the tool name
	IgnoreArgs []Path         // loop

	To        string   // rename: the new name, groups of the match as ${1}
	Arg       Path     // fold: the argument that is concatenated
	Separator string   // fold
	Position  Side     // insert: before or after the matched call
	Step      Step     // insert: the synthetic call
	Other     *Match   // commute: the other side; nil means the rule's own match
	Keys      []string // state: the context names that enter the state
	Is        string   // status: "failed" or "ok"
}

// Side is where an insert rule puts its step.
type Side uint8

// The sides.
const (
	SideAfter Side = iota
	SideBefore
)

// Step is a synthetic call.
type Step struct {
	Tool string
	Args map[string]string
}

// Match says which calls a rule is about. All of its parts must hold; a part
// that is not given holds always.
type Match struct {
	Pos     diag.Pos
	Tools   []Glob       // any of them
	Arg     Path         // the argument that rewrite and drop_arg are about; nil for none
	Args    []ArgPattern // every path must have a value that matches
	Context []ContextPattern
}

// ArgPattern is one entry of `args:`.
type ArgPattern struct {
	Path    Path
	Pattern *regexp.Regexp
}

// ContextPattern is one entry of `context:`.
type ContextPattern struct {
	Name    string
	Pattern *regexp.Regexp
}
