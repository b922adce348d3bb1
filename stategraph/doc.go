// Package stategraph holds the weighted graph of states that executions of an
// agent pass through (AWO, section 3.2): states are nodes, calls are edges, an
// execution is a walk that begins at the root.
//
// Walks come in through a [Builder] while traces stream by; [Builder.Graph]
// gives the finished [Graph], which never changes and may be shared. What goes
// out are its statistics, the distances from the root, and its forms for people
// and programs: DOT, Mermaid, GraphML, JSON, of the whole graph or of the part
// that a [Selection] keeps.
//
// Memory is O(states + edges): a Builder takes 28 bytes a state and the edge
// that discovered it, and about 60 a further edge; a Graph takes 8 bytes a
// state and 28 an edge. Walks are not kept.
//
// The package does not know what a state or a label means. Both are numbers
// that the caller gave: package merge makes them from rules, and names labels
// for the exports through [Names].
package stategraph

// StateID is a state: an index into dense slices. States are numbered in the
// order in which they first appear in the walks; 0 is the root.
type StateID uint32

// Root is the state in which every execution begins.
const Root StateID = 0

// Label is what is written on an edge: a number that the caller knows the text
// of.
type Label uint32

// EdgeID is an edge of a Graph: an index into a slice. Edges are numbered in the order in
// which they first appear in the walks.
type EdgeID uint32

// Step is one transition of a walk.
type Step struct {
	Label Label
	To    StateID
	Flags Flags
}

// Flags say how a step hangs together with the one before it.
type Flags uint8

// The flags.
const (
	// Cut: the step starts again at the root, its execution was cut in two here.
	Cut Flags = 1 << iota
	// AfterUser: a user message came between this step and the one before.
	AfterUser
	// Blocked: the step or the one before it is a barrier, which no meta-tool
	// may contain.
	Blocked
)

// Joined reports whether the step may be done in one go with the one before:
// nothing came between them that only the model or the user could decide on.
func (f Flags) Joined() bool { return f&(Cut|AfterUser|Blocked) == 0 }
