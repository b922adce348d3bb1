// Package metatool finds meta-tools: sequences of calls that agents make in one
// go often enough to be offered as one tool.
//
// A merged graph and the walks through it come in (package merge). [Extract]
// runs Algorithm 1 of AWO over them and gives [Candidate]s: which calls, how
// often, where, and how many turns they would have saved. [Name] and [Definition]
// make of a candidate what an agent sees: a name, a description, a schema of the
// inputs and annotations.
//
// [Patterns] finds chains that recur wherever they start, by where the arguments
// of their steps come from (package dataflow): fan-outs over lists, and chains that
// no state has a majority for. It gives the same [Candidate]s.
//
// Memory is O(calls): 12 bytes a step on top of the walks, and 4 for each step
// on an edge that enough executions take. Time is close to linear: after a
// meta-tool is found only the walks that it occurs in are looked at again,
// through an index from edges to walks. What patterns need is said there.
//
// Extract does not look at the values of arguments or at results: every
// argument of every step is an input of the meta-tool. It does not choose among candidates,
// and runs none.
package metatool
