// Package metatool says what a meta-tool is: the calls that one call stands for,
// and where their arguments come from.
//
// A [Tool] is all that running one needs: steps, the [Binding] of each argument,
// inputs with their schemas, and what is returned. It comes from
// metatool/compile, which makes it of traces, or from package arazzo, which reads
// it back from a file. The package knows nothing of the traces that a tool was
// found in, and makes no calls; package execute does.
//
// The packages below it are the compiler: metatool/candidate finds calls that
// recur, metatool/bind finds out where their arguments come from, and
// metatool/compile runs both over traces.
//
// Values of the traces are in a Tool only where docs/artefacts.md says so.
package metatool
