// Package rules is the language in which people say which histories of calls
// lead to the same state (AWO, section 3.3 and appendices A to C; docs/rules.md).
//
// In comes the source of a rule file, YAML or JSON, out go a [Set] of the rules
// that are well formed and a diag.List of every mistake, each with its place and
// a code that scripts may match on. [Format] lays a source out in one way,
// [Schema] is the JSON Schema for editors, [Builtins] are the sets that a file
// may include.
//
// The package keeps one set in memory, O(size of the files), and bounds files,
// nesting, included files and regular expressions, so that hostile files end in
// a problem. It touches no disk: included files come through [Options.Load].
//
// It does not know calls, and does not say what a rule does to a graph: package
// merge does. [Glob] and [Path] evaluate themselves on names and segments only.
package rules

import (
	"iter"
	"regexp"
	"slices"
	"strings"

	"github.com/awo-dev/awo/diag"
	"github.com/awo-dev/awo/internal/failure"
)

// Set is a parsed rule file: what it says, in file order, with the position of
// everything that may be blamed later. It does not say what a rule does to a
// graph; package merge does.
type Set struct {
	File  string
	Doc   string
	Rules []*Rule // well-formed rules in file order, included files first

	Failed     FailedPolicy  // what becomes of failed calls
	Outcome    OutcomePolicy // which trajectories are read
	StateReads ReadPolicy    // what of a read enters the state

	MetaTools []MetaToolName // names and descriptions for meta-tools, in file order
	Examples  []Example      // examples of the whole set; rules have their own
}

// Kinds returns the kinds that the set has rules of, in the order of the stages.
func (s *Set) Kinds() []Kind {
	var present []Kind
	for _, k := range kinds {
		for range s.Of(k.Kind) {
			present = append(present, k.Kind)
			break
		}
	}
	return present
}

// Of yields the rules of one kind, in file order.
func (s *Set) Of(kind Kind) iter.Seq[*Rule] {
	return func(yield func(*Rule) bool) {
		for _, r := range s.Rules {
			if r.Kind == kind && !yield(r) {
				return
			}
		}
	}
}

// HasEffect reports whether a rule says what calls of a tool do.
func (s *Set) HasEffect(tool string) bool {
	if s == nil {
		return false
	}
	return slices.ContainsFunc(s.Rules, func(r *Rule) bool {
		return r.Kind == KindEffect && slices.ContainsFunc(r.Match.Tools, func(g Glob) bool { return g.Match(tool) })
	})
}

// Own yields the rules that the user wrote, as text: those of built-in sets are left out.
func (s *Set) Own() iter.Seq[string] {
	return func(yield func(string) bool) {
		if s == nil {
			return
		}
		for _, r := range s.Rules {
			if !strings.HasPrefix(r.Pos.File, builtinPrefix) && !yield(r.Line()) {
				return
			}
		}
	}
}

// AllowsValues reports whether a rule says that the values of an argument of a tool may be
// shown, whatever else the call is like.
func (s *Set) AllowsValues(tool, argument string) bool {
	if s == nil {
		return false
	}
	return slices.ContainsFunc(s.Rules, func(r *Rule) bool {
		return r.Values && !r.Match.conditional() &&
			(r.Match.Arg == nil || r.Match.Arg.String() == argument) && r.Match.MatchesTool(tool)
	})
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

// ReadPolicy is the value of `state_reads:`.
type ReadPolicy uint8

// The policies for reads. The zero value is ReadsAnyTime.
const (
	ReadsAnyTime    ReadPolicy = iota // the same read before and after a write is one entry
	ReadsAfterWrite                   // a read's entry holds the number of writes seen before it
)

// Kind is the kind of a rule, as written in the file.
type Kind string

// The kinds, in the order of the stages in which they apply.
const (
	KindDrop    Kind = "drop"
	KindRename  Kind = "rename"
	KindStatus  Kind = "status"
	KindFold    Kind = "fold"
	KindInsert  Kind = "insert"
	KindDropArg Kind = "drop_arg"
	KindRewrite Kind = "rewrite"
	KindEffect  Kind = "effect"
	KindDomain  Kind = "domain"
	KindLoop    Kind = "loop"
	KindCommute Kind = "commute"
	KindBarrier Kind = "barrier"

	KindPlumbing Kind = "plumbing" // moves no state: it is about the answers of meta-tools

	KindState  Kind = "state"
	KindValues Kind = "values" // changes no step: it allows values to be shown
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

// Answer is what the rules say of a call's result in the answer of a meta-tool.
type Answer uint8

// The words about results. The zero value is AnswerUndecided.
const (
	AnswerUndecided Answer = iota // the traces decide
	AnswerLeaveOut                // the result is plumbing, unless the call is the last step
	AnswerKeep                    // the result is told, whatever the traces say
)

// String returns the word used in rule files.
func (a Answer) String() string { return answerWords[a] }

var answerWords = []string{"undecided", "leave_out", "keep"}

// Rule is one rule. Which fields are set depends on Kind.
type Rule struct {
	ID    string
	Kind  Kind
	Doc   string
	Pos   diag.Pos
	Match Match

	Effect     Effect         // effect
	Pattern    *regexp.Regexp // rewrite; status (on the result); nil otherwise
	With       string         // rewrite: replacement, groups as ${1}, in the syntax of regexp.Expand
	Values     bool           // `values: allow` (rewrite, effect, values): the values of Match.Arg, or of all arguments if that is nil, may be shown
	Idempotent bool           // effect, on mutators: doing it twice is doing it once (logins)
	Domain     string         // domain
	DomainFrom *regexp.Regexp // domain: first group of a match on the tool name
	IgnoreArgs []Path         // loop

	To        string   // rename: the new name; ${0} is the old one, ${1} and on are the groups of Match.Args, then of Match.Context, in file order
	Arg       Path     // fold: the argument that is concatenated
	Separator string   // fold
	Position  Side     // insert: before or after the matched call
	Step      Step     // insert: the synthetic call
	Other     *Match   // commute: the other side; nil means the rule's own match
	Keys      []string // state: the context names that enter the state
	Failure   string   // status: the name of a pattern of package failure, in the place of Pattern; "" for none
	Is        string   // status: "failed" or "ok"
	Answer    Answer   // plumbing: AnswerLeaveOut or AnswerKeep

	Examples []Example

	places map[string]diag.Pos // of the values of fields, "match.tool" and the like too
}

// Tells reports whether a status rule is about calls with this result.
func (r *Rule) Tells(result []byte) bool {
	if p := failure.Named(r.Failure); p != nil {
		return p.In(result)
	}
	return r.Pattern == nil || r.Pattern.Match(result)
}

// FieldPos returns where the value of a field is written, such as "pattern",
// "match" or "match.tool"; if the rule was made without it, where the rule is.
func (r *Rule) FieldPos(field string) diag.Pos {
	if pos, ok := r.places[field]; ok {
		return pos
	}
	return r.Pos
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
	Tools   []Glob           // any of them
	Arg     Path             // the argument that rewrite, drop_arg and values are about; nil for none
	Args    []ArgPattern     // every path must have a value that matches
	Context []ContextPattern // every name must have a value that matches

	// Annotations are matched against the annotations of the called tool's
	// definition (MCP: readOnlyHint, idempotentHint, ...), the canonical JSON of
	// the value as text. Every name must be there: a tool without a recorded
	// definition is not matched.
	Annotations []ContextPattern

	// Result is matched against what the last call before the turn returned: all of it as
	// text where the path is empty. A group of the pattern with a name has to be equal to the
	// argument of that name, so that ids are read from the page that they are on.
	Result []ArgPattern
}

// conditional reports whether the match looks at more than the name of the tool.
func (m *Match) conditional() bool {
	return len(m.Args)+len(m.Context)+len(m.Annotations)+len(m.Result) > 0
}

// ReadsResults reports whether rules look at what calls returned.
func (s *Set) ReadsResults() bool {
	return slices.ContainsFunc(s.Rules, func(r *Rule) bool {
		return r.Kind == KindStatus || len(r.Match.Result) > 0 || r.Other != nil && len(r.Other.Result) > 0
	})
}

// MatchesTool reports whether the match is about tools of this name.
func (m *Match) MatchesTool(name string) bool {
	return len(m.Tools) == 0 || slices.ContainsFunc(m.Tools, func(g Glob) bool { return g.Match(name) })
}

// ArgPattern is one entry of `args:`.
type ArgPattern struct {
	Path    Path
	Pattern *regexp.Regexp
}

// ContextPattern is one entry of `context:` or `annotations:`.
type ContextPattern struct {
	Name    string
	Pattern *regexp.Regexp
}

// MetaToolName is one entry of `meta_tools:`: what a meta-tool made of these
// calls is to be called.
type MetaToolName struct {
	Pos         diag.Pos
	Tools       []Glob // one for each call, in order
	Name        string
	Description string // empty: the one that is made up
}

// Example is one entry of `examples:`: calls, and what the rules of the whole
// set make of them. Exactly one of Gives, SameState and OtherState is not nil.
type Example struct {
	Pos        diag.Pos
	Calls      []ExampleCall
	Gives      []Expectation // the steps that the calls become, in order; empty: none
	SameState  []ExampleCall // calls that lead to the same state
	OtherState []ExampleCall // calls that lead to another one
}

// ExampleCall is a call in an example.
type ExampleCall struct {
	Pos         diag.Pos
	Tool        string
	Args        []byte // a JSON object
	Context     []ContextText
	Annotations []ContextText // of the tool's definition; the text is JSON
	Result      string        // empty: no result
	Status      string        // "ok", "failed", or "" for unknown
}

// ContextText is one named text of an ExampleCall.
type ContextText struct {
	Name string
	Text string
}

// Expectation is what an example says of one step. Parts that are not given
// (empty or nil) are not looked at.
type Expectation struct {
	Pos        diag.Pos
	Label      string
	Tool       string
	Args       []byte // a JSON object: the rewritten arguments
	Effect     string // "mutator", "accessor" or "annotator"
	Domain     *string
	Status     string
	Barrier    *bool
	Answer     string // "" for not given
	Idempotent *bool
	Loop       *bool // whether the step leaves the state as it is
}
