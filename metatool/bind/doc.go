// Package bind finds out where the arguments of candidates come from, and makes
// meta-tools of them.
//
// A [Binder] is given candidates, the links between calls that package dataflow
// proves, and those trajectories that it wants to see. Out come [Definition]s: a
// metatool.Tool, whose arguments are bound to results, lists, constants and
// inputs, with a name, a description, schemas, annotations, and the evidence for
// all of it; or the reasons why a candidate is refused, and its parts instead.
// docs/artefacts.md says which binding is taken when.
//
// Memory is O(candidates): what is kept of values is one for each argument that
// may be a constant. At most 2,000 occurrences of a candidate are looked at. For
// parts of refused candidates 5 bytes a step of the walks come on top.
package bind
