// Package metatool finds meta-tools: sequences of calls that agents make in one
// go often enough to be offered as one tool.
//
// [Compile] is the whole of it: traces and rules come in, [Definition]s go out. A
// merged graph and the walks through it (package merge) give [Candidate]s: which
// calls, how often, where, and how many turns they would have saved, by Algorithm 1
// of AWO ([Extract]) or wherever chains recur ([Patterns]). A [Binder] finds out
// where the arguments of a candidate come from, by the links between calls that
// package dataflow proves, and makes of it a [Tool]: steps whose arguments are
// bound to results, lists, constants and inputs, or refuses it and tries its parts.
// A definition is what an agent sees, a name, a description, schemas and
// annotations, with the evidence for all of it.
//
// Memory is O(calls): 12 bytes a step on top of the walks, and 4 for each step
// on an edge that enough executions take; 16 a step for patterns, 5 for parts of
// refused candidates. Bindings take O(candidates), and what is kept of values is
// one for each argument that may be a constant. Time is close to linear: after a
// meta-tool is found only the walks that it occurs in are looked at again, through
// an index from edges to walks, and at most 2,000 occurrences of a candidate are
// looked at for its bindings.
//
// The package does not choose among candidates, and runs none. Values of the
// traces are in a Tool only where docs/artefacts.md says so.
package metatool
