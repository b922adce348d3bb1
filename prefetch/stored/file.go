package stored

import (
	"encoding/json"
	"slices"

	"github.com/awo-dev/awo/internal/report"
	"github.com/awo-dev/awo/internal/stat"
	"github.com/awo-dev/awo/prefetch"
)

// Name is the name of the file in a folder of artefacts.
const Name = "prefetch.json"

// Schema names the version of Document.
const Schema = "awo.prefetch/v2"

// File is rules with what speaks for them.
type File struct {
	Set       prefetch.Set
	Threshold float64    // of P(use), from which the rules were worth following
	Evidence  []Evidence // of each rule of Set
}

// Join adds the rules that were learnt of another agent's traces, behind those that are
// there. Of two with one ID the first stays, and the lower threshold.
func (f *File) Join(other *File) {
	for i := range other.Set.Rules {
		r := other.Set.Rules[i]
		if slices.ContainsFunc(f.Set.Rules, func(have prefetch.Rule) bool { return have.ID == r.ID }) {
			continue
		}
		f.Set.Rules, f.Evidence = append(f.Set.Rules, r), append(f.Evidence, other.Evidence[i])
	}
	reads := append(slices.Clone(f.Set.Reads), other.Set.Reads...)
	slices.Sort(reads)
	f.Set.Reads = slices.Compact(reads)
	f.Threshold = min(f.Threshold, other.Threshold)
}

// Evidence is what traces say of a rule.
type Evidence struct {
	Offered, Used, Stale int // values; stale ones were asked for and had been changed between
	Runs, Tasks          int // trajectories, and tasks, in which a value is offered
	Interval             stat.Interval
	PerAnswer            float64 // values that an answer of the source offers, the mean
	// TokensUsed are the mean tokens of a result of the target, TokensVain what is read in
	// vain for each value offered; NaN where tokens are not counted.
	TokensUsed, TokensVain float64
}

// Use is P(use): uses by offered values, NaN of none.
func (e *Evidence) Use() float64 { return float64(e.Used) / float64(e.Offered) }

// Document is the file.
type Document struct {
	Schema    string   `json:"schema"`
	Threshold float64  `json:"threshold"` // of P(use)
	Reads     []string `json:"reads"`     // tools that are known to only read, in order
	Rules     []Rule   `json:"rules"`     // in the order in which they are tried
}

// Rule is one rule.
type Rule struct {
	ID          string       `json:"id"`
	Source      Source       `json:"source"`
	Target      Target       `json:"target"`
	When        When         `json:"when"`
	Use         Figure       `json:"use"`
	MaxElements int          `json:"max_elements"` // values of one answer that are read ahead, the first ones; 0: all
	Depth       int          `json:"depth"`        // 2: also after an answer that was itself read ahead
	Evidence    EvidenceJSON `json:"evidence"`
}

// Source is where values come from.
type Source struct {
	Kind  string   `json:"kind"`  // result (of a tool), user (a message), none (there are no values), or same (a result whose value was the same in all tasks)
	Tool  string   `json:"tool"`  // whose result holds the values; with none the tool whose answer begins the read, "" for the beginning of a session
	Path  string   `json:"path"`  // in the result: each scalar that it selects is a value; "" with user and none
	Slots []Slot   `json:"slots"` // with user: the arguments that a message gives, in its order
	Trust []string `json:"trust"` // with user: the read is made when one of these tools has succeeded; empty for at once
}

// Slot is an argument whose value stands in a message.
type Slot struct {
	Argument string   `json:"argument"`
	Shapes   []string `json:"shapes"` // what the value looks like: a, A, 9 for letters and digits, X for capitals and digits, w for all, {n} or + behind them
	Number   bool     `json:"number"` // the argument is a number
	Near     bool     `json:"near"`   // it stands right behind the slot before
	After    []string `json:"after"`  // words of which one stands before it; empty for any
	Not      []string `json:"not"`    // words that are no values
}

// Target is the call that reads ahead.
type Target struct {
	Tool      string                     `json:"tool"`
	Argument  string                     `json:"argument"` // that takes the value of a result; "" with user and none
	Constants map[string]json.RawMessage `json:"constants"`
	Bound     []Bound                    `json:"bound"` // further arguments that are not constant
}

// Bound says where a further argument comes from.
type Bound struct {
	Argument string `json:"argument"`
	From     string `json:"from"` // answer, element (of the innermost list that the value stands in) or argument (of the call that was answered)
	Path     string `json:"path"`
}

// When says after which calls of the source a rule is followed.
type When struct {
	Turn string `json:"turn"` // any, first (the tool was not called before) or again
	Last string `json:"last"` // how the call before ended: any, ok (or there was none) or failed
	// Alone says that a message must give no other read to make, of another tool.
	Alone bool `json:"alone"`
}

// Figure is an estimate.
type Figure struct {
	Value    float64       `json:"value"`
	N        int           `json:"n"`
	Interval stat.Interval `json:"interval"` // over tasks; null where there is none
	Reason   string        `json:"reason"`   // why there is no interval, "" if there is one
}

// EvidenceJSON is what traces say of a rule.
type EvidenceJSON struct {
	Offered    int         `json:"offered"`
	Used       int         `json:"used"`
	Stale      int         `json:"stale"`
	Runs       int         `json:"trajectories"`
	Tasks      int         `json:"tasks"`
	PerAnswer  float64     `json:"per_answer"`
	TokensUsed stat.Figure `json:"tokens_used"` // null where tokens were not counted
	TokensVain stat.Figure `json:"tokens_in_vain"`
}

// The words of conditions, and the origins that have a path.
var (
	turns   = map[string]prefetch.Turn{"any": prefetch.AnyTime, "first": prefetch.FirstTime, "again": prefetch.Again}
	lasts   = map[string]prefetch.Last{"any": prefetch.LastAny, "ok": prefetch.LastOK, "failed": prefetch.LastFailed}
	kinds   = map[string]prefetch.Kind{"result": prefetch.KindResult, "user": prefetch.KindUser, "none": prefetch.KindNone, "same": prefetch.KindSame}
	origins = map[string]prefetch.Origin{"answer": prefetch.FromAnswer, "element": prefetch.FromElement, "argument": prefetch.FromArgument}
)

// word returns the word for a value.
func word[V comparable](words map[string]V, value V) string {
	for w, v := range words {
		if v == value {
			return w
		}
	}
	return ""
}

// Document returns the file as it is written.
func (f *File) Document() *Document {
	d := &Document{Schema: Schema, Threshold: f.Threshold, Reads: append([]string{}, f.Set.Reads...), Rules: []Rule{}}
	for i := range f.Set.Rules {
		r := &f.Set.Rules[i]
		one := Rule{
			ID: r.ID, Source: sourceOf(&r.Source),
			Target: Target{Tool: r.Target.Tool, Argument: r.Target.Argument, Constants: map[string]json.RawMessage{}, Bound: []Bound{}},
			When:   When{word(turns, r.When.Turn), word(lasts, r.When.Last), r.When.Alone}, MaxElements: r.MaxElements, Depth: r.Depth,
		}
		for k := range r.Target.Others {
			o := &r.Target.Others[k]
			if o.Origin == prefetch.FromConstant {
				one.Target.Constants[o.Argument] = o.Constant.AppendCanonical(nil)
				continue
			}
			one.Target.Bound = append(one.Target.Bound, Bound{o.Argument, word(origins, o.Origin), o.Path.String()})
		}
		if i < len(f.Evidence) {
			one.Use, one.Evidence = f.Evidence[i].json()
		}
		d.Rules = append(d.Rules, one)
	}
	return d
}

func sourceOf(s *prefetch.Source) Source {
	out := Source{Kind: word(kinds, s.Kind), Tool: s.Tool, Slots: []Slot{}, Trust: append([]string{}, s.Trust...)}
	if s.Kind == prefetch.KindResult || s.Kind == prefetch.KindSame {
		out.Path = s.Path.String()
	}
	for i := range s.Slots {
		from := &s.Slots[i]
		slot := Slot{Argument: from.Argument, Shapes: []string{}, Number: from.Number, Near: from.Near, After: append([]string{}, from.After...), Not: append([]string{}, from.Not...)}
		for _, shape := range from.Shapes {
			slot.Shapes = append(slot.Shapes, string(shape))
		}
		out.Slots = append(out.Slots, slot)
	}
	return out
}

func (e *Evidence) json() (Figure, EvidenceJSON) {
	use := Figure{N: e.Offered, Interval: e.Interval, Reason: e.Interval.Missing()}
	if e.Offered > 0 {
		use.Value = e.Use()
	}
	const uncounted = "tokens were not counted"
	return use, EvidenceJSON{
		Offered: e.Offered, Used: e.Used, Stale: e.Stale, Runs: e.Runs, Tasks: e.Tasks, PerAnswer: e.PerAnswer,
		TokensUsed: stat.Finite(e.TokensUsed, uncounted), TokensVain: stat.Finite(e.TokensVain, uncounted),
	}
}

// Encode returns the bytes of the file, the same for the same rules.
func (f *File) Encode() ([]byte, error) { return report.MarshalJSON(f.Document()) }
