// Package backtest compiles one part of the traces and measures on the other what
// the result would have saved there.
//
// Trajectories come in, from a source that can be read again, and a table of
// [Techniques]; out comes a [Result]: model calls, calling turns, tokens and money
// with each technique, with intervals of a bootstrap over tasks. Tasks are split,
// never trajectories: a second trial of a task that was compiled from is no test.
// [Choose] is the same arithmetic on the training part alone: which meta-tools are
// worth their definitions (algorithm "choosing the set").
//
// Everything is an upper bound of what a live agent would save: it has to choose
// the meta-tool, and a call that it did not make changes what comes after.
//
// Memory is that of the compiler, O(calls) of the training part, and some numbers
// for each task and each place of a meta-tool; trajectories are read again and not
// kept, but for at most 2,000 of the training part that inertia is calibrated on. The package knows no files and prints nothing.
package backtest
