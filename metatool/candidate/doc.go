// Package candidate finds sequences of calls that agents make in one go often
// enough to be offered as one tool.
//
// A merged graph and the walks through it (package merge) come in, [Candidate]s
// go out: which calls, how often, where, and how many turns they would have
// saved. [Extract] is Algorithm 1 of AWO, which binds chains to states.
// [Patterns] finds chains wherever they start, by the links between calls that
// package dataflow proves.
//
// Memory is O(calls): 12 bytes a step on top of the walks, and 4 for each step
// on an edge that enough executions take; 16 a step for patterns. Time is close
// to linear: after a candidate is found only the walks that it occurs in are
// looked at again, through an index from edges to walks.
//
// Whether the arguments of a candidate can be bound is for metatool/bind to say.
package candidate
