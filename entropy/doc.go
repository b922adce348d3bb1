// Package entropy says how predictable the next symbol of a sequence is, and how
// sure one can be of it.
//
// In come the counts of package ngram, and for whatever needs them again the
// sequences themselves with the task that each belongs to. Out come figures,
// each with what it rests on: entropies by order with their bias, tests of one
// order against the next, held-out losses with intervals, a verdict on the order
// that the data support, what follows which context, and whether two groups of
// sequences differ in their habits. Where a figure cannot be had it is no number
// and a [Warning] says why. docs/statistics.md explains them with an example
// that can be checked by hand.
//
// Definitions are those of AutoTool (arXiv 2511.14650, Observation 2 and
// appendices B and F), read where the paper leaves them open as docs/statistics.md
// says; [Options.AutoTool] gives the paper's own.
//
// What is kept in memory: O(distinct n-grams) beside the counts; a Monte Carlo
// test also holds 4 bytes a window, a bootstrap the losses of each task. The
// package knows no agents and formats nothing, though its sentences speak of
// calls and tools, which is what the symbols are. It starts no goroutines: who
// has workers passes them in as an [ngram.Each]. No figure depends on how many
// there are, and the same seed gives the same figures.
package entropy
