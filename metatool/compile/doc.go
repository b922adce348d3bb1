// Package compile makes meta-tools of traces.
//
// Traces and rules come in, a [Compilation] goes out: the candidates that
// metatool/candidate finds, and the definitions that metatool/bind makes of them.
// [Run] is the whole of it. A [Survey] is what does not depend on thresholds and
// algorithms, so that several ways of compiling start from one.
//
// A compilation also says what people ask of it: why calls in a row are no
// candidate ([Compilation.Absence]), and why a candidate is not longer
// ([Compilation.Ending]).
//
// Memory is O(calls), that of the merged graph with its walks and of
// metatool/candidate. The package does not choose among meta-tools, and runs
// none.
package compile
