// Package execute runs meta-tools.
//
// A meta-tool and the values of its inputs come in, and a [Caller] that makes
// the single calls; out comes an [Outcome]: what the steps returned, or at which
// step it ended and what that leaves behind. A meta-tool that did not make all
// of its calls never counts as done. [Recordings] is the Caller that answers
// from a recorded trajectory. With it a [Verifier] runs meta-tools wherever a
// trajectory made their calls one by one, and compares what they would have
// called with what was called.
//
// Memory is that of one run: the results of its steps. A Verifier keeps counts
// and the first disagreements, O(meta-tools). Nothing that it keeps or prints
// holds a value of an argument or result. The package speaks no protocol: a
// Caller for real tools belongs to whoever has them.
package execute
