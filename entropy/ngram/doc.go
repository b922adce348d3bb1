// Package ngram counts which symbol follows which context, and predicts the
// next symbol from such counts.
//
// In come sequences of symbols: dense uint32 numbers that the caller gave to
// tool names, states or whatever else follows one another, one sequence a
// trajectory. Out come counts of all n-grams up to a length (a [Counter] while
// streaming, then an immutable [Counts] in lexicographic order), an
// interpolated Kneser-Ney [Model] of them, and the loss of such models on
// sequences that they have not seen ([HeldOut]). No window crosses the ends of
// a sequence.
//
// What is kept in memory: counts are O(distinct n-grams), about 20 bytes each
// while streaming and 12 once counted, and never the sequences themselves; the
// functions that need the sequences again take them as arguments. The package
// knows no tools, no trajectories and no files, and starts no goroutines: who
// has workers passes them in as an [Each].
package ngram
