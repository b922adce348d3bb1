// Package toolgraph is NaviAgent's Tool World Navigation Model (arXiv 2506.19500): a
// graph of tools and parameters, without a model of language.
//
// In come a catalogue, what trajectories show (Observed), proofs of dataflow and known
// links; Build makes the Graph: places in arguments and results are clustered to
// parameters, edges say what a tool consumes and produces, what follows what and what
// feeds what, and a predictor expects links that nobody has seen. A Navigator searches
// backwards from a tool, prints paths with their evidence, and ways around failures; a
// Retriever finds what a text asks for with what has to come before. Update keeps a
// graph as time goes on.
//
// Observing is O(tools, pairs and days), a graph O(tools and places). Everything is
// the same in whatever order tools and trajectories come. The package calls no tool,
// and no value of an argument or result is in a graph: only names, paths and counts.
package toolgraph
