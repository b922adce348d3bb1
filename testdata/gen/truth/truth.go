// Package truth is the file that says what is true of a generated corpus: what
// the tools do, which writes commute, where every argument of every call came
// from, which chains and which coincidences were planted, and where they occur.
//
// In goes the JSON document that the generator writes beside a corpus; out come
// plain structs and Judge, which says whether a claim about an argument's source
// is right. Read keeps the whole document in memory, O(calls); a large one is
// better read line by line, one trajectory each (see File). The package imports
// nothing of awo, so that what it is compared with is computed elsewhere.
package truth

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Schema is the name of the version of the document.
const Schema = "awo.office-truth/v1"

// File is the document. On disk, every element of Trajectories is a line of its
// own, and Totals follow them.
type File struct {
	Schema       string        `json:"schema"`
	Corpus       Corpus        `json:"corpus"`
	Tools        []Tool        `json:"tools"`
	Commutation  []Pair        `json:"commutation"`
	Interactions []Interaction `json:"interactions"`
	Observations []Observation `json:"observations"`
	Chains       []Chain       `json:"chains"`
	Coincidences []Coincidence `json:"coincidences"`
	Drift        *Drift        `json:"drift,omitempty"`
	Trajectories []Trajectory  `json:"trajectories"`
	Totals       Totals        `json:"totals"`
}

// Corpus is the options that the corpus was made with.
type Corpus struct {
	Seed         uint64 `json:"seed"`
	Trajectories int    `json:"trajectories"`
	Trials       int    `json:"trials"`
	Days         int    `json:"days"`
	Drift        bool   `json:"drift"`
	Tokens       string `json:"tokens"` // "o200k" or "approximate"
}

// Tool is what is true of a tool.
type Tool struct {
	Name        string `json:"name"`
	Second      string `json:"second,omitempty"` // its name in the second edition, if another
	App         string `json:"app"`
	Effect      string `json:"effect"`
	Domain      string `json:"domain,omitempty"` // writes of different domains commute
	Idempotent  bool   `json:"idempotent,omitempty"`
	Destructive bool   `json:"destructive,omitempty"`
}

// Pair says whether two writes commute for all arguments and in every office:
// whether both orders give the same results and leave the same office. Of pairs
// inside one domain nothing is claimed, but for the interactions.
type Pair struct {
	A        string `json:"a"`
	B        string `json:"b"`
	Commutes bool   `json:"commutes"`
}

// Interaction is a pair of writes of two applications that do not commute
// although nothing in their names or definitions says so.
type Interaction struct {
	A      string   `json:"a"`
	B      string   `json:"b"`
	When   string   `json:"when"`
	SeenBy []string `json:"seen_by"` // reads that tell the orders apart
}

// Observation is a read of one application that sees a write of another.
type Observation struct {
	Write string `json:"write"`
	Read  string `json:"read"`
	Path  string `json:"path"` // what changes in the read's result
}

// What a compiler should do with a chain.
const (
	Must    = "must"     // convertible: should be found where it occurs often enough
	May     = "may"      // finding it is neither required nor wrong
	MustNot = "must-not" // not convertible: should be refused
)

// Chain is a sequence of calls that agents make out of habit.
type Chain struct {
	ID    string `json:"id"`
	Doc   string `json:"doc"`
	Find  string `json:"find"` // Must, May or MustNot
	Steps []Step `json:"steps"`
	// Blocked is the argument that makes the chain inconvertible, as "step.arg"
	// (steps from 0), if Find is MustNot.
	Blocked string `json:"blocked,omitempty"`
}

// Step is one step of a chain.
type Step struct {
	Tool string `json:"tool"`
	Each bool   `json:"each,omitempty"` // one call for every element of a list of an earlier step
	// Bind holds the arguments that come from inside the chain or are known only
	// to the model; all others are known before the chain begins.
	Bind map[string]Binding `json:"bind,omitempty"`
}

// Binding says where an argument of a step comes from.
type Binding struct {
	Step     int    `json:"step"`               // the step whose result holds the value
	Path     string `json:"path,omitempty"`     // there, with [] for the chosen element
	Key      string `json:"key,omitempty"`      // member of the element by which it is chosen
	Is       string `json:"is,omitempty"`       // its value, if always the same
	Template string `json:"template,omitempty"` // text around the value, as in "Re: {}"
	Model    bool   `json:"model,omitempty"`    // only the model knows the value
}

// Coincidence is a place whose values sometimes equal an argument without being
// its source.
type Coincidence struct {
	ID   string `json:"id"`
	Doc  string `json:"doc"`
	Kind string `json:"kind"` // "pool": both are drawn from one small set; "constant": both are always the same
	From Link   `json:"from"` // the result
	To   Link   `json:"to"`   // the argument
}

// Link is a tool and a path in its result or its arguments.
type Link struct {
	Tool string `json:"tool"`
	Path string `json:"path"`
}

// Drift says what changes in the second part of the corpus.
type Drift struct {
	From    int               `json:"from"`    // index of the first trajectory with the second edition
	Renamed map[string]string `json:"renamed"` // tools: old name, new name
	Changed []Change          `json:"changed"` // schemas
	Habits  string            `json:"habits"`
}

// Change is a change of a tool's schema.
type Change struct {
	Tool string `json:"tool"`
	What string `json:"what"`
}

// Trajectory is what is true of one run.
type Trajectory struct {
	ID      string `json:"id"`
	Task    string `json:"task"`
	Trial   int    `json:"trial"`
	Family  string `json:"family"`
	Office  int    `json:"office"` // runs in the same office begin with the same database
	Agent   string `json:"agent"`
	Model   string `json:"model"`
	Second  bool   `json:"second,omitempty"` // works with the second edition of the tools
	Solved  bool   `json:"solved"`
	Stopped bool   `json:"stopped,omitempty"`

	Turns        int `json:"turns"`
	CallingTurns int `json:"calling_turns"`
	UserMessages int `json:"user_messages"`

	Calls        []Call              `json:"calls"`
	Chains       []ChainOccurrence   `json:"chains,omitempty"`
	Coincidences []CoincidenceAtCall `json:"coincidences,omitempty"`
}

// Call is one call, in the order of the trace.
type Call struct {
	Tool      string `json:"tool"`
	Turn      int    `json:"turn"`
	AfterUser bool   `json:"after_user,omitempty"` // a user message came since the call before
	Status    string `json:"status"`               // "ok", "failed", or "unknown" if the trace breaks off before the result
	// Args has every leaf of the arguments by its path, as in "to[0]".
	Args map[string]Source `json:"args,omitempty"`
}

// The values of Source.From.
const (
	Result   = "result"
	Task     = "task"
	User     = "user"
	Model    = "model"
	Constant = "constant"
	Template = "template"
)

// Source is where a value came from.
type Source struct {
	From string `json:"from"`

	// Result: call, path, and the member and value by which the element was
	// chosen, if it was.
	Call int    `json:"call,omitempty"`
	Path string `json:"path,omitempty"`
	Key  string `json:"key,omitempty"`
	Is   string `json:"is,omitempty"`

	Message int    `json:"message,omitempty"` // User: index among the user messages
	Date    bool   `json:"date,omitempty"`    // Task: the text writes the date out
	Parts   []Part `json:"parts,omitempty"`   // Template
	Told    bool   `json:"told,omitempty"`    // Result: the value stands in a user message too

	// Not are places with an equal value that are no source of it. All other
	// leaves with an equal value show the same fact.
	Not []Place `json:"not,omitempty"`
}

// Part is a piece of a template: fixed text, or a value and its source.
type Part struct {
	Text   string  `json:"text"`
	Source *Source `json:"source,omitempty"`
}

// Place is a leaf of an earlier result, with [] for any index.
type Place struct {
	Call int    `json:"call"`
	Path string `json:"path"`
}

// ChainOccurrence is a place where a chain was made whole: consecutive calls
// without a failure and without a user message inside.
type ChainOccurrence struct {
	Chain string  `json:"chain"`
	Steps [][]int `json:"steps"` // calls of every step
}

// CoincidenceAtCall is a place where a planted coincidence came about.
type CoincidenceAtCall struct {
	ID   string `json:"id"`
	Call int    `json:"call"`
	Arg  string `json:"arg"`
	With int    `json:"with"` // the call whose result has the equal value
}

// Totals are counts over the whole corpus.
type Totals struct {
	Trajectories int `json:"trajectories"`
	Empty        int `json:"empty"` // without calls
	Tasks        int `json:"tasks"`
	Tools        int `json:"tools"` // called at least once
	Calls        int `json:"calls"`
	Failed       int `json:"failed"`
	NoResult     int `json:"no_result"`
	Turns        int `json:"turns"`
	CallingTurns int `json:"calling_turns"`
	UserMessages int `json:"user_messages"`
	AfterUser    int `json:"calls_after_user"`
	Solved       int `json:"solved"`
	Args         int `json:"args"` // leaves of arguments

	ArgsFrom     map[string]int   `json:"args_from"`    // by Source.From
	Chains       map[string]Count `json:"chains"`       // by id
	Coincidences map[string]Count `json:"coincidences"` // by id
}

// Count is how often something occurs, and in how many trajectories.
type Count struct {
	Occurrences  int `json:"occurrences"`
	Trajectories int `json:"trajectories"`
}

// Read reads a whole document.
func Read(r io.Reader) (*File, error) {
	var f File
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	if err := d.Decode(&f); err != nil {
		return nil, fmt.Errorf("reading a truth file: %w", err)
	}
	if f.Schema != Schema {
		return nil, fmt.Errorf("reading a truth file: schema is %q, not %q", f.Schema, Schema)
	}
	return &f, nil
}

// Open reads the document at a path.
func Open(path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return Read(file)
}
